//! Every back end of this machine against the model: every length up to 1100 and around the places where something changes,
//! with AAD of several lengths, three key sizes, both directions, in place and copying, at odd addresses. AAD takes turns, and quickly key
//! sizes too; with `FASTGCM_FULL` each length meets all of them.

#[path = "support/suite.rs"]
mod suite;
#[path = "support/backends.rs"]
mod support;

use fastgcm::{Error, Key, Nonce, Tag};
use fastgcm_model::Model;
use suite::{full, quick};
use support::{Tally, backends};

/// AAD: none, one byte, TLS 1.2's, one block, IPsec's, and more than any tail takes.
const AADS: [usize; 6] = [0, 1, 13, 16, 20, 200];

/// Every length to 1100, and around 4096 (where a counter's carry once went wrong, at 4095), 8192, 16384, 32768, 65536; and one of 128 KiB.
fn lengths() -> impl Iterator<Item = usize> {
    let around = |n: usize| n - near()..=n + near();
    (0..=1100).chain(around(4096)).chain(around(8192)).chain(around(16384)).chain(around(32768)).chain(around(65536)).chain([131_072 + 33])
}

/// How far around: more than a vector of the widest back end.
fn near() -> usize {
    if quick() { 3 } else { 66 }
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u8
        })
        .collect()
}

#[test]
fn every_back_end_every_length() {
    let mut messages = Tally::default();
    for (k, key_length) in [16, 24, 32].into_iter().enumerate() {
        let key = bytes(key_length, 1);
        let model = Model::new(&key);
        let keys: Vec<Key> = backends().into_iter().map(|backend| support::key(&key, backend)).collect();
        for (i, length) in lengths().enumerate() {
            if quick() && i % 3 != k {
                continue;
            }
            let text = bytes(length, 2 + i as u64);
            let nonce: [u8; 12] = bytes(12, 3 + i as u64).try_into().unwrap();
            // The model and `portable` are slow: of AAD each length meets one with each key.
            let turn = (i + 2 * k) % AADS.len();
            for aad in AADS[if length <= 1100 && full() { 0..AADS.len() } else { turn..turn + 1 }].iter().map(|n| bytes(*n, 4)) {
                let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
                for key in &keys {
                    check(key, &nonce, &aad, &text, &ciphertext, tag);
                    messages.add(key, 1);
                }
            }
        }
    }
    let keys = if quick() { 1 } else { 3 };
    let aads = if full() { AADS.len() } else { 1 };
    messages.passed("every_length", keys * (1101 * aads + 5 * (2 * near() + 1) + 1));
}

/// One message, in every way.
fn check(key: &Key, nonce: &[u8; 12], aad: &[u8], text: &[u8], ciphertext: &[u8], tag: [u8; 16]) {
    let what = format!("{key:?}, {} bytes, AAD of {}", text.len(), aad.len());
    let n = text.len();
    let odd = 1 + n % 15;

    // In place, at an odd address, with a fence of known bytes on both sides.
    let mut buffer = vec![0xee; odd + n + 80];
    buffer[odd..odd + n].copy_from_slice(text);
    assert_eq!(key.seal(nonce, aad, &mut buffer[odd..odd + n]).unwrap().0, tag, "tag: {what}");
    assert!(buffer[odd..odd + n] == *ciphertext, "ciphertext: {what}");
    key.open(nonce, aad, &mut buffer[odd..odd + n], &Tag(tag)).unwrap_or_else(|e| panic!("open: {e}: {what}"));
    assert!(buffer[odd..odd + n] == *text, "text: {what}");
    assert!(buffer[..odd].iter().chain(&buffer[odd + n..]).all(|b| *b == 0xee), "written outside: {what}");

    // From one buffer to another, tag behind.
    let mut sealed = vec![0; n + 16];
    key.seal_to(nonce, aad, text, &mut sealed).unwrap();
    assert!(sealed[..n] == *ciphertext && sealed[n..] == tag, "seal_to: {what}");
    let mut opened = vec![0xee; n];
    key.open_to(nonce, aad, &sealed, &mut opened).unwrap();
    assert!(opened == text, "open_to: {what}");

    // A wrong tag.
    sealed[n + n % 16] ^= 1 << (n % 8);
    assert_eq!(key.open_to(nonce, aad, &sealed, &mut opened), Err(Error::Unauthentic), "{what}");
    assert!(opened.iter().all(|b| *b == 0), "plaintext left: {what}");
    let wrong = Tag(sealed[n..].try_into().unwrap());
    let mut kept = ciphertext.to_vec();
    assert_eq!(key.open_verified_first(nonce, aad, &mut kept, &wrong), Err(Error::Unauthentic), "{what}");
    assert!(kept == ciphertext, "verified first, but written: {what}");
    key.open_verified_first(nonce, aad, &mut kept, &Tag(tag)).unwrap_or_else(|e| panic!("verified first: {e}: {what}"));
    assert!(kept == text, "verified first: {what}");
}

