//! `cargo xtask compilers`: the known answers on optimised builds of every kind (F11).
//!
//! A project of intrinsics has put the compiler where others have assembly, and compilers are wrong too: code of ours that is right at one
//! level of optimisation, for one processor, may be wrong at another. So what is tested is what users build, with all that they may set.

use crate::{
    asm::has_no_signs,
    tools::{quietly, sh, shard},
};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// What runs in each build: CAVP and Wycheproof, the long known answers, the canary.
const TESTS: &str = "--test known_answers --test long_known_answers --test compiler";

/// Fourteen builds: `opt-level`, `target-cpu`, `lto`, toolchain. Two values of any two columns meet in one of them, but for the
/// level of optimisation with the processor (24 pairs, 14 here) and with LTO (18, 14 here), which fourteen cannot hold.
const BUILDS: [&str; 14] = [
    "3 native thin stable",
    "z x86-64-v3 off stable",
    "3 default off stable",
    "0 x86-64-v4 off nightly",
    "2 x86-64-v3 fat stable",
    "z native thin nightly",
    "1 default fat nightly",
    "1 x86-64-v4 thin stable",
    "s native fat stable",
    "s x86-64-v3 thin nightly",
    "3 x86-64-v4 fat nightly",
    "0 x86-64-v3 fat stable",
    "2 native off nightly",
    "2 default thin stable",
];

pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    let ((i, n), mut done) = (shard(), 0);
    for build in BUILDS.iter().skip(i - 1).step_by(n) {
        done += usize::from(one(root, build)?);
    }
    println!("compilers ok {done}");
    Ok(())
}

/// Builds and runs one; `false` if this machine cannot.
fn one(root: &Path, build: &str) -> Result<bool> {
    let [opt, cpu, lto, toolchain] = build.split(' ').collect::<Vec<_>>()[..] else { unreachable!("a build has four words") };
    let name = format!("opt-level {opt}, {cpu}, LTO {lto}, {toolchain}");
    let needs = [
        (toolchain, "nightly", "RUSTUP_TOOLCHAIN=nightly rustc --version", "toolchain is installed"),
        (cpu, "x86-64-v3", "grep -qw avx2 /proc/cpuinfo", "on this processor"),
        (cpu, "x86-64-v4", "grep -qw avx512vl /proc/cpuinfo", "on this processor"),
    ];
    for (own, what, test, why) in needs {
        if own == what && !quietly(&mut sh(root, test))?.0 {
            println!("SKIPPED compilers: {name}: no {what} {why}");
            return Ok(false);
        }
    }
    // The toolchain that runs us is stable, whatever it is called here. The longest messages by one line of the answers for each back end, as in the gate: without
    // optimisation, all lines take an hour.
    let toolchain = if toolchain == "nightly" { "export RUSTUP_TOOLCHAIN=nightly; unset RUSTC" } else { "" };
    let flags = if cpu == "default" { String::new() } else { format!("-C target-cpu={cpu}") };
    let (passed, output) = quietly(&mut sh(
        root,
        &format!(
            "{toolchain}
            export CARGO_TARGET_DIR=target/compilers CARGO_PROFILE_RELEASE_OPT_LEVEL={opt} CARGO_PROFILE_RELEASE_LTO={lto} RUSTFLAGS='{flags}'
            export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS={} && unset FASTGCM_FULL
            cargo test --release -p fastgcm {TESTS} -- --nocapture",
            opt == "0"
        ),
    ))?;
    ensure!(passed, "{output}\nwrong in the build with {name}");
    let (_, canary) = output.lines().find_map(|line| line.split_once("compiler: ")).context("the canary said nothing")?;
    let suites = output.lines().filter(|line| line.contains(" ok ") && line.contains("known_answers")).count();
    ensure!(suites > 0, "{output}\nno suite ran in the build with {name}");
    // The canary is dead in some of these builds. Not so the library: it has nothing that this fault of LLVM is about.
    let programs: Vec<&str> = output.lines().filter_map(|line| line.split_once("known_answers.rs (")?.1.strip_suffix(')')).collect();
    ensure!(!programs.is_empty(), "{output}\nthe build with {name} has no program");
    for program in programs {
        let (has_none, found) = has_no_signs(root, program)?;
        ensure!(has_none, "{name}: {program}\n{found}");
    }
    println!("compilers: {name}: {suites} suites ok, {canary}");
    Ok(true)
}
