//! What is asked of inputs and outputs: pieces of any size, interruptions, errors, ends, flushes.

use fastgcm_file::{CHUNK_LEN, Error, Format, HEADER_LEN, Key, RangeReader, Reader, SEALED_CHUNK_LEN, TAG_LEN, Writer, open, seal};
use std::{
    io::{self, BufRead, Cursor, ErrorKind, Read, Write},
    num::NonZero,
};

/// More than one unit of 16 chunks.
const LEN: usize = 17 * CHUNK_LEN + 5;

fn text() -> Vec<u8> {
    crate::text(LEN)
}

fn key() -> Key {
    Key::new(Format::Cobblestone256, &[3; 32]).unwrap()
}

fn threads(number: usize) -> NonZero<usize> {
    NonZero::new(number).unwrap()
}

fn sealed() -> Vec<u8> {
    let mut sealed = Vec::new();
    seal(&key(), b"", &text()[..], &mut sealed, threads(1)).unwrap();
    sealed
}

fn opened(sealed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    open(&key(), b"", sealed, &mut text, threads(1)).unwrap();
    text
}

/// Takes few bytes at a time, is interrupted between, and keeps a record. It fails when it has taken `room` bytes, or at the flush.
struct Output {
    taken: Vec<u8>,
    /// How many bytes it had at the last flush.
    flushed: Option<usize>,
    room: usize,
    flush_fails: bool,
    interrupted: bool,
    /// Calls after it had failed.
    failed: bool,
    later: usize,
}

impl Output {
    fn new() -> Self {
        Self { taken: Vec::new(), flushed: None, room: usize::MAX, flush_fails: false, interrupted: false, failed: false, later: 0 }
    }

    fn fail(&mut self) -> io::Error {
        self.later += usize::from(self.failed);
        self.failed = true;
        ErrorKind::StorageFull.into()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.failed || self.taken.len() >= self.room {
            return Err(self.fail());
        }
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        let len = bytes.len().min(1000).min(self.room - self.taken.len());
        self.taken.extend(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed || self.flush_fails {
            return Err(self.fail());
        }
        self.flushed = Some(self.taken.len());
        Ok(())
    }
}

/// Each way to write to an output: its name, and what does it.
type Way = (&'static str, fn(&mut Output) -> Result<(), Error>);

const WAYS: [Way; 6] = [
    ("Writer", |output| {
        let mut writer = Writer::new(&key(), b"", output)?;
        writer.write_all(&text())?;
        writer.finish().map(drop)
    }),
    ("seal", |output| seal(&key(), b"", &text()[..], output, threads(1)).map(drop)),
    ("seal on threads", |output| seal(&key(), b"", &text()[..], output, threads(3)).map(drop)),
    ("open", |output| open(&key(), b"", &sealed()[..], output, threads(1)).map(drop)),
    ("open on threads", |output| open(&key(), b"", &sealed()[..], output, threads(3)).map(drop)),
    ("copy", |output| RangeReader::new(&key(), b"", Cursor::new(sealed()))?.copy(0..LEN as u64, output, threads(2))),
];

#[test]
fn an_output_may_take_little_at_a_time_and_is_flushed() {
    for (way, work) in WAYS {
        let mut output = Output::new();
        work(&mut output).unwrap();
        assert_eq!(output.flushed, Some(output.taken.len()), "{way}");
        let result = if way.starts_with("seal") || way == "Writer" { opened(&output.taken) } else { output.taken };
        assert!(result == text(), "{way}");
    }
}

/// Its error comes back, and nothing more is asked of it.
#[test]
fn an_output_that_fails_is_left_alone() {
    let full = |error: Error| matches!(error, Error::Io(error) if error.kind() == ErrorKind::StorageFull);
    let mut cases = 0;
    for (way, work) in WAYS {
        // The header, the first chunk, the last.
        for room in [0, 30, HEADER_LEN, 10_000, LEN - 1] {
            let mut output = Output { room, ..Output::new() };
            assert!(full(work(&mut output).unwrap_err()), "{way}, {room} bytes");
            assert_eq!((output.taken.len(), output.later, output.flushed), (room, 0, None), "{way}, {room} bytes");
            cases += 1;
        }
        let mut output = Output { flush_fails: true, ..Output::new() };
        assert!(full(work(&mut output).unwrap_err()), "{way}: flush");
        assert_eq!(output.later, 0, "{way}: flush");
        cases += 1;
    }
    assert_eq!(cases, 36);
}

/// Gives a few bytes at a time, is interrupted between, fails where it is told to, and must not be asked again after its end.
struct Input<'a> {
    bytes: &'a [u8],
    /// Fails once when so many bytes are left.
    fails_at: Option<usize>,
    again: bool,
    calls: usize,
    ended: bool,
}

impl<'a> Input<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, fails_at: None, again: false, calls: 0, ended: false }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!self.ended, "it had ended");
        self.calls += 1;
        if self.calls % 2 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let stop = self.fails_at.unwrap_or(0);
        if self.fails_at == Some(self.bytes.len()) {
            self.fails_at = None;
            self.ended = !self.again;
            return Err(ErrorKind::TimedOut.into());
        }
        let len = buffer.len().min(1000).min(self.bytes.len() - stop);
        let read = self.bytes.read(&mut buffer[..len])?;
        self.ended = read == 0;
        Ok(read)
    }
}

