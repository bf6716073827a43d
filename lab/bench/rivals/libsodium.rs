//! libsodium of Debian's unstable (`make.sh`): `crypto_aead_aes256gcm_encrypt_detached_afternm`, which is the call for a key that is ready.
//! AES-256 only. It chooses by itself and cannot be held to a level.

use plugin::{Message, Rival};
use std::{
    ffi::{CStr, c_char, c_int, c_ulonglong},
    ptr,
};

#[rustfmt::skip]
unsafe extern "C" {
    safe fn sodium_init() -> c_int;
    safe fn sodium_version_string() -> *const c_char;
    safe fn crypto_aead_aes256gcm_is_available() -> c_int;
    fn crypto_aead_aes256gcm_beforenm(state: *mut State, key: *const u8) -> c_int;
    fn crypto_aead_aes256gcm_encrypt_detached_afternm(
        output: *mut u8, tag: *mut u8, tag_len: *mut c_ulonglong, input: *const u8, len: c_ulonglong, aad: *const u8, aad_len: c_ulonglong,
        no_secret: *const u8, nonce: *const u8, state: *const State,
    ) -> c_int;
    fn crypto_aead_aes256gcm_decrypt_detached_afternm(
        output: *mut u8, no_secret: *mut u8, input: *const u8, len: c_ulonglong, tag: *const u8, aad: *const u8, aad_len: c_ulonglong,
        nonce: *const u8, state: *const State,
    ) -> c_int;
}

/// `crypto_aead_aes256gcm_state`.
#[repr(C, align(16))]
struct State([u8; 512]);

struct Libsodium(State);

impl Rival for Libsodium {
    const NAME: &'static str = "libsodium";

    fn version() -> String {
        // SAFETY: a constant string.
        let version = unsafe { CStr::from_ptr(sodium_version_string()) }.to_string_lossy();
        format!("{version}, {}", env!("RIVAL_VERSION"))
    }

    fn start(_level: &str) -> Result<(), String> {
        if sodium_init() < 0 || crypto_aead_aes256gcm_is_available() == 0 {
            return Err("it has no AES-256-GCM on this machine".into());
        }
        Ok(())
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut new = (key.len() == 32).then_some(Self(State([0; 512])))?;
        new.rekey(key);
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a state, and 32 bytes of key.
        unsafe { crypto_aead_aes256gcm_beforenm(&raw mut self.0, key.as_ptr()) };
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (state, none, tag) = (&raw const self.0, ptr::null(), output.wrapping_add(len));
        // SAFETY: the caller's promise.
        unsafe {
            let (len, aad_len) = (len as u64, aad_len as u64);
            crypto_aead_aes256gcm_encrypt_detached_afternm(output, tag, ptr::null_mut(), input, len, aad, aad_len, none, nonce, state);
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (state, none, tag) = (&raw const self.0, ptr::null_mut(), input.wrapping_add(len));
        // SAFETY: the caller's promise.
        unsafe {
            let (len, aad_len) = (len as u64, aad_len as u64);
            crypto_aead_aes256gcm_decrypt_detached_afternm(output, none, input, len, tag, aad, aad_len, nonce, state) == 0
        }
    }
}

plugin::export!(Libsodium);
