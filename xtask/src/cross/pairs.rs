//! What must be true of the machine code of AES on Arm: AESE and AESMC side by side on one register, which cores fuse, and no instruction
//! for the key, which AESE adds by itself.

use super::trace::{Instruction, Program};
use std::path::Path;

pub(super) fn check(path: &Path) -> Result<(), String> {
    let program = Program::read(path)?;
    let mut code: Vec<(&u64, &Instruction)> = program.code.iter().collect();
    code.sort_by_key(|(address, _)| **address);
    let register = |instruction: &Instruction| instruction.operands.split(['.', ',']).next().unwrap_or("").to_owned();

    let (mut pairs, mut written) = (0, String::new());
    for two in code.windows(2) {
        let ((_, first), (at, second)) = (two[0], two[1]);
        if second.mnemonic == "aesmc" {
            if first.mnemonic != "aese" || register(first) != register(second) {
                return Err(format!("{at:x}: `{} {}` stands before AESMC", first.mnemonic, first.operands));
            }
            pairs += 1;
            written = register(second);
        } else if second.mnemonic == "eor" && !written.is_empty() && register(second) == written {
            // A round that ends with an XOR of the key would be x86's.
            return Err(format!("{at:x}: `eor {}` follows the round on that register", second.operands));
        } else {
            written.clear();
        }
    }
    if pairs < 1000 {
        return Err(format!("only {pairs} pairs of AESE and AESMC: the rounds are not straight-line code"));
    }
    println!("aese_aesmc_pairs ok {pairs}");
    Ok(())
}
