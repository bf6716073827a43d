//! RustCrypto's `aes-gcm` 0.11: `AeadInOut`, which works in place and from one buffer to another. It finds VAES itself and cannot be held to
//! a level. Built a second time with its software back ends, it is another rival, of the level `portable`.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, locked};
use aes_gcm_011::{
    Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
    aead::{AeadInOut, consts::U12, inout::InOutBuf},
    aes::Aes192,
};
use std::ffi::CStr;

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
unsafe fn seal<A: AeadInOut<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: the caller's promise: input and output are the same or do not overlap.
    unsafe {
        let text = InOutBuf::from_raw(message.input, message.output, message.length);
        let tag = key.encrypt_inout_detached(message.nonce().into(), message.aad(), text).expect("no text is too long here");
        message.tag().copy_from_slice(&tag);
        true
    }
}

#[inline(always)]
unsafe fn open<A: AeadInOut<NonceSize = U12>>(key: &A, message: &Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe {
        let text = InOutBuf::from_raw(message.input, message.output, message.length);
        let tag = message.tag()[..].try_into().expect("16 bytes");
        key.decrypt_inout_detached(message.nonce().into(), message.aad(), text, tag).is_ok()
    }
}

impl Implementation for RustCrypto {
    const NAME: &'static CStr = if SOFT { c"rustcrypto-soft" } else { c"rustcrypto-0.11" };
    const OFFERS: u32 = IN_PLACE | KEEPS;
    type Run = NoPieces;

    fn version() -> String {
        locked(include_str!("../../../Cargo.lock"), "aes-gcm", "0.11")
    }

    fn levels() -> String {
        if SOFT { "portable".into() } else { String::new() }
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
