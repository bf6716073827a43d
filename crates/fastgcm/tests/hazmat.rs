//! What feature `hazmat` adds beside tags: AES of blocks, and CTR. (Opening in pieces is in `pieces`.)
#![cfg(feature = "hazmat")]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::hazmat;
use fastgcm_model::Model;
use suite::Random;

/// FIPS 197, appendices B and C: key, block, and what becomes of it.
const EXAMPLES: [(&str, &str, &str); 4] = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f1011121314151617", "00112233445566778899aabbccddeeff", "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
];

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn aes_of_blocks() {
    let mut blocks = Tally::default();
    for backend in backends() {
        for (bytes, input, output) in EXAMPLES {
            let (key, mut block) = (key(&hex(bytes), backend), hex(input).try_into().unwrap());
            hazmat::aes_block(&key, &mut block);
            assert_eq!(block[..], hex(output), "{key:?}");
            blocks.add(&key, 1);
        }
        for length in [16, 24, 32] {
            let mut random = Random(length);
            let bytes = random.bytes(length as usize);
            let (key, model) = (key(&bytes, backend), Model::new(&bytes));
            for n in 0..20 {
                let before: Vec<[u8; 16]> = (0..n).map(|_| random.bytes(16).try_into().unwrap()).collect();
                let mut after = before.clone();
                hazmat::aes_blocks(&key, &mut after);
                let expected: Vec<_> = before.iter().map(|block| model.cipher(block)).collect();
                assert_eq!(after, expected, "{key:?}, {n} blocks");
                blocks.add(&key, n);
            }
        }
    }
    blocks.passed("hazmat::aes_of_blocks", 4 + 3 * 190);
}

/// CTR of every length to several turns; counters that wrap modulo 2^32, in every block of these.
#[test]
fn f04_ctr() {
    let mut texts = Tally::default();
    let bytes = Random(3).bytes(32);
    for (i, model) in [16, 24, 32].map(|length| Model::new(&bytes[..length])).iter().enumerate() {
        let keys: Vec<_> = backends().into_iter().map(|backend| key(&bytes[..16 + 8 * i], backend)).collect();
        let lengths = (0..=300).chain([511, 512, 513, 1100, 3000]);
        for length in lengths {
            let mut random = Random(length as u64);
            let (text, mut counter): (_, [u8; 16]) = (random.bytes(length), random.bytes(16).try_into().unwrap());
            if length % 2 == 1 {
                counter[12..].copy_from_slice(&(u32::MAX - random.below(1 + length / 16) as u32).to_be_bytes());
            }
            let expected = model.gctr(&counter, &text);
            for key in &keys {
                let mut found = text.clone();
                hazmat::ctr(key, &counter, &mut found);
                assert_eq!(found, expected, "{key:?}, {length} bytes from {counter:02x?}");
                texts.add(key, 1);
            }
        }
    }
    texts.passed("hazmat::f04_ctr", 3 * (301 + 5));
}
