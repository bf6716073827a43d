//! Guards without a clock: what a correct tag cannot show, and a timed test would show on a quiet machine only.
//!
//! A probe that uses the library as any program does (`cargo build --release`, no LTO) is taken apart. Whatever the compiler, a row of
//! the table must not
//! * call an intrinsic (or anything but its own functions, `memcpy`, `memset` and panics): a target feature is missing then,
//! * hold an instruction that its features do not promise, AVX512DQ above all,
//! * leave with the upper halves of vector registers in use.
//!
//! For each compiler that has a table in `xtask/asm/`, numbers are compared with it: of each function, bytes and calls, vectors that its
//! loops spill and reload, and how many carry-less multiplications, AES rounds and vector loads it is made of; of each message of a
//! dozen sizes, instructions executed, those of the same kinds, and the cache lines of code, key and tables that it touches; and of the
//! library, lines of LLVM IR (`ir`), which its time to compile goes by. More than 5 % more bytes, instructions or reloads fail, more than
//! 1 % more lines of LLVM IR, and one more of anything else. `--bless` writes the table: its diff is part of the change, to be read with
//! it. With `--emulated` the messages of rows that this processor cannot run are counted too, on an emulated one; without, what the table
//! has of them is left alone.
//!
//! **Spills.** A turn has eight AES states, three sums and a key in flight. 32 registers hold that; 16 do not, and still eight blocks in
//! flight are 20 % faster than four. So what stands in the table is not zero, and is a debt where a row has 32.

mod count;
mod emulated;
mod inspect;
mod program;
mod selftest;
mod table;

use crate::{
    ci::full,
    package::{show, step},
};
use program::Program;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use table::{Change, Table};

/// A row of the library's table.
struct Row {
    name: String,
    /// This processor can run it.
    here: bool,
    features: Vec<String>,
}

impl Row {
    /// Without AES instructions nothing is woven, and what it has of vectors is the compiler's affair.
    fn made_of_calls(&self) -> bool {
        !self.features.iter().any(|feature| feature == "aes")
    }
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (emulated, argument) = match arguments[..] {
        ["--messages", probe, ref rows @ ..] => return emulated::print(Path::new(probe), rows),
        ["--emulated", ref rest @ ..] => (true, rest.first().copied()),
        ref rest => (false, rest.first().copied()),
    };
    let compiler = output(Command::new("rustc").arg("-V").current_dir(root))?.trim().to_owned();
    let path = root.join("xtask/asm").join(file_name(&compiler));
    match argument {
        Some("--selftest") => return selftest::run(root, &path),
        None | Some("--bless") => {}
        Some(other) => return Err(format!("asm: {other}? It is --bless, also behind --emulated, or --selftest")),
    }
    let old = Table::read(&path)?;
    let begun = Instant::now();
    let mut found = Found::of(root, &root.join("target/asm"), "")?;
    println!("asm: the library was compiled, and its messages were counted, in {} s", begun.elapsed().as_secs());
    found.table.add("code", "library", "all", &[("ir", intermediate(root)?)].into());
    if emulated && found.faults.is_empty() {
        found.count_elsewhere(root, full() || argument == Some("--bless"))?;
    }
    for row in found.rows.iter().filter(|row| !row.here && !emulated) {
        println!("SKIPPED asm messages of {}: this processor cannot run it; its code is looked at all the same", row.name);
    }
    if !found.faults.is_empty() {
        return Err(format!("asm:\n  {}", found.faults.join("\n  ")));
    }
    match (argument, old) {
        (Some("--bless"), old) => {
            found.with_what_is_elsewhere(old).write(&path, &compiler)?;
            println!("asm: wrote {}", path.display());
        }
        (_, None) => println!("asm: no table for {compiler}: no number is judged (`cargo xtask asm --bless` makes one)"),
        (_, Some(old)) => compare(&found, &old)?,
    }
    println!("asm ok {}", found.table.0.len());
    Ok(())
}

/// What a probe shows of the library that it was built with.
struct Found {
    probe: PathBuf,
    rows: Vec<Row>,
    table: Table,
    faults: Vec<String>,
}

