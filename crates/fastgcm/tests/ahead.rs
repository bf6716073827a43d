//! Turns that run two rounds ahead (`gcm/ahead.rs`), beside CTR, which never does, and beside short parts, which never do either: every place where a
//! window may begin, lengths around one, two and three windows, and each byte into which the counter carries.
#![cfg(feature = "hazmat")]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{
    Backend, Key,
    hazmat::{self, PartHash, combine, open_part, seal_part},
};
use suite::{full, quick};

const NONCE: [u8; 12] = *b"twelve bytes";

/// The bytes of a window: of as many blocks as the last byte of a counter has values.
const WINDOW: usize = 4096;

/// The keystream from that byte of a text on.
fn keystream(key: &Key, at: u64, length: usize) -> Vec<u8> {
    let mut first = [0; 16];
    first[..12].copy_from_slice(&NONCE);
    first[12..].copy_from_slice(&u32::try_from(at / 16 + 2).unwrap().to_be_bytes());
    let mut stream = vec![0; length];
    hazmat::ctr(key, &first, &mut stream);
    stream
}

/// Seals and opens zeros from that byte of a text on, at once, and compares the text with keystream and the hash with that of short parts.
fn check(key: &Key, at: u64, length: usize) {
    let (expected, mut text) = (keystream(key, at, length), vec![0; length]);
    let hash = seal_part(key, NONCE, at, &mut text).unwrap();
    let wrong = (0..length).find(|i| text[*i] != expected[*i]);
    assert_eq!(wrong, None, "{key:?}: byte of {length} sealed from {at:#x} on");
    let opened = open_part(key, NONCE, at, &mut text).unwrap();
    let wrong = text.iter().position(|byte| *byte != 0);
    assert_eq!(wrong, None, "{key:?}: byte of {length} opened from {at:#x} on");
    let short: Vec<PartHash> = (0..length)
        .step_by(WINDOW)
        .map(|from| seal_part(key, NONCE, at + from as u64, &mut text[from..length.min(from + WINDOW)]).unwrap())
        .collect();
    // Nobody has the text before: any hash stands for it.
    let numbers = u128::from(at);
    let before = PartHash::from_bytes(&[numbers.to_be_bytes(), [if at > 0 { 9 } else { 0 }; 16]].concat().try_into().unwrap()).unwrap();
    let tag = |parts: &[PartHash]| {
        let all: Vec<PartHash> = Some(before.clone()).filter(|_| at > 0).into_iter().chain(parts.iter().cloned()).collect();
        combine(key, NONCE, b"", &all).unwrap()
    };
    let expected = tag(&short);
    assert!(tag(&[hash]) == expected, "{key:?}: hash of {length} bytes sealed from {at:#x} on");
    assert!(tag(&[opened]) == expected, "{key:?}: hash of {length} bytes opened from {at:#x} on");
}

/// Rows without instructions for AES run nothing ahead, and are slow.
fn is_ahead(backend: Backend) -> bool {
    backend != Backend::Portable && !backend.name().starts_with("vpaes")
}

/// F4, F12: every block of a window as the first block of a part; with lengths around the places where a window begins and where turns ahead pay.
#[test]
fn f04_f12_every_start() {
    let mut parts = Tally::default();
    for (backend, bytes) in backends().into_iter().flat_map(|backend| [16, 24, 32].map(|bytes| (backend, bytes))) {
        let key = key(&vec![7; bytes], backend);
        let starts = (0..256).step_by(if is_ahead(backend) { 1 } else { 51 });
        for start in starts.clone() {
            let before = (256 - start) % 256 * 16;
            // One length of each start in a quick run, of a series in which neighbours differ.
            let lengths = [0, 1, 16, 511, 512, 513, 4095, 4096, 4112, 4608, 8192 + 520].map(|more| before + 2 * WINDOW + more);
            let shorter = [WINDOW, before + WINDOW + 16, before + 2 * WINDOW - 16];
            for (i, length) in lengths.into_iter().chain(shorter).enumerate() {
                if quick() && i % 7 != (start + bytes) % 7 {
                    continue;
                }
                check(&key, 16 * start as u64, length);
            }
            parts.add(&key, 1);
        }
    }
    parts.passed_by("ahead::f04_f12_every_start", |backend| 3 * if is_ahead(backend) { 256 } else { 6 });
}

/// F4: the counter carries into bytes 13 and 12 within a window, between windows, and up to the end of what the standard allows.
#[test]
fn f04_every_carry() {
    let mut parts = Tally::default();
    for backend in backends() {
        let key = key(&[7; 16], backend);
        for carry in [1u64 << 20, 1 << 28, (1 << 36) - 32] {
            for windows in [0, 1, 2, 3] {
                let at = (carry - windows * WINDOW as u64) / 4096 * 4096;
                let most = usize::try_from((1u64 << 36) - 32 - at).unwrap_or(usize::MAX);
                for length in [2 * WINDOW, 3 * WINDOW + 16, 4 * WINDOW + 1040] {
                    check(&key, at, length.min(most));
                }
                parts.add(&key, 1);
            }
        }
    }
    parts.passed("ahead::f04_every_carry", 3 * 4);
}

/// Whole messages, with AAD, of which the beginning runs ahead: as in parts.
#[test]
fn whole_messages() {
    let mut messages = Tally::default();
    let more: &[usize] = if full() { &[0, 1, 15, 16, 17, 64, 127, 128, 255, 256, 511, 512, 513, 1024, 1025] } else { &[0, 1, 256, 513] };
    for (backend, bytes) in backends().into_iter().flat_map(|backend| [16, 24, 32].map(|bytes| (backend, bytes))) {
        let key = key(&vec![5; bytes], backend);
        for (windows, more) in [1, 2, 3, 4].into_iter().flat_map(|windows| more.iter().map(move |more| (windows, more))) {
            let (length, aad) = (windows * WINDOW + more, vec![3; 13 * windows]);
            let mut text = vec![0; length];
            let tag = key.seal(NONCE, &aad, &mut text).unwrap();
            assert!(text == keystream(&key, 0, length), "{key:?}, {length} bytes");
            let mut at_once = text.clone();
            let parts: Vec<PartHash> =
                text.chunks_mut(WINDOW).enumerate().map(|(i, part)| open_part(&key, NONCE, (i * WINDOW) as u64, part).unwrap()).collect();
            assert!(combine(&key, NONCE, &aad, &parts).unwrap() == tag, "{key:?}, tag of {length} bytes");
            key.open(NONCE, &aad, &mut at_once, &tag).unwrap();
            assert!(at_once == vec![0; length], "{key:?}, {length} bytes opened");
            messages.add(&key, 1);
        }
    }
    messages.passed("ahead::whole_messages", 3 * 4 * more.len());
}
