//! Proves whole calls from the machine code of what is shipped (docs/proof.md). `lab/prove` does it; this builds it, and the programs whose calls are proved.

use crate::tools::{run as sh_run, step};
use anyhow::Result;
use std::{path::Path, process::Command};

/// What is built: the prover, and a program that calls the library.
const BUILD: &str = "cargo build --release --manifest-path lab/Cargo.toml --target-dir target/proof -p fastgcm-prove -p fastgcm-proved";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    sh_run(root, BUILD)?;
    let built = root.join("target/proof/release");
    step(Command::new(built.join("fastgcm-prove")).arg(built.join("fastgcm-proved")).args(arguments).current_dir(root))
}
