//! RustCrypto's `aes-gcm` 0.10, on which most programs still depend: `AeadInPlace`; from one buffer to another its users copy first. It
//! cannot be held to a level.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, locked};
use aes_gcm_010::{
    Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{AeadInPlace, consts::U12, generic_array::GenericArray},
    aes::Aes192,
};
use std::ffi::CStr;

/// A choice for each message, as `Box<dyn AeadInPlace>` or a match would be for a caller who knows the length only at run time; those who know
/// it at compile time save 1 ns.
enum RustCrypto {
    Aes128(Aes128Gcm),
    Aes192(AesGcm<Aes192, U12>),
    Aes256(Aes256Gcm),
}

#[inline(always)]
unsafe fn seal<A: AeadInPlace<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: the caller's promise: the tag is written after the borrow of the text has ended.
    unsafe {
        let tag = key.encrypt_in_place_detached(message.nonce().into(), message.aad(), message.copied()).expect("no text is too long here");
        message.tag().copy_from_slice(&tag);
        true
    }
}

#[inline(always)]
unsafe fn open<A: AeadInPlace<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe {
        let tag = GenericArray::from_slice(message.tag());
        key.decrypt_in_place_detached(message.nonce().into(), message.aad(), message.copied(), tag).is_ok()
    }
}

impl Implementation for RustCrypto {
    const NAME: &'static CStr = c"rustcrypto-0.10";
    const OFFERS: u32 = IN_PLACE | KEEPS;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "aes-gcm", "0.10")
    }

    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128Gcm::new_from_slice(key).ok().map(Self::Aes128),
            24 => AesGcm::new_from_slice(key).ok().map(Self::Aes192),
            _ => Aes256Gcm::new_from_slice(key).ok().map(Self::Aes256),
        }
    }

    #[inline(always)]
    unsafe fn seal(&self, message: &Message) -> bool {
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
    unsafe fn open(&self, message: &Message) -> bool {
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

aead_plugin::export!(RustCrypto);
