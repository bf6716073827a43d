//! The tests of RustCrypto's `aes-gcm`, run against `fastgcm::rustcrypto`.
//!
//! A program that says `use aes_gcm::...` shall work when it says `use fastgcm::rustcrypto::...` and nothing else changes. The programs
//! that are sure to exist are that crate's own tests and the examples on its front page. Cargo fetches its source, they are copied into a
//! scratch crate under `target/`, their `use` lines are changed, and they must all be there and pass. Nothing of theirs is committed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The version whose interface we have.
const VERSION: &str = "0.11.1";

/// Each file that is compiled, and the number of its lines that change.
const FILES: [(&str, usize); 5] =
    [("src/lib.rs", 2), ("tests/aes128gcm.rs", 2), ("tests/aes256gcm.rs", 2), ("tests/other_ivlen.rs", 2), ("tests/common/mod.rs", 0)];

/// Files that they include.
const INCLUDED: [&str; 5] = [
    "README.md",
    "tests/data/wycheproof-128_pass.blb",
    "tests/data/wycheproof-128_fail.blb",
    "tests/data/wycheproof-256_pass.blb",
    "tests/data/wycheproof-256_fail.blb",
];

/// How many tests upstream has, in the order in which Cargo runs them.
const TESTS: [(&str, usize); 5] =
    [("unit tests", 0), ("tests/aes128gcm.rs", 6), ("tests/aes256gcm.rs", 6), ("tests/other_ivlen.rs", 2), ("front page", 2)];

/// Where the front page of `src/lib.rs` ends and the crate's own code begins.
const FIRST_LINE_OF_CODE: &str = "pub use aead::";

/// Runs them all; `root` is the root of the workspace.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let scratch = root.join("target/rustcrypto");
    if scratch.exists() {
        // A file of an earlier run must not stand in for one that is missing now; what was compiled may stay.
        for part in ["src", "tests"] {
            fs::remove_dir_all(scratch.join(part)).map_err(|error| format!("{part}: {error}"))?;
        }
    }
    write(&scratch.join("Cargo.toml"), &manifest(root)?)?;
    write(&scratch.join("src/lib.rs"), "")?;
    fs::create_dir_all(scratch.join("tests")).map_err(|error| format!("tests: {error}"))?;
    let upstream = fetch(&scratch)?;

    for (name, changes) in FILES {
        let theirs = read(&upstream.join(name))?;
        let theirs = if name == "src/lib.rs" { front_page(&theirs)? } else { &theirs };
        let ours = change_use_lines(theirs);
        check_changes(name, theirs, &ours, changes)?;
        write(&scratch.join(name), &ours)?;
    }
    for name in INCLUDED {
        let (from, to) = (upstream.join(name), scratch.join(name));
        fs::create_dir_all(to.parent().unwrap_or(&to)).map_err(|error| format!("{name}: {error}"))?;
        fs::copy(&from, &to).map_err(|error| format!("{name}: {error}"))?;
    }

    let output = cargo(&scratch, &["test", "--no-fail-fast", "--target-dir", "target"], Stdio::inherit())?;
    let report = String::from_utf8_lossy(&output.stdout);
    print!("{report}");
    if !output.status.success() {
        return Err(format!("the tests of aes-gcm {VERSION}: {}", output.status));
    }
    println!("rustcrypto_tests ok {}", count(&report)?);
    Ok(())
}

/// The scratch crate's. `aes-gcm` is named for a target that does not exist: Cargo fetches it and never compiles it, so nothing here can
/// be RustCrypto's own implementation. Features and dev-dependencies are those that its tests and front page ask for.
fn manifest(root: &Path) -> Result<String, String> {
    let fastgcm = root.join("crates/fastgcm");
    let fastgcm = fastgcm.to_str().ok_or("the path of the workspace is not UTF-8")?;
    Ok(format!(
        r#"[package]
name = "rustcrypto-tests"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[features]
default = ["aes", "alloc", "arrayvec", "getrandom"]
aes = []
alloc = []
arrayvec = []
getrandom = []

[target.'cfg(any())'.dependencies]
aes-gcm = "={VERSION}"

[dev-dependencies]
fastgcm = {{ path = {fastgcm:?}, features = ["aead06", "getrandom"] }}
aead = {{ version = "0.6", features = ["alloc", "arrayvec", "dev"], default-features = false }}
hex-literal = "1"

[lints.rust]
unexpected_cfgs = "allow"

[profile.test]
opt-level = 1
"#
    ))
}

