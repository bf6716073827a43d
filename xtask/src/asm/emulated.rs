//! Messages of rows that this processor cannot run, counted on an emulated one. It counts instructions as exactly as any; only the time
//! that they take is not that of a processor. The probe is the same file, and so is this program: with what they are linked with they
//! are carried over, and started there to print a part of the table. A thousand steps take a second: keys of 16 bytes and texts of less than
//! 16 KiB, but with `FASTGCM_FULL`.

use super::{Row, count, program::Program, table::Table};
use crate::{
    ci::{full, own_program},
    tools::{output, sh},
};
use anyhow::{Result, ensure};
use std::path::Path;

/// What is counted of a row.
fn messages(row: &Row, all: bool) -> Vec<String> {
    let is_short = |message: &String| message.contains(",16,") && !message.ends_with(",16384");
    count::messages(row).into_iter().filter(|message| all || is_short(message)).collect()
}

/// There: counts, and prints.
pub(super) fn print(probe: &Path, rows: &[&str]) -> Result<()> {
    let rows: Vec<Row> = super::rows(probe)?.into_iter().filter(|row| rows.contains(&row.name.as_str())).collect();
    ensure!(rows.iter().all(|row| row.here), "asm: the emulated processor cannot run these rows either");
    let mut table = Table::default();
    count::count(probe, &Program::read(probe)?, rows.iter(), |row| messages(row, full()), &mut table)?;
    print!("{}", table.text());
    Ok(())
}

/// Here: has it counted there.
pub(super) fn count(root: &Path, probe: &Path, rows: &[&Row], all: bool) -> Result<Table> {
    let (own, probe) = (own_program().display().to_string(), probe.display());
    let names: String = rows.iter().map(|row| format!(" {}", row.name)).collect();
    // What this program is linked with, the loader among it: both are.
    let text = output(&mut sh(
        root,
        &format!(
            "{}files=$(ldd '{own}' | grep -o '/[^ ]*' | sed 's/^/--file /')
            python3 xtask/emulate.py --timeout 1800 $files --file '{probe}' '{own}' asm --messages '{probe}'{names}",
            if all { "export FASTGCM_FULL=1; " } else { "" }
        ),
    ))?;
    let table = Table::parse(&text)?;
    for row in rows {
        let counted = |message: &String| table.0.keys().any(|key| key[..3] == ["message", &row.name, message]);
        ensure!(messages(row, all).iter().all(counted), "asm: some messages of {} were not counted\n{text}", row.name);
    }
    Ok(table)
}
