//! Every other machine, a line each: known answers, every length and random messages against the model, by rustup's standard libraries
//! and Debian's linkers, under qemu, wine or node.

use super::{Machine, apt, install, target_dir, test_programs};
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
    /// qemu's processors, each with the rows that must be there beside `portable`.
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
    Wine,
}

#[rustfmt::skip]
const OTHERS: [Other; 6] = [
    Other { name: "i686",    triple: "i686-unknown-linux-gnu",        linker: "i686-linux-gnu-gcc",        packages: &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"],               runner: Runner::None,                    processors: &[("native", &[])] },
    Other { name: "s390x",   triple: "s390x-unknown-linux-gnu",       linker: "s390x-linux-gnu-gcc",       packages: &["gcc-s390x-linux-gnu", "libc6-dev-s390x-cross"],             runner: Runner::Qemu("qemu-s390x"),      processors: &[("max", &[])] },
    Other { name: "ppc64le", triple: "powerpc64le-unknown-linux-gnu", linker: "powerpc64le-linux-gnu-gcc", packages: &["gcc-powerpc64le-linux-gnu", "libc6-dev-ppc64el-cross"],     runner: Runner::Qemu("qemu-ppc64le"),    processors: &[("power10", &[])] },
    Other { name: "riscv64", triple: "riscv64gc-unknown-linux-gnu",   linker: "riscv64-linux-gnu-gcc",     packages: &["gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross"],         runner: Runner::NewQemu("qemu-riscv64"), processors: RISCV },
    Other { name: "wasm32",  triple: "wasm32-wasip1",                 linker: "rust-lld",                  packages: &[],                                                           runner: Runner::Node,                    processors: &[("node", &[])] },
    Other { name: "windows", triple: "x86_64-pc-windows-gnu",         linker: "x86_64-w64-mingw32-gcc",    packages: &["gcc-mingw-w64-x86-64"],                                     runner: Runner::Wine,                    processors: &[] },
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