/// Has Cargo download everything, and asks where it put `aes-gcm`.
fn fetch(scratch: &Path) -> Result<PathBuf, String> {
    let output = cargo(scratch, &["metadata", "--format-version", "1"], Stdio::inherit())?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", output.status));
    }
    let metadata = String::from_utf8_lossy(&output.stdout);
    let end = format!("aes-gcm-{VERSION}/Cargo.toml");
    let manifest = metadata
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.ends_with(&end))
        .ok_or(format!("cargo metadata knows no {end}"))?;
    Path::new(manifest).parent().map(Path::to_owned).ok_or(format!("{manifest} has no folder"))
}

/// The part of `src/lib.rs` that is documentation.
fn front_page(lib: &str) -> Result<&str, String> {
    let end = lib.find(&format!("\n{FIRST_LINE_OF_CODE}")).ok_or(format!("src/lib.rs has no line `{FIRST_LINE_OF_CODE}`"))?;
    Ok(&lib[..=end])
}

/// `use aes_gcm::` and, for the names of the key lengths, `use aes::`: in code, and in the code of documentation.
fn change_use_lines(theirs: &str) -> String {
    let changed = theirs.split_inclusive('\n').map(|line| {
        let (comment, code) = line.strip_prefix("//! ").map_or(("", line), |code| ("//! ", code));
        let module = [("use aes_gcm::", ""), ("use aes::", "aes::")];
        match module.iter().find_map(|(theirs, ours)| Some((code.strip_prefix(theirs)?, ours))) {
            Some((names, module)) => format!("{comment}use fastgcm::rustcrypto::{module}{names}"),
            None => line.to_owned(),
        }
    });
    changed.collect()
}

/// What was changed: so many lines, each a `use` line; and nothing in the code names the other crate any more.
fn check_changes(name: &str, theirs: &str, ours: &str, expected: usize) -> Result<(), String> {
    if theirs.lines().count() != ours.lines().count() {
        return Err(format!("{name}: lines were added or lost"));
    }
    let changed: Vec<_> = theirs.lines().zip(ours.lines()).filter(|(theirs, ours)| theirs != ours).collect();
    let is_use = |line: &str| line.trim_start_matches("//! ").starts_with("use ");
    if let Some((theirs, ours)) = changed.iter().find(|(theirs, ours)| !is_use(theirs) || !is_use(ours)) {
        return Err(format!("{name}: `{theirs}` became `{ours}`"));
    }
    if changed.len() != expected {
        return Err(format!("{name}: {} lines changed, not {expected}", changed.len()));
    }
    match ours.lines().find(|line| line.contains("aes_gcm")) {
        Some(line) => Err(format!("{name}: it still says `{line}`")),
        None => Ok(()),
    }
}

/// Adds up what Cargo's report says of each suite, and fails unless it is what upstream has.
fn count(report: &str) -> Result<usize, String> {
    let suites: Vec<&str> = report.lines().filter_map(|line| line.strip_prefix("test result: ")).collect();
    if suites.len() != TESTS.len() {
        return Err(format!("{} suites were run, not {}", suites.len(), TESTS.len()));
    }
    for (suite, (name, tests)) in suites.iter().zip(TESTS) {
        if !suite.starts_with(&format!("ok. {tests} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out")) {
            return Err(format!("{name}: {tests} tests were to pass: {suite}"));
        }
    }
    Ok(TESTS.iter().map(|(_, tests)| tests).sum())
}

fn cargo(folder: &Path, arguments: &[&str], stderr: Stdio) -> Result<Output, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo).args(arguments).current_dir(folder).stderr(stderr).output().map_err(|error| format!("cargo: {error}"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().ok_or(format!("{} has no folder", path.display()))?;
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}
