//! AWS-LC through its Rust interface: `LessSafeKey`, in place with the tag apart, or `seal_out_of_place_scatter` and `open_separate_gather`.
//!
//! without: OPENSSL_ia32cap

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use plugin::{Message, Rival, level};

struct AwsLcRs(LessSafeKey);

impl Rival for AwsLcRs {
    const NAME: &'static str = "aws-lc-rs";

    fn version() -> String {
        plugin::locked("aws-lc-rs", "")
    }

    fn variants() -> String {
        level::openssl_variants()
    }

    fn new(key: &[u8]) -> Option<Self> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            _ => &AES_256_GCM,
        };
        Some(Self(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?)))
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise; no two of these slices overlap but in the branch that takes only one of them.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            if message.in_place() {
                let tag = self.0.seal_in_place_separate_tag(nonce, aad, message.output()).expect("no text is too long here");
                message.tag_out().copy_from_slice(tag.as_ref());
            } else {
                let (text, sealed) = (message.input(), message.output());
                self.0.seal_out_of_place_scatter(nonce, aad, text, sealed, &[], message.tag_out()).expect("no text is too long here");
            }
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            if message.in_place() {
                self.0.open_in_place_separate_tag(nonce, aad, message.tag_in(), message.output()).is_ok()
            } else {
                self.0.open_separate_gather(nonce, aad, message.input(), message.tag_in(), message.output()).is_ok()
            }
        }
    }
}

plugin::export!(AwsLcRs);
