//! The processor over lifted bits: registers, flags, operands. An instruction without semantics here, or a symbol that decides a
//! branch or an address, is an error.

use crate::{
    machine::path::{Low, Path},
    memory::Memory,
    process::image::{Image, Isa},
    process::processor::Processor,
    values::field::{Bit, Byte, O},
    values::random::{Map, Seed},
    values::unknown::Unknown,
};
use iced_x86::{ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::ops::Range;

mod allocate;
pub mod arm;
mod decide;
mod degrees;
mod families;
pub(crate) mod general;
mod lines;
mod operands;
pub mod path;
mod rearranged;
mod sums;
pub(crate) mod vector;

pub use crate::values::word::{Flags, Result, Stop, Word, Zero};
pub(crate) use crate::values::word::{refuse, secret, stop};
pub(crate) use allocate::Allocation;
pub use degrees::Degrees;
pub use operands::{is_extended, wants_alignment};

/// The decoded instructions, and the patched bytes.
#[derive(Default, Debug)]
pub struct Decoded {
    pub instructions: Map<u64, Instruction>,
    pub patches: Map<u64, u8>,
    /// The number of executions of each address, if requested.
    pub visited: Option<Map<u64, u64>>,
}

/// A decided condition on numbers: address, operands, outcome.
pub type Decision = (u64, ConditionCode, [u64; 2], bool);

/// The bits of the widest vector.
pub const WIDEST: usize = 512;

/// The registers that a function preserves.
const KEPT: [Register; 6] = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

pub struct Machine<'a> {
    pub image: &'a Image,
    pub decoded: &'a mut Decoded,
    pub memory: Memory<'a>,
    pub unknown: Unknown,
    pub processor: Processor,
    /// The general registers: 16 on x86-64; 31 and the stack pointer on AArch64.
    pub general: Vec<Word>,
    pub vectors: Box<[[Bit; WIDEST]; 32]>,
    /// The masks; `None` if they are not numbers.
    pub masks: [Option<u64>; 8],
    pub flags: Flags,
    pub rip: u64,
    pub fs: u64,
    /// The conditions that may decide, that none of these bits is one (see [`none`]), with the assumed outcome.
    pub verdicts: Map<Bit, bool>,
    /// The conditions that have decided.
    pub asked: Vec<Bit>,
    /// The path to follow at forbidden conditions, if requested.
    pub path: Option<Path>,
    /// The conditions on numbers, if requested.
    pub decisions: Option<Vec<Decision>>,
    /// The operands of the last comparison.
    pub compared: [u64; 2],
    pub degrees: Degrees,
    /// True if the program may declare by `int3` that its remains so far do not count; and the registers at the last.
    pub may_mark: bool,
    /// The pending requests to the allocator; and the unwritten second words of its blocks.
    pub(crate) requests: Vec<Allocation>,
    pub(crate) given: Map<u64, Vec<Byte>>,
    pub marked: Option<Vec<Byte>>,
    pub steps: u64,
    /// Hashes of the addresses of all instructions in order, and of those of AES and carry-less products.
    pub trace: [u64; 2],
    /// The last instruction that has set flags, and their operand if it is the lowest byte of a counter.
    pub(crate) compares: u64,
    pub(crate) low: Option<Low>,
    /// The sign of the flags, and its instruction.
    pub(crate) sign: Option<(u64, Bit)>,
    /// Uses the path of symbols even for numbers, for comparison with a processor.
    pub lifted_only: bool,
}

impl<'a> Machine<'a> {
    /// Makes a processor with unknown registers at `rip`. `scratch` is the stack that it may use.
    pub fn new(image: &'a Image, decoded: &'a mut Decoded, processor: Processor, seed: Seed, rip: u64, scratch: Range<u64>) -> Self {
        let unknown = Unknown::new(seed);
        let count = if image.isa == Isa::X86 { 16 } else { 32 };
        let general = vec![Word::Number(scratch.end); count];
        let vectors = vec![[O; WIDEST]; 32];
        let mut new = Self {
            image,
            decoded,
            memory: Memory::new(image, seed, scratch),
            unknown,
            processor,
            general,
            vectors: vectors.try_into().expect("32 registers"),
            masks: [None; 8],
            flags: Flags::UNDEFINED,
            rip,
            fs: image.marker.fs,
            verdicts: Map::default(),
            asked: Vec::new(),
            path: None,
            decisions: None,
            compared: [0; 2],
            degrees: Degrees::new(),
            may_mark: false,
            requests: Vec::new(),
            given: Map::default(),
            marked: None,
            steps: 0,
            trace: [0; 2],
            compares: 0,
            low: None,
            sign: None,
            lifted_only: false,
        };
        new.forget_registers();
        new
    }

