//! AArch64: the library's tests on qemu's best processor; known answers and random messages on others, with AES and without; pairs of AESE
//! and AESMC; constant time.

use super::{
    Machine, constant_time, debian_cargo, known_answers_of,
    lacking::{AES, PMULL, SHA3, take_away},
    pairs, target_dir, test_programs,
};
use crate::{
    debian::{apt, install},
    log::Log,
    package::step,
};
use std::{env, fs, path::Path, process::Command, thread};

pub(super) const TRIPLE: &str = "aarch64-unknown-linux-gnu";

/// Processors, what the kernel conceals of them, and the rows that must then be found.
const PROCESSORS: [(&str, u64, &[&str]); 11] = [
    ("max", 0, &["aes-neon-eor3", "aes-neon"]),
    ("max", SHA3, &["aes-neon"]),
    ("max", PMULL, &[]),
    ("cortex-a53", 0, &["aes-neon"]),
    ("cortex-a53", AES, &[]),
    ("cortex-a72", 0, &["aes-neon"]),
    ("cortex-a72", AES, &[]),
    ("neoverse-n1", 0, &["aes-neon"]),
    ("neoverse-n1", AES, &[]),
    ("a64fx", 0, &["aes-neon"]),
    ("a64fx", AES, &[]),
];

/// Everything. With `FASTGCM_FULL` also known answers on every processor, 512 MiB of AAD, and the tests inside the library: symbols and
/// counts for every row, which take the compiler minutes.
pub(super) fn run(root: &Path) -> Result<(), String> {
    prepare()?;
    let mut log = Log::new(root)?;
    let full = env::var_os("FASTGCM_FULL").is_some();
    let mut tests = arm(root, "max");
    tests.args(["test", "-p", "fastgcm", "--features", "hazmat", "--target", TRIPLE]);
    if full {
        tests.args(["--", "--nocapture"]);
    } else {
        tests.args(["--test", "*", "--", "--nocapture", "--skip", "f06_aad_of_more_bits_than_32"]);
    }
    log.step(tests.env("FASTGCM_QUICK", "1"))?; // `.ci/suites` says what that prints

    let [machine, known_answers] = test_programs(&mut arm(root, "max"), TRIPLE, ["machine", "known_answers"])?;
    for (processor, concealed, rows) in PROCESSORS {
        let name = if concealed == 0 { processor.to_owned() } else { format!("{processor} without {concealed:#x} of HWCAP") };
        let found = lacking(root, processor, concealed, &machine, |command| Machine::run(command, &name))?;
        let found: Vec<&str> = found.available().filter(|row| *row != "portable").collect();
        if found != rows {
            return Err(format!("{name}: rows {found:?}, not {rows:?}"));
        }
        if full {
            let mut log = Log::new(root)?;
            lacking(root, processor, concealed, &known_answers, |command| log.step(command.arg("--nocapture")))?;
            let all: Vec<&str> = rows.iter().copied().chain(["portable"]).collect();
            log.expect(&known_answers_of(&all))?;
        }
    }
    pairs::check(&known_answers)?;
    constant_time::run(root)?;
    println!("cross ok {TRIPLE} {}", PROCESSORS.len());
    Ok(())
}

/// `program` on a processor some of whose features are concealed.
fn lacking<T: Send>(
    root: &Path,
    processor: &str,
    concealed: u64,
    program: &Path,
    run: impl FnOnce(&mut Command) -> Result<T, String> + Send,
) -> Result<T, String> {
    let mut qemu = Command::new("timeout");
    qemu.args(["1800", "qemu-aarch64", "-cpu", processor]).current_dir(root.join("crates/fastgcm")).env("RUST_BACKTRACE", "0");
    if concealed == 0 {
        return run(qemu.arg(program));
    }
    let socket = target_dir(root).join("debugger");
    let _ = fs::remove_file(&socket); // of an earlier run
    thread::scope(|scope| {
        let debugger = scope.spawn(|| take_away(&socket, concealed));
        let result = run(qemu.arg("-g").arg(&socket).arg(program));
        debugger.join().map_err(|_| "the debugger panicked".to_owned())??;
        result
    })
}

/// The packages.
pub(super) fn prepare() -> Result<(), String> {
    install("aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"])?;
    // Debian's compiler and standard library: rustup need not have that target.
    if !Path::new("/usr/lib/rustlib").join(TRIPLE).exists() {
        step(Command::new("dpkg").args(["--add-architecture", "arm64"]))?;
        apt(&["rustc-web", "libstd-rust-web-dev:arm64"])?;
    }
    Ok(())
}

/// Cargo for AArch64, its programs run on `processor`. They are linked statically: with Debian's dynamic loader for that machine,
/// qemu hangs in the first thread.
pub(super) fn arm(root: &Path, processor: &str) -> Command {
    debian_cargo(root, TRIPLE, "aarch64-linux-gnu-gcc", &format!("timeout 1800 qemu-aarch64 -cpu {processor}"))
}
