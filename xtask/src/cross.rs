//! Other machines: `cargo xtask cross` installs what it needs (Debian and root) and runs the library's tests there, under qemu.
//!
//! A processor is emulated exactly, not quickly: what these pages prove is that the answers are right and that each processor gets a
//! row that it can run. Nothing here says how fast any of them is.

mod aarch64;
mod constant_time;
mod lacking;
mod machines;
mod pairs;
mod trace;

use crate::{package::show, suites::suite};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A machine: its name on the command line, and what installs, builds and proves.
struct Target {
    name: &'static str,
    run: fn(&Path) -> Result<(), String>,
}

const TARGETS: &[Target] = &[Target { name: "aarch64", run: aarch64::run }];

/// Those named, or all.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    let all: Vec<&str> = TARGETS.iter().map(|target| target.name).chain(machines::names()).collect();
    if let Some(name) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("no target `{name}`; there are {}", all.join(", ")));
    }
    for target in TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|name| name == target.name)) {
        (target.run)(root)?;
    }
    for name in machines::names().filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name)) {
        machines::run(root, name)?;
    }
    Ok(())
}

/// Cargo with Debian's compiler, for a target that rustup may have no standard library for. Programs are linked statically, and run by
/// `runner`, which emulates.
pub(crate) fn debian_cargo(root: &Path, triple: &str, linker: &str, runner: &str) -> Command {
    let variable = |what: &str| format!("CARGO_TARGET_{}_{what}", triple.to_uppercase().replace('-', "_"));
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target_dir(root)) // another compiler: it would rebuild all
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTDOC", "/usr/bin/rustdoc")
        .env("RUST_BACKTRACE", "0") // names of functions take qemu 15 s
        .env_remove("FASTGCM_FULL") // gigabytes
        .env(variable("LINKER"), linker)
        .env(variable("RUSTFLAGS"), "-C target-feature=+crt-static")
        .env(variable("RUNNER"), runner);
    cargo
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
        let ran: Vec<_> = text.lines().filter_map(suite).collect();
        let missing = machine.available().find(|row| !ran.contains(&(&format!("machine::random_messages/{row}"), "1000")));
        if let Some(missing) = missing.or(ran.is_empty().then_some("any row")) {
            return Err(format!("{processor}: no 1000 random messages of {missing}\n{text}"));
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
    test_programs(cargo, target, ["machine"]).map(|[program]| program)
}

/// Builds these of the library's tests by that Cargo, and says where the programs are.
pub(crate) fn test_programs<const N: usize>(cargo: &mut Command, target: &str, names: [&str; N]) -> Result<[PathBuf; N], String> {
    cargo.args(["test", "-p", "fastgcm", "--features", "hazmat", "--no-run", "--message-format", "json", "--target", target]);
    for name in names {
        cargo.args(["--test", name]);
    }
    println!("+ {}", show(cargo));
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", show(cargo)))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let programs: Vec<&str> = text.split("\"executable\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let find =
        |name: &str| programs.iter().find(|program| program.rsplit('/').next().is_some_and(|file| file.starts_with(&format!("{name}-"))));
    let mut found = names.map(|_| PathBuf::new());
    for (path, name) in found.iter_mut().zip(names) {
        *path = find(name).filter(|_| output.status.success()).ok_or_else(|| format!("{}: {}", show(cargo), output.status))?.into();
    }
    Ok(found)
}

/// What `tests/known_answers.rs` prints.
pub(crate) fn known_answers_of(rows: &[&str]) -> Vec<String> {
    let suites = [("cavp", 3150), ("wycheproof_gcm", 316), ("wycheproof_gmac", 414)];
    let of_row = |row: &&str| suites.map(|(suite, count)| format!("known_answers::{suite}/{row} ok {count}"));
    rows.iter().flat_map(of_row).collect()
}

/// What the quick suites print that take long.
pub(crate) fn suites_of(rows: &[&str], guard_pages: bool) -> Vec<String> {
    let suites = [("every_length", 1137), ("every_nonce_length", 408), ("guard_pages::f07", 22752), ("guard_pages::f07_nonces", 2200)];
    let suites = &suites[..if guard_pages { 4 } else { 2 }];
    suites.iter().flat_map(|(suite, count)| rows.iter().map(move |row| format!("{suite}/{row} ok {count}"))).collect()
}

/// Where those builds are.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("cross")
}

#[cfg(test)]
mod tests {
    use super::{aarch64, machines};

    #[test]
    fn the_readme_names_every_machine() {
        let readme = include_str!("../../README.md");
        let triples: Vec<&str> = machines::triples().chain([aarch64::TRIPLE]).collect();
        for triple in &triples {
            assert!(readme.contains(&format!("`{triple}`")), "README.md does not say how {triple} is tested");
        }
        println!("cross::the_readme_names_every_machine ok {}", triples.len());
    }
}
