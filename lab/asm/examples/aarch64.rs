//! Single-steps AArch64's machine code under qemu: compares traces of the program `secrets.rs`, and checks the instruction pairs in it and
//! in other programs (`aarch64 SECRETS [PROGRAM...]`). `cargo xtask cross aarch64` runs it.
//!
//! **Constant time**: the same message with three secrets (keys, texts, places of a wrong byte in a tag) must execute the same instructions and touch the
//! same memory, in the same order. This needs neither plug-ins (Debian's qemu has none) nor a debugger: with one instruction to a block of
//! translation, qemu's own log of execution has a line for each instruction, and the registers before it. It does not show instructions whose
//! time depends on operands. Arm lists those that do not (its "data-independent timing"), among them AESE, PMULL, TBL and the logical ones;
//! divisions are reported here.
//!
//! **Pairs**: AESE and AESMC are adjacent on one register, which cores fuse, and no instruction adds the key, which AESE does by itself.

use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// The number of secrets for each message, as in `secrets.rs`.
const SECRETS: usize = 3;
/// The sizes: no text, a part of a block, a block, a short tail, a long one with a part, iterations.
const SIZES: [usize; 6] = [0, 15, 16, 100, 250, 600];

/// An executed instruction: its address, and the registers that determine its memory accesses.
type Step = (u64, Vec<u64>);

/// A program, linked statically so that its addresses are those of its file.
struct Program {
    path: String,
    code: BTreeMap<u64, Instruction>,
}

struct Instruction {
    mnemonic: String,
    operands: String,
    /// The registers of its address, with masks of their bits; `None` without a memory access.
    memory: Option<Vec<(usize, u64)>>,
}

fn main() -> Result<()> {
    let programs = std::env::args().skip(1).map(Program::read).collect::<Result<Vec<_>>>()?;
    let program = programs.first().context("aarch64 SECRETS [PROGRAM...]")?;
    for program in &programs {
        program.pairs()?;
    }
    let mut messages: Vec<String> = ["new,16,0", "new,32,0", "forged,16,100"].map(String::from).into();
    for verb in ["seal", "open"] {
        messages.extend(SIZES.map(|size| format!("{verb},16,{size}")));
        messages.push(format!("{verb},32,250"));
    }
    for control in ["leaky-index", "leaky-branch"] {
        ensure!(program.compare(control, &["new,16,16".into()]).is_err(), "{control} was not caught: nothing here can fail");
    }
    // `portable` is the same code on every machine, and takes a hundred times as many instructions.
    for row in ["aes-neon-eor3", "aes-neon", "vpaes-neon"] {
        program.compare(row, &messages)?;
    }
    Ok(())
}

impl Instruction {
    /// Parses a line of the disassembly, `  address:\tmnemonic\toperands`.
    fn of(line: &str) -> Option<(u64, Self)> {
        let (address, instruction) = line.split_once(":\t")?;
        let (mnemonic, operands) = instruction.split_once('\t').unwrap_or((instruction, ""));
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        // `[x1]`, `[x1, #16]!`, `[x1], #16`, `[x1, x2, lsl #4]`, `[x1, w2, uxtw]`; `dc zva, x3`. What is no register is the same each time.
        let inside = match mnemonic {
            "dc" => operands.split_once(", ").map(|(_, register)| register),
            _ if mnemonic.starts_with("prf") => None,
            _ => operands.split_once(", [").and_then(|(_, rest)| rest.split(']').next()),
        };
        let register = |word: &str| match word.split_at_checked(1)? {
            ("s", "p") => Some((31, u64::MAX)),
            ("x", number) => Some((number.parse().ok()?, u64::MAX)),
            ("w", number) => Some((number.parse().ok()?, u32::MAX.into())),
            _ => None,
        };
        let memory = inside.map(|inside| inside.split(", ").filter_map(register).collect());
        Some((address, Self { mnemonic: mnemonic.trim().into(), operands: operands.into(), memory }))
    }
}

impl Program {
    fn read(path: String) -> Result<Self> {
        let objdump = Command::new("aarch64-linux-gnu-objdump").args(["-d", "--no-show-raw-insn", &path]).output()?;
        let code = String::from_utf8(objdump.stdout)?.lines().filter_map(Instruction::of).collect();
        Ok(Self { path, code })
    }

    /// Returns the number of rounds.
    fn pairs(&self) -> Result<usize> {
        let register = |instruction: &Instruction| instruction.operands.split(['.', ',']).next().unwrap_or("").to_owned();
        let (mut pairs, mut xors, mut written) = (0, 0, String::new());
        for ((_, first), (at, second)) in self.code.iter().zip(self.code.iter().skip(1)) {
            let Instruction { mnemonic, operands, .. } = second;
            if mnemonic == "aesmc" {
                let is_pair = first.mnemonic == "aese" && register(first) == register(second);
                ensure!(is_pair, "{at:x}: `{} {}` stands before AESMC", first.mnemonic, first.operands);
                pairs += 1;
                written = register(second);
                continue;
            }
            // A round that ends with an XOR of the key would be x86's. (Behind two rounds a few states are compared with others: `gcm/ahead.rs`.)
            let is_xor = mnemonic == "eor" && !written.is_empty() && register(second) == written;
            xors += usize::from(is_xor);
            ensure!(
                50 * xors <= 50 + pairs,
                "{at:x}: `eor {operands}` follows the round on that register, as after {xors} of {pairs} rounds"
            );
            written.clear();
        }
        ensure!(pairs >= 1000, "only {pairs} pairs of AESE and AESMC: the rounds are not straight-line code");
        Ok(pairs)
    }

