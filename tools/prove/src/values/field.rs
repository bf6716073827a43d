//! Evaluates formal polynomials over GF(2) at two points of GF(2^64).
//!
//! A [`Bit`] is the value of a polynomial at two random points, which are drawn independently. A polynomial that is
//! not zero, of degree d, is zero at one of them with a probability of at most d / 2^64 (Schwartz, Zippel), at
//! both with the square of that. So different polynomials are distinguished.
//! The constants 0 and 1 are themselves at each point; nothing else is a number.

use std::ops::{BitXor, BitXorAssign, Range};

/// A bit, lifted: the value of its polynomial at each of two points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[repr(C, align(16))]
pub struct Bit(pub u64, pub u64);

/// Bit 0 is the least significant one.
pub type Byte = [Bit; 8];
/// A block of AES.
pub type Block = [Byte; 16];

/// The number 0.
pub const O: Bit = Bit(0, 0);
/// The number 1.
pub const I: Bit = Bit(1, 1);

impl BitXor for Bit {
    type Output = Bit;
    #[inline(always)]
    fn bitxor(self, other: Bit) -> Bit {
        Bit(self.0 ^ other.0, self.1 ^ other.1)
    }
}

impl BitXorAssign for Bit {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Bit) {
        *self = *self ^ other;
    }
}

impl From<bool> for Bit {
    fn from(one: bool) -> Bit {
        if one { I } else { O }
    }
}

impl Bit {
    /// Returns the number, if it is one.
    #[inline(always)]
    pub fn number(self) -> Option<bool> {
        match self {
            O => Some(false),
            I => Some(true),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn inverted(self) -> Bit {
        self ^ I
    }

    /// Returns the product of polynomials.
    pub fn times(self, other: Bit) -> Bit {
        match (self, other) {
            (O, _) | (_, O) => O,
            (I, x) | (x, I) => x,
            _ => {
                let mut sum = Sums::new(1);
                sum.add(0, self, &[other]);
                sum.reduced()[0]
            }
        }
    }

    /// Returns the inverse at each point, or `None` for zero.
    pub fn inverse(self) -> Bit {
        // To the power of 2^64 - 2.
        let squares = std::iter::successors(Some(self.times(self)), |square| Some(square.times(*square)));
        squares.take(63).fold(I, Bit::times)
    }

    /// Returns the AND of two bits. For equal bits it is the bit, where a product would be a square: another
    /// polynomial for one function. Products of GHASH are polynomials in code and standard alike, and are not computed
    /// here.
    pub fn and(self, other: Bit) -> Bit {
        if self == other {
            self
        } else if self == other.inverted() {
            O
        } else {
            self.times(other)
        }
    }

    /// Returns true if the AND of two bits is a product that is neither a number nor one of them.
    pub fn multiplies(self, other: Bit) -> bool {
        self.number().is_none() && other.number().is_none() && self != other && self != other.inverted()
    }

    pub fn or(self, other: Bit) -> Bit {
        self ^ other ^ self.and(other)
    }
}

/// Returns one if all of these are zero. Code that folds bits by OR in any order computes this polynomial, as long as
/// it uses each bit once.
pub fn none<'a>(bits: impl IntoIterator<Item = &'a Bit>) -> Bit {
    bits.into_iter().fold(I, |product, &bit| product.times(bit.inverted()))
}

/// Returns a byte that is a number.
pub fn byte(n: u8) -> Byte {
    std::array::from_fn(|i| Bit::from(n >> i & 1 == 1))
}

pub fn bytes(of: &[u8]) -> Vec<Byte> {
    of.iter().map(|&n| byte(n)).collect()
}

/// Returns the number of these bits, if all of them are numbers.
#[inline]
pub fn number(bits: &[Bit]) -> Option<u64> {
    bits.iter().enumerate().try_fold(0, |n, (i, bit)| Some(n | u64::from(bit.number()?) << i))
}

/// Returns the bytes, if all of them are numbers.
pub fn numbers(bytes: &[Byte]) -> Option<Vec<u8>> {
    bytes.iter().map(|byte| Some(number(byte)? as u8)).collect()
}

/// Returns the lowest `N` bits of a number.
pub fn lifted<const N: usize>(n: u64) -> [Bit; N] {
    std::array::from_fn(|i| Bit::from(i < 64 && n >> i & 1 == 1))
}

pub fn xor<const N: usize>(a: &[Bit; N], b: &[Bit; N]) -> [Bit; N] {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// Sums of products that are not reduced yet, for each point.
#[derive(Debug)]
pub struct Sums([Vec<u128>; 2]);

impl Sums {
    pub fn new(n: usize) -> Self {
        Self([vec![0; n], vec![0; n]])
    }

    /// Adds `p` times each of `q`, from the sum `at` on.
    pub fn add(&mut self, at: usize, p: Bit, q: &[Bit]) {
        let [low, high] = &mut self.0;
        let (low, high) = (&mut low[at..][..q.len()], &mut high[at..][..q.len()]);
        match p {
            O => {}
            I => q.iter().zip(low).zip(high).for_each(|((q, low), high)| {
                *low ^= u128::from(q.0);
                *high ^= u128::from(q.1);
            }),
            // SAFETY: the processor has the features of the function.
            _ if is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx512f") => unsafe {
                wide::add(low, high, p, q);
            },
            // SAFETY: `main` has checked for carry-less multiplication.
            _ => unsafe { narrow::add(low, high, p, q) },
        }
    }

    pub fn reduced(&self) -> Vec<Bit> {
        // SAFETY: as above.
        self.0[0].iter().zip(&self.0[1]).map(|(&low, &high)| unsafe { Bit(narrow::reduce(low), narrow::reduce(high)) }).collect()
    }
}

mod narrow {
    use super::Bit;
    use std::arch::x86_64::{__m128i, _mm_clmulepi64_si128, _mm_set_epi64x};

