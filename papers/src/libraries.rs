//! Loads other libraries at run time: the system's libcrypto (OpenSSL 3), with or without a provider.

use anyhow::{Context as _, Result, ensure};
use fastgcm_measure::aead;
use libloading::{Library, Symbol};
use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int, c_void},
    path::Path,
    ptr::{null, null_mut},
};

/// A message for a function of another library: `len` bytes are read at `input` and written at `output`, which is the same place or does not overlap.
pub(crate) struct Call<'a> {
    pub(crate) seal: bool,
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) aad: &'a [u8],
    pub(crate) input: *const u8,
    pub(crate) output: *mut u8,
    pub(crate) len: usize,
}

/// A key of another library.
pub(crate) trait ForeignKey {
    /// Seals, writes the tag and returns true if it succeeded; or opens and returns true if the tag is right.
    ///
    /// # Safety
    /// The buffers of the call are valid.
    unsafe fn call(&mut self, call: Call<'_>, tag: &mut [u8; 16]) -> bool;
}

/// A key of another library as a contender's.
pub(crate) struct Foreign<K>(pub(crate) K);

impl<K: ForeignKey> aead::Key for Foreign<K> {
    #[inline(always)]
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        let (mut tag, output) = ([0; 16], text.as_mut_ptr());
        // SAFETY: input and output are `text`.
        let sealed = unsafe { self.0.call(Call { seal: true, nonce, aad, input: output, output, len: text.len() }, &mut tag) };
        assert!(sealed, "a library refused to seal");
        tag
    }

    #[inline(always)]
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        assert_eq!(ciphertext.len(), text.len());
        let (mut tag, input, output) = (*tag, ciphertext.as_ptr(), text.as_mut_ptr());
        // SAFETY: two slices of that length, one of them exclusive, so that they do not overlap.
        unsafe { self.0.call(Call { seal: false, nonce, aad, input, output, len: text.len() }, &mut tag) }
    }
}

/// Writes the tag when sealing, or compares it when opening.
pub(crate) fn give_or_compare(seal: bool, found: [u8; 16], tag: &mut [u8; 16]) -> bool {
    if seal {
        *tag = found;
    }
    u128::from_ne_bytes(found) == u128::from_ne_bytes(*tag)
}

/// Loads a library, which stays loaded until the program ends.
///
/// # Safety
/// The library's initialisers run.
pub(crate) unsafe fn load(file: impl AsRef<OsStr>) -> Result<&'static Library> {
    // SAFETY: the caller's promise.
    Ok(Box::leak(Box::new(unsafe { Library::new(file) }?)))
}

/// Returns the function with this name.
///
/// # Safety
/// The function has this type.
pub(crate) unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> Result<F> {
    // SAFETY: the caller's promise.
    let symbol: Symbol<'_, F> = unsafe { library.get(name.as_bytes()) }?;
    Ok(*symbol)
}

/// A part of another library's memory, known by its address only.
#[repr(C)]
struct Opaque([u8; 0]);

