//! Counts the lines of 64 bytes that whole messages touch, exactly, by stepping through the probe.

use super::{Row, Table, program::Program};
use anyhow::{Context, Error, Result, ensure};
use fastgcm_step::{Registers, Traced};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use std::{collections::HashMap, collections::HashSet, ops::Range, path::Path};

/// Bytes of a cache line.
const LINE: u64 = 64;

/// The sizes of messages. A row without AES instructions takes a hundred times as many others, so it has only the shortest.
const SIZES: [usize; 6] = [16, 64, 128, 256, 320, 4096];

/// Returns the lines that messages touch with this row, which this processor can run.
pub(super) fn touched(probe: &Path, program: &Program, row: &Row) -> Result<Table> {
    let sizes = &SIZES[..if row.lacks_aes() { 3 } else { 6 }];
    let messages: Vec<(&str, usize)> = ["seal", "open"].into_iter().flat_map(|verb| sizes.iter().map(move |size| (verb, *size))).collect();
    let arguments = messages.iter().map(|(verb, size)| format!("{verb},16,{size}"));
    let mut traced = Traced::start(probe, &[row.name.clone()].into_iter().chain(arguments).collect::<Vec<_>>()).map_err(Error::msg)?;
    let (known, mut table) = (known(program), Table::new());
    for (verb, size) in messages {
        let registers = traced.next_marker().map_err(Error::msg)?.context("the probe has no marker for this message")?;
        traced.next_marker().map_err(Error::msg)?.context("the probe tells of a key, and does nothing")?;
        let (key, tables) = (registers.rdi..registers.rdi + registers.rsi, traced.base()..traced.base() + program.bytes);
        let numbers = touched_by_one(&mut traced, &known, key, tables).map_err(Error::msg)?;
        let names = ["code lines", "key lines", "data lines"];
        table.extend(names.into_iter().zip(numbers).map(|(name, n)| ((format!("{} {verb} of {size}", row.name), name.to_owned()), n)));
    }
    ensure!(traced.next_marker().map_err(Error::msg)?.is_none(), "the probe has a marker too many");
    Ok(table)
}

/// A decoded instruction, by its address in the file.
struct Known<'a> {
    instruction: &'a Instruction,
    /// The size of its operand in memory.
    memory: Option<u32>,
    /// The address of its function.
    function: u64,
}

fn known(program: &Program) -> HashMap<u64, Known<'_>> {
    let mut all = HashMap::new();
    for (start, function) in &program.functions {
        for instruction in &function.code {
            let is_read = !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
            let memory = (0..instruction.op_count()).find(|op| is_read && instruction.op_kind(*op) == OpKind::Memory);
            all.insert(instruction.ip(), Known { instruction, memory, function: *start });
        }
    }
    all
}

/// Returns the lines of code, of the key, and of constants and tables up to the next marker, without the C library's: its `memcpy` differs
/// from machine to machine.
///
/// The lines of the key are exact, because a key begins a line. The linker's places of the rest differ from build to build and must not count:
/// each function is taken to begin a line, and bytes read of constants and tables to be contiguous.
fn touched_by_one(traced: &mut Traced, known: &HashMap<u64, Known<'_>>, key: Range<u64>, tables: Range<u64>) -> Result<[u64; 3], String> {
    let (mut code_lines, mut key_lines, mut data_bytes) = (HashSet::new(), HashSet::new(), HashSet::new());
    traced.until_marker(|program, at| {
        let Some(Known { instruction, memory, function }) = known.get(&at.wrapping_sub(program.base())) else { return Ok(()) };
        let from = instruction.ip() - function;
        code_lines.extend([from, from + instruction.len() as u64 - 1].map(|byte| (*function, byte / LINE)));
        let Some(operand) = memory else { return Ok(()) };
        let registers = program.registers()?;
        let start = if instruction.is_ip_rel_memory_operand() { program.base() } else { 0 };
        let value = |register, _, _| general(&registers, register);
        let address = start + instruction.virtual_address(*operand, 0, value).ok_or("an address that nobody can compute")?;
        let bytes = address..address + instruction.memory_size().size() as u64;
        if key.contains(&address) {
            key_lines.extend(bytes.map(|byte| byte / LINE));
        } else if tables.contains(&address) {
            data_bytes.extend(bytes);
        }
        Ok(())
    })?;
    Ok([code_lines.len(), key_lines.len(), data_bytes.len().div_ceil(LINE as usize)].map(|lines| lines as u64))
}

/// Returns the value of a general register, or 0 for a segment's.
fn general(r: &Registers, register: Register) -> Option<u64> {
    let all = [r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15];
    if register.is_segment_register() { Some(0) } else { register.is_gpr64().then(|| all[register.number()]) }
}
