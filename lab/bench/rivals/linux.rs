//! The AES-GCM code of Linux 6.12, as it is in Debian's package `linux-source-6.12`: its assembly, in a program. Each message calls what the
//! kernel calls for text and AAD that lie in one piece each: the AAD, the text, the end. Not measured is what the kernel does around that
//! (saving vector registers, walking lists of pages), which costs more than a short message.
//!
//! It has four levels. That of 256 bits (`avx10_256`) needs the encoding of AVX-512, so that a processor with VAES and without AVX-512 cannot run
//! it; it is compared at `vaes-avx2` all the same, where nothing of Linux 6.12 is nearer.

use plugin::{Message, Rival, TAG, level};
use std::sync::OnceLock;

type Update = unsafe extern "C" fn(*const Key, *const [u32; 4], *mut [u8; 16], *const u8, *mut u8, i32);

/// The functions of one level.
#[derive(Clone, Copy)]
struct Functions {
    name: &'static str,
    precompute: unsafe extern "C" fn(*mut Key),
    aad: unsafe extern "C" fn(*const Key, *mut [u8; 16], *const u8, i32),
    encrypt: Update,
    decrypt: Update,
    seal: unsafe extern "C" fn(*const Key, *const [u32; 4], *mut [u8; 16], u64, u64),
    open: unsafe extern "C" fn(*const Key, *const [u32; 4], *const [u8; 16], u64, u64, *const u8, i32) -> bool,
}

macro_rules! functions {
    ($name:literal, $precompute:ident, $aad:ident, $encrypt:ident, $decrypt:ident, $seal:ident, $open:ident) => {{
        unsafe extern "C" {
            fn $precompute(key: *mut Key);
            fn $aad(key: *const Key, hash: *mut [u8; 16], aad: *const u8, len: i32);
            fn $encrypt(key: *const Key, counter: *const [u32; 4], hash: *mut [u8; 16], from: *const u8, to: *mut u8, len: i32);
            fn $decrypt(key: *const Key, counter: *const [u32; 4], hash: *mut [u8; 16], from: *const u8, to: *mut u8, len: i32);
            fn $seal(key: *const Key, counter: *const [u32; 4], hash: *mut [u8; 16], aad: u64, text: u64);
            fn $open(
                key: *const Key,
                counter: *const [u32; 4],
                hash: *const [u8; 16],
                aad: u64,
                text: u64,
                tag: *const u8,
                tag_len: i32,
            ) -> bool;
        }
        Functions { name: $name, precompute: $precompute, aad: $aad, encrypt: $encrypt, decrypt: $decrypt, seal: $seal, open: $open }
    }};
}

unsafe extern "C" {
    fn aesni_set_key(key: *mut Key, bytes: *const u8, len: u32);
}

/// Room for a key of any level: 240 bytes of round keys, as many again for the other direction, the key's length, and from byte 496 or 512
/// on what the level precomputes, with three blocks of zeros behind that.
#[repr(C, align(64))]
struct Key([u8; 896]);

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

struct Linux {
    key: Key,
    functions: Functions,
}

/// The first counter of a nonce's text, as words from the last to the first.
#[inline(always)]
unsafe fn counter(nonce: *const u8) -> [u32; 4] {
    // SAFETY: the caller's promise: twelve bytes.
    let word = |at: usize| u32::from_be_bytes(unsafe { nonce.add(at).cast::<[u8; 4]>().read() });
    [2, word(8), word(4), word(0)]
}

impl Rival for Linux {
    const NAME: &'static str = "linux";

    fn version() -> String {
        let name = FUNCTIONS.get().map_or("", |functions| functions.name);
        format!("{}, {name}", env!("RIVAL_VERSION"))
    }

    fn variants() -> String {
        let with_aes = |level: &&str| !matches!(*level, "vpaes-ssse3" | "portable");
        level::names().into_iter().filter(with_aes).collect::<Vec<_>>().join("\n")
    }

