//! Every way to change a sealed file of 200 kB ends the program with exit code 3, without an output.
//!
//! Which bytes are flipped and where the file is cut: near a border one place in ten, and of the rest one in two thousand. With
//! `FASTGCM_FULL=1` every place near a border, and of the rest one in a hundred. What the library says to *every* one of them, 400,528, is in `fastgcm-file/tests/files/tampering.rs`, and
//! that takes seconds: the same in programs would take half an hour.

use crate::support::{Bench, full, text};
use fastgcm_file::{HEADER_LEN, SEALED_CHUNK_LEN};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Twelve full chunks and a short one.
const LEN: usize = 200_000;
const CHUNKS: usize = 13;

#[test]
fn every_change() {
    let fire = Fire::new();
    let sealed = &fire.sealed;
    let (flipped, lengths) = (places(sealed.len(), 20), places(sealed.len(), 40));
    let flips = fire.all_refused("flipped", flipped.len(), |number| {
        let (mut changed, at) = (sealed.clone(), flipped[number]);
        changed[at] ^= 1 << (at % 8);
        changed
    });
    let cuts = fire.all_refused("cut", lengths.len(), |number| sealed[..lengths[number]].to_vec());
    assert_eq!((flips, cuts), if full() { (2583, 2840) } else { (156, 183) });
}

#[test]
fn chunks_and_what_is_behind_them() {
    let fire = Fire::new();
    let (header, body) = fire.sealed.split_at(HEADER_LEN);
    let chunks: Vec<&[u8]> = body.chunks(SEALED_CHUNK_LEN).collect();
    assert_eq!(chunks.len(), CHUNKS);
    let file = |chunks: &[&[u8]]| [&[header], chunks].concat().concat();
    let without = |gone: &[usize]| file(&(0..CHUNKS).filter(|at| !gone.contains(at)).map(|at| chunks[at]).collect::<Vec<_>>());
    let mut files = Vec::new();
    for one in 0..CHUNKS {
        files.push(without(&[one]));
        for two in 0..CHUNKS {
            let mut doubled = chunks.clone();
            doubled.insert(one, chunks[two]);
            files.push(file(&doubled));
            if one < two {
                let mut swapped = chunks.clone();
                swapped.swap(one, two);
                files.extend([file(&swapped), without(&[one, two])]);
            }
        }
    }
    // In short runs every third of these.
    let mut files: Vec<_> = files.into_iter().step_by(if full() { 1 } else { 3 }).collect();
    files.extend([1, 15, 16, 17, 3392, 16384, 16400, 16401].map(|more| [&fire.sealed[..], &vec![0; more]].concat()));
    files.extend([&[0xff][..], header, chunks[0], chunks[CHUNKS - 1], &fire.sealed].map(|more| [&fire.sealed[..], more].concat()));
    let of_chunks = CHUNKS + CHUNKS * CHUNKS + CHUNKS * (CHUNKS - 1);
    let expected = if full() { of_chunks } else { of_chunks.div_ceil(3) } + 8 + 5;

    // From a pipe, too, where chunks before the bad one have been given out already.
    let streamed = files.iter().step_by(7).map(|file| {
        let output = fire.bench.run_with(&["open", "-k", "key", "--context", "here", "-"], file);
        assert_eq!(output.status.code(), Some(3));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(fire.text.starts_with(&output.stdout) && message.contains("incomplete") != output.stdout.is_empty(), "{message}");
    });
    let streamed = streamed.count();
    let refused = fire.all_refused("chunks", files.len(), |number| files[number].clone());
    assert_eq!((refused, streamed), (expected, expected.div_ceil(7)));
}

#[test]
fn another_key_or_context() {
    let fire = Fire::new();
    fire.bench.write("bad.sealed", &fire.sealed);
    let mut cases = 0;
    let mut refused = |key: &str, context: &str| {
        fire.bench.fails(3, &["open", "-k", key, "--context", context, "-o", "out", "bad.sealed"]);
        cases += 1;
    };
    for digit in 0..64 {
        let mut key = fire.bench.read("key");
        key[digit] = if key[digit] == b'0' { b'1' } else { b'0' };
        fire.bench.write("other", &key);
        fs::set_permissions(fire.bench.path("other"), PermissionsExt::from_mode(0o600)).unwrap();
        refused("other", "here");
    }
    refused("key128", "here");
    for context in ["", "Here", "her", "here ", " here", "there", "here\n"] {
        refused("key", context);
    }
    assert_eq!(cases, 64 + 1 + 7);
}

/// One place in three of the header, and near its end, every border of a chunk and of its tag; and one in 997 of the rest. (In the full run all of
/// those, and one in 97 of the rest.)
fn places(len: usize, near: usize) -> Vec<usize> {
    let (close, step) = if full() { (1, 97) } else { (10, 1999) };
    let borders = (0..=CHUNKS).map(|chunk| (HEADER_LEN + chunk * SEALED_CHUNK_LEN).min(len));
    let near = borders.flat_map(|border| border.saturating_sub(16 + near / 2)..border + near / 2);
    let places: BTreeSet<usize> =
        (0..=HEADER_LEN).chain(near).step_by(close).chain((0..len).step_by(step)).filter(|at| *at < len).collect();
    places.into_iter().collect()
}

/// A sealed file to be changed.
struct Fire {
    bench: Bench,
    text: Vec<u8>,
    sealed: Vec<u8>,
}

impl Fire {
    fn new() -> Self {
        let (bench, text) = (Bench::new(), text(LEN));
        bench.write("a", &text);
        bench.ok(&["seal", "-k", "key", "--context", "here", "a"]);
        let sealed = bench.read("a.sealed");
        assert!(bench.ok(&["open", "-k", "key", "--context", "here", "-o", "-", "a.sealed"]) == text);
        Self { bench, text, sealed }
    }

    /// Exit code 3, a message, no output: for each of so many files. How many there were.
    fn all_refused(&self, name: &str, files: usize, file: impl Fn(usize) -> Vec<u8> + Sync) -> usize {
        let (next, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |worker: usize| {
            let (bad, out) = (format!("{name}{worker}.sealed"), format!("{name}{worker}.out"));
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= files {
                    return;
                }
                self.bench.write(&bad, &file(number));
                let output = self.bench.run(&["open", "-k", "key", "--context", "here", "--threads", "1", "-o", &out, &bad]);
                assert_eq!(output.status.code(), Some(3), "{name} number {number}");
                assert!(output.stdout.is_empty() && !output.stderr.is_empty() && !self.bench.exists(&out), "{name} number {number}");
                refused.fetch_add(1, Ordering::Relaxed);
            }
        };
        thread::scope(|scope| {
            (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|worker| drop(scope.spawn(move || work(worker))))
        });
        refused.into_inner()
    }
}
