//! Intel's ipsec-mb 2, of Debian's testing (`make.sh`): its direct calls for one message, `IMB_AES128_GCM_ENC` and the like, through the
//! manager's own function pointers. Decryption gives the tag; comparing it is the caller's, and part of the time here.
//!
//! At the machine's own level it chooses its manager itself (`init_mb_mgr_auto`: with AVX-512 and without VAES that is its `avx512`, too);
//! below that it is held to one: `avx2` with VAES, `avx2` without, `sse`.
//!
//! Built from the source, it is another rival: without `SAFE_DATA` it clears neither the registers nor the stack after a message, and without
//! `SAFE_PARAM` it checks no parameters. (`SAFE_LOOKUP` changes nothing where there are AES instructions.)

use plugin::{Message, Rival, TAG, level};
use std::{
    alloc::{Layout, alloc_zeroed},
    ffi::{CStr, CString, c_char, c_void},
    sync::OnceLock,
};

/// `aes_gcm_enc_dec_t`: key, context, out, in, len, iv, aad, aad_len, tag, tag_len.
type Crypt = unsafe extern "C" fn(*const u8, *mut u8, *mut u8, *const u8, u64, *const u8, *const u8, u64, *mut u8, u64);

#[repr(C)]
#[derive(Clone, Copy)]
struct Functions {
    pre: unsafe extern "C" fn(*const u8, *mut u8),
    enc: Crypt,
    dec: Crypt,
}

// layout.c, and one function of the library.
unsafe extern "C" {
    safe fn ipsec_key_size() -> usize;
    safe fn ipsec_context_size() -> usize;
    fn ipsec_manager(level: *const c_char) -> *mut c_void;
    fn ipsec_functions(manager: *const c_void, key_bytes: usize, functions: *mut std::mem::MaybeUninit<Functions>);
    safe fn imb_get_version_str() -> *const c_char;
}

/// The addresses of the manager and of a context, which live as long as the process. What is in a context does not outlast a call for one message.
static STARTED: OnceLock<[usize; 2]> = OnceLock::new();

/// Room for `struct gcm_key_data`, whose size only Intel's header knows.
#[repr(C, align(64))]
struct Key([u8; 2304]);

struct IpsecMb {
    key: Key,
    context: *mut u8,
    functions: Functions,
}

impl Rival for IpsecMb {
    const NAME: &'static str = env!("RIVAL_NAME");

    fn version() -> String {
        // SAFETY: a constant string.
        let version = unsafe { CStr::from_ptr(imb_get_version_str()) }.to_string_lossy();
        format!("{version}, {}", env!("RIVAL_VERSION"))
    }

    fn variants() -> String {
        // Nothing without AES instructions.
        let with_aes = |level: &&str| !matches!(*level, "vpaes-ssse3" | "portable");
        level::names().into_iter().filter(with_aes).collect::<Vec<_>>().join("\n")
    }

    fn start(level: &str) -> Result<(), String> {
        let manager = match level {
            _ if level == level::native() => "auto",
            "vaes-avx2" => "avx2",
            "aesni-avx" => "avx2-aesni",
            "aesni-sse" => "sse",
            _ => return Err(format!("it has no manager for {level}")),
        };
        let name = CString::new(manager).unwrap_or_default();
        // SAFETY: a string.
        let found = unsafe { ipsec_manager(name.as_ptr()) };
        if found.is_null() {
            return Err(format!("its {manager} manager does not start here"));
        }
        let size = ipsec_key_size();
        if size > size_of::<Key>() {
            return Err(format!("its keys have {size} bytes"));
        }
        let context = Layout::from_size_align(ipsec_context_size(), 64).map_err(|error| error.to_string())?;
        // SAFETY: a size of more than nothing.
        let context = unsafe { alloc_zeroed(context) };
        STARTED.set([found as usize, context.addr()]).map_err(|_| "started twice".into())
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut functions = std::mem::MaybeUninit::uninit();
        let [manager, context] = *STARTED.get()?;
        // SAFETY: a manager that started; all three pointers are set.
        let mut new = unsafe {
            ipsec_functions(manager as *const c_void, key.len(), &mut functions);
            Self { key: Key([0; 2304]), context: context as *mut u8, functions: functions.assume_init() }
        };
        new.rekey(key);
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a key of the length for which `functions` are, and room for what is derived from it.
        unsafe { (self.functions.pre)(key.as_ptr(), self.key.0.as_mut_ptr()) };
    }

    fn context(&self) -> (*const u8, usize) {
        (self.key.0.as_ptr(), ipsec_key_size())
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        // SAFETY: the caller's promise.
        unsafe {
            let tag = output.add(len);
            (self.functions.enc)(self.key.0.as_ptr(), self.context, output, input, len as u64, nonce, aad, aad_len as u64, tag, TAG as u64);
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let mut tag = [0u8; TAG];
        // SAFETY: the caller's promise.
        let expected = unsafe {
            let tag = tag.as_mut_ptr();
            (self.functions.dec)(self.key.0.as_ptr(), self.context, output, input, len as u64, nonce, aad, aad_len as u64, tag, TAG as u64);
            message.tag_in()
        };
        u128::from_ne_bytes(tag) == u128::from_ne_bytes(*expected)
    }
}

plugin::export!(IpsecMb);