/// AAD of every length up to one more than the powers of any key reach, before texts that fit in a tail and some that do not.
#[test]
fn every_back_end_every_aad_length() {
    const TEXTS: [usize; 9] = [0, 1, 16, 33, 64, 100, 200, 256, 257];
    let mut messages = Tally::default();
    let key = bytes(32, 9);
    let model = Model::new(&key);
    let keys: Vec<Key> = backends().into_iter().map(|backend| support::key(&key, backend)).collect();
    let aads: Vec<usize> = (0..=640).step_by(if quick() { 7 } else { 1 }).collect();
    for (i, &aad_length) in aads.iter().enumerate() {
        let (nonce, aad) = ([10; 12], bytes(aad_length, 11));
        for length in if quick() { &TEXTS[i % 9..][..1] } else { &TEXTS } {
            let text = bytes(*length, 12);
            let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
            for key in &keys {
                check(key, &nonce, &aad, &text, &ciphertext, tag);
                messages.add(key, 1);
            }
        }
    }
    messages.passed("every_aad_length", aads.len() * if quick() { 1 } else { TEXTS.len() });
}

/// Nonces of other lengths: J0 is a GHASH, and the counter starts anywhere.
#[test]
fn every_back_end_every_nonce_length() {
    let mut messages = Tally::default();
    let key = bytes(32, 5);
    let model = Model::new(&key);
    let keys: Vec<Key> = backends().into_iter().map(|backend| support::key(&key, backend)).collect();
    let nonces: Vec<usize> = (1..=130).step_by(if quick() { 10 } else { 1 }).chain([256, 257, 1000, 4096]).collect();
    // `FASTGCM_EMULATED`: the model takes most of the time, and each message has one of the two.
    let aads = if std::env::var_os("FASTGCM_EMULATED").is_some() { 1 } else { 2 };
    for (i, &nonce_length) in nonces.iter().enumerate() {
        let nonce = bytes(nonce_length, 6);
        for (j, length) in [0, 1, 16, 63, 64, 65, 200, 512, 577, 1200, 2500, 5000].into_iter().enumerate() {
            for aad_length in [3, 200, 3].into_iter().skip((i + j) % 2).take(aads) {
                let (text, aad) = (bytes(length, 7), bytes(aad_length, 8));
                let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
                for key in &keys {
                    let what = format!("{key:?}, nonce of {nonce_length}, {length} bytes, AAD of {aad_length}");
                    let nonce = Nonce::any(&nonce).unwrap();
                    let mut buffer = text.clone();
                    assert_eq!(key.seal(nonce, &aad, &mut buffer).unwrap().0, tag, "{what}");
                    assert!(buffer == ciphertext, "{what}");
                    key.open_verified_first(nonce, &aad, &mut buffer, &Tag(tag)).unwrap_or_else(|e| panic!("{e}: {what}"));
                    assert!(buffer == text, "{what}");
                    messages.add(key, 1);
                }
            }
        }
    }
    assert!(quick() || nonces.len() == 134);
    messages.passed("every_nonce_length", nonces.len() * 12 * aads);
}
