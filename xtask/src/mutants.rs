//! `cargo xtask mutants`: how much would the quick suite notice?
//!
//! Mutants are what cargo-mutants makes of the library's functions: an operator changed, a body replaced by a constant. 95 % of those that
//! compile must be caught, and each survivor wants a line in `xtask/faults/survivors.txt` that says why no test could see it. It does not
//! change the immediates of intrinsics and the constants, which is where kernels go wrong: for those there are the kernel faults of
//! `cargo xtask faults`.
//!
//! `cargo xtask mutants [--seed N] [--random COUNT]`: a handful in the gate, others every time; 150 with `FASTGCM_FULL`.

use crate::{
    faults::QUICK_SUITE,
    package::step,
    planted::{Copy, KEPT},
};
use std::{
    fs,
    hash::{BuildHasher, RandomState},
    path::Path,
    process::Command,
};

/// Mutants in the gate, where a few say that the means still work; and in the full run.
const IN_THE_GATE: usize = 4;
const IN_FULL: usize = 150;

/// Code that the lean copy does not compile, or that the quick suite is not about (the other interface has its own tests).
const NOT_MUTATED: &str = "zmm::|ymm::|Vaes|src/rustcrypto.rs|src/isa/cpuid.rs|impl fmt::|impl Zeroize|impl Drop";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let option = |name: &str| -> Result<Option<u64>, String> {
        let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        arguments.get(at + 1).and_then(|n| n.parse().ok()).map(Some).ok_or(format!("{name} wants a number"))
    };
    let seed = option("--seed")?.unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000);
    let random = option("--random")?.map_or(if crate::ci::full() { IN_FULL } else { IN_THE_GATE }, |n| n as usize);
    println!("mutants: --seed {seed} --random {random} repeats this choice");
    random_mutants(root, &Copy::new(root)?, seed, random)
}

fn random_mutants(root: &Path, copy: &Copy, seed: u64, count: usize) -> Result<(), String> {
    if Command::new("cargo").args(["mutants", "--version"]).output().map_or(true, |output| !output.status.success()) {
        // Not a release build: it is run once and waits for the compiler most of the time.
        let mut install = Command::new("cargo");
        install.args(["install", "--quiet", "--locked", "cargo-mutants", "--version", "27.1.0", "--profile", "dev"]);
        step(install.current_dir(root))?;
    }
    let list = copy.cargo(&format!("mutants --list --package fastgcm --exclude-re {NOT_MUTATED}")).output().map_err(|e| e.to_string())?;
    let mut names: Vec<String> = String::from_utf8_lossy(&list.stdout).lines().map(str::to_owned).collect();
    let all = names.len();
    shuffle(&mut names, seed);
    names.truncate(count);
    let names: Vec<&String> = crate::ci::sharded(&names).collect();
    println!("mutants: {} of {all}, seed {seed}, rows {}", names.len(), KEPT.join(" and "));

    let output = copy.root.with_file_name("mutants");
    let mut command = copy.cargo("mutants --in-place --package fastgcm --baseline skip --timeout 120 --colors never --output");
    command.arg(&output);
    for name in &names {
        command.arg("--re").arg(format!("^{}$", escape(name)));
    }
    command.arg("--").args(QUICK_SUITE.split_whitespace());
    // Half an hour is too short for all of them.
    command = unlimited(&command);
    // It fails if there are survivors, which is for us to judge.
    let status = command.status().map_err(|e| e.to_string())?;
    let listed = |file: &str| -> Result<Vec<String>, String> {
        let path = output.join("mutants.out").join(file);
        Ok(fs::read_to_string(&path).map_err(|e| format!("{}: {e} ({status})", path.display()))?.lines().map(str::to_owned).collect())
    };
    let (caught, missed) = (listed("caught.txt")?.len() + listed("timeout.txt")?.len(), listed("missed.txt")?);
    let unviable = listed("unviable.txt")?.len();
    if caught + missed.len() + unviable != names.len() {
        return Err(format!("{} mutants were to be tried, {caught} + {} + {unviable} were", names.len(), missed.len()));
    }
    let survivors = fs::read_to_string(root.join("xtask/faults/survivors.txt")).map_err(|e| format!("survivors.txt: {e}"))?;
    let reason = |name: &str| {
        let known = survivors.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once("  "));
        known.into_iter().find(|(part, _)| name.contains(part)).map(|(_, reason)| reason.to_owned())
    };
    for name in &missed {
        println!("survivor: {name}: {}", reason(name).unwrap_or_else(|| "not explained yet".into()));
    }
    let viable = caught + missed.len();
    let rate = 100.0 * caught as f64 / viable.max(1) as f64;
    println!("mutants: {caught} of {viable} viable ones caught, {rate:.1} %; {unviable} do not compile; seed {seed}");
    if rate < 95.0 {
        return Err("fewer than 95 % of the mutants were caught".into());
    }
    println!("random_mutants ok {}", names.len());
    Ok(())
}

/// The same command without the limit of time in front of it.
fn unlimited(limited: &Command) -> Command {
    let mut command = Command::new("cargo");
    command.args(limited.get_args().skip_while(|argument| *argument != "cargo").skip(1));
    command.envs(limited.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = limited.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// A name as a regular expression that matches it alone.
fn escape(name: &str) -> String {
    name.chars().flat_map(|c| [(!c.is_alphanumeric() && c.is_ascii()).then_some('\\'), Some(c)]).flatten().collect()
}

/// By Fisher and Yates, with the numbers of SplitMix64.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for i in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(i, ((x ^ x >> 31) % (i as u64 + 1)) as usize);
    }
}
