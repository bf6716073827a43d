//! libsodium, `libsodium.so.23`: `crypto_aead_aes256gcm_encrypt_detached_afternm`, which is the call for a key that is ready. AES-256 only.
//! It chooses by itself and cannot be held to a level.

use libloading::Library;
use plugin::{Message, Rival};
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ffi::{CStr, c_char, c_int, c_ulonglong},
    ptr,
    sync::OnceLock,
};

/// The functions, by the names of `sodium/crypto_aead_aes256gcm.h`.
struct Sodium {
    before: unsafe extern "C" fn(*mut u8, *const u8) -> c_int,
    encrypt: Encrypt,
    decrypt: Decrypt,
    version: String,
    _library: Library,
}

/// c, mac, maclen_p, m, mlen, ad, adlen, nsec, npub, ctx.
type Encrypt = unsafe extern "C" fn(
    *mut u8,
    *mut u8,
    *mut c_ulonglong,
    *const u8,
    c_ulonglong,
    *const u8,
    c_ulonglong,
    *const u8,
    *const u8,
    *const u8,
) -> c_int;
/// m, nsec, c, clen, mac, ad, adlen, npub, ctx.
type Decrypt =
    unsafe extern "C" fn(*mut u8, *mut u8, *const u8, c_ulonglong, *const u8, *const u8, c_ulonglong, *const u8, *const u8) -> c_int;

static SODIUM: OnceLock<Sodium> = OnceLock::new();

/// `crypto_aead_aes256gcm_state`: 512 bytes at a multiple of 16.
struct Libsodium(*mut u8);

const STATE: Layout = match Layout::from_size_align(512, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

impl Rival for Libsodium {
    const NAME: &'static str = "libsodium";

    fn version() -> String {
        SODIUM.get().map_or_else(String::new, |sodium| sodium.version.clone())
    }

    fn start(_level: &str) -> Result<(), String> {
        let text = |error: libloading::Error| format!("{error} (Debian: libsodium23)");
        // SAFETY: the symbols have these types in libsodium's headers.
        unsafe {
            let library = Library::new("libsodium.so.23").map_err(text)?;
            let init = library.get::<unsafe extern "C" fn() -> c_int>(b"sodium_init").map_err(text)?;
            let available = library.get::<unsafe extern "C" fn() -> c_int>(b"crypto_aead_aes256gcm_is_available").map_err(text)?;
            if init() < 0 || available() == 0 {
                return Err("it has no AES-256-GCM on this machine".into());
            }
            let version = library.get::<unsafe extern "C" fn() -> *const c_char>(b"sodium_version_string").map_err(text)?;
            let version = CStr::from_ptr(version()).to_string_lossy().into_owned();
            let before = *library.get(b"crypto_aead_aes256gcm_beforenm").map_err(text)?;
            let encrypt = *library.get::<Encrypt>(b"crypto_aead_aes256gcm_encrypt_detached_afternm").map_err(text)?;
            let decrypt = *library.get::<Decrypt>(b"crypto_aead_aes256gcm_decrypt_detached_afternm").map_err(text)?;
            SODIUM.set(Sodium { before, encrypt, decrypt, version, _library: library }).map_err(|_| "started twice".into())
        }
    }

    fn new(key: &[u8]) -> Option<Self> {
        if key.len() != 32 {
            return None;
        }
        // SAFETY: a layout of some size.
        let mut new = Self(unsafe { alloc_zeroed(STATE) });
        new.rekey(key);
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        let Some(sodium) = SODIUM.get() else { return };
        // SAFETY: a state of that size, and 32 bytes of key.
        unsafe { (sodium.before)(self.0, key.as_ptr()) };
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Some(sodium) = SODIUM.get() else { return };
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        unsafe {
            let tag = output.add(len);
            (sodium.encrypt)(output, tag, ptr::null_mut(), input, len as u64, aad, aad_len as u64, ptr::null(), nonce, self.0);
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Some(sodium) = SODIUM.get() else { return false };
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        unsafe {
            let tag = input.add(len);
            (sodium.decrypt)(output, ptr::null_mut(), input, len as u64, tag, aad, aad_len as u64, nonce, self.0) == 0
        }
    }
}

impl Drop for Libsodium {
    fn drop(&mut self) {
        // SAFETY: `new` got it with that layout.
        unsafe { dealloc(self.0, STATE) };
    }
}

plugin::export!(Libsodium);
