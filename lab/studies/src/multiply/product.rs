//! 128 bits times 128 bits: 255 bits, as three parts of 128.
//!
//! With a = a0 + a1·x^64 and b likewise, the product is a0·b0 + (a0·b1 + a1·b0)·x^64 + a1·b1·x^128. Sums over many blocks are taken part by
//! part: the middle one is put in its place only once, before the reduction.

use fastgcm::internals::Vectors;

/// A way to the three parts.
pub trait Product<S: Vectors>: Copy {
    /// What is stored for the factor `b`.
    fn table(s: S, b: S::V) -> (S::V, S::V);
    /// The parts of one product, or what [`sum`](Self::sum) makes them of.
    fn product(s: S, a: S::V, first: S::V, second: S::V) -> [S::V; 3];
    /// Low, middle, high: of a sum of products.
    fn sum(s: S, parts: [S::V; 3]) -> [S::V; 3];
}

/// Four multiplications, as one learns it at school.
#[derive(Clone, Copy, Debug, Default)]
pub struct Schoolbook;

impl<S: Vectors> Product<S> for Schoolbook {
    #[inline(always)]
    fn table(_: S, b: S::V) -> (S::V, S::V) {
        (b, b)
    }

    #[inline(always)]
    fn product(s: S, a: S::V, b: S::V, _: S::V) -> [S::V; 3] {
        [s.clmul::<false, false>(a, b), s.xor(s.clmul::<true, false>(a, b), s.clmul::<false, true>(a, b)), s.clmul::<true, true>(a, b)]
    }

    #[inline(always)]
    fn sum(_: S, parts: [S::V; 3]) -> [S::V; 3] {
        parts
    }
}

/// Three: the middle is (a0 + a1)(b0 + b1) + a0·b0 + a1·b1. The sum of the key's halves is stored; the last two terms are added once for
/// a whole sum of products.
#[derive(Clone, Copy, Debug, Default)]
pub struct Karatsuba;

impl<S: Vectors> Product<S> for Karatsuba {
    #[inline(always)]
    fn table(s: S, b: S::V) -> (S::V, S::V) {
        (b, s.xor(b, s.swap_halves(b)))
    }

    #[inline(always)]
    fn product(s: S, a: S::V, b: S::V, both: S::V) -> [S::V; 3] {
        [s.clmul::<false, false>(a, b), s.clmul::<false, false>(s.xor(a, s.swap_halves(a)), both), s.clmul::<true, true>(a, b)]
    }

    #[inline(always)]
    fn sum(s: S, [low, middle, high]: [S::V; 3]) -> [S::V; 3] {
        [low, s.xor3(middle, low, high), high]
    }
}
