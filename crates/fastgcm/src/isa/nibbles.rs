//! GHASH by looking up nibbles in a register, for processors that permute bytes and cannot multiply
//! polynomials.
//!
//! A block is used as it is in memory: byte j holds the coefficients of x^8j to x^(8j+7), the highest bit
//! first. In
//! ```text
//!     a·H = sum over j of x^8j·(first nibble of byte j)·H + x^8j·(second nibble of byte j)·x^4·H
//! ```
//! there are only sixteen different products nibble·H, and sixteen nibble·x^4·H. Byte p of these products,
//! for all sixteen nibbles, fills one register, and one permutation of that register looks up byte p of the
//! products of *all* nibbles of a block. A register cannot be watched as a cache can, and the time does not
//! depend on the values looked up. The result for p = 15 belongs fifteen bytes behind the result for p = 0.
//! So, by Horner, with p from 15 down to 0, there are two lookups, and then the whole sum moves on by one
//! byte.
//!
//! **Two blocks at a time**, times H^2 and H, share the moves and the reduction: 15.6 ns a block instead of
//! 23.6 (Skylake-SP). Four blocks, with twice the tables in each key, would take 13.2.

#![allow(dead_code, reason = "for rows that most machines lack")]

use super::Isa;
use crate::Block;

/// Sixteen bytes, in the order of memory. Bits are counted as GCM counts them: the first bit of a byte is the
/// highest.
pub(crate) trait Bytes: Copy {
    fn zero() -> Self;
    fn xor(self, other: Self) -> Self;
    /// Returns each byte's first and second nibble, as numbers below 16.
    fn nibbles(self) -> [Self; 2];
    /// Returns, for each byte of `index`, that byte of this vector; 0 for a byte of `index` from 0x80 to 0x8f.
    /// (For other bytes from 16 on machines differ: PSHUFB looks at bit 7 and four bits, TBL and swizzle give 0.)
    fn lookup(self, index: Self) -> Self;
    /// Moves thirty-two bytes, the last of which is zero, one place on.
    fn along(low: Self, high: Self) -> (Self, Self);
    /// Moves the bits of each byte `N` places on. The bits that leave a byte come back at their places in the
    /// next byte.
    fn bits_along<const N: u32>(self) -> (Self, Self);
    /// Returns bytes of this vector and of `other` alternately: the first sixteen, then the last sixteen.
    fn riffle(self, other: Self) -> [Self; 2];
}

/// A row that hashes this way.
pub(crate) trait Permutes: Isa {
    /// Makes the lookups of a power of H.
    fn lookups(self, power: Block, lookups: &mut Lookups<Block>);
    /// Continues GHASH from `hash` over these blocks, with the lookups of H^2 and H.
    fn hash(self, powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block;
}

/// Byte p of nibble·H in row p, first for first nibbles, then for second nibbles.
pub(crate) type Lookups<T> = [[T; 2]; 16];

// (No closures below: one that is not inlined loses the target feature.)

/// Returns the sum of `blocks` times the powers of their lookups.
#[inline(always)]
pub(crate) fn multiply<B: Bytes + From<T>, T: Copy, const N: usize>(
    blocks: [B; N],
    lookups: [&Lookups<T>; N],
) -> B {
    let mut nibbles = [[B::zero(); 2]; N];
    for n in 0..N {
        nibbles[n] = blocks[n].nibbles();
    }
    let (mut low, mut high) = (B::zero(), B::zero());
    each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => {
        let p = 15 - I;
        if I > 0 {
            (low, high) = B::along(low, high);
        }
        for n in 0..N {
            let [first, second] = lookups[n][p];
            low = low.xor(B::from(first).lookup(nibbles[n][0]).xor(B::from(second).lookup(nibbles[n][1])));
        }
    });
    reduce(low, high)
}

/// Returns `low + high·x^128`. The last byte of `high` must be zero, so that one reduction is enough: x^128 =
/// x^7 + x^2 + x + 1.
#[inline(always)]
fn reduce<B: Bytes>(low: B, high: B) -> B {
    let ((one, one_out), (two, two_out), (seven, seven_out)) =
        (high.bits_along::<1>(), high.bits_along::<2>(), high.bits_along::<7>());
    let out = B::along(one_out.xor(two_out).xor(seven_out), B::zero()).0;
    low.xor(high).xor(one).xor(two).xor(seven).xor(out)
}

/// Makes the lookups for multiplication by `h`.
#[inline(always)]
pub(crate) fn lookups<B: Bytes + Into<T>, T>(h: B, lookups: &mut Lookups<T>) {
    // Products of nibbles, whose highest bit is 1; then x, x^2, x^3.
    let mut rows = [B::zero(); 16];
    let mut power = h;
    for bit in [8, 4, 2, 1] {
        rows[bit] = power;
        power = times_x(power);
    }
    for n in 1..16usize {
        let lowest = n & n.wrapping_neg();
        rows[n] = rows[lowest].xor(rows[n - lowest]);
    }
    // The rows are transposed by four riffles.
    for _ in 0..4 {
        let halves = rows;
        for i in 0..8 {
            [rows[2 * i], rows[2 * i + 1]] = halves[i].riffle(halves[i + 8]);
        }
    }
    // Multiplied by x^4: bits that leave a byte enter the next, and bits that leave the last byte come in at
    // the front, as in `reduce`.
    let out = rows[15].bits_along::<4>().1;
    let (one, two, seven) = (out.bits_along::<1>().0, out.bits_along::<2>().0, out.bits_along::<7>());
    let mut enters = [out.xor(one).xor(two).xor(seven.0), seven.1];
    for p in 0..16 {
        let (here, out) = rows[p].bits_along::<4>();
        lookups[p] = [rows[p].into(), here.xor(enters[0]).into()];
        enters = [enters[1].xor(out), B::zero()];
    }
}

#[inline(always)]
fn times_x<B: Bytes>(v: B) -> B {
    let (here, out) = v.bits_along::<1>();
    let (low, high) = B::along(out, B::zero());
    reduce(here.xor(low), high)
}
