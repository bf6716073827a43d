//! AES-GCM of Linux, before and after the commit that the study aesni-2024 is about: `lab/studies/linux.sh` has fetched and assembled it.
//!
//! A message is what the kernel's glue calls for AAD and text that lie in one piece each. Not measured is what the glue does around that.

use fastgcm::Backend;
use fastgcm_measure::aead::{self, AnyImplementation};
use fastgcm_model::Model;
use libloading::Library;
use std::{arch::is_x86_feature_detected as has, path::Path};

type SetKey = unsafe extern "C" fn(*mut Memory, *const u8, u32);
type Block = unsafe extern "C" fn(*const Memory, *mut Memory, *const Memory);

/// Room for what the kernel keeps of a key, or of a message, at any level.
#[repr(C, align(64))]
struct Memory([u8; 896]);

/// Nothing yet.
const ZERO: Memory = Memory([0; 896]);

/// The functions of 6.1 for one level: those of aesni-intel_glue.c that begin so.
#[derive(Clone, Copy)]
struct Functions61 {
    init: unsafe extern "C" fn(*const Memory, *mut Memory, *const [u8; 16], *const Memory, *const u8, u64),
    encrypt: unsafe extern "C" fn(*const Memory, *mut Memory, *mut u8, *const u8, u64),
    decrypt: unsafe extern "C" fn(*const Memory, *mut Memory, *mut u8, *const u8, u64),
    finalize: unsafe extern "C" fn(*const Memory, *mut Memory, *mut [u8; 16], u64),
}

/// Linux 6.1: one level, or that which the kernel chooses for a message of that length.
#[derive(Clone, Copy)]
pub(crate) struct Linux61 {
    name: &'static str,
    set_key: SetKey,
    block: Block,
    /// From how many bytes on, and with what; the last that fits is taken.
    levels: [(usize, Functions61); 3],
}

/// A key of Linux 6.1; a message's context; and H.
pub(crate) struct Key61(Linux61, Box<[Memory; 3]>);

/// `AVX_GEN2_OPTSIZE` and `AVX_GEN4_OPTSIZE`.
const OPTSIZE: [usize; 3] = [0, 640, 4096];

type Update = unsafe extern "C" fn(*const Memory, *const [u32; 4], *mut [u8; 16], *const u8, *mut u8, i32);

/// Linux 6.12: one level.
#[derive(Clone, Copy)]
pub(crate) struct Linux612 {
    name: &'static str,
    set_key: SetKey,
    precompute: unsafe extern "C" fn(*mut Memory),
    aad: unsafe extern "C" fn(*const Memory, *mut [u8; 16], *const u8, i32),
    encrypt: Update,
    decrypt: Update,
    seal: unsafe extern "C" fn(*const Memory, *const [u32; 4], *mut [u8; 16], u64, u64),
    open: unsafe extern "C" fn(*const Memory, *const [u32; 4], *const [u8; 16], u64, u64, *const u8, i32) -> bool,
}

pub(crate) struct Key612(Linux612, Box<Memory>);

/// All that this processor can run.
pub(crate) struct Linux {
    /// What 6.1 chooses, which is measured; then its levels one by one, which are compared.
    pub(crate) old: Vec<Linux61>,
    /// Beside the back end of ours that has the instructions of that level.
    pub(crate) new: Vec<(Backend, Linux612)>,
}

impl Linux {
    /// What `linux.sh` has put into that folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the user named the folder, and can run any code here anyway; these libraries have no initialisers. They are never unloaded.
        let [old, new] = unsafe { [Library::new(folder.join("6.1.so"))?, Library::new(folder.join("6.12.so"))?] };
        let [old, new]: [&'static Library; 2] = [Box::leak(Box::new(old)), Box::leak(Box::new(new))];
        Ok(Self { old: old_levels(old)?, new: new_levels(new)? })
    }

    /// Who is compared with the model, and with each other.
    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn AnyImplementation> {
        let old = self.old.iter().map(|one| one as &dyn AnyImplementation);
        old.chain(self.new.iter().map(|(_, one)| one as &dyn AnyImplementation))
    }
}