    fn start(level: &str) -> Result<(), String> {
        let functions = match level {
            "vaes-avx512" => functions!(
                "vaes-avx10_512",
                aes_gcm_precompute_vaes_avx10_512,
                aes_gcm_aad_update_vaes_avx10,
                aes_gcm_enc_update_vaes_avx10_512,
                aes_gcm_dec_update_vaes_avx10_512,
                aes_gcm_enc_final_vaes_avx10,
                aes_gcm_dec_final_vaes_avx10
            ),
            "vaes-avx2" if !std::arch::is_x86_feature_detected!("avx512vl") => return Err("it has nothing without AVX-512".into()),
            "vaes-avx2" => functions!(
                "vaes-avx10_256",
                aes_gcm_precompute_vaes_avx10_256,
                aes_gcm_aad_update_vaes_avx10,
                aes_gcm_enc_update_vaes_avx10_256,
                aes_gcm_dec_update_vaes_avx10_256,
                aes_gcm_enc_final_vaes_avx10,
                aes_gcm_dec_final_vaes_avx10
            ),
            "aesni-avx" => functions!(
                "aesni_avx",
                aes_gcm_precompute_aesni_avx,
                aes_gcm_aad_update_aesni_avx,
                aes_gcm_enc_update_aesni_avx,
                aes_gcm_dec_update_aesni_avx,
                aes_gcm_enc_final_aesni_avx,
                aes_gcm_dec_final_aesni_avx
            ),
            "aesni-sse" => functions!(
                "aesni",
                aes_gcm_precompute_aesni,
                aes_gcm_aad_update_aesni,
                aes_gcm_enc_update_aesni,
                aes_gcm_dec_update_aesni,
                aes_gcm_enc_final_aesni,
                aes_gcm_dec_final_aesni
            ),
            _ => return Err(format!("it has no code for {level}")),
        };
        FUNCTIONS.set(functions).map_err(|_| "started twice".into())
    }

    fn new(key: &[u8]) -> Option<Self> {
        let mut new = Self { key: Key([0; 896]), functions: *FUNCTIONS.get()? };
        new.rekey(key);
        Some(new)
    }

    fn rekey(&mut self, key: &[u8]) {
        // SAFETY: a key of 16, 24 or 32 bytes, and room for what comes of it.
        unsafe {
            aesni_set_key(&raw mut self.key, key.as_ptr(), key.len() as u32);
            (self.functions.precompute)(&raw mut self.key);
        }
    }

    fn context(&self) -> (*const u8, usize) {
        ((&raw const self.key).cast(), size_of::<Key>())
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (key, f, mut hash) = (&raw const self.key, &self.functions, [0; 16]);
        // SAFETY: the caller's promise. The kernel asks for nothing of AAD or text where there is none.
        unsafe {
            let counter = counter(nonce);
            if aad_len > 0 {
                (f.aad)(key, &mut hash, aad, aad_len as i32);
            }
            if len > 0 {
                (f.encrypt)(key, &counter, &mut hash, input, output, len as i32);
            }
            (f.seal)(key, &counter, &mut hash, aad_len as u64, len as u64);
            *message.tag_out() = hash;
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        let Message { nonce, aad, aad_len, input, output, len } = *message;
        let (key, f, mut hash) = (&raw const self.key, &self.functions, [0; 16]);
        // SAFETY: as in `seal`. In place, the tag behind the text stays.
        unsafe {
            let counter = counter(nonce);
            if aad_len > 0 {
                (f.aad)(key, &mut hash, aad, aad_len as i32);
            }
            if len > 0 {
                (f.decrypt)(key, &counter, &mut hash, input, output, len as i32);
            }
            (f.open)(key, &counter, &hash, aad_len as u64, len as u64, input.add(len), TAG as i32)
        }
    }
}

plugin::export!(Linux);
