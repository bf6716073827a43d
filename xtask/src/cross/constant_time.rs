//! Constant time on AArch64: the same message with six secrets (keys, texts, places of a wrong byte in a tag) must execute the same
//! instructions and touch the same memory, in the same order. qemu's log is the witness (`trace`).
//!
//! What this does not show: instructions that take longer for some operands. Arm lists those that do not (its "data-independent timing");
//! AESE, PMULL, TBL and the logical ones are among them, and a division is looked for here.

use super::{
    aarch64::{TRIPLE, arm},
    target_dir,
    trace::{Program, Step},
};
use crate::package::step;
use std::path::Path;

/// Secrets for each message: `xtask/secrets`.
const SECRETS: usize = 6;
/// No text, a part of a block, a block, a short tail, a long one with a part, turns.
const SIZES: [usize; 6] = [0, 15, 16, 100, 250, 600];

pub(super) fn run(root: &Path) -> Result<(), String> {
    step(arm(root, "max").args(["build", "--release", "-p", "secrets", "--target", TRIPLE]))?;
    let program = Program::read(&target_dir(root).join(TRIPLE).join("release/secrets"))?;

    for control in ["leaky-index", "leaky-branch"] {
        if compare(&program, control, &["new,16,16".into()]).is_ok() {
            return Err(format!("{control} was not caught: nothing here can fail"));
        }
    }
    for row in ["aes-neon-eor3", "aes-neon"] {
        let traces = compare(&program, row, &messages())?;
        if traces != SECRETS * (3 + 2 * (SIZES.len() + 1)) {
            return Err(format!("{row}: {traces} traces are not all"));
        }
        println!("constant_time::traces/{row} ok {traces}");
    }
    Ok(())
}

/// For each row with instructions for AES. (`portable` is the same code everywhere, and takes a hundred times as many of them.)
fn messages() -> Vec<String> {
    let mut all: Vec<String> = ["new,16,0", "new,32,0", "forged,16,100"].map(String::from).into();
    for verb in ["seal", "open"] {
        all.extend(SIZES.map(|size| format!("{verb},16,{size}")));
        all.push(format!("{verb},32,250"));
    }
    all
}

/// How many traces were compared, or the first difference.
fn compare(program: &Program, who: &str, messages: &[String]) -> Result<usize, String> {
    let mut arguments = vec![who.to_owned()];
    arguments.extend_from_slice(messages);
    let traces = program.messages("max", &arguments)?;
    if traces.len() != SECRETS * messages.len() {
        return Err(format!("{who}: {} traces of {} messages", traces.len(), messages.len()));
    }
    for (message, traces) in messages.iter().zip(traces.chunks(SECRETS)) {
        let what = format!("{who}: {message}");
        for step in &traces[0] {
            check(program, step).map_err(|why| format!("{what}: {why}"))?;
        }
        for other in &traces[1..] {
            if let Some(at) = (0..other.len().max(traces[0].len())).find(|&i| traces[0].get(i) != other.get(i)) {
                return Err(format!("{what}: step {at} is {:x?} with one secret and {:x?} with another", traces[0].get(at), other.get(at)));
            }
        }
    }
    Ok(traces.len())
}

/// Nothing was overlooked, and nothing takes longer for some operands.
fn check(program: &Program, step: &Step) -> Result<(), String> {
    let instruction = program.code.get(&step.at).ok_or_else(|| format!("{:x} is not in the disassembly", step.at))?;
    if instruction.touches_memory() && step.memory.is_none() {
        return Err(format!("`{} {}` touches memory, and it is not known where", instruction.mnemonic, instruction.operands));
    }
    if matches!(instruction.mnemonic.as_str(), "udiv" | "sdiv") {
        return Err(format!("a division at {:x}", step.at));
    }
    Ok(())
}
