//! What the compiler made of one row of the table: faults that no answer shows, and numbers to compare.

use super::{
    Row,
    program::{Function, Program},
};
use iced_x86::{CpuidFeature, FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of one function, by their names in the table.
pub(super) type Numbers = BTreeMap<&'static str, u64>;

/// Numbers of each of a row's functions (`seal`, `open_long` ...), and what is wrong with them.
pub(super) fn inspect(program: &Program, row: &Row) -> (BTreeMap<String, Numbers>, Vec<String>) {
    let mut numbers = BTreeMap::<String, Numbers>::new();
    let mut faults = Vec::new();
    let features = with_implied(&row.features);
    for (path, function) in functions(program, row) {
        let found = [outside(program, row, function), dirty(program, function), foreign(function, &features)];
        faults.extend(found.into_iter().flatten().map(|what| format!("{} {path}: {what}", row.name)));
        let sums = numbers.entry(path).or_default();
        let mut add = |name, number: usize| *sums.entry(name).or_default() += number as u64;
        add("bytes", function.bytes as usize);
        if row.made_of_calls() {
            continue; // what it has of vectors and calls is the compiler's affair
        }
        add("calls", program.calls(function).filter(|call| !call.to.is_some_and(never_returns)).count());
        let inside = function.in_loops();
        for (kind, inside) in function.code.iter().zip(inside).map(|(i, inside)| (Kind::of(i), inside)) {
            add("spills", (kind.spill && inside) as usize);
            add("reloads", (kind.reload && inside) as usize);
            add("loads", kind.load as usize);
            add("clmul", kind.clmul as usize);
            add("aes", kind.aes as usize);
        }
    }
    if numbers.is_empty() {
        faults.push(format!("{}: not in the program", row.name));
    }
    (numbers, faults)
}

/// What a message costs, beside bytes of code.
pub(super) struct Kind {
    /// A carry-less multiplication.
    pub(super) clmul: bool,
    /// A round of AES.
    pub(super) aes: bool,
    /// A vector read from anywhere but the stack: text, powers of H, round keys, counters.
    pub(super) load: bool,
    /// A vector read from the stack: what was spilled, or a constant of a loop that found no register. With an index it is a table
    /// that is meant to be there.
    reload: bool,
    /// A vector written to the stack.
    spill: bool,
}

impl Kind {
    pub(super) fn of(i: &Instruction) -> Self {
        let vector = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_vector_register());
        let memory = vector && (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory);
        // RBP is a register like any other, or in a function that aligns its frame the way to its arguments.
        let stack = i.memory_base() == Register::RSP && i.memory_index() == Register::None;
        let writes = i.op0_kind() == OpKind::Memory;
        let name = format!("{:?}", i.mnemonic()).to_lowercase();
        Self {
            clmul: name.contains("clmul"),
            aes: name.contains("aesenc"),
            load: memory && !writes && !stack,
            reload: memory && !writes && stack,
            spill: memory && writes && stack,
        }
    }
}

/// The functions of a row, each with its path in the row's module; and what they call of the library outside of any row, as `helpers`.
fn functions<'a>(program: &'a Program, row: &Row) -> Vec<(String, &'a Function)> {
    let module = module(row);
    let mut found = Vec::new();
    let mut todo = Vec::new();
    for (address, function) in &program.functions {
        if let Some((_, path)) = function.name.split_once(&module) {
            todo.push(*address);
            found.push((path.to_owned(), function));
        }
    }
    let mut seen: BTreeSet<u64> = todo.iter().copied().collect();
    while let Some(address) = todo.pop() {
        for to in program.calls(&program.functions[&address]).filter_map(|call| call.address) {
            if let Some(function) = program.functions.get(&to)
                && ["fastgcm::isa::", "fastgcm::inout::made::", "fastgcm::gcm::software::", "fastgcm::ghash::pairs::"]
                    .iter()
                    .any(|of| function.name.contains(of))
                && seen.insert(to)
            {
                todo.push(to);
                found.push(("helpers".into(), function));
            }
        }
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
    let ours = |to: &str| to.contains(&module) || to.starts_with("fastgcm::inout::made::") || to == "fastgcm::runs::Runs::next";
    let may = |to: &str| ours(to) || never_returns(to) || matches!(to, "memcpy" | "memset");
    let mut faults = BTreeSet::new();
    for call in program.calls(function) {
        let to = call.to.unwrap_or("something through a register");
        if to.contains("core_arch") || to.contains("core::arch") {
            faults.insert(format!("a call of {to}: its target feature is not enabled here"));
        } else if !row.made_of_calls() && !may(to) {
            faults.insert(format!("a call of {to}"));
        }
    }
    faults.into_iter().collect()
}

/// A panic.
pub(super) fn never_returns(name: &str) -> bool {
    name.starts_with("core::panicking::") || name.starts_with("core::slice::index::slice_") || name.starts_with("core::option::")
}

/// Ways out of the function that leave the upper halves of vector registers in use: SSE code, if the caller has any, then takes a
/// penalty with each instruction. (Registers 16 to 31 do not count: SSE has none of them.)
fn dirty(program: &Program, function: &Function) -> Vec<String> {
    let code = &function.code;
    let upper = |r: Register| (r.is_ymm() || r.is_zmm()) && r.number() < 16;
    let writes = |i: &Instruction| i.op_count() > 0 && i.op0_kind() == OpKind::Register && upper(i.op0_register());
    let clears = |i: &Instruction| matches!(i.mnemonic(), Mnemonic::Vzeroupper | Mnemonic::Vzeroall);
    let leaves: BTreeSet<usize> = program.calls(function).filter(|call| !call.to.is_some_and(never_returns)).map(|call| call.at).collect();

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
        for feature in i.cpuid_features().iter().filter(|_| !everywhere).map(rustc_name) {
            if !features.contains(&feature) {
                faults.entry(feature).or_default().push(show(i));
            }
        }
    }
    faults.into_iter().map(|(feature, all)| format!("{} instructions of {feature}, the first is {}", all.len(), all[0])).collect()
}

/// As rustc spells it.
fn rustc_name(feature: &CpuidFeature) -> String {
    format!("{feature:?}").to_lowercase().replace('_', ".")
}

/// With what they imply, and what every x86-64 has.
fn with_implied(features: &[String]) -> BTreeSet<String> {
    const EVERY: &str = "intel8086 intel186 intel286 intel386 intel486 x64 cmov multibytenop fpu sse sse2 cet.ibt";
    const IMPLIED: &[(&str, &str)] = &[
        ("vaes", "avx2 aes"),
        ("vpclmulqdq", "avx pclmulqdq"),
        ("avx512vbmi", "avx512.vbmi avx512bw"), // the table and the decoder spell it in two ways
        ("avx512bw", "avx512f"),
        ("avx512vl", "avx512f"),
        ("avx512f", "avx2 fma f16c"),
        ("avx2", "avx"),
        ("avx", "sse4.2"),
        ("sse4.2", "sse4.1"),
        ("sse4.1", "ssse3"),
        ("ssse3", "sse3"),
    ];
    let mut all: BTreeSet<String> = EVERY.split(' ').map(str::to_owned).chain(features.iter().cloned()).collect();
    for (feature, implied) in IMPLIED {
        if all.contains(*feature) {
            all.extend(implied.split(' ').map(str::to_owned));
        }
    }
    all
}

fn show(i: &Instruction) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(i, &mut text);
    format!("{:x}: {text}", i.ip())
}
