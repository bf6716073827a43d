//! F6: AAD whose length in bits has more than 32 bits. (Its memory is promised by the system and never given: pages of zeros that are only
//! read cost nothing.)
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Key, Nonce};
use fastgcm_model::{Block, Model, multiply_blocks};
use suite::{full, passed, quick};

/// 2^32 bits, one byte less, one more; more than 2^32 bytes.
const LENGTHS: [usize; 4] = [(1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 32) + 5];

/// What is counted is counted in one place for all: the first back end, the fastest, does it here, and all of them with `FASTGCM_FULL`.
#[test]
fn f06_aad_of_more_bits_than_32() {
    let (mut messages, mut expected) = (0, 0);
    let backends = backends::backends();
    for &backend in if full() { &backends[..] } else { &backends[..1] } {
        let lengths = if full() {
            &LENGTHS[..]
        } else if quick() {
            &LENGTHS[2..3]
        } else {
            &LENGTHS[..3]
        };
        let key = Key::with_backend(&[1; 16], backend).unwrap();
        for &length in lengths {
            let mut aad = vec![0; length];
            aad[length - 1] = 0x5a;
            let tag = key.seal(Nonce::from([2; 12]), &aad, &mut []).unwrap();
            assert_eq!(tag.0, expected_tag(length), "{backend}, AAD of {length}");
            messages += 1;
        }
        expected += lengths.len();
    }
    passed("long_aad::f06_aad_of_more_bits_than_32", messages, expected);
}

/// GHASH of zeros is zero until the last block; then two multiplications are left, that block's and that of the lengths.
fn expected_tag(length: usize) -> Block {
    let model = Model::new(&[1; 16]);
    let mut last = [0; 16];
    last[(length - 1) % 16] = 0x5a;
    let mut lengths = [0; 16];
    lengths[..8].copy_from_slice(&(8 * length as u64).to_be_bytes());
    let hash = xor(multiply_blocks(&last, &model.h()), lengths);
    xor(multiply_blocks(&hash, &model.h()), model.cipher(&model.j0(&[2; 12])))
}

fn xor(a: Block, b: Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}
