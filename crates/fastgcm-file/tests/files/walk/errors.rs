//! Every call by which control leaves the library fails in turn, and panics.

use crate::long;
use fastgcm_file::{CHUNK_LEN, RangeReader, Reader, SEALED_CHUNK_LEN, Writer, open, seal};
use std::{
    io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write},
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Fails in one of its calls, once; all others go through.
struct Nth<'a, T> {
    inner: T,
    calls: &'a AtomicUsize,
    fails: usize,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Error,
    Panic,
    /// Says that it has given more than it was asked for: an input that is read as a stream, for where it is read at any place the library of Rust panics.
    TooMuch,
}

impl<T> Nth<'_, T> {
    fn call(&self) -> io::Result<()> {
        match self.calls.fetch_add(1, Relaxed) == self.fails {
            true if self.how == How::Panic => panic!("planned"),
            true if self.how == How::Error => Err(ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

impl<T: Read> Read for Nth<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.call()?;
        if self.how == How::TooMuch && self.calls.load(Relaxed) == self.fails + 1 {
            return Ok(buffer.len() + 1);
        }
        let len = buffer.len().min(5000);
        self.inner.read(&mut buffer[..len])
    }
}

impl<T: Seek> Seek for Nth<'_, T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.call()?;
        self.inner.seek(to)
    }
}

impl<T: Write> Write for Nth<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call()?;
        self.inner.write(&bytes[..bytes.len().min(5000)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call()?;
        self.inner.flush()
    }
}

/// More than one unit of 16 chunks.
const LEN: usize = 18 * CHUNK_LEN + 5;

fn sealed() -> Vec<u8> {
    let mut sealed = Vec::new();
    seal(&long::key(), b"", &crate::text(LEN)[..], &mut sealed, NonZero::<usize>::MIN).unwrap();
    sealed
}

/// Lets each call of `work` fail in turn, in each of these ways, until one run meets no fault: that one must do all. How many runs there were.
fn each_call(ways: &[How], mut work: impl FnMut(&AtomicUsize, usize, How) -> bool) -> usize {
    let mut runs = 0;
    for &how in ways {
        for fails in 0.. {
            let calls = AtomicUsize::new(0);
            let done = catch_unwind(AssertUnwindSafe(|| work(&calls, fails, how))).unwrap_or_else(|panic| {
                // Any other one is this test's own.
                let is_planned = panic.downcast_ref().is_some_and(|text: &&str| *text == "planned");
                if is_planned { false } else { resume_unwind(panic) }
            });
            let met = calls.load(Relaxed) > fails;
            runs += 1;
            assert!(done || met, "call {fails} was never made, and all is not done");
            assert!(fails < 10_000);
            if !met {
                break;
            }
        }
    }
    runs
}

const BOTH: [How; 2] = [How::Error, How::Panic];
const ALL: [How; 3] = [How::Error, How::Panic, How::TooMuch];

pub(super) fn errors_of_sealing() -> usize {
    let text = crate::text(LEN);
    let mut runs = 0;
    for threads in [1, 3] {
        let threads = NonZero::new(threads).unwrap();
        let mut check = |input: bool, ways: &[How]| {
            runs += each_call(ways, |calls, fails, how| {
                let mut out = Vec::new();
                let source = Nth { inner: &text[..], calls, fails: if input { fails } else { usize::MAX }, how };
                let none = &AtomicUsize::new(0);
                let sink =
                    Nth { inner: &mut out, calls: if input { none } else { calls }, fails, how: if input { How::TooMuch } else { how } };
                let source = Nth { calls: if input { calls } else { none }, ..source };
                let result = catch_unwind(AssertUnwindSafe(|| seal(&long::key(), b"", source, sink, threads)));
                let opened = open(&long::key(), b"", &out[..], io::sink(), NonZero::<usize>::MIN);
                let done = matches!(result, Ok(Ok(_)));
                // A flush may fail when all has been written.
                assert!(!done || opened.is_ok(), "what was sealed does not open");
                assert!(done || opened.is_err() || !input, "a part opens");
                done
            });
        };
        check(true, &ALL);
        check(false, &BOTH);
    }
    runs
}

