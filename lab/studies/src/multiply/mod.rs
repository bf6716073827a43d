//! Ways to multiply two elements of GF(2^128), each a product and a reduction: the algebra, and nothing else.
//!
//! A product of two blocks has 255 bits; what is left of it modulo P has 128. [`product`] has two ways to the first, [`reduce`] five from
//! there to the second; any two go together, as [`By`], which is a multiplication like those that the library's table names
//! ([`KeyFolded`], [`Winograd`], and for Arm [`internals::Karatsuba`] and [`KeyFoldedHalves`]) and can stand in their place.
//!
//! | in the table of [`all`] | multiplications a block | for each reduction |
//! |---|---|---|
//! | schoolbook + … | 4 | |
//! | Karatsuba + … | 3 | |
//! | … + folding | | 2 |
//! | … + Montgomery | | 3 |
//! | … + Horner | | 4 |
//! | … + shifts | | 0, but 9 shifts |
//! | … + mirror, … | | 6 shifts more: the key is not stored times x |
//! | key-folded (K') | 4 | 1 |
//! | Winograd | 3 | 1 |
//! | Karatsuba of the library: aes-neon | 3 | 2 |
//! | key-folded by halves: aes-neon-eor3 | 4 | 1 |
//!
//! [`plain`] has what needs no instruction for it: a bit at a time, and a table of 16 entries (not in constant time).

pub mod plain;
pub mod product;
pub mod reduce;
pub mod steps_of_2023;

pub use product::{Karatsuba, Product, Schoolbook};
pub use reduce::{Folding, Horner, Mirror, Montgomery, Reduce, Shifts};

use fastgcm::internals::{self, Bits, KeyFolded, KeyFoldedHalves, Multiply, Vectors, Winograd};
use std::marker::PhantomData;

/// A product and a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct By<P, R>(PhantomData<(P, R)>);

/// The 18 instructions of table 11 of the paper of 2023, left column: 7 multiplications, 6 XORs, 5 shifts.
pub type Baseline = By<Schoolbook, Montgomery>;
/// What Intel's papers of 2009 and 2010 taught: Karatsuba, a shift for the mirrored bits, a reduction without multiplications.
pub type Of2010 = By<Karatsuba, Mirror<Shifts>>;
/// What Linux ran on AES-NI until 2024: Karatsuba and a reduction without multiplications, the key stored times x.
pub type Sparing = By<Karatsuba, Shifts>;

impl<S: Bits, P: Product<S>, R: Reduce<S>> Multiply<S> for By<P, R> {
    type Short = Self;
    /// Blocks, and what the tables hold for their powers.
    type Ready = [S::V; 3];
    /// The product's low, middle and high part: 128 bits each, the middle one 64 bits higher than the low one.
    type Sum = [S::V; 3];
    const CONSTANTS: bool = false;

    #[inline(always)]
    fn table(s: S, b: S::V, _: S::V) -> (S::V, S::V) {
        P::table(s, R::power(s, b))
    }

    #[inline(always)]
    fn constant(s: S, _: S::V, _: S::V) -> S::V {
        s.splat(0)
    }

    #[inline(always)]
    fn zero(s: S) -> [S::V; 3] {
        [s.splat(0); 3]
    }

    #[inline(always)]
    fn ready(_: S, a: S::V, first: S::V, second: S::V) -> [S::V; 3] {
        [a, first, second]
    }

    #[inline(always)]
    fn product(s: S, [a, first, second]: [S::V; 3]) -> [S::V; 3] {
        P::product(s, a, first, second)
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
    fn reduce(s: S, sum: [S::V; 3], extra: S::V) -> S::V {
        let zero = s.splat(0);
        let [low, middle, high] = P::sum(s, sum);
        let low = s.xor(low, s.low_halves(zero, middle));
        let high = s.xor(high, s.high_halves(middle, zero));
        s.xor(R::reduce(s, low, high), extra)
    }

    #[inline(always)]
    fn pin_ready(s: S, [a, _, _]: &mut [S::V; 3]) {
        s.pin(a);
    }

    #[inline(always)]
    fn pin_sum(s: S, sum: &mut [S::V; 3]) {
        sum.iter_mut().for_each(|v| s.pin(v));
    }
}

/// Who wants to see every multiplication.
pub trait Visit<S: Vectors> {
    /// This is one of them. To be `#[inline(always)]`.
    fn visit<M: Multiply<S>>(&mut self, name: &'static str, multiply: M);
}

/// Names of all variants, in the order of [`all`].
pub const NAMES: [&str; 13] = [
    "schoolbook + folding",
    "schoolbook + Montgomery",
    "schoolbook + Horner",
    "schoolbook + shifts",
    "schoolbook + mirror, shifts",
    "Karatsuba + folding",
    "Karatsuba + Montgomery",
    "Karatsuba + shifts",
    "Karatsuba + mirror, shifts",
    "key-folded (K')",
    "Winograd",
    "Karatsuba of the library",
    "key-folded by halves",
];

/// Shows all of them.
#[inline(always)]
pub fn all<S: Bits>(_: S, visitor: &mut impl Visit<S>) {
    visitor.visit(NAMES[0], By::<Schoolbook, Folding>::default());
    visitor.visit(NAMES[1], Baseline::default());
    visitor.visit(NAMES[2], By::<Schoolbook, Horner>::default());
    visitor.visit(NAMES[3], By::<Schoolbook, Shifts>::default());
    visitor.visit(NAMES[4], By::<Schoolbook, Mirror<Shifts>>::default());
    visitor.visit(NAMES[5], By::<Karatsuba, Folding>::default());
    visitor.visit(NAMES[6], By::<Karatsuba, Montgomery>::default());
    visitor.visit(NAMES[7], Sparing::default());
    visitor.visit(NAMES[8], Of2010::default());
    visitor.visit(NAMES[9], KeyFolded);
    visitor.visit(NAMES[10], Winograd);
    visitor.visit(NAMES[11], internals::Karatsuba);
    visitor.visit(NAMES[12], KeyFoldedHalves);
}

/// One block times one power, reduced: what a hash does that waits for each block. Lane by lane.
#[inline(always)]
pub fn step<S: Vectors, M: Multiply<S>>(s: S, block: S::V, (first, second): (S::V, S::V)) -> S::V {
    M::reduce(s, M::product(s, M::ready(s, block, first, second)), M::constant(s, first, second))
}
