//! BoringSSL's `EVP_AEAD`, called directly: `EVP_AEAD_CTX_seal_scatter` and `EVP_AEAD_CTX_open_gather`, which `EVP_AEAD_CTX_seal` and
//! `open` go through. A new key: `cleanup` and `init` on the same context. `boring-sys` builds it, but its bindings leave out
//! `openssl/aead.h`, so what is called is declared here.

use boring_sys as _; // linked for its library
use plugin::{Message, Rival, TAG, level};
use std::{
    ffi::{c_int, c_void},
    ptr::{self, NonNull},
};

/// `EVP_AEAD`, `EVP_AEAD_CTX` and `ENGINE` are seen through pointers only.
#[rustfmt::skip]
unsafe extern "C" {
    safe fn EVP_aead_aes_128_gcm() -> *const c_void;
    safe fn EVP_aead_aes_192_gcm() -> *const c_void;
    safe fn EVP_aead_aes_256_gcm() -> *const c_void;
    fn EVP_AEAD_CTX_new(aead: *const c_void, key: *const u8, key_len: usize, tag_len: usize) -> *mut c_void;
    fn EVP_AEAD_CTX_free(context: *mut c_void);
    fn EVP_AEAD_CTX_init(context: *mut c_void, aead: *const c_void, key: *const u8, key_len: usize, tag_len: usize, engine: *mut c_void) -> c_int;
    fn EVP_AEAD_CTX_cleanup(context: *mut c_void);
    fn EVP_AEAD_CTX_seal_scatter(
        context: *const c_void, out: *mut u8, tag: *mut u8, tag_len: *mut usize, tag_max: usize, nonce: *const u8, nonce_len: usize,
        input: *const u8, len: usize, extra: *const u8, extra_len: usize, aad: *const u8, aad_len: usize,
    ) -> c_int;
    fn EVP_AEAD_CTX_open_gather(
        context: *const c_void, out: *mut u8, nonce: *const u8, nonce_len: usize, input: *const u8, len: usize,
        tag: *const u8, tag_len: usize, aad: *const u8, aad_len: usize,
    ) -> c_int;
}

/// An `EVP_AEAD_CTX` on the heap.
struct Boring(NonNull<c_void>);

fn aead(key: &[u8]) -> Option<*const c_void> {
    match key.len() {
        16 => Some(EVP_aead_aes_128_gcm()),
        24 => Some(EVP_aead_aes_192_gcm()),
        32 => Some(EVP_aead_aes_256_gcm()),
        _ => None,
    }
}

impl Rival for Boring {
    const NAME: &'static str = "boringssl";

    fn version() -> String {
        plugin::locked("boring-sys", "")
    }

    fn variants() -> String {
        level::openssl_variants()
    }

    fn new(key: &[u8]) -> Option<Self> {
        // SAFETY: a cipher, and a key of its length.
        NonNull::new(unsafe { EVP_AEAD_CTX_new(aead(key)?, key.as_ptr(), key.len(), TAG) }).map(Self)
    }

    fn rekey(&mut self, key: &[u8]) {
        let Some(aead) = aead(key) else { return };
        // SAFETY: a context, which is initialised again at once.
        let done = unsafe {
            EVP_AEAD_CTX_cleanup(self.0.as_ptr());
            EVP_AEAD_CTX_init(self.0.as_ptr(), aead, key.as_ptr(), key.len(), TAG, ptr::null_mut())
        };
        assert_eq!(done, 1);
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (context, mut tag_len) = (self.0.as_ptr(), 0);
        // SAFETY: the caller's promise.
        let done = unsafe {
            let tag = output.add(len);
            EVP_AEAD_CTX_seal_scatter(context, output, tag, &mut tag_len, TAG, nonce, 12, input, len, ptr::null(), 0, aad, aad_len)
        };
        assert_eq!(done, 1);
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        unsafe { EVP_AEAD_CTX_open_gather(self.0.as_ptr(), output, nonce, 12, input, len, input.add(len), TAG, aad, aad_len) == 1 }
    }
}

impl Drop for Boring {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { EVP_AEAD_CTX_free(self.0.as_ptr()) };
    }
}

plugin::export!(Boring);
