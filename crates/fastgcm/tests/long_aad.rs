//! F6: AAD, texts and nonces whose length in bits has more than 32 bits. (Memory that is only read is promised by the system and never given:
//! pages of zeros cost nothing.)
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Nonce, Tag};
use fastgcm_model::{Block, Model, multiply_blocks};
use suite::{full, passed, quick};

/// 2^32 bits, one byte less, one more; more than 2^32 bytes.
const LENGTHS: [usize; 4] = [(1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 32) + 5];

/// What is counted is counted in one place for all: the first back end, the fastest, does it here, and all of them with `FASTGCM_FULL`.
#[test]
fn f06_aad_of_more_bits_than_32() {
    let (mut messages, mut expected, mut by_row) = (0, 0, backends::Tally::default());
    let backends = backends::backends();
    for &backend in if full() { &backends[..] } else { &backends[..1] } {
        let lengths = if full() {
            &LENGTHS[..]
        } else if quick() {
            &LENGTHS[2..3]
        } else {
            &LENGTHS[..3]
        };
        let key = backends::key(&[1; 16], backend);
        for &length in lengths {
            let mut aad = vec![0; length];
            aad[length - 1] = 0x5a;
            let tag = key.seal(Nonce::from([2; 12]), &aad, &mut []).unwrap();
            assert_eq!(tag.0, expected_tag(length), "{backend}, AAD of {length}");
            messages += 1;
            by_row.add(&key, 1);
        }
        expected += lengths.len();
    }
    let name = "long_aad::f06_aad_of_more_bits_than_32";
    if full() {
        by_row.passed(name, LENGTHS.len());
    }
    passed(name, messages, expected);
}

/// The ciphertext is zeros, whose tag is soon told. What it opens to is sealed again: the same zeros, the same tag. With a nonce of 12
/// bytes, and with one of 16, which goes another way.
#[test]
fn f06_text_of_more_bits_than_32() {
    let (mut messages, mut expected) = (0, 0);
    let backends = backends::backends();
    let mut text = vec![0; LENGTHS[2]];
    for &backend in if full() { &backends[..] } else { &backends[..1] } {
        let key = backends::key(&[1; 16], backend);
        for nonce in [&[2; 12][..], &[2; 16]] {
            let tag = Tag(mask(nonce, hash_of_zeros(text.len(), 8)));
            let nonce = Nonce::any(nonce).unwrap();
            *text.last_mut().unwrap() = 0x5a;
            key.open_verified_first(nonce, b"", &mut text, &tag).unwrap_or_else(|error| panic!("{backend}: {error}"));
            assert_eq!(key.seal(nonce, b"", &mut text).unwrap().0, tag.0, "{backend}, sealed");
            assert_eq!(text.pop(), Some(0x5a));
            assert!(text.iter().all(|&byte| byte == 0), "{backend}: what was opened is sealed again");
            text.push(0);
            messages += 1;
        }
        expected += 2;
    }
    passed("long_aad::f06_text_of_more_bits_than_32", messages, expected);
}

/// J0 is a hash as well, with a lengths block of its own.
#[test]
fn f06_nonce_of_more_bits_than_32() {
    let (mut messages, mut expected) = (0, 0);
    let backends = backends::backends();
    let mut nonce = vec![0; LENGTHS[2]];
    *nonce.last_mut().unwrap() = 0x5a;
    let model = Model::new(&[1; 16]);
    let j0 = hash_of_zeros(nonce.len(), 8);
    for &backend in if full() { &backends[..] } else { &backends[..1] } {
        let key = backends::key(&[1; 16], backend);
        let mut text = *b"a message";
        let tag = key.seal(Nonce::any(&nonce).unwrap(), b"aad", &mut text).unwrap();
        assert_eq!((text.to_vec(), tag.0), model.seal_from_j0(&j0, b"aad", b"a message"), "{backend}");
        messages += 1;
        expected += 1;
    }
    passed("long_aad::f06_nonce_of_more_bits_than_32", messages, expected);
}

/// The tag of so much AAD and no text.
fn expected_tag(length: usize) -> Block {
    mask(&[2; 12], hash_of_zeros(length, 0))
}

/// GHASH of zeros is zero until the last block; then two multiplications are left, that block's and that of the lengths. The length stands from
/// byte `at` of that on: 0 for AAD, 8 for a text or a nonce.
fn hash_of_zeros(length: usize, at: usize) -> Block {
    let h = Model::new(&[1; 16]).h();
    let mut last = [0; 16];
    last[(length - 1) % 16] = 0x5a;
    let mut lengths = [0; 16];
    lengths[at..at + 8].copy_from_slice(&(8 * length as u64).to_be_bytes());
    multiply_blocks(&xor(multiply_blocks(&last, &h), lengths), &h)
}

/// The tag of that hash.
fn mask(nonce: &[u8], hash: Block) -> Block {
    let model = Model::new(&[1; 16]);
    xor(hash, model.cipher(&model.j0(nonce)))
}

fn xor(a: Block, b: Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}
