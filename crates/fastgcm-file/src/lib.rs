//! Sealed files of any size: **Cobblestone-256** and **Cobblestone-128**, the formats of C2SP's *chunked encryption* (AES-GCM in chunks of
//! 16 KiB, HKDF-SHA-512, key commitment). `pyca/cryptography`, Go's `filippo.io/cobblestone` and the crate `cobblestone` read and write
//! these formats too.
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
//! | the same with the traits of Tokio | `AsyncWriter`, `AsyncReader`, `AsyncRangeReader` (feature `tokio`) |
//! | chunks by number, on many machines | [`Cipher`] |
//! | the name of a file, when it is complete | the module `naming` (feature `naming`, Unix) |
//!
//! # What it promises
//! * **No byte leaves before it is verified.** The library refuses a chunk that was changed, moved, repeated or left out, a file that was
//!   cut or extended, and a file of another key or context.
//! * A *stream* is opened chunk by chunk. The text that it gives out before it fails is authentic, but only a prefix. [`RangeReader`]
//!   verifies the end of the file first.
//! * **Memory** is half a MiB for each thread, for files of any size.
//! * **Keys** and buffers of text are wiped when they are dropped. The library logs nothing, and no input makes it panic.
//!
//! # What it does not promise
//! A sealed file reveals the length of its text. Anybody who can replace a sealed file can put an older version there, or another file of
//! that key, unless the context distinguishes them. The library takes no passwords: a key is random.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs

#[cfg(feature = "tokio")]
mod asynchronous;
mod cipher;
mod error;
mod format;
mod key;
#[cfg(all(feature = "naming", unix))]
pub mod naming;
mod parallel;
mod range;
mod reader;
mod writer;

#[cfg(feature = "tokio")]
pub use asynchronous::{AsyncRangeReader, AsyncReader, AsyncWriter};
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
