//! Every other machine, a line each: known answers, every length and random messages against the model, by rustup's standard libraries
//! and Debian's linkers, under qemu or node.
//!
//! Windows is only built, and so is a machine without an operating system.

use super::{Machine, install, target_dir, test_programs};
use crate::{
    log::Log,
    package::{show, step},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A machine that only runs `portable`, or a row of its own on some of its processors.
struct Other {
    name: &'static str,
    triple: &'static str,
    /// The linker, and what installs it.
    linker: &'static str,
    packages: &'static [&'static str],
    runner: Runner,
    /// Processors, each with the rows that must be there beside `portable`; none: only built. The first has all suites.
    processors: &'static [(&'static str, &'static [&'static str])],
}

/// What runs the programs.
#[derive(Clone, Copy)]
enum Runner {
    /// This processor.
    None,
    Qemu(&'static str),
    /// qemu 10 or later: earlier ones lack vector cryptography.
    NewQemu(&'static str),
    /// Node's WASI.
    Node,
}

#[rustfmt::skip]
const OTHERS: [Other; 6] = [
    Other { name: "i686",    triple: "i686-unknown-linux-gnu",        linker: "i686-linux-gnu-gcc",        packages: &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"],               runner: Runner::None,                    processors: &[("native", &[])] },
    Other { name: "s390x",   triple: "s390x-unknown-linux-gnu",       linker: "s390x-linux-gnu-gcc",       packages: &["gcc-s390x-linux-gnu", "libc6-dev-s390x-cross"],             runner: Runner::Qemu("qemu-s390x"),      processors: &[("max", &[])] },
    Other { name: "ppc64le", triple: "powerpc64le-unknown-linux-gnu", linker: "powerpc64le-linux-gnu-gcc", packages: &["gcc-powerpc64le-linux-gnu", "libc6-dev-ppc64el-cross"],     runner: Runner::Qemu("qemu-ppc64le"),    processors: &[("power10", &[])] },
    Other { name: "riscv64", triple: "riscv64gc-unknown-linux-gnu",   linker: "riscv64-linux-gnu-gcc",     packages: &["gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross"],         runner: Runner::NewQemu("qemu-riscv64"), processors: RISCV },
    Other { name: "wasm32",  triple: "wasm32-wasip1",                 linker: "rust-lld",                  packages: &[],                                                           runner: Runner::Node,                    processors: &[("node", &[])] },
    Other { name: "windows", triple: "x86_64-pc-windows-gnu",         linker: "x86_64-w64-mingw32-gcc",    packages: &["gcc-mingw-w64-x86-64"],                                     runner: Runner::None,                    processors: &[] },
];

/// With vector cryptography, registers of 128, 256 and 1024 bits; then without each single extension that the row names.
const RISCV: &[(&str, &[&str])] = &[
    ("max", &["aes-zvkned"]),
    ("max,vlen=256", &["aes-zvkned"]),
    ("max,vlen=1024", &["aes-zvkned"]),
    ("rv64", &[]),
    ("max,zvkned=false", &[]),
    ("max,zvbc=false", &[]),
    ("max,zvkb=false,zvbb=false", &[]),
    ("max,zvkt=false", &[]),
];

/// Suites, quick, with their counts for one row.
const SUITES: [(&str, usize); 2] = [("every_length", 1130), ("every_nonce_length", 408)];
const ANSWERS: [(&str, usize); 3] = [("cavp", 3150), ("wycheproof_gcm", 316), ("wycheproof_gmac", 414)];

/// The machines of this page.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OTHERS.iter().map(|other| other.name).chain([BARE])
}

/// One of them.
pub(super) fn run(root: &Path, name: &str) -> Result<(), String> {
    match OTHERS.iter().find(|other| other.name == name) {
        Some(other) => other.run(root),
        None => bare(root),
    }
}

const BARE: &str = "bare";

/// No operating system, no allocation, no vector registers: `portable` alone, and only built.
fn bare(root: &Path) -> Result<(), String> {
    const TRIPLE: &str = "x86_64-unknown-none";
    step(Command::new("rustup").args(["target", "add", TRIPLE]))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "-p", "fastgcm", "--no-default-features", "--target", TRIPLE]).current_dir(root);
    step(cargo.env("CARGO_TARGET_DIR", target_dir(root)))?;
    println!("cross ok {TRIPLE} 1 (built, not run)");
    Ok(())
}