pub(super) fn errors_of_opening() -> usize {
    let (text, file) = (crate::text(LEN), sealed());
    let mut runs = 0;
    for threads in [1, 3] {
        let threads = NonZero::new(threads).unwrap();
        for input in [true, false] {
            runs += each_call(if input { &ALL } else { &BOTH }, |calls, fails, how| {
                let (mut out, none) = (Vec::new(), &AtomicUsize::new(0));
                let source =
                    Nth { inner: &file[..], calls: if input { calls } else { none }, fails: if input { fails } else { usize::MAX }, how };
                let sink =
                    Nth { inner: &mut out, calls: if input { none } else { calls }, fails: if input { usize::MAX } else { fails }, how };
                let result = catch_unwind(AssertUnwindSafe(|| open(&long::key(), b"", source, sink, threads)));
                assert!(text.starts_with(&out));
                let done = matches!(result, Ok(Ok(_)));
                assert!(!done || out == text);
                done
            });
        }
    }
    runs
}

/// After an error, or a panic, of the source or the output the same reader reads on as if that call had not been.
pub(super) fn errors_of_ranges() -> usize {
    let (text, file) = (crate::text(LEN), sealed());
    let range = 5_u64..(LEN as u64 - 3);
    let mut runs = 0;
    for way in 0..4 {
        runs += each_call(&BOTH, |calls, fails, how| {
            let (mut out, none) = (Vec::new(), AtomicUsize::new(0));
            let calls_of_source = if way == 3 { &none } else { calls };
            let source = Nth { inner: Cursor::new(&file), calls: calls_of_source, fails: if way == 3 { usize::MAX } else { fails }, how };
            let Ok(mut reader) = RangeReader::new(&long::key(), b"", source) else { return false };
            let done = catch_unwind(AssertUnwindSafe(|| match way {
                0 => reader.read(range.clone()).is_ok_and(|read| read == text[5..LEN - 3]),
                1 => reader.verify(range.clone(), NonZero::new(2).unwrap()).is_ok(),
                2 => reader.copy(range.clone(), io::sink(), NonZero::new(3).unwrap()).is_ok(),
                _ => reader.copy(range.clone(), Nth { inner: &mut out, calls, fails, how }, NonZero::new(3).unwrap()).is_ok(),
            }));
            assert!(text[5..].starts_with(&out));
            assert!(calls.load(Relaxed) <= fails || reader.read(3..LEN as u64).unwrap() == text[3..], "call {fails}");
            matches!(done, Ok(true))
        });
    }
    runs
}

/// A reader reads on after an error of its input, and loses nothing. Behind a panic it gives nothing wrong.
pub(super) fn errors_of_readers() -> usize {
    let (text, file) = (crate::text(LEN), sealed());
    each_call(&ALL, |calls, fails, how| {
        let Ok(mut reader) = Reader::new(&long::key(), b"", Nth { inner: &file[..], calls, fails, how }) else { return false };
        let mut read = Vec::new();
        let first = catch_unwind(AssertUnwindSafe(|| reader.read_to_end(&mut read)));
        let done = matches!(first, Ok(Ok(_)));
        if !done {
            assert!(text.starts_with(&read));
            match (how, catch_unwind(AssertUnwindSafe(|| reader.read_to_end(&mut read)))) {
                (How::Panic, Ok(Err(_))) => assert!(text.starts_with(&read)),
                (_, again) => assert!(matches!(again, Ok(Ok(_))) && read == text, "call {fails}"),
            }
        }
        done && read == text
    })
}

/// A writer that has failed refuses all that comes later, and no reader takes what it wrote for a file.
pub(super) fn errors_of_writers() -> usize {
    let text = crate::text(3 * CHUNK_LEN + 5);
    each_call(&BOTH, |calls, fails, how| {
        let mut out = Vec::new();
        let Ok(mut writer) = Writer::new(&long::key(), b"", Nth { inner: &mut out, calls, fails, how }) else { return false };
        let (head, tail) = text.split_at(SEALED_CHUNK_LEN);
        let first = catch_unwind(AssertUnwindSafe(|| writer.write_all(head).and_then(|()| writer.write_all(tail))));
        let written = matches!(first, Ok(Ok(())));
        if !written {
            assert_eq!(writer.write_all(&text).unwrap_err().to_string(), "an earlier write failed", "call {fails}");
        }
        // That a flush fails changes nothing of what was written.
        let flushed = catch_unwind(AssertUnwindSafe(|| writer.flush())).is_ok_and(|flushed| flushed.is_ok());
        let finished = catch_unwind(AssertUnwindSafe(|| writer.finish().is_ok())).unwrap_or(false);
        let opened = open(&long::key(), b"", &out[..], io::sink(), NonZero::<usize>::MIN);
        assert!(!finished || opened.is_ok() && written);
        assert!(written || opened.is_err());
        written && flushed && finished
    })
}
