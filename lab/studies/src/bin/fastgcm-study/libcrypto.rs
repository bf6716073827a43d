//! The system's libcrypto (OpenSSL, or what has its interface), loaded at run time as the rival: nothing has to be built or linked.
//!
//! A key is one `EVP_CIPHER_CTX`, used again for every message: only the nonce is set, which is the fastest way through this interface.
//! The cipher is fetched once where the library can do that (from 3.0 on), not with every key.

use fastgcm_measure::aead;
use libloading::Library;
use std::{
    ffi::{CStr, CString, OsStr, c_char, c_int, c_void},
    path::Path,
    ptr::{null, null_mut},
};

/// The functions of the library, which stays loaded until the program ends.
#[derive(Clone, Copy)]
pub(crate) struct Libcrypto {
    version: &'static str,
    /// Behind the name, if it was held to some.
    level: &'static str,
    /// AES-128, -192 and -256.
    ciphers: [*const Cipher; 3],
    context_new: unsafe extern "C" fn() -> *mut Context,
    context_free: unsafe extern "C" fn(*mut Context),
    init: unsafe extern "C" fn(*mut Context, *const Cipher, *mut c_void, *const u8, *const u8, c_int) -> c_int,
    update: unsafe extern "C" fn(*mut Context, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
    end: unsafe extern "C" fn(*mut Context, *mut u8, *mut c_int) -> c_int,
    control: unsafe extern "C" fn(*mut Context, c_int, c_int, *mut c_void) -> c_int,
}

/// `EVP_CIPHER`.
#[repr(C)]
struct Cipher([u8; 0]);

/// `EVP_CIPHER_CTX`.
#[repr(C)]
struct Context([u8; 0]);

/// A key and what it works with.
pub(crate) struct Key {
    library: Libcrypto,
    context: *mut Context,
}

impl Libcrypto {
    /// The system's, if it has one.
    pub(crate) fn find() -> Option<Self> {
        NAMES.iter().find_map(|name| Self::load(OsStr::new(name)).ok())
    }

    /// The one in that file.
    pub(crate) fn load(file: &OsStr) -> Result<Self, libloading::Error> {
        // SAFETY: loading runs the library's initialisers. Either it is the libcrypto that the system's own programs load by this name, or a
        // file that the user named, who can run any code here anyway.
        let library = Box::leak(Box::new(unsafe { Library::new(file) }?));
        // SAFETY: each type is that of the function of this name in openssl/evp.h and openssl/crypto.h, which has been the same since 1.1.0.
        // The library is never unloaded, so the functions, and the text of the version, last.
        unsafe {
            let version: unsafe extern "C" fn(c_int) -> *const c_char = *library.get("OpenSSL_version")?;
            let fetch = library.get::<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *const Cipher>("EVP_CIPHER_fetch");
            let cipher = |algorithm: &CStr, name: &str| match &fetch {
                Ok(fetch) => Ok(fetch(null_mut(), algorithm.as_ptr(), null())),
                Err(_) => library.get::<unsafe extern "C" fn() -> *const Cipher>(name).map(|cipher| cipher()),
            };
            Ok(Self {
                version: CStr::from_ptr(version(0)).to_str().unwrap_or("libcrypto"),
                level: "",
                ciphers: [
                    cipher(c"AES-128-GCM", "EVP_aes_128_gcm")?,
                    cipher(c"AES-192-GCM", "EVP_aes_192_gcm")?,
                    cipher(c"AES-256-GCM", "EVP_aes_256_gcm")?,
                ],
                context_new: *library.get("EVP_CIPHER_CTX_new")?,
                context_free: *library.get("EVP_CIPHER_CTX_free")?,
                init: *library.get("EVP_CipherInit_ex")?,
                update: *library.get("EVP_CipherUpdate")?,
                end: *library.get("EVP_CipherFinal_ex")?,
                control: *library.get("EVP_CIPHER_CTX_ctrl")?,
            })
        }
    }

