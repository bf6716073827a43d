//! Streams and ranges with the traits of Tokio. Each type drives the state machine of its namesake for [`std::io`]: a source that has no
//! bytes yet interrupts a [`Reader`], which goes on where it was; and a [`Writer`] seals to memory, from where the bytes go out.

use crate::{
    CHUNK_LEN, Cipher, Error, HEADER_LEN, Key, Reader, Writer,
    format::{check_range, chunk_start, text_len},
};
use std::{
    fmt,
    io::{self, BufRead, Read, SeekFrom, Write},
    ops::Range,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use zeroize::Zeroizing;

/// A source of bytes for a [`Reader`]. Where the source has none yet, it fails with `WouldBlock`, and will wake the task.
struct Source<R> {
    inner: R,
    waker: Waker,
    /// The last read had to wait.
    waits: bool,
}

impl<R: AsyncRead + Unpin> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        let read = Pin::new(&mut self.inner).poll_read(&mut Context::from_waker(&self.waker), &mut buffer);
        self.waits = read.is_pending();
        match read {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// [`Reader`] for Tokio: opens a sealed file that it reads from `R` (feature `tokio`).
///
/// Every byte that it gives out belongs to a verified chunk. **The reader knows only at the end that the file is whole**: until a read has
/// returned 0 bytes, the caller has a prefix. Errors are those of [`Reader`], and an error of the file comes back at each further call.
/// A read may be cancelled at any point, and the next one goes on where it was. Opening a chunk takes a few microseconds, which the task's
/// thread spends.
///
/// See [`AsyncWriter`] for an example.
pub struct AsyncReader<R: AsyncRead + Unpin>(Reader<Source<R>>);

impl<R: AsyncRead + Unpin> AsyncReader<R> {
    /// Reads the header and checks that it belongs to this key and context.
    ///
    /// # Errors
    /// Fails like [`Reader::new`]. After an error, or if the future is dropped before it is ready, some bytes of `inner` are lost.
    pub async fn new(key: &Key, context: &[u8], mut inner: R) -> Result<Self, Error> {
        let mut header = [0; HEADER_LEN];
        inner.read_exact(&mut header).await.map_err(at_end)?;
        let source = Source { inner, waker: Waker::noop().clone(), waits: false };
        Ok(Self(Reader::behind_header(Cipher::of(key, context, &header)?, source)))
    }

    /// Returns the `R` from which the reader reads.
    pub fn get_ref(&self) -> &R {
        &self.0.get_ref().inner
    }

    /// Returns the `R` from which the reader reads. Bytes that were read ahead are lost.
    pub fn into_inner(self) -> R {
        self.0.into_inner().inner
    }
}

/// A file that ends within its header is truncated.
fn at_end(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { Error::Truncated } else { error.into() }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for AsyncReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let reader = &mut self.get_mut().0;
        let source = reader.get_mut();
        source.waker.clone_from(context.waker());
        source.waits = false;
        match reader.fill_buf().map(drop) {
            Err(_) if reader.get_ref().waits => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
            Ok(()) => Poll::Ready(reader.fill_buf()), // what is there
        }
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().0.consume(amount);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let text = ready!(self.as_mut().poll_fill_buf(context))?;
        let len = text.len().min(buffer.remaining());
        buffer.put_slice(&text[..len]);
        self.consume(len);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead + Unpin> fmt::Debug for AsyncReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncReader").field(&self.0).finish()
    }
}

/// [`Writer`] for Tokio: seals the text that is written to it, and writes the sealed file to `W` (feature `tokio`).
///
/// **Shutting down (`shutdown`) ends the file**, and so does [`finish`](Self::finish): each writes the last chunk, without which every
/// reader refuses the file as truncated. So a caller does so only when the text is whole, and simply drops the writer after an error.
///
/// A write may be cancelled at any point: it has taken all bytes that it said, or none. (`write_all` does not say how many it took before
/// it was cancelled.) A chunk waits in memory until the next call, so `flush` writes all chunks that are full. An error of `W` stays.
///
/// ```
/// use fastgcm_file::{AsyncReader, AsyncWriter, Format, Key};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let key = Key::generate(Format::default())?;
/// let mut writer = AsyncWriter::new(&key, b"context", Vec::new())?;
/// writer.write_all(b"any number of bytes").await?;
/// let sealed = writer.finish().await?;
///
/// let mut text = String::new();
/// AsyncReader::new(&key, b"context", &sealed[..]).await?.read_to_string(&mut text).await?;
/// assert_eq!(text, "any number of bytes");
/// # Ok::<(), fastgcm_file::Error>(())
/// # })?;
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub struct AsyncWriter<W> {
    inner: W,
    /// Seals to memory; `None` when the last chunk was sealed.
    writer: Option<Writer<Vec<u8>>>,
    /// The sealed bytes of the writer, of which `sent` are written.
    sealed: Vec<u8>,
    sent: usize,
    /// Writing to `inner` failed.
    failed: bool,
}

impl<W: AsyncWrite + Unpin> AsyncWriter<W> {
    /// Starts a new file. The first write writes its header.
    ///
    /// # Errors
    /// Returns [`Io`](Error::Io) if the operating system has no random bytes.
    pub fn new(key: &Key, context: &[u8], inner: W) -> Result<Self, Error> {
        let mut writer = Writer::new(key, context, Vec::new())?;
        let sealed = std::mem::take(writer.get_mut());
        Ok(Self { inner, writer: Some(writer), sealed, sent: 0, failed: false })
    }

    /// Seals the rest of the text as the last chunk, flushes `W` and returns it. If the future is dropped before it is ready, the file is
    /// truncated, and every reader refuses it.
    ///
    /// # Errors
    /// Fails like [`Writer::finish`].
    pub async fn finish(mut self) -> Result<W, Error> {
        self.seal_last()?;
        self.flush().await?;
        Ok(self.inner)
    }

    /// Returns the `W` to which the writer writes.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    fn seal_last(&mut self) -> Result<(), Error> {
        if let Some(mut writer) = self.writer.take() {
            writer.get_mut().append(&mut self.sealed);
            self.sealed = writer.finish().inspect_err(|_| self.failed = true)?;
        }
        Ok(())
    }

    /// Writes out what was sealed.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.sealed.len() && !self.failed {
            let rest = &self.sealed[self.sent..];
            match ready!(Pin::new(&mut self.inner).poll_write(context, rest)) {
                Ok(written) if (1..=rest.len()).contains(&written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => {
                    self.failed = true;
                    return Poll::Ready(Err(result.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into())));
                }
            }
        }
        if self.failed {
            return Poll::Ready(Err(io::Error::other("an earlier write failed")));
        }
        self.sealed.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncWriter<W> {
    /// Takes up to a chunk of text when the chunk before is out.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, text: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        let Some(writer) = &mut this.writer else { return Poll::Ready(Err(io::Error::other("the file has ended"))) };
        let written = writer.write(&text[..text.len().min(CHUNK_LEN)]);
        std::mem::swap(writer.get_mut(), &mut this.sealed);
        Poll::Ready(written)
    }

    /// Writes out all full chunks. Text that does not fill a chunk stays here until the file ends.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.inner).poll_flush(context)
    }

    /// Ends the file, and shuts down `W`.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.seal_last()?;
        ready!(this.poll_send(context))?;
        Pin::new(&mut this.inner).poll_shutdown(context)
    }
}

