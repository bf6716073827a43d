//! `fastgcm bench` and `fastgcm study`: what measures is the program `fastgcm-study`. It is built without the library's feature `scrub`, as most
//! users have the library; this program has it on, and gives samples of that when `fastgcm-study` asks.

use crate::{cli, failure::Failure};
use fastgcm::{Backend, Key, Tag};
use fastgcm_measure::{aead, process::serve};
use std::{env, io, os::unix::process::CommandExt, path::PathBuf, process::Command};

/// Becomes `fastgcm-study`, the one beside this program or else the first on the PATH.
pub(crate) fn hand_over(command: &str, args: &cli::Measuring) -> Result<(), Failure> {
    const PROGRAM: &str = "fastgcm-study";
    let beside = env::current_exe().map(|this| this.with_file_name(PROGRAM)).ok().filter(|beside| beside.is_file());
    let error = Command::new(beside.unwrap_or_else(|| PathBuf::from(PROGRAM))).arg(command).args(&args.arguments).exec();
    Err(match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format_args!(
            "`{command}` is done by the program {PROGRAM}, which is neither beside this one nor on the PATH: get it with \
             `cargo install fastgcm-studies`, or in the repository with `cargo build --release -p fastgcm-studies`"
        )),
        _ => Failure::io(PROGRAM, error),
    })
}

/// Answers `fastgcm-study` until it closes the pipe.
pub(crate) fn peer(backend: Backend) -> Result<(), Failure> {
    let version = concat!("fastgcm ", env!("CARGO_PKG_VERSION"), " with scrub");
    serve(&Scrubbed(backend), version, io::stdin().lock(), io::stdout().lock()).map_err(|error| Failure::io("peer", error))
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
