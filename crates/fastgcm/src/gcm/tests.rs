//! The algorithm at every width, on any machine: `Portable` with one, two and four lanes takes the paths of
//! the processor's instruction sets, so a fault in a path shows even where no such processor is at hand.

extern crate std;
use super::*;
use crate::{
    ghash::{KeyFolded, Winograd},
    inout::{Hash, Table, Unwritten},
    isa::Portable,
    nonce::{J0, Kind, Nonce, Start},
    tag::Tag,
};
use fastgcm_model::Model;
use std::{vec, vec::Vec};

/// Runs [`expand`] in a key.
fn expand_in<S: Isa, M: Multiply<S>>(
    s: S,
    multiply: M,
    material: &mut WovenMaterial,
    key: &[u8],
    one: Option<(usize, usize)>,
) {
    expand(s, multiply, &mut material.schedule, Unwritten::of(&mut material.tables), key, one);
}

/// Runs a message through the functions that a row uses for its lengths.
fn by_length<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &WovenMaterial,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
) -> Block {
    if is_end(s, aad.len(), text.len()) {
        return end::<_, _, SEAL>(s, multiply, key, nonce, aad, text, None);
    }
    let mut beginning = Beginning::new(s, aad.len(), text.len());
    let rest = if text.len() >= plan::AHEAD_PAYS {
        let (mut turns, rest) = drive::begin_ahead(s, multiply, key, aad, text, &mut beginning);
        let hash = &mut beginning.hash;
        drive::turns_ahead::<_, _, SEAL>(s, multiply, key, nonce, 0, hash, turns.here());
        beginning.pending = Some(turns.last_turn(s)).filter(|_| SEAL);
        rest
    } else {
        drive::begin::<_, _, SEAL>(s, multiply, key, nonce, aad, text, &mut beginning)
    };
    end::<_, _, SEAL>(s, multiply, key, nonce, &[], rest, Some(&beginning))
}

/// Runs one step after the other: AAD, text cut in pieces of this many blocks and the rest, end.
fn in_pieces<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &WovenMaterial,
    start: &Start,
    aad: &[u8],
    mut text: InOut<'_>,
    pieces: &[usize],
) -> Block {
    let (mut hash, all, mut index) = (Hash::ZERO, text.len(), 0);
    drive::hash(s, multiply, key, &mut hash, aad);
    for piece in pieces.iter().chain([&usize::MAX]) {
        let piece = text.take_len(piece.saturating_mul(16));
        let behind = index + (piece.len() / 16) as u32;
        let flush = |hash: &mut Hash| drive::hash(s, multiply, key, hash, &[]);
        let ahead = |nonce, index, hash: &mut Table<4>, text: InOut<'_>| {
            drive::turns_ahead::<_, _, SEAL>(s, multiply, key, nonce, index, hash, text);
        };
        drive::update::<_, _, SEAL>(s, multiply, key, start, index, &mut hash, piece, flush, ahead);
        index = behind;
    }
    drive::hash(s, multiply, key, &mut hash, &[]);
    drive::finish(s, multiply, key, &hash, lengths(aad.len() as u64, all as u64), Some(start))
}

fn bytes(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| ((i * 0x9e37 + seed * 77) >> 3) as u8 ^ i as u8).collect()
}

/// Does what one of the rows with this many blocks a vector would do.
fn like_a_row<S: Isa, M: Multiply<S>>(s: S, multiply: M, key_length: usize) -> usize {
    let key = bytes(key_length, 1);
    let model = Model::new(&key);
    let mut material = WovenMaterial::ZERO;
    expand_in(s, multiply, &mut material, &key, None);

    let vector = 16 * S::BLOCKS;
    let few = 0..=3 * vector + 17;
    let edges = (3..=20).flat_map(|n| [n * vector - 1, n * vector, n * vector + 1]);
    let counters_carry = [4095usize, 4096, 4097, 8191].into_iter().chain((60..68).map(|n| n * vector + 5));
    let asks = [plan::PREFETCH_PAYS - 1, plan::PREFETCH_PAYS + vector - 3];
    let mut messages = 0;
    for length in few.chain(edges).chain(counters_carry).chain(asks) {
        let text = bytes(length, 2);
        let aad = bytes([0, 13, 16, 20, 48, 49, 64, 100, 127, 192, 245, 300, 368][messages % 13], 3);
        let nonce: [u8; 12] = bytes(12, messages).try_into().unwrap();
        let Kind::Public(nonce96) = Nonce::from(nonce).0 else { unreachable!() };

        let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
        let turn = crate::inout::TURN * S::BLOCKS;
        // The message goes through at once, and in pieces, with the counter of a public nonce and as if the
        // nonce had another length. The pieces leave turns that wait for the next ones or for less than a
        // turn, and pieces that begin between two turns.
        let starts = [Start::Public(nonce96), Start::Secret(J0::from(nonce96))];
        let cuts: [&[usize]; 5] =
            [&[], &[turn], &[2 * turn, turn], &[turn, 1, turn, turn], &[3, 2 * turn + 5]];
        for (seal, input, output) in [(true, &text, &ciphertext), (false, &ciphertext, &text)] {
            let mut found = vec![0; length];
            let to = InOut::copying(input, &mut found).unwrap();
            let new = if seal {
                by_length::<_, _, true>(s, multiply, &material, nonce96, &aad, to)
            } else {
                by_length::<_, _, false>(s, multiply, &material, nonce96, &aad, to)
            };
            assert_eq!((new.to_le_bytes(), &found), (tag, output), "{length} bytes, seal: {seal}");
            for start in &starts {
                let mut found = input.clone();
                let (to, cuts) = (InOut::in_place(&mut found), cuts[messages % cuts.len()]);
                let new = if seal {
                    in_pieces::<_, _, true>(s, multiply, &material, start, &aad, to, cuts)
                } else {
                    in_pieces::<_, _, false>(s, multiply, &material, start, &aad, to, cuts)
                };
                assert_eq!(
                    (new.to_le_bytes(), &found),
                    (tag, output),
                    "{length} bytes in {cuts:?}, {start:?}, seal: {seal}"
                );
            }
        }
        messages += 1;
    }
    messages
}