    #[target_feature(enable = "pclmulqdq")]
    fn product(a: u64, b: u64) -> u128 {
        let vector = |n: u64| -> __m128i { _mm_set_epi64x(0, n as i64) };
        let product = _mm_clmulepi64_si128::<0>(vector(a), vector(b));
        // SAFETY: bits are bits.
        unsafe { std::mem::transmute(product) }
    }

    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn add(low: &mut [u128], high: &mut [u128], p: Bit, q: &[Bit]) {
        for ((q, low), high) in q.iter().zip(low).zip(high) {
            *low ^= product(p.0, q.0);
            *high ^= product(p.1, q.1);
        }
    }

    /// Reduces modulo x^64 + x^4 + x^3 + x + 1.
    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn reduce(x: u128) -> u64 {
        let once = product((x >> 64) as u64, 0x1b);
        let twice = product((once >> 64) as u64, 0x1b);
        x as u64 ^ once as u64 ^ twice as u64
    }
}

mod wide {
    use super::{Bit, narrow};
    use std::arch::x86_64::{
        __m512i, _mm512_clmulepi64_epi128, _mm512_loadu_si512, _mm512_set_epi64, _mm512_storeu_si512, _mm512_xor_si512,
    };

    /// Adds products, four at a time.
    #[target_feature(enable = "pclmulqdq,vpclmulqdq,avx512f")]
    pub(super) fn add(low: &mut [u128], high: &mut [u128], p: Bit, q: &[Bit]) {
        let (a, b) = (p.0 as i64, p.1 as i64);
        let p4 = _mm512_set_epi64(b, a, b, a, b, a, b, a);
        let (fours, rest) = q.as_chunks::<4>();
        let (low4, low1) = low.as_chunks_mut::<4>();
        let (high4, high1) = high.as_chunks_mut::<4>();
        for ((q, low), high) in fours.iter().zip(low4).zip(high4) {
            // SAFETY: each is an array of 64 bytes.
            unsafe {
                let q = _mm512_loadu_si512(q.as_ptr().cast::<__m512i>());
                let (low, high) = (low.as_mut_ptr().cast::<__m512i>(), high.as_mut_ptr().cast::<__m512i>());
                _mm512_storeu_si512(low, _mm512_xor_si512(_mm512_loadu_si512(low), _mm512_clmulepi64_epi128::<0>(p4, q)));
                _mm512_storeu_si512(high, _mm512_xor_si512(_mm512_loadu_si512(high), _mm512_clmulepi64_epi128::<0x11>(p4, q)));
            }
        }
        narrow::add(low1, high1, p, rest);
    }
}

/// Returns the ranges of elements of `bits` bits each in a vector of `n`.
pub fn elements(n: usize, bits: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n / bits).map(move |j| j * bits..(j + 1) * bits)
}

/// Bits, with a bound of the degree of their polynomials for each eight of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub bits: Vec<Bit>,
    pub degrees: Vec<u32>,
}

impl Vector {
    pub fn zeros(bits: usize) -> Self {
        Self { bits: vec![O; bits], degrees: vec![0; bits / 8] }
    }

    pub fn len(&self) -> usize {
        self.bits.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    pub fn resize(&mut self, bits: usize) {
        self.bits.resize(bits, O);
        self.degrees.resize(bits / 8, 0);
    }

    /// Returns a part of the bits, in whole bytes.
    pub fn part(&self, range: Range<usize>) -> Self {
        Self { bits: self.bits[range.clone()].to_vec(), degrees: self.degrees[range.start / 8..range.end / 8].to_vec() }
    }

    pub fn push(&mut self, part: &Self) {
        self.bits.extend_from_slice(&part.bits);
        self.degrees.extend_from_slice(&part.degrees);
    }

    /// Replaces a part of the bits.
    pub fn replace(&mut self, at: usize, part: &Self) {
        self.bits[at..at + part.len()].copy_from_slice(&part.bits);
        self.degrees[at / 8..at / 8 + part.degrees.len()].copy_from_slice(&part.degrees);
    }

    /// Returns the largest degree of a part.
    pub fn degree(&self, range: Range<usize>) -> u32 {
        self.degrees[range.start / 8..range.end.div_ceil(8)].iter().copied().fold(0, u32::max)
    }
}
