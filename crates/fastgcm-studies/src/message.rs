//! Whole messages in the styles that the papers compare: how many vectors go through AES at once, whether GHASH has a pass of its own, how the
//! tail is read, whether the tag has a reduction of its own, whether powers of H are kept.
//!
//! Stitched is not here: that is the library itself. These are written to be compared with each other, and plainly: a loop where the library
//! has straight-line code.

use crate::{
    aggregate::{Powers, group, packed},
    multiply::{Baseline, Of2010, Sparing},
    tail::{Masked, Overlapping, StackBuffer, Tail},
};
use fastgcm::{
    Backend,
    internals::{Isa, Job, KeyFolded, Multiply, load, round_keys, store},
};

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
    /// Powers of H are made with the key; else for each message.
    pub stored_powers: bool,
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
    key: &mut Key,
    shape: Shape,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &mut [u8],
) -> u128 {
    let j0 = j0(nonce);
    if !shape.stored_powers {
        let h = encrypt(s, key, 0);
        key.powers.fill::<S, M>(s, h, WAYS * S::BLOCKS + 1);
    }
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
        each!(I in 0 1 2 3 4 5 6 7 => { if I < WAYS { x[I] = s.round(x[I], prev, next); } });
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
        x = s.round(x, prev, next);
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

/// A style with a name.
pub trait Style: Copy {
    /// What it is, in a table.
    const NAME: &'static str;
    /// Derives a key.
    fn expand<S: Isa>(s: S, key: &[u8]) -> Key;
    /// Seals or opens.
    fn crypt<S: Isa, const SEAL: bool>(s: S, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> u128;
    /// Counter mode alone, from block `from` of a message on.
    fn keystream<S: Isa>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]);
    /// GHASH alone, from zero.
    fn ghash<S: Isa>(s: S, key: &Key, text: &[u8]) -> u128;
}

macro_rules! styles {
    ($($(#[$doc:meta])* $style:ident $name:literal: $multiply:ty, $ways:literal ways, $tail:ty, two passes $two:literal, folded tag $folded:literal, stored powers $stored:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $style;

            impl Style for $style {
                const NAME: &'static str = $name;

                #[inline(always)]
                fn expand<S: Isa>(s: S, key: &[u8]) -> Key {
                    expand::<S, $multiply, $ways>(s, key)
                }

                #[inline(always)]
                fn crypt<S: Isa, const SEAL: bool>(s: S, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> u128 {
                    let shape = Shape { two_passes: $two, folded_tag: $folded, stored_powers: $stored };
                    crypt::<S, $multiply, $tail, $ways, SEAL>(s, key, shape, nonce, aad, text)
                }

                #[inline(always)]
                fn keystream<S: Isa>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
                    keystream::<S, $tail, $ways>(s, key, nonce, from, text);
                }

                #[inline(always)]
                fn ghash<S: Isa>(s: S, key: &Key, text: &[u8]) -> u128 {
                    packed::<S, $multiply>(s, &key.powers, S::BLOCKS * $ways, 0, text)
                }
            }
        )+

        /// Names of all styles.
        pub const STYLES: &[&str] = &[$($name),+];

        /// All styles, for that back end.
        pub fn styles(backend: Backend) -> Vec<Box<dyn AnyStyle>> {
            vec![$(Box::new(Of::<$style>(backend, std::marker::PhantomData))),+]
        }
    };
}

styles! {
    /// GHASH has a pass of its own, and a reduction for every block.
    TwoPasses "two passes": KeyFolded, 8 ways, Masked, two passes true, folded tag false, stored powers true;
    /// AES and GHASH take turns, 8 vectors each; text and lengths have one reduction.
    Folded "K'": KeyFolded, 8 ways, Masked, two passes false, folded tag true, stored powers true;
    /// The same with the 18 instructions of the baseline.
    FoldedBefore "baseline": Baseline, 8 ways, Masked, two passes false, folded tag true, stored powers true;
    /// AAD, text and lengths have a reduction each.
    ThreeReductions "K', three reductions": KeyFolded, 8 ways, Masked, two passes false, folded tag false, stored powers true;
    /// The same with the baseline.
    ThreeReductionsBefore "baseline, three reductions": Baseline, 8 ways, Masked, two passes false, folded tag false, stored powers true;
    /// Linux on AES-NI before 2024, SSE: 4 blocks, Karatsuba, no multiplications in the reduction.
    LinuxSse "4 blocks, Karatsuba, shifts": Sparing, 4 ways, Masked, two passes false, folded tag false, stored powers true;
    /// And AVX: 8 blocks, powers made for each message.
    LinuxAvx "8 blocks, powers not stored": Sparing, 8 ways, Masked, two passes false, folded tag false, stored powers false;
    /// 2010, standard: one block, one reduction.
    Standard2010 "standard, N = 1": Of2010, 1 ways, Masked, two passes false, folded tag false, stored powers true;
    /// 2010, packed: four blocks, one reduction.
    Packed2010 "packed, N = 4": Of2010, 4 ways, Masked, two passes false, folded tag false, stored powers true;
    /// Linux on Arm before 2019: two at a time, the tail through a buffer, the tag on its own.
    TwoWays "2-way, stack buffer": KeyFolded, 2 ways, StackBuffer, two passes false, folded tag false, stored powers true;
    /// And after: four, overlapping loads, the tag folded in.
    FourWays "4-way, overlapping, folded tag": KeyFolded, 4 ways, Overlapping, two passes false, folded tag true, stored powers true;
    /// Five, which that author found best for counter mode alone.
    FiveWays "5-way, overlapping, folded tag": KeyFolded, 5 ways, Overlapping, two passes false, folded tag true, stored powers true;
}

/// A style whose type is forgotten.
pub trait AnyStyle {
    /// What it is.
    fn name(&self) -> &'static str;
    /// Derives a key of 16, 24 or 32 bytes.
    fn expand(&self, key: &[u8]) -> Option<Key>;
    /// Seals (or opens) in place, and returns the tag that the message has (should have).
    fn crypt(&self, seal: bool, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16];
    /// Counter mode alone, from that block of the message on.
    fn keystream(&self, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]);
    /// GHASH alone, from zero, of whole blocks. The result's highest bit is the block's first.
    fn ghash(&self, key: &Key, text: &[u8]) -> u128;
}

