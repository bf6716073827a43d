//! `cargo xtask semver [COMMIT]` asks cargo-semver-checks what of an interface is missing or has changed: of `aes-gcm`, in the crates that replace it; and
//! with a commit, of that commit's published crates.

use crate::{
    package::{APART, CRATES, step},
    rustcrypto::{VERSIONS, fetch, read, renew, replacement, write},
    supply::tool,
};
use std::{path::Path, process::Command};

/// Installs the program under `target/tools`, which takes minutes.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let program = tool(root, "cargo-semver-checks", "0.51.0")?;
    let check = |folder: &Path| {
        let mut check = Command::new(&program);
        // Otherwise it would let a pre-release change anything.
        check.args(["semver-checks", "--color", "never", "--all-features", "--release-type", "minor"]).current_dir(folder);
        check.env("CARGO_TARGET_DIR", root.join("target/semver/target"));
        check
    };
    let scratch = root.join("target/rustcrypto");
    for version in &VERSIONS {
        let theirs = root.join("target/semver").join(format!("aes-gcm-{}", version.number));
        renew(&fetch(&scratch, "aes-gcm", version.number)?, &theirs, &["."])?;
        let manifest = theirs.join("Cargo.toml");
        write(&manifest, &format!("{}\n[workspace]\n", read(&manifest)?))?;
        let ours = replacement(root, &scratch, version)?;
        step(check(&ours).arg("--baseline-root").arg(&theirs))?;
    }
    println!("semver::aes_gcm ok {}", VERSIONS.len());
    let [commit] = arguments else { return Ok(()) };
    let before = root.join("target/semver/before");
    renew(&root.join("supply-chain"), &before, &["."])?; // a folder with nothing in it of an earlier one
    let archive = root.join("target/semver/before.tar");
    step(Command::new("git").args(["archive", "--output"]).arg(&archive).arg(commit).current_dir(root))?;
    step(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&before))?;
    let libraries = CRATES.iter().filter(|name| !["fastgcm-cli", "fastgcm-capi", "fastgcm-openssl"].contains(name));
    let folders = libraries.map(|name| format!("crates/{name}"));
    for folder in folders.chain(APART.iter().filter(|(_, name)| *name != "fastgcm-python").map(|(folder, _)| (*folder).to_owned())) {
        step(check(&root.join(&folder)).arg("--baseline-root").arg(before.join(&folder)))?;
    }
    println!("semver::since_{commit} ok");
    Ok(())
}
