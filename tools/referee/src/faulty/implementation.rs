//! The implementation, with the fault that `REFEREE_FAULT` names.

use super::{FAULTS, Gcm, find};
use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NULL, OVERLAP, Run, TAG_BEHIND, TAGS, THREADS, Table, bytes, bytes_mut};
use fastgcm_model::Block;
use std::{
    env,
    ffi::CStr,
    hint::black_box,
    process,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

static FAULT: OnceLock<&str> = OnceLock::new();
/// True if the removed features trigger the fault.
static MASKED: AtomicBool = AtomicBool::new(false);

/// Returns the table. Some faults change its offers.
pub(crate) fn table() -> &'static Table {
    let table = Table::of::<Faulty>();
    let offers = match &*env::var("REFEREE_FAULT").unwrap_or_default() {
        "keeps-key" => table.offers & !KEEPS,
        "tag-behind" | "program-tag" | "program-reads" => table.offers | TAG_BEHIND,
        _ => table.offers,
    };
    Box::leak(Box::new(Table { offers, ..table }))
}

fn fault() -> &'static str {
    FAULT.get().copied().unwrap_or_default()
}

fn is(name: &str) -> bool {
    debug_assert!(find(name).is_some(), "{name}");
    fault() == name
}

struct Faulty {
    gcm: Gcm,
    /// True after it has refused a message.
    refused: AtomicBool,
    /// The number of whole messages.
    messages: AtomicUsize,
    /// The nonce of the fault "threads".
    nonce: AtomicU64,
}

impl Implementation for Faulty {
    const NAME: &'static CStr = c"model";
    const OFFERS: u32 = IN_PLACE | OVERLAP | NULL | THREADS | KEEPS;
    const TAGS: u32 = TAGS;
    const NONCES: (usize, usize) = (1, 1 << 20);
    const BLOCK: usize = 1;
    const MORE: (bool, bool, bool) = (true, true, true);
    type Run = Pieces;

    fn version() -> String {
        match find(fault()) {
            Some(fault) => format!("{}: {}", fault.name, fault.description),
            None => "without a fault".into(),
        }
    }

    fn start(_: Option<&str>) -> Result<(), String> {
        let Ok(name) = env::var("REFEREE_FAULT") else { return Ok(()) };
        let masked = env::var("MODEL_WITHOUT").unwrap_or_default();
        let without = |feature: &str| masked.split(',').any(|masked| masked == feature);
        // What finds no AES looks for it elsewhere, and what has it has VAES too, or so it believes.
        let blind = match &*name {
            "masked-aes" => without("aes") && !without("vaes"),
            "masked-pair" => without("avx512f") && without("pclmulqdq"),
            _ => false,
        };
        MASKED.store(blind, Relaxed);
        let fault = FAULTS.iter().find(|fault| fault.name == name).ok_or("there is no such fault")?;
        FAULT.set(fault.name).map_err(|_| "started twice".into())
    }

    fn new(key: &[u8]) -> Option<Self> {
        if is("reads-key") {
            touch(key.as_ptr().wrapping_add(key.len()));
        }
        Gcm::new(key, fault()).map(|gcm| Self { gcm, refused: false.into(), messages: 0.into(), nonce: 0.into() })
    }

    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.message(message, true) }
    }

    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.message(message, false) }
    }

    fn begin(&'static self, seals: bool, nonce: &[u8], _tag: usize) -> Option<Pieces> {
        let j0 = self.gcm.j0(nonce)?;
        if is("piece-nonce") {
            put(nonce.as_ptr().cast_mut());
        }
        Some(Pieces { gcm: self.gcm.clone(), seals, j0, aad: Vec::new(), sealed: Vec::new(), moved: 0 })
    }

    fn nonce_first(key: &[u8], seals: bool, nonce: &[u8], _tag: usize) -> Option<Pieces> {
        let gcm = Gcm::new(key, fault())?;
        let j0 = if is("nonce-first") { gcm.j0(&[0; 12])? } else { gcm.j0(nonce)? };
        Some(Pieces { gcm, seals, j0, aad: Vec::new(), sealed: Vec::new(), moved: 0 })
    }
}

/// Reads a byte out of bounds.
fn touch(at: *const u8) {
    // SAFETY: none. This is the fault that is planted.
    black_box(unsafe { at.read_volatile() });
}

/// Writes a byte out of bounds.
fn put(at: *mut u8) {
    // SAFETY: none. This is the fault that is planted.
    unsafe { at.write_volatile(at.read_volatile() ^ 0xff) };
}

