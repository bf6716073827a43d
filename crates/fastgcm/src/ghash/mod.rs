//! GHASH: the hash of GCM, a polynomial in the hash key H over GF(2^128) (SP 800-38D, section 6.4).
//!
//! **Convention.** GCM numbers bits backwards: the first bit of a block is the coefficient of x^0. Reversing
//! the *bytes* of a block leaves the bits of a 128-bit register mirrored. A carry-less product of two
//! mirrored polynomials is the mirrored product, one bit short. So H is multiplied by x once, when a key is
//! made, and no message ever shifts a bit.
//!
//! **Consequence.** A product is taken times x^-128. One multiplication by x^-64 moves the low half of a
//! number out at the bottom and back in at the top, `fold(a) = swap(a) + low(a)·(x^63+x^62+x^57)`, and costs
//! one carry-less multiplication.
//!
//! **Folding the key (K').** With `K = fold(B)` for a power B of H, a block `a = a0 + a1·x^64` needs
//! ```text
//!     a·B·x^-128 = fold(Y0) + Y1,    Y0 = a0·K0 + a1·B0,    Y1 = a0·K1 + a1·B1
//! ```
//! four carry-less multiplications for each block, but *one* for the reduction of a whole sum of blocks, not
//! two.
//!
//! **Winograd.** Y0 and Y1 are two dot products with the same vector (a0, a1), so they can share a product:
//! ```text
//!     Y0 = (a0 + B0)(a1 + K0) + a0·a1 + B0·K0
//!     Y1 = (a0 + B1)(a1 + K1) + a0·a1 + B1·K1
//! ```
//! These are three multiplications, each of a register's own two halves, without a shuffle. The last terms
//! depend only on the power; the key holds their sum over "the powers from 1 to n", which costs a message one
//! XOR.

#[cfg(any(feature = "hazmat", feature = "rayon"))]
mod exponent;
mod halves;
pub(crate) mod multiply;
mod pairs;
pub(crate) mod powers;
#[cfg(any(test, feature = "internals"))]
pub(crate) mod proof;

#[cfg(any(feature = "hazmat", feature = "rayon"))]
pub(crate) use exponent::Power;
pub use halves::{Karatsuba, KeyFoldedHalves};
pub use multiply::{KeyFolded, Multiply, Winograd};
#[allow(unused_imports)] // a row of x86 has it
pub(crate) use pairs::Nibbles;
pub(crate) use pairs::Pairs;
pub(crate) use powers::{Chains, HasPowers, Powers, PowersForOnce, PowersFrom, aad_lanes, max_powers};
