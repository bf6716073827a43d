//! Calls AES-GCM of Linux before and after the commit, which `linux.sh` has fetched and assembled.
//!
//! A message makes the calls of the kernel's glue for AAD and text in one piece each. The glue's own work is not measured.

use anyhow::{Result, ensure};
use fastgcm::Backend;
use fastgcm_measure::aead::{self, AnyImplementation};
use fastgcm_model::Model;
use libloading::{Library, Symbol};
use std::{arch::is_x86_feature_detected as has, ffi::OsStr, path::Path};

/// A message for a function of another library: `len` bytes are read at `input` and written at `output`, which is the same place or does not overlap.
struct Call<'a> {
    seal: bool,
    nonce: &'a [u8; 12],
    aad: &'a [u8],
    input: *const u8,
    output: *mut u8,
    len: usize,
}

/// A key of another library.
trait ForeignKey {
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
fn give_or_compare(seal: bool, found: [u8; 16], tag: &mut [u8; 16]) -> bool {
    if seal {
        *tag = found;
    }
    u128::from_ne_bytes(found) == u128::from_ne_bytes(*tag)
}

/// Loads a library, which stays loaded until the program ends.
///
/// # Safety
/// The library's initialisers run.
unsafe fn load(file: impl AsRef<OsStr>) -> Result<&'static Library> {
    // SAFETY: the caller's promise.
    Ok(Box::leak(Box::new(unsafe { Library::new(file) }?)))
}

/// Returns the function with this name.
///
/// # Safety
/// The function has this type.
unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> Result<F> {
    // SAFETY: the caller's promise.
    let symbol: Symbol<'_, F> = unsafe { library.get(name.as_bytes()) }?;
    Ok(*symbol)
}

type SetKey = unsafe extern "C" fn(*mut Memory, *const u8, u32);
type Block = unsafe extern "C" fn(*const Memory, *mut Memory, *const Memory);

/// Memory for a key or a message of the kernel, at any level.
#[repr(C, align(64))]
struct Memory([u8; 896]);

const ZERO: Memory = Memory([0; 896]);

type Init61 = unsafe extern "C" fn(*const Memory, *mut Memory, *const [u8; 16], *const Memory, *const u8, u64);
type Update61 = unsafe extern "C" fn(*const Memory, *mut Memory, *mut u8, *const u8, u64);
type Finalize61 = unsafe extern "C" fn(*const Memory, *mut Memory, *mut [u8; 16], u64);

/// The functions of 6.1 for one level: those that begin, encrypt, decrypt and end a message.
type Functions61 = (Init61, Update61, Update61, Finalize61);

/// Linux 6.1, with the level that the kernel chooses for each length.
#[derive(Clone, Copy)]
pub(crate) struct Linux61 {
    set_key: SetKey,
    block: Block,
    /// The smallest length of each level, and its functions; the last level that fits is used.
    levels: [(usize, Functions61); 3],
}

/// A key of Linux 6.1; a message's context; and H.
pub(crate) struct Key61(Linux61, Box<[Memory; 3]>);

/// `AVX_GEN2_OPTSIZE` and `AVX_GEN4_OPTSIZE`.
const OPTSIZE: [usize; 3] = [0, 640, 4096];

type Update612 = unsafe extern "C" fn(*const Memory, *const [u32; 4], *mut [u8; 16], *const u8, *mut u8, i32);

/// Linux 6.12: one level.
#[derive(Clone, Copy)]
pub(crate) struct Linux612 {
    name: &'static str,
    set_key: SetKey,
    precompute: unsafe extern "C" fn(*mut Memory),
    aad: unsafe extern "C" fn(*const Memory, *mut [u8; 16], *const u8, i32),
    encrypt: Update612,
    decrypt: Update612,
    seal: unsafe extern "C" fn(*const Memory, *const [u32; 4], *mut [u8; 16], u64, u64),
    open: unsafe extern "C" fn(*const Memory, *const [u32; 4], *const [u8; 16], u64, u64, *const u8, i32) -> bool,
}

pub(crate) struct Key612(Linux612, Box<Memory>);

/// The code of Linux that this processor can run.
pub(crate) struct Linux {
    pub(crate) old: Linux61,
    /// Each level with our back end of equal instructions.
    pub(crate) new: Vec<(Backend, Linux612)>,
}

