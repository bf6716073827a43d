//! RustCrypto's `aes-gcm` 0.10, on which most programs still depend: `AeadInPlace`; from one buffer to another its users copy first. It
//! cannot be held to a level.

use aes_gcm_010::{
    Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{AeadInPlace, consts::U12, generic_array::GenericArray},
    aes::Aes192,
};
use plugin::{Message, Rival};

/// A choice for each message, as `Box<dyn AeadInPlace>` or a match would be for a caller who knows the length only at run time; those who know
/// it at compile time save 1 ns.
enum RustCrypto {
    Aes128(Aes128Gcm),
    Aes192(AesGcm<Aes192, U12>),
    Aes256(Aes256Gcm),
}

#[inline(always)]
unsafe fn seal<A: AeadInPlace<NonceSize = U12>>(key: &A, message: &Message) {
    // SAFETY: the caller's promise: the tag is written after the borrow of the text has ended.
    unsafe {
        let tag = key.encrypt_in_place_detached(message.nonce().into(), message.aad(), message.copied()).expect("no text is too long here");
        message.tag_out().copy_from_slice(&tag);
    }
}

#[inline(always)]
unsafe fn open<A: AeadInPlace<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe {
        let tag = GenericArray::from_slice(message.tag_in());
        key.decrypt_in_place_detached(message.nonce().into(), message.aad(), message.copied(), tag).is_ok()
    }
}

impl Rival for RustCrypto {
    const NAME: &'static str = "rustcrypto-0.10";

    fn version() -> String {
        plugin::locked("aes-gcm", "0.10")
    }

    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128Gcm::new_from_slice(key).ok().map(Self::Aes128),
            24 => AesGcm::new_from_slice(key).ok().map(Self::Aes192),
            _ => Aes256Gcm::new_from_slice(key).ok().map(Self::Aes256),
        }
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Aes128(key) => seal(key, message),
                Self::Aes192(key) => seal(key, message),
                Self::Aes256(key) => seal(key, message),
            }
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Aes128(key) => open(key, message),
                Self::Aes192(key) => open(key, message),
                Self::Aes256(key) => open(key, message),
            }
        }
    }
}

plugin::export!(RustCrypto);
