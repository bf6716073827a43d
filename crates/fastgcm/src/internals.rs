//! What `fastgcm-studies` is made of: the operations, the multiplications, the proof, and the library's own message around any
//! multiplication. Feature `internals`; hidden, and without any promise from one version to the next.
//!
//! A variant is a file over [`Isa`] that implements [`Multiply`], like those of `ghash/multiply.rs`. To promote one, move its file there and
//! name it in a row of `backend.rs`: nothing else knows of it.

pub use crate::{
    backend::Job,
    ghash::{
        Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Winograd, fold,
        proof::{Fault, Symbolic, met as fault_met, prove},
        times_x,
    },
    isa::Isa,
};

use crate::{
    Block,
    aes::Schedule,
    gcm::{self, Path},
    inout::{InOut, load_bytes},
    key::Material,
    nonce::{Kind, Nonce},
};
use zeroize::Zeroize;

/// The first `bytes.len() <= 16 * BLOCKS` bytes of a vector; zeros behind.
#[inline(always)]
pub fn load<S: Isa>(s: S, bytes: &[u8]) -> S::V {
    load_bytes(s, bytes)
}

/// Writes `bytes.len() <= 16 * BLOCKS` bytes of a vector.
#[inline(always)]
pub fn store<S: Isa>(s: S, bytes: &mut [u8], v: S::V) {
    InOut::in_place(bytes).store::<S, 0>(s, v);
}

/// AES round keys, the last included, and how many rounds they are for: there is one key more.
#[inline(always)]
pub fn round_keys<S: Isa>(s: S, key: &[u8]) -> ([Block; 15], usize) {
    let mut schedule = Schedule::ZERO;
    schedule.expand(s, key);
    let mut keys = [0; 15];
    keys[..schedule.rounds].copy_from_slice(&schedule.keys[..schedule.rounds]);
    keys[schedule.rounds] = schedule.last;
    (keys, schedule.rounds)
}

/// A key as the library has it, for any multiplication.
#[derive(Clone)]
pub struct AnyKey(Material);

impl core::fmt::Debug for AnyKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("AnyKey")
    }
}

impl AnyKey {
    /// From 16, 24 or 32 bytes, for this instruction set and this multiplication.
    #[inline(always)]
    pub fn new<S: Isa, M: Multiply<S>>(s: S, multiply: M, key: &[u8]) -> Self {
        let mut new = Self(Material::ZERO);
        gcm::expand(s, multiply, &mut new.0, key);
        new
    }

    /// The library's own loop, its short and its long path, around that multiplication. Returns the tag.
    #[inline(always)]
    pub fn seal<S: Isa, M: Multiply<S>>(&self, s: S, multiply: M, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> Block {
        let Kind::Public(nonce) = Nonce::from(nonce).0 else { return 0 }; // 12 bytes always are
        let text = InOut::in_place(text);
        match gcm::path(s, aad, &text) {
            Path::Short => gcm::short::<_, _, true>(s, multiply, &self.0, nonce, aad, text),
            Path::Long => gcm::long::<_, _, true>(s, multiply, &self.0, nonce, None, aad, text),
        }
    }
}

impl Drop for AnyKey {
    fn drop(&mut self) {
        self.0.schedule.zeroize();
        self.0.powers.wipe_all();
    }
}