impl Linux {
    /// Loads the libraries that `linux.sh` has put into this folder.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        // SAFETY: the user named the folder, and can run any code here anyway; these libraries have no initialisers.
        let [old_library, new] = unsafe { [load(folder.join("6.1.so"))?, load(folder.join("6.12.so"))?] };
        Ok(Self { old: old(old_library)?, new: new_levels(new)? })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn AnyImplementation> {
        [&self.old as &dyn AnyImplementation].into_iter().chain(self.new.iter().map(|(_, one)| one as &dyn AnyImplementation))
    }
}

fn old(library: &'static Library) -> Result<Linux61> {
    let functions = |suffix: &str| -> Result<Functions61> {
        let name = |what: &str| format!("aesni_gcm_{what}{suffix}");
        // SAFETY: the types are those that aesni-intel_glue.c of 6.1 declares: its pointers to contexts point to `Memory`.
        unsafe {
            let [encrypt, decrypt] = [function(library, &name("enc_update"))?, function(library, &name("dec_update"))?];
            Ok((function(library, &name("init"))?, encrypt, decrypt, function(library, &name("finalize"))?))
        }
    };
    // SAFETY: as above.
    let (set_key, block) = unsafe { (function(library, "aesni_set_key")?, function(library, "aesni_enc")?) };
    let mut levels = [(0, functions("")?); 3];
    for (at, suffix, here) in [(1, "_avx_gen2", has!("avx")), (2, "_avx_gen4", has!("avx2"))] {
        if here {
            levels[at..].fill((OPTSIZE[at], functions(suffix)?));
        }
    }
    Ok(Linux61 { set_key, block, levels })
}

fn new_levels(library: &'static Library) -> Result<Vec<(Backend, Linux612)>> {
    let avx10 = has!("avx512vl") && has!("avx512bw") && has!("bmi2");
    // The level; AAD and the end of both levels of AVX10 are one function.
    let levels = [
        (Backend::AesniSse, "Linux 6.12 aesni", "aesni", true),
        (Backend::AesniAvx, "Linux 6.12 aesni_avx", "aesni_avx", true),
        (Backend::VaesAvx2, "Linux 6.12 vaes_avx10_256", "vaes_avx10", avx10),
        (Backend::VaesAvx512, "Linux 6.12 vaes_avx10_512", "vaes_avx10", avx10),
    ];
    let functions = |name: &'static str, ends: &str| -> Result<Linux612> {
        let level = name.trim_start_matches("Linux 6.12 ");
        // SAFETY: the types are those that aesni-intel_glue.c of 6.12 declares: its pointers to keys point to `Memory`.
        unsafe {
            Ok(Linux612 {
                name,
                set_key: function(library, "aesni_set_key")?,
                precompute: function(library, &format!("aes_gcm_precompute_{level}"))?,
                aad: function(library, &format!("aes_gcm_aad_update_{ends}"))?,
                encrypt: function(library, &format!("aes_gcm_enc_update_{level}"))?,
                decrypt: function(library, &format!("aes_gcm_dec_update_{level}"))?,
                seal: function(library, &format!("aes_gcm_enc_final_{ends}"))?,
                open: function(library, &format!("aes_gcm_dec_final_{ends}"))?,
            })
        }
    };
    let here = levels.into_iter().filter(|(backend, .., here)| *here && backend.is_available());
    here.map(|(backend, name, ends, _)| Ok((backend, functions(name, ends)?))).collect()
}

/// Compares the answers with the model's, for all lengths up to 2,000 and some at which the kernel's choice changes, all lengths of keys, and
/// AAD of several lengths.
pub(crate) fn check(implementations: &[&dyn AnyImplementation]) -> Result<()> {
    let bytes: Vec<u8> = (0..5000_u32).map(|i| (i * i / 8) as u8).collect();
    for key in [16, 24, 32] {
        let key = &bytes[500..][..key];
        let model = Model::new(key);
        for len in (0..=2000).chain(4080..=4240) {
            let (nonce, aad, text) = ([len as u8; 12], &bytes[7..][..[0, 13, 16, 20, 300][len % 5]], &bytes[..len]);
            let (mut expected, tag) = model.seal(&nonce, aad, text);
            expected.extend(tag);
            for implementation in implementations {
                let answer = implementation.answer(key, &nonce, aad, text);
                let name = || format!("{}, AES-{}, {len} bytes", implementation.name(), 8 * key.len());
                ensure!(answer.as_ref().is_ok_and(|answer| answer.as_ref() == Some(&expected)), "{}: not the model's answer", name());
            }
        }
    }
    Ok(())
}

