//! The styles by name, and a way to list them: a style is a line of the table below.

use super::{Key, Shape, crypt, expand, keystream};
use crate::{
    aggregate::packed,
    multiply::{Baseline, Of2010},
    tail::{Masked, Overlapping, Right, StackBuffer},
};
use fastgcm::{
    Backend,
    internals::{Bits, Isa, Job, KeyFolded, Multiply},
};

/// A style with a name.
pub trait Style: Copy {
    /// What it is, in a table.
    const NAME: &'static str;
    /// Derives a key.
    fn expand<S: Isa + Bits>(s: S, key: &[u8]) -> Key;
    /// Seals or opens.
    fn crypt<S: Isa + Bits, const SEAL: bool>(s: S, key: &mut Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> u128;
    /// Counter mode alone, from block `from` of a message on.
    fn keystream<S: Isa + Bits>(s: S, key: &Key, nonce: &[u8; 12], from: usize, text: &mut [u8]);
    /// GHASH alone, from zero.
    fn ghash<S: Isa + Bits>(s: S, key: &Key, text: &[u8]) -> u128;
}

macro_rules! styles {
    ($($(#[$doc:meta])* $style:ident $name:literal: $multiply:ty, $ways:literal ways, $tail:ty, two passes $two:literal, folded tag $folded:literal, pipelined $pipelined:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $style;

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

        /// Names of all styles.
        pub const STYLES: &[&str] = &[$($name),+];

        /// All styles, for that back end.
        pub fn styles(backend: Backend) -> Vec<Box<dyn AnyStyle>> {
            vec![$(Box::new(Of::<$style>(backend, std::marker::PhantomData))),+]
        }
    };
}

styles! {
    /// AES has a pass over the whole text, GHASH another, each 8 vectors at a time: as many reductions as if they took turns.
    TwoPasses "two passes": KeyFolded, 8 ways, Masked, two passes true, folded tag false, pipelined false;
    /// AES and GHASH take turns, 8 vectors each; text and lengths have one reduction.
    Folded "K'": KeyFolded, 8 ways, Masked, two passes false, folded tag true, pipelined false;
    /// The same with the 18 instructions of the baseline.
    FoldedBefore "baseline": Baseline, 8 ways, Masked, two passes false, folded tag true, pipelined false;
    /// AAD, text and lengths have a reduction each.
    ThreeReductions "K', three reductions": KeyFolded, 8 ways, Masked, two passes false, folded tag false, pipelined false;
    /// The same with the baseline.
    ThreeReductionsBefore "baseline, three reductions": Baseline, 8 ways, Masked, two passes false, folded tag false, pipelined false;
    /// 2010, standard: one block, one reduction.
    Standard2010 "standard, N = 1": Of2010, 1 ways, Masked, two passes false, folded tag false, pipelined false;
    /// 2010, packed: four blocks, one reduction.
    Packed2010 "packed, N = 4": Of2010, 4 ways, Masked, two passes false, folded tag false, pipelined false;
    /// And pipelined: a group is hashed beside the AES of the next one (section 2.1, figure 2).
    Pipelined2010 "packed, N = 4, pipelined": Of2010, 4 ways, Masked, two passes false, folded tag false, pipelined true;
    /// Linux on Arm before 2019: two at a time, the tail through a buffer, the tag on its own.
    TwoWays "2-way, stack buffer": KeyFolded, 2 ways, StackBuffer, two passes false, folded tag false, pipelined false;
    /// And after: four, the tail at once from the right to the left, the lengths as a block of their own.
    FromTheRight "4-way, tail from the right": KeyFolded, 4 ways, Right, two passes false, folded tag false, pipelined false;
    /// The same with ours for the tail: overlapping loads, the tag folded in.
    FourWays "4-way, overlapping, folded tag": KeyFolded, 4 ways, Overlapping, two passes false, folded tag true, pipelined false;
    /// Five, which that author found best for counter mode alone.
    FiveWays "5-way, overlapping, folded tag": KeyFolded, 5 ways, Overlapping, two passes false, folded tag true, pipelined false;
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
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Key {
        Y::expand(s, self.0)
    }
}

struct Keystream<'a, Y>(&'a Key, &'a [u8; 12], usize, &'a mut [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Keystream<'_, Y> {
    type Output = ();

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) {
        Y::keystream(s, self.0, self.1, self.2, self.3);
    }
}

struct Ghash<'a, Y>(&'a Key, &'a [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Ghash<'_, Y> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> u128 {
        Y::ghash(s, self.0, self.1)
    }
}

struct Crypt<'a, Y>(bool, &'a mut Key, &'a [u8; 12], &'a [u8], &'a mut [u8], std::marker::PhantomData<Y>);

impl<Y: Style> Job for Crypt<'_, Y> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> u128 {
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
