//! Multiplications of two elements of GF(2^128), each a product and a reduction.
//!
//! A product of two blocks has 255 bits; what is left of it modulo P has 128. There are two ways to the first ([`Product`]), and five from there
//! to the second ([`Reduce`]); any two go together, as [`By`], which is a multiplication like those that the library's table names
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

use fastgcm::internals::{self, Bits, KeyFolded, KeyFoldedHalves, Multiply, Vectors, Winograd, fold};
use std::{hint::black_box, marker::PhantomData};

/// A product and a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct By<P, R>(PhantomData<(P, R)>);

/// The 18 instructions of table 11 of the paper of 2023, left column: 7 multiplications, 6 XORs, 5 shifts.
pub(crate) type Baseline = By<Schoolbook, Montgomery>;
/// The multiplication of Intel's papers of 2009 and 2010: Karatsuba, a shift for the mirrored bits, a reduction without multiplications.
pub(crate) type Of2010 = By<Karatsuba, Mirror<Shifts>>;
/// The multiplication of Linux on AES-NI until 2024: Karatsuba and a reduction without multiplications, the key stored times x.
pub(crate) type Sparing = By<Karatsuba, Shifts>;

impl<S: Bits, P: Product<S>, R: Reduce<S>> Multiply<S> for By<P, R> {
    type Short = Self;
    /// The entries of the tables for blocks and powers.
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

/// A visitor of every multiplication.
pub(crate) trait Visit<S: Vectors> {
    /// Sees one of them. To be `#[inline(always)]`.
    fn visit<M: Multiply<S>>(&mut self, name: &'static str, multiply: M);
}

/// Names of all variants, in the order of [`all`].
pub(crate) const NAMES: [&str; 13] = [
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

/// Shows all multiplications to a visitor.
#[inline(always)]
pub(crate) fn all<S: Bits>(_: S, visitor: &mut impl Visit<S>) {
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

/// Multiplies one block by one power and reduces, lane by lane: the step of a hash that waits for each block.
#[inline(always)]
pub(crate) fn step<S: Vectors, M: Multiply<S>>(s: S, block: S::V, (first, second): (S::V, S::V)) -> S::V {
    M::reduce(s, M::product(s, M::ready(s, block, first, second)), M::constant(s, first, second))
}

// ---- 128 bits times 128 bits: 255 bits, as three parts of 128.
//
// With a = a0 + a1·x^64 and b likewise, the product is a0·b0 + (a0·b1 + a1·b0)·x^64 + a1·b1·x^128. Sums over many blocks are taken part by
// part: the middle one is put in its place only once, before the reduction.

/// A multiplication that returns the three parts.
pub(crate) trait Product<S: Vectors>: Copy {
    /// Returns the table entries of the factor `b`.
    fn table(s: S, b: S::V) -> (S::V, S::V);
    /// Returns the parts of one product, or the terms from which [`sum`](Self::sum) computes them.
    fn product(s: S, a: S::V, first: S::V, second: S::V) -> [S::V; 3];
    /// Returns the low, middle and high part of a sum of products.
    fn sum(s: S, parts: [S::V; 3]) -> [S::V; 3];
}

/// The schoolbook product: four multiplications.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Schoolbook;

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

/// The product by three multiplications: the middle is (a0 + a1)(b0 + b1) + a0·b0 + a1·b1. The sum of the key's halves is stored; the last two
/// terms are added once for a whole sum of products.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Karatsuba;

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

// ---- 255 bits modulo P.
//
// Blocks are mirrored (docs/ghash.md): the low half of a register has the *high* powers of x, and reducing means to move it up. For a
// product (low, high) all of these give low·x^-128 + high. The power that the blocks meet is stored times x, which makes up for the
// one bit by which a mirrored product is short; [`Mirror`] does without that, and shifts the product instead.

/// A reduction.
pub(crate) trait Reduce<S: Bits>: Copy {
    /// Returns the factor in this reduction's form; `b` is a power of H times x.
    #[inline(always)]
    fn power(_: S, b: S::V) -> S::V {
        b
    }
    /// Returns `low·x^-128 + high`, lane by lane.
    fn reduce(s: S, low: S::V, high: S::V) -> S::V;
}

/// x^63 + x^62 + x^57 in the low half: what is left of P, mirrored, without its two ends.
const FOLD: u128 = 0xc2 << 56;

/// The reduction by 64 bits at a time, twice, one after the other: two multiplications. (Intel's papers: linear folding.)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Folding;

impl<S: Bits> Reduce<S> for Folding {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        s.xor(fold(s, fold(s, low)), high)
    }
}

/// The reduction by the multiple of P that clears `low` (its "quotient", 128 bits), then that multiple: three multiplications, the last two at
/// once. Barrett's reduction, mirrored, is Montgomery's. This is the left column of table 11 of the paper of 2023, instruction by instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Montgomery;

impl<S: Bits> Reduce<S> for Montgomery {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        // x^63+x^62+x^57 once in the high half, and once with its end x^64 in the low half, shifted by 32 bits to fit.
        let p = s.splat((FOLD << 64) | 0x1_c200_0000);
        let quotient = s.xor(low, s.low_halves(s.splat(0), s.clmul::<true, false>(p, low)));
        let below = s.down_word(s.clmul::<false, false>(p, quotient));
        let above = s.up_word(s.clmul::<false, true>(p, quotient));
        s.xor(s.xor(above, below), high)
    }
}

/// The reduction from 256 bits to 192 to 128 by a polynomial that is data (the paper of 2010, section 3.3: "generic ... proved to be slower"):
/// its end is multiplied like the rest, although it is 1 in GCM's. Four multiplications. Of P, the 63 coefficients in the middle must be zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Horner;

/// The polynomial: what `fold` takes for granted, and the end.
static POLYNOMIAL: u128 = FOLD | 1 << 64;

impl<S: Bits> Reduce<S> for Horner {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        let p = s.splat(*black_box(&POLYNOMIAL));
        s.xor(horner(s, horner(s, low, p), p), high)
    }
}

/// Removes one digit of 64 bits.
#[inline(always)]
fn horner<S: Bits>(s: S, digits: S::V, p: S::V) -> S::V {
    let zero = s.splat(0);
    let end = s.low_halves(zero, s.clmul::<false, true>(digits, p));
    s.xor3(s.high_halves(digits, zero), s.clmul::<false, false>(digits, p), end)
}

/// [`Montgomery`] with shifts: multiplying by a polynomial of three terms is three shifts. For processors on which a carry-less
/// multiplication takes 8 cycles or more (before Haswell).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shifts;

impl<S: Bits> Reduce<S> for Shifts {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        let zero = s.splat(0);
        let quotient = s.xor(low, s.low_halves(zero, out(s, low)));
        // The quotient times 1 + x^-1 + x^-2 + x^-7: what leaves the high half at the bottom comes into the low one at the top.
        let within = s.xor3(s.shift_right::<1>(quotient), s.shift_right::<2>(quotient), s.shift_right::<7>(quotient));
        let across = s.high_halves(out(s, quotient), zero);
        s.xor3(s.xor(quotient, within), across, high)
    }
}

