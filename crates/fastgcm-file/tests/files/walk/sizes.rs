//! Sizes around 2^31, 2^32, 2^63 and 2^64, and what is said to them.

use crate::long::{self, Sealed};
use fastgcm_file::{
    CHUNK_LEN, Cipher, Error, Format, Key, MAX_CHUNKS, MAX_TEXT_LEN, RangeReader, Reader, TAG_LEN, Writer, chunks, open, seal, sealed_len,
    text_len,
};
use std::{
    io::{self, BufRead, Read, Seek, SeekFrom, Write},
    num::NonZero,
};

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

/// Memory that no page stands behind before it is touched. (Some systems give no more of it than they have.)
fn giant() -> Vec<u8> {
    vec![0; (1 << if full() { 32 } else { 31 }) + 17]
}

fn full() -> bool {
    std::env::var_os("FASTGCM_FULL").is_some()
}

pub(super) fn numbers_and_lengths() -> usize {
    let (_, cipher) = Cipher::create(&long::key(), b"").unwrap();
    let (mut sealed, mut text) = ([7; TAG_LEN + 1], [7; 1]);
    for number in EDGES.into_iter().chain([MAX_CHUNKS - 1, MAX_CHUNKS]) {
        let fits = number < MAX_CHUNKS;
        assert_eq!(cipher.seal_chunk(number, &[1], &mut sealed).is_ok(), fits, "{number}");
        assert_eq!(matches!(cipher.open_chunk(number, &sealed, &mut text), Err(Error::TooLong)), !fits, "{number}");
    }
    let (text, mut sealed) = (giant(), giant());
    let lengths = [CHUNK_LEN + 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, 1 << 32, (1 << 32) + 1];
    for len in lengths.into_iter().filter(|len| *len < text.len()) {
        assert!(matches!(cipher.seal_chunk(0, &text[..len], &mut sealed[..len + TAG_LEN]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.seal_chunk(0, &text[..1], &mut sealed[..len + TAG_LEN]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.open_chunk(0, &text[..len + TAG_LEN], &mut sealed[..len]), Err(Error::OutOfRange)), "{len}");
        assert!(matches!(cipher.open_chunk(0, &text[..17], &mut sealed[..len]), Err(Error::OutOfRange)), "{len}");
    }
    2 * (EDGES.len() + 2) + 4 * if full() { 6 } else { 4 }
}

pub(super) fn lengths_of_keys() -> usize {
    let bytes = giant();
    for len in EDGES.into_iter().filter(|len| *len <= bytes.len() as u64) {
        assert!(matches!(Key::new(Format::Cobblestone256, &bytes[..len as usize]), Err(Error::KeyLength)), "{len}");
    }
    assert!(EDGES.iter().all(|len| usize::try_from(*len).is_ok_and(|len| Format::of_key_len(len).is_none())));
    if full() { 8 + EDGES.len() } else { 5 + EDGES.len() }
}

pub(super) fn lengths_of_texts() -> usize {
    for len in EDGES {
        let fits = len <= MAX_TEXT_LEN;
        assert_eq!((sealed_len(len).is_ok(), chunks(len).is_ok()), (fits, fits), "{len}");
        assert!(text_len(len).is_err() || sealed_len(text_len(len).unwrap()).unwrap() == len, "{len}");
    }
    3 * EDGES.len()
}

pub(super) fn numbers_of_threads() -> usize {
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

pub(super) fn lengths_of_files() -> usize {
    let longest = sealed_len(MAX_TEXT_LEN).unwrap();
    for len in EDGES.into_iter().chain([longest - 1, longest + 1]) {
        assert!(RangeReader::new(&long::key(), b"", Long(Sealed::new(MAX_TEXT_LEN), len)).is_err(), "{len}");
    }
    EDGES.len() + 2
}

pub(super) fn ranges() -> usize {
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

pub(super) fn amounts() -> usize {
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
pub(super) fn giant_writes() -> usize {
    let text = giant();
    let len = if full() { text.len() } else { (1 << 25) + 17 };
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