impl Found {
    /// Builds the probe of the workspace at `root` and looks at it.
    fn of(root: &Path, target: &Path, flags: &str) -> Result<Self, String> {
        let probe = build(root, target, flags)?;
        let program = Program::read(&probe)?;
        let rows = rows(&probe)?;
        let (mut table, mut faults) = (Table::default(), Vec::new());
        for row in &rows {
            let (functions, wrong) = inspect::inspect(&program, row);
            let bytes = functions.values().filter_map(|numbers| numbers.get("bytes")).sum();
            table.add("code", &row.name, "all", &[("bytes", bytes)].into());
            functions.iter().for_each(|(path, numbers)| table.add("code", &row.name, path, numbers));
            faults.extend(wrong);
        }
        let sound = |row: &&Row| !faults.iter().any(|fault| fault.starts_with(&format!("{} ", row.name)));
        table.add_messages(&count::count(&probe, &program, rows.iter().filter(|row| row.here).filter(sound), count::messages)?);
        Ok(Self { probe, rows, table, faults })
    }

    /// The other rows' messages, on an emulated processor that has them.
    fn count_elsewhere(&mut self, root: &Path, all: bool) -> Result<(), String> {
        let elsewhere: Vec<&Row> = self.rows.iter().filter(|row| !row.here).collect();
        let counted = emulated::count(root, &self.probe, &elsewhere, all)?;
        println!("asm_emulated ok {}", counted.0.len());
        self.table.0.extend(counted.0);
        Ok(())
    }

    /// Messages that were not counted, of rows that this processor cannot run, stay as they were.
    fn with_what_is_elsewhere(&self, old: Option<Table>) -> Table {
        let mut all = old.unwrap_or_default();
        all.0.retain(|[kind, row, ..], _| kind == "message" && self.is_elsewhere(row));
        all.0.extend(self.table.0.clone());
        all
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.name == name && !row.here)
    }
}

fn compare(found: &Found, old: &Table) -> Result<(), String> {
    let elsewhere = |change: &Change| change.new.is_none() && change.key[0] == "message" && found.is_elsewhere(&change.key[1]);
    let changes: Vec<Change> = old.changes(&found.table).into_iter().filter(|change| !elsewhere(change)).collect();
    let (less, more) = (lines(&changes, |change| change.shrinks()), lines(&changes, |change| change.fails()));
    if !less.is_empty() {
        println!("asm: less than in the table (`cargo xtask asm --emulated --bless` keeps the gain)\n{}{}", Change::HEAD, less.concat());
    }
    if more.is_empty() {
        return Ok(());
    }
    println!("asm: more than in the table (if that is meant, `cargo xtask asm --emulated --bless`)\n{}{}", Change::HEAD, more.concat());
    Err(format!("asm: {} numbers have grown", more.len()))
}

fn lines(changes: &[Change], which: impl Fn(&Change) -> bool) -> Vec<String> {
    changes.iter().filter(|change| which(change)).map(|change| format!("\n{}", change.show())).collect()
}

/// The probe, as users get the library: release, no LTO, as many code generation units as Cargo takes.
fn build(root: &Path, target: &Path, flags: &str) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "-p", "probe", "--config", "profile.release.codegen-units=16", "--target-dir"]);
    cargo.arg(target).current_dir(root).env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", flags);
    step(&mut cargo)?;
    Ok(target.join("release/probe"))
}

/// Lines of LLVM IR that the compiler makes of the library, before LLVM does anything: its time to compile, without a clock.
fn intermediate(root: &Path) -> Result<u64, String> {
    let path = root.join("target/asm/library.ll");
    let mut cargo = Command::new("cargo");
    cargo.args(["rustc", "--quiet", "--release", "-p", "fastgcm", "--lib", "--target-dir", "target/asm/ir", "--"]);
    cargo.arg(format!("--emit=llvm-ir={}", path.display())).arg("-Cno-prepopulate-passes");
    step(cargo.current_dir(root).env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", ""))?;
    let file = fs::File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(BufReader::new(file).split(b'\n').count() as u64)
}

/// What the probe says of each row.
fn rows(probe: &Path) -> Result<Vec<Row>, String> {
    let row = |line: &str| {
        let mut words = line.split(' ');
        let (name, here) = (words.next()?.to_owned(), words.next()? == "here");
        let features = words.next()?.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Row { name, here, features })
    };
    Ok(output(&mut Command::new(probe))?.lines().filter_map(row).collect())
}

/// `rustc 1.95.0 (59807616e 2026-04-14)` has its table in `rustc-1.95.0-59807616e.txt`.
fn file_name(compiler: &str) -> String {
    let words = compiler.split([' ', '(', ')']).filter(|word| !word.is_empty()).take(3);
    words.collect::<Vec<_>>().join("-") + ".txt"
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{}: {e}", show(command)))?;
    if !output.status.success() {
        return Err(format!("{}: {}", show(command), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