impl aead::Implementation for Linux61 {
    type Key = Foreign<Key61>;

    fn name(&self) -> String {
        "Linux 6.1".into()
    }

    fn key(&self, key: &[u8]) -> Option<Self::Key> {
        let mut memory = Box::new([ZERO; 3]);
        let [keys, zeros, h] = &mut *memory;
        // SAFETY: a key of 16, 24 or 32 bytes, and room for what comes of it; a block of zeros, and room for what AES makes of it: H.
        unsafe {
            (self.set_key)(keys, key.as_ptr(), key.len() as u32);
            (self.block)(keys, h, zeros);
        }
        Some(Foreign(Key61(*self, memory)))
    }
}

impl ForeignKey for Key61 {
    #[inline(always)]
    unsafe fn call(&mut self, call: Call<'_>, tag: &mut [u8; 16]) -> bool {
        let [keys, context, h] = &mut *self.1;
        let [small, middle, large] = &self.0.levels;
        let (init, encrypt, decrypt, finalize) = if call.len >= large.0 {
            large.1
        } else if call.len >= middle.0 {
            middle.1
        } else {
            small.1
        };
        let (mut found, mut iv) = ([0; 16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        iv[..12].copy_from_slice(call.nonce);
        // It reads AAD by words of four bytes; in the kernel something always follows.
        let padded: Vec<u8>;
        let aad = match call.aad.len() % 4 {
            0 => call.aad.as_ptr(),
            rest => {
                padded = [call.aad, &[0; 4][rest..]].concat();
                padded.as_ptr()
            }
        };
        let update = if call.seal { encrypt } else { decrypt };
        // SAFETY: keys, context and H are ours; AAD as above; the caller answers for the text. Where there is none, nothing is called for it.
        unsafe {
            init(keys, context, &iv, h, aad, call.aad.len() as u64);
            if call.len > 0 {
                update(keys, context, call.output, call.input, call.len as u64);
            }
            finalize(keys, context, &mut found, 16);
        }
        give_or_compare(call.seal, found, tag)
    }
}

impl aead::Implementation for Linux612 {
    type Key = Foreign<Key612>;

    fn name(&self) -> String {
        self.name.into()
    }

    fn key(&self, key: &[u8]) -> Option<Self::Key> {
        let mut memory = Box::new(ZERO);
        // SAFETY: a key of 16, 24 or 32 bytes, and room for what comes of it.
        unsafe {
            (self.set_key)(&mut *memory, key.as_ptr(), key.len() as u32);
            (self.precompute)(&mut *memory);
        }
        Some(Foreign(Key612(*self, memory)))
    }
}

impl ForeignKey for Key612 {
    #[inline(always)]
    unsafe fn call(&mut self, call: Call<'_>, tag: &mut [u8; 16]) -> bool {
        let Self(functions, key) = self;
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *call.nonce;
        let counter = [2, u32::from_be_bytes([i, j, k, l]), u32::from_be_bytes([e, f, g, h]), u32::from_be_bytes([a, b, c, d])];
        let (mut hash, aad, text) = ([0; 16], call.aad.len(), call.len);
        let update = if call.seal { functions.encrypt } else { functions.decrypt };
        // SAFETY: the key is ours, and the caller answers for the text. The kernel asks for nothing of AAD or text where there is none.
        // The tag has 16 bytes.
        unsafe {
            if aad > 0 {
                (functions.aad)(&**key, &mut hash, call.aad.as_ptr(), aad as i32);
            }
            if text > 0 {
                update(&**key, &counter, &mut hash, call.input, call.output, text as i32);
            }
            if !call.seal {
                return (functions.open)(&**key, &counter, &hash, aad as u64, text as u64, tag.as_ptr(), 16);
            }
            // What stands in `hash` becomes the tag.
            (functions.seal)(&**key, &counter, &mut hash, aad as u64, text as u64);
        }
        *tag = hash;
        true
    }
}
