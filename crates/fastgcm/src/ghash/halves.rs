//! Multiplications for a machine whose carry-less product takes two low halves or two high ones (Arm's PMULL
//! and PMULL2). Any other pair first costs a move between halves. All of Winograd's products need such a
//! move, and so do two of the four products of K'.
//!
//! llvm-mca decided which of the two a row has (estimates, cycles per block of AES-128, pairs of AESE and
//! AESMC as one): with three-way XOR on Neoverse V1 and V2, `KeyFoldedHalves` takes 5.5 and 5.6 and
//! `Karatsuba` 5.8 and 5.9; without it, on Cortex-A72 and Neoverse N1, K' takes 15.4 and 15.6 and `Karatsuba`
//! 14.6 and 15.3.

use super::multiply::{Multiply, sum_of, times_fold};
use crate::isa::Vectors;

/// Karatsuba: three multiplications a block, and two for a reduction. It is for cores where one pipe does all
/// AES and all multiplications (Cortex-A72, Neoverse N1: a block of AES-128 takes thirteen cycles of that
/// pipe, not fourteen). With a = (a0, a1) and B = (B0, B1), a·B·x^-128 is `hi + fold(mid + fold(lo))`, where
/// lo = a0·B0, hi = a1·B1 and mid = (a0 + a1)(B0 + B1) + lo + hi.
#[derive(Clone, Copy)]
#[allow(dead_code)] // rows of Arm only
pub struct Karatsuba;

impl<S: Vectors> Multiply<S> for Karatsuba {
    type Short = Self;
    /// Blocks, the sum of their halves, B, and the sum of its halves.
    type Ready = [S::V; 4];
    /// lo, hi, and the product from which mid is made.
    type Sum = [S::V; 3];
    sum_of!(0 1 2);

    #[inline(always)]
    fn table(s: S, b: S::V, _: S::V) -> (S::V, S::V) {
        (b, s.xor(b, s.swap_halves(b)))
    }

    #[inline(always)]
    fn ready(s: S, a: S::V, b: S::V, halves: S::V) -> [S::V; 4] {
        [a, s.xor(a, s.swap_halves(a)), b, halves]
    }

    #[inline(always)]
    fn product(s: S, [a, a_halves, b, b_halves]: [S::V; 4]) -> [S::V; 3] {
        [
            s.clmul::<false, false>(a, b),
            s.clmul::<true, true>(a, b),
            s.clmul::<false, false>(a_halves, b_halves),
        ]
    }

    #[inline(always)]
    fn reduce(s: S, [lo, hi, mid]: [S::V; 3], extra: S::V) -> S::V {
        let mid = s.xor3(mid, lo, hi);
        let mid = s.xor3(mid, s.swap_halves(lo), times_fold(s, lo));
        s.xor3(s.xor(hi, extra), s.swap_halves(mid), times_fold(s, mid))
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, halves, _, _]: &mut [S::V; 4]) {
        s.pin(a);
        s.pin(halves);
    }
}

/// [`KeyFolded`](super::KeyFolded) with its factors combined differently: four multiplications a block and
/// the fewest instructions, for cores that have as many pipes for AES and multiplication as for anything else
/// (Neoverse V1 and V2).
#[derive(Clone, Copy)]
#[allow(dead_code)] // rows of Arm only
pub struct KeyFoldedHalves;

impl<S: Vectors> Multiply<S> for KeyFoldedHalves {
    type Short = Self;
    /// Blocks, and the two factors.
    type Ready = [S::V; 3];
    /// The summands of y0 and those of y1, each by halves: with a three-way XOR the four summands of two
    /// blocks take two instructions; added as pairs they would take three.
    type Sum = [S::V; 4];
    sum_of!(0 1 2 3);

    /// (K0, B0) and (K1, B1).
    #[inline(always)]
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V) {
        (s.low_halves(k, b), s.high_halves(k, b))
    }

    #[inline(always)]
    fn ready(_: S, a: S::V, first: S::V, second: S::V) -> [S::V; 3] {
        [a, first, second]
    }

    #[inline(always)]
    fn product(s: S, [a, first, second]: [S::V; 3]) -> [S::V; 4] {
        [
            s.clmul::<false, false>(a, first),
            s.clmul::<true, true>(a, first),
            s.clmul::<false, false>(a, second),
            s.clmul::<true, true>(a, second),
        ]
    }

    #[inline(always)]
    fn reduce(s: S, sum: [S::V; 4], extra: S::V) -> S::V {
        let (y0, y1) = (s.xor(sum[0], sum[1]), s.xor3(sum[2], sum[3], extra));
        s.xor3(y1, s.swap_halves(y0), times_fold(s, y0))
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, _, _]: &mut [S::V; 3]) {
        s.pin(a);
    }
}
