//! Whole messages in the styles that the papers compare: how many vectors go through AES at once, whether GHASH has a pass of its own, how the
//! tail is read, whether the tag has a reduction of its own.
//!
//! [`styles()`] lists them. Stitched is not here: that is the library itself. These are written to be compared with each other, and plainly: a
//! loop where the library has straight-line code.

pub mod styles;

pub use styles::{AnyStyle, STYLES, Style, styles};

use crate::{
    aggregate::{Powers, group},
    tail::Tail,
};
use fastgcm::internals::{Isa, Multiply, load, round_keys, store};

/// Spells a block out once for each index, which is a constant: in a loop, the states of AES would stand in memory. (As in the library.)
macro_rules! each {
    ($i:ident in $($n:literal)+ => $body:block) => { $({ const $i: usize = $n; $body })+ };
}

/// What is derived from a key.
#[derive(Clone, Debug)]
pub struct Key {
    keys: [u128; 15],
    rounds: usize,
    powers: Powers,
}

/// A way to do a message.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// AES and GHASH each have a pass over the whole text; else they take turns, one group of vectors each.
    pub two_passes: bool,
    /// The lengths are hashed together with the last blocks; else with a reduction of their own.
    pub folded_tag: bool,
}

/// Derives a key for `WAYS` vectors at once.
#[inline(always)]
pub fn expand<S: Isa, M: Multiply<S>, const WAYS: usize>(s: S, bytes: &[u8]) -> Key {
    let (keys, rounds) = round_keys(s, bytes);
    let mut key = Key { keys, rounds, powers: Powers::NONE };
    let h = encrypt(s, &key, 0);
    key.powers.fill::<S, M>(s, h, WAYS * S::BLOCKS + 1);
    key
}

/// Seals or opens in place, `WAYS` vectors at once, and returns the tag that the message has or should have.
#[inline(always)]
pub fn crypt<S: Isa, M: Multiply<S>, T: Tail, const WAYS: usize, const SEAL: bool>(
    s: S,
    key: &Key,
    shape: Shape,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
) -> u128 {
    let j0 = j0(nonce);
    let mut counter = s.add32(s.splat(j0.swap_bytes()), load(s, &LANES[..16 * S::BLOCKS]));
    let lengths = ((aad.len() as u128 * 8) << 64) | (text.len() as u128 * 8);
    let whole = 16 * S::BLOCKS * WAYS;

    let mut hash = s.splat(0);
    /// (No closure: one that is not inlined would be compiled without the features of the row.)
    macro_rules! absorb {
        ($part:expr, $last:expr) => {
            let (part, last): (&[u8], Option<u128>) = ($part, $last);
            if !part.is_empty() || last.is_some() {
                let lanes = group::<S, M, T>(s, &key.powers, hash, part, last);
                hash = s.first(s.fold(lanes));
            }
        };
    }
    for part in aad.chunks(whole) {
        absorb!(part, None);
    }
    if shape.two_passes && !SEAL {
        for part in text.chunks(whole) {
            absorb!(part, None);
        }
    }
    // With a folded tag, the last part is left for the end, be it whole.
    let last_at = text.len().saturating_sub(1) / whole * whole;
    for part in 0..text.len().div_ceil(whole) {
        let at = part * whole;
        let folded = shape.folded_tag && at == last_at;
        let part = &mut text[at..];
        let n = part.len().min(whole);
        let part = &mut part[..n];
        if !SEAL && !shape.two_passes {
            absorb!(part, folded.then_some(lengths));
        }
        counter = ctr::<S, T, WAYS>(s, &key.keys[..=key.rounds], counter, part);
        if SEAL && !shape.two_passes {
            absorb!(part, folded.then_some(lengths));
        }
    }
    if shape.two_passes && SEAL {
        for part in text.chunks(whole) {
            absorb!(part, None);
        }
    }
    if !shape.folded_tag || shape.two_passes || text.is_empty() {
        absorb!(&[], Some(lengths));
    }
    s.fold(s.byte_swap(hash)) ^ encrypt(s, key, j0)
}

/// Counter mode alone, from block `from` of a message on: for threads that share one.
#[inline(always)]
fn keystream<S: Isa, T: Tail, const WAYS: usize>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
    let mut counter = s.add32(s.splat(j0(nonce).swap_bytes() + from as u128), load(s, &LANES[..16 * S::BLOCKS]));
    for part in text.chunks_mut(16 * S::BLOCKS * WAYS) {
        counter = ctr::<S, T, WAYS>(s, &key.keys[..=key.rounds], counter, part);
    }
}

/// The pre-counter block of a nonce of 96 bits, its bytes in memory order.
#[inline(always)]
fn j0(nonce: &[u8; 12]) -> u128 {
    let mut j0 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    j0[..12].copy_from_slice(nonce);
    u128::from_le_bytes(j0)
}

/// Counter mode for up to `WAYS` vectors. AES runs on all of them, whatever the text's length. Returns the next counters.
#[inline(always)]
fn ctr<S: Isa, T: Tail, const WAYS: usize>(s: S, keys: &[u128], mut counter: S::V, text: &mut [u8]) -> S::V {
    let (vector, step) = (16 * S::BLOCKS, s.splat(S::BLOCKS as u128));
    let mut x = [s.state(s.splat(0)); WAYS];
    each!(I in 0 1 2 3 4 5 6 7 => { if I < WAYS {
        x[I] = s.state(s.whiten(s.byte_swap(counter), s.splat(keys[0])));
        counter = s.add32(counter, step);
    } });
    let [first, middle @ .., last] = keys else { return counter };
    let mut prev = s.state(s.splat(*first));
    for key in middle {
        let next = s.state(s.splat(*key));
        each!(I in 0 1 2 3 4 5 6 7 => { if I < WAYS { s.round_between(&mut x[I], &prev, &next); } });
        prev = next;
    }
    let last = s.state(s.splat(*last));
    let (whole, mut odd) = (text.len() / vector, x[0]);
    each!(I in 0 1 2 3 4 5 6 7 => { if I < WAYS {
        if I < whole {
            let part = &mut text[I * vector..][..vector];
            let v = load(s, part);
            store(s, part, s.last_round(x[I], prev, last, v));
        } else if I == whole {
            odd = x[I];
        }
    } });
    if whole * vector < text.len() {
        let v = T::load(s, text, whole * vector);
        T::store(s, text, whole * vector, s.last_round(odd, prev, last, v));
    }
    counter
}

/// AES of one block.
#[inline(always)]
fn encrypt<S: Isa>(s: S, key: &Key, block: u128) -> u128 {
    let [first, middle @ .., last] = &key.keys[..=key.rounds] else { return 0 };
    let mut prev = s.state(s.splat(*first));
    let mut x = s.state(s.whiten(s.first(block), s.splat(*first)));
    for key in middle {
        let next = s.state(s.splat(*key));
        s.round_between(&mut x, &prev, &next);
        prev = next;
    }
    s.fold(s.keep_first(s.last_round(x, prev, s.state(s.splat(*last)), s.splat(0)), 16))
}

/// How far the first counter of lane l is from J0, mirrored.
static LANES: [u8; 64] = {
    let mut lanes = [0; 64];
    (lanes[0], lanes[16], lanes[32], lanes[48]) = (1, 2, 3, 4);
    lanes
};
