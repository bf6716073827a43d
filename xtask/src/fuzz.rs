//! `cargo xtask fuzz`: a minute of each target of `lab/fuzz/`, or so many seconds, in the lean copy with two rows. With `FASTGCM_FULL` all rows, and
//! what these minutes are worth: how many lines of the files that a target names were reached, and whether it finds a fault that was planted.
//!
//! cargo-fuzz wants a nightly compiler for its flags; `RUSTC_BOOTSTRAP=1` lets the stable one take them, so one compiler serves all.

use crate::{
    package::step,
    planted::{Copy, Patch, quietly},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Each target, and the files that it is about: those of which every machine can run all lines. (What only vectors of four blocks do is not
/// reached where there are none.)
const TARGETS: [(&str, &[&str]); 6] = [
    ("one_shot", &["fastgcm/src/seal.rs", "fastgcm/src/tag.rs", "fastgcm/src/nonce.rs", "fastgcm/src/limits.rs"]),
    (
        "back_ends",
        &[
            "fastgcm/src/gcm/message.rs",
            "fastgcm/src/gcm/sequential.rs",
            "fastgcm/src/inout.rs",
            "fastgcm/src/aes/",
            "fastgcm/src/gcm/software.rs",
            "fastgcm/src/ghash/pairs.rs",
            "fastgcm/src/isa/nibbles.rs",
            "fastgcm/src/isa/portable.rs",
            "fastgcm/src/isa/portable/aes.rs",
        ],
    ),
    ("batch", &["fastgcm/src/batch.rs", "fastgcm/src/packet.rs"]),
    ("parts", &["fastgcm/src/parts.rs", "fastgcm/src/ghash/exponent.rs"]),
    (
        "packets",
        &["fastgcm-protocols/src/esp.rs", "fastgcm-protocols/src/quic.rs", "fastgcm-protocols/src/srtp.rs", "fastgcm-protocols/src/tls.rs"],
    ),
    ("file", &["fastgcm-file/src/reader.rs", "fastgcm-file/src/range.rs", "fastgcm-file/src/cipher.rs"]),
];

/// Seconds for each.
const SECONDS: u64 = 60;

/// Of the lines that a target names, in percent.
const REACHED: f64 = 90.0;

/// `cargo xtask fuzz [SECONDS | coverage | planted]`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("coverage") => return coverage(root),
        Some("planted") => return planted(root, SECONDS),
        _ => {}
    }
    let seconds = arguments.first().map_or(Ok(SECONDS), |n| n.parse().map_err(|_| format!("`{n}` is not a number of seconds")))?;
    if Command::new("cargo").args(["fuzz", "--version"]).stdout(Stdio::null()).status().map_or(true, |status| !status.success()) {
        step(Command::new("cargo").args(["install", "--quiet", "--locked", "cargo-fuzz", "--version", "0.13.2", "--profile", "dev"]))?;
    }
    // With all their checks, rows that this machine cannot run take minutes to compile.
    let (project, build) = if crate::ci::full() {
        (root.to_owned(), root.join("target/fuzz"))
    } else {
        (Copy::new(root)?.root, root.join("target/planted/fuzz"))
    };
    step(&mut cargo_fuzz(&project, &build, "build"))?;
    // As many at a time as there are processors.
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, _)) = TARGETS.get(next.fetch_add(1, Ordering::Relaxed)) {
            minute(root, &project, &build, name, seconds)?;
        }
        Ok::<(), String>(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(TARGETS.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "fuzzing panicked".to_owned())?)
    })?;
    if crate::ci::full() {
        coverage(root)?;
        planted(root, seconds)?;
    }
    Ok(())
}

/// Fuzzes one target; what it finds of use goes to `root`.
fn minute(root: &Path, project: &Path, build: &Path, name: &str, seconds: u64) -> Result<(), String> {
    fs::create_dir_all(found(root, name)).map_err(|e| e.to_string())?;
    let mut command = cargo_fuzz(project, build, &format!("run {name}"));
    command.arg(found(root, name)).arg(committed(root, name));
    command.args(["--", "-print_final_stats=1", "-verbosity=0", "-timeout=20", &format!("-max_total_time={seconds}")]);
    let (fine, said) = quietly(&mut command)?;
    if !fine {
        return Err(format!("{said}\nfuzzing {name} found something: it is in {}/lab/fuzz/artifacts/{name}", project.display()));
    }
    let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")).ok_or("no statistics")?.trim();
    println!("fuzz/{name} ok {runs}");
    Ok(())
}

