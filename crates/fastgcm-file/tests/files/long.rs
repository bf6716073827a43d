//! Files of more chunks than 16 bits can count, in memory for two units. The full run has every way to write one and every way to read one.

use fastgcm_file::{
    CHUNK_LEN, Cipher, Error, Format, HEADER_LEN, Header, Key, MAX_CHUNKS, MAX_TEXT_LEN, RangeReader, Reader, SEALED_CHUNK_LEN, TAG_LEN,
    Writer, open, seal, sealed_len,
};
use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    num::NonZero,
    thread,
};

const CHUNKS: u64 = (1 << 16) + 20;
const LEN: u64 = CHUNKS * CHUNK_LEN as u64 + 77;

pub(crate) fn key() -> Key {
    Key::new(Format::Cobblestone128, &[5; 16]).unwrap()
}

fn threads(number: usize) -> NonZero<usize> {
    NonZero::new(number).unwrap()
}

/// The text: in each chunk the number of it, and one byte of that over and over.
pub(crate) fn chunk(number: u64) -> [u8; CHUNK_LEN] {
    let mut text = [number as u8; CHUNK_LEN];
    text[..8].copy_from_slice(&number.to_le_bytes());
    text
}

struct Text(u64);

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (number, at) = (self.0 / CHUNK_LEN as u64, (self.0 % CHUNK_LEN as u64) as usize);
        let len = (CHUNK_LEN - at).min(buffer.len()).min((LEN - self.0) as usize);
        buffer[..len].copy_from_slice(&chunk(number)[at..at + len]);
        self.0 += len as u64;
        Ok(len)
    }
}

/// Takes the text, and nothing else.
struct Expected(Text);

impl Write for Expected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut expected = [0; CHUNK_LEN];
        let len = self.0.read(&mut expected[..bytes.len().min(CHUNK_LEN)])?;
        assert!(expected[..len] == bytes[..len], "near byte {}", self.0.0);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn more_chunks_than_16_bits_count() {
    type Seal = fn(io::PipeWriter) -> Result<(), Error>;
    type Open = fn(io::PipeReader, &mut Expected) -> Result<u64, Error>;
    let writer: Seal = |sealed| {
        let mut writer = Writer::new(&key(), b"", sealed)?;
        io::copy(&mut Text(0), &mut writer)?;
        writer.finish().map(drop)
    };
    let on_threads: Seal = |sealed| seal(&key(), b"", Text(0), sealed, threads(2)).map(|len| assert_eq!(len, LEN));
    let reader: Open = |sealed, text| Ok(io::copy(&mut Reader::new(&key(), b"", sealed)?, text)?);
    let threads: Open = |sealed, text| open(&key(), b"", sealed, text, threads(2));
    let ways = [(on_threads, reader), (writer, threads)];
    // Other tests have each way, and any number.
    let ways = if std::env::var_os("FASTGCM_FULL").is_some() { &ways[..] } else { &ways[..1] };
    for (seal, open) in ways {
        let (input, output) = io::pipe().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || seal(output).unwrap());
            let mut text = Expected(Text(0));
            assert_eq!(open(input, &mut text).unwrap(), LEN);
            assert_eq!(text.0.0, LEN);
        });
    }
}

/// A file of any length, sealed where it is read. The text of each chunk is its number.
pub(crate) struct Sealed {
    header: Header,
    cipher: Cipher,
    text_len: u64,
    at: u64,
    /// A chunk, and its number.
    chunk: (Option<u64>, Vec<u8>),
}

impl Sealed {
    pub(crate) fn new(text_len: u64) -> Self {
        let (header, cipher) = Cipher::create(&key(), b"").unwrap();
        Self { header, cipher, text_len, at: 0, chunk: (None, Vec::new()) }
    }
}

impl Read for Sealed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(at) = self.at.checked_sub(HEADER_LEN as u64) else {
            let read = (&self.header[self.at as usize..]).read(buffer)?;
            self.at += read as u64;
            return Ok(read);
        };
        let (number, at) = (at / SEALED_CHUNK_LEN as u64, (at % SEALED_CHUNK_LEN as u64) as usize);
        if number > self.text_len / CHUNK_LEN as u64 {
            return Ok(0);
        }
        if self.chunk.0 != Some(number) {
            let len = (self.text_len - number * CHUNK_LEN as u64).min(CHUNK_LEN as u64) as usize;
            self.chunk.1.resize(len + TAG_LEN, 0);
            self.cipher.seal_chunk(number, &chunk(number)[..len], &mut self.chunk.1)?;
            self.chunk.0 = Some(number);
        }
        let read = (&self.chunk.1[at..]).read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Sealed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => sealed_len(self.text_len)?.checked_add_signed(by).unwrap(),
            SeekFrom::Current(by) => self.at.checked_add_signed(by).unwrap(),
        };
        Ok(self.at)
    }
}

/// Ranges at chunks whose numbers need one bit more than those before, in files up to the longest that there may be.
#[test]
fn ranges_of_the_longest_files() {
    let mut cases = 0;
    for text_len in [(1 << 22) + 5, (1 << 30) + 5, (1 << 36) + 5, (1 << 48) + 5, MAX_TEXT_LEN - CHUNK_LEN as u64, MAX_TEXT_LEN] {
        let mut file = RangeReader::new(&key(), b"", Sealed::new(text_len)).unwrap();
        assert_eq!(file.len(), text_len);
        let numbers = (0..38).flat_map(|bits| [(1 << bits) - 1, 1 << bits]).chain([text_len / CHUNK_LEN as u64 - 1, MAX_CHUNKS - 2]);
        for number in numbers.filter(|number| (number + 1) * (CHUNK_LEN as u64) < text_len) {
            // Its last bytes, and the first of the chunk behind.
            let start = number * CHUNK_LEN as u64 + CHUNK_LEN as u64 - 3;
            let end = text_len.min(start + 8);
            let expected = [&chunk(number)[CHUNK_LEN - 3..], &chunk(number + 1)[..(end - start) as usize - 3]].concat();
            assert_eq!(file.read(start..end).unwrap(), expected, "chunk {number} of {text_len} bytes");
            let mut copied = Vec::new();
            file.copy(start..end, &mut copied, threads(2)).unwrap();
            assert_eq!(copied, expected, "chunk {number} of {text_len} bytes");
            cases += 1;
        }
        assert!(matches!(file.read(text_len..text_len + 1), Err(Error::OutOfRange)));
        assert!(matches!(file.read(0..u64::MAX), Err(Error::OutOfRange)));
        if text_len >= 1 << 48 {
            // No machine has memory for so much.
            assert!(matches!(file.read(0..text_len), Err(Error::OutOfRange)));
        }
    }
    assert_eq!(cases, 323);
}

/// Counts what is written, and looks at every chunk's number.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.is_multiple_of(CHUNK_LEN as u64) && bytes.len() >= 8 {
            assert_eq!(bytes[..8], (self.0 / CHUNK_LEN as u64).to_le_bytes(), "at byte {}", self.0);
        }
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The length of a text, as each function tells it or writes it, does not fit into 32 bits.
#[test]
fn more_bytes_than_32_bits_count() {
    const LEN: u64 = (1 << 32) + (1 << 16) + 77;
    let (mut opened, mut copied) = (Counted(0), Counted(0));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(open(&key(), b"", Sealed::new(LEN), &mut opened, threads(1)).unwrap(), LEN));
        scope.spawn(|| RangeReader::new(&key(), b"", Sealed::new(LEN)).unwrap().copy(0..LEN, &mut copied, threads(1)).unwrap());
    });
    assert_eq!([opened.0, copied.0], [LEN; 2]);
}
