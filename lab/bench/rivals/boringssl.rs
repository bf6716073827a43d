//! BoringSSL's `EVP_AEAD`, called directly: `EVP_AEAD_CTX_seal_scatter` and `EVP_AEAD_CTX_open_gather`, which `EVP_AEAD_CTX_seal` and
//! `open` go through. A new key: `cleanup` and `init` on the same context. `boring-sys` builds it, but its bindings leave out
//! `openssl/aead.h`, so what is called is declared here.
//!
//! without: OPENSSL_ia32cap

use boring_sys as _; // linked for its library
use plugin::{Message, Rival, TAG, level};
use std::{
    ffi::{c_int, c_void},
    ptr,
};

/// `EVP_AEAD` and `ENGINE` are seen through pointers only.
#[rustfmt::skip]
unsafe extern "C" {
    safe fn EVP_aead_aes_128_gcm() -> *const c_void;
    safe fn EVP_aead_aes_192_gcm() -> *const c_void;
    safe fn EVP_aead_aes_256_gcm() -> *const c_void;
    fn EVP_AEAD_CTX_init(context: *mut Context, aead: *const c_void, key: *const u8, key_len: usize, tag_len: usize, engine: *mut c_void) -> c_int;
    fn EVP_AEAD_CTX_cleanup(context: *mut Context);
    fn EVP_AEAD_CTX_seal_scatter(
        context: *const Context, out: *mut u8, tag: *mut u8, tag_len: *mut usize, tag_max: usize, nonce: *const u8, nonce_len: usize,
        input: *const u8, len: usize, extra: *const u8, extra_len: usize, aad: *const u8, aad_len: usize,
    ) -> c_int;
    fn EVP_AEAD_CTX_open_gather(
        context: *const Context, out: *mut u8, nonce: *const u8, nonce_len: usize, input: *const u8, len: usize,
        tag: *const u8, tag_len: usize, aad: *const u8, aad_len: usize,
    ) -> c_int;
}

/// Room for an `EVP_AEAD_CTX`: a pointer, 560 bytes, and the length of the tag. That of AES-GCM has no pointer into itself.
#[repr(C, align(16))]
struct Context([u8; 576]);

struct Boring(Context);

impl Boring {
    fn init(&mut self, key: &[u8]) -> Option<()> {
        // SAFETY: room for a context, a cipher, and a key of its length.
        let done = unsafe { EVP_AEAD_CTX_init(&raw mut self.0, aead(key)?, key.as_ptr(), key.len(), TAG, ptr::null_mut()) };
        (done == 1).then_some(())
    }
}

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
        let mut new = Self(Context([0; 576]));
        new.init(key)?;
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a context, which is initialised again at once.
        unsafe { EVP_AEAD_CTX_cleanup(&raw mut self.0) };
        self.init(key).expect("a key of 16, 24 or 32 bytes");
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (context, mut tag_len) = (&raw const self.0, 0);
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
        unsafe { EVP_AEAD_CTX_open_gather(&raw const self.0, output, nonce, 12, input, len, input.add(len), TAG, aad, aad_len) == 1 }
    }
}

impl Drop for Boring {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { EVP_AEAD_CTX_cleanup(&raw mut self.0) };
    }
}

plugin::export!(Boring);
