//! AWS-LC's `EVP_AEAD`, called directly: `EVP_AEAD_CTX_seal_scatter` and `EVP_AEAD_CTX_open_gather`, which `EVP_AEAD_CTX_seal` and `open`
//! go through. A new key: `cleanup` and `init` on the same context.
//!
//! without: OPENSSL_ia32cap

use aws_lc_sys as c;
use plugin::{Message, Rival, TAG, level};
use std::{mem::MaybeUninit, ptr};

struct AwsLc(c::EVP_AEAD_CTX);

impl AwsLc {
    /// Makes a context where it stays; `None` if there is no such key.
    fn init(context: *mut c::EVP_AEAD_CTX, key: &[u8]) -> Option<()> {
        // SAFETY: the first three have no conditions; the last writes a context where there is room for one.
        let done = unsafe {
            let aead = match key.len() {
                16 => c::EVP_aead_aes_128_gcm(),
                24 => c::EVP_aead_aes_192_gcm(),
                32 => c::EVP_aead_aes_256_gcm(),
                _ => return None,
            };
            c::EVP_AEAD_CTX_init(context, aead, key.as_ptr(), key.len(), TAG, ptr::null_mut())
        };
        (done == 1).then_some(())
    }
}

impl Rival for AwsLc {
    const NAME: &'static str = "aws-lc";

    fn version() -> String {
        plugin::locked("aws-lc-sys", "")
    }

    fn variants() -> String {
        level::openssl_variants()
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut context = MaybeUninit::zeroed();
        Self::init(context.as_mut_ptr(), key)?;
        // SAFETY: it was initialised. A context may be moved: `EVP_AEAD_CTX_move` is a copy of its bytes.
        Some(Self(unsafe { context.assume_init() }))
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a context, which is initialised again at once.
        unsafe { c::EVP_AEAD_CTX_cleanup(&mut self.0) };
        Self::init(&mut self.0, key).expect("a key of 16, 24 or 32 bytes");
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let mut tag_len = 0;
        // SAFETY: the caller's promise.
        let done = unsafe {
            let tag = output.add(len);
            c::EVP_AEAD_CTX_seal_scatter(&self.0, output, tag, &mut tag_len, TAG, nonce, 12, input, len, ptr::null(), 0, aad, aad_len)
        };
        assert_eq!(done, 1);
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        unsafe { c::EVP_AEAD_CTX_open_gather(&self.0, output, nonce, 12, input, len, input.add(len), TAG, aad, aad_len) == 1 }
    }
}

impl Drop for AwsLc {
    fn drop(&mut self) {
        // SAFETY: a context that was initialised.
        unsafe { c::EVP_AEAD_CTX_cleanup(&mut self.0) };
    }
}

plugin::export!(AwsLc);
