//! What is written does not depend on how many threads write it.

use fastgcm_file::{CHUNK_LEN, Cipher, Format, HEADER_LEN, Key, TAG_LEN, open, seal};
use std::num::NonZero;

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
    println!("the_same_bytes_for_1_to_16_threads ok {cases}");
}