/// A style on a back end.
struct Of<Y>(Backend, std::marker::PhantomData<Y>);

struct Expand<'a, Y>(&'a [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Expand<'_, Y> {
    type Output = Key;

    #[inline(always)]
    fn run<S: Isa, M: Multiply<S>>(self, s: S, _: M) -> Key {
        Y::expand(s, self.0)
    }
}

struct Keystream<'a, Y>(&'a Key, &'a [u8; 12], usize, &'a mut [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Keystream<'_, Y> {
    type Output = ();

    #[inline(always)]
    fn run<S: Isa, M: Multiply<S>>(self, s: S, _: M) {
        Y::keystream(s, self.0, self.1, self.2, self.3);
    }
}

struct Ghash<'a, Y>(&'a Key, &'a [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Ghash<'_, Y> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa, M: Multiply<S>>(self, s: S, _: M) -> u128 {
        Y::ghash(s, self.0, self.1)
    }
}

struct Crypt<'a, Y>(bool, &'a mut Key, &'a [u8; 12], &'a [u8], &'a mut [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Crypt<'_, Y> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa, M: Multiply<S>>(self, s: S, _: M) -> u128 {
        let Self(seal, key, nonce, aad, text, _) = self;
        if seal { Y::crypt::<S, true>(s, key, nonce, aad, text) } else { Y::crypt::<S, false>(s, key, nonce, aad, text) }
    }
}

impl<Y: Style> AnyStyle for Of<Y> {
    fn name(&self) -> &'static str {
        Y::NAME
    }

    fn expand(&self, key: &[u8]) -> Option<Key> {
        self.0.run(Expand::<Y>(key, self.1)).ok()
    }

    fn crypt(&self, seal: bool, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        self.0.run(Crypt::<Y>(seal, key, nonce, aad, text, self.1)).map_or([0; 16], u128::to_le_bytes)
    }

    fn keystream(&self, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]) {
        let _ = self.0.run(Keystream::<Y>(key, nonce, from, text, self.1));
    }

    fn ghash(&self, key: &Key, text: &[u8]) -> u128 {
        self.0.run(Ghash::<Y>(key, text, self.1)).unwrap_or(0)
    }
}
