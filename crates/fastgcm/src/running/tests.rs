//! Places that no message of a test reaches: the limits, and counters on the way to them.

use super::*;
use crate::{Backend, Key};

extern crate std;
use std::{vec, vec::Vec};

const NONCE: [u8; 12] = *b"twelve bytes";

fn keys() -> Vec<Key> {
    Backend::available().map(|backend| Key::with_backend(&[7; 24], backend).unwrap()).collect()
}

/// Returns a message that has taken this much AAD and text, of which nothing was hashed.
fn behind(key: &Key, aad: u64, text: u64) -> Running {
    let mut running = Running::begin(key.keyed(), NONCE.into());
    (running.aad, running.text) = (aad, text);
    running
}

/// F5, F12: the last byte that fits is accepted; one more byte is not, and changes nothing.
#[test]
fn f05_f12_limits_are_those_of_all_pieces() {
    for key in keys() {
        let material = &key.material;
        let (mut aad, mut expected) = (behind(&key, limits::AAD - 5, 0), behind(&key, limits::AAD - 5, 0));
        assert_eq!(aad.aad(material, b"abcdef"), Err(Error::TooLong));
        aad.aad(material, b"abc").unwrap();
        assert_eq!(aad.aad(material, b"def"), Err(Error::TooLong));
        aad.aad(material, b"de").unwrap();
        aad.aad(material, b"").unwrap();
        assert_eq!(aad.aad(material, b"f"), Err(Error::TooLong));
        expected.aad(material, b"abcde").unwrap();
        assert_eq!(aad.finish(material), expected.finish(material), "{key:?}");

        for seal in [true, false] {
            let (mut text, mut expected) =
                (behind(&key, 0, limits::TEXT - 48), behind(&key, 0, limits::TEXT - 48));
            let (mut long, mut short) = (vec![9; 4000], vec![9; 48]);
            for refused in [49, 100, 4000] {
                assert_eq!(
                    text.text(material, InOut::in_place(&mut long[..refused]), seal),
                    Err(Error::TooLong)
                );
                assert_eq!(text.verify(material, &long[..refused]), Err(Error::TooLong));
            }
            text.text(material, InOut::in_place(&mut short[..30]), seal).unwrap();
            assert_eq!(text.text(material, InOut::in_place(&mut long[..19]), seal), Err(Error::TooLong));
            text.text(material, InOut::in_place(&mut short[30..]), seal).unwrap();
            text.text(material, InOut::in_place(&mut []), seal).unwrap();
            assert_eq!(text.text(material, InOut::in_place(&mut long[..1]), seal), Err(Error::TooLong));
            assert_eq!(text.verify(material, &long[..1]), Err(Error::TooLong));
            assert!(long == vec![9; 4000], "{key:?}: what was refused was written");
            let mut at_once = vec![9; 48];
            expected.text(material, InOut::in_place(&mut at_once), seal).unwrap();
            assert_eq!((text.finish(material), short), (expected.finish(material), at_once), "{key:?}");
        }
    }
}

/// F4, F12: the counter of a piece, wherever the piece begins: where each byte of it carries, and where the
/// last message ends.
#[test]
fn f04_f12_counters_of_pieces_at_every_carry() {
    let mut pieces = 0;
    for key in keys() {
        let (steps, material) = key.keyed();
        for carry in [1 << 12, 1 << 20, 1 << 28, limits::TEXT] {
            const PIECES: &[(u64, usize)] = &[
                (10_000, 10_000),
                (9001, 5000),
                (4352, 2816),
                (4096, 4096),
                (3600, 3500),
                (2048, 2048),
                (2016, 2016),
                (600, 600),
            ];
            for (before, length) in PIECES.iter().copied().chain([(43, 43), (5, 5), (16, 16)]) {
                let first = carry - before.min(carry);
                for seal in [true, false] {
                    let mut found = vec![0; length];
                    // If a block has begun, some of its keystream is already used.
                    let mut running = behind(&key, 0, first / 16 * 16);
                    running
                        .text(material, InOut::in_place(&mut vec![0; (first % 16) as usize]), seal)
                        .unwrap();
                    running.text(material, InOut::in_place(&mut found), seal).unwrap();
                    let block = |i: u64| {
                        let mut block = [0; 16];
                        block[..12].copy_from_slice(&NONCE);
                        block[12..].copy_from_slice(&(i as u32).wrapping_add(2).to_be_bytes());
                        steps.aes(material, Block::from_le_bytes(block), |block| block).to_le_bytes()
                    };
                    let expected: Vec<u8> =
                        (first / 16..=(first + length as u64) / 16).flat_map(block).collect();
                    assert!(
                        found == expected[(first % 16) as usize..][..length],
                        "{key:?}: {length} bytes from {first}"
                    );
                    pieces += 1;
                }
            }
        }
    }
    assert_eq!(pieces, keys().len() * 4 * 11 * 2);
}