fn old_levels(library: &'static Library) -> Result<Vec<Linux61>, libloading::Error> {
    let levels =
        [("Linux 6.1 sse", "", true), ("Linux 6.1 avx_gen2", "_avx_gen2", has!("avx")), ("Linux 6.1 avx_gen4", "_avx_gen4", has!("avx2"))];
    let functions = |suffix: &str| {
        // SAFETY: the types are those that aesni-intel_glue.c of 6.1 declares: its pointers to contexts point to `Memory`.
        unsafe {
            Ok(Functions61 {
                init: *library.get(format!("aesni_gcm_init{suffix}"))?,
                encrypt: *library.get(format!("aesni_gcm_enc_update{suffix}"))?,
                decrypt: *library.get(format!("aesni_gcm_dec_update{suffix}"))?,
                finalize: *library.get(format!("aesni_gcm_finalize{suffix}"))?,
            })
        }
    };
    let sse = functions("")?;
    // SAFETY: as above.
    let (set_key, block) = unsafe { (*library.get("aesni_set_key")?, *library.get("aesni_enc")?) };
    let mut chosen = Linux61 { name: "Linux 6.1", set_key, block, levels: [(0, sse); 3] };
    let mut all = Vec::new();
    for (at, (name, suffix, _)) in levels.into_iter().enumerate().filter(|(_, level)| level.2) {
        let functions = functions(suffix)?;
        chosen.levels[at..].fill((OPTSIZE[at], functions));
        all.push(Linux61 { name, set_key, block, levels: [(0, functions); 3] });
    }
    all.insert(0, chosen);
    Ok(all)
}

fn new_levels(library: &'static Library) -> Result<Vec<(Backend, Linux612)>, libloading::Error> {
    let avx10 = has!("avx512vl") && has!("avx512bw") && has!("bmi2");
    // The level; AAD and the end of both levels of AVX10 are one function.
    let levels = [
        (Backend::AesniSse, "Linux 6.12 aesni", "aesni", true),
        (Backend::AesniAvx, "Linux 6.12 aesni_avx", "aesni_avx", true),
        (Backend::VaesAvx2, "Linux 6.12 vaes_avx10_256", "vaes_avx10", avx10),
        (Backend::VaesAvx512, "Linux 6.12 vaes_avx10_512", "vaes_avx10", avx10),
    ];
    let functions = |name: &'static str, ends: &str| {
        let level = name.trim_start_matches("Linux 6.12 ");
        // SAFETY: the types are those that aesni-intel_glue.c of 6.12 declares: its pointers to keys point to `Memory`.
        unsafe {
            Ok(Linux612 {
                name,
                set_key: *library.get("aesni_set_key")?,
                precompute: *library.get(format!("aes_gcm_precompute_{level}"))?,
                aad: *library.get(format!("aes_gcm_aad_update_{ends}"))?,
                encrypt: *library.get(format!("aes_gcm_enc_update_{level}"))?,
                decrypt: *library.get(format!("aes_gcm_dec_update_{level}"))?,
                seal: *library.get(format!("aes_gcm_enc_final_{ends}"))?,
                open: *library.get(format!("aes_gcm_dec_final_{ends}"))?,
            })
        }
    };
    let here = levels.into_iter().filter(|(backend, .., here)| *here && backend.is_available());
    here.map(|(backend, name, ends, _)| Ok((backend, functions(name, ends)?))).collect()
}

/// All of them give the model's answers, for all lengths up to 2,000, all lengths of keys, and AAD of several lengths. Returns how many did.
pub(crate) fn check(implementations: &[&dyn AnyImplementation]) -> Result<usize, String> {
    let bytes: Vec<u8> = (0..3000_u32).map(|i| (i * i / 8) as u8).collect();
    let mut compared = 0;
    for key in [16, 24, 32] {
        let key = &bytes[500..][..key];
        let model = Model::new(key);
        for len in 0..=2000 {
            let (nonce, aad, text) = ([len as u8; 12], &bytes[7..][..[0, 13, 16, 20, 300][len % 5]], &bytes[..len]);
            let (mut expected, tag) = model.seal(&nonce, aad, text);
            expected.extend(tag);
            for implementation in implementations {
                let at = |what: &str| format!("{}, AES-{}, {len} bytes: {what}", implementation.name(), 8 * key.len());
                let answer = implementation.answer(key, &nonce, aad, text).map_err(|what| at(&what))?;
                if answer != Some(expected.clone()) {
                    return Err(at("not the answer of the model"));
                }
                compared += 1;
            }
        }
    }
    Ok(compared)
}

impl aead::Implementation for Linux61 {
    type Key = Key61;

    fn name(&self) -> String {
        self.name.into()
    }

    fn key(&self, key: &[u8]) -> Option<Key61> {
        let mut memory = Box::new([ZERO; 3]);
        let [keys, zeros, h] = &mut *memory;
        // SAFETY: a key of 16, 24 or 32 bytes, and room for what comes of it; a block of zeros, and room for what AES makes of it: H.
        unsafe {
            (self.set_key)(keys, key.as_ptr(), key.len() as u32);
            (self.block)(keys, h, zeros);
        }
        Some(Key61(*self, memory))
    }
}

