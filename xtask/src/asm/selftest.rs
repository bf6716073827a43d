//! `cargo xtask asm --selftest`: faults planted in a copy of the library, each of which leaves every answer right or nearly so, and each of
//! which must be found. Two builds.

use super::{Change, Found, Table};
use crate::planted::{Copy, Patch};
use anyhow::{Context, Result};
use std::path::Path;

/// What is planted, by its name in `xtask/faults/asm.patch`; what that is; and how it must show: in a line that begins with a row and has these words, or in
/// more than the table has of kind, row, part and name.
const FAULTS: &str = "\
asm-numbers: a target feature less, intrinsics are calls: aesni-avx: core_arch
asm-numbers: 16 live vectors more, spills in the bulk loop: code vaes-avx512 seal_long spills
asm-numbers: a reduction more each turn, by its code: code vaes-avx512 open_long clmul
asm-numbers: a reduction more each turn, by a message: message aesni-sse seal,16,16384 clmul
asm-numbers: a table load more each turn: message aesni-sse open,32,4096 loads
asm-numbers: more code in the bulk loop, by its cache lines: message vaes-avx512 seal,16,16384 code-lines
asm-numbers: more instructions for both: message aesni-sse seal,16,16384 instructions
asm-features: AVX512DQ enabled: vaes-avx512 seal: avx512dq
asm-features: no vzeroupper, 256 bits: vaes-avx2 seal: no vzeroupper
asm-features: no vzeroupper, 512 bits: vaes-avx512 open_long: no vzeroupper";

pub(super) fn run(root: &Path, table: &Path) -> Result<()> {
    let Some(table) = Table::read(table)? else {
        println!("SKIPPED asm_selftest: no table for this compiler, so nothing can be seen to grow");
        return Ok(());
    };
    for (patch, flags) in [("asm-numbers", ""), ("asm-features", "-C llvm-args=-x86-use-vzeroupper=0")] {
        let copy = Copy::new(root, "target/asm/planted", &Patch::named(root, "asm", patch)?)?;
        let found = Found::of(&copy.root, &copy.build, flags)?;
        let grown: Vec<Change> = table.changes(&found.table).into_iter().filter(|change| change.new.is_some() && change.fails()).collect();
        for fault in FAULTS.lines().map(|fault| fault.split(": ").collect::<Vec<_>>()).filter(|fault| fault[0] == patch) {
            let line = match fault[2..] {
                [row, words] => found.faults.iter().find(|line| line.starts_with(row) && line.contains(words)).cloned(),
                _ => grown.iter().find(|change| change.key.join(" ") == fault[2]).map(Change::show),
            };
            let line = line.with_context(|| format!("planted and not found: {}\n{}", fault[1], found.faults.join("\n")))?;
            println!("caught: {}\n        {}", fault[1], line.chars().take(160).collect::<String>());
        }
    }
    println!("asm_selftest ok {}", FAULTS.lines().count());
    Ok(())
}