#[test]
fn one_block_a_vector() {
    assert_eq!(like_a_row(Portable::<1>::here(), Winograd, 16), 66 + 54 + 12 + 2);
}

#[test]
fn two_blocks_a_vector() {
    assert_eq!(like_a_row(Portable::<2>::here(), Winograd, 24), 114 + 54 + 12 + 2);
}

#[test]
fn four_blocks_a_vector_and_many_registers() {
    assert_eq!(like_a_row(Portable::<4, true>::here(), Winograd, 32), 210 + 54 + 12 + 2);
    assert_eq!(like_a_row(Portable::<4, true>::here(), KeyFolded, 16), 210 + 54 + 12 + 2);
}

/// Runs a key for one message: `once`, and `expand` with as many powers as the message needs, few or all.
fn like_a_row_once<S: Isa, M: Multiply<S>>(s: S, multiply: M) -> usize {
    let (max_aad, max_text) = max_once(S::BLOCKS).unwrap_or((16, 16));
    // All texts that `once` takes, then one for each number of blocks that a tail may have, and for more
    // blocks than a turn has.
    let short = (0..=max_text).flat_map(|text| [0, 1, 13, 16, 17, 32, 35, 48].map(|aad| (aad, text)));
    let few = (0..72).flat_map(|blocks| [0, 16, 80, 300].map(|aad| (aad, 16 * blocks + 5)));
    let mut messages = 0;
    for (aad, text) in short.chain(few) {
        let key = bytes([16, 24, 32][messages % 3], messages);
        let (aad, text, nonce): (_, _, [u8; 12]) =
            (bytes(aad, 3), bytes(text, 2), bytes(12, messages).try_into().unwrap());
        let (ciphertext, tag) = Model::new(&key).seal(&nonce, &aad, &text);
        let Kind::Public(nonce) = Nonce::from(nonce).0 else { unreachable!() };
        for (seal, input, output) in [(true, &text, &ciphertext), (false, &ciphertext, &text)] {
            let mut found = input.clone();
            if S::BLOCKS > 1 && aad.len() <= max_aad && text.len() <= max_text {
                let new = once(s, multiply, &key, nonce, &aad, InOut::in_place(&mut found), seal);
                assert_eq!(
                    (new.to_le_bytes(), &found),
                    (tag, output),
                    "once, seal: {seal}, AAD {}, text {}",
                    aad.len(),
                    text.len()
                );
                found.clone_from(input);
            }
            let mut material = WovenMaterial::ZERO;
            expand_in(s, multiply, &mut material, &key, Some((aad.len(), text.len())));
            let buffer = InOut::in_place(&mut found);
            let new = if seal {
                by_length::<_, _, true>(s, multiply, &material, nonce, &aad, buffer)
            } else {
                by_length::<_, _, false>(s, multiply, &material, nonce, &aad, buffer)
            };
            assert_eq!(
                (new.to_le_bytes(), &found),
                (tag, output),
                "expand, seal: {seal}, AAD {}, text {}",
                aad.len(),
                text.len()
            );
        }
        messages += 1;
    }
    messages
}