    /// Another instance of the system's, held to fewer instructions than the processor has: `OPENSSL_ia32cap` says which it shall not see.
    /// It is read once, when a library is loaded; and the loader knows a file that it has loaded before. So this is a copy.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn held(level: &'static str, capabilities: &str) -> Option<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};
        use std::{env, fs, io, os::fd::IntoRawFd};
        Self::find()?;
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let file = maps.lines().find_map(|line| line.split_once('/').filter(|(_, path)| path.contains("/libcrypto.so")))?.1;
        let mut copy = fs::File::from(memfd_create("libcrypto", MemfdFlags::CLOEXEC).ok()?);
        io::copy(&mut fs::File::open(format!("/{file}")).ok()?, &mut copy).ok()?;
        // It stays open: another of the same number would be taken for this one.
        let copy = copy.into_raw_fd();
        // SAFETY: commands run on the main thread, and no other has been started yet.
        unsafe { env::set_var("OPENSSL_ia32cap", capabilities) };
        let held = Self::load(OsStr::new(&format!("/proc/self/fd/{copy}")));
        // SAFETY: as above.
        unsafe { env::remove_var("OPENSSL_ia32cap") };
        Some(Self { level, ..held.ok()? })
    }

    /// The system's, which has loaded that module, and whose ciphers are the module's: as a program has them that names it.
    pub(crate) fn provider(module: &Path) -> Result<Self, String> {
        let system = Self::find().ok_or("the system has no libcrypto")?;
        let here = || format!("{}: not a module that this libcrypto loads", module.display());
        let (folder, name) = module.parent().zip(module.file_stem()).ok_or_else(here)?;
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", module.display()))?;
        let text = |text: &OsStr| CString::new(text.as_encoded_bytes()).map_err(|_| here());
        let (folder, name, wanted) = (text(folder.as_os_str())?, text(name)?, format!("provider={}", name.display()));
        let wanted = text(OsStr::new(&wanted))?;
        // SAFETY: as in `load`, of which this is the same library; the types are those of openssl/provider.h and openssl/evp.h of 3.0 and later.
        // The user named the module, and can run any code here anyway.
        let ciphers = unsafe {
            let library = Box::leak(Box::new(NAMES.iter().find_map(|file| Library::new(*file).ok()).ok_or_else(here)?));
            let found = |error: libloading::Error| error.to_string();
            let context: unsafe extern "C" fn() -> *mut c_void = *library.get("OSSL_LIB_CTX_new").map_err(found)?;
            type Load = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
            let search: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int =
                *library.get("OSSL_PROVIDER_set_default_search_path").map_err(found)?;
            let load: Load = *library.get("OSSL_PROVIDER_load").map_err(found)?;
            let fetch: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *const Cipher =
                *library.get("EVP_CIPHER_fetch").map_err(found)?;
            // Neither is ever freed: the ciphers are used until the end.
            let context = context();
            if context.is_null() || search(context, folder.as_ptr()) != 1 || load(context, name.as_ptr()).is_null() {
                return Err(here());
            }
            [c"AES-128-GCM", c"AES-192-GCM", c"AES-256-GCM"].map(|cipher| fetch(context, cipher.as_ptr(), wanted.as_ptr()))
        };
        Ok(Self { level: "with fastgcm's provider", ciphers, ..system })
    }

    /// What it says of itself: name, version, date.
    pub(crate) fn version(&self) -> &'static str {
        self.version
    }
}

impl aead::Implementation for Libcrypto {
    type Key = Key;

    /// Name and version, without the date.
    fn name(&self) -> String {
        self.version.split_whitespace().take(2).chain(Some(self.level).filter(|level| !level.is_empty())).collect::<Vec<_>>().join(" ")
    }

