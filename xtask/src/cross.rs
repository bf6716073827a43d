//! Other machines: `cargo xtask cross` installs what it needs (Debian and root) and runs the library's tests there, under qemu.
//!
//! A processor is emulated exactly, not quickly: what this page proves is that the answers are right and that each processor gets a
//! row that it can run. Nothing here says how fast any of them is.

use crate::{
    log::Log,
    package::{show, step},
};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Processors, with the rows that must be found there. (qemu has no AArch64 without AES, and no switch that takes it away.)
const PROCESSORS: [(&str, &[&str]); 6] = [
    ("max", &["aes-neon-eor3", "aes-neon"]),
    ("cortex-a53", &["aes-neon"]),
    ("cortex-a72", &["aes-neon"]),
    ("cortex-a76", &["aes-neon"]),
    ("neoverse-n1", &["aes-neon"]),
    ("a64fx", &["aes-neon"]),
];

/// Everything.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    aarch64(root)
}

/// AArch64 with Debian's compiler and standard library for it: rustup need not have that target.
pub(crate) fn aarch64(root: &Path) -> Result<(), String> {
    install("aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"])?;
    if !Path::new("/usr/lib/rustlib").join(TARGET).exists() {
        step(Command::new("dpkg").args(["--add-architecture", "arm64"]))?;
        apt(&["rustc-web", "libstd-rust-web-dev:arm64"])?;
    }
    let mut log = Log::new(root)?;

    let mut test = arm(root, "max");
    test.args(["test", "-p", "fastgcm", "--features", "hazmat", "--target", TARGET]).args(["--", "--nocapture"]);
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
    let test = machine_test(&mut cargo, TARGET)?;
    for (processor, rows) in PROCESSORS {
        let machine = Machine::run(Command::new("timeout").args(["300", "qemu-aarch64", "-cpu", processor]).arg(&test), processor)?;
        let found: Vec<&str> = machine.available().filter(|name| *name != "portable").collect();
        if found != rows {
            return Err(format!("{processor}: rows {found:?}, not {rows:?}"));
        }
    }
    pairs(&test)?;
    println!("cross ok {TARGET} {}", PROCESSORS.len());
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

/// What `tests/machine.rs` says of the processor that it ran on.
pub(crate) struct Machine {
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) here: bool,
    pub(crate) needs: Vec<String>,
}

impl Machine {
    /// Runs the test program to success.
    pub(crate) fn run(command: &mut Command, processor: &str) -> Result<Self, String> {
        let output = command.args(["--nocapture", "--test-threads=1"]).output().map_err(|e| format!("{}: {e}", show(command)))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(format!("{processor}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        let row = |line: &str| {
            let mut words = line.strip_prefix("machine ")?.split(' ').map(str::to_owned);
            let (name, here) = (words.next()?, words.next()? == "yes");
            Some(Row { name, here, needs: words.next()?.split(',').map(str::to_owned).collect() })
        };
        let machine = Self { rows: text.lines().filter_map(row).collect() };
        let expected = format!("machine::random_messages ok {}", 1000 * machine.available().count());
        if machine.available().count() == 0 || !text.lines().any(|line| line == expected) {
            return Err(format!("{processor}: no line `{expected}`\n{text}"));
        }
        println!("machine ok {processor}: {}", machine.available().collect::<Vec<_>>().join(" "));
        Ok(machine)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.available().any(|row| row == name)
    }

    pub(crate) fn available(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.here).map(|row| row.name.as_str())
    }
}

/// Builds `tests/machine.rs` by that Cargo, and says where the program is.
pub(crate) fn machine_test(cargo: &mut Command, target: &str) -> Result<PathBuf, String> {
    cargo.args(["test", "-p", "fastgcm", "--test", "machine", "--no-run", "--message-format", "json", "--target", target]);
    println!("+ {}", show(cargo));
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", show(cargo)))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let programs = text.split("\"executable\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    programs.last().map(PathBuf::from).filter(|_| output.status.success()).ok_or_else(|| format!("{}: {}", show(cargo), output.status))
}

/// Debian's packages, unless the program is there.
pub(crate) fn install(program: &str, packages: &[&str]) -> Result<(), String> {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if there { Ok(()) } else { apt(packages) }
}

fn apt(packages: &[&str]) -> Result<(), String> {
    step(Command::new("apt-get").args(["update", "-qq"]))?;
    step(Command::new("apt-get").args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages))
}

/// Cargo for AArch64, its programs run on `processor`. They are linked statically: with Debian's dynamic loader for that machine,
/// qemu hangs in the first thread.
fn arm(root: &Path, processor: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target_dir(root)) // another compiler: it would rebuild all
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTDOC", "/usr/bin/rustdoc")
        .env("RUST_BACKTRACE", "0")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-C target-feature=+crt-static")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("timeout 900 qemu-aarch64 -cpu {processor}"));
    cargo
}

fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("cross")
}