impl Key61 {
    /// The tag. What is encrypted or decrypted by `update` is the text.
    ///
    /// # Safety
    /// `len` bytes can be read at `input` and written at `output`, which is the same place or does not overlap.
    #[inline(always)]
    unsafe fn message<const SEAL: bool>(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> [u8; 16] {
        let [keys, context, h] = &mut *self.1;
        let [small, middle, large] = &self.0.levels;
        let functions = if len >= large.0 {
            large.1
        } else if len >= middle.0 {
            middle.1
        } else {
            small.1
        };
        let (mut tag, mut iv) = ([0; 16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        iv[..12].copy_from_slice(nonce);
        // It reads AAD by words of four bytes; in the kernel something always follows.
        let padded: Vec<u8>;
        let aad_at = match aad.len() % 4 {
            0 => aad.as_ptr(),
            rest => {
                padded = [aad, &[0; 4][rest..]].concat();
                padded.as_ptr()
            }
        };
        let update = if SEAL { functions.encrypt } else { functions.decrypt };
        // SAFETY: keys, context and H are ours; AAD as above; the caller answers for the text. Where there is none, nothing is called for it.
        unsafe {
            (functions.init)(keys, context, &iv, h, aad_at, aad.len() as u64);
            if len > 0 {
                update(keys, context, output, input, len as u64);
            }
            (functions.finalize)(keys, context, &mut tag, 16);
        }
        tag
    }
}

impl aead::Key for Key61 {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        let place = text.as_mut_ptr();
        // SAFETY: both are `text`.
        unsafe { self.message::<true>(nonce, aad, place, place, text.len()) }
    }

    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        assert_eq!(ciphertext.len(), text.len());
        // SAFETY: two slices of that length, one of them exclusive, so that they do not overlap.
        let found = unsafe { self.message::<false>(nonce, aad, ciphertext.as_ptr(), text.as_mut_ptr(), text.len()) };
        u128::from_ne_bytes(found) == u128::from_ne_bytes(*tag)
    }
}

impl aead::Implementation for Linux612 {
    type Key = Key612;

    fn name(&self) -> String {
        self.name.into()
    }

    fn key(&self, key: &[u8]) -> Option<Key612> {
        let mut memory = Box::new(ZERO);
        // SAFETY: a key of 16, 24 or 32 bytes, and room for what comes of it.
        unsafe {
            (self.set_key)(&mut *memory, key.as_ptr(), key.len() as u32);
            (self.precompute)(&mut *memory);
        }
        Some(Key612(*self, memory))
    }
}

impl Key612 {
    /// The first counter of a message's text, as words from the last to the first; and GHASH after the text.
    ///
    /// # Safety
    /// As of [`Key61::message`].
    #[inline(always)]
    unsafe fn message(
        &self,
        update: Update,
        nonce: &[u8; 12],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> ([u32; 4], [u8; 16]) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
        let counter = [2, u32::from_be_bytes([i, j, k, l]), u32::from_be_bytes([e, f, g, h]), u32::from_be_bytes([a, b, c, d])];
        let mut hash = [0; 16];
        // SAFETY: the key is ours, and the caller answers for the text. The kernel asks for nothing of AAD or text where there is none.
        unsafe {
            if !aad.is_empty() {
                (self.0.aad)(&*self.1, &mut hash, aad.as_ptr(), aad.len() as i32);
            }
            if len > 0 {
                update(&*self.1, &counter, &mut hash, input, output, len as i32);
            }
        }
        (counter, hash)
    }
}

impl aead::Key for Key612 {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        let place = text.as_mut_ptr();
        // SAFETY: both are `text`. What stands in `hash` becomes the tag.
        unsafe {
            let (counter, mut hash) = self.message(self.0.encrypt, nonce, aad, place, place, text.len());
            (self.0.seal)(&*self.1, &counter, &mut hash, aad.len() as u64, text.len() as u64);
            hash
        }
    }

    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        assert_eq!(ciphertext.len(), text.len());
        // SAFETY: two slices of that length, one of them exclusive, so that they do not overlap. A tag of 16 bytes.
        unsafe {
            let (counter, hash) = self.message(self.0.decrypt, nonce, aad, ciphertext.as_ptr(), text.as_mut_ptr(), text.len());
            (self.0.open)(&*self.1, &counter, &hash, aad.len() as u64, text.len() as u64, tag.as_ptr(), 16)
        }
    }
}
