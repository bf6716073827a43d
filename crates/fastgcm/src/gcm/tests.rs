//! The algorithm at every width, on any machine: `Portable` with one, two and four lanes takes the paths that the processor's
//! instruction sets take, so a fault in a path shows also where no such processor is at hand.

extern crate std;
use super::{message::expand_in, *};
use crate::{
    Block,
    aes::Schedule,
    ghash::{KeyFolded, Multiply, Winograd},
    inout::{Hash, InOut, Room},
    isa::{Isa, Portable},
    nonce::{J0, Kind, Nonce, Nonce96, Start},
    packet::Packet,
    runs::{Runs, Text},
    tag::Tag,
};
use fastgcm_model::Model;
use std::{vec, vec::Vec};

/// A message through the function that a row takes for its lengths.
pub(super) fn by_length<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &Material,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
) -> Block {
    let (most_aad, most_text) = most_short(S::BLOCKS);
    if aad.len() <= most_aad && text.len() <= most_text {
        short::<_, _, SEAL>(s, multiply, Inlined, key, nonce, aad, text)
    } else {
        long::<_, _, SEAL>(s, multiply, Inlined, key, nonce, aad, &mut text.into())
    }
}

fn bytes(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| ((i * 0x9e37 + seed * 77) >> 3) as u8 ^ i as u8).collect()
}

/// As one of the rows with that many blocks a vector would do it.
fn like_a_row<S: Isa, M: Multiply<S>>(s: S, multiply: M, key_length: usize) -> usize {
    let key = bytes(key_length, 1);
    let model = Model::new(&key);
    let mut material = Material::ZERO;
    expand_in(s, multiply, &mut material, &key, None);

    let vector = 16 * S::BLOCKS;
    let few = 0..=3 * vector + 17;
    let edges = (3..=20).flat_map(|n| [n * vector - 1, n * vector, n * vector + 1]);
    let counters_carry = [4095usize, 4096, 4097, 8191].into_iter().chain((60..68).map(|n| n * vector + 5));
    let at_face = [(1 << 14) - 1, 1 << 14, (1 << 14) + vector - 3, (1 << 14) + 9 * vector];
    let mut messages = 0;
    for length in few.chain(edges).chain(counters_carry).chain(at_face) {
        let text = bytes(length, 2);
        let aad = bytes([0, 13, 16, 20, 48, 49, 64, 100, 127, 192, 245, 300, 368][messages % 13], 3);
        let nonce: [u8; 12] = bytes(12, messages).try_into().unwrap();
        let Kind::Public(nonce96) = Nonce::from(nonce).0 else { unreachable!() };

        // The counter from tables, and with the counter block as if the nonce had another length.
        let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
        let j0 = J0::from(nonce96);
        for any in [false, true] {
            let mut buffer = text.clone();
            let seal = InOut::in_place(&mut buffer);
            let found = if any {
                sequential::message(s, multiply, &material, j0, &aad, seal, true)
            } else {
                by_length::<_, _, true>(s, multiply, &material, nonce96, &aad, seal)
            };
            assert_eq!((found.to_le_bytes(), &buffer), (tag, &ciphertext), "seal, {length} bytes, any: {any}");
            let mut opened = vec![0; length];
            let open = InOut::copying(&ciphertext, &mut opened).unwrap();
            let found = if any {
                sequential::message(s, multiply, &material, j0, &aad, open, false)
            } else {
                by_length::<_, _, false>(s, multiply, &material, nonce96, &aad, open)
            };
            assert_eq!((found.to_le_bytes(), &opened), (tag, &text), "open, {length} bytes, any: {any}");
        }
        // A turn; two as those of a short piece; all others as those of a long one, which leaves a hash in each lane; and the rest. With room for a turn
        // that waits to be hashed, and without.
        let turn = blocks_of_turn(S::BLOCKS);
        for (seal, has_room, input, output) in
            [(true, true, &text, &ciphertext), (true, false, &text, &ciphertext), (false, false, &ciphertext, &text)]
        {
            let (mut found, mut hash, mut room) = (input.clone(), Hash::ZERO, Room::ZERO);
            let mut rest = InOut::in_place(&mut found);
            sequential::hash(s, multiply, &material, &mut hash, &aad);
            let (start, first) = (&Start::Public(nonce96), rest.take_blocks(turn));
            sequential::crypt(s, multiply, &material, start, 0, &mut hash, first, seal);
            let (index, few) = (turn as u32, rest.take_blocks(if rest.len() < 32 * turn { 0 } else { 2 * turn }));
            let (behind, all) = (turn + few.len() / 16, rest.len());
            let rest = if seal {
                sequential::turns::<_, _, true>(
                    s,
                    multiply,
                    &material,
                    nonce96,
                    index,
                    &mut hash,
                    Some(&mut room).filter(|_| has_room),
                    few,
                );
                piece::<_, _, true>(
                    s,
                    multiply,
                    Inlined,
                    &material,
                    nonce96,
                    behind as u32,
                    &mut hash,
                    Some(&mut room).filter(|_| has_room),
                    rest,
                )
            } else {
                sequential::turns::<_, _, false>(s, multiply, &material, nonce96, index, &mut hash, None, few);
                piece::<_, _, false>(s, multiply, Inlined, &material, nonce96, behind as u32, &mut hash, None, rest)
            };
            let index = behind + (all - rest.len()) / 16;
            sequential::settle(s, multiply, &material, &mut hash, &room);
            sequential::crypt(s, multiply, &material, start, index as u32, &mut hash, rest, seal);
            let lengths = lengths(aad.len() as u64, length as u64);
            let new = sequential::finish(s, multiply, &material, &hash, lengths, Some(j0));
            assert_eq!((new.to_le_bytes(), &found), (tag, output), "in pieces, {length} bytes, seal: {seal}");
        }
        // Gathered from three chunks and what stands behind them, where that is asked of a row.
        if S::BLOCKS > 1 && length > runs_from() {
            for (seal, input, output) in [(true, &text, &ciphertext), (false, &ciphertext, &text)] {
                let (cut, extra) = (16 * turn + messages % 100, length - messages % 3 * 700);
                let (chunks, mut found) = ([&input[..cut], &[], &input[cut..extra]], vec![0; length]);
                let mut runs = Runs::new(&chunks, &input[extra..], &mut found).unwrap();
                let mut text = Text::new(*runs.rest(), Some(&mut runs));
                let new = if seal {
                    long::<_, _, true>(s, multiply, Inlined, &material, nonce96, &aad, &mut text)
                } else {
                    long::<_, _, false>(s, multiply, Inlined, &material, nonce96, &aad, &mut text)
                };
                assert_eq!((new.to_le_bytes(), &found), (tag, output), "gathered, {length} bytes, seal: {seal}");
            }
        }
        messages += 1;
    }
    messages
}

