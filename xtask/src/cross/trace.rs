//! What a program executed under qemu: each instruction between two calls of its function `marker`, and the memory that it touched.
//!
//! There is no need for plug-ins (Debian's qemu has none) nor for a debugger: with one instruction to a block of translation, qemu's own
//! execution log has a line for each instruction, and the registers before it. The numbers are exact and repeatable.

use crate::package::show;
use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// An AArch64 program, linked statically so that its addresses are those of its file.
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// Where its functions are, by mangled name.
    pub(super) functions: HashMap<String, Range<u64>>,
    /// Mnemonic and operands of each instruction.
    pub(super) code: HashMap<u64, Instruction>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) mnemonic: String,
    pub(super) operands: String,
}

/// One executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) at: u64,
    /// The first byte that it read or wrote, if it did.
    pub(super) memory: Option<u64>,
}

impl Program {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let mut functions = HashMap::new();
        for line in output(Command::new("aarch64-linux-gnu-nm").arg("-S").arg(path))?.lines() {
            // `address size type name`
            let words: Vec<&str> = line.split(' ').collect();
            if let [address, size, "t" | "T" | "w" | "W", name] = words[..]
                && let (Ok(start), Ok(size)) = (u64::from_str_radix(address, 16), u64::from_str_radix(size, 16))
            {
                functions.insert(name.to_owned(), start..start + size);
            }
        }
        let mut code = HashMap::new();
        for line in output(Command::new("aarch64-linux-gnu-objdump").args(["-d", "--no-show-raw-insn"]).arg(path))?.lines() {
            // `  address:\tmnemonic\toperands`
            let Some((address, instruction)) = line.split_once(":\t") else { continue };
            let Ok(address) = u64::from_str_radix(address.trim(), 16) else { continue };
            let (mnemonic, operands) = instruction.split_once('\t').unwrap_or((instruction, ""));
            code.insert(address, Instruction { mnemonic: mnemonic.trim().into(), operands: operands.into() });
        }
        Ok(Self { path: path.to_owned(), functions, code })
    }

    /// Runs it on `processor`, to success. What stands between the first marker and the second, between the third and the fourth ...
    pub(super) fn messages(&self, processor: &str, arguments: &[String]) -> Result<Vec<Vec<Step>>, String> {
        let marker = self.functions.get("marker").ok_or("the program has no marker")?;
        let mut command = Command::new("qemu-aarch64");
        // The addresses of memory follow from the registers.
        command.args(["-cpu", processor, single_step(), "-d", "exec,cpu,nochain"]);
        command.arg(&self.path).args(arguments).env_clear().stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("{}: {e}", show(&command)))?;
        let log = child.stderr.take().ok_or("no log")?;

        let mut messages = Vec::new();
        let (mut markers, mut inside_marker) = (0, false);
        let mut message: Vec<Step> = Vec::new();
        let mut registers = Registers::default();
        // The last step touches memory, and its registers are to come.
        let mut wanted = None;
        let mut last_words = String::new();
        for line in BufReader::new(log).lines() {
            let line = line.map_err(|e| e.to_string())?;
            let Some(at) = executed(&line) else {
                if let Some(instruction) = wanted
                    && registers.take(&line)
                    && let Some(step) = message.last_mut()
                {
                    step.memory = Instruction::address(instruction, &registers);
                    wanted = None;
                } else if !line.contains('=') {
                    last_words = line;
                }
                continue;
            };
            wanted = None;
            if marker.contains(&at) {
                if !inside_marker {
                    markers += 1;
                    if markers % 2 == 0 {
                        messages.push(std::mem::take(&mut message));
                    }
                }
                inside_marker = true;
            } else {
                inside_marker = false;
                if markers % 2 == 1 {
                    message.push(Step { at, memory: None });
                    wanted = self.code.get(&at).filter(|instruction| instruction.touches_memory());
                }
            }
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() || markers % 2 != 0 {
            return Err(format!("{}: {status}, {markers} markers: {last_words}", show(&command)));
        }
        Ok(messages)
    }
}

/// qemu 8.1 renamed it.
fn single_step() -> &'static str {
    let help = Command::new("qemu-aarch64").arg("-h").output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if help.is_ok_and(|help| help.contains("one-insn-per-tb")) { "-one-insn-per-tb" } else { "-singlestep" }
}

/// The address in `Trace 0: HOST [CS_BASE/ADDRESS/FLAGS/CFLAGS] SYMBOL`.
fn executed(line: &str) -> Option<u64> {
    let address = line.strip_prefix("Trace ")?.split_once('[')?.1.split('/').nth(1)?;
    u64::from_str_radix(address, 16).ok()
}

