//! Ways to multiply many blocks by powers of H: the algebra, and nothing else.
//!
//! A multiplication is cut in three steps, so that the bulk loop can spread them between AES rounds.

use crate::{Block, isa::Isa};

/// x^63 + x^62 + x^57 in the low half of a block.
const FOLD: Block = 0xc2 << 56;

/// `v·x^-64`
#[inline(always)]
pub(super) fn fold<S: Isa>(s: S, v: S::V) -> S::V {
    s.xor(s.swap_halves(v), s.clmul::<false, false>(v, s.splat(FOLD)))
}

pub(crate) trait Multiply<S: Isa>: Copy {
    /// Blocks that have met their powers.
    type Ready: Copy;
    /// A sum of products, not yet reduced.
    type Sum: Copy;

    /// What the two tables of the key hold for a power B and its K = fold(B).
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V);
    /// What the product of a zero block with that entry leaves behind, reduced.
    fn constant(s: S, first: S::V, second: S::V) -> S::V;

    fn zero(s: S) -> Self::Sum;
    fn ready(s: S, blocks: S::V, first: S::V, second: S::V) -> Self::Ready;
    fn product(s: S, ready: Self::Ready) -> Self::Sum;
    fn add(s: S, a: Self::Sum, b: Self::Sum) -> Self::Sum;
    fn add3(s: S, a: Self::Sum, b: Self::Sum, c: Self::Sum) -> Self::Sum;
    /// Reduces lane by lane, and adds `extra`.
    fn reduce(s: S, sum: Self::Sum, extra: S::V) -> S::V;

    fn pin_ready(s: S, ready: &mut Self::Ready);
    fn pin_sum(s: S, sum: &mut Self::Sum);
}

/// Three multiplications a block: for CPUs where they are what is scarce (AMD: one in two cycles).
#[derive(Clone, Copy)]
pub(crate) struct Winograd;

impl<S: Isa> Multiply<S> for Winograd {
    type Ready = [S::V; 3];
    type Sum = [S::V; 3];

    #[inline(always)]
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V) {
        (s.low_halves(b, k), s.high_halves(b, k))
    }

    #[inline(always)]
    fn constant(s: S, first: S::V, second: S::V) -> S::V {
        s.xor(fold(s, own(s, first)), own(s, second))
    }

    #[inline(always)]
    fn zero(s: S) -> [S::V; 3] {
        [s.splat(0); 3]
    }

    #[inline(always)]
    fn ready(s: S, a: S::V, first: S::V, second: S::V) -> [S::V; 3] {
        [s.xor(a, first), s.xor(a, second), a]
    }

    #[inline(always)]
    fn product(s: S, [y0, y1, a]: [S::V; 3]) -> [S::V; 3] {
        [own(s, y0), own(s, y1), own(s, a)]
    }

    #[inline(always)]
    fn add(s: S, a: [S::V; 3], b: [S::V; 3]) -> [S::V; 3] {
        [s.xor(a[0], b[0]), s.xor(a[1], b[1]), s.xor(a[2], b[2])]
    }

    #[inline(always)]
    fn add3(s: S, a: [S::V; 3], b: [S::V; 3], c: [S::V; 3]) -> [S::V; 3] {
        [s.xor3(a[0], b[0], c[0]), s.xor3(a[1], b[1], c[1]), s.xor3(a[2], b[2], c[2])]
    }

    #[inline(always)]
    fn reduce(s: S, [y0, y1, shared]: [S::V; 3], extra: S::V) -> S::V {
        let y0 = s.xor(y0, shared);
        let y1 = s.xor3(y1, shared, extra);
        s.xor3(y1, s.swap_halves(y0), s.clmul::<false, false>(y0, s.splat(FOLD)))
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, b, c]: &mut [S::V; 3]) {
        s.pin(a);
        s.pin(b);
        s.pin(c);
    }

    #[inline(always)]
    fn pin_sum(s: S, [a, b, c]: &mut [S::V; 3]) {
        s.pin(a);
        s.pin(b);
        s.pin(c);
    }
}

/// The product of a register's own two halves.
#[inline(always)]
fn own<S: Isa>(s: S, v: S::V) -> S::V {
    s.clmul::<false, true>(v, v)
}

/// A factor that many blocks are multiplied by, with its fold: the setting up of the tables.
pub(super) struct FoldedKey<S: Isa> {
    b: S::V,
    k: S::V,
}

impl<S: Isa> FoldedKey<S> {
    #[inline(always)]
    pub(super) fn new(s: S, b: S::V) -> Self {
        Self { b, k: fold(s, b) }
    }

    /// `a·b·x^-128`, lane by lane.
    #[inline(always)]
    pub(super) fn multiply(&self, s: S, a: S::V) -> S::V {
        let (b, k) = (self.b, self.k);
        let y0 = s.xor(s.clmul::<false, false>(a, k), s.clmul::<true, false>(a, b));
        let y1 = s.xor(s.clmul::<false, true>(a, k), s.clmul::<true, true>(a, b));
        s.xor(y1, fold(s, y0))
    }
}
