//! Bits that stand for all their values: polynomials over GF(2) in the bits of the inputs.

use std::{collections::BTreeMap, vec, vec::Vec};

/// A product of at most two input bits. 0 is the empty product, the constant 1.
type Monomial = u64;

/// A sum (XOR) of different monomials, in order. Two polynomials are one function of bits if and only if they
/// are equal here: the algebraic normal form is unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial(Vec<Monomial>);

impl Polynomial {
    pub(super) const ZERO: Self = Self(Vec::new());

    /// The constant 0 or 1.
    pub(super) fn constant(bit: bool) -> Self {
        Self(if bit { vec![0] } else { Vec::new() })
    }

    /// Returns input bit number `n`.
    pub(super) fn input(n: u32) -> Self {
        Self(vec![n as Monomial + 1])
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&self, other: &Self) -> Self {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => sum.extend(a.next()),
                std::cmp::Ordering::Greater => sum.extend(b.next()),
                std::cmp::Ordering::Equal => {
                    a.next();
                    b.next();
                }
            }
        }
        sum.extend(a);
        sum.extend(b);
        Self(sum)
    }

    /// Adds the monomials of a product, of which equal ones may still cancel: see `sum`.
    pub(super) fn product_into(&self, other: &Self, monomials: &mut Vec<Monomial>) {
        for &a in &self.0 {
            monomials.extend(other.0.iter().map(|&b| times(a, b)));
        }
    }

    /// Returns the sum of monomials in any order and number.
    pub(super) fn sum(mut monomials: Vec<Monomial>) -> Self {
        monomials.sort_unstable();
        Self(
            monomials
                .chunk_by(|a, b| a == b)
                .filter(|equal| equal.len() % 2 == 1)
                .map(|equal| equal[0])
                .collect(),
        )
    }
}

/// A bit times itself is itself. GHASH is bilinear, so a third factor is a fault of the proof.
fn times(a: Monomial, b: Monomial) -> Monomial {
    match (a.min(b), a.max(b)) {
        (0, b) => b,
        (a, b) if a == b => a,
        (a, b) => {
            assert!(b <= u32::MAX as Monomial, "a product of three bits");
            a << 32 | b
        }
    }
}

/// 128 bits, the lowest first.
pub(super) type Lane = Vec<Polynomial>;

pub(super) fn zero() -> Lane {
    vec![Polynomial::ZERO; 128]
}

pub(super) fn constant(block: u128) -> Lane {
    (0..128).map(|i| Polynomial::constant(block >> i & 1 == 1)).collect()
}

/// Returns the `n`-th block of input: 128 bits that no other block has.
pub(super) fn input(n: usize) -> Lane {
    (0..128).map(|i| Polynomial::input((128 * n + i) as u32)).collect()
}

pub(super) fn add(a: &[Polynomial], b: &[Polynomial]) -> Lane {
    a.iter().zip(b).map(|(a, b)| a.add(b)).collect()
}

/// Returns the carry-less product of two halves.
pub(super) fn multiply(a: &[Polynomial], b: &[Polynomial]) -> Lane {
    let mut bits: Vec<Vec<Monomial>> = vec![Vec::new(); 128];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| !a.is_zero()) {
        for (j, b) in b.iter().enumerate() {
            a.product_into(b, &mut bits[i + j]);
        }
    }
    bits.into_iter().map(Polynomial::sum).collect()
}

/// Applies a linear function of 128 bits, which its results for single bits determine.
pub(super) fn apply(function: impl Fn(u128) -> u128, lane: &Lane) -> Lane {
    let columns: Vec<u128> = (0..128).map(|i| function(1 << i)).collect();
    (0..128)
        .map(|k| {
            (0..128).filter(|&i| columns[i] >> k & 1 == 1).fold(Polynomial::ZERO, |sum, i| sum.add(&lane[i]))
        })
        .collect()
}

/// Returns X • Y as SP 800-38D prints it (section 6.3, Algorithm 1), on blocks whose first bit is the
/// highest: this is the referee.
pub(super) fn standard_product(x: &Lane, y: &Lane) -> Lane {
    const R: u128 = 0xe1 << 120;
    let mut v = y.clone();
    let mut bits: BTreeMap<usize, Vec<Monomial>> = BTreeMap::new();
    for i in 0..128 {
        for (k, bit) in v.iter().enumerate() {
            x[127 - i].product_into(bit, bits.entry(k).or_default());
        }
        let last = v.remove(0);
        v.push(Polynomial::ZERO);
        for (k, bit) in v.iter_mut().enumerate().filter(|(k, _)| R >> k & 1 == 1) {
            *bit = bit.add(&last);
            debug_assert!(k >= 120);
        }
    }
    bits.into_values().map(Polynomial::sum).collect()
}
