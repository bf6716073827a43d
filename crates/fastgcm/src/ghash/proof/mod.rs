//! The proof that every multiplication of the table equals that of SP 800-38D, for *all* inputs, and the bond
//! between this proof and the code that the compiler makes.
//!
//! **Proof.** GHASH is written over the operations of [`Vectors`], so it also runs on an instruction set
//! whose bits are polynomials in the bits of the inputs ([`symbolic`]). The results are compared with what
//! the standard's own algorithm makes of these symbols. Polynomials over GF(2) have one normal form: if 128
//! of them are equal, the two functions are equal for all inputs, 2^256 for a product.
//!
//! The proof covers these facts for the multiplication of each row:
//! * a block times a power is the standard's product (the power is stored times x, as `times_x` makes it);
//! * sums of 1 to 8 vectors, a turn, added one by one or three at a time, with the previous hash in the
//!   first: the blocks and the powers are all independent symbols, so this holds for whichever powers a
//!   message uses;
//! * a block that meets a power of zero adds nothing;
//! * and the product that makes the powers themselves.
//!
//! For a row that looks up nibbles ([`nibbles`]) it covers one block times a power, and two blocks times two.
//!
//! **It can fail**: each of twelve faults is planted in the operations, and wherever a row meets a fault, the
//! proof must break.
//!
//! **Bond** (`compiled`). The proof is about the source. The compiled function of each back end is tested
//! with all 128 x 128 pairs of single bits, which fix a bilinear function. It also takes the linearity test
//! of Blum, Luby and Rubinfeld: a function that is not bilinear on a fraction e of its inputs passes n times
//! with probability at most (1-e)^n. Then come whole messages of unit blocks, with hash keys of our choice,
//! on every path.

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
    /// Proves everything that must hold for it. Returns the number of identities, each of 128 polynomials, or
    /// the identity that does not hold.
    fn prove(self, fault: Fault) -> Result<usize, String>;
}

/// The proof of a multiplication, and of what short messages use in its place.
impl<M: Multiply<Symbolic>> Provable for M {
    fn prove(self, fault: Fault) -> Result<usize, String> {
        Ok(identities::<M>(fault)? + identities::<M::Short>(fault)?)
    }
}

/// Proves everything that must hold for one multiplication. Returns the number of identities, each of 128
/// polynomials, or the identity that does not hold.
pub(crate) fn identities<M: Multiply<Symbolic>>(fault: Fault) -> Result<usize, String> {
    symbolic::begin();
    let s = Symbolic(fault);
    let mut identities = 0;
    let mut check = |holds: bool, what: String| {
        identities += 1;
        if holds { Ok(()) } else { Err(what) }
    };

    // The input blocks are numbered: blocks of the message, their powers, the previous hash, what is added
    // last.
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
