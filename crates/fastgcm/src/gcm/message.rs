//! One message: AAD, turns, tail, tag.

use super::{
    counter::{Counters, Face, Public, STATES, Secret},
    tail::{Before, tail},
    turn::{Nothing, OfTurn, rounds},
};
use crate::{
    Block,
    ghash::{Multiply, aad_lanes},
    inout::{InOut, TURN, load_bytes},
    isa::Isa,
    key::Material,
    nonce::{J0, Nonce96},
};
use zeroize::Zeroize;

/// Everything that a message needs, from 16, 24 or 32 bytes of key. Nothing of what was there before is left.
#[inline(always)]
pub(crate) fn expand<S: Isa, M: Multiply<S>>(s: S, _: M, material: &mut Material, key: &[u8]) {
    let h = material.schedule.expand::<S, true>(s, key);
    material.powers.fill::<S, M>(s, h);
}

/// Zeros, where `expand` has written.
#[inline(always)]
pub(crate) fn wipe<S: Isa>(s: S, material: &mut Material) {
    material.schedule.zeroize();
    material.powers.wipe(s);
}

/// Which function is the best for a message with a 96-bit nonce.
pub(crate) enum Path {
    /// Fits in one tail, with AAD that leaves a lane for the lengths.
    Short,
    Long,
    /// The one for any nonce serves all.
    Any,
}

#[inline(always)]
pub(crate) fn path<S: Isa>(_: S, aad: &[u8], text: &InOut<'_>) -> Path {
    if S::CALLS {
        Path::Any
    } else if text.len() <= SHORT * 16 * S::BLOCKS && aad.len() <= 16 * aad_lanes(S::BLOCKS) {
        Path::Short
    } else {
        Path::Long
    }
}

/// Vectors in the longest short message.
const SHORT: usize = 4;

/// A short message: no loop. Returns the tag.
#[inline(always)]
pub(crate) fn short<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &Material,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
) -> Block {
    let counters = Public::new(s, &key.schedule, nonce);
    let before = Before { aad, hash: s.splat(0), lengths: lengths(aad, text.len()) };
    match text.len().div_ceil(16 * S::BLOCKS) {
        0 => tail::<S, M, _, SEAL, 0, 1, 0>(s, key, counters, text, before, None),
        1 => tail::<S, M, _, SEAL, 1, 2, 0>(s, key, counters, text, before, None),
        2 => tail::<S, M, _, SEAL, 2, 3, 1>(s, key, counters, text, before, None),
        3 => tail::<S, M, _, SEAL, 3, 4, 2>(s, key, counters, text, before, None),
        _ => tail::<S, M, _, SEAL, 4, 5, 3>(s, key, counters, text, before, None),
    }
}

/// Any message with a 96-bit nonce. Returns the tag.
#[inline(always)]
pub(crate) fn long<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &'a Material,
    nonce: Nonce96,
    aad: &[u8],
    mut text: InOut<'a>,
) -> Block {
    let mut counters = Public::new(s, &key.schedule, nonce);
    let mut before = before::<S, M>(s, key, aad, &text);
    let pending = if S::FACE_PAYS < usize::MAX && text.len() >= S::FACE_PAYS {
        let mut changes = Face::<S>::room();
        let mut face = Face::new(s, &key.schedule, &mut counters, &mut changes);
        let pending = turns::<S, M, _, SEAL>(s, key, &mut face, &mut text, &mut before.hash);
        face.done(s, &key.schedule);
        pending
    } else {
        turns::<S, M, _, SEAL>(s, key, &mut counters, &mut text, &mut before.hash)
    };
    last::<S, M, _, SEAL>(s, key, counters, text, before, pending)
}

/// Any message with any nonce. Returns the tag.
#[inline(always)]
pub(crate) fn any<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &'a Material,
    j0: J0,
    aad: &[u8],
    mut text: InOut<'a>,
) -> Block {
    let mut counters = Secret::new(s, j0);
    let mut before = before::<S, M>(s, key, aad, &text);
    let pending = turns::<S, M, _, SEAL>(s, key, &mut counters, &mut text, &mut before.hash);
    last::<S, M, _, SEAL>(s, key, counters, text, before, pending)
}

