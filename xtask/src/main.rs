//! `cargo xtask COMMAND`: what the project does with itself.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod asm;
mod ci;
mod layers;
mod package;
mod rustcrypto;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod step;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const COMMANDS: &str = "\
cargo xtask ci           every check of the project, as .ci/run runs it
cargo xtask layers       the rules of ARCHITECTURE.md that can be read off the source
cargo xtask asm          guards without a clock: machine code and instructions per message; --report, --bless, --selftest
cargo xtask package      packs each published crate, and tests what was packed
cargo xtask rustcrypto   runs the tests of RustCrypto's aes-gcm against fastgcm::rustcrypto
cargo xtask emulate      runs the library's tests on an emulated processor with VAES and AVX-512 (needs Debian and root)";

fn main() -> ExitCode {
    let root = root();
    let done = match std::env::args().nth(1).as_deref() {
        Some("ci") => ci::run(&root),
        Some("layers") => layers::run(&root),
        Some("package") => package::run(&root),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Some("asm") => asm::run(&root, std::env::args().nth(2).as_deref()),
        Some("rustcrypto") => rustcrypto::run(&root),
        Some("emulate") => ci::emulate(&root),
        _ => {
            eprintln!("{COMMANDS}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ has a parent").to_owned()
}
