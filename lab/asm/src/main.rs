//! Guards machine code without a clock: finds faults that a correct tag cannot show, and a timed test only on a quiet machine. `cargo xtask asm`
//! runs this in the root of the project.
//!
//! The input is a probe that uses the library as any program does (`cargo build --release`, no LTO). With every compiler, a row of
//! the library's table must not
//! * call an intrinsic: a target feature is missing then,
//! * hold an instruction that its features do not promise, or one that rust-lang/rust#158622 may have made,
//! * leave with the upper halves of vector registers in use.
//!
//! Numbers are compared with `lab/asm/table.txt`: of each row, bytes of code, vectors that its loops spill, and calls; of the library, lines
//! of LLVM IR, which determine its time to compile; of messages of six sizes, lines of 64 bytes that they touch of code, of the key, and of
//! constants and tables, for which a message with cold caches waits. A number that has grown by more than 5 % and by more than 2 fails.
//! `--bless` writes the file: its diff is part of the change, to be reviewed with it. With another compiler than the file's the numbers are
//! printed, and none fails.
//!
//! **Spills.** An iteration has eight AES states, three sums and a key in flight. 32 registers hold them; 16 do not, and still eight blocks in
//! flight are 20 % faster than four. So the table's spills are not zero, and are a debt where a row has 32 registers.

#![allow(missing_docs)] // it is a program
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod inspect;
mod lines;
mod program;

use anyhow::{Context, Result, bail, ensure};
use program::Program;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// The file with which the numbers are compared.
const TABLE: &str = "lab/asm/table.txt";

/// A row of the library's table.
struct Row {
    name: String,
    /// True if this processor can run it.
    here: bool,
    features: Vec<String>,
}

impl Row {
    /// Returns true for rows without AES instructions: they interleave nothing, and leave vectors to the compiler.
    fn lacks_aes(&self) -> bool {
        !self.features.iter().any(|feature| feature == "aes")
    }
}

/// The numbers, by subject and name: `vaes-avx2 seal of 64`, `key lines`.
type Table = BTreeMap<(String, String), u64>;

/// Returns the library's functions in this program that move signs of lanes, which rust-lang/rust#158622 may have miscompiled.
fn signs(program: &Path) -> Result<Vec<String>> {
    let program = Program::read(program)?;
    let of_library = |name: &str| name.starts_with("fastgcm::") || name.starts_with("<fastgcm::");
    let functions: Vec<_> = program.functions.values().filter(|function| of_library(&function.name)).collect();
    ensure!(functions.len() > 20, "the program has {} functions of the library", functions.len());
    Ok(functions
        .into_iter()
        .flat_map(|function| inspect::signs(function).into_iter().map(|what| format!("{}: {what}", function.name)))
        .collect())
}

fn main() -> Result<()> {
    match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => compare(false),
        [option] if option == "--bless" => compare(true),
        [option, program] if option == "--signs" => {
            let found = signs(Path::new(program))?;
            ensure!(found.is_empty(), "{}", found.join("\n"));
            Ok(())
        }
        _ => bail!("asm [--bless | --signs PROGRAM]"),
    }
}

