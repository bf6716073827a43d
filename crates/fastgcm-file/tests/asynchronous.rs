//! Streams and ranges for Tokio: the same texts and the same errors as with `std::io`, whatever waits, fails or is cancelled.

use fastgcm_file::{
    AsyncRangeReader, AsyncReader, AsyncWriter, CHUNK_LEN, Error, Format, HEADER_LEN, Key, RangeReader, Reader, SEALED_CHUNK_LEN, Writer,
};
use std::{
    io::{self, Cursor, ErrorKind, Read, SeekFrom, Write},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncWrite, AsyncWriteExt, ReadBuf};

const LENGTHS: [usize; 8] = [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 2 * CHUNK_LEN, 2 * CHUNK_LEN + 1, 3 * CHUNK_LEN + 5000];

fn key() -> Key {
    Key::new(Format::Cobblestone256, &[3; 32]).unwrap()
}

fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn sealed(text: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(&key(), b"context", Vec::new()).unwrap();
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

/// What a `Reader` gives, and how it ends.
fn opened(sealed: &[u8]) -> (Vec<u8>, Option<String>) {
    let mut text = Vec::new();
    let error = Reader::new(&key(), b"context", sealed).and_then(|mut reader| Ok(reader.read_to_end(&mut text)?)).err();
    (text, error.map(|error| format!("{error:?}")))
}

/// Bytes that come and go a few at a time. Every second call waits, and calls fail once they are at `fails`.
struct Slow {
    bytes: Cursor<Vec<u8>>,
    waits: bool,
    fails: Option<(usize, ErrorKind)>,
    at_most: usize,
    is_shut: bool,
    flushed: usize,
}

impl Slow {
    fn new(bytes: Vec<u8>, at_most: usize) -> Self {
        Self { bytes: Cursor::new(bytes), waits: false, fails: None, at_most, is_shut: false, flushed: 0 }
    }

    fn turn(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.waits = !self.waits;
        let at = self.bytes.position() as usize;
        match self.fails {
            _ if self.waits => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some((fails, kind)) if at >= fails => {
                self.fails = None;
                Poll::Ready(Err(kind.into()))
            }
            Some((fails, _)) => Poll::Ready(Ok(self.at_most.min(fails - at))),
            None => Poll::Ready(Ok(self.at_most)),
        }
    }
}

impl AsyncRead for Slow {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.turn(context).map_ok(|most| {
            let mut piece = vec![0; most.min(buffer.remaining())];
            let read = Read::read(&mut self.bytes, &mut piece).unwrap();
            buffer.put_slice(&piece[..read]);
        })
    }
}

impl AsyncSeek for Slow {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        io::Seek::seek(&mut self.bytes, to).map(drop)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.turn(context).map_ok(|_| self.bytes.position())
    }
}

impl AsyncWrite for Slow {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.turn(context).map_ok(|most| Write::write(&mut self.bytes, &bytes[..most.min(bytes.len())]).unwrap())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn(context).map_ok(|_| self.flushed = self.bytes.get_ref().len())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn(context).map_ok(|_| self.is_shut = true)
    }
}

/// Asks a future once, and drops it.
fn once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn what_is_written_is_read() {
    let mut cases = 0;
    for len in LENGTHS {
        let text = text(len);
        for piece in [1000, CHUNK_LEN, CHUNK_LEN + 1, 100_000] {
            for at_most in [333, usize::MAX] {
                let mut writer = AsyncWriter::new(&key(), b"context", Slow::new(vec![], at_most)).unwrap();
                for piece in text.chunks(piece) {
                    writer.write_all(piece).await.unwrap();
                }
                // What is full is out when it is flushed, and nothing else.
                writer.flush().await.unwrap();
                assert_eq!(writer.get_ref().flushed, HEADER_LEN + len / CHUNK_LEN * SEALED_CHUNK_LEN);
                let (sealed, is_shut) = match piece {
                    1000 => {
                        let slow = writer.finish().await.unwrap();
                        assert_eq!(slow.flushed, slow.bytes.get_ref().len());
                        (slow.bytes.into_inner(), slow.is_shut)
                    }
                    _ => {
                        writer.shutdown().await.unwrap();
                        assert!(writer.write(b"more").await.is_err());
                        writer.shutdown().await.unwrap();
                        (writer.get_ref().bytes.get_ref().clone(), writer.get_ref().is_shut)
                    }
                };
                assert_eq!((opened(&sealed), is_shut), ((text.clone(), None), piece != 1000));
                let mut reader = AsyncReader::new(&key(), b"context", Slow::new(sealed, at_most)).await.unwrap();
                let mut read = Vec::new();
                reader.read_to_end(&mut read).await.unwrap();
                assert!(read == text && reader.read(&mut [0]).await.unwrap() == 0 && reader.fill_buf().await.unwrap().is_empty());
                cases += 1;
            }
        }
    }
    assert!(cases > 0);
}

