//! AWS-LC through its Rust interface: `LessSafeKey`, in place with the tag apart, or `seal_out_of_place_scatter` and `open_separate_gather`.
//!
//! without: OPENSSL_ia32cap

use aead_plugin::{IA32CAP, IN_PLACE, Implementation, KEEPS, Message, NoPieces, locked};
use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::ffi::CStr;

struct AwsLcRs(LessSafeKey);

impl Implementation for AwsLcRs {
    const NAME: &'static CStr = c"aws-lc-rs";
    const OFFERS: u32 = IN_PLACE | KEEPS;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "aws-lc-rs", "")
    }

    fn levels() -> String {
        IA32CAP.into()
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
    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; no two of these slices overlap but in the branch that takes only one of them.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            if message.in_place() {
                let tag = self.0.seal_in_place_separate_tag(nonce, aad, message.output()).expect("no text is too long here");
                message.tag().copy_from_slice(tag.as_ref());
            } else {
                let (text, sealed) = (message.input(), message.output());
                self.0.seal_out_of_place_scatter(nonce, aad, text, sealed, &[], message.tag()).expect("no text is too long here");
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad) = (Nonce::assume_unique_for_key(*message.nonce()), Aad::from(message.aad()));
            if message.in_place() {
                self.0.open_in_place_separate_tag(nonce, aad, message.tag(), message.output()).is_ok()
            } else {
                self.0.open_separate_gather(nonce, aad, message.input(), message.tag(), message.output()).is_ok()
            }
        }
    }
}

aead_plugin::export!(AwsLcRs);
