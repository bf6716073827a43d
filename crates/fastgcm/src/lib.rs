//! **fastgcm** is AES-GCM (NIST SP 800-38D) in Rust. The algorithm is written once, over vectors of one, two
//! or four blocks. It runs on the best instructions that the processor has: AVX-512, AVX2 or 128-bit AES
//! instructions on x86-64, AES instructions on AArch64, vector AES on RISC-V. Without AES instructions it
//! permutes bytes with SSSE3 on x86-64 and computes in plain integers on every other machine, both in
//! constant time. The crate contains no C, no assembler files and no build script, and needs no
//! configuration. It has not been audited, and it is not FIPS-validated.
//!
//! ```
//! use fastgcm::Key;
//!
//! let key = Key::aes256(&[0x42; 32]);
//! let mut message = *b"attack at dawn";
//! let tag = key.seal([1; 12], b"to: everyone", &mut message)?; // a nonce must never be used twice with one key
//! key.open([1; 12], b"to: everyone", &mut message, &tag)?;
//! assert_eq!(&message, b"attack at dawn");
//! # Ok::<(), fastgcm::Error>(())
//! ```
//!
//! # Which nonce
//! Two messages with one nonce under one key give away the XOR of their texts and the hash key, with which
//! anybody can forge. So decide how your program makes nonces before anything else:
//!
//! | your program | use |
//! |---|---|
//! | has a number for each message (records, packets), or can count its messages | that number, in 12 bytes; [`nonces::SealingKey`] counts by itself |
//! | cannot count, or runs on several machines that seal under one key; or you are in doubt | [`KcXaes256Gcm`] and its `seal_random` (feature `getrandom`): nonces of 24 random bytes, and a message opens under one key only |
//! | must use XAES-256-GCM unchanged | [`Xaes256Gcm`] |
//! | must have 12 random bytes | `nonces::RandomNonces` (feature `getrandom`), for up to 2^32 messages |
//! | cannot be sure that a nonce never repeats | [`AesGcmSiv`] |
//! | must keep to approved modes (FIPS 140) | [`approved::ApprovedKey`] |
//! | has a new key for each message | any nonce, with [`seal_once`] and [`open_once`]: they make only the powers of the hash key that the message needs |
//!
//! # Where text and tag lie
//! | | tag apart | tag behind the text |
//! |---|---|---|
//! | in place | [`Key::seal`], [`Key::open`] | [`Key::seal_appended`], [`Key::open_appended`] |
//! | from one buffer to another | [`Key::seal_detached_to`], [`Key::open_detached_to`] | [`Key::seal_to`], [`Key::open_to`] |
//! | in a `Vec` | | `Key::seal_vec`, `Key::open_vec`; `Key::seal_in_place_append_tag`, [`Key::open_within`] |
//! | in several buffers | [`gathered`] | |
//! | in pieces, one after the other | [`Key::sealer`] | |
//! | many messages | [`batch`] | |
//!
//! [`seal`] lists all of these functions and says what each does to its buffers.
//!
//! # What it promises
//! * **Memory**: [`seal`] says for every function what happens to each buffer on success and on failure. A
//!   failed open leaves no plaintext. An error about lengths leaves every buffer untouched. No input makes
//!   the library panic.
//! * **Time** depends only on lengths and on the verdict; with 8 KiB of text or more, AES-GCM-SIV's also on a byte of
//!   the tag, which is public. No back end reads a table at a secret index.
//! * **Limits** of SP 800-38D are checked ([`limits`]). The caller counts how many messages a key has sealed,
//!   or lets a [`nonces::SealingKey`] count them.
//! * **Keys** are wiped when they are dropped.
//!
//! # Features
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | implies `alloc`; `From<Error> for std::io::Error`; on AArch64 it also finds the instructions for AES (see below) |
//! | `alloc` | through `std` | [`Key::boxed`], [`Key::seal_vec`], [`Key::open_vec`], [`Key::seal_in_place_append_tag`], and `Vec` forms of other keys |
//! | `aead06` | | `fastgcm::rustcrypto`: the interface of RustCrypto's `aes-gcm` 0.11 (`aead` 0.6) |
//! | `draft` | | schemes that are Internet-Drafts (`fastgcm::draft`): DNDK-GCM |
//! | `getrandom` | | nonces from the operating system (`Xaes256Gcm::seal_random`, `nonces::RandomNonces`); with `aead06` keys too (`Generate`) |
//! | `hazmat` | | tags of 8 and 4 bytes; opening in pieces, single AES blocks, CTR; one message sealed in parts, by several machines (`fastgcm::hazmat`) |
//! | `rayon` | | one message on all cores (`Key::parallel`) |
//! | `scrub` | | wipes the stack and the registers that a call has used, after each call (x86-64; elsewhere only the stack) |
//!
//! **Without `std` on AArch64** the library cannot ask the operating system which instructions the processor
//! has. It then uses the instructions for which the program is compiled (`-C target-feature=+aes,+sha3`;
//! Apple's targets enable them), or [`Backend::Portable`] if the program is compiled for none. On x86-64 and
//! RISC-V the library finds all instructions without `std`.
//!
//! **A smaller program.** All back ends of a target are compiled in.
//! `RUSTFLAGS="--cfg fastgcm_without_avx512"` leaves out `vaes-avx512`; `fastgcm_without_avx2`,
//! `fastgcm_without_avx`, `fastgcm_without_sse` and `fastgcm_without_ssse3` leave out the other back ends of
//! x86-64. `portable` always stays.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs
#![deny(unsafe_code)]
// `each!` spells out branches whose condition is a constant; clippy looks into the dead branches.
#![allow(clippy::out_of_bounds_indexing, clippy::absurd_extreme_comparisons)]
// A machine that has no row of its own takes the plain way (`gcm::software`) and does not use the rest. A
// build that leaves all rows out does not use it either.
#![cfg_attr(
    not(any(all(target_feature = "sse2", target_pointer_width = "64"), target_feature = "neon")),
    allow(dead_code, unused_imports)
)]
#![cfg_attr(
    any(
        fastgcm_without_avx512,
        fastgcm_without_avx2,
        fastgcm_without_avx,
        fastgcm_without_sse,
        fastgcm_without_ssse3
    ),
    allow(dead_code, unused_imports)
)]
// Items that only feature `internals` shows are `pub` all the same.
#![cfg_attr(not(feature = "internals"), allow(unreachable_pub))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

