//! Libraries of Rust, called from C, so that a target has them: `prove_seal` and `prove_open`, in place, with the tag behind the text when it is opened.
//! 0: done; 1: refused; 2: anything else.
#![allow(missing_docs)]

use std::slice;

/// A string of bytes, as gcm-prove.h has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    at: *mut u8,
    size: usize,
}

impl Bytes {
    /// # Safety
    /// Nobody else has it.
    unsafe fn slice<'s>(&self) -> &'s mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.at, self.size) }
    }
}

#[cfg(feature = "ring")]
mod library {
    use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

    fn key(key: &[u8]) -> Option<LessSafeKey> {
        let algorithm = if key.len() == 16 { &AES_128_GCM } else { &AES_256_GCM };
        UnboundKey::new(algorithm, key).ok().map(LessSafeKey::new)
    }

    pub(crate) fn seal(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text: &mut [u8]) -> Option<[u8; 16]> {
        let tag = key(bytes)?.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), text).ok()?;
        tag.as_ref().try_into().ok()
    }

    pub(crate) fn open(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text_and_tag: &mut [u8]) -> Option<bool> {
        Some(key(bytes)?.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(aad), text_and_tag).is_ok())
    }
}

#[cfg(all(feature = "rustcrypto", not(feature = "ring")))]
mod library {
    use aes_gcm::{
        Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
        aead::{AeadInOut, consts::U12},
        aes::Aes192,
    };

    fn sealed<A: AeadInOut<NonceSize = U12>>(key: &A, nonce: [u8; 12], aad: &[u8], text: &mut [u8]) -> Option<[u8; 16]> {
        let tag = key.encrypt_inout_detached(&nonce.into(), aad, text.into()).ok()?;
        tag[..].try_into().ok()
    }

    fn opened<A: AeadInOut<NonceSize = U12>>(key: &A, nonce: [u8; 12], aad: &[u8], text_and_tag: &mut [u8]) -> Option<bool> {
        let (text, tag) = text_and_tag.split_at_mut(text_and_tag.len() - 16);
        Some(key.decrypt_inout_detached(&nonce.into(), aad, text.into(), (&*tag).try_into().ok()?).is_ok())
    }

    pub(crate) fn seal(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text: &mut [u8]) -> Option<[u8; 16]> {
        match bytes.len() {
            16 => sealed(&Aes128Gcm::new_from_slice(bytes).ok()?, nonce, aad, text),
            24 => sealed(&AesGcm::<Aes192, U12>::new_from_slice(bytes).ok()?, nonce, aad, text),
            _ => sealed(&Aes256Gcm::new_from_slice(bytes).ok()?, nonce, aad, text),
        }
    }

    pub(crate) fn open(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text_and_tag: &mut [u8]) -> Option<bool> {
        match bytes.len() {
            16 => opened(&Aes128Gcm::new_from_slice(bytes).ok()?, nonce, aad, text_and_tag),
            24 => opened(&AesGcm::<Aes192, U12>::new_from_slice(bytes).ok()?, nonce, aad, text_and_tag),
            _ => opened(&Aes256Gcm::new_from_slice(bytes).ok()?, nonce, aad, text_and_tag),
        }
    }
}

#[cfg(all(feature = "graviola", not(any(feature = "ring", feature = "rustcrypto"))))]
mod library {
    use graviola::aead::AesGcm;

    pub(crate) fn seal(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text: &mut [u8]) -> Option<[u8; 16]> {
        let mut tag = [0; 16];
        AesGcm::new(bytes).encrypt(&nonce, aad, text, &mut tag);
        Some(tag)
    }

    pub(crate) fn open(bytes: &[u8], nonce: [u8; 12], aad: &[u8], text_and_tag: &mut [u8]) -> Option<bool> {
        let (text, tag) = text_and_tag.split_at_mut(text_and_tag.len() - 16);
        Some(AesGcm::new(bytes).decrypt(&nonce, aad, text, tag).is_ok())
    }
}

#[cfg(not(any(feature = "graviola", feature = "ring", feature = "rustcrypto")))]
mod library {
    pub(crate) fn seal(_: &[u8], _: [u8; 12], _: &[u8], _: &mut [u8]) -> Option<[u8; 16]> {
        None
    }

    pub(crate) fn open(_: &[u8], _: [u8; 12], _: &[u8], _: &mut [u8]) -> Option<bool> {
        None
    }
}

/// # Safety
/// Each string is the caller's, and the tag has 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prove_seal(key: &Bytes, nonce: &Bytes, aad: &Bytes, text: &Bytes, tag: &mut [u8; 16]) -> u64 {
    // SAFETY: the caller's promise.
    let [key, nonce, aad, text] = unsafe { [key.slice(), nonce.slice(), aad.slice(), text.slice()] };
    match nonce.first_chunk().and_then(|nonce| library::seal(key, *nonce, aad, text)) {
        Some(made) => {
            *tag = made;
            0
        }
        None => 2,
    }
}

/// # Safety
/// Each string is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prove_open(key: &Bytes, nonce: &Bytes, aad: &Bytes, text_and_tag: &Bytes) -> u64 {
    // SAFETY: the caller's promise.
    let [key, nonce, aad, text] = unsafe { [key.slice(), nonce.slice(), aad.slice(), text_and_tag.slice()] };
    match nonce.first_chunk().and_then(|nonce| library::open(key, *nonce, aad, text)) {
        Some(true) => 0,
        Some(false) => 1,
        None => 2,
    }
}
