//! Sealed files of any size: **Cobblestone-256** and **Cobblestone-128**, the formats of C2SP's *chunked encryption* (AES-GCM in
//! chunks of 16 KiB, HKDF-SHA-512, key commitment), which `pyca/cryptography`, Go's `filippo.io/cobblestone` and the crate
//! `cobblestone` read and write too.
//!
//! ```
//! use fastgcm_file::{Format, Key, open, seal};
//! use std::{num::NonZero, thread};
//!
//! let key = Key::generate(Format::Cobblestone256)?;
//! let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
//! let (text, mut sealed, mut opened) = (b"any reader, for example a file", Vec::new(), Vec::new());
//! seal(&key, b"backup 2026-11", &text[..], &mut sealed, threads)?;
//! open(&key, b"backup 2026-11", &sealed[..], &mut opened, threads)?;
//! assert_eq!(opened, text);
//!
//! assert!(open(&key, b"backup 2026-12", &sealed[..], &mut opened, threads).is_err()); // another context
//! # Ok::<(), fastgcm_file::Error>(())
//! ```
//!
//! | for | use |
//! |---|---|
//! | a whole file, fast, on many threads | [`seal`], [`open`] |
//! | a stream, with the traits of [`std::io`] | [`Writer`], [`Reader`] |
//! | some bytes of a large file | [`RangeReader`] |
//! | chunks by number, on many machines | [`Cipher`] |
//!
//! # What it promises
//! * **No byte leaves before it is verified.** A chunk that was changed, moved, repeated or left out is refused, and so is a file that
//!   was cut anywhere or has anything behind its end, and one of another key or context.
//! * A *stream* is opened chunk by chunk: what it gives out before it fails is authentic, but only a prefix. [`RangeReader`] verifies the
//!   end of the file first.
//! * **Memory** is half a MiB a thread, whatever the size of the file.
//! * **Keys** are wiped when dropped, and buffers of text as well. Nothing is logged; no input makes it panic.
//!
//! # What it does not
//! The length of the text is not hidden. Who may write to the place of a sealed file may put an older one there, or another of the same
//! key, unless the context says which is meant. There are no passwords: a key is random.

#![forbid(unsafe_code)]

mod cipher;
mod error;
mod format;
mod key;
mod parallel;
mod range;
mod reader;
mod writer;

pub use cipher::{Cipher, Header};
pub use error::Error;
pub use fastgcm::Backend;
pub use format::{
    CHUNK_LEN, COMMITMENT_LEN, Format, HEADER_LEN, MAX_CHUNKS, MAX_TEXT_LEN, SALT_LEN, SEALED_CHUNK_LEN, TAG_LEN, chunks, sealed_len,
    text_len,
};
pub use key::Key;
pub use parallel::{open, seal};
pub use range::RangeReader;
pub use reader::Reader;
pub use writer::Writer;

/// The code in README.md, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
