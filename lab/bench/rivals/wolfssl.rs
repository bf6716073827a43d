//! wolfSSL of Debian's unstable (`make.sh`), with its code for Intel: `wc_AesGcmEncrypt` and `wc_AesGcmDecrypt`. It chooses by itself, and its
//! best of 2026 is AVX2 without VAES.

use plugin::{Message, Rival, TAG};
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ffi::{c_int, c_void},
    ptr,
};

unsafe extern "C" {
    safe fn wolfssl_key_size() -> usize;
    fn wc_AesInit(key: *mut u8, heap: *mut c_void, device: c_int) -> c_int;
    fn wc_AesGcmSetKey(key: *mut u8, bytes: *const u8, len: u32) -> c_int;
    fn wc_AesGcmEncrypt(
        key: *mut u8,
        out: *mut u8,
        from: *const u8,
        len: u32,
        iv: *const u8,
        iv_len: u32,
        tag: *mut u8,
        tag_len: u32,
        aad: *const u8,
        aad_len: u32,
    ) -> c_int;
    fn wc_AesGcmDecrypt(
        key: *mut u8,
        out: *mut u8,
        from: *const u8,
        len: u32,
        iv: *const u8,
        iv_len: u32,
        tag: *const u8,
        tag_len: u32,
        aad: *const u8,
        aad_len: u32,
    ) -> c_int;
}

/// No device but the processor.
const NO_DEVICE: c_int = -2;

struct WolfSsl(*mut u8);

fn layout() -> Layout {
    Layout::from_size_align(wolfssl_key_size(), 64).expect("a size below isize::MAX")
}

impl Rival for WolfSsl {
    const NAME: &'static str = "wolfssl";

    fn version() -> String {
        format!("Debian's {}", env!("RIVAL_VERSION"))
    }

    fn new(key: &[u8]) -> Option<Self> {
        // SAFETY: more than nothing.
        let mut new = Self(unsafe { alloc_zeroed(layout()) });
        // SAFETY: room for a key.
        if unsafe { wc_AesInit(new.0, ptr::null_mut(), NO_DEVICE) } != 0 {
            return None;
        }
        new.rekey(key);
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a key that was initialised, and that many bytes.
        assert_eq!(unsafe { wc_AesGcmSetKey(self.0, key.as_ptr(), key.len() as u32) }, 0);
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        let done = unsafe {
            let tag = output.add(len);
            wc_AesGcmEncrypt(self.0, output, input, len as u32, nonce, 12, tag, TAG as u32, aad, aad_len as u32)
        };
        assert_eq!(done, 0);
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: as in `seal`.
        unsafe {
            let tag = input.add(len);
            wc_AesGcmDecrypt(self.0, output, input, len as u32, nonce, 12, tag, TAG as u32, aad, aad_len as u32) == 0
        }
    }
}

impl Drop for WolfSsl {
    fn drop(&mut self) {
        // SAFETY: `new` got it with that layout.
        unsafe { dealloc(self.0, layout()) };
    }
}

plugin::export!(WolfSsl);