/// The pre-counter block of a nonce that has not 12 bytes: its GHASH (SP 800-38D, section 7.1, step 2).
#[inline(always)]
pub(crate) fn j0<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, nonce: &[u8]) -> J0 {
    let hash = absorb::<S, M>(s, key, s.splat(0), nonce);
    let hash = absorb::<S, M>(s, key, hash, &lengths(&[], nonce.len()).to_be_bytes());
    J0(s.fold(s.byte_swap(hash)))
}

/// The tag of AAD and ciphertext, without decrypting.
#[inline(always)]
pub(crate) fn tag<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
    let hash = absorb::<S, M>(s, key, s.splat(0), aad);
    let hash = absorb::<S, M>(s, key, hash, ciphertext);
    let hash = absorb::<S, M>(s, key, hash, &lengths(aad, ciphertext.len()).to_be_bytes());
    s.fold(s.byte_swap(hash)) ^ key.schedule.encrypt(s, j0.0)
}

/// What stands before the text. AAD that fits in the tail of a message without turns waits for it there. (Not with vectors of one
/// block, which have no lane to spare: 3 to 9 ns slower at 128 to 512 bytes, while a short message gains 6 to 10 ns by it.)
#[inline(always)]
fn before<'a, S: Isa, M: Multiply<S>>(s: S, key: &Material, aad: &'a [u8], text: &InOut<'_>) -> Before<'a, S> {
    let zero = s.splat(0);
    let lengths = lengths(aad, text.len());
    if aad.len() <= 16 * (S::BLOCKS - 1) && text.is_tail::<S>() {
        Before { aad, hash: zero, lengths }
    } else {
        Before { aad: &[], hash: absorb::<S, M>(s, key, zero, aad), lengths }
    }
}

/// All turns of a message. Returns the one that is left to hash, if any.
#[inline(always)]
fn turns<'a, S: Isa, M: Multiply<S>, C: Counters<S>, const SEAL: bool>(
    s: S,
    key: &'a Material,
    counters: &mut C,
    text: &mut InOut<'a>,
    hash: &mut S::V,
) -> Option<OfTurn<'a, S, true>> {
    let (schedule, powers) = (&key.schedule, &key.powers);
    let mut x = [s.state(s.splat(0)); STATES];
    let prev = s.state(s.splat(*schedule.before_last())); // of no use on x86
    let woven = schedule.last_ten();

    /// Encrypts or decrypts the turn `$turn`, and runs `$rounds` on its counter blocks.
    macro_rules! turn {
        ($turn:ident, $rounds:expr) => {
            counters.next::<TURN>(s, schedule, &mut x);
            $rounds;
            let last = s.state(s.splat(schedule.last));
            let mut out = [s.splat(0); TURN];
            each!(I in 0 1 2 3 4 5 6 7 => { out[I] = s.last_round(x[I], prev, last, $turn.load::<I>(s)); });
            each!(I in 0 1 2 3 4 5 6 7 => { $turn.store::<I>(s, out[I]); });
        };
    }
    /// The same, and hashes `$hashed` meanwhile.
    macro_rules! woven_turn {
        ($turn:ident, $hashed:expr) => {
            turn!($turn, {
                let hashed = OfTurn::<S, SEAL> { powers, hash: *hash, text: $hashed };
                if let Some(sum) = rounds::<S, M, _, C, TURN>(s, schedule, woven, &mut x, &hashed) {
                    *hash = hashed.reduce::<M>(s, sum);
                }
            })
        };
    }
    if SEAL {
        // Each turn hashes the ciphertext of the one before.
        let mut turn = text.turn::<S>()?;
        turn!(turn, rounds::<S, M, _, C, TURN>(s, schedule, woven, &mut x, &Nothing));
        let mut done = turn;
        while let Some(mut turn) = text.turn::<S>() {
            woven_turn!(turn, done);
            done = turn;
        }
        Some(OfTurn { powers, hash: *hash, text: done })
    } else {
        while let Some(mut turn) = text.turn::<S>() {
            woven_turn!(turn, turn);
        }
        None
    }
}

