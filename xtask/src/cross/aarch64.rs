//! AArch64: the whole of the library's tests on qemu's best processor, and known answers and random messages on others.

use super::{Machine, apt, constant_time, debian_cargo, install, machine_test};
use crate::{
    log::Log,
    package::{show, step},
};
use std::{path::Path, process::Command};

pub(super) const TRIPLE: &str = "aarch64-unknown-linux-gnu";

/// Processors, with the rows that must be found there. (qemu has no AArch64 without AES, and no switch that takes it away.)
const PROCESSORS: [(&str, &[&str]); 6] = [
    ("max", &["aes-neon-eor3", "aes-neon"]),
    ("cortex-a53", &["aes-neon"]),
    ("cortex-a72", &["aes-neon"]),
    ("cortex-a76", &["aes-neon"]),
    ("neoverse-n1", &["aes-neon"]),
    ("a64fx", &["aes-neon"]),
];

/// AArch64 with Debian's compiler and standard library for it: rustup need not have that target.
pub(super) fn run(root: &Path) -> Result<(), String> {
    prepare()?;
    let mut log = Log::new(root)?;

    let mut test = arm(root, "max");
    test.args(["test", "-p", "fastgcm", "--features", "hazmat", "--target", TRIPLE]).args(["--", "--nocapture"]);
    log.step(test.env("FASTGCM_QUICK", "1"))?;
    let rows = ["aes-neon-eor3", "aes-neon", "portable"];
    let answers = [("cavp", 3150), ("wycheproof_gcm", 316), ("wycheproof_gmac", 414)];
    let lines: Vec<String> = answers
        .iter()
        .flat_map(|(name, count)| rows.map(|row| format!("known_answers::{name}/{row} ok {count}")))
        .chain([("every_length", 1130), ("every_nonce_length", 408)].map(|(name, count)| format!("{name} ok {}", count * rows.len())))
        .collect();
    log.expect(&lines.iter().map(String::as_str).collect::<Vec<_>>())?;
    log.expect(&["guard_pages::f07 ok ", "memory::dropped_keys_are_wiped ok "])?;

    let mut cargo = arm(root, "max");
    let test = machine_test(&mut cargo, TRIPLE)?;
    for (processor, rows) in PROCESSORS {
        let machine = Machine::run(Command::new("timeout").args(["300", "qemu-aarch64", "-cpu", processor]).arg(&test), processor)?;
        let found: Vec<&str> = machine.available().filter(|name| *name != "portable").collect();
        if found != rows {
            return Err(format!("{processor}: rows {found:?}, not {rows:?}"));
        }
    }
    pairs(&test)?;
    constant_time::run(root)?;
    println!("cross ok {TRIPLE} {}", PROCESSORS.len());
    Ok(())
}

/// The packages.
pub(super) fn prepare() -> Result<(), String> {
    install("aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"])?;
    if !Path::new("/usr/lib/rustlib").join(TRIPLE).exists() {
        step(Command::new("dpkg").args(["--add-architecture", "arm64"]))?;
        apt(&["rustc-web", "libstd-rust-web-dev:arm64"])?;
    }
    Ok(())
}

/// Every AESMC follows its AESE, on the same register: else no core fuses them.
fn pairs(program: &Path) -> Result<(), String> {
    let mut objdump = Command::new("aarch64-linux-gnu-objdump");
    let output = objdump.args(["-d", "--no-show-raw-insn"]).arg(program).output().map_err(|e| format!("{}: {e}", show(&objdump)))?;
    let listing = String::from_utf8_lossy(&output.stdout);
    // `  address:\tmnemonic\toperands`
    let code: Vec<(&str, &str)> = listing
        .lines()
        .filter_map(|line| line.split_once(":\t"))
        .map(|(_, instruction)| instruction.split_once('\t').unwrap_or((instruction, "")))
        .collect();
    let register = |operands: &str| operands.split(',').next().unwrap_or("").to_owned();
    let mut pairs = 0;
    for two in code.windows(2).filter(|two| two[1].0 == "aesmc") {
        if two[0].0 != "aese" || register(two[0].1) != register(two[1].1) {
            return Err(format!("`{} {}` stands before `{} {}`", two[0].0, two[0].1, two[1].0, two[1].1));
        }
        pairs += 1;
    }
    if pairs < 1000 {
        return Err(format!("only {pairs} pairs of AESE and AESMC: the rounds are not straight-line code"));
    }
    println!("aese_aesmc_pairs ok {pairs}");
    Ok(())
}

/// Cargo for AArch64, its programs run on `processor`. They are linked statically: with Debian's dynamic loader for that machine,
/// qemu hangs in the first thread.
pub(super) fn arm(root: &Path, processor: &str) -> Command {
    debian_cargo(root, TRIPLE, "aarch64-linux-gnu-gcc", &format!("timeout 900 qemu-aarch64 -cpu {processor}"))
}