/// X0 to X30, and the stack pointer as the 32nd.
#[derive(Default)]
struct Registers([u64; 32]);

impl Registers {
    /// Reads a line of qemu's: `X00=0000000000000001 X01=...`. Says whether it was the last of them.
    fn take(&mut self, line: &str) -> bool {
        let mut last = false;
        for (name, value) in line.split_whitespace().filter_map(|word| word.split_once('=')) {
            let index = if name == "SP" { Some(31) } else { name.strip_prefix('X').and_then(|n| n.parse().ok()).filter(|n| *n < 31) };
            if let (Some(index), Ok(value)) = (index, u64::from_str_radix(value, 16)) {
                self.0[index] = value;
                last |= index == 31;
            }
        }
        last
    }

    /// A register by its name in the disassembly; of `w` registers the low half.
    fn get(&self, name: &str) -> Option<u64> {
        match name {
            "sp" => Some(self.0[31]),
            "xzr" | "wzr" => Some(0),
            _ => {
                let (width, index) = name.split_at_checked(1)?;
                let value = *self.0[..31].get(index.parse::<usize>().ok()?)?;
                match width {
                    "x" => Some(value),
                    "w" => Some(value & 0xffff_ffff),
                    _ => None,
                }
            }
        }
    }
}

impl Instruction {
    /// Where it reads or writes, if it does: `[x1]`, `[x1, #16]!`, `[x1], #16`, `[x1, x2, lsl #4]`, `[x1, w2, uxtw]`; `dc zva, x3`.
    fn address(&self, registers: &Registers) -> Option<u64> {
        if self.mnemonic == "dc" {
            return registers.get(self.operands.split(", ").nth(1)?);
        }
        let inside = self.operands.split_once(", [")?.1.split_once(']')?.0;
        let mut parts = inside.split(", ");
        let base = registers.get(parts.next()?)?;
        let Some(offset) = parts.next() else { return Some(base) };
        if let Some(number) = offset.strip_prefix('#') {
            return Some(base.wrapping_add_signed(number.parse().ok()?));
        }
        let mut offset = registers.get(offset)?;
        if let Some(extend) = parts.next() {
            let (how, by) = extend.split_once(" #").unwrap_or((extend, "0"));
            if how == "sxtw" {
                offset = offset as i32 as u64;
            }
            offset <<= by.parse::<u32>().ok()?;
        }
        Some(base.wrapping_add(offset))
    }

    /// It has an address that the disassembly shows.
    pub(super) fn touches_memory(&self) -> bool {
        self.mnemonic == "dc" || self.operands.contains(", [") && !self.mnemonic.starts_with("prf")
    }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{}: {e}", show(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{}: {}", show(command), output.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log() {
        let line = "Trace 0: 0x7f54c6000100 [0000000001009331/0000000000406700/00000001/00000201] _start";
        assert_eq!(executed(line), Some(0x40_6700));
        assert_eq!(executed(" PC=0000000000406700 X00=0000000000000000 X01=0000000000000000"), None);
        let mut registers = Registers::default();
        assert!(!registers.take(" PC=0000000000406700 X00=00000000000000aa X01=00000000000000bb"));
        assert!(registers.take("X29=0000005500800600 X30=000000000040d0d0  SP=0000005500800600"));
        assert_eq!((registers.get("x1"), registers.get("x30"), registers.get("sp")), (Some(0xbb), Some(0x40_d0d0), Some(0x55_0080_0600)));
    }

    #[test]
    fn addresses() {
        let mut registers = Registers::default();
        (registers.0[1], registers.0[2]) = (0x1000, 0xffff_ffff_ffff_fff0);
        let address =
            |mnemonic: &str, operands: &str| Instruction { mnemonic: mnemonic.into(), operands: operands.into() }.address(&registers);
        assert_eq!(address("ldr", "q0, [x1]"), Some(0x1000));
        assert_eq!(address("ldp", "q0, q1, [x1, #-32]!"), Some(0xfe0));
        assert_eq!(address("ldr", "x0, [x1], #16"), Some(0x1000));
        assert_eq!(address("ldr", "x0, [x1, x2, lsl #3]"), Some(0xf80));
        assert_eq!(address("ldrb", "w0, [x1, w2, uxtw]"), Some(0x1_0000_0ff0));
        assert_eq!(address("ldrb", "w0, [x1, w2, sxtw #2]"), Some(0xfc0));
        assert_eq!(address("dc", "zva, x1"), Some(0x1000));
        assert_eq!(address("eor", "v0.16b, v1.16b, v2.16b"), None);
        let element = Instruction { mnemonic: "mov".into(), operands: "v17.d[1], x21".into() };
        assert!(!element.touches_memory());
    }
}
