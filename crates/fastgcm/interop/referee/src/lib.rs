//! fastgcm by Rust. `FASTGCM_BACKEND` names a back end.
//!
//! levels: FASTGCM_BACKEND=vaes-avx512 FASTGCM_BACKEND=vaes-avx2 FASTGCM_BACKEND=aesni-avx FASTGCM_BACKEND=aesni-sse
//! levels: FASTGCM_BACKEND=vpaes-ssse3 FASTGCM_BACKEND=portable

mod schemes;

use aead_plugin::{IN_PLACE, Implementation, Message, NULL, Run, TAGS, THREADS, bytes, bytes_mut};
use fastgcm::{Backend, Key, Nonce, ShortTag, Tag, hazmat::Pieces};
use std::{env, ffi::CStr, sync::OnceLock};

static BACKEND: OnceLock<Backend> = OnceLock::new();

/// The best back end, or the one that was named.
fn backend() -> Backend {
    BACKEND.get().copied().unwrap_or_else(Backend::detect)
}

/// A key of it. The key stays where it is made: a copy that a move leaves would be found.
fn key(bytes: &[u8]) -> Option<Box<Key>> {
    Key::boxed_with_backend(bytes, backend()).ok()
}

struct Fastgcm(Box<Key>);

impl Implementation for Fastgcm {
    const NAME: &'static CStr = c"fastgcm, Rust";
    const OFFERS: u32 = IN_PLACE | NULL | THREADS;
    const TAGS: u32 = TAGS;
    const NONCES: (usize, usize) = (1, 1 << 20);
    const BLOCK: usize = 1;
    const MORE: (bool, bool, bool) = (false, true, false);
    type Run = Running;

    fn version() -> String {
        key(&[0; 16]).map_or_else(String::new, |key| format!("this tree, {}", key.backend()))
    }

    fn start(_: Option<&str>) -> Result<(), String> {
        let Ok(name) = env::var("FASTGCM_BACKEND") else { return Ok(()) };
        let backend = name.parse().map_err(|_| format!("no back end {name}"))?;
        BACKEND.set(backend).map_err(|_| "started twice")?;
        key(&[0; 16]).map(drop).ok_or_else(|| format!("this processor cannot run {name}"))
    }

    fn new(key: &[u8]) -> Option<Self> {
        self::key(key).map(Self)
    }

    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; in place, only one slice is made of the buffer.
        unsafe {
            let Ok(nonce) = Nonce::any(bytes(message.nonce, message.nonce_length)) else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            let tag = if message.input == message.output {
                self.0.seal(nonce, aad, output)
            } else {
                self.0.seal_detached_to(nonce, aad, bytes(message.input, message.length), output)
            };
            let Ok(tag) = tag else { return false };
            bytes_mut(message.tag, message.tag_length).copy_from_slice(&tag[..message.tag_length]);
            true
        }
    }

    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            match *bytes(message.tag, message.tag_length) {
                [..] if message.tag_length == 16 => self.opened(message, Tag),
                [..] if message.tag_length == 15 => self.opened(message, ShortTag::<15>),
                [..] if message.tag_length == 14 => self.opened(message, ShortTag::<14>),
                [..] if message.tag_length == 13 => self.opened(message, ShortTag::<13>),
                [..] if message.tag_length == 12 => self.opened(message, ShortTag::<12>),
                [..] if message.tag_length == 8 => self.opened(message, ShortTag::<8>),
                [..] if message.tag_length == 4 => self.opened(message, ShortTag::<4>),
                _ => false,
            }
        }
    }

    fn begin(&'static self, seals: bool, nonce: &[u8], _tag: usize) -> Option<Running> {
        let pieces = Pieces::new(&self.0, Nonce::any(nonce).ok()?);
        Some(Running { key: &self.0, seals, pieces })
    }
}

impl Fastgcm {
    /// # Safety
    /// The referee's promise for `open`: the message's buffers are there.
    unsafe fn opened<const N: usize, T: fastgcm::AnyTag>(&self, message: &Message, tag: impl FnOnce([u8; N]) -> T) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let Ok(nonce) = Nonce::any(bytes(message.nonce, message.nonce_length)) else { return false };
            let (aad, output) = (bytes(message.aad, message.aad_length), bytes_mut(message.output, message.length));
            let tag = tag(message.tag.cast::<[u8; N]>().read());
            if message.input == message.output {
                self.0.open(nonce, aad, output, &tag).is_ok()
            } else {
                self.0.open_detached_to(nonce, aad, bytes(message.input, message.length), output, &tag).is_ok()
            }
        }
    }
}

struct Running {
    key: &'static Key,
    seals: bool,
    pieces: Pieces,
}

impl Run for Running {
    fn aad(&mut self, aad: &[u8]) -> bool {
        self.pieces.aad(self.key, aad).is_ok()
    }

    unsafe fn update(&mut self, input: *const u8, output: *mut u8, length: usize) -> bool {
        // SAFETY: the caller's promise; in place, only one slice is made of the buffer.
        unsafe {
            let to = bytes_mut(output, length);
            let done = match (self.seals, input == output) {
                (true, true) => self.pieces.seal(self.key, to),
                (true, false) => self.pieces.seal_to(self.key, bytes(input, length), to),
                (false, true) => self.pieces.open(self.key, to),
                (false, false) => self.pieces.open_to(self.key, bytes(input, length), to),
            };
            done.is_ok()
        }
    }

    unsafe fn finish(&mut self, tag: *mut u8, length: usize) -> bool {
        // SAFETY: the caller's promise.
        let tag = unsafe { bytes_mut(tag, length) };
        if !self.seals {
            return self.pieces.verify(self.key, tag).is_ok();
        }
        let made = self.pieces.finish(self.key);
        made.map(|made| tag.copy_from_slice(&made[..length])).is_ok()
    }

    fn copy(&self) -> Option<Self> {
        Some(Self { pieces: self.pieces.duplicate(), ..*self })
    }
}

aead_plugin::export!(Fastgcm);
