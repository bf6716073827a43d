//! Two walks through every public function, which are found in the source: a new one that is in neither list fails here. One walk gives sizes around 2^31, 2^32,
//! 2^63 and 2^64; the other makes every call fail, and panic, by which control leaves the library.

use crate::long::{self, Sealed};
use fastgcm_file::{
    CHUNK_LEN, Cipher, Error, Format, Key, MAX_CHUNKS, MAX_TEXT_LEN, RangeReader, Reader, SEALED_CHUNK_LEN, TAG_LEN, Writer, chunks, open,
    seal, sealed_len, text_len,
};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom, Write},
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A function, and what was done with it: how many cases there were.
type Walk = (&'static str, fn() -> usize);

const SIZES: [Walk; 16] = [
    ("cipher::seal_chunk", numbers_and_lengths),
    ("cipher::open_chunk", numbers_and_lengths),
    ("format::of_key_len", lengths_of_keys),
    ("format::sealed_len", lengths_of_texts),
    ("format::chunks", lengths_of_texts),
    ("format::text_len", lengths_of_texts),
    ("key::new", lengths_of_keys),
    ("parallel::seal", numbers_of_threads),
    ("parallel::open", numbers_of_threads),
    ("range::new", lengths_of_files),
    ("range::read", ranges),
    ("range::verify", ranges),
    ("range::copy", ranges),
    ("reader::consume", amounts),
    ("reader::read", amounts),
    ("writer::write", giant_writes),
];

const WITHOUT_SIZES: [&str; 22] = [
    "cipher::create",
    "cipher::of",
    "cipher::with_salt",
    "error::is_unauthentic",
    "format::key_len",
    "format::name",
    "key::generate",
    "key::with_backend",
    "key::as_bytes",
    "key::fingerprint",
    "key::format",
    "key::backend",
    "range::len",
    "range::is_empty",
    "reader::fill_buf",
    "reader::new",
    "reader::get_ref",
    "reader::into_inner",
    "writer::new",
    "writer::finish",
    "writer::get_ref",
    "writer::flush",
];

const ERRORS: [Walk; 14] = [
    ("parallel::seal", errors_of_sealing),
    ("parallel::open", errors_of_opening),
    ("range::new", errors_of_ranges),
    ("range::read", errors_of_ranges),
    ("range::verify", errors_of_ranges),
    ("range::copy", errors_of_ranges),
    ("reader::new", errors_of_readers),
    ("reader::read", errors_of_readers),
    ("reader::fill_buf", errors_of_readers),
    ("reader::consume", errors_of_readers),
    ("writer::new", errors_of_writers),
    ("writer::write", errors_of_writers),
    ("writer::flush", errors_of_writers),
    ("writer::finish", errors_of_writers),
];

/// They call nothing of the caller's. (What happens without random bytes: `no_random.rs`.)
const WITHOUT_CALLS: [&str; 24] = [
    "cipher::create",
    "cipher::of",
    "cipher::with_salt",
    "cipher::seal_chunk",
    "cipher::open_chunk",
    "error::is_unauthentic",
    "format::key_len",
    "format::name",
    "format::of_key_len",
    "format::sealed_len",
    "format::chunks",
    "format::text_len",
    "key::generate",
    "key::new",
    "key::with_backend",
    "key::as_bytes",
    "key::fingerprint",
    "key::format",
    "key::backend",
    "range::len",
    "range::is_empty",
    "reader::get_ref",
    "reader::into_inner",
    "writer::get_ref",
];

/// Every public function and every one of a trait of `std::io`, as the source has them.
fn all() -> BTreeSet<String> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let files = folder.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    let mut names = BTreeSet::new();
    for path in files {
        let (stem, source) = (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap());
        let mut public = false;
        for line in source.split("\n#[cfg(test)]\nmod ").next().unwrap().lines() {
            if line.starts_with("impl") {
                public = [" Read for Reader", " BufRead for Reader", " Write for Writer"].iter().any(|of| line.contains(of));
            }
            let line = line.trim_start();
            let name = ["pub fn ", "pub const fn "]
                .iter()
                .find_map(|start| line.strip_prefix(start))
                .or(line.strip_prefix("fn ").filter(|_| public));
            names.extend(name.map(|name| format!("{stem}::{}", name.split(['(', '<']).next().unwrap())));
        }
    }
    names
}

