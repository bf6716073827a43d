//! AES and GHASH by permutations of bytes, for machines that have these and no instruction for AES or
//! carry-less multiplication: [`ssse3`](super::ssse3) (x86), [`neon`](super::neon) (AArch64) and
//! [`simd128`](super::simd128) (WebAssembly) are the pages of operations. Everything is looked up in
//! registers, sixteen bytes at a time (PSHUFB, TBL, `i8x16.swizzle`): no lookup touches a cache, and no time
//! depends on the values looked up.
//!
//! **AES** (Hamburg, "Accelerating AES with vector permute instructions", 2009). A register holds one table
//! of sixteen bytes, but the S-box is a function of 256 values. So the field of AES becomes a field over
//! GF(16): x = k + i·θ with θ^2 = aθ + a, two nibbles. With j = i + k,
//! ```text
//!     io = 1/(1/i + a/k) + j        jo = 1/(1/j + a/k) + i
//! ```
//! some algebra gives 1/io = (k + ai)/N and 1/jo = (k + aj)/N, where N = k^2 + aik + ai^2 is the norm of x.
//! Both k/N and i/N are sums of multiples of these, and so is 1/x = (k + i(θ + a))/N. Hence there are five
//! lookups of nibbles, and S(x) is the sum of a lookup by io and a lookup by jo, which may also give the
//! affine map, and twice the S-box for MixColumns. Zero has no inverse: 1/0 is 0x80, which no addition of
//! nibbles brings below 16, and each machine gives 0 for such an index. All four cases (i = 0, k = 0, j = 0, k =
//! ai) come out right, because that is 1/∞.
//!
//! States stay in the basis of the tower between rounds, and ShiftRows is left out as in
//! [`portable`](super::portable): after k rounds column c of row r is found k·r columns further on.
//! MixColumns allows for this, because it permutes bytes anyway. That makes twelve permutations a round.
//!
//! **GHASH** is in [`nibbles`], and everything else comes from [`Portable`].

#![allow(dead_code, unused_macros, unused_imports, reason = "for rows that most machines lack")]

mod tables;

use super::{
    Order,
    nibbles::{self, Bytes, Lookups},
};
use crate::Block;
use tables::{A_OVER, DOUBLE_S, INTO_TOWER, INVERSE, LAST, NEXT_ROW, REVERSED, S, SHIFT_ROWS};

/// What AES needs of a register besides.
pub(super) trait Register: Bytes + From<Block> + Into<Block> {
    /// Returns these bytes.
    fn of(bytes: &[u8; 16]) -> Self;
    /// Returns the next counter, in the lowest four bytes.
    fn one_more(self) -> Self;
}

