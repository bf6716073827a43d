//! Implements whole messages in the styles that the papers compare. They differ in the vectors that go through AES at once, in a pass of its own for
//! GHASH, in the reading of the tail, and in a reduction of its own for the tag.
//!
//! [`styles()`] lists them. Stitched is the library itself, and not here. These styles are written simply, to be compared with each other: a
//! loop where the library has straight-line code.

use crate::{
    aggregate::{Powers, group, packed},
    arm64_2019::tail::{Masked, Overlapping, Right, StackBuffer, Tail},
    multiply::{Baseline, Of2010},
};
use fastgcm::{
    Backend,
    internals::{Bits, Isa, Job, KeyFolded, Multiply, load, round_keys, store},
};
use std::marker::PhantomData;

/// Spells a block out once for each index, which is a constant: in a loop, the states of AES would stand in memory. (As in the library.)
macro_rules! each {
    ($i:ident in $($n:literal)+ => $body:block) => { $({ const $i: usize = $n; $body })+ };
}

/// The round keys and powers of H that are derived from a key.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    keys: [u128; 15],
    rounds: usize,
    powers: Powers,
}

/// The order of the steps of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// AES and GHASH each have a pass over the whole text; otherwise they alternate after each group of vectors.
    pub(crate) two_passes: bool,
    /// The lengths are hashed together with the last blocks; otherwise with a reduction of their own.
    pub(crate) folded_tag: bool,
    /// When sealing, a group is hashed in parallel with the AES of the next one. (When opening, ciphertext need not wait for AES.)
    pub(crate) pipelined: bool,
}

/// Derives a key for `WAYS` vectors at once.
#[inline(always)]
pub(crate) fn expand<S: Isa, M: Multiply<S>, const WAYS: usize>(s: S, bytes: &[u8]) -> Key {
    let (keys, rounds) = round_keys(s, bytes);
    let mut key = Key { keys, rounds, powers: Powers::NONE };
    let h = encrypt(s, &key, 0);
    key.powers.fill::<S, M>(s, h, WAYS * S::BLOCKS + 1);
    key
}

/// Seals or opens in place, `WAYS` vectors at once. Returns the correct tag.
#[inline(always)]
pub(crate) fn crypt<S: Isa, M: Multiply<S>, T: Tail, const WAYS: usize, const SEAL: bool>(
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
    // With vectors of one block, a tail of less than four is processed as in the post of 2019.
    let right = if T::FROM_THE_RIGHT && S::BLOCKS == 1 && WAYS == 4 { text.len() % whole } else { 0 };
    let groups = text.len() - right;
    // With a folded tag, the last part is left for the end, even if it is whole.
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
            // Fewer than 16 bytes are right-aligned in 16.
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

/// Encrypts in counter mode alone, from block `from` of a message on: for threads that share one.
#[inline(always)]
fn keystream<S: Isa, T: Tail, const WAYS: usize>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
    let mut counter = s.add32(s.splat(j0(nonce).swap_bytes() + from as u128), load(s, &LANES[..16 * S::BLOCKS]));
    for part in text.chunks_mut(16 * S::BLOCKS * WAYS) {
        counter = ctr::<S, T, WAYS>(s, &key.keys[..=key.rounds], counter, part);
    }
}

/// Encrypts and hashes the last 1 to 63 bytes, `text[from..]`, of 16 or more, as the post of 2019 does: four loads whatever there is, whose
/// addresses stay where they are if there is nothing before; four blocks of keystream, of which the first may be of no use; blocks, counters and
/// powers of H end on the right. (Its table of permutations shifts the last block; here that is a shift.) Returns the hash.
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
    let _ = before; // it has been added
    M::reduce(s, sum, s.first(key.powers.constants(blocks)))
}