/// Each future is asked once and dropped. What was read or written is whole nevertheless.
#[test]
fn a_future_may_be_dropped_at_any_point() {
    let mut dropped = 0;
    for len in LENGTHS {
        let text = text(len);
        let mut writer = AsyncWriter::new(&key(), b"context", Slow::new(vec![], 5000)).unwrap();
        let mut rest = &text[..];
        while !rest.is_empty() {
            match once(writer.write(&rest[..rest.len().min(7000)])) {
                Some(written) => rest = &rest[written.unwrap()..],
                None => dropped += 1,
            }
            let _ = once(writer.flush());
        }
        while once(writer.shutdown()).is_none() {
            dropped += 1;
        }
        let sealed = writer.get_ref().bytes.get_ref().clone();
        assert_eq!(opened(&sealed), (text.clone(), None), "{len}");

        let mut slow = Slow::new(sealed.clone(), 5000);
        slow.at_most = HEADER_LEN;
        slow.waits = true; // the header comes at once
        let mut reader = once(AsyncReader::new(&key(), b"context", slow)).unwrap().unwrap();
        let (mut read, mut buffer) = (Vec::<u8>::new(), [0; 3000]);
        loop {
            match once(reader.read(&mut buffer)) {
                Some(Ok(0)) => break,
                Some(more) => read.extend(&buffer[..more.unwrap()]),
                None => dropped += 1,
            }
        }
        assert!(read == text, "{len}");

        // A range that was given up in the middle, at each step, and then another.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut ranges = runtime.block_on(AsyncRangeReader::new(&key(), b"context", Slow::new(sealed, 9000))).unwrap();
        for steps in 0..12 {
            {
                let mut given_up = pin!(ranges.read(0..len as u64));
                let waits = |_: &i32| given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
                dropped += (0..steps).take_while(waits).count();
            }
            let range = len as u64 / 3..len as u64;
            assert!(runtime.block_on(ranges.read(range)).unwrap() == text[len / 3..], "{len} {steps}");
        }
    }
    assert!(dropped > 500, "{dropped}");
}

/// A file that was changed in any way fails with the error of `std::io`'s reader, behind the same prefix, again and again.
#[tokio::test]
async fn the_same_errors() {
    let mut cases = 0;
    let whole = sealed(&text(2 * CHUNK_LEN + 100));
    let places = || (0..whole.len()).step_by(487).chain([23, 55, 56, HEADER_LEN + SEALED_CHUNK_LEN, whole.len() - 1]);
    let changed = places().map(|at| {
        let mut other = whole.clone();
        other[at] ^= 1;
        other
    });
    let cut = places().map(|at| whole[..at].to_vec());
    for file in changed.chain(cut).chain([[&whole[..], b"more"].concat(), whole.clone()]) {
        let (mut text, expected) = (Vec::new(), opened(&file));
        let read = async {
            let mut reader = AsyncReader::new(&key(), b"context", Slow::new(file.clone(), 6000)).await?;
            let read = reader.read_to_end(&mut text).await;
            for _ in 0..2 {
                assert_eq!(reader.read(&mut [0; 1]).await.is_err(), read.is_err(), "an error does not become an end");
            }
            Ok(read?)
        };
        let error: Option<Error> = read.await.err();
        assert_eq!((text, error.map(|error| format!("{error:?}"))), expected);

        // The end is verified before any range is asked for.
        let begun = RangeReader::new(&key(), b"context", Cursor::new(&file)).map(|ranges| ranges.len());
        let again = AsyncRangeReader::new(&key(), b"context", Cursor::new(&file)).await.map(|ranges| ranges.len());
        assert_eq!(format!("{begun:?}"), format!("{again:?}"));
        let ranges = RangeReader::new(&key(), b"context", Cursor::new(&file)).and_then(|mut ranges| ranges.read(0..ranges.len()));
        let again = async {
            let mut ranges = AsyncRangeReader::new(&key(), b"context", Slow::new(file.clone(), 6000)).await?;
            ranges.read(0..ranges.len()).await
        };
        assert_eq!(format!("{ranges:?}"), format!("{:?}", again.await));
        cases += 1;
    }
    for (other, context) in [(Key::new(Format::Cobblestone256, &[4; 32]).unwrap(), &b"context"[..]), (key(), b"another")] {
        assert!(matches!(AsyncReader::new(&other, context, &whole[..]).await, Err(Error::WrongKey)));
        assert!(matches!(AsyncRangeReader::new(&other, context, Cursor::new(&whole)).await, Err(Error::WrongKey)));
        cases += 1;
    }
    assert!(cases > 0);
}

