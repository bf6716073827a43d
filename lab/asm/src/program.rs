//! Reads a program: its functions, their instructions, and which instruction can follow which.

use anyhow::Result;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SymbolKind};
use std::{collections::BTreeMap, fs, path::Path};

#[derive(Default)]
pub(super) struct Program {
    /// The functions by address.
    pub(super) functions: BTreeMap<u64, Function>,
    /// The targets of the slots of the global offset table, by the slot's address: a name, and the address if it is in this program.
    slots: BTreeMap<u64, (String, Option<u64>)>,
    /// The bytes of memory, code and data together.
    pub(super) bytes: u64,
}

pub(super) struct Function {
    /// The demangled name without the hash.
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) code: Vec<Instruction>,
    /// The indices of the instructions that may follow each one inside the function. None follows a return, or a jump out of it.
    pub(super) next: Vec<Vec<usize>>,
}

/// Returns the contents of the program's file from an address on.
type Data<'a> = dyn Fn(u64) -> Option<&'a [u8]> + 'a;

/// A call, or a jump that leaves the function for good.
pub(super) struct Call<'a> {
    /// The index of the instruction.
    pub(super) at: usize,
    /// The target's name, or `None` for a call through a register.
    pub(super) to: Option<&'a str>,
    /// The address of a target in this program.
    pub(super) address: Option<u64>,
}

impl Call<'_> {
    /// Returns true for a call of a panic.
    pub(super) fn never_returns(&self) -> bool {
        const PANICS: [&str; 3] = ["core::panicking::", "core::slice::index::slice_", "core::option::"];
        self.to.is_some_and(|to| PANICS.iter().any(|panics| to.starts_with(panics)))
    }
}

impl Program {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path)?;
        let file = object::File::parse(&*bytes)?;
        let sections: Vec<(u64, &[u8])> = file.sections().filter_map(|s| Some((s.address(), s.data().ok()?))).collect();
        let data = |address: u64| -> Option<&[u8]> {
            let holds = |(start, data): &&(u64, &[u8])| *start != 0 && (*start..*start + data.len() as u64).contains(&address);
            sections.iter().find(holds).map(|(start, data)| &data[(address - start) as usize..])
        };

        let mut functions = BTreeMap::new();
        for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0) {
            let name = format!("{:#}", rustc_demangle::demangle(symbol.name()?));
            let (start, size) = (symbol.address(), symbol.size());
            let Some(code) = data(start).and_then(|data| data.get(..size as usize)) else { continue };
            functions.entry(start).or_insert_with(|| Function::decode(name, start, code, &data));
        }
        let mut slots = BTreeMap::new();
        for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let symbol = |index| file.dynamic_symbol_table()?.symbol_by_index(index).ok()?.name().ok();
            let own = relocation.addend() as u64;
            let target = match relocation.target() {
                RelocationTarget::Symbol(index) => symbol(index).map(|name| (name.to_owned(), None)),
                _ => functions.get(&own).map(|f: &Function| (f.name.clone(), Some(own))),
            };
            slots.extend(target.map(|target| (slot, target)));
        }
        let bytes = file.segments().map(|segment| segment.address() + segment.size()).max().unwrap_or(0);
        let mut program = Self { functions, slots, bytes };
        // No instruction follows the call of a function that does not return.
        let mut ends = Vec::new();
        for (address, function) in &program.functions {
            ends.extend(program.calls(function).filter(Call::never_returns).map(|call| (*address, call.at)));
        }
        for (address, at) in ends {
            program.functions.entry(address).and_modify(|function| function.next[at].clear());
        }
        Ok(program)
    }

    /// Returns the calls, and the jumps that leave the function for good.
    pub(super) fn calls<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = Call<'a>> {
        function.code.iter().enumerate().filter_map(|(at, i)| match i.flow_control() {
            FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                let target = i.near_branch_target();
                let inside = i.flow_control() != FlowControl::Call && function.holds(target);
                let to = || self.functions.get(&target).map(|f| f.name.as_str());
                (!inside).then(|| Call { at, to: to(), address: Some(target) })
            }
            // A jump with known targets uses a table of the function itself.
            FlowControl::IndirectCall | FlowControl::IndirectBranch
                if i.flow_control() == FlowControl::IndirectCall || function.next[at].is_empty() =>
            {
                let slot = if i.memory_base() == Register::RIP { self.slots.get(&i.memory_displacement64()) } else { None };
                Some(Call { at, to: slot.map(|slot| slot.0.as_str()), address: slot.and_then(|slot| slot.1) })
            }
            _ => None,
        })
    }
}

impl Function {
    pub(super) fn decode<'a>(name: String, start: u64, bytes: &[u8], data: &Data<'a>) -> Self {
        let code: Vec<Instruction> = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).into_iter().collect();
        let index = |address: u64| code.binary_search_by_key(&address, Instruction::ip).ok();
        let next = (0..code.len()).map(|i| {
            let after = (i + 1 < code.len()).then_some(i + 1);
            let target = || index(code[i].near_branch_target());
            match code[i].flow_control() {
                FlowControl::Return | FlowControl::Exception | FlowControl::Interrupt => vec![],
                FlowControl::UnconditionalBranch => target().into_iter().collect(),
                FlowControl::ConditionalBranch => target().into_iter().chain(after).collect(),
                FlowControl::IndirectBranch => {
                    table(&code[..i], data).map(|entries| entries.map_while(&index)).into_iter().flatten().collect()
                }
                _ => after.into_iter().collect(),
            }
        });
        Self { name, bytes: bytes.len() as u64, next: next.collect(), code }
    }

    fn holds(&self, address: u64) -> bool {
        self.code.first().is_some_and(|first| (first.ip()..first.ip() + self.bytes).contains(&address))
    }
}

/// Returns the targets of a jump after `before`: a table of distances from its own address, which the last `lea` of constant data gives.
fn table<'a>(before: &[Instruction], data: &Data<'a>) -> Option<impl Iterator<Item = u64> + use<'a>> {
    let lea =
        |i: &&Instruction| i.mnemonic() == iced_x86::Mnemonic::Lea && i.op1_kind() == OpKind::Memory && i.memory_base() == Register::RIP;
    let start = before.iter().rev().find(lea)?.memory_displacement64();
    let entries = data(start)?.chunks_exact(4);
    let distances = entries.map(|entry| i32::from_le_bytes(entry.try_into().unwrap_or_default()) as i64);
    Some(distances.map(move |distance| start.wrapping_add_signed(distance)))
}
