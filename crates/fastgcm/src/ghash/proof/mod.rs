//! The proof that every multiplication of the table is that of SP 800-38D, for *all* inputs, and the bond
//! between that proof and the code that the compiler makes.
//!
//! **Proof.** GHASH is written over the operations of [`Vectors`], so it also runs on an
//! instruction set whose bits are polynomials in the bits of the inputs ([`symbolic`]). What comes out is
//! compared with what the standard's own algorithm makes of the same symbols. Polynomials over GF(2) have one
//! normal form: if 128 of them are equal, the two functions are equal for all inputs, 2^256 for a product.
//!
//! What is proved for the multiplication of each row:
//! * a block times a power is the standard's product (the power being stored times x, as `times_x` makes it);
//! * sums of 1 to 8 vectors, a turn, added one by one or three at a time, with the hash of what came before
//!   in the first: the blocks and the powers are all independent symbols, so it holds for whichever powers a
//!   message uses;
//! * a block that meets a power of zero adds nothing;
//! * and the product by which the powers themselves are made.
//!
//! And of a row that looks up nibbles ([`nibbles`]): one block times a power, and two blocks times two.
//!
//! **It can fail**: each of twelve faults is planted in the operations, and wherever one is met, the proof
//! must break.
//!
//! **Bond** (`compiled`). The proof is about the source. The compiled function of each back end is put to
//! all 128 x 128 pairs of single bits, which fix a bilinear function; and to the linearity test of Blum, Luby
//! and Rubinfeld, which a function that is not bilinear on a fraction e of its inputs passes n times with
//! probability (1-e)^n at most. Then whole messages of unit blocks, with hash keys of our choice, on every
//! path.

#[cfg(test)]
mod compiled;
mod nibbles;
mod polynomial;
mod symbolic;
#[cfg(test)]
mod tests;

use super::multiply::{Multiply, fold};
use super::powers::times_x;
use crate::isa::Vectors;
use polynomial::{add, apply, input, standard_product, zero};
use std::{format, string::String};
use symbolic::V;

#[cfg(test)]
pub(crate) use compiled::{fill, products};
pub use symbolic::{Fault, Symbolic};

/// Vectors in a sum: a turn.
const MOST: usize = crate::inout::TURN;

/// What a row hashes with.
#[allow(dead_code, reason = "tests ask for it")]
pub(crate) trait Provable {
    /// All that is to be proved of it. The number of identities, each of 128 polynomials, or the one that
    /// does not hold.
    fn prove(self, fault: Fault) -> Result<usize, String>;
}

/// It, and what short messages take in its place.
impl<M: Multiply<Symbolic>> Provable for M {
    fn prove(self, fault: Fault) -> Result<usize, String> {
        Ok(identities::<M>(fault)? + identities::<M::Short>(fault)?)
    }
}

/// All that is to be proved of one multiplication. The number of identities, each of 128 polynomials, or the
/// one that does not hold.
pub(crate) fn identities<M: Multiply<Symbolic>>(fault: Fault) -> Result<usize, String> {
    symbolic::begin();
    let s = Symbolic(fault);
    let mut identities = 0;
    let mut check = |holds: bool, what: String| {
        identities += 1;
        if holds { Ok(()) } else { Err(what) }
    };

    // Input blocks, numbered: those of the message, their powers, the hash before, what is added last.
    let (hash, extra) = (input(2 * MOST), input(2 * MOST + 1));
    let mut want = extra.clone();
    let mut constants = V::new(extra);
    let mut before = M::zero(s);
    let (mut one_by_one, mut by_three) = (M::zero(s), M::zero(s));
    for n in 0..MOST {
        let (mut block, power) = (input(n), input(MOST + n));
        if n == 0 {
            block = add(&block, &hash);
        }
        want = add(&want, &standard_product(&block, &power));

        let stored = V::new(apply(times_x, &power));
        let (first, second) = M::table(s, stored, fold(s, stored));
        constants = s.xor(constants, M::constant(s, first, second));
        let product = M::product(s, M::ready(s, V::new(block), first, second));
        one_by_one = M::add(s, one_by_one, product);
        check(
            M::reduce(s, one_by_one, constants).lane() == want,
            format!("{} blocks, added one by one", n + 1),
        )?;
        if n % 2 == 1 {
            by_three = M::add3(s, by_three, before, product);
            check(
                M::reduce(s, by_three, constants).lane() == want,
                format!("{} blocks, added three at a time", n + 1),
            )?;
        }
        before = product;
    }

    // Behind the end of the table of powers there are zeros.
    let nothing = s.splat(0);
    let sum = M::product(s, M::ready(s, V::new(input(0)), nothing, nothing));
    check(M::reduce(s, sum, nothing).lane() == zero(), "a block that meets zeros".into())?;
    Ok(identities)
}
