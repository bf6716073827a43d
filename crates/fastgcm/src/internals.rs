//! The parts that `fastgcm-papers` builds on: the operations, the multiplications, the proof. They need
//! feature `internals`, are hidden, and may change in any version.
//!
//! A variant is a file over [`Vectors`] that implements [`Multiply`], like the variants in
//! `ghash/multiply.rs`. To promote a variant, move its file there and name it in a row of `row/table.rs`: no
//! other code knows it.

pub use crate::{
    ghash::{
        Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Winograd,
        multiply::fold,
        powers::times_x,
        proof::{Fault, Symbolic},
    },
    isa::{Isa, Vectors, bits::Bits},
    row::table::Job,
};

use crate::{
    Block,
    aes::{Schedule, WOVEN},
    ghash::proof,
    inout::{InOut, load_bytes},
};
use std::string::String;

/// The instruction set of symbols, without a fault.
pub const SYMBOLIC: Symbolic = Symbolic(Fault::None);

impl Bits for Symbolic {}

/// Proves everything that must hold for one multiplication. Returns the number of identities, each of 128
/// polynomials, or the identity that does not hold.
pub fn prove<M: Multiply<Symbolic>>(_: M, fault: Fault) -> Result<usize, String> {
    proof::identities::<M>(fault)
}

/// Whether this build wipes the stack and the registers after each call. A program that measures must say so:
/// Cargo unifies the features of all packages that it builds at once, and so may enable `scrub` unasked.
pub const SCRUB: bool = cfg!(feature = "scrub");

/// Loads the first `bytes.len() <= 16 * BLOCKS` bytes of a vector, with zeros behind them.
#[inline(always)]
pub fn load<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    load_bytes(s, bytes)
}

/// Writes `bytes.len() <= 16 * BLOCKS` bytes of a vector.
#[inline(always)]
pub fn store<S: Vectors>(s: S, bytes: &mut [u8], v: S::V) {
    InOut::in_place(bytes).store::<S, 0, 0>(s, v);
}

/// Returns all AES round keys, and how many rounds they are for: there is one key more than there are rounds.
#[inline(always)]
pub fn round_keys<S: Isa>(s: S, key: &[u8]) -> ([Block; 15], usize) {
    let mut schedule = Schedule::ZERO;
    schedule.expand::<S, false>(s, key);
    let (mut keys, more, rounds) = ([0; 15], schedule.size as usize, schedule.rounds());
    keys[..more].copy_from_slice(&schedule.keys[..more]);
    keys[more..rounds].copy_from_slice(&schedule.keys[WOVEN..][..10]);
    keys[rounds] = schedule.last;
    (keys, rounds)
}