    /// Returns the number of compared traces, or the first difference as an error.
    fn compare(&self, who: &str, messages: &[String]) -> Result<usize> {
        let traces = self.traces(who, messages)?;
        ensure!(traces.len() == SECRETS * messages.len(), "{who}: {} traces of {} messages", traces.len(), messages.len());
        for (message, traces) in messages.iter().zip(traces.chunks(SECRETS)) {
            for (at, registers) in &traces[0] {
                let Instruction { mnemonic, operands, memory } =
                    self.code.get(at).with_context(|| format!("{at:x} is not in the disassembly"))?;
                let is_known =
                    registers.len() == memory.as_ref().map_or(0, Vec::len) && memory.as_ref().is_none_or(|memory| !memory.is_empty());
                ensure!(is_known, "{who}: {message}: `{mnemonic} {operands}` touches memory, and it is not known where");
                ensure!(!["udiv", "sdiv"].contains(&&**mnemonic), "{who}: {message}: a division at {at:x}");
            }
            for other in &traces[1..] {
                let parting = (0..other.len().max(traces[0].len())).find(|&i| traces[0].get(i) != other.get(i));
                let [a, b] = [&traces[0], other].map(|trace| parting.and_then(|i| trace.get(i)));
                ensure!(parting.is_none(), "{who}: {message}: step {parting:?} is {a:x?} with one secret and {b:x?} with another");
            }
        }
        Ok(traces.len())
    }

    /// Returns the traces between the first call of its function `marker` and the second, between the third and the fourth ...
    fn traces(&self, who: &str, messages: &[String]) -> Result<Vec<Vec<Step>>> {
        let run = |program: &str, arguments: &[&str]| -> Result<String> {
            Ok(String::from_utf8(Command::new(program).args(arguments).output()?.stdout)?)
        };
        // Lines of functions: `address size type name`.
        let functions = run("aarch64-linux-gnu-nm", &["-S", &self.path])?;
        let marker = functions.lines().find_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [at, size, _, "marker"] => Some(number(at)?..number(at)? + number(size)?),
            _ => None,
        });
        let marker = marker.context("the program has no marker")?;
        // qemu 8.1 renamed the option.
        let renamed = run("qemu-aarch64", &["-h"])?.contains("one-insn-per-tb");
        let single = if renamed { "-one-insn-per-tb" } else { "-singlestep" };
        let mut qemu = Command::new("qemu-aarch64");
        qemu.args(["-cpu", "max", single, "-d", "exec,cpu,nochain", &self.path, who]).args(messages);
        let mut child = qemu.env_clear().stderr(Stdio::piped()).spawn()?;
        let log = BufReader::new(child.stderr.take().context("no log")?).lines();

        let (mut traces, mut trace): (Vec<Vec<Step>>, Vec<Step>) = Default::default();
        let (mut markers, mut inside_marker, mut last_words) = (0, false, String::new());
        // The registers to read for the last step, which accesses memory.
        let mut wanted: &[(usize, u64)] = &[];
        for line in log {
            let line = line?;
            // The address in `Trace 0: HOST [CS_BASE/ADDRESS/FLAGS/CFLAGS] SYMBOL`.
            let Some(at) = line.strip_prefix("Trace ").and_then(|rest| number(rest.split_once('[')?.1.split('/').nth(1)?)) else {
                if let Some((_, of_step)) = trace.last_mut().filter(|(_, of_step)| of_step.len() < wanted.len()) {
                    // `X00=0000000000000001 X01=...`, and `SP=` at the end.
                    for (name, value) in line.split_whitespace().filter_map(|word| word.split_once('=')) {
                        let name = if name == "SP" { 31 } else { name.trim_start_matches('X').parse().unwrap_or(usize::MAX) };
                        let bits = wanted.iter().filter(|(register, _)| *register == name).map(|(_, bits)| bits);
                        of_step.extend(bits.filter_map(|bits| Some(number(value)? & bits)));
                    }
                } else if !line.contains('=') {
                    last_words = line;
                }
                continue;
            };
            let was_inside = std::mem::replace(&mut inside_marker, marker.contains(&at));
            wanted = &[];
            if inside_marker && !was_inside {
                markers += 1;
                if markers % 2 == 0 {
                    traces.push(std::mem::take(&mut trace));
                }
            } else if !inside_marker && markers % 2 == 1 {
                trace.push((at, Vec::new()));
                wanted = self.code.get(&at).and_then(|instruction| instruction.memory.as_deref()).unwrap_or_default();
            }
        }
        let status = child.wait()?;
        ensure!(status.success() && markers % 2 == 0, "{who}: {status}, {markers} markers: {last_words}");
        Ok(traces)
    }
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}