impl<W> fmt::Debug for AsyncWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncWriter").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// [`RangeReader`](crate::RangeReader) for Tokio: opens ranges of a sealed file (feature `tokio`).
///
/// [`new`](Self::new) verifies the header and the **last chunk**, so the length of the text is authentic. A call may be cancelled at any
/// point; the next one begins anew.
///
/// ```
/// use fastgcm_file::{AsyncRangeReader, Format, Key, seal};
/// use std::{io::Cursor, num::NonZero};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (key, mut sealed, mut text) = (Key::generate(Format::default())?, Vec::new(), Vec::new());
/// seal(&key, b"", &[7; 50_000][..], &mut sealed, NonZero::<usize>::MIN)?;
///
/// let mut file = AsyncRangeReader::new(&key, b"", Cursor::new(&sealed)).await?; // or a `tokio::fs::File`
/// assert_eq!((file.len(), file.is_empty()), (50_000, false));
/// assert_eq!(file.read(16_380..16_390).await?, [7; 10]); // touches two chunks
/// file.copy(10..40_000, &mut text).await?;
/// assert_eq!(text, [7; 39_990]);
/// # Ok::<(), fastgcm_file::Error>(())
/// # })?;
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub struct AsyncRangeReader<R: AsyncRead + Unpin> {
    reader: AsyncReader<R>,
    len: u64,
}

