//! What `fastgcm-studies` is made of: the operations, the multiplications, the proof. Feature `internals`;
//! hidden, and without any promise from one version to the next.
//!
//! A variant is a file over [`Vectors`] that implements [`Multiply`], like those of `ghash/multiply.rs`. To
//! promote one, move its file there and name it in a row of `row/table.rs`: nothing else knows of it.

pub use crate::{
    ghash::{
        Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Winograd, fold,
        proof::{Fault, Symbolic, prove},
        times_x,
    },
    isa::{Isa, Vectors},
    row::Job,
};

use crate::{
    Block,
    aes::Schedule,
    inout::{InOut, load_bytes},
};

/// The instruction set of symbols without a fault.
pub const SYMBOLIC: Symbolic = Symbolic::SOUND;

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
    let mut keys = [0; 15];
    for (round, key) in keys[..=schedule.rounds()].iter_mut().enumerate() {
        *key = schedule.key(round);
    }
    (keys, schedule.rounds())
}
