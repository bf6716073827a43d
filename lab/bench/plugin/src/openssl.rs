//! OpenSSL's EVP interface, called alike for each of the three OpenSSLs: a context, made once with its key; for each message
//! `EVP_CipherInit_ex2` with the nonce and the direction, `EVP_CipherUpdate` with the AAD and with the text, `EVP_CipherFinal_ex`, and a
//! control for the tag. No fetch, no allocation, no key schedule remains in the loop.
//!
//! The functions come as pointers: one OpenSSL is loaded at run time, and calls into a shared library go through a pointer anyhow.

use crate::{Message, TAG};
use std::{
    ffi::{CStr, c_char, c_int, c_uchar, c_void},
    ptr,
};

macro_rules! calls {
    ($($field:ident = $symbol:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// What is called, by OpenSSL's names.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub struct Calls {
            $(pub $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        impl Calls {
            /// Those of a library that is open, from a function that finds a symbol in it.
            ///
            /// # Errors
            /// Names the symbol that is missing.
            ///
            /// # Safety
            /// `find` finds OpenSSL's.
            pub unsafe fn found(find: impl Fn(&str) -> Option<*const c_void>) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the types are those of openssl/evp.h.
                    $($field: unsafe {
                        let found = find(stringify!($symbol)).ok_or(concat!("no symbol ", stringify!($symbol)))?;
                        std::mem::transmute::<*const c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    },)+
                })
            }
        }

        /// The calls of the OpenSSL that this shared object is linked with: [`Calls`].
        #[macro_export]
        macro_rules! linked_openssl {
            () => {{
                use std::ffi::{c_char, c_int, c_uchar, c_void};
                unsafe extern "C" {
                    $(fn $symbol($(_: $argument),*) $(-> $result)?;)+
                }
                $crate::openssl::Calls { $($field: $symbol,)+ }
            }};
        }
    };
}

calls! {
    version = OpenSSL_version: fn(c_int) -> *const c_char;
    fetch = EVP_CIPHER_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    new = EVP_CIPHER_CTX_new: fn() -> *mut c_void;
    free = EVP_CIPHER_CTX_free: fn(*mut c_void);
    init = EVP_CipherInit_ex2: fn(*mut c_void, *const c_void, *const c_uchar, *const c_uchar, c_int, *const c_void) -> c_int;
    update = EVP_CipherUpdate: fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
    finish = EVP_CipherFinal_ex: fn(*mut c_void, *mut c_uchar, *mut c_int) -> c_int;
    control = EVP_CIPHER_CTX_ctrl: fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int;
}

/// `EVP_CTRL_AEAD_GET_TAG` and `EVP_CTRL_AEAD_SET_TAG` of openssl/evp.h.
const GET_TAG: c_int = 0x10;
const SET_TAG: c_int = 0x11;
/// Directions, as `EVP_CipherInit_ex2` wants them. GCM's key is the same for both.
const OPEN: c_int = 0;
const SEAL: c_int = 1;

/// An OpenSSL, and its three ciphers, fetched once.
#[derive(Debug)]
pub struct OpenSsl {
    calls: Calls,
    ciphers: [*mut c_void; 3],
}

// SAFETY: fetched ciphers are for all threads.
unsafe impl Send for OpenSsl {}
// SAFETY: as above.
unsafe impl Sync for OpenSsl {}

impl OpenSsl {
    /// Fetches the ciphers.
    ///
    /// # Errors
    /// Where there is none.
    pub fn new(calls: Calls) -> Result<Self, String> {
        // SAFETY: strings and null, as openssl/evp.h allows.
        let ciphers = [c"AES-128-GCM", c"AES-192-GCM", c"AES-256-GCM"]
            .map(|name| unsafe { (calls.fetch)(ptr::null_mut(), name.as_ptr(), ptr::null()) });
        if ciphers.iter().any(|cipher| cipher.is_null()) {
            return Err("it has no AES-GCM".into());
        }
        Ok(Self { calls, ciphers })
    }

    /// What it calls itself.
    pub fn version(&self) -> String {
        // SAFETY: a constant string.
        unsafe { CStr::from_ptr((self.calls.version)(0)) }.to_string_lossy().into()
    }
}