/// Writes out a block of code once for each index: straight-line code at every optimisation level.
///
/// The index is a `const`, so `if I < N` costs nothing and `f::<I>()` works. A `for` over an array of vectors
/// would be unrolled at `opt-level = 3` only (it is 2.7 to 45 times slower at `s` and `z`), and a library
/// cannot choose its users' level.
macro_rules! each {
    ($i:ident in $($n:literal)+ => $body:block) => { $({ const $i: usize = $n; $body })+ };
}

// The order in which rustdoc shows what each module adds to a `Key`.
mod key;
pub mod seal;
pub mod stream;

mod aes;
pub mod approved;
pub mod batch;
#[cfg(feature = "draft")]
pub mod draft;
mod error;
pub mod gathered;
mod gcm;
#[allow(missing_docs, missing_debug_implementations)] // `internals` shows some of it
mod ghash;
mod gmac;
#[cfg(feature = "hazmat")]
pub mod hazmat;
#[allow(unsafe_code)]
mod inout;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
#[allow(unsafe_code)]
#[allow(missing_docs)] // `internals` shows some of it
mod isa;
pub mod limits;
mod nonce;
pub mod nonces;
mod once;
mod packet;
#[cfg(feature = "rayon")]
mod parallel;
#[cfg(any(feature = "hazmat", feature = "rayon"))]
#[cfg_attr(not(feature = "hazmat"), allow(unreachable_pub))]
mod parts;
mod place;
mod root;
mod row;
mod running;
#[cfg(feature = "aead06")]
pub mod rustcrypto;
mod siv;
mod tag;
mod xaes;

pub use error::Error;
pub use gmac::Gmac;
pub use key::Key;
pub use nonce::{NONCE_LEN, Nonce};
pub use once::{open_once, seal_once};
pub use packet::{Packet, Text};
#[cfg(feature = "rayon")]
pub use parallel::Parallel;
pub use root::{RootKey, Scheme};
pub use row::{Backend, UnknownBackend};
pub use siv::AesGcmSiv;
pub use stream::Sealer;
pub use tag::{AnyTag, CommittingTag, ShortTag, TAG_LEN, Tag};
pub use xaes::{KcXaes, KcXaes256Gcm, Xaes, Xaes256Gcm};

/// A 128-bit block with its bytes in memory order: the first byte is the lowest.
pub(crate) type Block = u128;

/// The code in README.md, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code in docs/migrating.md, as tests.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../../../docs/migrating.md")]
struct Migrating;

/// The code in docs/nonces.md, as tests.
#[cfg(all(doctest, feature = "alloc", feature = "getrandom"))]
#[doc = include_str!("../../../docs/nonces.md")]
struct WhichNonce;

/// The code in docs/udp.md, as tests.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../../../docs/udp.md")]
struct Udp;
