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
    tools::{output, run as type_in, sh},
};
use anyhow::{Result, bail, ensure};
use program::Program;
use std::{
    path::{Path, PathBuf},
    process::Command,
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

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--messages", probe, rows @ ..] = &arguments[..] {
        return emulated::print(Path::new(probe), rows);
    }
    // `rustc 1.95.0 (59807616e 2026-04-14)` has its table in `rustc-1.95.0-59807616e.txt`.
    let compiler = output(&mut sh(root, "rustc -V"))?.trim().to_owned();
    let words: Vec<&str> = compiler.split([' ', '(', ')']).filter(|word| !word.is_empty()).take(3).collect();
    let path = root.join("xtask/asm").join(words.join("-") + ".txt");
    let (emulated, bless) = match arguments[..] {
        ["--selftest"] => return selftest::run(root, &path),
        [] => (false, false),
        ["--bless"] => (false, true),
        ["--emulated"] => (true, false),
        ["--emulated", "--bless"] => (true, true),
        _ => bail!("asm [--emulated] [--bless], or --selftest"),
    };
    let old = Table::read(&path)?;
    let mut found = Found::of(root, &root.join("target/asm"), "")?;
    found.table.add("code", "library", "all", &[("ir", intermediate(root)?)].into());
    let elsewhere: Vec<&Row> = found.rows.iter().filter(|row| !row.here).collect();
    if emulated && found.faults.is_empty() && !elsewhere.is_empty() {
        let counted = emulated::count(root, &found.probe, &elsewhere, full() || bless)?;
        println!("asm_emulated ok {}", counted.0.len());
        found.table.0.extend(counted.0);
    } else if !emulated {
        let skipped =
            |row: &&Row| println!("SKIPPED asm messages of {}: this processor cannot run it; its code is looked at all the same", row.name);
        elsewhere.iter().for_each(skipped);
    }
    ensure!(found.faults.is_empty(), "asm:\n  {}", found.faults.join("\n  "));
    // Messages of rows that this processor cannot run stay as they were where they were not counted.
    let is_elsewhere = |key: &[String; 4]| key[0] == "message" && found.rows.iter().any(|row| row.name == key[1] && !row.here);
    match old {
        old if bless => {
            let mut all = old.unwrap_or_default();
            all.0.retain(|key, _| is_elsewhere(key));
            all.0.extend(found.table.0.clone());
            all.write(&path, &compiler)?;
            println!("asm: wrote {}", path.display());
        }
        None => println!("asm: no table for {compiler}: no number is judged (`cargo xtask asm --bless` makes one)"),
        Some(old) => {
            let changes = old.changes(&found.table).into_iter().filter(|change| change.new.is_some() || !is_elsewhere(change.key));
            let changes: Vec<Change> = changes.filter(|change| change.fails() || change.shrinks()).collect();
            if !changes.is_empty() {
                println!(
                    "asm: numbers that are not in the table (if that is meant, or to keep a gain: `cargo xtask asm --emulated --bless`)"
                );
                println!("{}\n{}", Change::HEAD, changes.iter().map(Change::show).collect::<Vec<_>>().join("\n"));
            }
            let grown = changes.iter().filter(|change| change.fails()).count();
            ensure!(grown == 0, "asm: {grown} numbers have grown");
        }
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
    /// Builds the probe of the workspace at `root`, as users get the library: release, no LTO, as many code generation units as Cargo takes. And
    /// looks at it.
    fn of(root: &Path, target: &Path, flags: &str) -> Result<Self> {
        let units = "--config profile.release.codegen-units=16";
        let build = format!("cargo build --quiet --release -p probe {units} --target-dir '{}'", target.display());
        type_in(root, &format!("unset CARGO_ENCODED_RUSTFLAGS; RUSTFLAGS='{flags}' {build}"))?;
        let probe = target.join("release/probe");
        let (program, rows) = (Program::read(&probe)?, rows(&probe)?);
        let (mut table, mut faults) = (Table::default(), Vec::new());
        for row in &rows {
            let (functions, wrong) = inspect::inspect(&program, row)?;
            let bytes = functions.values().filter_map(|numbers| numbers.get("bytes")).sum();
            table.add("code", &row.name, "all", &[("bytes", bytes)].into());
            functions.iter().for_each(|(path, numbers)| table.add("code", &row.name, path, numbers));
            faults.extend(wrong);
        }
        let sound = |row: &&Row| row.here && !faults.iter().any(|fault| fault.starts_with(&format!("{} ", row.name)));
        count::count(&probe, &program, rows.iter().filter(sound), count::messages, &mut table)?;
        Ok(Self { probe, rows, table, faults })
    }
}

/// Lines of LLVM IR that the compiler makes of the library, before LLVM does anything: its time to compile, without a clock.
fn intermediate(root: &Path) -> Result<u64> {
    let rustc = "cargo rustc --quiet --release -p fastgcm --lib --target-dir target/asm/ir";
    let flags = "--emit=llvm-ir=\"$PWD/target/asm/library.ll\" -Cno-prepopulate-passes";
    type_in(root, &format!("unset CARGO_ENCODED_RUSTFLAGS; RUSTFLAGS='' {rustc} -- {flags}"))?;
    Ok(output(&mut sh(root, "wc -l < target/asm/library.ll"))?.trim().parse()?)
}

/// What the probe says of each row.
fn rows(probe: &Path) -> Result<Vec<Row>> {
    let row = |line: &str| {
        let [name, here, features] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let features = features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Row { name: name.to_owned(), here: here == "here", features })
    };
    Ok(output(&mut Command::new(probe))?.lines().filter_map(row).collect())
}
