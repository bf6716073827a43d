//! `cargo xtask cross --counts`: instructions per message on AArch64, ours beside those of ring and AWS-LC, and what llvm-mca makes of each
//! bulk loop. Writes both tables into lab/bench/results/aarch64.md. No Arm processor is needed, and nothing here was measured on one.

use super::{
    aarch64::{arm, prepare},
    estimate,
    trace::{Program, Record, Step},
};
use crate::{debian::install, package::step};
use std::{fs, path::Path};

/// Who, by the name that `lab/bench/messages` knows, and whether it has AES-192.
pub(super) const WHO: [(&str, bool); 5] =
    [("aes-neon-eor3", true), ("aes-neon", true), ("aws-lc", true), ("aws-lc-8x", true), ("ring", false)];
const SIZES: [usize; 5] = [16, 64, 512, 1500, 4096];
const KEYS: [usize; 3] = [16, 24, 32];
const VERBS: [&str; 2] = ["seal", "open"];

pub(super) fn run(root: &Path) -> Result<(), String> {
    prepare()?;
    install("llvm-mca-22", &["llvm-22"])?;
    let bench = root.join("lab/bench");
    let mut cargo = arm(&bench, "max");
    step(cargo.args(["build", "--release", "-p", "messages", "--target", super::aarch64::TRIPLE]))?;
    let program = Program::read(&super::target_dir(&bench).join(super::aarch64::TRIPLE).join("release/messages"))?;

    let mut table = String::from("| |");
    SIZES.iter().for_each(|size| table += &format!(" {size} |"));
    table += "\n|---|";
    SIZES.iter().for_each(|_| table += "---:|");
    let mut counted = 0;
    for verb in VERBS {
        for key in KEYS {
            for (who, has_192) in WHO {
                if key == 24 && !has_192 {
                    continue;
                }
                let mut arguments = vec![who.to_owned()];
                arguments.extend(SIZES.map(|size| format!("{verb},{key},{size}")));
                let messages = program.messages("max", &arguments, Record::Instructions)?;
                table += &format!("\n| {verb} {}, {who} |", 8 * key);
                messages.iter().for_each(|message| table += &format!(" {} |", message.len()));
                counted += messages.len();
            }
        }
    }
    let expected = VERBS.len() * SIZES.len() * (KEYS.len() * WHO.len() - 1);
    if counted != expected {
        return Err(format!("{counted} messages were counted, not {expected}"));
    }
    put(root, "counts on AArch64", &table)?;
    put(root, "estimates for AArch64", &estimate::table(&program)?)?;
    println!("arm_counts ok {counted}");
    Ok(())
}

/// One turn of the bulk loop: what was executed between two passes of the same instruction in the middle of a long message. That
/// instruction is the AESE which the most messages' rounds went through.
pub(super) fn turn(program: &Program, message: &[Step]) -> Option<Vec<Step>> {
    let is_aes = |step: &Step| program.code.get(&step.at).is_some_and(|instruction| instruction.mnemonic == "aese");
    let middle = message.len() / 2;
    let first = middle + message[middle..].iter().position(is_aes)?;
    let second = first + 1 + message[first + 1..].iter().position(|step| step.at == message[first].at)?;
    let third = second + 1 + message[second + 1..].iter().position(|step| step.at == message[first].at)?;
    (third - second == second - first).then(|| message[first..second].to_vec())
}

/// The page with both tables.
const PAGE: &str = "lab/bench/results/aarch64.md";

/// Puts a table between its two comments in [`PAGE`].
fn put(root: &Path, name: &str, table: &str) -> Result<(), String> {
    let path = root.join(PAGE);
    let text = fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"))?;
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let place = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = place.ok_or_else(|| format!("{PAGE} has no place for {name}"))?;
    fs::write(&path, format!("{before}{begin}{table}\n{end}{after}")).map_err(|e| format!("{PAGE}: {e}"))
}
