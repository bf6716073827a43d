//! AWS-LC's `EVP_AEAD`, called directly.

use crate::{AAD, Messages, NONCE};
use aws_lc_sys::{
    EVP_AEAD_CTX, EVP_AEAD_CTX_free, EVP_AEAD_CTX_new, EVP_AEAD_CTX_open_gather, EVP_AEAD_CTX_seal_scatter, EVP_aead_aes_128_gcm,
    EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm,
};
use std::ptr::{NonNull, null};

pub(crate) struct Key(NonNull<EVP_AEAD_CTX>);

unsafe extern "C" {
    /// What AWS-LC believes of the processor.
    #[link_name = "aws_lc_0_47_0_OPENSSL_armcap_P"]
    static mut BELIEF: u32;
}

/// A processor with wide multipliers: AWS-LC then takes its loop of eight blocks with EOR3, which it does by the processor's model.
pub(crate) fn on_neoverse_v1() {
    const ARMV8_NEOVERSE_V1: u32 = 1 << 12;
    // SAFETY: a number that nobody writes once the library has been set up, and this program has one thread.
    unsafe {
        aws_lc_sys::CRYPTO_library_init();
        BELIEF |= ARMV8_NEOVERSE_V1;
    }
}

impl Key {
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        // SAFETY: the key is read and copied.
        unsafe {
            let aead = match key.len() {
                16 => EVP_aead_aes_128_gcm(),
                24 => EVP_aead_aes_192_gcm(),
                _ => EVP_aead_aes_256_gcm(),
            };
            NonNull::new(EVP_AEAD_CTX_new(aead, key.as_ptr(), key.len(), 16)).map(Self)
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        unsafe { EVP_AEAD_CTX_free(self.0.as_ptr()) }
    }
}

impl Messages for Key {
    fn seal(&self, text: &mut [u8]) -> [u8; 16] {
        let (mut tag, mut tag_len) = ([0; 16], 0);
        // SAFETY: all buffers are as long as is said; in place is allowed.
        let done = unsafe {
            EVP_AEAD_CTX_seal_scatter(
                self.0.as_ptr(),
                text.as_mut_ptr(),
                tag.as_mut_ptr(),
                &mut tag_len,
                16,
                NONCE.as_ptr(),
                12,
                text.as_ptr(),
                text.len(),
                null(),
                0,
                AAD.as_ptr(),
                AAD.len(),
            )
        };
        assert_eq!((done, tag_len), (1, 16));
        tag
    }

    fn open(&self, text: &mut [u8], tag: &[u8; 16]) -> bool {
        // SAFETY: as in `seal`.
        let done = unsafe {
            EVP_AEAD_CTX_open_gather(
                self.0.as_ptr(),
                text.as_mut_ptr(),
                NONCE.as_ptr(),
                12,
                text.as_ptr(),
                text.len(),
                tag.as_ptr(),
                16,
                AAD.as_ptr(),
                AAD.len(),
            )
        };
        done == 1
    }
}
