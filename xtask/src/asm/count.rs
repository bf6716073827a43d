//! Exact numbers for whole messages: the probe is stepped through each of them.

use super::{
    Row,
    inspect::{Kind, Numbers},
    program::Program,
};
use crate::step::{Registers, Traced};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
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
const VERBS: [&str; 2] = ["seal", "open"];

/// What the probe is told to do with a row: `seal,16,64` ...
pub(super) fn messages(row: &Row) -> Vec<String> {
    let mut all = Vec::new();
    for verb in VERBS {
        for key in KEYS {
            for size in SIZES {
                // A row without instructions for AES takes a hundred times as many others: few messages.
                if !row.made_of_calls() || matches!((key, size), (16, 0 | 1420) | (_, 200)) {
                    all.push(format!("{verb},{key},{size}"));
                }
            }
        }
    }
    if !row.made_of_calls() {
        all.extend(BATCHES.map(|size| format!("batch,16,{size}")));
    }
    all
}

/// By row and message.
pub(super) type Counted = BTreeMap<(String, String), Numbers>;

/// Numbers of some messages for each of these rows, which must be such as this processor can run.
pub(super) fn count<'a>(
    probe: &Path,
    program: &Program,
    rows: impl Iterator<Item = &'a Row>,
    messages: impl Fn(&Row) -> Vec<String> + Sync,
) -> Result<Counted, String> {
    let known = known(program);
    let one_row = |row: &Row| -> Result<Counted, String> {
        let messages = messages(row);
        let mut arguments = vec![row.name.clone()];
        arguments.extend(messages.iter().cloned());
        let mut traced = Traced::start(probe, &arguments)?;
        let mut counted = Counted::new();
        for message in messages {
            let told = traced.next_marker()?.ok_or("the probe has no marker for this message")?;
            traced.next_marker()?.ok_or("the probe tells of a key, and does nothing")?;
            let (key, tables) = (told.rdi..told.rdi + told.rsi, traced.base()..traced.base() + program.bytes);
            let numbers = one(&mut traced, &known, key, tables, !row.made_of_calls())?;
            counted.insert((row.name.clone(), message), numbers);
        }
        match traced.next_marker()? {
            None => Ok(counted),
            Some(_) => Err("the probe has a marker too many".into()),
        }
    };
    let each = thread::scope(|scope| {
        let threads: Vec<_> = rows.map(|row| scope.spawn(|| one_row(row))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?).collect::<Result<Vec<_>, String>>()
    })?;
    Ok(each.into_iter().flatten().collect())
}

/// What is known of an instruction, by its address in the file.
struct Known<'a> {
    instruction: &'a Instruction,
    /// Its operand in memory.
    memory: Option<u32>,
    /// Where its function begins.
    function: u64,
    /// Of the library's own instructions.
    kind: Option<Kind>,
}

fn known(program: &Program) -> HashMap<u64, Known<'_>> {
    let mut all = HashMap::new();
    for (start, function) in &program.functions {
        for i in &function.code {
            let touches = |op: &u32| i.op_kind(*op) == OpKind::Memory && !matches!(i.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
            let memory = (0..i.op_count()).find(touches);
            let kind = function.name.contains("fastgcm::").then(|| Kind::of(i));
            all.insert(i.ip(), Known { instruction: i, memory, function: *start, kind });
        }
    }
    all
}

/// From here to the next marker. The C library's instructions are left out: its `memcpy` is another one on each machine.
///
/// Lines of 64 bytes are what a message whose caches are cold waits for. Those of the key are exact, for a key begins a line. Where the linker puts the
/// rest differs from build to build, and must not count: each function begins a line here, and bytes that are read of constants and tables lie
/// side by side.
fn one(traced: &mut Traced, known: &HashMap<u64, Known<'_>>, key: Range<u64>, tables: Range<u64>, kinds: bool) -> Result<Numbers, String> {
    let mut numbers = Numbers::from([("instructions", 0), ("clmul", 0), ("aes", 0), ("loads", 0)]);
    let (mut code_lines, mut key_lines, mut table_bytes) = (HashSet::new(), HashSet::new(), HashSet::new());
    traced.until_marker(|program, at| {
        let mut add = |name, number| *numbers.entry(name).or_default() += number as u64;
        add("instructions", program.code().contains(&at));
        let Some(Known { instruction, memory, function, kind }) = known.get(&at.wrapping_sub(program.base())) else { return Ok(()) };
        if let Some(kind) = kind.as_ref().filter(|_| kinds) {
            add("clmul", kind.clmul);
            add("aes", kind.aes);
            add("loads", kind.load);
        }
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