/// The tail behind the turns. Returns the tag.
#[inline(always)]
fn last<S: Isa, M: Multiply<S>, C: Counters<S>, const SEAL: bool>(
    s: S,
    key: &Material,
    counters: C,
    text: InOut<'_>,
    before: Before<'_, S>,
    pending: Option<OfTurn<'_, S, true>>,
) -> Block {
    /// For each number of vectors the function of that many or a few more: `$n`, of which `$whole` are whole for certain. Of vectors
    /// of one block no more than eight remain: all other numbers go to eight, the last part of the list is for wider ones.
    macro_rules! tails {
        ($pending:expr; $($vectors:pat => $n:literal $all:literal $whole:literal),+; $narrow_whole:literal; $($wide:pat => $wide_n:literal $wide_all:literal $wide_whole:literal),+) => {
            match text.len().div_ceil(16 * S::BLOCKS) {
                $($vectors => tail::<S, M, _, SEAL, $n, $all, $whole>(s, key, counters, text, before, $pending),)+
                _ if const { S::BLOCKS == 1 } => tail::<S, M, _, SEAL, 8, 9, $narrow_whole>(s, key, counters, text, before, $pending),
                $($wide => tail::<S, M, _, SEAL, $wide_n, $wide_all, $wide_whole>(s, key, counters, text, before, $pending),)+
            }
        };
    }
    if const { S::CALLS } {
        tails!(pending; 0 => 0 1 0, 1 => 1 2 0, 2 => 2 3 1, 3..=4 => 4 5 2, 5..=6 => 6 7 4; 6; _ => 9 10 6)
    } else if const { C::RARE } {
        tails!(pending; 0 => 0 1 0, 1..=4 => 4 5 0; 4; _ => 9 10 4)
    } else if SEAL && pending.is_some() {
        tails!(pending; 0..=2 => 2 3 0, 3..=4 => 4 5 2, 5..=6 => 6 7 4; 6; 7..=8 => 8 9 6, _ => 9 10 8)
    } else if SEAL {
        // Without turns, up to four vectors come here only when much AAD stands before them.
        tails!(None; 0 => 0 1 0, 1..=4 => 4 5 0, 5..=6 => 6 7 4; 6; 7..=8 => 8 9 6, _ => 9 10 8)
    } else {
        tails!(None; 0 => 0 1 0, 1..=2 => 2 3 0, 3..=4 => 4 5 2, 5..=6 => 6 7 4; 6; 7..=8 => 8 9 6, _ => 9 10 8)
    }
}

/// GHASH goes on from `hash`, in lane 0, over `data` padded with zeros: one reduction for every `TURN` vectors. Not woven into
/// anything: for AAD, odd nonces, and verifying before opening.
#[inline(always)]
fn absorb<S: Isa, M: Multiply<S>>(s: S, key: &Material, hash: S::V, data: &[u8]) -> S::V {
    let powers = &key.powers;
    let mut hash = hash;
    for part in data.chunks(TURN * 16 * S::BLOCKS) {
        let blocks = part.len().div_ceil(16);
        let mut n = blocks;
        let mut sum = M::zero(s);
        for bytes in part.chunks(16 * S::BLOCKS) {
            let v = s.xor(s.byte_swap(load_bytes(s, bytes)), hash);
            hash = s.splat(0);
            let lanes = n.min(S::BLOCKS);
            let (first, second) = powers.partly::<S, false>(s, n, 0, lanes);
            sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
            n -= lanes;
        }
        let constant = s.first(powers.constants(s, blocks));
        hash = s.first(s.fold(M::reduce(s, sum, constant)));
    }
    hash
}

/// The lengths block, in bits, mirrored. No overflow: `limits` comes first.
#[inline(always)]
pub(super) fn lengths(aad: &[u8], text: usize) -> Block {
    ((aad.len() as Block * 8) << 64) | (text as Block * 8)
}