/// A source that fails once may be asked again; an output that fails makes no whole file, whatever the caller does then.
#[tokio::test]
async fn failures_of_others() {
    let (text, mut cases) = (text(2 * CHUNK_LEN + 100), 0);
    let sealed = sealed(&text);
    for at in [0, 30, HEADER_LEN, HEADER_LEN + 1, 20_000, sealed.len() - 1, sealed.len()] {
        for kind in [ErrorKind::TimedOut, ErrorKind::WouldBlock, ErrorKind::ConnectionReset] {
            let mut slow = Slow::new(sealed.clone(), 6000);
            slow.fails = Some((at, kind));
            match AsyncReader::new(&key(), b"context", slow).await {
                Err(error) => assert!(at < HEADER_LEN && matches!(error, Error::Io(error) if error.kind() == kind), "{at}"),
                Ok(mut reader) => {
                    let mut read = Vec::new();
                    assert_eq!(reader.read_to_end(&mut read).await.unwrap_err().kind(), kind, "{at}");
                    reader.read_to_end(&mut read).await.unwrap();
                    assert!(read == text, "{at}");
                }
            }

            let mut slow = Slow::new(vec![], 6000);
            slow.fails = Some((at, kind));
            let mut writer = AsyncWriter::new(&key(), b"context", slow).unwrap();
            let all = async {
                writer.write_all(&text).await?;
                writer.shutdown().await
            };
            let ended = all.await;
            assert_eq!(ended.err().map(|error| error.kind()), Some(kind), "{at}");
            if at < sealed.len() {
                for _ in 0..2 {
                    assert!(writer.write(b"more").await.is_err() && writer.flush().await.is_err() && writer.shutdown().await.is_err());
                }
                assert!(opened(writer.get_ref().bytes.get_ref()).1.is_some(), "{at}");
            }
            cases += 2;
        }
    }
    // An output that takes nothing, and one that claims to have taken too much.
    for wrong in [0, usize::MAX] {
        struct Wrong(usize);
        impl AsyncWrite for Wrong {
            fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
                Poll::Ready(Ok(self.0))
            }
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
        let mut writer = AsyncWriter::new(&key(), b"", Wrong(wrong)).unwrap();
        assert_eq!(writer.flush().await.unwrap_err().kind(), ErrorKind::WriteZero);
        assert!(writer.finish().await.is_err());
        cases += 1;
    }
    // A writer that is dropped has made no whole file.
    let mut writer = AsyncWriter::new(&key(), b"context", Slow::new(vec![], 6000)).unwrap();
    writer.write_all(&text).await.unwrap();
    writer.flush().await.unwrap();
    assert_eq!(opened(writer.get_ref().bytes.get_ref()).1.as_deref(), Some("Truncated"));
    assert!(cases > 0);
}

/// The ranges of `RangeReader`, out of memory and out of a file.
#[tokio::test]
async fn ranges() {
    let mut cases = 0;
    let folder = tempfile::tempdir().unwrap();
    for len in LENGTHS {
        let text = text(len);
        let name = folder.path().join(len.to_string());
        std::fs::write(&name, sealed(&text)).unwrap();
        let mut slow = AsyncRangeReader::new(&key(), b"context", Slow::new(sealed(&text), 9000)).await.unwrap();
        let mut file = AsyncRangeReader::new(&key(), b"context", tokio::fs::File::open(&name).await.unwrap()).await.unwrap();
        assert_eq!((slow.len(), file.len(), file.is_empty()), (len as u64, len as u64, len == 0));
        let borders =
            [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 2 * CHUNK_LEN, 3 * CHUNK_LEN, len / 2, len.saturating_sub(1), len, len + 1];
        for start in borders {
            for end in borders {
                let range = start as u64..end as u64;
                match (slow.read(range.clone()).await, file.read(range.clone()).await, text.get(start..end)) {
                    (Ok(slow), Ok(file), Some(expected)) => assert!(slow == expected && file == expected, "{range:?} of {len}"),
                    (Err(Error::OutOfRange), Err(Error::OutOfRange), None) => {}
                    other => panic!("{range:?} of {len}: {other:?}"),
                }
                cases += 1;
            }
        }
        // The file becomes shorter meanwhile: no range behind the end comes out.
        if len > CHUNK_LEN {
            std::fs::OpenOptions::new().write(true).open(&name).unwrap().set_len((HEADER_LEN + SEALED_CHUNK_LEN) as u64).unwrap();
            assert!(matches!(file.read(0..len as u64).await, Err(Error::Truncated)));
            assert!(file.read(0..100).await.unwrap() == text[..100]);
            let error = file.copy(0..len as u64, Slow::new(vec![], 100)).await;
            assert!(error.unwrap_err().is_unauthentic());
        }
    }
    assert!(cases > 0);
}

/// Sent between threads, as a task is.
#[tokio::test]
async fn a_task_may_own_them() {
    let key = std::sync::Arc::new(key());
    let (here, there) = tokio::io::duplex(1000);
    let (theirs, text) = (key.clone(), text(100_000));
    let sent = text.clone();
    let task = tokio::spawn(async move {
        let mut writer = AsyncWriter::new(&theirs, b"", here)?;
        writer.write_all(&sent).await?;
        writer.shutdown().await?;
        Ok::<(), Error>(())
    });
    let mut read = Vec::new();
    AsyncReader::new(&key, b"", there).await.unwrap().read_to_end(&mut read).await.unwrap();
    task.await.unwrap().unwrap();
    assert!(read == text);
}