    /// Makes the registers unknown, except the stack pointer.
    pub(crate) fn forget_registers(&mut self) {
        let stack = self.stack_number();
        for (i, word) in self.general.iter_mut().enumerate().filter(|(i, _)| *i != stack) {
            *word = Word::of(std::array::from_fn(|_| self.unknown.random.symbol()));
            self.degrees.general[i] = self.degrees.general[i].max(1);
        }
        self.vectors.as_flattened_mut().iter_mut().for_each(|bit| *bit = self.unknown.random.symbol());
        self.degrees.vectors.as_flattened_mut().fill(1);
        (self.flags, self.masks) = (Flags::UNDEFINED, [None; 8]);
        (self.low, self.sign) = (None, None);
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Result<()> {
        let at = self.rip;
        if !self.image.allocators.is_empty() {
            self.allocates(at)?;
        }
        if self.image.isa == Isa::Arm {
            return self.arm_step(at).map_err(|why| why.at(format_args!("{} ({})", self.image.place(at), self.instruction_text(at))));
        }
        let i = self.fetch(at)?;
        self.executes(at, crate::machine::vector::is_kernel(&i));
        self.rip = i.next_ip();
        self.execute(&i).map_err(|why| why.at(format_args!("{} ({i})", self.image.place(at))))
    }

    /// Counts an instruction, and records its address.
    pub(crate) fn executes(&mut self, at: u64, is_kernel: bool) {
        // The previous instruction.
        self.degrees.looked_at += f64::from(self.degrees.worst).powi(2);
        self.steps += 1;
        if let Some(visited) = &mut self.decoded.visited {
            *visited.entry(at).or_default() += 1;
        }
        let fold = |hash: u64| (hash.rotate_left(5) ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.trace[0] = fold(self.trace[0]);
        if is_kernel {
            self.trace[1] = fold(self.trace[1]);
        }
    }

    /// Returns the text of an instruction.
    pub(crate) fn instruction_text(&self, at: u64) -> String {
        match self.image.isa {
            Isa::X86 => self.decoded.instructions.get(&at).copied().unwrap_or_default().to_string(),
            Isa::Arm => self.word(at).map_or_else(|_| "no memory".into(), |word| format!("{word:08x}")),
        }
    }

    /// Returns the address after an executed instruction.
    pub(crate) fn behind(&self, at: u64) -> Option<u64> {
        match self.image.isa {
            Isa::X86 => self.decoded.instructions.get(&at).map(Instruction::next_ip),
            Isa::Arm => Some(at + 4),
        }
    }

    /// Returns the stack pointer.
    pub(crate) fn stack(&self) -> &Word {
        &self.general[self.stack_number()]
    }

    pub(crate) fn stack_number(&self) -> usize {
        if self.image.isa == Isa::X86 { Register::RSP.number() } else { crate::machine::arm::STACK }
    }

    /// Returns the result of a call.
    pub(crate) fn answer(&self) -> &Word {
        &self.general[0]
    }

    /// Returns true if an instruction may branch.
    pub(crate) fn jumps(&mut self, at: u64) -> Result<bool> {
        match self.image.isa {
            Isa::X86 => Ok(self.fetch(at)?.flow_control() != FlowControl::Next),
            Isa::Arm => Ok(crate::machine::arm::jumps(self.word(at)?)),
        }
    }

    /// Returns the values that a function preserves.
    pub(crate) fn kept(&self) -> Vec<Word> {
        match self.image.isa {
            Isa::X86 => KEPT.map(|r| self.register(r)).to_vec(),
            Isa::Arm => self.arm_kept(),
        }
    }

    /// Runs until it reaches `end`.
    pub fn run_to(&mut self, end: u64, limit: u64) -> Result<()> {
        while self.rip != end {
            if self.steps >= limit {
                stop!("more than {limit} instructions");
            }
            self.step()?;
        }
        Ok(())
    }

    pub fn fetch(&mut self, at: u64) -> Result<Instruction> {
        if let Some(i) = self.decoded.instructions.get(&at) {
            return Ok(*i);
        }
        let of_image = |at: u64| self.image.bytes::<1>(at).filter(|_| self.image.is_executable(at));
        let byte = |at: u64| Some(self.decoded.patches.get(&at).copied().unwrap_or(of_image(at)?[0]));
        let bytes: Vec<u8> = (at..at.saturating_add(15)).map_while(byte).collect();
        let i = Decoder::with_ip(64, &bytes, at, DecoderOptions::NONE).decode();
        if i.is_invalid() {
            stop!("{}: no instruction", self.image.place(at));
        }
        // Two makers' processors differ on a branch of 16 bits, and an address of 32 bits wraps. (A 32-bit sum by LEA does not.)
        let is_sum = i.mnemonic() == Mnemonic::Lea && !i.op0_register().is_gpr64();
        let is_narrow = |r: Register| matches!(r, Register::EIP) || r.is_gpr32() && !is_sum;
        let is_branch = matches!(i.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
        let prefixes = bytes.iter().take_while(|byte| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf2 | 0xf3)).count();
        let is_short = bytes[..prefixes].contains(&0x66) && !matches!(bytes.get(prefixes), Some(0x48..=0x4f));
        if is_branch && is_short || is_narrow(i.memory_base()) || is_narrow(i.memory_index()) {
            stop!("{}: {i}: an address or a place of fewer than 64 bits", self.image.place(at));
        }
        self.decoded.instructions.insert(at, i);
        Ok(i)
    }

    fn execute(&mut self, i: &Instruction) -> Result<()> {
        let is_vector = crate::machine::vector::is(i);
        self.degrees.forget();
        if let Some(lines) = self.unknown.lines.as_mut().filter(|_| i.rflags_written() != 0) {
            lines.is_public = false;
        }
        if is_vector {
            self.vector(i)?
        } else {
            self.general(i)?
        }
        // The bounds of the flags.
        if i.rflags_written() != 0 {
            self.compares = i.ip();
            self.degrees.flagged(i);
        }
        Ok(())
    }

    /// Returns all registers, byte by byte.
    pub fn registers(&self) -> Vec<Byte> {
        let general = self.general.iter().flat_map(|word| word.bits().as_chunks::<8>().0.to_vec());
        self.vectors.as_flattened().as_chunks::<8>().0.iter().copied().chain(general).collect()
    }
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Machine at {} after {} steps", self.image.place(self.rip), self.steps)
    }
}
