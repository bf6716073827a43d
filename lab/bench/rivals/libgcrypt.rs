//! libgcrypt of Debian's unstable (`make.sh`): a cipher handle that keeps its key, and for each message `gcry_cipher_setiv`, `authenticate`,
//! `encrypt` and `gettag`, or `decrypt` and `checktag`. There is no call that does a message at once. It chooses by itself.

use plugin::{Message, Rival, TAG};
use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

unsafe extern "C" {
    fn gcry_check_version(wanted: *const c_char) -> *const c_char;
    fn gcry_control(command: c_int, ...) -> c_uint;
    fn gcry_cipher_open(handle: *mut *mut c_void, cipher: c_int, mode: c_int, flags: c_uint) -> c_uint;
    fn gcry_cipher_close(handle: *mut c_void);
    fn gcry_cipher_setkey(handle: *mut c_void, key: *const u8, len: usize) -> c_uint;
    fn gcry_cipher_setiv(handle: *mut c_void, iv: *const u8, len: usize) -> c_uint;
    fn gcry_cipher_authenticate(handle: *mut c_void, aad: *const u8, len: usize) -> c_uint;
    fn gcry_cipher_encrypt(handle: *mut c_void, out: *mut u8, out_len: usize, from: *const u8, len: usize) -> c_uint;
    fn gcry_cipher_decrypt(handle: *mut c_void, out: *mut u8, out_len: usize, from: *const u8, len: usize) -> c_uint;
    fn gcry_cipher_gettag(handle: *mut c_void, tag: *mut u8, len: usize) -> c_uint;
    fn gcry_cipher_checktag(handle: *mut c_void, tag: *const u8, len: usize) -> c_uint;
}

// gcrypt.h
const DISABLE_SECMEM: c_int = 37;
const INITIALIZATION_FINISHED: c_int = 38;
const AES128: c_int = 7;
const MODE_GCM: c_int = 9;

struct Libgcrypt(*mut c_void);

impl Rival for Libgcrypt {
    const NAME: &'static str = "libgcrypt";

    fn version() -> String {
        format!("Debian's {}", env!("RIVAL_VERSION"))
    }

    fn start(_: &str) -> Result<(), String> {
        // SAFETY: as its manual says, before anything else.
        let done = unsafe {
            gcry_check_version(ptr::null());
            gcry_control(DISABLE_SECMEM, 0) | gcry_control(INITIALIZATION_FINISHED, 0)
        };
        if done == 0 { Ok(()) } else { Err("it does not start".into()) }
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut handle = ptr::null_mut();
        // AES128, AES192 and AES256 are 7, 8 and 9.
        let cipher = AES128 + (key.len() as c_int - 16) / 8;
        // SAFETY: a place for a handle.
        let done = unsafe { gcry_cipher_open(&mut handle, cipher, MODE_GCM, 0) };
        (done == 0).then(|| {
            let mut new = Self(handle);
            new.rekey(key);
            new
        })
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a handle, and that many bytes.
        assert_eq!(unsafe { gcry_cipher_setkey(self.0, key.as_ptr(), key.len()) }, 0);
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        let done = unsafe {
            let mut done = gcry_cipher_setiv(self.0, nonce, 12);
            if aad_len > 0 {
                done |= gcry_cipher_authenticate(self.0, aad, aad_len);
            }
            done | gcry_cipher_encrypt(self.0, output, len, input, len) | gcry_cipher_gettag(self.0, output.add(len), TAG)
        };
        assert_eq!(done, 0);
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: as in `seal`.
        unsafe {
            let mut done = gcry_cipher_setiv(self.0, nonce, 12);
            if aad_len > 0 {
                done |= gcry_cipher_authenticate(self.0, aad, aad_len);
            }
            done |= gcry_cipher_decrypt(self.0, output, len, input, len);
            done == 0 && gcry_cipher_checktag(self.0, input.add(len), TAG) == 0
        }
    }
}

impl Drop for Libgcrypt {
    fn drop(&mut self) {
        // SAFETY: a handle, for the last time.
        unsafe { gcry_cipher_close(self.0) };
    }
}

plugin::export!(Libgcrypt);
