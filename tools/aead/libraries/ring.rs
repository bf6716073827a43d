//! ring: `LessSafeKey`, the tag apart. It works in place only: from one buffer to another, its users copy first, and so does this.
//! It reads the processor's features itself and cannot be held to a level.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, locked};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};
use std::ffi::CStr;

struct Ring(LessSafeKey);

impl Implementation for Ring {
    const NAME: &'static CStr = c"ring";
    const OFFERS: u32 = IN_PLACE | KEEPS;
    const KEYS: u32 = 1 | 4;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "ring", "")
    }

    fn new(key: &[u8]) -> Option<Self> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            32 => &AES_256_GCM,
            _ => return None,
        };
        Some(Self(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?)))
    }

    #[inline(always)]
    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; the tag is written after the borrow of the text has ended.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            let tag = self.0.seal_in_place_separate_tag(nonce, aad, message.copied()).expect("no text is too long here");
            message.tag().copy_from_slice(tag.as_ref());
            true
        }
    }

    #[inline(always)]
    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            self.0.open_in_place_separate_tag(nonce, aad, Tag::from(*message.tag()), message.copied(), 0..).is_ok()
        }
    }
}

aead_plugin::export!(Ring);
