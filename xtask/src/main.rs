//! `cargo xtask COMMAND`: what the project does with itself.

mod arrow_rs;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod asm;
mod ci;
mod compilers;
mod cross;
mod debian;
mod dispatch;
mod emulate;
mod faults;
mod fuzz;
mod layers;
mod log;
mod matrix;
mod mutants;
mod package;
mod planted;
mod quinn;
mod readme;
mod rustcrypto;
mod suites;
mod supply;
mod together;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use fastgcm_step as step;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const COMMANDS: &str = "\
cargo xtask ci           every check of the project, as .ci/run runs it; or those named; --bless: writes their lines in .ci/suites
cargo xtask layers       the rules of ARCHITECTURE.md that can be read off the source
cargo xtask asm          guards without a clock: machine code and instructions per message; --bless, --selftest;
                         --emulated: those also of back ends that this processor cannot run (needs Debian and root)
cargo xtask package      packs each published crate, and tests what was packed
cargo xtask supply       licences and sources of all dependencies (cargo-deny), whether all are known (cargo-vet), and lists of them (SBOM) in
                         target/sbom; --bless: those that are there now are known
cargo xtask rustcrypto   runs the tests of RustCrypto's aes-gcm, and of crates that use it, with fastgcm-aes-gcm in its place; or of those named
cargo xtask arrow-rs     patches arrow-rs to use fastgcm-parquet, and has it and pyarrow read each other's files
cargo xtask quinn        runs quinn's own tests with rustls-fastgcm
cargo xtask faults       plants each fault of docs/security-model.md in a copy, and others in the kernels: tests must fail
cargo xtask mutants      plants a part of the faults of cargo-mutants; or that part: 7/60
cargo xtask compilers    runs the known answers on builds of every kind
cargo xtask fuzz         fuzzes each target for a minute
cargo xtask cross        runs the library's tests on other machines, or on those named, under qemu (needs Debian and root)
cargo xtask matrix LOG.. writes into SECURITY.md what ran where, from the logs of runs
cargo xtask dispatch     runs them on many x86 processors, and without each single feature (likewise)
cargo xtask emulate      runs the library's tests on an emulated processor with VAES and AVX-512 (needs Debian and root)";

fn main() -> ExitCode {
    let root = root();
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let done = match std::env::args().nth(1).as_deref() {
        Some("ci") => ci::run(&root, &arguments),
        Some("layers") => layers::run(&root),
        Some("package") => package::run(&root),
        Some("supply") => supply::run(&root, &arguments),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Some("asm") => asm::run(&root, &arguments),
        Some("quinn") => quinn::run(&root),
        Some("rustcrypto") => rustcrypto::run(&root, &arguments),
        Some("arrow-rs") => arrow_rs::run(&root, &arguments),
        Some("faults") => faults::run(&root, &arguments),
        Some("mutants") => mutants::run(&root, &arguments),
        Some("fuzz") => fuzz::run(&root, &arguments),
        Some("compilers") => compilers::run(&root, &arguments),
        Some("cross") => cross::run(&root, &arguments),
        Some("matrix") => matrix::run(&root, &arguments),
        Some("dispatch") => dispatch::run(&root),
        Some("emulate") => emulate::run(&root),
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
