//! What is derived from the bytes of a key.

use crate::{aes::Schedule, ghash::Powers};

/// AES round keys and powers of the hash key H, as the engine of a row has left them there.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Material {
    pub(crate) schedule: Schedule,
    pub(crate) powers: Powers,
}

impl Material {
    pub(crate) const ZERO: Self = Self { schedule: Schedule::ZERO, powers: Powers::ZERO };
}
