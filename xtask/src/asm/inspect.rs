//! What the compiler made of one row of the table: faults that no answer shows, and numbers to compare.

use super::{
    Row,
    program::{Function, Program},
};
use crate::tools::{output, sh};
use anyhow::Result;
use iced_x86::{FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Numbers of one function, by their names in the table.
pub(super) type Numbers = BTreeMap<&'static str, u64>;

/// Numbers of each of a row's functions (`seal`, `open_long` ...), and what is wrong with them.
pub(super) fn inspect(program: &Program, row: &Row) -> Result<(BTreeMap<String, Numbers>, Vec<String>)> {
    let mut numbers = BTreeMap::<String, Numbers>::new();
    let mut faults = Vec::new();
    let features = promised(row)?;
    for (path, function) in functions(program, row) {
        let found = [outside(program, row, function), dirty(program, function), foreign(function, &features)];
        faults.extend(found.into_iter().flatten().map(|what| format!("{} {path}: {what}", row.name)));
        let sums = numbers.entry(path).or_default();
        let mut add = |name, number: usize| *sums.entry(name).or_default() += number as u64;
        add("bytes", function.bytes as usize);
        if row.made_of_calls() {
            continue; // what it has of vectors and calls is the compiler's affair
        }
        add("calls", program.calls(function).filter(|call| !call.never_returns()).count());
        KINDS.iter().for_each(|kind| add(kind, 0));
        for (i, inside) in function.code.iter().zip(function.in_loops()) {
            kinds(i).filter(|kind| inside || !IN_LOOPS.contains(kind)).for_each(|kind| add(kind, 1));
        }
    }
    if numbers.is_empty() {
        faults.push(format!("{}: not in the program", row.name));
    }
    Ok((numbers, faults))
}

/// What a message costs, beside bytes of code: carry-less multiplications; rounds of AES; vectors read from anywhere but the stack (text, powers of H,
/// round keys, counters); vectors read from the stack (what was spilled, or a constant of a loop that found no register; with an index it is a table that
/// is meant to be there); and vectors written to the stack.
const KINDS: [&str; 5] = ["clmul", "aes", "loads", "reloads", "spills"];

/// Of these only those in loops count.
const IN_LOOPS: [&str; 2] = ["reloads", "spills"];

/// Of what kinds an instruction is.
pub(super) fn kinds(i: &Instruction) -> impl Iterator<Item = &'static str> {
    let vector = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_vector_register());
    let memory = vector && (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory);
    // RBP is a register like any other, or in a function that aligns its frame the way to its arguments.
    let stack = i.memory_base() == Register::RSP && i.memory_index() == Register::None;
    let writes = i.op0_kind() == OpKind::Memory;
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let is = [
        name.contains("clmul"),
        name.contains("aesenc"),
        memory && !writes && !stack,
        memory && !writes && stack,
        memory && writes && stack,
    ];
    KINDS.into_iter().zip(is).filter(|(_, is)| *is).map(|(kind, _)| kind)
}

