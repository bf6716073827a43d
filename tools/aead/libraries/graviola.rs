//! Graviola: `AesGcm`, in place, the tag apart; from one buffer to another its users copy first. It cannot be held to a level.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, ZEROS, locked};
use graviola::aead::AesGcm;
use std::ffi::CStr;

struct Graviola(AesGcm);

impl Implementation for Graviola {
    const NAME: &'static CStr = c"graviola";
    const OFFERS: u32 = IN_PLACE | KEEPS | ZEROS;
    const KEYS: u32 = 1 | 4;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "graviola", "")
    }

    fn new(key: &[u8]) -> Option<Self> {
        matches!(key.len(), 16 | 32).then(|| Self(AesGcm::new(key)))
    }

    #[inline(always)]
    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; text and tag do not overlap.
        unsafe { self.0.encrypt(message.nonce(), message.aad(), message.copied(), message.tag()) };
        true
    }

    #[inline(always)]
    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe { self.0.decrypt(message.nonce(), message.aad(), message.copied(), message.tag()).is_ok() }
    }
}

aead_plugin::export!(Graviola);
