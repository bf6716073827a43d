//! Exact numbers for whole messages: the probe is stepped through each of them.

use super::{
    Row,
    inspect::{Numbers, kinds},
    program::Program,
    table::Table,
};
use anyhow::{Context, Error, Result, anyhow, ensure};
use fastgcm_step::{Registers, Traced};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    path::Path,
    thread,
};

/// Bytes of a line of a cache.
const LINE: u64 = 64;

/// Around each way that a message can take: no text, a part of a vector, a tail of each kind, one turn and several, the last block cut or
/// not.
const SIZES: [usize; 12] = [0, 16, 63, 64, 200, 300, 500, 512, 1420, 4095, 4096, 16384];
const KEYS: [usize; 3] = [16, 24, 32];
/// Lengths of packets that go side by side where a row can do that, and of one that does not.
const BATCHES: [usize; 5] = [16, 64, 128, 200, 256];
/// What is counted of them, beside instructions.
const KINDS: [&str; 3] = ["clmul", "aes", "loads"];

/// What the probe is told to do with a row: `seal,16,64` ...
pub(super) fn messages(row: &Row) -> Vec<String> {
    // A row without instructions for AES takes a hundred times as many others: few messages.
    let is_wanted = |key: usize, size: usize| !row.made_of_calls() || matches!((key, size), (16, 0 | 1420) | (_, 200));
    let mut all = Vec::new();
    for (verb, key) in ["seal", "open"].into_iter().flat_map(|verb| KEYS.map(|key| (verb, key))) {
        all.extend(SIZES.iter().filter(|size| is_wanted(key, **size)).map(|size| format!("{verb},{key},{size}")));
    }
    if !row.made_of_calls() {
        all.extend(BATCHES.map(|size| format!("batch,16,{size}")));
    }
    all
}

/// Adds numbers of some messages for each of these rows, which must be such as this processor can run.
pub(super) fn count<'a>(
    probe: &Path,
    program: &Program,
    rows: impl Iterator<Item = &'a Row>,
    messages: impl Fn(&Row) -> Vec<String> + Sync,
    table: &mut Table,
) -> Result<()> {
    let known = known(program);
    let one_row = &|row: &'a Row| -> Result<Vec<(String, Numbers)>> {
        let messages = messages(row);
        let arguments: Vec<String> = [row.name.clone()].into_iter().chain(messages.clone()).collect();
        let mut traced = Traced::start(probe, &arguments).map_err(Error::msg)?;
        let mut counted = Vec::new();
        for message in messages {
            let told = traced.next_marker().map_err(Error::msg)?.context("the probe has no marker for this message")?;
            traced.next_marker().map_err(Error::msg)?.context("the probe tells of a key, and does nothing")?;
            let (key, tables) = (told.rdi..told.rdi + told.rsi, traced.base()..traced.base() + program.bytes);
            counted.push((message, one(&mut traced, &known, key, tables, !row.made_of_calls()).map_err(Error::msg)?));
        }
        ensure!(traced.next_marker().map_err(Error::msg)?.is_none(), "the probe has a marker too many");
        Ok(counted)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = rows.map(|row| (row, scope.spawn(move || one_row(row)))).collect();
        for (row, thread) in threads {
            for (message, numbers) in thread.join().map_err(|_| anyhow!("a thread panicked"))?? {
                table.add("message", &row.name, &message, &numbers);
            }
        }
        Ok(())
    })
}

/// What is known of an instruction, by its address in the file.
struct Known<'a> {
    instruction: &'a Instruction,
    /// Its operand in memory.
    memory: Option<u32>,
    /// Where its function begins.
    function: u64,
    /// Of the library's own instructions.
    kinds: Vec<&'static str>,
}

fn known(program: &Program) -> HashMap<u64, Known<'_>> {
    let mut all = HashMap::new();
    for (start, function) in &program.functions {
        for i in &function.code {
            let touches = |op: &u32| i.op_kind(*op) == OpKind::Memory && !matches!(i.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
            let memory = (0..i.op_count()).find(touches);
            let kinds = kinds(i).filter(|kind| function.name.contains("fastgcm::") && KINDS.contains(kind)).collect();
            all.insert(i.ip(), Known { instruction: i, memory, function: *start, kinds });
        }
    }
    all
}

/// From here to the next marker. The C library's instructions are left out: its `memcpy` is another one on each machine.
///
/// Lines of 64 bytes are what a message whose caches are cold waits for. Those of the key are exact, for a key begins a line. Where the linker puts the
/// rest differs from build to build, and must not count: each function begins a line here, and bytes that are read of constants and tables lie
/// side by side.
fn one(traced: &mut Traced, known: &HashMap<u64, Known<'_>>, key: Range<u64>, tables: Range<u64>, woven: bool) -> Result<Numbers, String> {
    let mut numbers: Numbers = KINDS.map(|kind| (kind, 0)).into();
    let (mut code_lines, mut key_lines, mut table_bytes) = (HashSet::new(), HashSet::new(), HashSet::new());
    traced.until_marker(|program, at| {
        *numbers.entry("instructions").or_default() += u64::from(program.code().contains(&at));
        let Some(Known { instruction, memory, function, kinds }) = known.get(&at.wrapping_sub(program.base())) else { return Ok(()) };
        kinds.iter().filter(|_| woven).for_each(|kind| *numbers.entry(kind).or_default() += 1);
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
            table_bytes.extend(bytes);
        }
        Ok(())
    })?;
    let lines =
        [("code-lines", code_lines.len()), ("key-lines", key_lines.len()), ("table-lines", table_bytes.len().div_ceil(LINE as usize))];
    numbers.extend(lines.map(|(name, number)| (name, number as u64)));
    Ok(numbers)
}

/// A general register, or a segment's, which begins at 0.
fn general(r: &Registers, register: Register) -> Option<u64> {
    let all = [r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15];
    if register.is_segment_register() { Some(0) } else { register.is_gpr64().then(|| all[register.number()]) }
}
