//! `cargo xtask fuzz`: a minute of each target of `lab/fuzz/`, or so many seconds, with three rows of x86. With `FASTGCM_FULL` all rows, and what
//! these minutes are worth: how many lines of the files that a target names were reached. (`cargo xtask faults` plants a fault for each target.)
//!
//! cargo-fuzz wants a nightly compiler for its flags; `RUSTC_BOOTSTRAP=1` lets the stable one take them, so one compiler serves all.

use crate::{
    ci::full,
    planted::LEAN,
    tools::{need, output, run as type_in, sh, step},
};
use anyhow::{Context, Result};
use std::{path::Path, process::Command};

/// Each target, and the files that it is about (in `crates/`): those of which every machine can run all lines. (What only vectors of four blocks do is
/// not reached where there are none.)
const TARGETS: [(&str, &str); 6] = [
    ("one_shot", "fastgcm/src/(seal|tag|nonce|limits).rs"),
    ("back_ends", "fastgcm/src/(gcm/(message|sequential|software)|inout|aes/.*|ghash/pairs|isa/(nibbles|portable|portable/aes)).rs"),
    ("batch", "fastgcm/src/(batch|packet).rs"),
    ("parts", "fastgcm/src/(parts|ghash/exponent).rs"),
    ("packets", "fastgcm-protocols/src/(esp|quic|srtp|tls).rs"),
    ("file", "fastgcm-file/src/(reader|range|cipher).rs"),
];

/// `cargo xtask fuzz [SECONDS]`: so many for each.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let seconds: u64 = arguments.first().map_or(Ok(60), |n| n.parse()).context("fuzz [SECONDS]")?;
    let install = "cargo install --quiet --locked cargo-fuzz --version 0.13.2 --profile dev";
    type_in(root, &format!("cargo fuzz --version || {install}"))?;
    let cargo = |line: &str| -> Command {
        let mut command = sh(&root.join("lab"), line);
        command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", root.join("target/fuzz")).env("FOUND", root.join("target/fuzz/corpus"));
        // With all their checks, rows that this machine may not be able to run take minutes to compile.
        command.env("RUSTFLAGS", if full() { "" } else { LEAN });
        command
    };
    step(&mut cargo("cargo fuzz build"))?;
    // As many at a time as there are processors, from what is committed and what has been found since.
    let names = TARGETS.map(|(name, _)| name).join("\\n");
    let minute = format!(
        "mkdir -p $FOUND/NAME
        options=\"-print_final_stats=1 -verbosity=0 -timeout=20 -max_total_time={seconds}\"
        cargo fuzz run NAME $FOUND/NAME fuzz/corpus/NAME -- $options > $FOUND/NAME.log 2>&1 || {{ cat $FOUND/NAME.log; exit 1; }}
        sed -n \"s|^stat::number_of_executed_units: *|fuzz/NAME ok |p\" $FOUND/NAME.log"
    );
    step(&mut cargo(&format!("printf '{names}' | xargs -P $(nproc) -I NAME bash -c '{minute}'")))
        .context("fuzzing found something: it is in lab/fuzz/artifacts")?;
    if !full() {
        return Ok(());
    }
    coverage(root)
}

/// How many lines of its files each target has reached, by its committed corpus and what it has found since: without the rows
/// that may not run.
fn coverage(root: &Path) -> Result<()> {
    // The version of LLVM that this rustc is built on.
    let version = output(&mut sh(root, "rustc -vV | sed -n 's/^LLVM version: \\([0-9]*\\).*/\\1/p'"))?;
    let (version, build) = (version.trim(), root.join("target/fuzz/coverage"));
    need(root, &format!("llvm-cov-{version}"), &format!("llvm-{version}"))?;
    let typed = |line: &str| {
        let mut command = sh(&root.join("lab/fuzz"), line);
        step(command.env("CARGO_TARGET_DIR", &build).env("BUILD", &build).env("FOUND", root.join("target/fuzz/corpus")))
    };
    // Build scripts are instrumented too.
    let instrumented = format!("LLVM_PROFILE_FILE=$BUILD/build.profraw RUSTFLAGS='-C instrument-coverage --cfg fuzzing {LEAN}'");
    typed(&format!("{instrumented} cargo build --release --bins"))?;
    for (name, files) in TARGETS {
        // Of the report: name, then total, missed and share of regions, functions, lines. 90 % are enough.
        typed(&format!(
            "LLVM_PROFILE_FILE=$BUILD/{name}.profraw $BUILD/release/{name} $FOUND/{name}/* corpus/{name}/* > $BUILD/{name}.log 2>&1
            llvm-profdata-{version} merge -sparse -o $BUILD/{name}.profdata $BUILD/{name}.profraw
            llvm-cov-{version} report $BUILD/release/{name} -instr-profile $BUILD/{name}.profdata | awk '
                $1 ~ \"{files}\" && !/tests.rs/ {{ print $1, $8 - $9, \"of\", $8, \"lines\"; all += $8; missed += $9 }}
                END {{ print \"{name} reaches\", all - missed, \"of\", all; exit all == 0 || missed > all / 10 }}'"
        ))?;
    }
    println!("fuzz_coverage ok {}", TARGETS.len());
    Ok(())
}
