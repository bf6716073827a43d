//! rscrypto's `Aes128Gcm` and `Aes256Gcm`, in place, the tag apart; from one buffer to another its users copy first, unless they want the tag
//! behind the text. It finds AVX-512 itself and cannot be held to a level.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, locked};
use rscrypto::{
    Aead, Aes128Gcm, Aes128GcmKey, Aes256Gcm, Aes256GcmKey,
    aead::{Nonce96, expert::AeadWithNonce},
};
use std::ffi::CStr;

enum Rscrypto {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
}

#[inline(always)]
unsafe fn seal<A: AeadWithNonce<Nonce = Nonce96, Tag: AsRef<[u8]>>>(key: &A, message: &Message) -> bool {
    // SAFETY: the caller's promise; text and tag do not overlap.
    unsafe {
        let nonce = Nonce96::from_bytes(*message.nonce());
        let tag = key.encrypt_in_place(&nonce, message.aad(), message.copied()).expect("no text is too long here");
        message.tag().copy_from_slice(tag.as_ref());
        true
    }
}

#[inline(always)]
unsafe fn open<A: Aead<Nonce = Nonce96>>(key: &A, message: &Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe {
        let nonce = Nonce96::from_bytes(*message.nonce());
        let tag = A::tag_from_slice(message.tag()).expect("16 bytes");
        key.decrypt_in_place(&nonce, message.aad(), message.copied(), &tag).is_ok()
    }
}

impl Implementation for Rscrypto {
    const NAME: &'static CStr = c"rscrypto";
    const OFFERS: u32 = IN_PLACE | KEEPS;
    const KEYS: u32 = 1 | 4;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "rscrypto", "")
    }

    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Some(Self::Aes128(Box::new(Aes128Gcm::new(&Aes128GcmKey::from_bytes(key.try_into().ok()?))))),
            32 => Some(Self::Aes256(Box::new(Aes256Gcm::new(&Aes256GcmKey::from_bytes(key.try_into().ok()?))))),
            _ => None,
        }
    }

    #[inline(always)]
    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Aes128(key) => seal(&**key, message),
                Self::Aes256(key) => seal(&**key, message),
            }
        }
    }

    #[inline(always)]
    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Aes128(key) => open(&**key, message),
                Self::Aes256(key) => open(&**key, message),
            }
        }
    }
}

aead_plugin::export!(Rscrypto);