/// How many lines of its files each target has reached, by its committed corpus and what it has found since: in the lean copy, since rows that
/// cannot run reach none.
fn coverage(root: &Path) -> Result<(), String> {
    let copy = Copy::new(root)?;
    // The version of LLVM that this rustc is built on.
    let (_, version) = quietly(Command::new("rustc").arg("-vV"))?;
    let version = version.lines().find_map(|line| line.strip_prefix("LLVM version: ")?.split('.').next()).ok_or("rustc -vV: no LLVM")?;
    let tool = |name: &str| format!("{name}-{version}");
    crate::debian::install(&tool("llvm-cov"), &[&format!("llvm-{version}")])?;
    let build = root.join("target/planted/coverage");
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--bins"]).current_dir(copy.root.join("lab/fuzz")).env("CARGO_TARGET_DIR", &build);
    command.env("LLVM_PROFILE_FILE", build.join("build.profraw")); // build scripts are instrumented too
    step(command.env("RUSTFLAGS", "-C instrument-coverage --cfg fuzzing"))?;
    for (name, files) in TARGETS {
        let program = build.join("release").join(name);
        let (raw, data) = (build.join(format!("{name}.profraw")), build.join(format!("{name}.profdata")));
        let inputs = [found(root, name), committed(root, name)];
        let inputs = inputs.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten()).map(|entry| entry.path());
        let (fine, said) = quietly(Command::new(&program).args(inputs).env("LLVM_PROFILE_FILE", &raw))?;
        if !fine {
            return Err(said);
        }
        step(Command::new(tool("llvm-profdata")).args(["merge", "-sparse", "-o"]).arg(&data).arg(&raw))?;
        let (_, report) = quietly(Command::new(tool("llvm-cov")).arg("report").arg(&program).arg("-instr-profile").arg(&data))?;
        // Name, then total, missed and share of regions, functions, lines.
        let lines: Vec<(String, f64, f64)> = report
            .lines()
            .filter_map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let named = files.iter().any(|file| fields.first().is_some_and(|path| path.contains(file)) && !line.contains("tests.rs"));
                Some((fields.first()?.to_string(), fields.get(7)?.parse().ok()?, fields.get(8)?.parse().ok()?)).filter(|_| named)
            })
            .collect();
        let (all, missed) = lines.iter().fold((0.0, 0.0), |(all, missed), line| (all + line.1, missed + line.2));
        lines.iter().for_each(|(file, all, missed)| println!("  {file}: {} of {all} lines", all - missed));
        let share = 100.0 * (all - missed) / f64::max(all, 1.0);
        println!("fuzz/{name}: {share:.1} % of {all} lines reached");
        if share < REACHED {
            return Err(format!("fuzzing {name} reaches less than {REACHED} % of its lines"));
        }
    }
    println!("fuzz_coverage ok {}", TARGETS.len());
    Ok(())
}

/// Each target finds the fault that `xtask/faults/fuzz.patch` has for it, from the committed corpus and in the same time.
fn planted(root: &Path, seconds: u64) -> Result<(), String> {
    let patches = Patch::read(&root.join("xtask/faults/fuzz.patch"))?;
    let copy = Copy::new(root)?;
    let build = root.join("target/planted/fuzz");
    for (name, _) in TARGETS {
        let patch = patches.iter().find(|patch| patch.name == name).ok_or(format!("fuzz.patch: nothing for {name}"))?;
        let fine = copy.with(patch, || {
            step(&mut cargo_fuzz(&copy.root, &build, &format!("build {name}")))?;
            let mut command = cargo_fuzz(&copy.root, &build, &format!("run {name}"));
            command.arg(committed(&copy.root, name)).args(["--", &format!("-max_total_time={seconds}")]);
            Ok(quietly(&mut command)?.0)
        })?;
        if fine {
            return Err(format!("fuzzing {name} does not find in {seconds} s: {}", patch.why));
        }
        println!("fuzz/{name} finds: {}", patch.why);
    }
    println!("fuzz_planted ok {}", TARGETS.len());
    Ok(())
}

fn cargo_fuzz(root: &Path, build: &Path, arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .arg("fuzz")
        .args(arguments.split_whitespace())
        .current_dir(root.join("lab"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", build);
    command.stdin(Stdio::null());
    command
}

/// What is committed: small, and enough to begin with.
fn committed(root: &Path, name: &str) -> PathBuf {
    root.join("lab/fuzz/corpus").join(name)
}

/// What has been found since.
fn found(root: &Path, name: &str) -> PathBuf {
    root.join("target/fuzz/corpus").join(name)
}