/// Returns the 16 bytes at `at` as a number.
fn read_word(text: &[u8], at: usize) -> u128 {
    text[at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// Returns the pre-counter block of a nonce of 96 bits, its bytes in memory order.
#[inline(always)]
fn j0(nonce: &[u8; 12]) -> u128 {
    let mut j0 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    j0[..12].copy_from_slice(nonce);
    u128::from_le_bytes(j0)
}

/// Encrypts up to `WAYS` vectors in counter mode. AES runs on all of them, whatever the text's length. Returns the next counters.
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

/// Encrypts one block.
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

/// For each lane, the distance of its first counter from J0, mirrored.
static LANES: [u8; 64] = {
    let mut lanes = [0; 64];
    (lanes[0], lanes[16], lanes[32], lanes[48]) = (1, 2, 3, 4);
    lanes
};

/// A style with a name.
pub(crate) trait Style: Copy {
    /// The name in a table.
    const NAME: &'static str;
    /// Derives a key.
    fn expand<S: Isa + Bits>(s: S, key: &[u8]) -> Key;
    /// Seals or opens.
    fn crypt<S: Isa + Bits, const SEAL: bool>(s: S, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> u128;
    /// Encrypts in counter mode alone, from block `from` of a message on.
    fn keystream<S: Isa + Bits>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]);
    /// Hashes alone, from zero.
    fn ghash<S: Isa + Bits>(s: S, key: &Key, text: &[u8]) -> u128;
}

macro_rules! styles {
    ($($(#[$doc:meta])* $style:ident $name:literal: $multiply:ty, $ways:literal ways, $tail:ty, two passes $two:literal, folded tag $folded:literal, pipelined $pipelined:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $style;

            impl Style for $style {
                const NAME: &'static str = $name;

                #[inline(always)]
                fn expand<S: Isa + Bits>(s: S, key: &[u8]) -> Key {
                    expand::<S, $multiply, $ways>(s, key)
                }

                #[inline(always)]
                fn crypt<S: Isa + Bits, const SEAL: bool>(s: S, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> u128 {
                    let shape = Shape { two_passes: $two, folded_tag: $folded, pipelined: $pipelined };
                    crypt::<S, $multiply, $tail, $ways, SEAL>(s, key, shape, nonce, aad, text)
                }

                #[inline(always)]
                fn keystream<S: Isa + Bits>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
                    keystream::<S, $tail, $ways>(s, key, nonce, from, text);
                }

                #[inline(always)]
                fn ghash<S: Isa + Bits>(s: S, key: &Key, text: &[u8]) -> u128 {
                    packed::<S, $multiply>(s, &key.powers, S::BLOCKS * $ways, 0, text)
                }
            }
        )+

        /// The names of all styles.
        pub(crate) const STYLES: &[&str] = &[$($name),+];

        /// Returns all styles for this back end.
        pub(crate) fn styles(backend: Backend) -> Vec<AnyStyle> {
            vec![$(AnyStyle::new::<$style>(backend)),+]
        }
    };
}

styles! {
    /// AES has a pass over the whole text, GHASH another, each 8 vectors at a time, with as many reductions as if they alternated.
    TwoPasses "two passes": KeyFolded, 8 ways, Masked, two passes true, folded tag false, pipelined false;
    /// AES and GHASH alternate, 8 vectors each; text and lengths have one reduction.
    Folded "K'": KeyFolded, 8 ways, Masked, two passes false, folded tag true, pipelined false;
    /// [`Folded`] with the 18 instructions of the baseline.
    FoldedBefore "baseline": Baseline, 8 ways, Masked, two passes false, folded tag true, pipelined false;
    /// AAD, text and lengths have a reduction each.
    ThreeReductions "K', three reductions": KeyFolded, 8 ways, Masked, two passes false, folded tag false, pipelined false;
    /// [`ThreeReductions`] with the baseline.
    ThreeReductionsBefore "baseline, three reductions": Baseline, 8 ways, Masked, two passes false, folded tag false, pipelined false;
    /// 2010, standard: one block, one reduction.
    Standard2010 "standard, N = 1": Of2010, 1 ways, Masked, two passes false, folded tag false, pipelined false;
    /// 2010, packed: four blocks, one reduction.
    Packed2010 "packed, N = 4": Of2010, 4 ways, Masked, two passes false, folded tag false, pipelined false;
    /// [`Packed2010`], pipelined: a group is hashed in parallel with the AES of the next one (section 2.1, figure 2).
    Pipelined2010 "packed, N = 4, pipelined": Of2010, 4 ways, Masked, two passes false, folded tag false, pipelined true;
    /// Linux on Arm before 2019: two at a time, the tail through a buffer, the tag on its own.
    TwoWays "2-way, stack buffer": KeyFolded, 2 ways, StackBuffer, two passes false, folded tag false, pipelined false;
    /// Linux on Arm since 2019: four at a time, the tail at once from the right to the left, the lengths as a block of their own.
    FromTheRight "4-way, tail from the right": KeyFolded, 4 ways, Right, two passes false, folded tag false, pipelined false;
    /// [`FromTheRight`] with our tail: overlapping loads, the tag folded in.
    FourWays "4-way, overlapping, folded tag": KeyFolded, 4 ways, Overlapping, two passes false, folded tag true, pipelined false;
    /// Five at a time, which the author of the post found best for counter mode alone.
    FiveWays "5-way, overlapping, folded tag": KeyFolded, 5 ways, Overlapping, two passes false, folded tag true, pipelined false;
}

/// A style on a back end.
pub(crate) struct AnyStyle {
    pub(crate) name: &'static str,
    backend: Backend,
    answer: fn(Backend, Request<'_>) -> u128,
}

/// A request to a style. The result is a tag or a hash, where there is one.
enum Request<'a> {
    Expand(&'a mut Key, &'a [u8]),
    Crypt(bool, &'a mut Key, &'a [u8; 12], &'a [u8], &'a mut [u8]),
    Keystream(&'a Key, &'a [u8; 12], usize, &'a mut [u8]),
    Ghash(&'a Key, &'a [u8]),
}

struct Answer<'a, Y>(Request<'a>, PhantomData<Y>);

impl<Y: Style> Job for Answer<'_, Y> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> u128 {
        match self.0 {
            Request::Expand(new, key) => *new = Y::expand(s, key),
            Request::Crypt(true, key, nonce, aad, text) => return Y::crypt::<S, true>(s, key, nonce, aad, text),
            Request::Crypt(false, key, nonce, aad, text) => return Y::crypt::<S, false>(s, key, nonce, aad, text),
            Request::Keystream(key, nonce, from, text) => Y::keystream(s, key, nonce, from, text),
            Request::Ghash(key, text) => return Y::ghash(s, key, text),
        }
        0
    }
}

impl AnyStyle {
    fn new<Y: Style>(backend: Backend) -> Self {
        let answer = |backend: Backend, request: Request<'_>| backend.run(Answer(request, PhantomData::<Y>)).unwrap_or(0);
        Self { name: Y::NAME, backend, answer }
    }

    /// Derives a key of 16, 24 or 32 bytes.
    pub(crate) fn expand(&self, key: &[u8]) -> Key {
        let mut new = Key { keys: [0; 15], rounds: 0, powers: Powers::NONE };
        (self.answer)(self.backend, Request::Expand(&mut new, key));
        new
    }

    /// Seals or opens in place. Returns the correct tag.
    pub(crate) fn crypt(&self, seal: bool, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        (self.answer)(self.backend, Request::Crypt(seal, key, nonce, aad, text)).to_le_bytes()
    }

    /// Encrypts in counter mode alone, from block `from` of the message on.
    pub(crate) fn keystream(&self, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
        (self.answer)(self.backend, Request::Keystream(key, nonce, from, text));
    }

    /// Hashes whole blocks alone, from zero. The result's highest bit is the block's first.
    pub(crate) fn ghash(&self, key: &Key, text: &[u8]) -> u128 {
        (self.answer)(self.backend, Request::Ghash(key, text))
    }
}