/// Generates the token of a page and what a row makes of it. Each function is compiled for the page's
/// feature, and melts all of this module into itself. (So there are no closures: one that is not inlined
/// loses the feature.)
///
/// The keys include the constant that the S-box adds: MixColumns leaves four equal bytes as they are. All
/// keys but the last are in the basis of the tower, and moved back by one ShiftRows for each that is left
/// out. Two blocks are encrypted at a time, which hide each other's latency; four at a time are no faster.
macro_rules! permuting {
    ($(#[$doc:meta])* $token:ident, $register:ty, $feature:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $token(());

        type Token = Portable<2, false, $token>;

        impl Token {
            /// Returns the token, which is the proof.
            ///
            /// # Safety
            /// * The processor has the feature: a caller has it enabled.
            #[target_feature(enable = $feature)]
            pub(crate) fn here() -> Self {
                Self($token(()))
            }
        }

        impl SBox for $token {
            fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
                // SAFETY: the token exists.
                unsafe { next_words::<ROTATE>(four, last, rcon) }
            }
        }

        impl Sliced<8> for Token {
            type Key = Block;

            fn round_keys(self, keys: &mut [Block]) {
                // SAFETY: the token exists.
                unsafe { round_keys(keys) };
            }

            fn encrypt(self, keys: &[Block], blocks: &mut [Block; 8], wanted: usize) {
                // SAFETY: the token exists.
                unsafe { encrypt(keys, &mut blocks[..wanted]) };
            }

            fn keystream(self, keys: &[Block], first: Block, order: Order, pads: &mut [Block; 8], wanted: usize) {
                // SAFETY: the token exists.
                unsafe { keystream(keys, first, order, &mut pads[..wanted]) };
            }
        }

        impl Permutes for Token {
            fn lookups(self, power: Block, to: &mut Lookups<Block>) {
                // SAFETY: the token exists.
                unsafe { lookups(power, to) }
            }

            fn hash(self, powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block {
                // SAFETY: the token exists.
                unsafe { ghash(powers, hash, blocks) }
            }
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn next_words<const ROTATE: bool>(four: Block, last: Block, rcon: u8) -> Block {
            permute::next_words::<$register, ROTATE>(four, last, rcon)
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn round_keys(keys: &mut [Block]) {
            permute::round_keys::<$register>(keys)
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn encrypt(keys: &[Block], blocks: &mut [Block]) {
            permute::encrypt::<$register>(keys, blocks)
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn keystream(keys: &[Block], first: Block, order: Order, pads: &mut [Block]) {
            permute::keystream::<$register>(keys, first, order, pads)
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn lookups(power: Block, to: &mut Lookups<Block>) {
            nibbles::lookups(<$register>::from(power), to);
        }

        /// # Safety
        /// * The processor has the feature: a caller has it enabled.
        #[target_feature(enable = $feature)]
        fn ghash(powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block {
            permute::ghash::<$register>(powers, hash, blocks)
        }
    };
}
pub(super) use permuting;

#[inline(always)]
pub(super) fn next_words<B: Register, const ROTATE: bool>(four: Block, last: Block, rcon: u8) -> Block {
    const EACH_WORD: Block = 0x1_00000001_00000001_00000001;
    let word: Block = if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c };
    let (io, jo) = inverse(tower(B::from(last).lookup(B::from(word * EACH_WORD))));
    let mut sums = four;
    sums ^= sums << 32;
    sums ^= sums << 64;
    let added = (0x6363_6363 ^ Block::from(rcon)) * EACH_WORD;
    look(&LAST, io, jo).into() ^ added ^ sums
}

#[inline(always)]
pub(super) fn round_keys<B: Register>(keys: &mut [Block]) {
    if let [first, between @ .., last] = keys {
        *first = tower(B::from(*first)).into();
        for (i, key) in between.iter_mut().enumerate() {
            *key = tower(B::from(*key ^ ADDED)).lookup(B::of(&SHIFT_ROWS[3 * (i + 1) % 4])).into();
        }
        *last ^= ADDED;
    }
}

#[inline(always)]
pub(super) fn encrypt<B: Register>(keys: &[Block], blocks: &mut [Block]) {
    let (pairs, alone) = blocks.as_chunks_mut::<2>();
    for blocks in pairs {
        let x = [B::from(blocks[0]), B::from(blocks[1])];
        rounds(keys, x, blocks);
    }
    for block in alone {
        rounds(keys, [B::from(*block)], core::array::from_mut(block));
    }
}

/// Keeps the counter in a register. (Counters stored for `encrypt` took 2 to 3 % longer.)
#[inline(always)]
pub(super) fn keystream<B: Register>(keys: &[Block], first: Block, order: Order, pads: &mut [Block]) {
    let order = if order == Order::Swapped { &REVERSED } else { &SHIFT_ROWS[0] };
    let mut counter = B::from(first);
    let (pairs, alone) = pads.as_chunks_mut::<2>();
    for pads in pairs {
        let next = counter.one_more();
        rounds(keys, [counter.lookup(B::of(order)), next.lookup(B::of(order))], pads);
        counter = next.one_more();
    }
    for pad in alone {
        rounds(keys, [counter.lookup(B::of(order))], core::array::from_mut(pad));
        counter = counter.one_more();
    }
}

/// Runs the rounds of `N` blocks side by side.
#[inline(always)]
fn rounds<B: Register, const N: usize>(keys: &[Block], mut x: [B; N], to: &mut [Block; N]) {
    let [first, between @ .., last] = keys else { return };
    for x in &mut x {
        *x = tower(*x).xor(B::from(*first));
    }
    for (i, key) in between.iter().enumerate() {
        for x in &mut x {
            *x = round(*x, B::from(*key), &NEXT_ROW[(i + 1) % 4]);
        }
    }
    for n in 0..N {
        to[n] = last_round(x[n], B::from(*last), &SHIFT_ROWS[(keys.len() - 1) % 4]).into();
    }
}

#[inline(always)]
pub(super) fn ghash<B: Register>(powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block {
    let mut hash = B::from(hash);
    let (pairs, alone) = blocks.as_chunks();
    for [first, last] in pairs {
        hash = nibbles::multiply([B::of(first).xor(hash), B::of(last)], [&powers[0], &powers[1]]);
    }
    for block in alone {
        hash = nibbles::multiply([B::of(block).xor(hash)], [&powers[1]]);
    }
    hash.into()
}

// ---- AES

/// The constant that each S-box adds, after the linear map.
const ADDED: Block = 0x63 * (Block::MAX / 0xff);

/// Converts to the basis of the tower: byte i·16 + k for k + iθ.
#[inline(always)]
fn tower<B: Register>(x: B) -> B {
    let [i, k] = x.nibbles();
    look(&INTO_TOWER, i, k)
}

/// Returns io and jo of every byte: the indices for all that depends on its inverse.
#[inline(always)]
fn inverse<B: Register>(x: B) -> (B, B) {
    let [i, k] = x.nibbles();
    let j = i.xor(k);
    let inverses = B::of(&INVERSE);
    let a_over_k = B::of(&A_OVER).lookup(k);
    let (io, jo) = (inverses.lookup(i).xor(a_over_k), inverses.lookup(j).xor(a_over_k));
    (inverses.lookup(io).xor(j), inverses.lookup(jo).xor(i))
}

/// Returns a sum of two lookups.
#[inline(always)]
fn look<B: Register>(table: &[[u8; 16]; 2], first: B, second: B) -> B {
    B::of(&table[0]).lookup(first).xor(B::of(&table[1]).lookup(second))
}

/// Runs SubBytes, MixColumns and AddRoundKey. With s the S-box of a byte, and s1, s2, s3 the S-boxes of the
/// bytes one, two, three rows below, `2·s + 3·s1 + s2 + s3` is `y + y1 + s3` with `y = 2·s + s1`.
#[inline(always)]
fn round<B: Register>(x: B, key: B, [one, three]: &[[u8; 16]; 2]) -> B {
    let (io, jo) = inverse(x);
    let (s, double) = (look(&S, io, jo), look(&DOUBLE_S, io, jo));
    let y = double.xor(s.lookup(B::of(one)));
    y.xor(y.lookup(B::of(one))).xor(s.lookup(B::of(three))).xor(key)
}

#[inline(always)]
fn last_round<B: Register>(x: B, key: B, shift_rows: &[u8; 16]) -> B {
    let (io, jo) = inverse(x);
    look(&LAST, io, jo).lookup(B::of(shift_rows)).xor(key)
}
