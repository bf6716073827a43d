//! Ways to multiply many blocks by powers of H: only the algebra.
//!
//! A multiplication is cut in three steps, so that the bulk loop can spread them between AES rounds.

use crate::isa::Vectors;

/// Returns the low half of `v` times x^63 + x^62 + x^57.
#[inline(always)]
pub(super) fn times_fold<S: Vectors>(s: S, v: S::V) -> S::V {
    s.clmul_by::<63, 62, 57>(v)
}

/// Returns `v·x^-64`.
#[inline(always)]
pub fn fold<S: Vectors>(s: S, v: S::V) -> S::V {
    s.xor(s.swap_halves(v), times_fold(s, v))
}

/// Returns `v·v·x^-128`: a square has no products of two different halves.
#[inline(always)]
pub(super) fn square<S: Vectors>(s: S, v: S::V) -> S::V {
    let (low, high) = (s.clmul::<false, false>(v, v), s.clmul::<true, true>(v, v));
    s.xor(high, fold(s, fold(s, low)))
}

pub trait Multiply<S: Vectors>: Copy {
    /// Blocks combined with their powers.
    type Ready: Copy;
    /// A sum of products, not yet reduced.
    type Sum: Copy;

    /// Whether a block of zeros leaves something in the sum that must be taken out again: see `constant`.
    const CONSTANTS: bool = false;

    /// A way to multiply with these tables that suits short messages where there are many registers.
    type Short: Multiply<S>;

    /// Returns what the two tables of the key hold for a power B and its K = fold(B).
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V);
    /// Returns what the product of a zero block with this entry leaves behind, reduced.
    #[inline(always)]
    fn constant(s: S, _: S::V, _: S::V) -> S::V {
        s.splat(0)
    }

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

/// Declares sums that are several vectors, which are added one by one: `0 1 2` for three vectors. (There are
/// no closures and loops, for the reason that `each!` gives.)
macro_rules! sum_of {
    ($($i:literal)+) => {
        #[inline(always)]
        fn zero(s: S) -> Self::Sum {
            [s.splat(0); [$($i),+].len()]
        }

        #[inline(always)]
        fn add(s: S, a: Self::Sum, b: Self::Sum) -> Self::Sum {
            [$(s.xor(a[$i], b[$i])),+]
        }

        #[inline(always)]
        fn add3(s: S, a: Self::Sum, b: Self::Sum, c: Self::Sum) -> Self::Sum {
            [$(s.xor3(a[$i], b[$i], c[$i])),+]
        }

        #[inline(always)]
        fn pin_sum(s: S, sum: &mut Self::Sum) {
            $(s.pin(&mut sum[$i]);)+
        }
    };
}
pub(super) use sum_of;

/// Three multiplications a block: for CPUs where multiplications are scarce (AMD: one in two cycles).
#[derive(Clone, Copy)]
pub struct Winograd;

impl<S: Vectors> Multiply<S> for Winograd {
    type Short = Crossed;
    type Ready = [S::V; 3];
    type Sum = [S::V; 3];
    const CONSTANTS: bool = true;
    sum_of!(0 1 2);

    #[inline(always)]
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V) {
        (s.low_halves(b, k), s.high_halves(b, k))
    }

    #[inline(always)]
    fn constant(s: S, first: S::V, second: S::V) -> S::V {
        s.xor(fold(s, own(s, first)), own(s, second))
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
    fn reduce(s: S, [y0, y1, shared]: [S::V; 3], extra: S::V) -> S::V {
        let y0 = s.xor(y0, shared);
        let y1 = s.xor3(y1, shared, extra);
        s.xor3(y1, s.swap_halves(y0), times_fold(s, y0))
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, b, c]: &mut [S::V; 3]) {
        s.pin(a);
        s.pin(b);
        s.pin(c);
    }
}

/// Returns the product of a register's own two halves.
#[inline(always)]
fn own<S: Vectors>(s: S, v: S::V) -> S::V {
    s.clmul::<false, true>(v, v)
}

/// [`KeyFolded`] with [`Winograd`]'s tables: four multiplications a block, but a block of zeros leaves
/// nothing in the sum. So a short message, which has few blocks, needs no masks and no constants: a fifth
/// fewer instructions for 16 bytes.
#[derive(Clone, Copy)]
pub struct Crossed;

