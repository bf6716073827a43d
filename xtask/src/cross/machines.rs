//! Every other machine, a line each: known answers, every length and random messages against the model, by rustup's standard libraries
//! and Debian's linkers, under qemu, node or wine. A machine without an operating system is only built.

use super::{Machine, known_answers_of, suites_of, target_dir, test_programs};
use crate::{
    debian::{apt, install},
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
    /// Processors, each with the rows that must be there beside `portable`. The first has all suites.
    processors: &'static [(&'static str, Rows)],
}

/// Rows beside `portable`.
enum Rows {
    Exactly(&'static [&'static str]),
    /// As many as this machine has.
    Any,
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
    /// Windows' calls as calls to Linux, on this processor.
    Wine,
}

#[rustfmt::skip]
const OTHERS: [Other; 6] = [
    Other { name: "i686",    triple: "i686-unknown-linux-gnu",        linker: "i686-linux-gnu-gcc",        packages: &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"],               runner: Runner::None,                    processors: &[("native", NO_ROW)] },
    Other { name: "s390x",   triple: "s390x-unknown-linux-gnu",       linker: "s390x-linux-gnu-gcc",       packages: &["gcc-s390x-linux-gnu", "libc6-dev-s390x-cross"],             runner: Runner::Qemu("qemu-s390x"),      processors: &[("max", NO_ROW)] },
    Other { name: "ppc64le", triple: "powerpc64le-unknown-linux-gnu", linker: "powerpc64le-linux-gnu-gcc", packages: &["gcc-powerpc64le-linux-gnu", "libc6-dev-ppc64el-cross"],     runner: Runner::Qemu("qemu-ppc64le"),    processors: &[("power10", NO_ROW)] },
    Other { name: "riscv64", triple: "riscv64gc-unknown-linux-gnu",   linker: "riscv64-linux-gnu-gcc",     packages: &["gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross"],         runner: Runner::NewQemu("qemu-riscv64"), processors: RISCV },
    Other { name: "wasm32",  triple: "wasm32-wasip1",                 linker: "rust-lld",                  packages: &[],                                                           runner: Runner::Node,                    processors: &[("node", NO_ROW)] },
    Other { name: "windows", triple: "x86_64-pc-windows-gnu",         linker: "x86_64-w64-mingw32-gcc",    packages: &["gcc-mingw-w64-x86-64"],                                     runner: Runner::Wine,                    processors: &[("native", Rows::Any)] },
];

/// With vector cryptography, registers of 128, 256 and 1024 bits; then without each single extension that the row names.
const RISCV: &[(&str, Rows)] = &[
    ("max", Rows::Exactly(&["aes-zvkned"])),
    ("max,vlen=256", Rows::Exactly(&["aes-zvkned"])),
    ("max,vlen=1024", Rows::Exactly(&["aes-zvkned"])),
    ("rv64", NO_ROW),
    ("max,zvkned=false", NO_ROW),
    ("max,zvbc=false", NO_ROW),
    ("max,zvkb=false,zvbb=false", NO_ROW),
    ("max,zvkt=false", NO_ROW),
];

const NO_ROW: Rows = Rows::Exactly(&[]);

/// The machines of this page.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OTHERS.iter().map(|other| other.name).chain([BARE])
}

/// As rustc calls them.
#[cfg(test)]
pub(super) fn triples() -> impl Iterator<Item = &'static str> {
    OTHERS.iter().map(|other| other.triple).chain([BARE_TRIPLE])
}

/// One of them.
pub(super) fn run(root: &Path, name: &str) -> Result<(), String> {
    match OTHERS.iter().find(|other| other.name == name) {
        Some(other) => other.run(root),
        None => bare(root),
    }
}

const BARE: &str = "bare";
const BARE_TRIPLE: &str = "x86_64-unknown-none";

/// No operating system, no allocation, no vector registers: `portable` alone, and only built.
fn bare(root: &Path) -> Result<(), String> {
    let mut cargo = with_standard_library(BARE_TRIPLE)?;
    cargo.args(["build", "-p", "fastgcm", "--no-default-features", "--target", BARE_TRIPLE]).current_dir(root);
    step(cargo.env("CARGO_TARGET_DIR", target_dir(root)))?;
    println!("cross ok {BARE_TRIPLE} 1 (built, not run)");
    Ok(())
}

