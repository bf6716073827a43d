//! Three papers on fast AES-GCM and two changes of Linux, replayed: a laboratory over the operations and multiplications of `fastgcm` (feature `internals`).
//!
//! ```text
//! study ── one module for each paper: its table beside ours
//!   └── message ── aggregate ── multiply        techniques as variants over `fastgcm::internals::Isa`
//!            trace                              an instruction set that counts what a variant does
//! ```
//! | source | what is here |
//! |---|---|
//! | D. Anderson, "Carryless Multiplication Optimization for AES GCM Mode in Solaris", 2010 | [`multiply`] |
//! | K. Jankowski, P. Laurent, "Packed AES-GCM Algorithm Suitable for AES/PCLMULQDQ Instructions", IEEE TC, 2010 | [`aggregate::packed`] |
//! | A. Biesheuvel on AES-GCM in Linux for ThunderX2, 2019 | [`message`]: tails, ways |
//! | E. Ozturk, T. Kantecki, K. Yap, "AES-GCM - Optimized GHASH Function", Intel, 2023 | [`multiply::steps_of_2023`], `KeyFolded`, [`aggregate::deferred`] |
//! | E. Biggers, "crypto: x86/aes-gcm - rewrite the AES-NI optimized AES-GCM", Linux, 2024 | the kernel's own code, which `linux.sh` fetches |
//!
//! A variant that wins is promoted by moving its file to `fastgcm/src/ghash/`, and naming it in a row of `fastgcm/src/row/table.rs`.

#![deny(unsafe_code)]

pub mod aggregate;
pub mod combine;
pub mod message;
pub mod multiply;
pub mod study;
pub mod tail;
pub mod trace;

/// What compiled this.
pub const COMPILER: &str = env!("FASTGCM_STUDIES_COMPILER");
