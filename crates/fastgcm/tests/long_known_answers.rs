//! Long messages, by the answers that OpenSSL, PyCryptodome and ring agree on: every length from 0 to 4,112 bytes, and around each power of
//! two up to 16 MiB. `testdata/make_long_known_answers.py` says what the messages are, and asks the others.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Backend, Nonce, Tag};
use sha2::{Digest, Sha256};
use std::{fs, path::Path};
use suite::{full, passed, quick};

/// Messages before the first digest: one of each length.
const SHORT: usize = 4113;

/// One line of the file.
struct Answer {
    key: usize,
    nonce: usize,
    /// The digest after the messages of 0 to 4,112 bytes, and that after all.
    digests: [String; 2],
}

#[test]
fn every_long_known_answer() {
    let answers = answers();
    let lengths: Vec<usize> = (0..SHORT).chain((13..=24).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])).collect();
    // Quickly: of one line of the file what comes before the first digest.
    let (answers, lengths) = if quick() { (&answers[..1], &lengths[..SHORT]) } else { (&answers[..], &lengths[..]) };
    let stream: Vec<u8> = (0..(lengths[lengths.len() - 1] as u64 + 251) / 32 + 1).flat_map(|i| Sha256::digest(i.to_le_bytes())).collect();
    for backend in backends::backends() {
        // The long ones are 100 MB a line: one line for each back end, another for each; all with `FASTGCM_FULL`.
        let row = Backend::ALL.iter().position(|other| *other == backend).unwrap();
        let of_line = |line: usize| if full() || line == row % answers.len() { lengths } else { &lengths[..SHORT] };
        let messages = answers.iter().enumerate().map(|(line, answer)| check(backend, answer, of_line(line), &stream)).sum();
        let expected = if quick() { SHORT } else { 6 * SHORT + 36 * if full() { 6 } else { 1 } };
        passed(&format!("long_known_answers/{backend}"), messages, expected);
    }
}

/// Seals and opens all messages of a line; their digests must be those of the file.
fn check(backend: Backend, answer: &Answer, lengths: &[usize], stream: &[u8]) -> usize {
    let key = backends::key(&Sha256::digest(b"key")[..answer.key], backend);
    let mut digest = Sha256::new();
    let mut buffer = Vec::new();
    let mut messages = 0;
    for (i, &length) in lengths.iter().enumerate() {
        let nonce = Sha256::new().chain_update(b"nonce").chain_update((i as u32).to_le_bytes()).finalize();
        let nonce = Nonce::any(&nonce[..answer.nonce]).unwrap();
        let (aad, text) = (&stream[..i % 257], &stream[i % 251..][..length]);
        buffer.resize(length + 16, 0);
        key.seal_to(nonce, aad, text, &mut buffer).unwrap();
        digest.update(&buffer);
        let (sealed, tag) = buffer.split_last_chunk_mut().unwrap();
        key.open(nonce, aad, sealed, &Tag(*tag)).unwrap_or_else(|error| panic!("{key:?}, {length} bytes: {error}"));
        assert!(sealed == text, "{key:?}, {length} bytes");
        messages += 1;
        if messages == SHORT {
            assert_eq!(hex(digest.clone()), answer.digests[0], "{key:?}, nonces of {} bytes, messages of up to 4112", answer.nonce);
        }
    }
    if messages > SHORT {
        assert_eq!(hex(digest), answer.digests[1], "{key:?}, nonces of {} bytes, all messages", answer.nonce);
    }
    messages
}

fn answers() -> Vec<Answer> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/long_known_answers.txt");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let answers: Vec<Answer> = lines
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [key, nonce, short, all] => {
                Answer { key: key.parse().unwrap(), nonce: nonce.parse().unwrap(), digests: [short.to_owned(), all.to_owned()] }
            }
            _ => panic!("not an answer: {line}"),
        })
        .collect();
    assert_eq!(answers.len(), 6, "three sizes of key, two of nonce");
    answers
}

fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
