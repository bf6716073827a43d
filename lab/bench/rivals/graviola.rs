//! Graviola: `AesGcm`, in place, the tag apart; from one buffer to another its users copy first. It cannot be held to a level.

use graviola::aead::AesGcm;
use plugin::{Message, Rival};

struct Graviola(AesGcm);

impl Rival for Graviola {
    const NAME: &'static str = "graviola";

    fn version() -> String {
        plugin::locked("graviola", "")
    }

    fn new(key: &[u8]) -> Option<Self> {
        matches!(key.len(), 16 | 32).then(|| Self(AesGcm::new(key)))
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise; text and tag lie side by side.
        unsafe { self.0.encrypt(message.nonce(), message.aad(), message.copied(), message.tag_out()) }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe { self.0.decrypt(message.nonce(), message.aad(), message.copied(), message.tag_in()).is_ok() }
    }
}

plugin::export!(Graviola);