/// A context with a key.
#[derive(Debug)]
pub struct Key {
    calls: Calls,
    context: *mut c_void,
}

impl Key {
    /// `None` if there is no such key.
    pub fn new(openssl: &OpenSsl, key: &[u8]) -> Option<Self> {
        let cipher = *openssl.ciphers.get((key.len() / 8).checked_sub(2)?)?;
        let calls = openssl.calls;
        // SAFETY: a context that was just made, and a cipher with a key of its length.
        unsafe {
            let new = Self { calls, context: (calls.new)() };
            ((calls.init)(new.context, cipher, key.as_ptr(), ptr::null(), SEAL, ptr::null()) == 1).then_some(new)
        }
    }

    /// Puts another key of the same length in the place of this one.
    pub fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a context whose cipher has keys of that length.
        unsafe { (self.calls.init)(self.context, ptr::null(), key.as_ptr(), ptr::null(), SEAL, ptr::null()) };
    }

    /// Everything but the tag: nonce, AAD, text.
    #[inline(always)]
    unsafe fn begin(&self, direction: c_int, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (calls, context, mut written) = (&self.calls, self.context, 0);
        // SAFETY: the caller's promise; no text here has 2 GiB.
        unsafe {
            (calls.init)(context, ptr::null(), ptr::null(), nonce, direction, ptr::null()) == 1
                && (aad_len == 0 || (calls.update)(context, ptr::null_mut(), &mut written, aad, aad_len as c_int) == 1)
                && (len == 0 || (calls.update)(context, output, &mut written, input, len as c_int) == 1)
        }
    }

    /// See [`crate::Rival::seal`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn seal(&mut self, message: &Message) {
        let (calls, mut written) = (&self.calls, 0);
        // SAFETY: the caller's promise.
        let done = unsafe {
            let tag = message.output.add(message.len);
            self.begin(SEAL, message)
                && (calls.finish)(self.context, tag, &mut written) == 1
                && (calls.control)(self.context, GET_TAG, TAG as c_int, tag.cast()) == 1
        };
        assert!(done, "OpenSSL refuses to seal");
    }

    /// See [`crate::Rival::open`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn open(&mut self, message: &Message) -> bool {
        let (calls, mut written, mut nothing) = (&self.calls, 0, [0u8; TAG]);
        // SAFETY: the caller's promise; the tag is only read.
        unsafe {
            let tag = message.input.add(message.len).cast_mut();
            self.begin(OPEN, message)
                && (calls.control)(self.context, SET_TAG, TAG as c_int, tag.cast()) == 1
                && (calls.finish)(self.context, nothing.as_mut_ptr(), &mut written) == 1
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { (self.calls.free)(self.context) };
    }
}

/// Exports a rival: its name, the head of its page, and where its calls come from.
#[macro_export]
macro_rules! export_openssl {
    ($name:literal, $calls:expr) => {
        static OPENSSL: std::sync::OnceLock<$crate::openssl::OpenSsl> = std::sync::OnceLock::new();

        struct Rival($crate::openssl::Key);

        impl $crate::Rival for Rival {
            const NAME: &'static str = $name;

            fn version() -> String {
                OPENSSL.get().map_or_else(String::new, $crate::openssl::OpenSsl::version)
            }

            fn variants() -> String {
                $crate::level::openssl_variants()
            }

            fn start(_level: &str) -> Result<(), String> {
                OPENSSL.set($crate::openssl::OpenSsl::new($calls?)?).map_err(|_| "started twice".into())
            }

            fn new(key: &[u8]) -> Option<Self> {
                $crate::openssl::Key::new(OPENSSL.get()?, key).map(Self)
            }

            fn rekey(&mut self, key: &[u8]) {
                self.0.rekey(key);
            }

            #[inline(always)]
            unsafe fn seal(&mut self, message: &$crate::Message) {
                // SAFETY: the caller's promise.
                unsafe { self.0.seal(message) }
            }

            #[inline(always)]
            unsafe fn open(&mut self, message: &$crate::Message) -> bool {
                // SAFETY: the caller's promise.
                unsafe { self.0.open(message) }
            }
        }

        $crate::export!(Rival);
    };
}
