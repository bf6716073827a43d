//! What is written does not depend on how many threads write it.

use fastgcm_file::{CHUNK_LEN, Cipher, Format, HEADER_LEN, Key, TAG_LEN, open, seal};
use std::{
    collections::HashSet,
    io::{self, Read, Write},
    num::NonZero,
    sync::{Condvar, Mutex},
    thread::{self, ThreadId},
    time::Duration,
};

/// The file of that header, straight from the format: chunk after chunk, the last one short.
fn expected(key: &Key, header: &[u8; HEADER_LEN], text: &[u8]) -> Vec<u8> {
    let cipher = Cipher::of(key, b"context", header).unwrap();
    let mut sealed = header.to_vec();
    let last = text.chunks_exact(CHUNK_LEN).remainder();
    for (number, chunk) in text.chunks_exact(CHUNK_LEN).chain([last]).enumerate() {
        let start = sealed.len();
        sealed.resize(start + chunk.len() + TAG_LEN, 0);
        cipher.seal_chunk(number as u64, chunk, &mut sealed[start..]).unwrap();
    }
    sealed
}

#[test]
fn the_same_bytes_for_1_to_16_threads() {
    const UNIT: usize = 16 * CHUNK_LEN;
    let mut cases = 0;
    for format in Format::ALL {
        let key = Key::generate(*format).unwrap();
        for len in [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, UNIT - 1, UNIT, UNIT + 1, 9 * UNIT + 12_345] {
            let text: Vec<u8> = (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            for threads in (1..=16).map(|number| NonZero::new(number).unwrap()) {
                let (mut sealed, mut opened) = (Vec::new(), Vec::new());
                assert_eq!(seal(&key, b"context", &text[..], &mut sealed, threads).unwrap(), len as u64);
                assert!(sealed == expected(&key, sealed.first_chunk().unwrap(), &text), "{len} bytes, {threads} threads");
                assert_eq!(open(&key, b"context", &sealed[..], &mut opened, threads).unwrap(), len as u64);
                assert!(opened == text, "{len} bytes, {threads} threads");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 2 * 9 * 16);
}

/// The threads that have read, in an input that each of them adds itself to.
struct Threads<'a>(&'a (Mutex<HashSet<ThreadId>>, Condvar), io::Take<io::Repeat>);

impl Read for Threads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().insert(thread::current().id());
        self.0.1.notify_all();
        self.1.read(buffer)
    }
}

/// An output that is busy until so many threads have read; which they do, since a thread needs its turn for writing only.
struct Busy<'a>(&'a (Mutex<HashSet<ThreadId>>, Condvar), usize);

impl Write for Busy<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() == HEADER_LEN {
            return Ok(bytes.len());
        }
        let (threads, came) = (self.0.0.lock().unwrap(), &self.0.1);
        let waited = came.wait_timeout_while(threads, Duration::from_secs(60), |threads| threads.len() < self.1).unwrap();
        if waited.1.timed_out() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// As many as were asked for, the calling one among them, but no more than 64, and no more than there are units of 256 KiB.
#[test]
fn as_many_threads_as_are_asked_for() {
    let cases = [(1, 5, 1), (2, 200, 2), (5, 200, 5), (64, 200, 64), (1000, 200, 64), (8, 3, 4)]; // the empty unit at the end is one
    for (asked, units, expected) in cases {
        let threads = (Mutex::new(HashSet::new()), Condvar::new());
        let key = Key::generate(Format::Cobblestone128).unwrap();
        let text = Threads(&threads, io::repeat(1).take(units * 16 * CHUNK_LEN as u64));
        seal(&key, b"", text, Busy(&threads, expected), NonZero::new(asked).unwrap()).unwrap();
        let threads = threads.0.into_inner().unwrap();
        assert_eq!(threads.len(), expected, "{asked} threads");
        assert!(threads.contains(&thread::current().id()));
    }
}