#[test]
fn one_block_a_vector() {
    assert_eq!(like_a_row(Portable::<1>::here(), Winograd, 16), 66 + 54 + 12 + 4);
}

#[test]
fn two_blocks_a_vector() {
    assert_eq!(like_a_row(Portable::<2>::here(), Winograd, 24), 114 + 54 + 12 + 4);
}

#[test]
fn four_blocks_a_vector_and_many_registers() {
    assert_eq!(like_a_row(Portable::<4, true>::here(), Winograd, 32), 210 + 54 + 12 + 4);
    assert_eq!(like_a_row(Portable::<4, true>::here(), KeyFolded, 16), 210 + 54 + 12 + 4);
}

/// A key for one message: `once`, and `expand` with as many powers as the message asks for, few or all.
fn like_a_row_once<S: Isa, M: Multiply<S>>(s: S, multiply: M) -> usize {
    let (most_aad, most_text) = most_once(S::BLOCKS).unwrap_or((16, 16));
    // All texts that `once` takes, then one for each number of blocks that a tail may have, and more than those of a turn.
    let short = (0..=most_text).flat_map(|text| [0, 1, 13, 16, 17, 32, 35, 48].map(|aad| (aad, text)));
    let few = (0..72).flat_map(|blocks| [0, 16, 80, 300].map(|aad| (aad, 16 * blocks + 5)));
    let mut messages = 0;
    for (aad, text) in short.chain(few) {
        let key = bytes([16, 24, 32][messages % 3], messages);
        let (aad, text, nonce): (_, _, [u8; 12]) = (bytes(aad, 3), bytes(text, 2), bytes(12, messages).try_into().unwrap());
        let (ciphertext, tag) = Model::new(&key).seal(&nonce, &aad, &text);
        let Kind::Public(nonce) = Nonce::from(nonce).0 else { unreachable!() };
        for (seal, input, output) in [(true, &text, &ciphertext), (false, &ciphertext, &text)] {
            let mut found = input.clone();
            if S::BLOCKS > 1 && aad.len() <= most_aad && text.len() <= most_text {
                let mut schedule = Schedule::ZERO;
                let new = once(s, multiply, &mut schedule, &key, nonce, &aad, InOut::in_place(&mut found), seal);
                assert_eq!((new.to_le_bytes(), &found), (tag, output), "once, seal: {seal}, AAD {}, text {}", aad.len(), text.len());
                // F16: what is left where the round keys were.
                assert!(schedule.keys == [0; 14] && schedule.last == 0, "round keys");
                found.clone_from(input);
            }
            let mut material = Material::ZERO;
            expand_in(s, multiply, &mut material, &key, Some((aad.len(), text.len())));
            let buffer = InOut::in_place(&mut found);
            let new = if seal {
                by_length::<_, _, true>(s, multiply, &material, nonce, &aad, buffer)
            } else {
                by_length::<_, _, false>(s, multiply, &material, nonce, &aad, buffer)
            };
            assert_eq!((new.to_le_bytes(), &found), (tag, output), "expand, seal: {seal}, AAD {}, text {}", aad.len(), text.len());
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

/// F21: packets side by side, of every length that there is: each is the model's message.
fn like_a_row_of_batches<S: Isa, M: Multiply<S>>(s: S, multiply: M) -> usize {
    let (most_aad, most_text) = most_batch(S::BLOCKS).unwrap();
    let mut material = Material::ZERO;
    expand_in(s, multiply, &mut material, &bytes(16, 9), None);
    let model = Model::new(&bytes(16, 9));
    let mut done = 0;
    for text in (0..=most_text).chain([2 * most_text, 4 * most_text]) {
        for (aad, seal) in [0, 1, 13, most_aad].into_iter().flat_map(|aad| [(aad, true), (aad, false)]) {
            let messages: Vec<_> = (0..3 * S::BLOCKS)
                .map(|p| {
                    let (nonce, aad, text): ([u8; 12], _, _) = (bytes(12, p).try_into().unwrap(), bytes(aad, p + 20), bytes(text, p + 40));
                    let (sealed, tag) = model.seal(&nonce, &aad, &text);
                    (nonce, aad, if seal { (text, sealed) } else { (sealed, text) }, tag)
                })
                .collect();
            // A tag of each group in turn.
            let (mut found, wrong) = (vec![vec![0; text]; messages.len()], text % messages.len());
            let mut packets: Vec<Packet<'_>> = messages
                .iter()
                .zip(&mut found)
                .map(|((nonce, aad, (from, _), tag), to)| Packet::to(*nonce, aad, from, to, Tag(if seal { [0; 16] } else { *tag })))
                .collect();
            packets[wrong].tag.0[15] ^= u8::from(!seal);
            let now = if seal {
                batch::<S, M, true>(s, multiply, &material, &mut packets)
            } else {
                batch::<S, M, false>(s, multiply, &material, &mut packets)
            };
            assert_eq!(now, (messages.len(), !seal));
            for (p, (packet, (.., tag))) in packets.iter().zip(&messages).enumerate() {
                let wrong = !seal && p == wrong;
                assert!(
                    packet.status.is_err() == wrong && (wrong || packet.tag.0 == *tag),
                    "packet {p}, AAD {aad}, text {text}, seal: {seal}"
                );
            }
            drop(packets);
            assert!(found.iter().zip(&messages).all(|(found, (_, _, (_, to), _))| found == to), "AAD {aad}, text {text}, seal: {seal}");
            done += messages.len();
        }
    }
    done
}

#[test]
fn f21_batches() {
    assert_eq!(like_a_row_of_batches(Portable::<4, true>::here(), Winograd), 12 * 8 * (65 + 2));
}

/// Functions of no row: nothing of theirs wants a gate.
#[derive(Clone, Copy)]
pub(super) struct Inlined;

impl<S: Isa, M: Multiply<S>> Outlined<S, M> for Inlined {
    fn bulk<'a, const SEAL: bool, const FACE: bool>(self, s: S, multiply: M, key: &'a Material, all: &mut Bulk<'a, S>) {
        bulk::<S, M, SEAL, FACE>(s, multiply, key, all)
    }

    fn tail<const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
        self,
        s: S,
        key: &Material,
        rest: Rest<'_, S, impl Beside<S, M>>,
    ) -> Block {
        tail::<S, M, _, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.tables, rest)
    }
}
