//! OpenSSL's EVP interface with two providers side by side: its own, `default`, and `fastgcm`.
//!
//! `FASTGCM_MODULES` names the folder that `fastgcm.so` is in.
// These are tests, which give what OpenSSL has given.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

use std::{
    ffi::{CString, c_char, c_int, c_uint, c_void},
    ptr,
    sync::OnceLock,
};

/// What is linked.
#[allow(missing_docs)]
pub mod ffi {
    use super::*;

    /// `OSSL_PARAM`.
    #[repr(C)]
    #[derive(Debug)]
    pub struct Param {
        pub key: *const c_char,
        pub kind: c_uint,
        pub data: *mut c_void,
        pub size: usize,
        pub returned: usize,
    }

    /// `OSSL_ALGORITHM`: names, and functions by their numbers.
    #[repr(C)]
    #[derive(Debug)]
    pub struct Algorithm {
        pub names: *const c_char,
        pub properties: *const c_char,
        pub functions: *const Dispatch,
        pub description: *const c_char,
    }

    /// `OSSL_DISPATCH`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct Dispatch {
        pub number: c_int,
        pub function: *const c_void,
    }

    #[link(name = "crypto")]
    unsafe extern "C" {
        pub fn OpenSSL_version_num() -> std::ffi::c_ulong;
        pub fn OpenSSL_version(t: c_int) -> *const c_char;
        pub fn OSSL_LIB_CTX_new() -> *mut c_void;
        pub fn OSSL_PROVIDER_set_default_search_path(ctx: *mut c_void, path: *const c_char) -> c_int;
        pub fn OSSL_PROVIDER_load(ctx: *mut c_void, name: *const c_char) -> *mut c_void;
        pub fn OSSL_PROVIDER_query_operation(provider: *mut c_void, operation: c_int, no_cache: *mut c_int) -> *const Algorithm;
        pub fn OSSL_PROVIDER_get0_provider_ctx(provider: *mut c_void) -> *mut c_void;
        pub fn OSSL_PROVIDER_unload(provider: *mut c_void) -> c_int;
        pub fn OSSL_PROVIDER_get_params(provider: *mut c_void, params: *mut Param) -> c_int;
        pub fn OSSL_LIB_CTX_free(ctx: *mut c_void);
        pub fn EVP_CIPHER_fetch(ctx: *mut c_void, name: *const c_char, properties: *const c_char) -> *mut c_void;
        pub fn EVP_CIPHER_free(cipher: *mut c_void);
        pub fn EVP_CIPHER_CTX_new() -> *mut c_void;
        pub fn EVP_CIPHER_CTX_free(ctx: *mut c_void);
        pub fn EVP_CIPHER_CTX_copy(to: *mut c_void, from: *const c_void) -> c_int;
        pub fn EVP_CipherInit_ex2(
            ctx: *mut c_void,
            cipher: *const c_void,
            key: *const u8,
            iv: *const u8,
            enc: c_int,
            params: *const Param,
        ) -> c_int;
        pub fn EVP_CipherUpdate(ctx: *mut c_void, out: *mut u8, outl: *mut c_int, from: *const u8, inl: c_int) -> c_int;
        pub fn EVP_CipherFinal_ex(ctx: *mut c_void, out: *mut u8, outl: *mut c_int) -> c_int;
        pub fn EVP_Cipher(ctx: *mut c_void, out: *mut u8, from: *const u8, inl: c_uint) -> c_int;
        pub fn EVP_CIPHER_CTX_ctrl(ctx: *mut c_void, kind: c_int, arg: c_int, ptr: *mut c_void) -> c_int;
        pub fn EVP_CIPHER_CTX_get_params(ctx: *mut c_void, params: *mut Param) -> c_int;
        pub fn EVP_CIPHER_CTX_set_params(ctx: *mut c_void, params: *const Param) -> c_int;
        pub fn EVP_MAC_fetch(ctx: *mut c_void, name: *const c_char, properties: *const c_char) -> *mut c_void;
        pub fn EVP_MAC_CTX_new(mac: *mut c_void) -> *mut c_void;
        pub fn EVP_MAC_CTX_free(ctx: *mut c_void);
        pub fn EVP_MAC_CTX_dup(ctx: *const c_void) -> *mut c_void;
        pub fn EVP_MAC_init(ctx: *mut c_void, key: *const u8, len: usize, params: *const Param) -> c_int;
        pub fn EVP_MAC_update(ctx: *mut c_void, data: *const u8, len: usize) -> c_int;
        pub fn EVP_MAC_final(ctx: *mut c_void, out: *mut u8, outl: *mut usize, size: usize) -> c_int;
        pub fn ERR_peek_last_error() -> std::ffi::c_ulong;
        pub fn ERR_clear_error();
    }
}

pub use ffi::Param;