impl Other {
    fn run(&self, root: &Path) -> Result<(), String> {
        step(Command::new("rustup").args(["target", "add", self.triple]))?;
        if !self.packages.is_empty() {
            install(self.linker, self.packages)?;
        }
        let [machine, known_answers, every_length] =
            test_programs(&mut self.cargo(root), self.triple, ["machine", "known_answers", "every_length"])?;
        if self.processors.is_empty() {
            println!("cross ok {} 0 (built, not run)", self.triple);
            return Ok(());
        }
        let runner = self.runner.prepare(root)?;
        for (i, (processor, rows)) in self.processors.iter().enumerate() {
            let program = |program: &Path| runner.command(root, processor, program);
            let found = Machine::run(&mut program(&machine), &format!("{} {processor}", self.name))?;
            let found: Vec<&str> = found.available().filter(|row| *row != "portable").collect();
            if found != *rows {
                return Err(format!("{} {processor}: rows {found:?}, not {rows:?}", self.name));
            }
            if i > 0 {
                continue;
            }
            let mut log = Log::new(root)?;
            for suite in [&known_answers, &every_length] {
                log.step(program(suite).arg("--nocapture"))?;
            }
            let all: Vec<&str> = rows.iter().copied().chain(["portable"]).collect();
            let answers = |row: &&str| ANSWERS.map(|(suite, count)| format!("known_answers::{suite}/{row} ok {count}"));
            let lengths = SUITES.map(|(suite, count)| format!("{suite} ok {}", count * all.len()));
            let lines: Vec<String> = all.iter().flat_map(answers).chain(lengths).collect();
            log.expect(&lines.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        println!("cross ok {} {}", self.triple, self.processors.len());
        Ok(())
    }

    /// Programs are static where there is a C library: qemu needs no files of that machine then.
    fn cargo(&self, root: &Path) -> Command {
        let variable = |what: &str| format!("CARGO_TARGET_{}_{what}", self.triple.to_uppercase().replace('-', "_"));
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root).env("CARGO_TARGET_DIR", target_dir(root)).env(variable("LINKER"), self.linker);
        if self.triple.ends_with("linux-gnu") {
            cargo.env(variable("RUSTFLAGS"), "-C target-feature=+crt-static");
        }
        cargo
    }
}

impl Runner {
    /// Installed, and where it is.
    fn prepare(self, root: &Path) -> Result<Ready, String> {
        Ok(match self {
            Self::None => Ready::Itself,
            Self::Qemu(name) => {
                install(name, &["qemu-user"])?;
                Ready::Qemu(name.into())
            }
            Self::NewQemu(name) => Ready::Qemu(new_qemu(root, name)?),
            Self::Node => {
                install("node", &["nodejs"])?;
                let script = target_dir(root).join("wasi.mjs");
                fs::write(&script, WASI).map_err(|e| e.to_string())?;
                Ready::Node(script)
            }
        })
    }
}

/// A runner that is there.
enum Ready {
    Itself,
    Qemu(PathBuf),
    /// By that script.
    Node(PathBuf),
}

impl Ready {
    fn command(&self, root: &Path, processor: &str, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.arg("900").current_dir(root.join("crates/fastgcm")).env("RUST_BACKTRACE", "0").env("FASTGCM_QUICK", "1");
        match self {
            Self::Itself => command.arg(program),
            Self::Qemu(qemu) => command.arg(qemu).args(["-cpu", processor]).arg(program),
            Self::Node(script) => command.args(["node", "--no-warnings"]).arg(script).arg(program),
        };
        command
    }
}

/// What a program of WASI needs, given by node: arguments, environment, files.
const WASI: &str = "\
import { WASI } from 'node:wasi';
import { readFile } from 'node:fs/promises';
const [program, ...options] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [program, ...options], env: process.env, preopens: { '/': '/' } });
const module = await WebAssembly.compile(await readFile(program));
wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
";

/// Debian 12's backports have qemu 10. It is unpacked beside what we build, and the machine's own stays as it is.
fn new_qemu(root: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = target_dir(root).join("qemu");
    let program = folder.join("usr/bin").join(name);
    if program.exists() {
        return Ok(program);
    }
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(part)).map_err(|e| e.to_string())?;
    }
    let source = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main\n";
    fs::write(folder.join("sources.list"), source).map_err(|e| e.to_string())?;
    let apt_here = |arguments: &[&str]| {
        let at = |what: &str, file: &str| format!("{what}={}", folder.join(file).display());
        let mut apt = Command::new("apt-get");
        apt.args(arguments).current_dir(&folder).args(["-o", "Dir::Etc::SourceParts=/dev/null"]);
        for option in [at("Dir::Etc::SourceList", "sources.list"), at("Dir::State::Lists", "lists"), at("Dir::Cache", "cache")] {
            apt.arg("-o").arg(option);
        }
        step(&mut apt)
    };
    apt_here(&["update", "-qq"])?;
    apt_here(&["download", "-qq", "qemu-user"])?;
    let package = fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten().map(|entry| entry.path());
    let package = package.into_iter().find(|path| path.extension().is_some_and(|e| e == "deb")).ok_or("no package of qemu")?;
    let mut unpack = Command::new("dpkg-deb");
    step(unpack.arg("-x").arg(&package).arg(&folder))?;
    if program.exists() { Ok(program) } else { Err(format!("{}: no {name} in it", show(&unpack))) }
}
