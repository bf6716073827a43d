//! Ranges of a file: the right bytes, and nothing of a file that is not whole.

use fastgcm_file::{Error, Format, Key, RangeReader, SEALED_CHUNK_LEN, seal};
use std::{io::Cursor, num::NonZero};

const LEN: usize = 40 * 16384 + 123;

fn text() -> Vec<u8> {
    (0..LEN as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
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
    println!("every_border_with_every_other ok {cases}");
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

/// The file becomes shorter after it was checked.
#[test]
fn truncated_meanwhile() {
    let (key, text) = (Key::new(Format::Cobblestone128, &[1; 16]).unwrap(), text());
    let sealed = sealed(&key, &text);
    let path = std::env::temp_dir().join(format!("fastgcm-file-truncated-{}", std::process::id()));
    std::fs::write(&path, &sealed).unwrap();
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut reader = RangeReader::new(&key, b"", file.try_clone().unwrap()).unwrap();
    for left in [30 * SEALED_CHUNK_LEN as u64 + 56, 30 * SEALED_CHUNK_LEN as u64 + 56 + 10, 500_000, 56] {
        file.set_len(left).unwrap();
        assert!(reader.read(29 * 16384..LEN as u64).unwrap_err().is_unauthentic(), "{left}");
        assert!(reader.read(29 * 16384..39 * 16384).unwrap_err().is_unauthentic(), "{left}");
    }
}