/// The functions of libcrypto.
///
/// A key is one `EVP_CIPHER_CTX`, used again for every message: only the nonce is set, which is the fastest way through this interface.
#[derive(Clone, Copy)]
pub(crate) struct Libcrypto {
    version: &'static str,
    provider: bool,
    /// The fetched `EVP_CIPHER` of AES-128, -192 and -256.
    ciphers: [*const Opaque; 3],
    new: unsafe extern "C" fn() -> *mut Opaque,
    free: unsafe extern "C" fn(*mut Opaque),
    init: unsafe extern "C" fn(*mut Opaque, *const Opaque, *mut c_void, *const u8, *const u8, c_int) -> c_int,
    update: unsafe extern "C" fn(*mut Opaque, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
    end: unsafe extern "C" fn(*mut Opaque, *mut u8, *mut c_int) -> c_int,
    control: unsafe extern "C" fn(*mut Opaque, c_int, c_int, *mut c_void) -> c_int,
}

pub(crate) struct LibcryptoKey(Libcrypto, *mut Opaque);

impl Libcrypto {
    /// Loads the system's libcrypto, and with `provider` takes the ciphers of this provider's module, as a program does that names it.
    pub(crate) fn load(provider: Option<&Path>) -> Result<Self> {
        // SAFETY: it is the libcrypto that the system's own programs load by this name. Each type is that of the function of this name in
        // openssl/evp.h, crypto.h and provider.h of version 3. Neither context nor provider is ever freed: the ciphers are used until the end. The
        // user named the module, and can run any code here anyway.
        unsafe {
            let library = load("libcrypto.so.3")?;
            let fetch: unsafe extern "C" fn(*mut Opaque, *const c_char, *const c_char) -> *const Opaque =
                function(library, "EVP_CIPHER_fetch")?;
            let (mut context, mut wanted) = (null_mut(), c"".to_owned());
            if let Some(module) = provider {
                let new: unsafe extern "C" fn() -> *mut Opaque = function(library, "OSSL_LIB_CTX_new")?;
                let search: unsafe extern "C" fn(*mut Opaque, *const c_char) -> c_int =
                    function(library, "OSSL_PROVIDER_set_default_search_path")?;
                let start: unsafe extern "C" fn(*mut Opaque, *const c_char) -> *mut c_void = function(library, "OSSL_PROVIDER_load")?;
                let path = module.canonicalize().with_context(|| module.display().to_string())?;
                let (folder, name) = path.parent().zip(path.file_stem()).context("the name of a module")?;
                let text = |text: &OsStr| CString::new(text.as_encoded_bytes());
                wanted = CString::new(format!("provider={}", name.display()))?;
                context = new();
                let begun = search(context, text(folder.as_os_str())?.as_ptr()) == 1 && !start(context, text(name)?.as_ptr()).is_null();
                ensure!(begun, "{}: not a module that this libcrypto loads", module.display());
            }
            let version: unsafe extern "C" fn(c_int) -> *const c_char = function(library, "OpenSSL_version")?;
            Ok(Self {
                version: CStr::from_ptr(version(0)).to_str()?,
                provider: provider.is_some(),
                ciphers: [c"AES-128-GCM", c"AES-192-GCM", c"AES-256-GCM"].map(|name| fetch(context, name.as_ptr(), wanted.as_ptr())),
                new: function(library, "EVP_CIPHER_CTX_new")?,
                free: function(library, "EVP_CIPHER_CTX_free")?,
                init: function(library, "EVP_CipherInit_ex")?,
                update: function(library, "EVP_CipherUpdate")?,
                end: function(library, "EVP_CipherFinal_ex")?,
                control: function(library, "EVP_CIPHER_CTX_ctrl")?,
            })
        }
    }

    /// Returns the library's name, version and date.
    pub(crate) fn version(&self) -> &'static str {
        self.version
    }
}

impl aead::Implementation for Libcrypto {
    type Key = Foreign<LibcryptoKey>;

    /// Returns name and version, without the date.
    fn name(&self) -> String {
        let name = self.version.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        if self.provider { name + " with fastgcm's provider" } else { name }
    }

    fn key(&self, key: &[u8]) -> Option<Self::Key> {
        let cipher = self.ciphers[key.len().checked_sub(16)? / 8];
        // SAFETY: it takes nothing; null is checked.
        let context = unsafe { (self.new)() };
        if cipher.is_null() || context.is_null() {
            return None;
        }
        let new = Foreign(LibcryptoKey(*self, context));
        // SAFETY: the context and the cipher are the library's; that cipher reads as many bytes of the key as it has; no nonce is given yet.
        let done = unsafe { (self.init)(context, cipher, null_mut(), key.as_ptr(), null(), 1) };
        (done == 1).then_some(new)
    }
}

impl ForeignKey for LibcryptoKey {
    unsafe fn call(&mut self, call: Call<'_>, tag: &mut [u8; 16]) -> bool {
        /// `EVP_CTRL_AEAD_GET_TAG` and `EVP_CTRL_AEAD_SET_TAG`.
        const GET_TAG: c_int = 0x10;
        const SET_TAG: c_int = 0x11;
        let Self(Libcrypto { init, update, end, control, .. }, context) = *self;
        let (mut done, mut nothing, tag) = (0, [0; 16], tag.as_mut_ptr().cast());
        let (Ok(aad_len), Ok(text_len)) = (c_int::try_from(call.aad.len()), c_int::try_from(call.len)) else { return false };
        // SAFETY: the context is alive. The nonce has the 12 bytes that GCM takes unless told otherwise. Where there is no output the input is
        // AAD, and only read. For input and output of the text the caller answers; this function allows them to be the same. The end writes nothing
        // in GCM, and no cipher more than a block of 16 bytes. The tag has 16 bytes.
        unsafe {
            init(context, null(), null_mut(), null(), call.nonce.as_ptr(), call.seal.into()) == 1
                && (aad_len == 0 || update(context, null_mut(), &mut done, call.aad.as_ptr(), aad_len) == 1)
                && (text_len == 0 || update(context, call.output, &mut done, call.input, text_len) == 1)
                && (call.seal || control(context, SET_TAG, 16, tag) == 1)
                && end(context, nothing.as_mut_ptr(), &mut done) == 1
                && (!call.seal || control(context, GET_TAG, 16, tag) == 1)
        }
    }
}

impl Drop for LibcryptoKey {
    fn drop(&mut self) {
        // SAFETY: it came from `new`, and nobody else has it.
        unsafe { (self.0.free)(self.1) }
    }
}