fn walk(name: &str, done: &[Walk], others: &[&str]) {
    let listed: Vec<_> = done.iter().map(|(name, _)| *name).chain(others.iter().copied()).map(str::to_owned).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), all(), "a function is in no list, or a list has one that is gone");
    assert_eq!(listed.len(), all().len(), "a function is in two lists");
    let cases: usize = done.iter().map(|(_, work)| work()).sum();
    println!("files::walk_{name} ok {cases}");
}

#[test]
fn sizes() {
    walk("sizes", &SIZES, &WITHOUT_SIZES);
}

#[test]
fn errors() {
    // What panics below is meant to.
    std::panic::set_hook(Box::new(|info| {
        if !["planned", "a scoped thread panicked"].iter().any(|meant| info.to_string().contains(meant)) {
            eprintln!("{info}")
        }
    }));
    walk("errors", &ERRORS, &WITHOUT_CALLS);
}

const EDGES: [u64; 16] = [
    0,
    1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    MAX_TEXT_LEN,
    MAX_TEXT_LEN + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 16,
    u64::MAX - 1,
    u64::MAX,
];

/// Memory that no page stands behind before it is touched.
fn giant() -> Vec<u8> {
    vec![0; (1 << 32) + 17]
}

fn numbers_and_lengths() -> usize {
    let (_, cipher) = Cipher::create(&long::key(), b"").unwrap();
    let (mut sealed, mut text) = ([7; TAG_LEN + 1], [7; 1]);
    for number in EDGES.into_iter().chain([MAX_CHUNKS - 1, MAX_CHUNKS]) {
        let fits = number < MAX_CHUNKS;
        assert_eq!(cipher.seal_chunk(number, &[1], &mut sealed).is_ok(), fits, "{number}");
        assert_eq!(matches!(cipher.open_chunk(number, &sealed, &mut text), Err(Error::TooLong)), !fits, "{number}");
    }
    let (text, mut sealed) = (giant(), giant());
    for len in [CHUNK_LEN + 1, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 32) + 1] {
        assert!(matches!(cipher.seal_chunk(0, &text[..len], &mut sealed[..len + TAG_LEN]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.seal_chunk(0, &text[..1], &mut sealed[..len + TAG_LEN]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.open_chunk(0, &text[..len + TAG_LEN], &mut sealed[..len]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.open_chunk(0, &text[..17], &mut sealed[..len]), Err(Error::OutOfRange)), "{len}");
    }
    2 * (EDGES.len() + 2) + 4 * 5
}

fn lengths_of_keys() -> usize {
    let bytes = giant();
    for len in EDGES.into_iter().filter(|len| *len <= bytes.len() as u64) {
        assert!(matches!(Key::new(Format::Cobblestone256, &bytes[..len as usize]), Err(Error::KeyLength)), "{len}");
    }
    assert!(EDGES.iter().all(|len| usize::try_from(*len).is_ok_and(|len| Format::of_key_len(len).is_none())));
    8 + EDGES.len()
}

fn lengths_of_texts() -> usize {
    for len in EDGES {
        let fits = len <= MAX_TEXT_LEN;
        assert_eq!((sealed_len(len).is_ok(), chunks(len).is_ok()), (fits, fits), "{len}");
        assert!(text_len(len).is_err() || sealed_len(text_len(len).unwrap()).unwrap() == len, "{len}");
    }
    3 * EDGES.len()
}

fn numbers_of_threads() -> usize {
    for number in [1, 1 << 31, 1 << 32, 1 << 63, usize::MAX] {
        let number = NonZero::new(number).unwrap();
        let (text, mut sealed, mut opened) = (crate::text(40 * CHUNK_LEN), Vec::new(), Vec::new());
        seal(&long::key(), b"", &text[..], &mut sealed, number).unwrap();
        open(&long::key(), b"", &sealed[..], &mut opened, number).unwrap();
        assert!(opened == text);
    }
    10
}

/// A source that says that it is so long.
struct Long(Sealed, u64);

impl Read for Long {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for Long {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::End(_) = to { Ok(self.1) } else { self.0.seek(to) }
    }
}

fn lengths_of_files() -> usize {
    let longest = sealed_len(MAX_TEXT_LEN).unwrap();
    for len in EDGES.into_iter().chain([longest - 1, longest + 1]) {
        assert!(RangeReader::new(&long::key(), b"", Long(Sealed::new(MAX_TEXT_LEN), len)).is_err(), "{len}");
    }
    EDGES.len() + 2
}

fn ranges() -> usize {
    let mut file = RangeReader::new(&long::key(), b"", Sealed::new(MAX_TEXT_LEN)).unwrap();
    let mut cases = 0;
    for start in EDGES {
        for end in EDGES.into_iter().chain([start.saturating_add(3)]) {
            let one = NonZero::<usize>::MIN;
            if start > end || end > MAX_TEXT_LEN {
                assert!(matches!(file.read(start..end), Err(Error::OutOfRange)), "{start}..{end}");
                assert!(matches!(file.verify(start..end, one), Err(Error::OutOfRange)), "{start}..{end}");
                assert!(matches!(file.copy(start..end, io::sink(), one), Err(Error::OutOfRange)), "{start}..{end}");
            } else if end - start < 100 {
                let text: Vec<_> = (start..end).map(|at| long::chunk(at / CHUNK_LEN as u64)[(at % CHUNK_LEN as u64) as usize]).collect();
                let mut copied = Vec::new();
                file.copy(start..end, &mut copied, one).unwrap();
                assert!(copied == text && file.read(start..end).unwrap() == text && file.verify(start..end, one).is_ok(), "{start}..{end}");
            } else {
                continue;
            }
            cases += 3;
        }
    }
    cases
}

fn amounts() -> usize {
    let text = crate::text(3 * CHUNK_LEN + 5);
    let mut sealed = Vec::new();
    seal(&long::key(), b"", &text[..], &mut sealed, NonZero::<usize>::MIN).unwrap();
    for amount in EDGES {
        let mut reader = Reader::new(&long::key(), b"", &sealed[..]).unwrap();
        assert_eq!(reader.fill_buf().unwrap().len(), CHUNK_LEN);
        reader.consume(5);
        reader.consume(amount as usize);
        let rest = if amount < 2 { 5 + amount as usize } else { CHUNK_LEN };
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == text[rest..], "{amount}");
    }
    let mut buffer = giant();
    let mut reader = Reader::new(&long::key(), b"", &sealed[..]).unwrap();
    assert!(reader.read(&mut buffer).unwrap() == CHUNK_LEN && buffer[..CHUNK_LEN] == text[..CHUNK_LEN]);
    EDGES.len() + 1
}

/// Four GiB are sealed in the full run only.
fn giant_writes() -> usize {
    let text = giant();
    let len = if std::env::var_os("FASTGCM_FULL").is_some() { text.len() } else { (1 << 25) + 17 };
    let mut writer = Writer::new(&long::key(), b"", Counted(0)).unwrap();
    assert_eq!(writer.write(&text[..len]).unwrap(), len);
    assert_eq!(writer.finish().unwrap().0, sealed_len(len as u64).unwrap());
    1
}

struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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

fn errors_of_sealing() -> usize {
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

fn errors_of_opening() -> usize {
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
fn errors_of_ranges() -> usize {
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
fn errors_of_readers() -> usize {
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
fn errors_of_writers() -> usize {
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
