//! F8: what overlaps and what touches. A text may be worked on in place; all that is only read may be the same memory; and buffers may lie
//! side by side without a byte between. (Two buffers that overlap otherwise cannot be named in Rust: `&mut` excludes it.)
#![cfg(feature = "alloc")]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{Nonce, Tag};
use suite::{Random, quick};

/// Every length of a tail and a turn of the widest back end; some with many turns.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=1200).step_by(if quick() { 3 } else { 1 }).chain([4095, 4096, 5000, 16_400])
}

#[test]
fn f08_in_place_is_as_from_one_buffer_to_another() {
    let mut messages = Tally::default();
    for backend in backends() {
        let key = key(&[1; 24], backend);
        for length in lengths() {
            let mut random = Random(length as u64);
            let (nonce, text) = (random.bytes(if length % 5 == 0 { 20 } else { 12 }), random.bytes(length));
            let nonce = Nonce::any(&nonce).unwrap();
            let sealed = key.seal_vec(nonce, b"aad", &text).unwrap();
            let (ciphertext, tag) = sealed.split_last_chunk().unwrap();
            let mut buffer = text.clone();
            assert_eq!(key.seal(nonce, b"aad", &mut buffer).unwrap().0, *tag, "{key:?}, {length}");
            assert!(buffer == ciphertext, "{key:?}, {length}");
            key.open(nonce, b"aad", &mut buffer, &Tag(*tag)).unwrap_or_else(|error| panic!("{error}: {key:?}, {length}"));
            assert!(buffer == text, "{key:?}, {length}");
            messages.add(&key, 1);
        }
    }
    messages.passed("aliasing::f08_in_place", lengths().count());
}

#[test]
fn f08_buffers_side_by_side() {
    let mut messages = Tally::default();
    for backend in backends() {
        let key = key(&[1; 32], backend);
        for length in lengths() {
            let text = Random(length as u64).bytes(length);
            let sealed = key.seal_vec([2; 12], &text, &text).unwrap();
            // Text and ciphertext with tag, in both orders, at an odd address; the text is the AAD too.
            let odd = 1 + length % 31;
            for text_first in [true, false] {
                let mut memory = vec![0xee; odd + length + length + 16];
                let place = if text_first { odd..odd + length } else { odd + length + 16..odd + length + length + 16 };
                memory[place].copy_from_slice(&text);
                let (from, to) = if text_first {
                    memory[odd..].split_at_mut(length)
                } else {
                    let (to, from) = memory[odd..].split_at_mut(length + 16);
                    (from, to)
                };
                key.seal_to([2; 12], from, from, to).unwrap();
                assert!(from == text && to == sealed, "{key:?}, {length}");
                from.fill(0);
                key.open_to([2; 12], &text, to, from).unwrap_or_else(|error| panic!("{error}: {key:?}, {length}"));
                assert!(from == text && to == sealed, "{key:?}, {length}");
                assert!(memory[..odd].iter().all(|&byte| byte == 0xee), "{key:?}, {length}");
                messages.add(&key, 1);
            }
        }
    }
    messages.passed("aliasing::f08_side_by_side", 2 * lengths().count());
}