/// Returns what x^-1 + x^-2 + x^-7 shifts out of each half at the bottom.
#[inline(always)]
fn out<S: Bits>(s: S, v: S::V) -> S::V {
    s.xor3(s.shift_left::<63>(v), s.shift_left::<62>(v), s.shift_left::<57>(v))
}

/// The reduction that shifts the product by the one bit by which it is short, then does `R`; the power is not stored times x. That is how it was
/// done (15 instructions, says the paper of 2010) before the key carried the bit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mirror<R>(R);

impl<S: Bits, R: Reduce<S>> Reduce<S> for Mirror<R> {
    /// Returns `b·x^-1`, at set-up: a shift, and P's other end back in where a bit falls out.
    #[inline(always)]
    fn power(s: S, b: S::V) -> S::V {
        let zero = s.splat(0);
        let fallen = s.shift_right::<63>(s.shift_left::<63>(b));
        let shifted = s.xor(s.shift_right::<1>(b), s.high_halves(s.shift_left::<63>(b), zero));
        s.xor(shifted, s.low_halves(zero, s.clmul::<false, false>(fallen, s.splat(0xe1 << 56))))
    }

    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        let zero = s.splat(0);
        let (low_out, high_out) = (s.shift_right::<63>(low), s.shift_right::<63>(high));
        let shifted_low = s.xor(s.shift_left::<1>(low), s.low_halves(zero, low_out));
        let shifted_high = s.xor3(s.shift_left::<1>(high), s.low_halves(zero, high_out), s.high_halves(low_out, zero));
        R::reduce(s, shifted_low, shifted_high)
    }
}
