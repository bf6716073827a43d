//! The system's libIPSec_MB (Intel's ipsec-mb), loaded at run time: its calls for one message, which it exports for each processor level.

use fastgcm_measure::aead;
use libloading::Library;
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    arch::is_x86_feature_detected as has,
    ffi::{CStr, c_char},
};

/// key, context, out, in, len, iv, aad, aad_len, tag, tag_len: `aes_gcm_enc_dec_t` of intel-ipsec-mb.h.
type Crypt = unsafe extern "C" fn(*const u8, *mut u8, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);
/// key, key data: `aes_gcm_pre_t`.
type Expand = unsafe extern "C" fn(*const u8, *mut u8);

/// For one length of key.
#[derive(Clone, Copy)]
struct Functions {
    expand: Expand,
    seal: Crypt,
    open: Crypt,
}

/// The functions of the library, which stays loaded until the program ends.
#[derive(Clone, Copy)]
pub(crate) struct IpsecMb {
    version: &'static str,
    level: &'static str,
    functions: [Functions; 3],
}

impl IpsecMb {
    /// The system's, if it has one, at the best level of this processor.
    pub(crate) fn find() -> Option<Self> {
        Self::at(levels().last()?)
    }

    /// At one of `levels`, with nothing that processors of that level lack.
    pub(crate) fn at(level: &'static str) -> Option<Self> {
        // SAFETY: loading runs the library's initialisers; it is what the system's own programs load by this name.
        let library = Box::leak(Box::new(unsafe { Library::new("libIPSec_MB.so.1") }.ok()?));
        // SAFETY: the type is that of the header, `const char *imb_get_version_str(void)`.
        let version = unsafe {
            let version: unsafe extern "C" fn() -> *const c_char = *library.get("imb_get_version_str").ok()?;
            CStr::from_ptr(version()).to_str().unwrap_or("")
        };
        let functions = |bits: usize| {
            // SAFETY: the types are those of the header, the same for all levels. The library is never unloaded.
            unsafe {
                Some(Functions {
                    expand: *library.get(format!("aes_gcm_pre_{bits}_{level}")).ok()?,
                    seal: *library.get(format!("aes_gcm_enc_{bits}_{level}")).ok()?,
                    open: *library.get(format!("aes_gcm_dec_{bits}_{level}")).ok()?,
                })
            }
        };
        Some(Self { version, level, functions: [functions(128)?, functions(192)?, functions(256)?] })
    }
}

/// The levels of version 1.3 that this processor can run, narrowest first; its own manager would choose the last.
pub(crate) fn levels() -> Vec<&'static str> {
    let aes = has!("aes") && has!("pclmulqdq") && has!("sse4.2");
    let avx512 = has!("avx2") && has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
    let all = [
        ("sse", aes),
        ("avx_gen2", aes && has!("avx")),
        ("avx_gen4", aes && has!("avx2")),
        ("avx512", aes && avx512),
        ("vaes_avx512", aes && avx512 && has!("vaes") && has!("vpclmulqdq")),
    ];
    all.into_iter().filter(|(_, here)| *here).map(|(level, _)| level).collect()
}

impl aead::Implementation for IpsecMb {
    type Key = Key;

    fn name(&self) -> String {
        format!("ipsec-mb {} {}", self.version, self.level)
    }

    fn key(&self, key: &[u8]) -> Option<Key> {
        let functions = *self.functions.get(key.len().checked_sub(16)? / 8)?;
        // SAFETY: the layout has a size; null is checked.
        let memory = unsafe { alloc_zeroed(MEMORY) };
        if memory.is_null() {
            return None;
        }
        // SAFETY: a key of the length for which `functions` are, and room for what is derived from it.
        unsafe { (functions.expand)(key.as_ptr(), memory) };
        Some(Key { functions, memory })
    }
}

/// A derived key and, in the second half of its memory, a context.
pub(crate) struct Key {
    functions: Functions,
    memory: *mut u8,
}

/// Twice 8 KiB, more than `gcm_key_data` and `gcm_context_data` have at any level, aligned for any vector.
const HALF: usize = 8 << 10;
const MEMORY: Layout = match Layout::from_size_align(2 * HALF, 64) {
    Ok(layout) => layout,
    Err(_) => panic!("64 is a power of two"),
};

impl Key {
    /// # Safety
    /// `len` bytes can be read at `input` and written at `output`, which is the same place or does not overlap.
    unsafe fn message(&mut self, crypt: Crypt, nonce: &[u8; 12], aad: &[u8], input: *const u8, output: *mut u8, len: usize) -> [u8; 16] {
        let mut tag = [0; 16];
        let (nonce, aad_at, tag_at) = (nonce.as_ptr(), aad.as_ptr(), tag.as_mut_ptr());
        // SAFETY: key and context are ours; the nonce has the 12 bytes that these calls read; the caller answers for input and output.
        unsafe { crypt(self.memory, self.memory.add(HALF), output, input, len as u64, nonce, aad_at, aad.len() as u64, tag_at, 16) };
        tag
    }
}

impl aead::Key for Key {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        let place = text.as_mut_ptr();
        // SAFETY: both are `text`.
        unsafe { self.message(self.functions.seal, nonce, aad, place, place, text.len()) }
    }

    /// It gives the tag that the message should have; comparing it is the caller's.
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        assert_eq!(ciphertext.len(), text.len());
        // SAFETY: two slices of that length, one of them exclusive, so that they do not overlap.
        let found = unsafe { self.message(self.functions.open, nonce, aad, ciphertext.as_ptr(), text.as_mut_ptr(), text.len()) };
        u128::from_ne_bytes(found) == u128::from_ne_bytes(*tag)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `key` got it with this layout.
        unsafe { dealloc(self.memory, MEMORY) }
    }
}
