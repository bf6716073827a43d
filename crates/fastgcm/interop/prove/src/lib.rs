//! Which calls of fastgcm are proved from machine code, and what else `cargo xtask prove` runs: the engine is `tools/prove`, and docs/proof.md says what it does.
// Most fields are what they are called; what is not is described.
#![allow(missing_docs)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod checks;
pub mod controls;
pub mod plan;
