//! Every way to change a sealed file is noticed, by every way to open one.

use crate::text;
use fastgcm_file::{Cipher, Error, Format, HEADER_LEN, Key, RangeReader, Reader, SEALED_CHUNK_LEN, open, seal};
use std::{
    io::{Cursor, Read},
    num::NonZero,
};

const ONE: NonZero<usize> = NonZero::<usize>::MIN;
const CONTEXT: &[u8] = b"context";

fn key() -> Key {
    Key::new(Format::Cobblestone256, &[7; 32]).unwrap()
}

fn sealed(key: &Key, text: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::new();
    seal(key, CONTEXT, text, &mut sealed, ONE).unwrap();
    sealed
}

/// What a `Reader` gives before it ends or fails.
fn read(key: &Key, sealed: &[u8]) -> (Vec<u8>, Result<(), Error>) {
    let mut text = Vec::new();
    let result = Reader::new(key, CONTEXT, sealed).and_then(|mut reader| {
        let result = reader.read_to_end(&mut text).map(drop).map_err(Error::from);
        // It must not turn an error into an end when it is asked again.
        assert_eq!(reader.read(&mut [0; 1]).is_err(), result.is_err());
        result
    });
    (text, result)
}

/// Refused by all three ways; what the stream gave before is a prefix of the text.
#[track_caller]
fn assert_refused(key: &Key, changed: &[u8], text: &[u8]) {
    let (prefix, result) = read(key, changed);
    assert!(result.unwrap_err().is_unauthentic());
    assert!(text.starts_with(&prefix));

    let mut written = Vec::new();
    assert!(open(key, CONTEXT, changed, &mut written, ONE).unwrap_err().is_unauthentic());
    assert!(text.starts_with(&written));

    let range = RangeReader::new(key, CONTEXT, Cursor::new(changed)).and_then(|mut reader| {
        let whole = 0..reader.len();
        reader.read(whole)
    });
    assert!(range.unwrap_err().is_unauthentic());
}

/// The first bytes of so many, and of the others one in 17; with `FASTGCM_FULL` all. (17 and the length of a sealed chunk have no common factor.)
fn sample(len: usize) -> impl Iterator<Item = usize> {
    let step = if std::env::var_os("FASTGCM_FULL").is_some() { 1 } else { 17 };
    (0..FIRST).chain((FIRST..len).step_by(step))
}

const FIRST: usize = 200;

#[test]
fn every_byte_flipped() {
    let (key, text) = (key(), text(50_000));
    let mut sealed = sealed(&key, &text);
    assert_eq!(read(&key, &sealed).0, text);
    let mut flipped = 0;
    for at in sample(sealed.len()) {
        let bit = 1 << (at % 8);
        sealed[at] ^= bit;
        let (prefix, result) = read(&key, &sealed);
        let expected = at.checked_sub(HEADER_LEN).map(|at| (at / SEALED_CHUNK_LEN) as u64);
        match (result.unwrap_err(), expected) {
            (Error::WrongKey, None) => {}
            (Error::Chunk(found), Some(expected)) if found == expected => {}
            (error, _) => panic!("byte {at}: {error:?}"),
        }
        assert_eq!(prefix.len() as u64, 16384 * expected.unwrap_or(0), "byte {at}");
        if at % 97 == 0 {
            assert_refused(&key, &sealed, &text);
        }
        sealed[at] ^= bit;
        flipped += 1;
    }
    assert_eq!(flipped, sample(sealed.len()).count());
}

#[test]
fn every_truncation() {
    let (key, text) = (key(), text(2 * 16384));
    let sealed = sealed(&key, &text);
    for len in sample(sealed.len()) {
        let (prefix, result) = read(&key, &sealed[..len]);
        assert!(matches!(result.unwrap_err(), Error::Truncated | Error::Chunk(_)), "{len} bytes");
        // The whole text may have been given already: its last chunk is the empty one that is missing.
        assert!(text.starts_with(&prefix));
        let refused = RangeReader::new(&key, CONTEXT, Cursor::new(&sealed[..len])).unwrap_err();
        assert!(matches!(refused, Error::Truncated | Error::Chunk(_)), "{len} bytes");
        if len % 97 == 0 || len < 100 {
            assert!(open(&key, CONTEXT, &sealed[..len], Vec::new(), ONE).unwrap_err().is_unauthentic());
        }
    }
}

