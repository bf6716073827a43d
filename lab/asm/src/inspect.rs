//! Inspects the machine code of a row of the table: finds faults that no answer shows, and counts bytes, spills and calls.

use super::{
    Row, output,
    program::{Function, Program},
};
use anyhow::Result;
use iced_x86::{FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// The numbers with their names.
type Numbers = Vec<(&'static str, u64)>;

/// Returns the bytes, spills and calls of a row's functions, and their faults.
pub(super) fn inspect(program: &Program, row: &Row) -> Result<(Numbers, Vec<String>)> {
    let (functions, features) = (functions(program, row), promised(row)?);
    let mut faults = Vec::new();
    for function in &functions {
        let found = [intrinsics(program, function), dirty(program, function), foreign(function, &features), signs(function)];
        faults.extend(found.into_iter().flatten().map(|what| format!("{} {}: {what}", row.name, function.name)));
    }
    if functions.is_empty() {
        faults.push(format!("{0}: the program has no function in a module `{1}`", row.name, module(row)));
    }
    let sum = |number: &dyn Fn(&Function) -> usize| functions.iter().map(|function| number(function) as u64).sum();
    let mut numbers = vec![("bytes", sum(&|function| function.bytes as usize))];
    if !row.lacks_aes() {
        numbers.push(("calls", sum(&|function| program.calls(function).filter(|call| !call.never_returns()).count())));
        numbers.push(("spills", sum(&|function| function.code.iter().filter(|i| spills(i)).count())));
    }
    Ok((numbers, faults))
}

/// Returns true if a vector is written to the stack. (RBP is a general register, or in a function that aligns its frame the pointer to its
/// arguments. With an index it is an intended table.)
fn spills(i: &Instruction) -> bool {
    let vector = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_vector_register());
    vector && i.op0_kind() == OpKind::Memory && i.memory_base() == Register::RSP && i.memory_index() == Register::None
}

/// Returns the functions of a row, which are in a module of its name, and the library's functions outside of any row that they call.
fn functions<'a>(program: &'a Program, row: &Row) -> Vec<&'a Function> {
    let mut found: Vec<&Function> = program.functions.values().filter(|function| function.name.contains(&module(row))).collect();
    let rows = found.len();
    let mut next = 0;
    while let Some(function) = found.get(next) {
        for to in program.calls(function).filter_map(|call| program.functions.get(&call.address?)) {
            let is_helper = to.name.starts_with("fastgcm::") || to.name.starts_with("<fastgcm::");
            if is_helper && !found.iter().any(|other| std::ptr::eq(*other, to)) {
                found.push(to);
            }
        }
        next += 1;
    }
    if rows == 0 { Vec::new() } else { found }
}

fn module(row: &Row) -> String {
    format!("::{}::", row.name.replace('-', "_"))
}

/// Returns calls of intrinsics. An intrinsic whose caller lacks its target feature becomes a call, which is right and sixty times slower.
fn intrinsics(program: &Program, function: &Function) -> Vec<String> {
    let called = program.calls(function).filter_map(|call| call.to);
    let intrinsics: BTreeSet<&str> = called.filter(|to| to.contains("core_arch") || to.contains("core::arch")).collect();
    intrinsics.into_iter().map(|to| format!("a call of {to}: its target feature is not enabled here")).collect()
}

