//! 255 bits modulo P: five ways.
//!
//! Blocks are mirrored (docs/ghash.md): the low half of a register has the *high* powers of x, and reducing means to move it up. For a
//! product (low, high) all of these give low·x^-128 + high. The power that the blocks meet is stored times x, which makes up for the
//! one bit by which a mirrored product is short; [`Mirror`] does without that, and shifts the product instead.

use fastgcm::internals::{Bits, fold};
use std::hint::black_box;

/// A way to reduce.
pub trait Reduce<S: Bits>: Copy {
    /// The factor as this reduction wants it; `b` is a power of H times x.
    #[inline(always)]
    fn power(_: S, b: S::V) -> S::V {
        b
    }
    /// `low·x^-128 + high`, lane by lane.
    fn reduce(s: S, low: S::V, high: S::V) -> S::V;
}

/// x^63 + x^62 + x^57 in the low half: what is left of P, mirrored, without its two ends.
const FOLD: u128 = 0xc2 << 56;

/// 64 bits at a time, twice, one after the other: two multiplications. (Intel's papers: linear folding.)
#[derive(Clone, Copy, Debug, Default)]
pub struct Folding;

impl<S: Bits> Reduce<S> for Folding {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        s.xor(fold(s, fold(s, low)), high)
    }
}

/// The multiple of P that clears `low` (its "quotient", 128 bits), then that multiple: three multiplications, the last two at once. Barrett's
/// reduction, mirrored, is Montgomery's. This is the left column of table 11 of the paper of 2023, instruction by instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Montgomery;

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

/// 256 bits to 192 to 128, by a polynomial that is data (the paper of 2010, section 3.3: "generic ... proved to be slower"): its end is
/// multiplied like the rest, although it is 1 in GCM's. Four multiplications. Of P, the 63 coefficients in the middle must be zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Horner;

/// The polynomial: what `fold` takes for granted, and the end.
static POLYNOMIAL: u128 = FOLD | 1 << 64;

impl<S: Bits> Reduce<S> for Horner {
    #[inline(always)]
    fn reduce(s: S, low: S::V, high: S::V) -> S::V {
        let p = s.splat(*black_box(&POLYNOMIAL));
        s.xor(horner(s, horner(s, low, p), p), high)
    }
}

/// One digit of 64 bits less.
#[inline(always)]
fn horner<S: Bits>(s: S, digits: S::V, p: S::V) -> S::V {
    let zero = s.splat(0);
    let end = s.low_halves(zero, s.clmul::<false, true>(digits, p));
    s.xor3(s.high_halves(digits, zero), s.clmul::<false, false>(digits, p), end)
}

/// The same as [`Montgomery`] with shifts: multiplying by a polynomial of three terms is three shifts. For processors on which a carry-less
/// multiplication takes 8 cycles or more (before Haswell).
#[derive(Clone, Copy, Debug, Default)]
pub struct Shifts;

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

/// What x^-1 + x^-2 + x^-7 shifts out of each half at the bottom.
#[inline(always)]
fn out<S: Bits>(s: S, v: S::V) -> S::V {
    s.xor3(s.shift_left::<63>(v), s.shift_left::<62>(v), s.shift_left::<57>(v))
}

/// Shifts the product by the one bit by which it is short, then `R`; the power is not stored times x. That is how it was done (15
/// instructions, says the paper of 2010) before somebody saw that the key can carry the bit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mirror<R>(R);

impl<S: Bits, R: Reduce<S>> Reduce<S> for Mirror<R> {
    /// `b·x^-1`, at set-up: a shift, and P's other end back in where a bit falls out.
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
