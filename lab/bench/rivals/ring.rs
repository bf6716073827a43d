//! ring: `LessSafeKey`, the tag apart. It works in place only: from one buffer to another, its users copy first, and so does this.
//! It reads the processor's features itself and cannot be held to a level.

use plugin::{Message, Rival};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};

struct Ring(LessSafeKey);

impl Rival for Ring {
    const NAME: &'static str = "ring";

    fn version() -> String {
        plugin::locked("ring", "")
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
    unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise; the tag is written after the borrow of the text has ended.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            let tag = self.0.seal_in_place_separate_tag(nonce, aad, message.copied()).expect("no text is too long here");
            message.tag_out().copy_from_slice(tag.as_ref());
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            self.0.open_in_place_separate_tag(nonce, aad, Tag::from(*message.tag_in()), message.copied(), 0..).is_ok()
        }
    }
}

plugin::export!(Ring);
