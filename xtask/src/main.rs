//! `cargo xtask COMMAND`: what the project does with itself. The standard library is enough for it.

mod ci;
mod cross;
mod dispatch;
mod layers;
mod package;
mod rustcrypto;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const COMMANDS: &str = "\
cargo xtask ci           every check of the project, as .ci/run runs it
cargo xtask layers       the rules of ARCHITECTURE.md that can be read off the source
cargo xtask package      packs each published crate, and tests what was packed
cargo xtask rustcrypto   runs the tests of RustCrypto's aes-gcm against fastgcm::rustcrypto
cargo xtask cross        runs the library's tests on other machines, under qemu (needs Debian and root)
cargo xtask dispatch     runs them on many x86 processors, and without each single feature (likewise)
cargo xtask emulate      runs the library's tests on an emulated processor with VAES and AVX-512 (needs Debian and root)";

fn main() -> ExitCode {
    let root = root();
    let done = match std::env::args().nth(1).as_deref() {
        Some("ci") => ci::run(&root),
        Some("layers") => layers::run(&root),
        Some("package") => package::run(&root),
        Some("rustcrypto") => rustcrypto::run(&root),
        Some("cross") => cross::run(&root),
        Some("dispatch") => dispatch::run(&root),
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
