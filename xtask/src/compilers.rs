//! `cargo xtask compilers`: the known answers on optimised builds of every kind (F11).
//!
//! A project of intrinsics has put the compiler where others have assembly, and compilers are wrong too: code of ours that is right at one
//! level of optimisation, for one processor, may be wrong at another. So what is tested is what users build, with all that they may set.

use crate::{package::show, planted::quietly};
use std::{path::Path, process::Command, time::Instant};

/// What runs in each build: CAVP and Wycheproof, the long known answers, the canary.
const TESTS: &str = "--test known_answers --test long_known_answers --test compiler";

/// A build: `opt-level`, `target-cpu`, `lto`, toolchain.
type Build = [&'static str; 4];

/// Fourteen builds. Two values of any two columns meet in one of them, but for the level of optimisation with the processor (24 pairs, 14
/// here) and with LTO (18, 14 here), which fourteen cannot hold; `check_cover` counts them.
const BUILDS: [Build; 14] = [
    ["3", "native", "thin", "stable"],
    ["z", "x86-64-v3", "off", "stable"],
    ["3", "default", "off", "stable"],
    ["0", "x86-64-v4", "off", "nightly"],
    ["2", "x86-64-v3", "fat", "stable"],
    ["z", "native", "thin", "nightly"],
    ["1", "default", "fat", "nightly"],
    ["1", "x86-64-v4", "thin", "stable"],
    ["s", "native", "fat", "stable"],
    ["s", "x86-64-v3", "thin", "nightly"],
    ["3", "x86-64-v4", "fat", "nightly"],
    ["0", "x86-64-v3", "fat", "stable"],
    ["2", "native", "off", "nightly"],
    ["2", "default", "thin", "stable"],
];

/// The first builds, which are those of the gate.
const IN_THE_GATE: usize = 1;

/// All in the full run; or those of which all these words are true (`nightly`, `x86-64-v4`, ...).
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    check_cover()?;
    let wanted = |build: &&Build| words.iter().all(|word| build.contains(&word.as_str()));
    let count = if crate::ci::full() || !words.is_empty() { BUILDS.len() } else { IN_THE_GATE };
    let builds: Vec<&Build> = BUILDS[..count].iter().filter(wanted).collect();
    if builds.is_empty() {
        return Err(format!("no build is {}", words.join(" ")));
    }
    let mut done = 0;
    for build in crate::ci::sharded(&builds) {
        done += usize::from(one(root, build)?);
    }
    println!("compilers ok {done}");
    Ok(())
}

/// Builds and runs one; `false` if this machine cannot.
fn one(root: &Path, build: &Build) -> Result<bool, String> {
    let [opt, cpu, lto, toolchain] = build;
    let name = format!("opt-level {opt}, {cpu}, LTO {lto}, {toolchain}");
    if let Some(why) = cannot(cpu, toolchain) {
        println!("SKIPPED compilers: {name}: {why}");
        return Ok(false);
    }
    let start = Instant::now();
    let mut command = Command::new("cargo");
    // The toolchain that runs us is stable, whatever it is called here.
    if *toolchain == "nightly" {
        command.env_remove("RUSTC").env("RUSTUP_TOOLCHAIN", "nightly");
    }
    command.args("test --release -p fastgcm".split(' ')).args(TESTS.split(' ')).args(["--", "--nocapture"]).current_dir(root);
    // The longest messages by one line of the answers for each back end, as in the gate: without optimisation, all lines take an hour.
    command.env_remove("FASTGCM_FULL").env("CARGO_TARGET_DIR", root.join("target/compilers"));
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt).env("CARGO_PROFILE_RELEASE_LTO", lto);
    // Who does not optimise has a debug build, which is made of smaller functions (`Calls::tail` in crates/fastgcm/src/gcm/tail.rs).
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", if *opt == "0" { "true" } else { "false" });
    command.env("RUSTFLAGS", if *cpu == "default" { String::new() } else { format!("-C target-cpu={cpu}") });
    let (passed, output) = quietly(&mut command)?;
    let canary = output.lines().find_map(|line| line.split_once("compiler: ").map(|(_, said)| said));
    if !passed {
        return Err(format!("{output}\n{}\nwrong in the build with {name}", show(&command)));
    }
    let suites = output.lines().filter(|line| line.contains(" ok ") && line.contains("known_answers")).count();
    let canary = canary.ok_or("the canary said nothing")?;
    if suites == 0 {
        return Err(format!("{output}\nno suite ran in the build with {name}"));
    }
    println!("compilers: {name}: {suites} suites ok, {canary}, {} s", start.elapsed().as_secs());
    Ok(true)
}

/// Why this machine cannot build or run that.
fn cannot(cpu: &str, toolchain: &str) -> Option<&'static str> {
    let nightly = || Command::new("rustc").env("RUSTUP_TOOLCHAIN", "nightly").arg("--version").output().is_ok_and(|o| o.status.success());
    match cpu {
        _ if toolchain == "nightly" && !nightly() => Some("no nightly toolchain is installed"),
        #[cfg(target_arch = "x86_64")]
        "x86-64-v3" if !is_x86_feature_detected!("avx2") => Some("this processor has no AVX2"),
        #[cfg(target_arch = "x86_64")]
        "x86-64-v4" if !is_x86_feature_detected!("avx512vl") => Some("this processor has no AVX-512"),
        #[cfg(not(target_arch = "x86_64"))]
        "x86-64-v3" | "x86-64-v4" => Some("this is no x86-64"),
        _ => None,
    }
}

/// The table says what it covers, and is held to it.
fn check_cover() -> Result<(), String> {
    const VALUES: [usize; 4] = [6, 4, 3, 2];
    for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let pairs: std::collections::HashSet<(&str, &str)> = BUILDS.iter().map(|build| (build[i], build[j])).collect();
        let expected = (VALUES[i] * VALUES[j]).min(BUILDS.len());
        if pairs.len() != expected {
            return Err(format!("compilers: columns {i} and {j} have {} pairs, not {expected}", pairs.len()));
        }
    }
    Ok(())
}
