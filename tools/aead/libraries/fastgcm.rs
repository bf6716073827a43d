//! fastgcm: a variant for each back end of this machine. Called as anybody calls it, but for `with_backend`, which names the back end; a new
//! key is made by value. In place with `seal` and `open`, otherwise with `seal_detached_to` and `open_detached_to`.

use aead_plugin::{IN_PLACE, Implementation, KEEPS, Message, NoPieces, ZEROS};
use fastgcm::{Backend, Key, Tag};
use std::{ffi::CStr, sync::OnceLock};

struct Fastgcm(Key);

static BACKEND: OnceLock<Backend> = OnceLock::new();

impl Implementation for Fastgcm {
    const NAME: &'static CStr = c"fastgcm";
    const OFFERS: u32 = IN_PLACE | KEEPS | ZEROS;
    type Run = NoPieces;

    fn version() -> String {
        BACKEND.get().map_or_else(String::new, |backend| backend.to_string())
    }

    fn levels() -> String {
        Backend::available().map(|backend| backend.name()).collect::<Vec<_>>().join("\n")
    }

    fn start(level: Option<&str>) -> Result<(), String> {
        let named = level.map(|level| level.parse().map_err(|_| format!("no back end {level}"))).transpose()?;
        BACKEND.set(named.unwrap_or_else(Backend::detect)).map_err(|_| "started twice".into())
    }

    fn new(key: &[u8]) -> Option<Self> {
        Key::with_backend(key, *BACKEND.get()?).ok().map(Self)
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key).expect("a key of 16, 24 or 32 bytes");
    }

    #[inline(always)]
    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the caller's promise; no two of these slices overlap but in the branch that takes only one of them.
        unsafe {
            let (nonce, aad) = (message.nonce(), message.aad());
            let tag = if message.in_place() {
                self.0.seal(nonce, aad, message.output())
            } else {
                self.0.seal_detached_to(nonce, aad, message.input(), message.output())
            };
            *message.tag() = tag.expect("no text is too long here").0;
            true
        }
    }

    #[inline(always)]
    unsafe fn open(&self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad, tag) = (message.nonce(), message.aad(), Tag(*message.tag()));
            let opened = if message.in_place() {
                self.0.open(nonce, aad, message.output(), &tag)
            } else {
                self.0.open_detached_to(nonce, aad, message.input(), message.output(), &tag)
            };
            opened.is_ok()
        }
    }
}

aead_plugin::export!(Fastgcm);