impl<S: Vectors> Multiply<S> for Crossed {
    type Short = Self;
    /// Blocks, the low halves of B and K, and their high halves.
    type Ready = [S::V; 3];
    /// y0 and y1.
    type Sum = [S::V; 2];
    sum_of!(0 1);

    #[inline(always)]
    fn table(s: S, b: S::V, k: S::V) -> (S::V, S::V) {
        <Winograd as Multiply<S>>::table(s, b, k)
    }

    #[inline(always)]
    fn ready(_: S, a: S::V, low: S::V, high: S::V) -> [S::V; 3] {
        [a, low, high]
    }

    #[inline(always)]
    fn product(s: S, [a, low, high]: [S::V; 3]) -> [S::V; 2] {
        [
            s.xor(s.clmul::<false, true>(a, low), s.clmul::<true, false>(a, low)),
            s.xor(s.clmul::<false, true>(a, high), s.clmul::<true, false>(a, high)),
        ]
    }

    #[inline(always)]
    fn reduce(s: S, sum: [S::V; 2], extra: S::V) -> S::V {
        KeyFolded::reduce(s, sum, extra)
    }

    #[inline(always)]
    fn pin_ready(s: S, ready: &mut [S::V; 3]) {
        KeyFolded::pin_ready(s, ready);
    }
}

/// Four multiplications a block, and fewer of all other instructions: for CPUs that multiply every cycle but
/// have few vector ports (Intel). With a = (a0, a1), B = (B0, B1) and K = fold(B) = (K0, K1), a·B·x^-64 is
/// y1·x^64 + y0 below. Intel's paper of 2023 calls this method K'.
#[derive(Clone, Copy)]
#[allow(dead_code)] // no row of Arm has it
pub struct KeyFolded;

impl<S: Vectors> Multiply<S> for KeyFolded {
    type Short = Self;
    /// Blocks, B, K.
    type Ready = [S::V; 3];
    /// y0 and y1.
    type Sum = [S::V; 2];
    sum_of!(0 1);

    #[inline(always)]
    fn table(_: S, b: S::V, k: S::V) -> (S::V, S::V) {
        (b, k)
    }

    #[inline(always)]
    fn ready(_: S, a: S::V, b: S::V, k: S::V) -> [S::V; 3] {
        [a, b, k]
    }

    #[inline(always)]
    fn product(s: S, [a, b, k]: [S::V; 3]) -> [S::V; 2] {
        [
            s.xor(s.clmul::<false, false>(a, k), s.clmul::<true, false>(a, b)),
            s.xor(s.clmul::<false, true>(a, k), s.clmul::<true, true>(a, b)),
        ]
    }

    #[inline(always)]
    fn reduce(s: S, [y0, y1]: [S::V; 2], extra: S::V) -> S::V {
        s.xor3(s.xor(y1, extra), s.swap_halves(y0), times_fold(s, y0))
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, _, _]: &mut [S::V; 3]) {
        s.pin(a);
    }
}

/// A factor by which many blocks are multiplied, with its fold: it sets up the tables.
pub(super) struct Factor<S: Vectors> {
    pub(super) b: S::V,
    pub(super) k: S::V,
}

impl<S: Vectors> Factor<S> {
    #[inline(always)]
    pub(super) fn new(s: S, b: S::V) -> Self {
        Self { b, k: fold(s, b) }
    }

    /// Returns the first lane of `row`, in every lane. (Its fold is among the folds of which the tables are
    /// made.)
    #[inline(always)]
    pub(super) fn first_lane(s: S, row: S::V) -> Self {
        let splat = |v: S::V| s.splat(s.fold(s.keep_first(v, 16)));
        Self { b: splat(row), k: splat(fold(s, row)) }
    }

    /// Returns `a·b·x^-128`, lane by lane.
    #[inline(always)]
    pub(super) fn times(&self, s: S, a: S::V) -> S::V {
        KeyFolded::reduce(s, KeyFolded::product(s, [a, self.b, self.k]), s.splat(0))
    }
}