impl Param {
    /// Bytes that are given, or to be filled.
    pub fn octets(key: &'static std::ffi::CStr, data: *mut u8, size: usize) -> Self {
        Self { key: key.as_ptr(), kind: 5, data: data.cast(), size, returned: usize::MAX }
    }

    /// A string that is given.
    pub fn text(key: &'static std::ffi::CStr, text: &std::ffi::CStr) -> Self {
        Self { key: key.as_ptr(), kind: 4, data: text.as_ptr().cast_mut().cast(), size: text.count_bytes(), returned: usize::MAX }
    }

    /// A number of another width or kind (1: signed, 2: unsigned, 3: `double`), in those bytes.
    pub fn wide(key: &'static std::ffi::CStr, kind: c_uint, bytes: &mut [u8]) -> Self {
        Self { key: key.as_ptr(), kind, data: bytes.as_mut_ptr().cast(), size: bytes.len(), returned: usize::MAX }
    }

    /// A number.
    pub fn number(key: &'static std::ffi::CStr, number: &mut usize) -> Self {
        Self { key: key.as_ptr(), kind: 2, data: ptr::from_mut(number).cast(), size: 8, returned: usize::MAX }
    }

    /// The end of a list.
    pub const END: Self = Self { key: ptr::null(), kind: 0, data: ptr::null_mut(), size: 0, returned: 0 };
}

/// A library context of OpenSSL with both providers.
#[derive(Debug)]
pub struct OpenSsl {
    /// `OSSL_LIB_CTX`.
    pub context: *mut c_void,
    /// The provider `fastgcm`.
    pub fastgcm: *mut c_void,
    ciphers: [[*mut c_void; 3]; 2],
}

// SAFETY: OpenSSL's contexts and ciphers are for all threads.
unsafe impl Send for OpenSsl {}
// SAFETY: as above.
unsafe impl Sync for OpenSsl {}

/// Whose implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// OpenSSL's own.
    Default = 0,
    /// Ours.
    Fastgcm = 1,
}

impl Whose {
    /// What to ask for when it is fetched.
    pub fn properties(self) -> CString {
        CString::new(if self == Self::Default { "provider=default" } else { "provider=fastgcm" }).unwrap()
    }
}

impl OpenSsl {
    /// The one of this process.
    ///
    /// # Panics
    /// If the provider cannot be loaded.
    pub fn get() -> &'static Self {
        static OPENSSL: OnceLock<OpenSsl> = OnceLock::new();
        OPENSSL.get_or_init(Self::new)
    }

    /// A new one.
    ///
    /// # Panics
    /// If the provider cannot be loaded.
    pub fn new() -> Self {
        let modules = std::env::var("FASTGCM_MODULES").expect("FASTGCM_MODULES names the folder of fastgcm.so");
        let modules = CString::new(modules).unwrap();
        // SAFETY: strings, and what OpenSSL has given.
        unsafe {
            let context = ffi::OSSL_LIB_CTX_new();
            assert_eq!(ffi::OSSL_PROVIDER_set_default_search_path(context, modules.as_ptr()), 1);
            assert!(!ffi::OSSL_PROVIDER_load(context, c"default".as_ptr()).is_null());
            let fastgcm = ffi::OSSL_PROVIDER_load(context, c"fastgcm".as_ptr());
            assert!(!fastgcm.is_null(), "OpenSSL does not load the provider from {modules:?}");
            let ciphers = [Whose::Default, Whose::Fastgcm].map(|whose| {
                [c"AES-128-GCM", c"AES-192-GCM", c"AES-256-GCM"].map(|name| {
                    let cipher = ffi::EVP_CIPHER_fetch(context, name.as_ptr(), whose.properties().as_ptr());
                    assert!(!cipher.is_null(), "{whose:?}: no {name:?}");
                    cipher
                })
            });
            Self { context, fastgcm, ciphers }
        }
    }

    /// Unloads both providers.
    pub fn free(self) {
        // SAFETY: nobody has the context any more.
        unsafe {
            self.ciphers.iter().flatten().for_each(|cipher| ffi::EVP_CIPHER_free(*cipher));
            assert_eq!(ffi::OSSL_PROVIDER_unload(self.fastgcm), 1);
            ffi::OSSL_LIB_CTX_free(self.context);
        }
    }

    /// The cipher for keys of so many bytes.
    pub fn cipher(&self, whose: Whose, key: usize) -> *mut c_void {
        self.ciphers[whose as usize][key / 8 - 2]
    }

    /// A number that the provider tells.
    pub fn told(&self, name: &'static std::ffi::CStr) -> usize {
        let mut number = 0;
        let mut params = [Param::number(name, &mut number), Param::END];
        // SAFETY: a list with room for its number.
        assert_eq!(unsafe { ffi::OSSL_PROVIDER_get_params(self.fastgcm, params.as_mut_ptr()) }, 1);
        number
    }
}