#[test]
fn chunks_swapped_repeated_left_out() {
    let (key, text) = (key(), text(5 * 16384 + 100));
    let sealed = sealed(&key, &text);
    let (header, body) = sealed.split_at(HEADER_LEN);
    let chunks: Vec<&[u8]> = body.chunks(SEALED_CHUNK_LEN).collect();
    assert_eq!(chunks.len(), 6);
    let file = |chunks: &[&[u8]]| [&[header], chunks].concat().concat();
    assert_eq!(file(&chunks), sealed);
    let mut cases = 0;
    for one in 0..6 {
        for two in 0..6 {
            let mut changed = chunks.clone();
            if one != two {
                changed.swap(one, two);
                assert_refused(&key, &file(&changed), &text);
                changed = chunks.clone();
                changed[one] = chunks[two];
                assert_refused(&key, &file(&changed), &text);
                cases += 2;
            }
            changed = chunks.clone();
            changed.insert(one, chunks[two]);
            assert_refused(&key, &file(&changed), &text);
            cases += 1;
        }
        let mut changed = chunks.clone();
        changed.remove(one);
        assert_refused(&key, &file(&changed), &text);
        cases += 1;
    }
    assert!(cases > 0);
}

#[test]
fn anything_behind_the_end() {
    let key = key();
    for len in [0, 5, 16383, 16384, 40_000] {
        let text = text(len);
        let sealed = sealed(&key, &text);
        for extra in [1, 15, 16, 17, 16383, 16384, 16400, 16401] {
            assert_refused(&key, &[&sealed[..], &vec![0; extra]].concat(), &text);
        }
        assert_refused(&key, &[&sealed[..], &sealed].concat(), &text);
    }
}

/// A chunk that is sealed with the right key behind the short one, as only the owner of the key could.
#[test]
fn a_chunk_behind_the_last() {
    let key = key();
    let (header, cipher) = Cipher::create(&key, CONTEXT).unwrap();
    let (mut first, mut second) = ([0; 20], [0; 20]);
    cipher.seal_chunk(0, b"last", &mut first).unwrap();
    cipher.seal_chunk(1, b"more", &mut second).unwrap();
    assert_refused(&key, &[&header[..], &first, &second].concat(), b"");
}

#[test]
fn another_key_context_or_format() {
    let (text, sealed) = (text(20_000), sealed(&key(), &text(20_000)));
    for byte in 0..32 {
        let mut other = [7; 32];
        other[byte] ^= 0x80;
        let other = Key::new(Format::Cobblestone256, &other).unwrap();
        assert!(matches!(read(&other, &sealed).1, Err(Error::WrongKey)));
        assert_refused(&other, &sealed, &text);
    }
    let other = Key::new(Format::Cobblestone128, &[7; 16]).unwrap();
    assert!(matches!(read(&other, &sealed).1, Err(Error::WrongKey)));
    for context in [&b""[..], b"Context", b"context ", b"contex", b"context\0"] {
        assert!(matches!(Reader::new(&key(), context, &sealed[..]), Err(Error::WrongKey)));
        assert!(matches!(RangeReader::new(&key(), context, Cursor::new(&sealed)), Err(Error::WrongKey)));
        assert!(matches!(open(&key(), context, &sealed[..], Vec::new(), ONE), Err(Error::WrongKey)));
    }
}

#[test]
fn keys_of_other_lengths() {
    for len in 0..=64 {
        assert_eq!(Key::new(Format::Cobblestone256, &vec![1; len]).is_ok(), len == 32);
        assert_eq!(Key::new(Format::Cobblestone128, &vec![1; len]).is_ok(), len == 16);
    }
}
