//! The algorithm at every width, on any machine: `Portable` with one, two and four lanes takes the paths that the processor's
//! instruction sets take, so a fault in a path shows also where no such processor is at hand.

extern crate std;
use super::*;
use crate::{
    Block,
    ghash::{KeyFolded, Multiply, Winograd},
    inout::InOut,
    isa::{Isa, Portable},
    key::Material,
    nonce::{J0, Kind, Nonce, Nonce96},
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
        short::<_, _, SEAL, false>(s, multiply, Inlined, key, nonce, aad, text)
    } else if has_much_aad(s, aad, &text) {
        short::<_, _, SEAL, true>(s, multiply, Inlined, key, nonce, aad, text)
    } else {
        long::<_, _, SEAL>(s, multiply, Inlined, key, nonce, aad, text)
    }
}

/// As one of the rows with that many blocks a vector would do it.
fn like_a_row<S: Isa, M: Multiply<S>>(s: S, multiply: M, key_length: usize) -> usize {
    let bytes = |n: usize, seed: usize| -> Vec<u8> { (0..n).map(|i| ((i * 0x9e37 + seed * 77) >> 3) as u8 ^ i as u8).collect() };
    let key = bytes(key_length, 1);
    let model = Model::new(&key);
    let mut material = Material::ZERO;
    expand(s, multiply, &mut material, &key);

    let vector = 16 * S::BLOCKS;
    let few = 0..=3 * vector + 17;
    let edges = (3..=20).flat_map(|n| [n * vector - 1, n * vector, n * vector + 1]);
    let counters_carry = [4095usize, 4096, 4097, 8191].into_iter().chain((60..68).map(|n| n * vector + 5));
    let at_face = [(1 << 14) - 1, 1 << 14, (1 << 14) + vector - 3, (1 << 14) + 9 * vector];
    let mut messages = 0;
    for length in few.chain(edges).chain(counters_carry).chain(at_face) {
        let text = bytes(length, 2);
        let aad = bytes([0, 13, 16, 20, 48, 49, 64, 100, 192, 300, 368][messages % 11], 3);
        let nonce: [u8; 12] = bytes(12, messages).try_into().unwrap();
        let Kind::Public(nonce96) = Nonce::from(nonce).0 else { unreachable!() };

        // The counter from tables, and with the counter block as if the nonce had another length.
        let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
        let j0 = J0::from(nonce96);
        for any in [false, true] {
            let mut buffer = text.clone();
            let seal = InOut::in_place(&mut buffer);
            let found = if any {
                apart::any(s, multiply, &material, j0, &aad, seal, true)
            } else {
                by_length::<_, _, true>(s, multiply, &material, nonce96, &aad, seal)
            };
            assert_eq!((found.to_le_bytes(), &buffer), (tag, &ciphertext), "seal, {length} bytes, any: {any}");
            let mut opened = vec![0; length];
            let open = InOut::copying(&ciphertext, &mut opened).unwrap();
            let found = if any {
                apart::any(s, multiply, &material, j0, &aad, open, false)
            } else {
                by_length::<_, _, false>(s, multiply, &material, nonce96, &aad, open)
            };
            assert_eq!((found.to_le_bytes(), &opened), (tag, &text), "open, {length} bytes, any: {any}");
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

/// Functions of no row: nothing of theirs wants a gate.
#[derive(Clone, Copy)]
pub(super) struct Inlined;

impl<S: Isa, M: Multiply<S>> Calls<S, M> for Inlined {
    fn bulk<'a, const SEAL: bool, const FACE: bool>(self, s: S, multiply: M, key: &'a Material, all: Bulk<'a, S>) -> Bulk<'a, S> {
        bulk::<S, M, SEAL, FACE>(s, multiply, key, all)
    }

    fn tail<const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
        self,
        s: S,
        key: &Material,
        rest: Rest<'_, S>,
    ) -> Block {
        tail::<S, M, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.powers, rest)
    }
}