impl Default for OpenSsl {
    fn default() -> Self {
        Self::new()
    }
}

/// The last error of this thread, of which no errors are left. (Later versions say more before it.)
pub fn last_error() -> std::ffi::c_ulong {
    // SAFETY: the queue of this thread.
    unsafe {
        let why = ffi::ERR_peek_last_error();
        ffi::ERR_clear_error();
        why
    }
}

/// `EVP_CIPHER_CTX`.
#[derive(Debug)]
pub struct Context(pub *mut c_void);

/// `EVP_CTRL_AEAD_...` of openssl/evp.h.
pub mod control {
    #![allow(missing_docs)]
    pub const SET_IVLEN: i32 = 0x9;
    pub const GET_TAG: i32 = 0x10;
    pub const SET_TAG: i32 = 0x11;
    pub const SET_IV_FIXED: i32 = 0x12;
    pub const IV_GEN: i32 = 0x13;
    pub const SET_IV_INV: i32 = 0x18;
    pub const TLS1_AAD: i32 = 0x16;
}

impl Context {
    /// An empty one.
    pub fn new() -> Self {
        // SAFETY: no argument.
        Self(unsafe { ffi::EVP_CIPHER_CTX_new() })
    }

    /// `EVP_CipherInit_ex2`; direction 0 is open, 1 seal, -1 as it was.
    #[inline]
    pub fn init(&mut self, cipher: *const c_void, key: Option<&[u8]>, iv: Option<&[u8]>, direction: c_int) -> c_int {
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(ptr::null(), <[u8]>::as_ptr);
        // SAFETY: callers give keys and IVs of the lengths that are set.
        unsafe { ffi::EVP_CipherInit_ex2(self.0, cipher, pointer(key), pointer(iv), direction, ptr::null()) }
    }

    /// AAD.
    #[inline]
    pub fn aad(&mut self, aad: &[u8]) -> c_int {
        let mut written = 0;
        // SAFETY: a slice.
        unsafe { ffi::EVP_CipherUpdate(self.0, ptr::null_mut(), &mut written, aad.as_ptr(), aad.len() as c_int) }
    }

    /// Text in place. Returns what the call does, and how much it says to have written.
    #[inline]
    pub fn text(&mut self, text: &mut [u8]) -> (c_int, c_int) {
        let (mut written, at) = (-7, text.as_mut_ptr());
        // SAFETY: a slice, in place.
        let done = unsafe { ffi::EVP_CipherUpdate(self.0, at, &mut written, at, text.len() as c_int) };
        (done, written)
    }

    /// Text from one buffer to another.
    #[inline]
    pub fn text_to(&mut self, from: &[u8], to: &mut [u8]) -> (c_int, c_int) {
        assert!(to.len() >= from.len());
        let mut written = -7;
        // SAFETY: two slices.
        let done = unsafe { ffi::EVP_CipherUpdate(self.0, to.as_mut_ptr(), &mut written, from.as_ptr(), from.len() as c_int) };
        (done, written)
    }

    /// The end.
    #[inline]
    pub fn finish(&mut self) -> c_int {
        let (mut written, mut nothing) = (0, [0; 32]);
        // SAFETY: room for more than it writes.
        unsafe { ffi::EVP_CipherFinal_ex(self.0, nothing.as_mut_ptr(), &mut written) }
    }

    /// A control with bytes.
    #[inline]
    pub fn control(&mut self, kind: c_int, bytes: &mut [u8]) -> c_int {
        // SAFETY: a slice.
        unsafe { ffi::EVP_CIPHER_CTX_ctrl(self.0, kind, bytes.len() as c_int, bytes.as_mut_ptr().cast()) }
    }

    /// A control with a number.
    #[inline]
    pub fn control_number(&mut self, kind: c_int, number: c_int) -> c_int {
        // SAFETY: it takes no pointer.
        unsafe { ffi::EVP_CIPHER_CTX_ctrl(self.0, kind, number, ptr::null_mut()) }
    }

    /// The tag of what was sealed.
    #[inline]
    pub fn tag(&mut self) -> [u8; 16] {
        let mut tag = [0; 16];
        assert_eq!(self.control(control::GET_TAG, &mut tag), 1);
        tag
    }

    /// A copy.
    pub fn copy(&self) -> Self {
        let mut copy = Self::new();
        assert_eq!(copy.copy_of(self), 1);
        copy
    }

    /// Becomes a copy.
    pub fn copy_of(&mut self, other: &Self) -> c_int {
        // SAFETY: two contexts.
        unsafe { ffi::EVP_CIPHER_CTX_copy(self.0, other.0) }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { ffi::EVP_CIPHER_CTX_free(self.0) }
    }
}