/// The functions of a row, each with its path in the row's module; and what they call of the library outside of any row, as `helpers`.
fn functions<'a>(program: &'a Program, row: &Row) -> Vec<(String, &'a Function)> {
    const HELPERS: [&str; 5] =
        ["fastgcm::aes::", "fastgcm::isa::", "fastgcm::inout::made::", "fastgcm::gcm::software::", "fastgcm::ghash::pairs::"];
    let own = |(_, function): &(&u64, &'a Function)| Some((function.name.split_once(&module(row))?.1.to_owned(), *function));
    let mut found: Vec<(String, &Function)> = program.functions.iter().filter_map(|function| own(&function)).collect();
    let mut next = 0;
    while let Some((_, function)) = found.get(next) {
        for to in program.calls(function).filter_map(|call| program.functions.get(&call.address?)) {
            let is_helper = HELPERS.iter().any(|of| to.name.contains(of));
            if is_helper && !found.iter().any(|(_, other)| std::ptr::eq(*other, to)) {
                found.push(("helpers".into(), to));
            }
        }
        next += 1;
    }
    found
}

/// `entry.rs` puts each row in a module of its own.
fn module(row: &Row) -> String {
    format!("::backend::{}::", row.name.replace('-', "_"))
}

/// Calls that should not be. An intrinsic whose caller lacks its target feature becomes a call: right, and sixty times slower. So does
/// an operation that is not inlined, and all vectors go through memory. (Rows without AES instructions are made of calls.)
fn outside(program: &Program, row: &Row, function: &Function) -> Vec<String> {
    let module = module(row);
    // `made` is the row's own code, in a function apart; `Runs` has no vectors.
    let ours = |to: &str| to.contains(&module) || to.starts_with("fastgcm::inout::made::") || to == "fastgcm::runs::Runs::next_gathered";
    let may = |to: &str| ours(to) || matches!(to, "memcpy" | "memset");
    let mut faults = BTreeSet::new();
    for call in program.calls(function).filter(|call| !call.never_returns()) {
        let to = call.to.unwrap_or("something through a register");
        if to.contains("core_arch") || to.contains("core::arch") {
            faults.insert(format!("a call of {to}: its target feature is not enabled here"));
        } else if !row.made_of_calls() && !may(to) {
            faults.insert(format!("a call of {to}"));
        }
    }
    faults.into_iter().collect()
}

/// Ways out of the function that leave the upper halves of vector registers in use: SSE code, if the caller has any, then takes a
/// penalty with each instruction. (Registers 16 to 31 do not count: SSE has none of them.)
fn dirty(program: &Program, function: &Function) -> Vec<String> {
    let code = &function.code;
    let upper = |r: Register| (r.is_ymm() || r.is_zmm()) && r.number() < 16;
    let writes = |i: &Instruction| i.op_count() > 0 && i.op0_kind() == OpKind::Register && upper(i.op0_register());
    let clears = |i: &Instruction| matches!(i.mnemonic(), Mnemonic::Vzeroupper | Mnemonic::Vzeroall);
    let leaves: BTreeSet<usize> = program.calls(function).filter(|call| !call.never_returns()).map(|call| call.at).collect();

    // Whether some way to each instruction comes there with upper halves in use.
    let mut before = vec![false; code.len()];
    let mut todo: Vec<usize> = (0..code.len()).filter(|&i| writes(&code[i])).collect();
    while let Some(i) = todo.pop() {
        if writes(&code[i]) || before[i] && !clears(&code[i]) {
            todo.extend(function.next[i].iter().filter(|&&n| !std::mem::replace(&mut before[n], true)));
        }
    }
    let bad = |i: usize| before[i] && (code[i].flow_control() == FlowControl::Return || leaves.contains(&i));
    let ways: Vec<String> = (0..code.len()).filter(|&i| bad(i)).map(|i| show(&code[i])).collect();
    if ways.is_empty() { vec![] } else { vec![format!("no vzeroupper before {}", ways.join("; "))] }
}

/// Instructions that the row's features do not promise. AVX512DQ is never among them: rust-lang/rust#158622.
fn foreign(function: &Function, features: &BTreeSet<String>) -> Vec<String> {
    let mut faults = BTreeMap::<String, Vec<String>>::new();
    for i in &function.code {
        // `rep bsf`, which older processors read as `bsf`.
        let everywhere = i.mnemonic() == Mnemonic::Tzcnt;
        for feature in i.cpuid_features().iter().filter(|_| !everywhere).map(|feature| plain(&format!("{feature:?}"))) {
            if !features.contains(&feature) {
                faults.entry(feature).or_default().push(show(i));
            }
        }
    }
    faults.into_iter().map(|(feature, all)| format!("{} instructions of {feature}, the first is {}", all.len(), all[0])).collect()
}

/// Its features with what they imply, as rustc says, and what every x86-64 has. (The decoder spells them with other dots.)
fn promised(row: &Row) -> Result<BTreeSet<String>> {
    const EVERY: &str = "intel8086 intel186 intel286 intel386 intel486 x64 cmov multibytenop fpu cetibt";
    let features: String = row.features.iter().map(|feature| format!(" -C target-feature=+{feature}")).collect();
    let text = output(&mut sh(Path::new("."), &format!("rustc --print cfg{features}")))?;
    let named = text.lines().filter_map(|line| line.strip_prefix("target_feature=\"")).map(plain);
    Ok(EVERY.split(' ').map(str::to_owned).chain(named).collect())
}

/// `sse4.1"` and `SSE4_1` are `sse41`.
fn plain(feature: &str) -> String {
    feature.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn show(i: &Instruction) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(i, &mut text);
    format!("{:x}: {text}", i.ip())
}