    fn key(&self, key: &[u8]) -> Option<Key> {
        let cipher = self.ciphers[key.len().checked_sub(16)? / 8];
        // SAFETY: it takes nothing; null is checked.
        let context = unsafe { (self.context_new)() };
        if cipher.is_null() || context.is_null() {
            return None;
        }
        let new = Key { library: *self, context };
        // SAFETY: the context and the cipher are the library's; that cipher reads as many bytes of the key as it has; no nonce is given yet.
        let done = unsafe { (self.init)(context, cipher, null_mut(), key.as_ptr(), null(), 1) };
        (done == 1).then_some(new)
    }
}

impl Key {
    /// Everything but the tag. False if the library refused something.
    ///
    /// # Safety
    /// `len` bytes can be read at `input` and written at `output`, which is the same place or does not overlap.
    unsafe fn message(&mut self, seal: bool, nonce: &[u8; 12], aad: &[u8], input: *const u8, output: *mut u8, len: usize) -> bool {
        let Libcrypto { init, update, .. } = self.library;
        let mut done = 0;
        let (Ok(aad_len), Ok(text_len)) = (c_int::try_from(aad.len()), c_int::try_from(len)) else { return false };
        // SAFETY: the context is alive. The nonce has the 12 bytes that GCM takes unless told otherwise. Where there is no output the input is
        // AAD, and only read. For input and output of the text the caller answers; this function allows them to be the same.
        unsafe {
            init(self.context, null(), null_mut(), null(), nonce.as_ptr(), seal.into()) == 1
                && (aad_len == 0 || update(self.context, null_mut(), &mut done, aad.as_ptr(), aad_len) == 1)
                && (text_len == 0 || update(self.context, output, &mut done, input, text_len) == 1)
        }
    }

    /// The end of a message: the verdict, if it is opened.
    fn end(&mut self) -> bool {
        let (mut nothing, mut done) = ([0; 16], 0);
        // SAFETY: the context is alive; GCM writes nothing here, and no cipher more than a block of 16 bytes.
        unsafe { (self.library.end)(self.context, nothing.as_mut_ptr(), &mut done) == 1 }
    }

    /// Sets or gets the tag.
    fn tag(&mut self, command: c_int, tag: &mut [u8; 16]) -> bool {
        // SAFETY: the context is alive; both commands take a length and a buffer of that length, which they read or write.
        unsafe { (self.library.control)(self.context, command, 16, tag.as_mut_ptr().cast()) == 1 }
    }
}

impl aead::Key for Key {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        let (mut tag, place) = ([0; 16], text.as_mut_ptr());
        // SAFETY: both are `text`.
        let encrypted = unsafe { self.message(true, nonce, aad, place, place, text.len()) };
        assert!(encrypted && self.end() && self.tag(GET_TAG, &mut tag), "libcrypto refused to seal");
        tag
    }

    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        assert_eq!(ciphertext.len(), text.len());
        // SAFETY: two slices of that length, one of them exclusive, so that they do not overlap.
        let decrypted = unsafe { self.message(false, nonce, aad, ciphertext.as_ptr(), text.as_mut_ptr(), text.len()) };
        decrypted && self.tag(SET_TAG, &mut { *tag }) && self.end()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: it came from `context_new`, and this is the only one who has it.
        unsafe { (self.library.context_free)(self.context) }
    }
}

/// `EVP_CTRL_AEAD_GET_TAG` and `EVP_CTRL_AEAD_SET_TAG`.
const GET_TAG: c_int = 0x10;
const SET_TAG: c_int = 0x11;

/// What it is called, newest first. (macOS ends a program that loads its own, which has no version in its name.)
#[cfg(target_os = "macos")]
const NAMES: &[&str] = &[
    "libcrypto.3.dylib",
    "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib",
    "/usr/local/opt/openssl@3/lib/libcrypto.3.dylib",
    "/opt/local/lib/libcrypto.3.dylib",
];
#[cfg(windows)]
const NAMES: &[&str] = &["libcrypto-3-x64.dll", "libcrypto-3-arm64.dll", "libcrypto-1_1-x64.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const NAMES: &[&str] = &["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"];
