//! Ranges of a file: the right bytes, and nothing of a file that is not whole.

use fastgcm_file::{Error, Format, Key, RangeReader, SEALED_CHUNK_LEN, seal};
use std::{
    io::{self, Cursor, Read, Seek, SeekFrom, Write},
    num::NonZero,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

const LEN: usize = 40 * 16384 + 123;

fn text() -> Vec<u8> {
    crate::text(LEN)
}

fn sealed(key: &Key, text: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    seal(key, b"", text, &mut sealed, NonZero::new(2).unwrap()).unwrap();
    sealed
}

/// Places around every kind of border.
fn places(len: usize) -> Vec<u64> {
    let around = [0, 1, 2, 16, 17, 40].iter().flat_map(|chunk| {
        let at = chunk * 16384i64;
        [at - 1, at, at + 1]
    });
    around.chain([len as i64 - 1, len as i64, len as i64 + 1]).filter(|at| *at >= 0).map(|at| at as u64).collect()
}

#[test]
fn every_border_with_every_other() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let sealed = sealed(&key, &text);
    let mut reader = RangeReader::new(&key, b"", Cursor::new(&sealed)).unwrap();
    assert_eq!((reader.len(), reader.is_empty()), (LEN as u64, false));
    let mut cases = 0;
    for start in places(LEN) {
        for end in places(LEN) {
            cases += 1;
            if start > end || end > LEN as u64 {
                assert!(matches!(reader.read(start..end), Err(Error::OutOfRange)), "{start}..{end}");
                continue;
            }
            let expected = &text[start as usize..end as usize];
            assert!(reader.read(start..end).unwrap() == expected, "{start}..{end}");
            for threads in [1, 2, 7] {
                let mut copied = Vec::new();
                reader.copy(start..end, &mut copied, NonZero::new(threads).unwrap()).unwrap();
                assert!(copied == expected, "{start}..{end} on {threads} threads");
            }
        }
    }
    assert!(cases > 0);
}

#[test]
fn short_files() {
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    for len in [0, 1, 16383, 16384, 16385, 32768] {
        let text = &text()[..len];
        let sealed = sealed(&key, text);
        let mut reader = RangeReader::new(&key, b"", Cursor::new(&sealed)).unwrap();
        assert_eq!((reader.len(), reader.is_empty()), (len as u64, len == 0));
        assert!(reader.read(0..len as u64).unwrap() == text);
        assert!(reader.read(len as u64..len as u64).unwrap().is_empty());
        assert!(matches!(reader.read(0..len as u64 + 1), Err(Error::OutOfRange)));
    }
}

/// A bad chunk fails exactly the ranges that touch it; `read` gives nothing of them, and `copy` nothing from its unit on.
#[test]
fn only_touched_chunks_count() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let mut sealed = sealed(&key, &text);
    sealed[56 + 20 * SEALED_CHUNK_LEN] ^= 1;
    let mut reader = RangeReader::new(&key, b"", Cursor::new(&sealed)).unwrap();
    let (start, end) = (20 * 16384, 21 * 16384);
    for range in [0..start, start - 5..start, end..end + 5, end..LEN as u64] {
        assert!(reader.read(range.clone()).unwrap() == text[range.start as usize..range.end as usize]);
    }
    for range in [start..start + 1, end - 1..end, 0..LEN as u64, start - 1..end + 1] {
        assert!(matches!(reader.read(range.clone()), Err(Error::Chunk(20))));
        assert!(matches!(reader.verify(range, NonZero::new(2).unwrap()), Err(Error::Chunk(20))));
    }
}

