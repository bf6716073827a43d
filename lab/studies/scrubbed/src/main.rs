//! `fastgcm-scrubbed BACK-END`: answers `fastgcm-study`, over a pipe, with samples of the library with its feature `scrub`. One build has that
//! feature or has it not.

use fastgcm::{Backend, Key, Tag};
use fastgcm_measure::{aead, process::serve};
use std::{env, error::Error, io};

fn main() -> Result<(), Box<dyn Error>> {
    let backend = env::args().nth(1).ok_or("fastgcm-scrubbed BACK-END")?.parse()?;
    let version = concat!("fastgcm ", env!("CARGO_PKG_VERSION"), " with scrub");
    Ok(serve(&Scrubbed(backend), version, io::stdin().lock(), io::stdout().lock())?)
}

/// The library as this program has it.
struct Scrubbed(Backend);

struct ScrubbedKey(Key);

impl aead::Implementation for Scrubbed {
    type Key = ScrubbedKey;

    fn name(&self) -> String {
        format!("{} with scrub", self.0)
    }

    fn key(&self, key: &[u8]) -> Option<ScrubbedKey> {
        Key::with_backend(key, self.0).ok().map(ScrubbedKey)
    }
}

impl aead::Key for ScrubbedKey {
    #[inline(always)]
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        self.0.seal(nonce, aad, text).map_or([0; 16], |tag| tag.0)
    }

    #[inline(always)]
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.open_detached_to(nonce, aad, ciphertext, text, &Tag(*tag)).is_ok()
    }
}