impl<R: AsyncRead + AsyncSeek + Unpin> AsyncRangeReader<R> {
    /// Verifies the header and the last chunk of `source`, whose whole content is the sealed file.
    ///
    /// # Errors
    /// Fails like [`RangeReader::new`](crate::RangeReader::new).
    pub async fn new(key: &Key, context: &[u8], mut source: R) -> Result<Self, Error> {
        let sealed_len = source.seek(SeekFrom::End(0)).await?;
        source.rewind().await?;
        let mut this = Self { reader: AsyncReader::new(key, context, source).await?, len: text_len(sealed_len)? };
        this.begin(this.len / CHUNK_LEN as u64).await?;
        // The last chunk is verified even if it is empty.
        this.reader.fill_buf().await?;
        Ok(this)
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of this range of the text. The function verifies all chunks of the range before it returns.
    ///
    /// # Errors
    /// Fails like [`RangeReader::read`](crate::RangeReader::read).
    pub async fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        check_range(&range, self.len)?;
        let mut text = Zeroizing::new(Vec::new()); // wiped if the future is dropped
        let len = usize::try_from(range.end - range.start).map_err(|_| Error::OutOfRange)?;
        text.try_reserve_exact(len).map_err(|_| Error::OutOfRange)?;
        self.copy(range, &mut *text).await?;
        Ok(std::mem::take(&mut *text))
    }

    /// Writes this range of the text to `text`, **each chunk after it was verified**, and flushes it.
    ///
    /// # Errors
    /// Fails like [`RangeReader::copy`](crate::RangeReader::copy).
    pub async fn copy(&mut self, range: Range<u64>, mut text: impl AsyncWrite + Unpin) -> Result<(), Error> {
        check_range(&range, self.len)?;
        if range.is_empty() {
            return Ok(());
        }
        self.begin(range.start / CHUNK_LEN as u64).await?;
        let (mut skip, mut left) = (range.start % CHUNK_LEN as u64, range.end - range.start);
        while left > 0 {
            let there = self.reader.fill_buf().await?;
            let (skipped, end) = (skip.min(there.len() as u64), (skip + left).min(there.len() as u64));
            if there.is_empty() {
                return Err(Error::Truncated); // the file became shorter while we were reading
            }
            text.write_all(&there[skipped as usize..end as usize]).await?;
            (skip, left) = (skip - skipped, left - (end - skipped));
            self.reader.consume(end as usize);
        }
        text.flush().await?;
        Ok(())
    }

    /// Goes to the beginning of this chunk.
    async fn begin(&mut self, number: u64) -> Result<(), Error> {
        self.reader.0.restart(number);
        self.reader.0.get_mut().inner.seek(SeekFrom::Start(chunk_start(number))).await?;
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> fmt::Debug for AsyncRangeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncRangeReader").field("reader", &self.reader).field("len", &self.len).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, MAX_CHUNKS};

    /// A text that is too long ends as a file that every reader refuses, however often the writer is asked.
    #[tokio::test]
    async fn a_text_that_is_too_long_never_ends() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        let mut writer = AsyncWriter::new(&key, b"", Vec::new()).unwrap();
        writer.writer.as_mut().unwrap().number = MAX_CHUNKS - 1;
        writer.write_all(&[7; CHUNK_LEN - 1]).await.unwrap();
        assert!(matches!(writer.write_all(&[7]).await.unwrap_err().downcast(), Ok(Error::TooLong)));
        for _ in 0..3 {
            assert!(writer.shutdown().await.is_err() && writer.write(b"more").await.is_err() && writer.flush().await.is_err());
        }
        assert!(writer.finish().await.is_err());
    }
}
