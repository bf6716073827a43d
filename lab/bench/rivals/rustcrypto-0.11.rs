//! RustCrypto's `aes-gcm` 0.11: `AeadInOut`, which works in place and from one buffer to another. It finds VAES itself and cannot be held to
//! a level. Built a second time with its software back ends, it is another rival, of the level `portable`.

use aes_gcm_011::{
    Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{AeadInOut, consts::U12, inout::InOutBuf},
    aes::Aes192,
};
use plugin::{Message, Rival, level};

/// Built with `--cfg aes_backend="soft" --cfg polyval_backend="soft"`.
const SOFT: bool = cfg!(aes_backend = "soft");

/// A choice for each message, as `Box<dyn AeadInOut>` or a match would be for a caller who knows the length only at run time; those who know
/// it at compile time save 1 ns.
enum RustCrypto {
    Aes128(Aes128Gcm),
    Aes192(AesGcm<Aes192, U12>),
    Aes256(Aes256Gcm),
}

#[inline(always)]
unsafe fn seal<A: AeadInOut<NonceSize = U12>>(key: &A, message: &Message) {
    // SAFETY: the caller's promise: input and output are the same or do not overlap.
    unsafe {
        let text = InOutBuf::from_raw(message.input, message.output, message.len);
        let tag = key.encrypt_inout_detached(message.nonce().into(), message.aad(), text).expect("no text is too long here");
        message.tag_out().copy_from_slice(&tag);
    }
}

#[inline(always)]
unsafe fn open<A: AeadInOut<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe {
        let text = InOutBuf::from_raw(message.input, message.output, message.len);
        let tag = message.tag_in()[..].try_into().expect("16 bytes");
        key.decrypt_inout_detached(message.nonce().into(), message.aad(), text, tag).is_ok()
    }
}

impl Rival for RustCrypto {
    const NAME: &'static str = if SOFT { "rustcrypto-soft" } else { "rustcrypto-0.11" };

    fn version() -> String {
        plugin::locked("aes-gcm", "0.11")
    }

    fn variants() -> String {
        if SOFT { "portable".into() } else { level::native().into() }
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
