//! What `fastgcm-studies` is made of: the operations, the multiplications, the proof. Feature `internals`;
//! hidden, and without any promise from one version to the next.
//!
//! A variant is a file over [`Vectors`] that implements [`Multiply`], like those of `ghash/multiply.rs`. To
//! promote one, move its file there and name it in a row of `row/table.rs`: nothing else knows of it.

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

/// The instruction set of symbols without a fault.
pub const SYMBOLIC: Symbolic = Symbolic(Fault::None);

impl Bits for Symbolic {}

/// All that is to be proved of one multiplication. The number of identities, each of 128 polynomials, or the
/// one that does not hold.
pub fn prove<M: Multiply<Symbolic>>(_: M, fault: Fault) -> Result<usize, String> {
    proof::identities::<M>(fault)
}

/// Whether this build wipes the stack and the registers after each call. What measures says so: Cargo unifies
/// the features of all packages that it builds at once, and so may turn it on unasked.
pub const SCRUB: bool = cfg!(feature = "scrub");

/// The first `bytes.len() <= 16 * BLOCKS` bytes of a vector; zeros behind.
#[inline(always)]
pub fn load<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    load_bytes(s, bytes)
}

/// Writes `bytes.len() <= 16 * BLOCKS` bytes of a vector.
#[inline(always)]
pub fn store<S: Vectors>(s: S, bytes: &mut [u8], v: S::V) {
    InOut::in_place(bytes).store::<S, 0, 0>(s, v);
}

/// AES round keys, the last included, and how many rounds they are for: there is one key more.
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
