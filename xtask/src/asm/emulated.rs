//! Messages of rows that this processor cannot run, counted on an emulated one. It counts instructions as exactly as any; only the time
//! that they take is not that of a processor. The probe is the same file, and so is this program: with what they are linked with they
//! are carried over, and started there to print a part of the table. A thousand steps take a second: keys of 16 bytes and texts of less than
//! 16 KiB, but with `FASTGCM_FULL`.

use super::{Row, count, program::Program, table::Table};
use crate::{
    ci::{full, own_program},
    package::show,
};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// What is counted of a row.
fn messages(row: &Row, all: bool) -> Vec<String> {
    let is_short = |message: &String| message.contains(",16,") && !message.ends_with(",16384");
    count::messages(row).into_iter().filter(|message| all || is_short(message)).collect()
}

/// There: counts, and prints.
pub(super) fn print(probe: &Path, rows: &[&str]) -> Result<(), String> {
    let rows: Vec<Row> = super::rows(probe)?.into_iter().filter(|row| rows.contains(&row.name.as_str())).collect();
    if let Some(missing) = rows.iter().find(|row| !row.here) {
        return Err(format!("asm: the emulated processor cannot run {} either", missing.name));
    }
    let mut table = Table::default();
    table.add_messages(&count::count(probe, &Program::read(probe)?, rows.iter(), |row| messages(row, full()))?);
    print!("{}", table.text());
    Ok(())
}

/// Here: has it counted there.
pub(super) fn count(root: &Path, probe: &Path, rows: &[&Row], all: bool) -> Result<Table, String> {
    if rows.is_empty() {
        return Ok(Table::default());
    }
    let own = own_program();
    let mut emulate = Command::new("python3");
    emulate.arg(root.join("xtask/emulate.py")).args(["--timeout", "1800"]).current_dir(root);
    for file in libraries(&own)?.iter().map(String::as_str).chain(probe.to_str()) {
        emulate.args(["--file", file]);
    }
    if all {
        emulate.env("FASTGCM_FULL", "1");
    }
    emulate.arg(&own).args(["asm", "--messages"]).arg(probe).args(rows.iter().map(|row| &row.name));
    let output = emulate.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", show(&emulate)))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {}\n{text}", show(&emulate), output.status));
    }
    let table = Table::parse(&text)?;
    let counted = |row: &Row, message: &str| table.get("message", &row.name, message, "instructions").is_some();
    match rows.iter().find(|row| messages(row, all).iter().any(|message| !counted(row, message))) {
        None => Ok(table),
        Some(row) => Err(format!("asm: some messages of {} were not counted\n{text}", row.name)),
    }
}

/// What a program is linked with, the loader among it: both are.
fn libraries(program: &Path) -> Result<Vec<String>, String> {
    let list = super::output(Command::new("ldd").arg(program))?;
    Ok(list.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect())
}