fn compare(bless: bool) -> Result<()> {
    // Built as users build the library: no LTO, and Cargo's default number of code generation units.
    cargo("build --release -p probe --config profile.release.codegen-units=16 --target-dir target/asm")?;
    let probe = Path::new("target/asm/release/probe");
    let (program, rows) = (Program::read(probe)?, rows(probe)?);
    let (mut table, mut faults) = (Table::new(), Vec::new());
    for row in &rows {
        let (numbers, wrong) = inspect::inspect(&program, row)?;
        table.extend(numbers.into_iter().map(|(name, number)| ((row.name.clone(), name.to_owned()), number)));
        faults.extend(wrong);
        if !row.here {
            println!("SKIPPED asm messages of {}: this processor cannot run it; its code is looked at all the same", row.name);
        } else if faults.is_empty() {
            table.extend(lines::touched(probe, &program, row)?);
        }
    }
    ensure!(faults.is_empty(), "asm:\n  {}", faults.join("\n  "));
    table.insert(("library".into(), "LLVM IR".into()), intermediate()?);

    let compiler = output(Command::new("rustc").arg("-V"))?.trim().to_owned();
    let text = fs::read_to_string(TABLE).unwrap_or_default();
    let old = parse(&text)?;
    if bless {
        // Numbers of rows that this processor cannot run stay unchanged.
        let all: Table =
            old.into_iter().filter(|((of, _), _)| rows.iter().any(|row| !row.here && of.starts_with(&row.name))).chain(table).collect();
        let mut lines = BTreeMap::<&str, Vec<String>>::new();
        all.iter().for_each(|((of, name), number)| lines.entry(of).or_default().push(format!("{number} {name}")));
        let lines: String = lines.iter().map(|(of, numbers)| format!("{of}: {}\n", numbers.join(", "))).collect();
        fs::write(
            TABLE,
            format!("# {compiler}. Written by `cargo xtask asm --bless`; what it means stands in lab/asm/src/main.rs.\n{lines}"),
        )?;
        println!("asm: wrote {TABLE}");
        return Ok(());
    }
    let grown: Vec<String> = table.iter().filter_map(|(key, new)| grown(key, old.get(key).copied(), *new)).collect();
    println!("{}", grown.join("\n"));
    if text.starts_with(&format!("# {compiler}.")) {
        ensure!(
            grown.is_empty(),
            "asm: {} numbers have grown; if that is meant: cargo xtask asm --bless\n{}",
            grown.len(),
            grown.join("\n")
        );
    } else {
        println!("asm: {TABLE} is another compiler's, and so no number is judged");
    }
    Ok(())
}

fn parse(text: &str) -> Result<Table> {
    let mut table = Table::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let wrong = || format!("{TABLE}: {line}");
        let (of, numbers) = line.split_once(": ").with_context(wrong)?;
        for number in numbers.split(", ") {
            let (number, name) = number.split_once(' ').with_context(wrong)?;
            table.insert((of.to_owned(), name.to_owned()), number.parse().with_context(wrong)?);
        }
    }
    Ok(table)
}

/// Returns a message for a number that has grown by more than 5 % and by more than 2, or that the table lacks.
fn grown((of, name): &(String, String), old: Option<u64>, new: u64) -> Option<String> {
    let is_grown = |old: u64| new > old + 2 && new * 100 > old * 105;
    let was = old.map_or("not in the table".to_owned(), |old| old.to_string());
    old.is_none_or(is_grown).then(|| format!("  {of}: {new} {name}, was {was}"))
}

/// Returns the lines of the library's LLVM IR before any pass, which stand for its time to compile.
fn intermediate() -> Result<u64> {
    let flags = "--emit=llvm-ir=target/asm/library.ll -Cno-prepopulate-passes";
    cargo(&format!("rustc --release -p fastgcm --lib --target-dir target/asm/ir -- {flags}"))?;
    Ok(fs::read_to_string("target/asm/library.ll")?.lines().count() as u64)
}

/// Runs Cargo without a user's settings.
fn cargo(line: &str) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.arg("--quiet").args(line.split(' ')).env_remove("CARGO_ENCODED_RUSTFLAGS").env("CARGO_INCREMENTAL", "0").env("RUSTFLAGS", "");
    output(&mut cargo).map(drop)
}

/// Returns the output of a program that succeeds.
fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the rows that the probe prints.
fn rows(probe: &Path) -> Result<Vec<Row>> {
    let row = |line: &str| {
        let [name, here, features] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let features = features.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Row { name: name.to_owned(), here: here == "here", features })
    };
    Ok(output(&mut Command::new(probe))?.lines().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::{grown, parse};

    #[test]
    fn notable_growth_is_reported() {
        let table = parse("# rustc 1\nvaes-avx2: 1000 bytes, 0 spills\nvaes-avx2 seal of 64: 10 key lines\n").unwrap();
        let is_reported = |of: &str, name: &str, new| {
            let key = (of.to_owned(), name.to_owned());
            grown(&key, table.get(&key).copied(), new).is_some()
        };
        assert_eq!([1000, 1050, 1051, 900].map(|new| is_reported("vaes-avx2", "bytes", new)), [false, false, true, false]);
        assert_eq!([0, 2, 3].map(|new| is_reported("vaes-avx2", "spills", new)), [false, false, true]);
        assert_eq!([12, 13].map(|new| is_reported("vaes-avx2 seal of 64", "key lines", new)), [false, true]);
        assert!(is_reported("new", "bytes", 1) && parse("vaes-avx2: many bytes").is_err());
    }
}
