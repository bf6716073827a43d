//! fastgcm: a variant for each back end of this machine. Called as anybody calls it, but for `with_backend`, which names the back end; a new
//! key is made by value. In place with `seal` and `open`, otherwise with `seal_detached_to` and `open_detached_to`.

use fastgcm::{Backend, Key, Tag};
use plugin::{Message, Rival};
use std::sync::OnceLock;

struct Fastgcm(Key);

static BACKEND: OnceLock<Backend> = OnceLock::new();

impl Rival for Fastgcm {
    const NAME: &'static str = "fastgcm";

    fn version() -> String {
        BACKEND.get().map_or_else(String::new, |backend| backend.to_string())
    }

    fn variants() -> String {
        Backend::available().map(|backend| backend.name()).collect::<Vec<_>>().join("\n")
    }

    fn start(level: &str) -> Result<(), String> {
        let backend = level.parse().map_err(|_| format!("no back end {level}"))?;
        BACKEND.set(backend).map_err(|_| "started twice".into())
    }

    fn new(key: &[u8]) -> Option<Self> {
        Key::with_backend(key, *BACKEND.get()?).ok().map(Self)
    }

    fn rekey(&mut self, key: &[u8]) {
        self.0.rekey(key).expect("a key of 16, 24 or 32 bytes");
    }

    #[inline(always)]
    unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise; no two of these slices overlap but in the branch that takes only one of them.
        unsafe {
            let (nonce, aad) = (message.nonce(), message.aad());
            let tag = if message.in_place() {
                self.0.seal(nonce, aad, message.output())
            } else {
                self.0.seal_detached_to(nonce, aad, message.input(), message.output())
            };
            *message.tag_out() = tag.expect("no text is too long here").0;
        }
    }

    #[inline(always)]
    unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe {
            let (nonce, aad, tag) = (message.nonce(), message.aad(), Tag(*message.tag_in()));
            let opened = if message.in_place() {
                self.0.open(nonce, aad, message.output(), &tag)
            } else {
                self.0.open_detached_to(nonce, aad, message.input(), message.output(), &tag)
            };
            opened.is_ok()
        }
    }
}

plugin::export!(Fastgcm);