#[test]
fn an_input_may_give_little_at_a_time_and_is_not_read_behind_its_end() {
    let (text, file) = (text(), sealed());
    for number in [1, 3] {
        let (mut sealed, mut opened_text) = (Vec::new(), Vec::new());
        assert_eq!(seal(&key(), b"", Input::new(&text), &mut sealed, threads(number)).unwrap(), LEN as u64);
        assert!(opened(&sealed) == text);
        assert_eq!(open(&key(), b"", Input::new(&file), &mut opened_text, threads(number)).unwrap(), LEN as u64);
        assert!(opened_text == text);
    }
    let mut reader = Reader::new(&key(), b"", Input::new(&file)).unwrap();
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    assert!(read == text);
    // The short chunk was the last: what is behind the end is not asked for again.
    for _ in 0..3 {
        assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
        assert!(reader.fill_buf().unwrap().is_empty());
    }
}

#[test]
fn an_input_that_fails_is_left_alone() {
    let (text, file) = (text(), sealed());
    let timed_out = |error: Error| matches!(error, Error::Io(error) if error.kind() == ErrorKind::TimedOut);
    let failing = |bytes, left| Input { fails_at: Some(left), ..Input::new(bytes) };
    let mut cases = 0;
    for left in [0, 1, 100_000, LEN - 1, LEN] {
        for number in [1, 3] {
            assert!(timed_out(seal(&key(), b"", failing(&text, left), io::sink(), threads(number)).unwrap_err()), "{left}");
            assert!(timed_out(open(&key(), b"", failing(&file, left), io::sink(), threads(number)).unwrap_err()), "{left}");
            cases += 2;
        }
    }
    for left in [file.len(), file.len() - 1, file.len() - HEADER_LEN + 1] {
        assert!(timed_out(open(&key(), b"", failing(&file, left), io::sink(), threads(1)).unwrap_err()), "header, {left}");
        assert!(timed_out(Reader::new(&key(), b"", failing(&file, left)).unwrap_err()), "header, {left}");
        cases += 2;
    }
    assert_eq!(cases, 26);
}

/// An error of the input does not stick, and no byte that was read before it is lost.
#[test]
fn a_read_that_failed_can_be_tried_again() {
    let (text, file) = (text(), sealed());
    let places = [0, 1, TAG_LEN, 20, 21, 22, SEALED_CHUNK_LEN, 100_000, file.len() - HEADER_LEN - 10, file.len() - HEADER_LEN];
    for left in places {
        let mut reader = Reader::new(&key(), b"", Input { again: true, fails_at: Some(left), ..Input::new(&file) }).unwrap();
        let mut read = Vec::new();
        assert_eq!(reader.read_to_end(&mut read).unwrap_err().kind(), ErrorKind::TimedOut, "{left}");
        assert!(text.starts_with(&read));
        reader.read_to_end(&mut read).unwrap();
        assert!(read == text, "{left}");
    }
}

