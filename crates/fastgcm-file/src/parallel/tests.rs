//! One file on many threads: identical bytes, and errors in order.

use super::*;
use crate::{Format, HEADER_LEN, MAX_CHUNKS, Reader, SALT_LEN, Writer};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const FULL: usize = UNIT * CHUNK_LEN;

fn cipher() -> Cipher {
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap().1
}

fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn threads(number: usize) -> NonZero<usize> {
    NonZero::new(number).unwrap()
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let cipher = cipher();
    for len in [0, 1, 16383, 16384, 16385, 32768, FULL - 1, FULL, FULL + 1, (1 << 20) + 1, 20 * FULL, 20 * FULL + 7] {
        let text = text(len);
        // The expected file comes straight from the definition.
        let mut expected = Vec::new();
        for (number, chunk) in text.chunks_exact(CHUNK_LEN).chain([text.chunks_exact(CHUNK_LEN).remainder()]).enumerate() {
            let start = expected.len();
            expected.resize(start + chunk.len() + TAG_LEN, 0);
            cipher.seal_chunk(number as u64, chunk, &mut expected[start..]).unwrap();
        }
        for number in (1..=16).chain([1000]) {
            let (mut sealed, mut opened) = (Vec::new(), Vec::new());
            assert_eq!(seal_chunks(&cipher, 0, &text[..], &mut sealed, threads(number)).unwrap(), len as u64);
            assert!(sealed == expected, "{len} bytes, {number} threads");
            assert_eq!(open_chunks(&cipher, 0, End::OfFile, &sealed[..], &mut opened, threads(number)).unwrap(), len as u64);
            assert!(opened == text, "{len} bytes, {number} threads");
        }
    }
}

/// Numbers of chunks at the edge of 16 and of 32 bits, in each way to seal and to open.
#[test]
fn numbers_at_an_edge() {
    let (key, text, mut file) = (Key::new(Format::Cobblestone256, &[1; 32]).unwrap(), text(40 * CHUNK_LEN + 5), Vec::new());
    for first in [(1 << 16) - 20, (1 << 32) - 20, MAX_CHUNKS - 41] {
        let mut writer = Writer::new(&key, b"", Vec::new()).unwrap();
        writer.number = first;
        writer.write_all(&text).unwrap();
        let written = writer.finish().unwrap();
        let (header, chunks) = written.split_at(HEADER_LEN);
        let cipher = Cipher::of(&key, b"", header.try_into().unwrap()).unwrap();
        for (number, sealed) in (first..).zip(chunks.chunks(SEALED_CHUNK_LEN)) {
            let mut opened = vec![0; sealed.len() - TAG_LEN];
            cipher.open_chunk(number, sealed, &mut opened).unwrap();
        }
        file.clear();
        seal_chunks(&cipher, first, &text[..], &mut file, threads(2)).unwrap();
        assert!(file == chunks, "sealed from chunk {first} on");
        let mut opened = Vec::new();
        open_chunks(&cipher, first, End::OfFile, chunks, &mut opened, threads(2)).unwrap();
        assert!(opened == text, "opened from chunk {first} on");
        let mut reader = Reader::new(&key, b"", &written[..]).unwrap();
        reader.number = first;
        opened.clear();
        reader.read_to_end(&mut opened).unwrap();
        assert!(opened == text, "read from chunk {first} on");
    }
}

/// Gives a few bytes at a time, and is interrupted between.
struct Pieces<'a>(&'a [u8], bool);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buffer.len().min(1000);
        self.0.read(&mut buffer[..len])
    }
}

#[test]
fn an_input_may_come_in_pieces() {
    let (cipher, text) = (cipher(), text(3 * FULL + 5));
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    seal_chunks(&cipher, 0, Pieces(&text, false), &mut sealed, threads(3)).unwrap();
    open_chunks(&cipher, 0, End::OfFile, Pieces(&sealed, false), &mut opened, threads(3)).unwrap();
    assert!(opened == text);
}

#[test]
fn the_first_error_in_the_order_of_the_file_counts_and_what_is_before_it_is_written() {
    let (cipher, text) = (cipher(), text(12 * FULL));
    let mut sealed = Vec::new();
    seal_chunks(&cipher, 0, &text[..], &mut sealed, threads(2)).unwrap();
    for number in [5 * UNIT, 9 * UNIT + 3, 11 * UNIT] {
        sealed[number * SEALED_CHUNK_LEN] ^= 1;
    }
    for number in 1..=8 {
        let mut opened = Vec::new();
        let error = open_chunks(&cipher, 0, End::OfFile, &sealed[..], &mut opened, threads(number)).unwrap_err();
        assert!(matches!(error, Error::Chunk(number) if number == 5 * UNIT as u64), "{error:?}");
        assert!(opened == text[..5 * FULL]);
    }
}

/// Fails, or panics, after this many bytes.
struct Limited(usize, fn() -> io::Error);

impl Limited {
    fn take(&mut self, len: usize) -> io::Result<usize> {
        self.0 = self.0.checked_sub(len).ok_or_else(self.1)?;
        Ok(len)
    }
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.take(buffer.len())
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_input_and_output_end_it() {
    let cipher = cipher();
    for number in [1, 2, 16] {
        let full = || Limited(7 * FULL, || io::ErrorKind::StorageFull.into());
        let read = seal_chunks(&cipher, 0, full(), io::sink(), threads(number)).unwrap_err();
        let written = seal_chunks(&cipher, 0, io::repeat(7), full(), threads(number)).unwrap_err();
        for error in [read, written] {
            assert!(matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::StorageFull));
        }
    }
}

/// A reader or writer that panics does not leave the other threads waiting forever. (`resume_unwind` panics without a message.)
#[test]
fn a_panic_ends_it() {
    let cipher = cipher();
    for number in [1, 2, 16] {
        let panics = || Limited(7 * FULL, || resume_unwind(Box::new(())));
        let read = catch_unwind(AssertUnwindSafe(|| seal_chunks(&cipher, 0, panics(), io::sink(), threads(number))));
        let written = catch_unwind(AssertUnwindSafe(|| seal_chunks(&cipher, 0, io::repeat(7), panics(), threads(number))));
        assert!(read.is_err() && written.is_err());
    }
}
