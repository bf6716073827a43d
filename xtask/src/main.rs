//! `cargo xtask COMMAND`: the project's development commands.

mod cross;
mod faults;
mod machines;
mod mutants;
mod planted;
mod tools;

use anyhow::{Result, anyhow};
use std::{
    path::Path,
    process::{Command, ExitCode},
};
use tools::{sh, step};

/// Runs a command with the root of the workspace and the arguments.
type Run = fn(&Path, &[String]) -> Result<()>;

/// The commands: name, help text, and function.
#[rustfmt::skip]
const COMMANDS: &[(&str, &str, Run)] = &[
    ("asm", "checks machine code, and the cache lines that messages touch; --bless: accepts these numbers", |root, options| {
        step(sh(root, "cargo run --quiet --release --target-dir target/proof -p fastgcm-asm -- \"$@\"").arg("asm").args(options))
    }),
    ("prove", "proves whole calls from machine code, for all keys, nonces, AADs and texts of their lengths (docs/proof.md); --quick: what the gate\n\
              \x20          does; --all: each length with all sizes of keys; --shard I/N: a part of it; --wiped: that with `scrub` nothing is left of secrets;\n\
              \x20          --wheel PYTHON: the Python package that is installed there; --verb V [--row R] [--key N] [--nonce N] [--aad N] [--text N]: calls\n\
              \x20          of your own, such as --text 0..48,600; lengths, forms, lockstep, flips: other checks", |root, options| step(Command::new(root.join("crates/fastgcm/interop/prove/prove.sh")).args(options))),
    ("faults", "plants the faults of docs/security-model.md (in the full run all of each crate's faults.txt), or the named ones, in a copy: tests must fail", faults::run),
    ("mutants", "plants a part (such as 7/60) of the faults that cargo-mutants makes of the published crates", mutants::run),
    ("cross", "runs the library's tests for other machines, or the named ones, under qemu (needs Debian and root)", cross::run),
    ("release", "VERSION [--rehearse]: makes all files of a release in target/releases (release/README.md)", |root, options| {
        step(Command::new("python3").arg(root.join("release/release.py")).args(options))
    }),
    ("dispatch", "tests random messages on many x86 processors, and without each single feature, under qemu", |root, _| cross::run(root, &["x86".into()])),
];

fn main() -> ExitCode {
    // The project of the current folder, because no program of a copy knows the copy's folder.
    let here = std::env::current_dir().unwrap_or_default();
    let root = here.ancestors().find(|folder| folder.join(".ci/run").exists());
    let root = root.or(Path::new(env!("CARGO_MANIFEST_DIR")).parent()).expect("xtask/ has a parent");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.first().and_then(|name| COMMANDS.iter().find(|(command, ..)| command == name));
    let help = || COMMANDS.iter().map(|(name, help, _)| format!("\ncargo xtask {name:11}{help}")).collect::<String>();
    let done = named.map_or_else(|| Err(anyhow!("{}", help())), |(.., run)| run(root, &arguments[1..]));
    if let Err(why) = &done {
        eprintln!("xtask: {why:#}");
    }
    ExitCode::from(u8::from(done.is_err()))
}