/// The same error once more, whenever it is asked, and nothing is read for it.
#[test]
fn an_error_of_a_reader_sticks() {
    let mut file = sealed();
    file[HEADER_LEN + 3 * SEALED_CHUNK_LEN] ^= 1;
    let cut = &sealed()[..HEADER_LEN + 3 * SEALED_CHUNK_LEN + 10];
    for (file, message) in
        [(&file[..], "chunk 3 is not authentic: the sealed file was changed or truncated"), (cut, "the sealed file is truncated")]
    {
        let mut reader = Reader::new(&key(), b"", Input::new(file)).unwrap();
        let mut read = Vec::new();
        let first = reader.read_to_end(&mut read).unwrap_err();
        assert!(read == text()[..3 * CHUNK_LEN]);
        let calls = reader.get_ref().calls;
        for _ in 0..3 {
            let again = reader.read(&mut [0; 10]).unwrap_err();
            assert_eq!((again.kind(), again.to_string()), (first.kind(), message.to_owned()));
        }
        assert_eq!(reader.into_inner().calls, calls);
    }
}

#[test]
fn nothing_is_asked_of_the_input_for_nothing() {
    let file = sealed();
    let mut reader = Reader::new(&key(), b"", Input::new(&file)).unwrap();
    let calls = reader.get_ref().calls;
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(reader.get_ref().calls, calls);
    // A chunk at a time, and no more of it than there is.
    assert!(reader.fill_buf().unwrap() == &text()[..CHUNK_LEN]);
    reader.consume(1);
    let calls = reader.get_ref().calls;
    assert!(reader.fill_buf().unwrap() == &text()[1..CHUNK_LEN]);
    assert_eq!(reader.read(&mut [0; CHUNK_LEN]).unwrap(), CHUNK_LEN - 1);
    assert_eq!(reader.get_ref().calls, calls);
    assert!(reader.fill_buf().unwrap() == &text()[CHUNK_LEN..2 * CHUNK_LEN]);
    reader.consume(CHUNK_LEN + 1);
    assert!(reader.fill_buf().unwrap() == &text()[2 * CHUNK_LEN..3 * CHUNK_LEN]);
}

/// A full chunk leaves at once, and less than that stays until `finish`, however it came and whoever flushes.
#[test]
fn a_writer_writes_full_chunks_at_once() {
    let mut output = Output::new();
    let mut writer = Writer::new(&key(), b"", &mut output).unwrap();
    let mut lengths = Vec::new();
    for len in [0, 1, CHUNK_LEN - 1, 0, 1, 2 * CHUNK_LEN - 1, 0, CHUNK_LEN] {
        assert_eq!(writer.write(&vec![1; len]).unwrap(), len);
        writer.flush().unwrap();
        assert_eq!(writer.get_ref().flushed, Some(writer.get_ref().taken.len()));
        lengths.push(writer.get_ref().taken.len());
    }
    assert_eq!(lengths, [0, 0, 1, 1, 1, 3, 3, 4].map(|chunks| HEADER_LEN + chunks * SEALED_CHUNK_LEN));
    writer.finish().unwrap();
    assert_eq!(output.taken.len(), HEADER_LEN + 4 * SEALED_CHUNK_LEN + TAG_LEN);
    assert!(opened(&output.taken) == [1; 4 * CHUNK_LEN]);
}

/// Not even where a chunk had just become full.
#[test]
fn a_writer_that_is_dropped_leaves_a_truncated_file() {
    for len in [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 3 * CHUNK_LEN] {
        let mut output = Output::new();
        let mut writer = Writer::new(&key(), b"", &mut output).unwrap();
        writer.write_all(&vec![1; len]).unwrap();
        drop(writer);
        assert_eq!(output.taken.len(), HEADER_LEN + len / CHUNK_LEN * SEALED_CHUNK_LEN);
        assert!(matches!(open(&key(), b"", &output.taken[..], io::sink(), threads(2)), Err(Error::Truncated)), "{len}");
    }
}

/// An earlier error is one of every later call, and nothing more is written.
#[test]
fn a_writer_that_failed_writes_nothing_more() {
    for room in [HEADER_LEN, HEADER_LEN + 5000, HEADER_LEN + SEALED_CHUNK_LEN] {
        let mut output = Output { room, ..Output::new() };
        let mut writer = Writer::new(&key(), b"", &mut output).unwrap();
        assert_eq!(writer.write_all(&[1; 2 * CHUNK_LEN]).unwrap_err().kind(), ErrorKind::StorageFull);
        for len in [CHUNK_LEN, 3 * CHUNK_LEN] {
            assert_eq!(writer.write_all(&vec![1; len]).unwrap_err().to_string(), "an earlier write failed");
        }
        assert!(matches!(writer.finish(), Err(Error::Io(_))));
        assert_eq!((output.taken.len(), output.later), (room, 0));
    }
}
