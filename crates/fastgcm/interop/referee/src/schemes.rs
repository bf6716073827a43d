//! What is made of AES-GCM: a table for each, which `REFEREE_TABLE` names: XAES-256-GCM, KC-XAES-256-GCM, DNDK-GCM without and with a commitment, and
//! AES-GCM-SIV.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NULL, NoPieces, THREADS, bytes, bytes_mut};
use fastgcm::{AesGcmSiv, KcXaes, RootKey, Scheme, Tag, Xaes, draft::Dndk};
use std::{ffi::CStr, mem::MaybeUninit, ptr};

/// A root key where it stays.
struct Root<S: Scheme>(Box<MaybeUninit<RootKey<S>>>);

impl<S: Scheme> Drop for Root<S> {
    fn drop(&mut self) {
        // SAFETY: `new` has made it, and nobody uses it any more.
        unsafe { ptr::drop_in_place(self.0.as_mut_ptr()) }
    }
}

/// The name of a scheme, and its number in `aead.h`.
trait Named {
    const NAME: &'static CStr;
    const ALGORITHM: u32;
}

macro_rules! named {
    ($($scheme:ty, $name:expr, $algorithm:literal, $table:ident;)*) => {$(
        impl Named for $scheme {
            const NAME: &'static CStr = $name;
            const ALGORITHM: u32 = $algorithm;
        }
        aead_plugin::export!(Root<$scheme>, $table);
    )*};
}

named! {
    Xaes, c"fastgcm, Rust, XAES-256-GCM", 1, referee_xaes;
    Dndk<24, false>, c"fastgcm, Rust, DNDK-GCM", 3, referee_dndk;
    KcXaes, c"fastgcm, Rust, KC-XAES-256-GCM", 4, referee_kc_xaes;
    Dndk<24, true>, c"fastgcm, Rust, DNDK-GCM that commits", 5, referee_kc_dndk;
}
aead_plugin::export!(Siv, referee_siv);

impl<S: Scheme + Named + 'static> Implementation for Root<S> {
    const NAME: &'static CStr = <S as Named>::NAME;
    const OFFERS: u32 = IN_PLACE | NULL | THREADS;
    const KEYS: u32 = 4;
    const NONCES: (usize, usize) = (24, 24);
    const ALGORITHM: u32 = <S as Named>::ALGORITHM;
    type Run = NoPieces;

    fn version() -> String {
        crate::Fastgcm::version()
    }

    fn start(level: Option<&str>) -> Result<(), String> {
        crate::Fastgcm::start(level)
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut place = Box::new(MaybeUninit::uninit());
        RootKey::init_in_place(&mut place, key.try_into().ok()?, crate::backend()).ok()?;
        Some(Self(place))
    }

    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; in place, only one slice is made of the buffer.
        unsafe {
            let Ok(nonce) = S::Nonce::try_from(bytes(message.nonce, message.nonce_length)) else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            let key = self.0.assume_init_ref();
            let tag = if message.input == message.output {
                key.seal(&nonce, aad, output)
            } else {
                key.seal_detached_to(&nonce, aad, bytes(message.input, message.length), output)
            };
            tag.is_ok_and(|tag| {
                bytes_mut(message.tag, message.tag_length).copy_from_slice(tag.as_ref());
                true
            })
        }
    }

    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let Ok(nonce) = S::Nonce::try_from(bytes(message.nonce, message.nonce_length)) else { return false };
            let Ok(tag) = S::Tag::try_from(bytes(message.tag, message.tag_length)) else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            let key = self.0.assume_init_ref();
            if message.input == message.output {
                key.open(&nonce, aad, output, &tag).is_ok()
            } else {
                key.open_detached_to(&nonce, aad, bytes(message.input, message.length), output, &tag).is_ok()
            }
        }
    }
}

struct Siv(Box<AesGcmSiv>);

impl Implementation for Siv {
    const NAME: &'static CStr = c"fastgcm, Rust, AES-GCM-SIV";
    const OFFERS: u32 = IN_PLACE | NULL | THREADS | KEEPS; // it has no constructor that moves nothing
    const KEYS: u32 = 1 | 4;
    const ALGORITHM: u32 = 2;
    type Run = NoPieces;

    fn version() -> String {
        crate::Fastgcm::version()
    }

    fn start(level: Option<&str>) -> Result<(), String> {
        crate::Fastgcm::start(level)
    }

    fn new(key: &[u8]) -> Option<Self> {
        AesGcmSiv::with_backend(key, crate::backend()).ok().map(|key| Self(Box::new(key)))
    }

    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; in place, only one slice is made of the buffer.
        unsafe {
            let Ok(nonce) = bytes(message.nonce, message.nonce_length).try_into() else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            let tag = if message.input == message.output {
                self.0.seal(nonce, aad, output)
            } else {
                self.0.seal_detached_to(nonce, aad, bytes(message.input, message.length), output)
            };
            tag.is_ok_and(|tag| {
                bytes_mut(message.tag, message.tag_length).copy_from_slice(&tag[..]);
                true
            })
        }
    }

    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let Ok(nonce) = bytes(message.nonce, message.nonce_length).try_into() else { return false };
            let Ok(tag) = <[u8; 16]>::try_from(bytes(message.tag, message.tag_length)) else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            if message.input == message.output {
                self.0.open(nonce, aad, output, &Tag(tag)).is_ok()
            } else {
                self.0.open_detached_to(nonce, aad, bytes(message.input, message.length), output, &Tag(tag)).is_ok()
            }
        }
    }
}
