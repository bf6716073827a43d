//! What llvm-mca makes of each bulk loop: a model of the processor's ports and latencies, fed with the instructions of one turn in the
//! order in which they were executed. It knows no caches, no branch predictor and no stores that loads wait for; nor that these
//! cores take AESE and AESMC for one, so AESMC is left out. An estimate, not a measurement; LLVM's model of Cortex-A72 is that of
//! Cortex-A57.

use super::{
    counts::turn,
    interleave,
    trace::{Instruction, Program, Record, Step},
};
use crate::package::show;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Processors by LLVM's name, and whether they have EOR3.
const PROCESSORS: [(&str, bool); 4] = [("cortex-a72", false), ("neoverse-n1", false), ("neoverse-v1", true), ("neoverse-v2", true)];
/// Turns that it plays through.
const TURNS: usize = 200;
/// A message of 16 KiB: its middle is the loop.
const BYTES: usize = 1 << 14;

/// Cycles per block of 16 bytes, AES-128.
pub(super) fn table(program: &Program) -> Result<String, String> {
    let mut table = String::from("| AES-128 | instructions per block |");
    PROCESSORS.iter().for_each(|(processor, _)| table += &format!(" {processor} |"));
    table += "\n|---|---:|";
    PROCESSORS.iter().for_each(|_| table += "---:|");
    for verb in ["seal", "open"] {
        for (who, _) in super::counts::WHO {
            let arguments = [who.to_owned(), format!("{verb},16,{BYTES}")];
            let message = program.messages("max", &arguments, Record::Instructions)?.pop().ok_or("no message")?;
            let turn = turn(program, &message).ok_or_else(|| format!("{who}: no loop found"))?;
            let code: Vec<&Instruction> = turn.iter().filter_map(|Step { at, .. }| program.code.get(at)).collect();
            table += &row(&format!("{verb}, {who}"), &code)?;
        }
    }
    for blocks in interleave::BLOCKS {
        table += &row("model of the loop", &interleave::turn(blocks).iter().collect::<Vec<_>>())?;
    }
    Ok(table)
}

fn row(name: &str, code: &[&Instruction]) -> Result<String, String> {
    let blocks = code.iter().filter(|instruction| instruction.mnemonic == "aese").count() as f64 / 10.0;
    let mut row = format!("\n| {name}, {blocks}x | {:.1} |", code.len() as f64 / blocks);
    let eor3 = code.iter().any(|instruction| instruction.mnemonic == "eor3");
    for (processor, has_eor3) in PROCESSORS {
        if eor3 && !has_eor3 {
            row += " - |";
        } else {
            row += &format!(" {:.1} |", cycles(processor, code)? / TURNS as f64 / blocks);
        }
    }
    Ok(row)
}

/// All turns together.
fn cycles(processor: &str, code: &[&Instruction]) -> Result<f64, String> {
    let mut mca = Command::new("llvm-mca-22");
    mca.args(["-mtriple=aarch64", "-mattr=+sha3,+aes,+sha2", &format!("-mcpu={processor}"), &format!("-iterations={TURNS}")]);
    mca.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = mca.spawn().map_err(|e| format!("{}: {e}", show(&mca)))?;
    let fused = code.iter().filter(|instruction| instruction.mnemonic != "aesmc");
    let text: String = fused.map(|instruction| assembly(instruction)).collect();
    child.stdin.take().ok_or("no input")?.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    let total = said.lines().find_map(|line| line.strip_prefix("Total Cycles:")?.trim().parse().ok());
    total.ok_or_else(|| format!("{}: {}", show(&mca), String::from_utf8_lossy(&output.stderr)))
}

/// As an assembler reads it: targets of jumps and addresses by any name.
fn assembly(Instruction { mnemonic, operands }: &Instruction) -> String {
    // `b.ne\t40a1b8 <function+0x10>`, `cbz\tx1, 40a1b8 <...>`, `adrp\tx1, 40a000 <...>`; and `// #-16` behind a number.
    let operands = operands.split("\t//").next().unwrap_or(operands);
    let named = match operands.split_once(" <") {
        Some((before, _)) => format!("{}elsewhere", before.rsplit_once(", ").map_or(String::new(), |(first, _)| format!("{first}, "))),
        None => operands.to_owned(),
    };
    format!("{mnemonic} {named}\n")
}
