//! The state of the processor, and its parts.

use super::Result;
use crate::{
    machine::{Degrees, Flags, Machine, Word},
    memory::Memory,
    statement::prove::Failure,
    values::field::{Bit, Block, Byte, O, xor},
};

/// A part of the processor's state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum At {
    General(usize),
    /// A byte of a vector register.
    Vector(usize, usize),
    Memory(u64),
}

/// The state of the processor.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub(super) general: Vec<Word>,
    pub(super) vectors: Box<[[Bit; 512]; 32]>,
    pub(super) masks: [Option<u64>; 8],
    pub(super) memory: Memory<'a>,
    pub(super) degrees: Degrees,
}

impl<'a> State<'a> {
    pub(super) fn of(machine: &Machine<'a>) -> Self {
        let Machine { general, vectors, masks, memory, degrees, .. } = machine;
        Self { general: general.clone(), vectors: vectors.clone(), masks: *masks, memory: memory.clone(), degrees: degrees.clone() }
    }

    pub(super) fn restore(&self, machine: &mut Machine<'a>, rip: u64) {
        let Self { general, vectors, masks, memory, degrees } = self;
        (machine.general, machine.masks) = (general.clone(), *masks);
        machine.vectors.clone_from(vectors);
        machine.memory = memory.clone();
        (machine.flags, machine.rip) = (Flags::UNDEFINED, rip);
        machine.degrees.back_to(degrees);
        machine.verdicts.clear();
        machine.asked.clear();
    }

    pub(super) fn bytes(&mut self, at: At, n: usize) -> Result<Vec<Byte>> {
        Ok(match at {
            At::General(r) => self.general[r].bits().as_chunks().0[..n].to_vec(),
            At::Vector(v, first) => self.vectors[v].as_chunks().0[first..first + n].to_vec(),
            At::Memory(at) => self.memory.string(at, n).map_err(Failure::from)?,
        })
    }

    pub(super) fn block(&mut self, at: At) -> Result<Block> {
        Ok(self.bytes(at, 16)?.try_into().expect("16 bytes"))
    }

    pub(super) fn sum_of(&mut self, blocks: &[At]) -> Result<Block> {
        blocks.iter().try_fold([[O; 8]; 16], |all, at| Ok(sum(&all, &self.block(*at)?)))
    }
}

pub(super) fn put(machine: &mut Machine<'_>, at: At, bytes: &[Byte]) -> Result<()> {
    match at {
        At::General(r) => machine.general[r] = Word::low(bytes.as_flattened()),
        At::Vector(v, first) => machine.vectors[v][8 * first..][..8 * bytes.len()].copy_from_slice(bytes.as_flattened()),
        At::Memory(at) => machine.memory.put(at, bytes).map_err(Failure::from)?,
    }
    Ok(())
}

/// Returns a block with a number in its last four bytes, the most significant byte first.
pub(super) fn in_block(word: &[Bit]) -> Block {
    in_order(word, false)
}

/// Returns a block with a number in its last four bytes, or in the first four, byte-swapped, as in code that adds there.
pub(super) fn in_order(word: &[Bit], is_first: bool) -> Block {
    if is_first {
        return std::array::from_fn(|i| if i < 4 { std::array::from_fn(|j| word[8 * i + j]) } else { [O; 8] });
    }
    std::array::from_fn(|i| if i < 12 { [O; 8] } else { std::array::from_fn(|j| word[8 * (15 - i) + j]) })
}

pub(super) fn sum(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|i| xor(&a[i], &b[i]))
}

pub(super) fn mirrored(block: &Block, is: bool) -> Block {
    std::array::from_fn(|i| block[if is { 15 - i } else { i }])
}

/// Returns the bytes of a block.
pub(super) fn bytes_of(block: At) -> Vec<At> {
    (0..16)
        .map(|i| match block {
            At::Vector(v, first) => At::Vector(v, first + i),
            At::Memory(at) => At::Memory(at + i as u64),
            At::General(_) => block,
        })
        .collect()
}

/// Returns the aligned block of a byte.
pub(super) fn block_of(at: At) -> Option<At> {
    match at {
        At::General(_) => None,
        At::Vector(v, byte) => Some(At::Vector(v, byte & !15)),
        At::Memory(at) => Some(At::Memory(at & !15)),
    }
}
