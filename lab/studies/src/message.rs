//! Whole messages in the styles that the papers compare: how many vectors go through AES at once, whether GHASH has a pass of its own, how the
//! tail is read, whether the tag has a reduction of its own.
//!
//! [`styles()`] lists them. Stitched is not here: that is the library itself. These are written to be compared with each other, and plainly: a
//! loop where the library has straight-line code.

pub mod styles;

pub use styles::{AnyStyle, STYLES, Style, styles};

use crate::{
    aggregate::{Powers, group},
    tail::{Masked, Tail},
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
    /// Sealing, each group is hashed beside the AES of the one behind it. (Opening, ciphertext need not wait for AES.)
    pub pipelined: bool,
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
    // Vectors of one block, a tail of less than four: it is done as the post of 2019 does it.
    let right = if T::FROM_THE_RIGHT && S::BLOCKS == 1 && WAYS == 4 { text.len() % whole } else { 0 };
    let groups = text.len() - right;
    // With a folded tag, the last part is left for the end, be it whole.
    let last_at = groups.saturating_sub(1) / whole * whole;
    for part in 0..groups.div_ceil(whole) {
        let at = part * whole;
        let folded = (shape.folded_tag && at == last_at).then_some(lengths);
        let part = &mut text[at..groups];
        let n = part.len().min(whole);
        let part = &mut part[..n];
        if !SEAL && !shape.two_passes {
            absorb!(part, folded);
        }
        counter = ctr::<S, T, WAYS>(s, &key.keys[..=key.rounds], counter, part);
        if SEAL && !shape.two_passes && !shape.pipelined {
            absorb!(part, folded);
        }
        if SEAL && shape.pipelined && at > 0 {
            absorb!(&text[at - whole..at], None);
        }
    }
    if SEAL && shape.pipelined && groups > 0 {
        absorb!(&text[last_at..groups], shape.folded_tag.then_some(lengths));
    }
    if right > 0 {
        hash = if text.len() < 16 {
            // Who has less than 16 bytes puts them at the end of so many.
            let (mut sixteen, from) = ([0; 16], 16 - text.len());
            sixteen[from..].copy_from_slice(text);
            let hash = from_the_right::<S, M, SEAL>(s, key, counter, hash, &mut sixteen, from);
            text.copy_from_slice(&sixteen[from..]);
            hash
        } else {
            from_the_right::<S, M, SEAL>(s, key, counter, hash, text, groups)
        };
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

/// The last 1 to 63 bytes, `text[from..]`, of 16 or more, as the post of 2019 has them: four loads whatever there is, whose addresses stay where they are
/// if there is nothing before; four blocks of keystream, of which the first may be of no use; blocks, counters and powers of H end on the right.
/// (Its table of permutations shifts the last block; here that is a shift.) Returns the hash.
#[inline(always)]
fn from_the_right<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    key: &Key,
    counter: S::V,
    hash: S::V,
    text: &mut [u8],
    from: usize,
) -> S::V {
    let tail = text.len() - from;
    let (blocks, rest) = (tail.div_ceil(16), (tail - 1) % 16 + 1);
    let back = |at: usize, there: usize, by: usize| if blocks > there { at - by } else { at };
    let at3 = text.len() - 16;
    let at2 = back(at3, 1, rest);
    let at1 = back(at2, 2, 16);
    let at = [back(at1, 3, 16), at1, at2, at3];
    let cut = 8 * (16 - rest);

    let (mut keystream, first_counter) = ([0; 64], s.splat((blocks as u32).wrapping_sub(4).into()));
    ctr::<S, Masked, 4>(s, &key.keys[..=key.rounds], s.add32(counter, first_counter), &mut keystream);
    let (first, second) = key.powers.from(4);
    let (mut sum, mut before) = (M::zero(s), hash);
    each!(I in 0 1 2 3 => {
        if I + blocks >= 4 {
            let input = read_word(text, at[I]) >> if I == 3 { cut } else { 0 };
            let mut output = input ^ read_word(&keystream, 16 * I);
            if I == 3 {
                output &= u128::MAX >> cut;
                let kept = read_word(text, at[3]) & ((1 << cut) - 1);
                store(s, &mut text[at[3]..][..16], s.first(kept | output << cut));
            } else {
                store(s, &mut text[at[I]..][..16], s.first(output));
            }
            let block = s.xor(s.byte_swap(s.first(if SEAL { output } else { input })), before);
            before = s.splat(0);
            let ready = M::ready(s, block, load(s, &first[16 * I..][..16]), load(s, &second[16 * I..][..16]));
            sum = M::add(s, sum, M::product(s, ready));
        }
    });
    let _ = before; // nobody has it now
    M::reduce(s, sum, s.first(key.powers.constants(blocks)))
}

/// The bytes from there on, as a number.
fn read_word(text: &[u8], at: usize) -> u128 {
    text[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
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