#[test]
fn f16_keys_for_one_message() {
    assert_eq!(like_a_row_once(Portable::<1>::here(), Winograd), 17 * 8 + 72 * 4);
    assert_eq!(like_a_row_once(Portable::<2>::here(), Winograd), 33 * 8 + 72 * 4);
    assert_eq!(like_a_row_once(Portable::<4, true>::here(), Winograd), 65 * 8 + 72 * 4);
    assert_eq!(like_a_row_once(Portable::<4, true>::here(), KeyFolded), 65 * 8 + 72 * 4);
}

/// F21: packets side by side, of every possible length: each packet equals the model's message.
fn like_a_row_of_batches<S: Isa, M: Multiply<S>>(s: S, multiply: M) -> usize {
    let (max_aad, max_text) = max_batch(S::BLOCKS).unwrap();
    let mut material = WovenMaterial::ZERO;
    expand_in(s, multiply, &mut material, &bytes(16, 9), None);
    let model = Model::new(&bytes(16, 9));
    let mut done = 0;
    for text in 0..=max_text {
        for (aad, seal) in [0, 1, 13, max_aad].into_iter().flat_map(|aad| [(aad, true), (aad, false)]) {
            let messages: Vec<_> = (0..3 * S::BLOCKS)
                .map(|p| {
                    let (nonce, aad, text): ([u8; 12], _, _) =
                        (bytes(12, p).try_into().unwrap(), bytes(aad, p + 20), bytes(text, p + 40));
                    let (sealed, tag) = model.seal(&nonce, &aad, &text);
                    (nonce, aad, if seal { (text, sealed) } else { (sealed, text) }, tag)
                })
                .collect();
            // One wrong tag in each group in turn.
            let (mut found, wrong) = (vec![vec![0; text]; messages.len()], text % messages.len());
            let mut packets: Vec<Packet<'_>> = messages
                .iter()
                .zip(&mut found)
                .map(|((nonce, aad, (from, _), tag), to)| {
                    Packet::to(*nonce, aad, from, to, Tag(if seal { [0; 16] } else { *tag }))
                })
                .collect();
            packets[wrong].tag.0[15] ^= u8::from(!seal);
            let now = if seal {
                batch::<S, M, true>(s, multiply, &material, &mut packets)
            } else {
                batch::<S, M, false>(s, multiply, &material, &mut packets)
            };
            assert_eq!(now, (messages.len(), usize::from(!seal)));
            for (p, (packet, (.., tag))) in packets.iter().zip(&messages).enumerate() {
                let wrong = !seal && p == wrong;
                assert!(
                    packet.status.is_err() == wrong && (wrong || packet.tag.0 == *tag),
                    "packet {p}, AAD {aad}, text {text}, seal: {seal}"
                );
            }
            drop(packets);
            assert!(
                found.iter().zip(&messages).all(|(found, (_, _, (_, to), _))| found == to),
                "AAD {aad}, text {text}, seal: {seal}"
            );
            done += messages.len();
        }
    }
    done
}

/// F21: one of the packets side by side has AAD or text of another length: this packet and those behind it
/// are left.
fn like_a_row_that_stops<S: Isa, M: Multiply<S>>(s: S, multiply: M) -> usize {
    let mut material = WovenMaterial::ZERO;
    expand_in(s, multiply, &mut material, &bytes(16, 9), None);
    let (count, mut done) = (3 * S::BLOCKS, 0);
    for (text, other) in (0..count).flat_map(|p| [10, 63].map(|text| (text, p))) {
        for (more_aad, more_text) in [(1, 0), (13, 0), (0, 1)] {
            let mut found = vec![vec![0xa5; text + more_text]; count];
            let mut packets: Vec<Packet<'_>> = found
                .iter_mut()
                .enumerate()
                .map(|(p, found)| {
                    let other = if p == other { (more_aad, more_text) } else { (0, 0) };
                    let to = &mut found[more_text - other.1..];
                    Packet::in_place([p as u8; 12], &[7; 26][..13 + other.0], to, Tag([0xa5; 16]))
                })
                .collect();
            let now = batch::<S, M, true>(s, multiply, &material, &mut packets);
            let stops = other / 4 * 4;
            assert_eq!(now, (stops, 0), "packet {other}: {more_aad} and {more_text} bytes more than {text}");
            let is_left: Vec<bool> = packets.iter().map(|packet| packet.tag.0 == [0xa5; 16]).collect();
            drop(packets);
            for (p, found) in found.iter().enumerate() {
                assert_eq!((is_left[p], found.iter().all(|byte| *byte == 0xa5)), (p >= stops, p >= stops));
            }
            done += 1;
        }
    }
    done
}

#[test]
fn f21_batches() {
    assert_eq!(like_a_row_of_batches(Portable::<4, true>::here(), Winograd), 12 * 8 * 65);
    assert_eq!(like_a_row_that_stops(Portable::<4, true>::here(), Winograd), 12 * 2 * 3);
}
