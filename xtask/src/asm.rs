//! `cargo xtask asm`: what the compiler made of the library. `lab/asm` looks at it.

use crate::tools::{quietly, run as type_in, sh};
use anyhow::Result;
use std::path::Path;

/// With what `cargo xtask prove` has compiled, or leaves to it.
const PROGRAM: &str = "cargo run --quiet --release --target-dir target/proof -p fastgcm-asm --";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    type_in(root, &format!("{PROGRAM} {}", arguments.join(" ")))
}

/// Whether the library in this program takes no signs of lanes, which rust-lang/rust#158622 may have spoilt; and where it does.
/// Elsewhere there is no code of x86 to look at.
pub(crate) fn has_no_signs(root: &Path, program: &str) -> Result<(bool, String)> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok((true, String::new()));
    }
    quietly(&mut sh(root, &format!("{PROGRAM} --signs '{program}'")))
}