/// Neither `copy` nor `verify` takes a range that `read` would refuse, and an empty one needs no chunk.
#[test]
fn beyond_the_text_nothing_is_read_or_written() {
    let (key, text, two) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text(), NonZero::new(2).unwrap());
    let mut sealed = sealed(&key, &text);
    sealed[56] ^= 1;
    let len = LEN as u64;
    let mut reader = RangeReader::new(&key, b"", Cursor::new(&sealed)).unwrap();
    #[expect(clippy::reversed_empty_ranges)]
    let beyond = [len - 1..len + 1, 20_000..u64::MAX, len..len + 1, len + 1..len + 1, u64::MAX..u64::MAX, 30_000..29_999, u64::MAX..0];
    for range in beyond {
        let mut copied = Vec::new();
        assert!(matches!(reader.copy(range.clone(), &mut copied, two), Err(Error::OutOfRange)), "{range:?}");
        assert!(copied.is_empty());
        assert!(matches!(reader.verify(range.clone(), two), Err(Error::OutOfRange)), "{range:?}");
        assert!(matches!(reader.read(range.clone()), Err(Error::OutOfRange)), "{range:?}");
    }
    for at in [0, 1, 16384, len] {
        reader.verify(at..at, two).unwrap();
        assert!(reader.read(at..at).unwrap().is_empty());
    }
    assert!(reader.verify(0..1, two).is_err());
    reader.verify(16384..len, two).unwrap();
}

/// Wherever it stands when it is given, and whatever is written behind its end later.
#[test]
fn the_source_is_a_file_from_its_start_to_its_end() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let sealed = sealed(&key, &text);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&sealed).unwrap();
    file.seek(SeekFrom::Start(1000)).unwrap();
    let mut reader = RangeReader::new(&key, b"", file.try_clone().unwrap()).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(&[1; 50_000]).unwrap();
    assert_eq!(reader.len(), LEN as u64);
    for start in [0, 39 * 16384 + 1, 40 * 16384 + 1, LEN as u64] {
        assert!(reader.read(start..LEN as u64).unwrap() == text[start as usize..]);
    }
    assert!(RangeReader::new(&key, b"", file).unwrap_err().is_unauthentic());
}

/// Fails at some place, or when it is to go to one, once it is told to.
struct Failing<'a>(Cursor<&'a [u8]>, &'a AtomicU64, &'a AtomicBool);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let before = self.1.load(Relaxed).checked_sub(self.0.position()).unwrap_or(u64::MAX);
        let len = buffer.len().min(usize::try_from(before).unwrap_or(usize::MAX));
        if before == 0 { Err(io::ErrorKind::TimedOut.into()) } else { self.0.read(&mut buffer[..len]) }
    }
}

impl Seek for Failing<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if self.2.load(Relaxed) { Err(io::ErrorKind::TimedOut.into()) } else { self.0.seek(to) }
    }
}

#[test]
fn errors_of_the_source_come_back() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let sealed = sealed(&key, &text);
    let timed_out = |error: Error| matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::TimedOut);
    let (place, no_seek) = (AtomicU64::new(u64::MAX), AtomicBool::new(true));
    let new = || RangeReader::new(&key, b"", Failing(Cursor::new(&sealed), &place, &no_seek));
    assert!(timed_out(new().unwrap_err()));
    no_seek.store(false, Relaxed);
    let mut reader = new().unwrap();
    for at in [0, 55, 40 * SEALED_CHUNK_LEN as u64 + 56, sealed.len() as u64 - 1] {
        place.store(at, Relaxed);
        assert!(timed_out(new().unwrap_err()), "{at}");
    }
    place.store(20 * SEALED_CHUNK_LEN as u64, Relaxed);
    assert!(timed_out(reader.read(0..LEN as u64).unwrap_err()));
    assert!(timed_out(reader.verify(19 * 16384..20 * 16384, NonZero::new(2).unwrap()).unwrap_err()));
    assert!(reader.read(20 * 16384..LEN as u64).unwrap() == text[20 * 16384..]);
    no_seek.store(true, Relaxed);
    assert!(timed_out(reader.read(0..1).unwrap_err()));
}

/// The file becomes shorter after it was checked.
#[test]
fn truncated_meanwhile() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let sealed = sealed(&key, &text);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&sealed).unwrap();
    let mut reader = RangeReader::new(&key, b"", file.try_clone().unwrap()).unwrap();
    for left in [30 * SEALED_CHUNK_LEN as u64 + 56, 30 * SEALED_CHUNK_LEN as u64 + 56 + 10, 500_000, 56] {
        file.set_len(left).unwrap();
        assert!(reader.read(29 * 16384..LEN as u64).unwrap_err().is_unauthentic(), "{left}");
        assert!(reader.read(29 * 16384..39 * 16384).unwrap_err().is_unauthentic(), "{left}");
    }
}
