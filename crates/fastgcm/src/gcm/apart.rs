//! GCM as the standard tells it: CTR here, GHASH there, eight vectors of the one and then of the other.
//!
//! Nothing is woven, and nothing is indexed by a counter, so any nonce may come this way: one that has not 96 bits must, since its counter
//! depends on H. It also serves where operations go through memory and weaving would win nothing (RISC-V), and to hash what is only
//! read: AAD, nonces, a message to be verified before it is decrypted. Loops, not straight lines: a kilobyte or two a row.

use super::{
    counter::{STATES, Secret},
    message::lengths,
};
use crate::{
    Block,
    ghash::{Ask, Down, Multiply},
    inout::{InOut, TURN, load_bytes, load_vector},
    isa::Isa,
    key::Material,
    nonce::J0,
};
use core::hint::black_box;

#[allow(unused_imports, reason = "for rows that have no other way, which most machines lack")]
pub(crate) use super::message::{derive, expand, wipe};
#[cfg(test)]
#[allow(unused_imports, reason = "likewise")]
pub(crate) use crate::ghash::proof::{fill, products};

/// What variants are compared with.
#[cfg(feature = "internals")]
#[allow(dead_code, reason = "likewise")]
pub(crate) fn multiply<S: Isa, M: Multiply<S>>(_: S, multiply: M) -> M {
    multiply
}

/// Seals or opens any message with any nonce. Returns the tag.
#[inline(always)]
pub(crate) fn any<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, j0: J0, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
    let mut text = text.here();
    let lengths = lengths(aad, text.len());
    let mut hash = absorb::<S, M>(s, key, s.splat(0), aad);
    let mut counters = Secret::new(s, j0);
    while text.len() > 0 {
        let turn = text.take::<S>(TURN);
        let seal = black_box(seal); // or LLVM makes a loop for each
        if !seal {
            hash = absorb::<S, M>(s, key, hash, turn.source());
        }
        if let Some(mut whole) = turn.whole(s) {
            let x = keystream::<S, TURN>(s, key, &mut counters);
            each!(I in 0 1 2 3 4 5 6 7 => { whole.store::<I>(s, apply(s, key, x[I], whole.load::<I>(s))); });
        } else {
            let mut rest = turn;
            while rest.len() > 0 {
                let x = keystream::<S, 1>(s, key, &mut counters);
                let mut vector = rest.take::<S>(1);
                vector.store::<S, 0, 0>(s, apply(s, key, x[0], vector.load::<S, 0, 0>(s)));
            }
        }
        if seal {
            hash = absorb::<S, M>(s, key, hash, turn.written());
        }
    }
    finish::<S, M>(s, key, hash, lengths) ^ key.schedule.encrypt(s, j0.0)
}

/// The pre-counter block of a nonce that has not 12 bytes: its GHASH (SP 800-38D, section 7.1, step 2).
#[inline(always)]
pub(crate) fn j0<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, nonce: &[u8]) -> J0 {
    let hash = absorb::<S, M>(s, key, s.splat(0), nonce);
    J0(finish::<S, M>(s, key, hash, lengths(&[], nonce.len())))
}

/// The tag of AAD and ciphertext, without decrypting.
#[inline(always)]
pub(crate) fn tag<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
    let hash = absorb::<S, M>(s, key, s.splat(0), aad);
    let hash = absorb::<S, M>(s, key, hash, ciphertext);
    finish::<S, M>(s, key, hash, lengths(aad, ciphertext.len())) ^ key.schedule.encrypt(s, j0.0)
}

/// The next `N` vectors of keystream but for the last round of AES.
#[inline(always)]
fn keystream<S: Isa, const N: usize>(s: S, key: &Material, counters: &mut Secret<S>) -> [S::State; STATES] {
    let schedule = &key.schedule;
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<N>(s, schedule, &mut x);
    let mut prev = s.state(s.splat(schedule.keys[0]));
    for round in 1..schedule.rounds() {
        let next = s.state(s.splat(schedule.key(round)));
        each!(I in 0 1 2 3 4 5 6 7 => { if I < N { x[I] = s.round(x[I], prev, next); } });
        prev = next;
    }
    x
}

/// The last round, XOR the text.
#[inline(always)]
fn apply<S: Isa>(s: S, key: &Material, x: S::State, text: S::V) -> S::V {
    s.last_round(x, s.state(s.splat(*key.schedule.before_last())), s.state(s.splat(key.schedule.last)), text)
}

/// GHASH goes on from `hash`, in lane 0, over `data` padded with zeros: one reduction for every `TURN` vectors.
#[inline(always)]
pub(super) fn absorb<S: Isa, M: Multiply<S>>(s: S, key: &Material, hash: S::V, data: &[u8]) -> S::V {
    let powers = &key.powers;
    let mut hash = hash;
    for part in data.chunks(TURN * 16 * S::BLOCKS) {
        let blocks = part.len().div_ceil(16);
        let mut n = blocks;
        let mut sum = M::zero(s);
        let mut whole = part.chunks_exact(16 * S::BLOCKS);
        for bytes in &mut whole {
            let v = s.xor(s.byte_swap(load_vector(s, bytes)), hash);
            hash = s.splat(0);
            let (first, second) = powers.down_from(s, n).vector(0);
            sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
            n -= S::BLOCKS;
        }
        let rest = whole.remainder();
        if !rest.is_empty() {
            let v = s.xor(s.byte_swap(load_bytes(s, rest)), hash);
            let (first, second) = powers.down_from(s, n).partly(s, 0, n);
            sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
        }
        let constants = powers.down_from(s, blocks).constants();
        hash = s.first(s.fold(M::reduce(s, sum, constants)));
    }
    hash
}

/// The last block of GHASH, and the hash in the order of the message.
#[inline(always)]
fn finish<S: Isa, M: Multiply<S>>(s: S, key: &Material, hash: S::V, lengths: Block) -> Block {
    let powers = key.powers.down_from(s, 1);
    let (first, second) = powers.partly(s, 0, 1);
    let product = M::product(s, M::ready(s, s.xor(hash, s.first(lengths)), first, second));
    s.fold(s.byte_swap(M::reduce(s, product, powers.constants())))
}