/// Returns the exits of the function that leave the upper halves of vector registers in use, which slow down each SSE instruction of the caller.
/// (Registers 16 to 31 do not count: SSE has none of them.)
fn dirty(program: &Program, function: &Function) -> Vec<String> {
    let code = &function.code;
    let upper = |r: Register| (r.is_ymm() || r.is_zmm()) && r.number() < 16;
    let writes = |i: &Instruction| i.op_count() > 0 && i.op0_kind() == OpKind::Register && upper(i.op0_register());
    let clears = |i: &Instruction| matches!(i.mnemonic(), Mnemonic::Vzeroupper | Mnemonic::Vzeroall);
    let leaves: BTreeSet<usize> = program.calls(function).filter(|call| !call.never_returns()).map(|call| call.at).collect();

    // For each instruction, whether some path reaches it with upper halves in use.
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

/// Returns instructions that the row's features do not promise.
fn foreign(function: &Function, features: &BTreeSet<String>) -> Vec<String> {
    let mut faults = BTreeMap::<String, Vec<String>>::new();
    for i in &function.code {
        // `rep bsf`, which older processors execute as `bsf`.
        let everywhere = i.mnemonic() == Mnemonic::Tzcnt;
        for feature in i.cpuid_features().iter().filter(|_| !everywhere).map(|feature| plain(&format!("{feature:?}"))) {
            if !features.contains(&feature) {
                faults.entry(feature).or_default().push(show(i));
            }
        }
    }
    faults.into_iter().map(|(feature, all)| format!("{} instructions of {feature}, the first is {}", all.len(), all[0])).collect()
}

/// Returns instructions that move the signs of lanes to a mask or a number, which rust-lang/rust#158622 is about (LLVM joins "signs to mask, mask to
/// number", and forgets another use of the mask). The library has neither, so the fault cannot reach it, whatever a program enables. For 64 bytes
/// no such instruction exists.
pub(super) fn signs(function: &Function) -> Vec<String> {
    use Mnemonic::{Vmovmskpd, Vmovmskps, Vpmovb2m, Vpmovd2m, Vpmovmskb, Vpmovq2m};
    let made = [Vpmovb2m, Vpmovd2m, Vpmovq2m, Vmovmskpd, Vmovmskps, Vpmovmskb];
    let short = |i: &&Instruction| made.contains(&i.mnemonic()) && !i.op1_register().is_zmm();
    function.code.iter().filter(short).map(|i| format!("signs of lanes: {}", show(i))).collect()
}

/// Returns the row's features, those that they imply according to rustc, and those of every x86-64. (The decoder spells them with other dots.)
fn promised(row: &Row) -> Result<BTreeSet<String>> {
    const EVERY: &str = "intel8086 intel186 intel286 intel386 intel486 x64 cmov multibytenop fpu cetibt";
    let features = row.features.iter().map(|feature| format!("-Ctarget-feature=+{feature}"));
    let text = output(Command::new("rustc").args(["--print", "cfg"]).args(features))?;
    let named = text.lines().filter_map(|line| line.strip_prefix("target_feature=\"")).map(plain);
    Ok(EVERY.split(' ').map(str::to_owned).chain(named).collect())
}

/// Normalizes a feature's name: `sse4.1"` and `SSE4_1` are `sse41`.
fn plain(feature: &str) -> String {
    feature.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn show(i: &Instruction) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(i, &mut text);
    format!("{:x}: {text}", i.ip())
}

#[cfg(test)]
mod tests {
    use super::{dirty, signs, spills};
    use crate::program::{Function, Program};

    /// `vpxor ymm0, ymm0, ymm0`, perhaps `vzeroupper`, `ret`; and a vector that goes to the stack.
    #[test]
    fn registers_in_use_and_spills_are_found() {
        let program = Program::default();
        let decode = |code: &[u8]| Function::decode("it".into(), 0x1000, code, &|_| None);
        let clean = decode(&[0xc5, 0xfd, 0xef, 0xc0, 0xc5, 0xf8, 0x77, 0xc3]);
        let left = decode(&[0xc5, 0xfd, 0xef, 0xc0, 0xc3]);
        assert_eq!((dirty(&program, &clean).len(), dirty(&program, &left).len()), (0, 1));
        // movaps [rsp+16], xmm0; movaps xmm0, [rsp+16]; mov [rsp+16], rax; ret
        let code = [0x0f, 0x29, 0x44, 0x24, 0x10, 0x0f, 0x28, 0x44, 0x24, 0x10, 0x48, 0x89, 0x44, 0x24, 0x10, 0xc3];
        let found: Vec<bool> = decode(&code).code.iter().map(spills).collect();
        assert_eq!(found, [true, false, false, false]);
    }

    /// `vpmovq2m k1, ymm0`, `vpmovq2m k1, zmm0`, `vmovmskpd eax, ymm0`, `ret`.
    #[test]
    fn signs_are_found() {
        let code = [0x62, 0xf2, 0xfe, 0x28, 0x39, 0xc8, 0x62, 0xf2, 0xfe, 0x48, 0x39, 0xc8, 0xc5, 0xfd, 0x50, 0xc0, 0xc3];
        assert_eq!(signs(&Function::decode("it".into(), 0x1000, &code, &|_| None)).len(), 2);
    }
}