impl Faulty {
    unsafe fn message(&self, message: &Message, seals: bool) -> bool {
        let Message { nonce, nonce_length, aad, aad_length, input, output, length, tag, tag_length } = *message;
        match fault() {
            "f07" | "program-reads" => touch(input.wrapping_add(length)),
            "reads-before" => touch(input.wrapping_sub(1)),
            "reads-aad" => touch(aad.wrapping_add(aad_length)),
            "reads-nonce" if nonce_length == 12 => touch(nonce.wrapping_add(15)),
            "reads-tag" if tag_length == 12 && !seals => touch(tag.wrapping_add(15)),
            "null" if length == 0 && input.is_null() => return false,
            "crash" if length == 47 => touch(std::ptr::null()),
            "exit" if length == 47 => process::exit(3),
            "hangs" if length == 47 => loop {
                black_box(());
            },
            "overlap" if input.addr().abs_diff(output.addr()) < length && input != output => {
                // SAFETY: bytes of the caller.
                (0..length).for_each(|i| unsafe { output.add(i).write(input.add(i).read()) });
                // SAFETY: as the caller promises.
                return unsafe { self.message(&Message { input: output, ..*message }, seals) };
            }
            _ => {}
        }
        // SAFETY: the caller's promise. What is written has been read by then.
        let (nonce, aad, given) = unsafe { (bytes(nonce, nonce_length), bytes(aad, aad_length), bytes(input, length).to_vec()) };
        let done = if seals {
            let Some((sealed, made)) = self.gcm.seal(nonce, aad, &given) else { return false };
            // SAFETY: as above.
            unsafe {
                bytes_mut(output, length).copy_from_slice(&sealed);
                bytes_mut(tag, tag_length).copy_from_slice(&made[..tag_length]);
            }
            if (is("writes-tag") || is("tag-behind") || is("program-tag")) && tag_length < 16 {
                put(tag.wrapping_add(15));
            }
            if length > 0 && MASKED.load(Relaxed) {
                put(output);
            }
            if is("threads") && length > 0 {
                let own = u64::from_le_bytes(std::array::from_fn(|i| nonce.get(i).copied().unwrap_or_default()));
                self.nonce.store(own, Relaxed);
                (0..20).for_each(|_| thread::yield_now());
                if self.nonce.load(Relaxed) != own {
                    put(output);
                }
            }
            if is("state") && self.refused.load(Relaxed) && length > 0 {
                put(output);
            }
            true
        } else {
            // SAFETY: as above.
            let tag = unsafe { bytes(tag, tag_length) };
            let Some(j0) = self.gcm.j0(nonce) else { return false };
            let mut text = given.clone();
            self.gcm.apply(&j0, 0, &mut text);
            let hashed = if is("f08") && input.addr() == output.addr() { &text } else { &given };
            let right = self.gcm.verify(&j0, &[aad], hashed, tag);
            if is("abort") && !right {
                process::abort();
            }
            self.refused.fetch_or(!right, Relaxed);
            let leaves = is("f01") || is("forgery-long") && length >= 256;
            if !right && !leaves {
                text.fill(0);
            }
            // SAFETY: as above.
            unsafe { bytes_mut(output, length) }.copy_from_slice(&text);
            right
        };
        match fault() {
            "writes-behind" => put(output.wrapping_add(length)),
            "writes-before" => put(output.wrapping_sub(1)),
            "writes-input" if length > 0 && input.addr() != output.addr() => put(input.cast_mut()),
            "odd" if !output.addr().is_multiple_of(16) && length > 16 => put(output),
            _ => {}
        }
        let before = self.messages.fetch_add(1, Relaxed);
        if is("state-256") && before == 255 { !done } else { done }
    }
}

/// A message in pieces, with all of its data.
struct Pieces {
    gcm: Gcm,
    seals: bool,
    j0: Block,
    aad: Vec<Vec<u8>>,
    sealed: Vec<u8>,
    /// The number of bytes by which the keystream is ahead of the text.
    moved: usize,
}

impl Run for Pieces {
    fn aad(&mut self, aad: &[u8]) -> bool {
        self.aad.push(aad.to_vec());
        if is("piece-aad") && !aad.is_empty() {
            put(aad.as_ptr().cast_mut());
        }
        true
    }

    unsafe fn update(&mut self, input: *const u8, output: *mut u8, length: usize) -> bool {
        // SAFETY: the caller's promise.
        let given = unsafe { bytes(input, length) }.to_vec();
        let mut made = given.clone();
        if is("f12") {
            self.moved = (self.sealed.len() + self.moved).next_multiple_of(16) - self.sealed.len();
        }
        self.gcm.apply(&self.j0, self.sealed.len() + self.moved, &mut made);
        if is("empty-piece") && length == 0 {
            self.moved += 16;
        }
        // SAFETY: the caller's promise.
        unsafe { bytes_mut(output, length) }.copy_from_slice(&made);
        if is("piece-behind") {
            put(output.wrapping_add(length));
        }
        self.sealed.extend(if self.seals { made } else { given });
        true
    }

    unsafe fn finish(&mut self, tag: *mut u8, length: usize) -> bool {
        let aad: Vec<&[u8]> = self.aad.iter().map(Vec::as_slice).collect();
        // SAFETY: the caller's promise.
        let tag = unsafe { bytes_mut(tag, length) };
        if !self.seals {
            let right = self.gcm.verify(&self.j0, &aad, &self.sealed, tag);
            if is("piece-tag") {
                put(tag.as_mut_ptr());
            }
            return is("pieces-tag") || right;
        }
        tag.copy_from_slice(&self.gcm.tag(&self.j0, &aad, &self.sealed)[..length]);
        true
    }

    fn copy(&self) -> Option<Self> {
        let aad = if is("copy") { Vec::new() } else { self.aad.clone() };
        let sealed = if is("copy-moves") { Vec::new() } else { self.sealed.clone() };
        Some(Self { gcm: self.gcm.clone(), aad, sealed, ..*self })
    }

    fn again(&mut self, nonce: &[u8], _tag: usize) -> bool {
        let Some(j0) = self.gcm.j0(nonce) else { return false };
        (self.j0, self.moved) = (j0, 0);
        if !is("again-aad") {
            self.aad.clear();
        }
        if is("again-tail") && !self.sealed.len().is_multiple_of(16) {
            self.moved = self.sealed.len() % 16;
        }
        self.sealed.clear();
        true
    }
}