/// Cargo, by whose compiler there is a standard library for that target: rustup's. Where rustup's server cannot be reached, Debian's compiler
/// makes one from its sources (but for WebAssembly's, which wants a C library that Debian has not).
fn with_standard_library(triple: &str) -> Result<Command, String> {
    let mut cargo = Command::new("cargo");
    if step(Command::new("rustup").args(["target", "add", triple])).is_err() {
        apt(&["rustc-web", "rust-web-src"])?;
        cargo.arg("-Zbuild-std").env("RUSTC", "/usr/bin/rustc").env("RUSTDOC", "/usr/bin/rustdoc").env("RUSTC_BOOTSTRAP", "1");
    }
    Ok(cargo)
}

impl Other {
    fn run(&self, root: &Path) -> Result<(), String> {
        if !self.packages.is_empty() {
            install(self.linker, self.packages)?;
        }
        let [machine, known_answers, every_length, guard_pages] =
            test_programs(&mut self.cargo(root)?, self.triple, ["machine", "known_answers", "every_length", "guard_pages"])?;
        let is_linux = self.triple.contains("-linux-");
        let runner = self.runner.prepare(root)?;
        for (i, (processor, rows)) in self.processors.iter().enumerate() {
            let program = |program: &Path| runner.command(root, processor, program);
            let found = Machine::run(&mut program(&machine), &format!("{} {processor}", self.name))?;
            let found: Vec<&str> = found.available().collect();
            if let Rows::Exactly(rows) = rows
                && found != [rows, &["portable"][..]].concat()
            {
                return Err(format!("{} {processor}: rows {found:?}, not {rows:?} and portable", self.name));
            }
            if i > 0 {
                continue;
            }
            let mut log = Log::new(root)?;
            let suites = [&known_answers, &every_length, &guard_pages];
            for suite in &suites[..if is_linux { 3 } else { 2 }] {
                log.step(program(suite).arg("--nocapture"))?;
            }
            log.expect(&[known_answers_of(&found), suites_of(&found, is_linux)].concat())?;
        }
        println!("cross ok {} {}", self.triple, self.processors.len());
        Ok(())
    }

    /// Programs are static where there is a C library: qemu needs no files of that machine then.
    fn cargo(&self, root: &Path) -> Result<Command, String> {
        let variable = |what: &str| format!("CARGO_TARGET_{}_{what}", self.triple.to_uppercase().replace('-', "_"));
        let mut cargo = with_standard_library(self.triple)?;
        cargo.current_dir(root).env("CARGO_TARGET_DIR", target_dir(root)).env(variable("LINKER"), self.linker);
        if self.triple.ends_with("linux-gnu") {
            cargo.env(variable("RUSTFLAGS"), "-C target-feature=+crt-static");
        }
        Ok(cargo)
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
            Self::Wine => Ready::Wine(wine(root)?),
        })
    }
}

/// A runner that is there.
enum Ready {
    Itself,
    Qemu(PathBuf),
    /// By that script.
    Node(PathBuf),
    /// With its folder.
    Wine(PathBuf),
}

impl Ready {
    fn command(&self, root: &Path, processor: &str, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.arg("1800").current_dir(root.join("crates/fastgcm")).env("RUST_BACKTRACE", "0").env("FASTGCM_QUICK", "1");
        match self {
            Self::Itself => command.arg(program),
            Self::Qemu(qemu) => command.arg(qemu).args(["-cpu", processor]).arg(program),
            Self::Node(script) => command.args(["node", "--no-warnings"]).arg(script).arg(program),
            Self::Wine(folder) => {
                command.env("WINEDEBUG", "-all").env("WINEPREFIX", folder.join("c")).env("WINEPATH", format!("Z:{}", folder.display()));
                command.arg(WINE).arg(program)
            }
        };
        command
    }
}

const WINE: &str = "/usr/lib/wine/wine64";

/// wine, and what Debian's lacks: `bcryptprimitives.dll`, from which Rust's standard library has the seeds of its hash tables.
fn wine(root: &Path) -> Result<PathBuf, String> {
    const SOURCE: &str = "#include <windows.h>\n#include <ntsecapi.h>\n\
        __declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T n) { return RtlGenRandom(data, (ULONG)n); }\n";
    install(WINE, &["wine64"])?;
    let folder = target_dir(root).join("wine");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    fs::write(folder.join("prng.c"), SOURCE).map_err(|e| e.to_string())?;
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    step(compiler.args(["-shared", "-o", "bcryptprimitives.dll", "prng.c", "-ladvapi32"]).current_dir(&folder))?;
    Ok(folder)
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
