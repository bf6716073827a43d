//! The processor over lifted bits: registers, flags, operands. Whatever has no semantics here, or would let a symbol decide what is done
//! or where memory is touched, is an error.

use crate::{
    field::{Bit, Byte, I, O, Vector, elements, lifted, none, number},
    image::{Image, Isa},
    lines::Lines,
    memory::Memory,
    unknown::{MANY, Map, Seed, Unknown},
    ways::{Low, Ways},
};
use iced_x86::{ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register, RflagsBits};
use std::ops::Range;

/// What stops the interpreter.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A symbol would decide where the program goes on, or where memory is touched.
    Secret(String),
    /// There is no meaning here for what the program does.
    NotUnderstood(String),
}

pub type Result<T> = std::result::Result<T, Stop>;

macro_rules! stop {
    ($($what:tt)*) => { return Err(crate::machine::Stop::NotUnderstood(format!($($what)*))) };
}
macro_rules! secret {
    ($($what:tt)*) => { return Err(crate::machine::Stop::Secret(format!($($what)*))) };
}
pub(crate) use stop;

impl Stop {
    /// Where that was.
    fn at(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Secret(why) => Self::Secret(format!("{place}: {why}")),
            Self::NotUnderstood(why) => Self::NotUnderstood(format!("{place}: {why}")),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Secret(why) | Self::NotUnderstood(why)) = self;
        f.write_str(why)
    }
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Self::NotUnderstood(why)
    }
}

impl From<&str> for Stop {
    fn from(why: &str) -> Self {
        Self::NotUnderstood(why.into())
    }
}

impl From<Stop> for String {
    fn from(stop: Stop) -> Self {
        stop.to_string()
    }
}

/// A general register, or what is computed of it.
#[derive(Clone, PartialEq, Debug)]
pub enum Word {
    Number(u64),
    Bits(Box<[Bit; 64]>),
}
use Word::{Bits, Number};

impl Word {
    pub fn of(bits: [Bit; 64]) -> Word {
        number(&bits).map_or_else(|| Bits(Box::new(bits)), Number)
    }

    /// Of the lowest bits; the others are zeros.
    pub fn low(bits: &[Bit]) -> Word {
        let mut all = [O; 64];
        all[..bits.len()].copy_from_slice(bits);
        Self::of(all)
    }

    pub fn bits(&self) -> [Bit; 64] {
        match self {
            Number(n) => lifted(*n),
            Bits(bits) => **bits,
        }
    }

    /// Its lowest `n` bits.
    pub fn keep(&self, n: usize) -> Word {
        match self {
            _ if n >= 64 => self.clone(),
            Number(number) => Number(number & ((1 << n) - 1)),
            Bits(bits) => Self::low(&bits[..n]),
        }
    }

    pub fn number(&self) -> Result<u64> {
        match self {
            Number(n) => Ok(*n),
            Bits(_) => stop!("a symbol where a number must be"),
        }
    }

    /// Where the program goes on, or how often, or which memory it touches.
    pub fn place(&self) -> Result<u64> {
        match self {
            Number(n) => Ok(*n),
            Bits(_) => secret!("a symbol says where"),
        }
    }
}

/// What the zero flag is.
#[derive(Clone, Debug, PartialEq)]
pub enum Zero {
    Is(bool),
    /// Set if all of these bits are zero.
    IfNone(Vec<Bit>),
    Undefined,
}

/// Flags; `None` if undefined, or of a symbol that nobody needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    pub carry: Option<Bit>,
    pub overflow: Option<bool>,
    pub sign: Option<bool>,
    pub parity: Option<bool>,
    pub zero: Zero,
}

impl Flags {
    pub const UNDEFINED: Self = Self { carry: None, overflow: None, sign: None, parity: None, zero: Zero::Undefined };

    /// Sign, zero and parity of a result of that many bits.
    pub fn of_result(&mut self, result: &Word, bits: usize) {
        match result {
            Number(n) => {
                self.zero = Zero::Is(*n == 0);
                self.sign = Some(n >> (bits - 1) & 1 == 1);
                self.parity = Some((*n as u8).count_ones().is_multiple_of(2));
            }
            Bits(all) => {
                self.zero = Zero::of(&all[..bits]);
                self.sign = all[bits - 1].number();
                self.parity = None;
            }
        }
    }

    /// After AND and its like.
    pub fn of_logic(result: &Word, bits: usize) -> Self {
        let mut flags = Self { carry: Some(O), overflow: Some(false), ..Self::UNDEFINED };
        flags.of_result(result, bits);
        flags
    }
}

impl Zero {
    pub fn of(bits: &[Bit]) -> Self {
        if bits.contains(&I) {
            return Self::Is(false);
        }
        let mut unknown: Vec<Bit> = bits.iter().copied().filter(|&bit| bit != O).collect();
        // Of one bit that is all of a word, once: a product would have powers of it.
        unknown.dedup();
        if unknown.is_empty() { Self::Is(true) } else { Self::IfNone(unknown) }
    }
}

/// Instructions as they have been decoded, and bytes that are not what the image has.
#[derive(Default, Debug)]
pub struct Decoded {
    pub instructions: Map<u64, Instruction>,
    pub patches: Map<u64, u8>,
    /// How often each place was executed, if anybody wants to know.
    pub visited: Option<Map<u64, u64>>,
}

/// A condition on numbers that was decided: place, operands, outcome.
pub type Decision = (u64, ConditionCode, [u64; 2], bool);

/// Bits of the widest vector.
pub const WIDEST: usize = 512;

/// Bounds of degrees of polynomials: what is in each register, and what the instruction at hand has read.
#[derive(Clone, Debug)]
pub struct Degrees {
    pub(crate) general: [u32; 32],
    pub(crate) vectors: Box<[[u32; WIDEST / 8]; 32]>,
    /// Of bits that flags are of, and of the carry itself.
    flags: u32,
    carry: u32,
    /// The carry of the instruction at hand, where that is a product.
    own_carry: u32,
    /// The greatest degree that was read of general registers, and the sum of all.
    greatest: u32,
    sum: u32,
    /// The result is a product of what was read.
    pub(crate) multiplies: bool,
    /// The greatest of all, of an argument of a shared function, and of what has decided.
    pub worst: u32,
    pub argument: u32,
    pub decided: u64,
}

impl Degrees {
    fn new() -> Self {
        let vectors = Box::new([[1; WIDEST / 8]; 32]);
        Self {
            general: [1; 32],
            vectors,
            flags: 0,
            carry: 0,
            own_carry: 0,
            greatest: 0,
            sum: 0,
            multiplies: false,
            worst: 1,
            argument: 1,
            decided: 0,
        }
    }

    /// A new instruction, which has not read anything.
    pub(crate) fn forget(&mut self) {
        (self.greatest, self.sum, self.multiplies, self.own_carry) = (0, 0, false, 0);
    }

    pub(crate) fn read(&mut self, degree: u32) {
        self.greatest = self.greatest.max(degree);
        self.sum = self.sum.saturating_add(degree);
    }

    /// Of what was read.
    pub(crate) fn of_result(&self) -> u32 {
        self.greatest
    }

    /// All flags are of what was read.
    pub(crate) fn all_flagged(&mut self) {
        self.flags = self.result();
        self.carry = self.flags.max(self.own_carry);
        self.worst = self.worst.max(self.carry);
    }

    /// What flags are of, and the carry; and as they were.
    pub(crate) fn flags(&self) -> [u32; 2] {
        [self.flags, self.carry]
    }

    pub(crate) fn set_flags(&mut self, flags: [u32; 2]) {
        [self.flags, self.carry] = flags;
    }

    /// Of what flags are of.
    pub(crate) fn of_flags(&self) -> u32 {
        self.flags
    }

    pub(crate) fn of_carry(&self) -> u32 {
        self.carry
    }

    /// The carry says whether any of `n` bits that were read is one.
    pub(crate) fn carry_of_all(&mut self, n: usize) {
        self.own_carry = self.greatest.saturating_mul(n as u32);
    }

    /// What flags are of now. Those that an instruction leaves as they were keep their degree, and so do all behind a shift by a register, which may be one by 0.
    fn flagged(&mut self, i: &Instruction) {
        let degree = self.result();
        let shifts = i.op_count() == 2 && i.op1_register() == Register::CL;
        let keeps = |flag: u32| shifts || i.rflags_modified() & flag == 0;
        self.carry = degree.max(self.own_carry).max(if keeps(RflagsBits::CF) { self.carry } else { 0 });
        self.flags = degree.max(if keeps(RflagsBits::ZF) { self.flags } else { 0 });
        self.worst = self.worst.max(self.carry);
    }

    /// Some general register is read that is no operand.
    pub(crate) fn read_any(&mut self) {
        let greatest = self.general.iter().copied().fold(0, u32::max);
        self.read(greatest);
    }

    /// What registers held before; each of them may hold symbols now.
    pub(crate) fn back_to(&mut self, then: &Self) {
        (self.general, self.flags, self.carry) = (then.general, 0, 0);
        self.vectors.clone_from(&then.vectors);
        let vectors = self.vectors.as_flattened_mut().iter_mut();
        self.general.iter_mut().chain(vectors).for_each(|degree| *degree = (*degree).max(1));
    }

    /// What is read is the argument of a function, whose value is a new symbol.
    pub(crate) fn asked(&mut self) {
        self.argument = self.argument.max(self.greatest);
        (self.greatest, self.sum) = (1, 1);
    }

    /// Of the result.
    pub(crate) fn result(&mut self) -> u32 {
        let degree = if self.multiplies { self.sum } else { self.greatest };
        self.worst = self.worst.max(degree);
        degree
    }
}

/// The processor that CPUID tells: ECX of leaf 1, EBX and ECX of leaf 7, and which registers the system saves, as XGETBV says it.
#[derive(Clone, Copy, Debug)]
pub struct Processor {
    pub one_c: u32,
    pub seven_b: u32,
    pub seven_c: u32,
    pub saved: u32,
}

impl Processor {
    /// What CPUID answers: EAX, EBX, ECX, EDX; none for what says nothing of instructions.
    pub fn cpuid(&self, leaf: u32, below: u32) -> Option<[u32; 4]> {
        let name = |part: &[u8; 4]| u32::from_le_bytes(*part);
        Some(match (leaf, below) {
            (0, _) => [7, name(b"Genu"), name(b"ntel"), name(b"ineI")],
            // The model is that of a server of 2023; what every processor with 64 bits has.
            (1, _) => [0x806f8, 0, self.one_c, 0x078b_fbff],
            (7, 0) => [0, self.seven_b, self.seven_c, 0],
            (2..=7 | 0xd, _) => [0; 4],
            // LZCNT, PREFETCHW, and 64 bits.
            (0x8000_0000, _) => [0x8000_0001, 0, 0, 0],
            (0x8000_0001, _) => [0, 0, if self.seven_b == 0 { 1 } else { 0x121 }, 0x2c10_0800],
            _ => return None,
        })
    }
}

pub struct Machine<'a> {
    pub image: &'a Image,
    pub decoded: &'a mut Decoded,
    pub memory: Memory<'a>,
    pub unknown: Unknown,
    pub processor: Processor,
    /// 16 of x86-64; of AArch64 31, and the stack.
    pub general: Vec<Word>,
    pub vectors: Box<[[Bit; WIDEST]; 32]>,
    /// Masks; `None` if they are not numbers.
    pub masks: [Option<u64>; 8],
    pub flags: Flags,
    pub rip: u64,
    pub fs: u64,
    /// What may decide: that these bits are none of them one, as [`none`] says it, and the outcome that is assumed.
    pub verdicts: Map<Bit, bool>,
    /// Which of them were asked for.
    pub asked: Vec<Bit>,
    /// Both ways of what must not decide are gone, if anybody wants to know.
    pub ways: Option<Ways>,
    /// Conditions on numbers, if anybody wants to know.
    pub decisions: Option<Vec<Decision>>,
    /// What the last comparison was of.
    pub compared: [u64; 2],
    pub degrees: Degrees,
    /// Registers at the last `int3`, by which a program says that what it has left behind so far does not count.
    pub marked: Option<Vec<Byte>>,
    pub steps: u64,
    /// The places of all instructions in their order, as a hash; and of those of AES and of products without carry.
    pub trace: [u64; 2],
    /// The last instruction that has set flags, and what they are of, if that is the lowest byte of a counter.
    pub(crate) compares: u64,
    pub(crate) low: Option<Low>,
    /// And their sign, behind which instruction.
    pub(crate) sign: Option<(u64, Bit)>,
    /// Takes the way of symbols where numbers have a shorter one: for comparison with a processor.
    pub lifted_only: bool,
}

impl<'a> Machine<'a> {
    /// A processor of which nothing is known, about to execute what stands at `rip`. `scratch` is the stack that it may use.
    pub fn new(image: &'a Image, decoded: &'a mut Decoded, processor: Processor, seed: Seed, rip: u64, scratch: Range<u64>) -> Self {
        let mut unknown = Unknown::new(seed);
        let (count, stack) = match image.isa {
            Isa::X86 => (16, Register::RSP.number()),
            Isa::Arm => (32, crate::arm::STACK),
        };
        let mut general: Vec<Word> = (0..count).map(|_| Word::of(std::array::from_fn(|_| unknown.random.symbol()))).collect();
        general[stack] = Number(scratch.end);
        let mut vectors = vec![[O; WIDEST]; 32];
        vectors.as_flattened_mut().iter_mut().for_each(|bit| *bit = unknown.random.symbol());
        Self {
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
            ways: None,
            decisions: None,
            compared: [0; 2],
            degrees: Degrees::new(),
            marked: None,
            steps: 0,
            trace: [0; 2],
            compares: 0,
            low: None,
            sign: None,
            lifted_only: false,
        }
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Result<()> {
        let at = self.rip;
        if self.image.isa == Isa::Arm {
            return self.arm_step(at).map_err(|why| why.at(format_args!("{} ({})", self.image.place(at), self.said(at))));
        }
        let i = self.fetch(at)?;
        self.executes(at, crate::vector::is_kernel(&i));
        self.rip = i.next_ip();
        self.execute(&i).map_err(|why| why.at(format_args!("{} ({i})", self.image.place(at))))
    }

    /// Counts an instruction, and notes its place.
    pub(crate) fn executes(&mut self, at: u64, is_kernel: bool) {
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

    /// The instruction there, for people.
    pub(crate) fn said(&self, at: u64) -> String {
        match self.image.isa {
            Isa::X86 => self.decoded.instructions.get(&at).copied().unwrap_or_default().to_string(),
            Isa::Arm => self.word(at).map_or_else(|_| "no memory".into(), |word| format!("{word:08x}")),
        }
    }

    /// The place behind an instruction that was executed.
    pub(crate) fn behind(&self, at: u64) -> Option<u64> {
        match self.image.isa {
            Isa::X86 => self.decoded.instructions.get(&at).map(Instruction::next_ip),
            Isa::Arm => Some(at + 4),
        }
    }

    /// The stack's end, where a call begins; and what a call answers.
    pub(crate) fn stack(&self) -> &Word {
        &self.general[self.stack_number()]
    }

    pub(crate) fn stack_number(&self) -> usize {
        if self.image.isa == Isa::X86 { Register::RSP.number() } else { crate::arm::STACK }
    }

    /// Whether an instruction may go on somewhere else.
    pub(crate) fn jumps(&mut self, at: u64) -> Result<bool> {
        match self.image.isa {
            Isa::X86 => Ok(self.fetch(at)?.flow_control() != FlowControl::Next),
            Isa::Arm => Ok(crate::arm::jumps(self.word(at)?)),
        }
    }

    pub(crate) fn answer(&self) -> &Word {
        &self.general[0]
    }

    /// What a function gives back as it was.
    pub(crate) fn kept(&self) -> Vec<Word> {
        match self.image.isa {
            Isa::X86 => crate::prove::KEPT.map(|r| self.register(r)).to_vec(),
            Isa::Arm => self.arm_kept(),
        }
    }

    /// Runs until it is to execute what stands there.
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
        let byte = |at: u64| self.decoded.patches.get(&at).copied().or_else(|| Some(self.image.bytes::<1>(at)?[0]));
        let bytes: Vec<u8> = (at..at.saturating_add(15)).map_while(byte).collect();
        let i = Decoder::with_ip(64, &bytes, at, DecoderOptions::NONE).decode();
        if i.is_invalid() {
            stop!("{}: no instruction", self.image.place(at));
        }
        self.decoded.instructions.insert(at, i);
        Ok(i)
    }

    fn execute(&mut self, i: &Instruction) -> Result<()> {
        let is_vector = crate::vector::is(i);
        self.degrees.forget();
        if let Some(lines) = self.unknown.lines.as_mut().filter(|_| i.rflags_written() != 0) {
            lines.is_public = false;
        }
        if is_vector {
            self.vector(i)?
        } else {
            self.general(i)?
        }
        // What flags are of.
        if i.rflags_written() != 0 {
            self.compares = i.ip();
            self.degrees.flagged(i);
        }
        Ok(())
    }

    /// All registers, byte by byte.
    pub fn registers(&self) -> Vec<Byte> {
        let general = self.general.iter().flat_map(|word| word.bits().as_chunks::<8>().0.to_vec());
        self.vectors.as_flattened().as_chunks::<8>().0.iter().copied().chain(general).collect()
    }

    // General registers

    pub fn register(&self, r: Register) -> Word {
        let word = &self.general[r.full_register().number()];
        match word {
            Number(n) if is_second(r) => Number(n >> 8 & 0xff),
            Bits(bits) if is_second(r) => Word::low(&bits[8..16]),
            _ => word.keep(8 * r.size()),
        }
    }

    pub fn set_register(&mut self, r: Register, word: &Word) {
        let bits = 8 * r.size();
        let degree = self.degrees.result();
        let own_degree = &mut self.degrees.general[r.full_register().number()];
        *own_degree = match word {
            _ if bits < 32 => degree.max(*own_degree),
            Number(_) => 0,
            Bits(_) => degree,
        };
        let own = &mut self.general[r.full_register().number()];
        *own = if bits >= 32 {
            word.keep(bits)
        } else {
            let first = if is_second(r) { 8 } else { 0 };
            let mut all = own.bits();
            all[first..first + bits].copy_from_slice(&word.bits()[..bits]);
            Word::of(all)
        }
    }

    // Operands

    pub fn address(&self, i: &Instruction) -> Result<u64> {
        if self.unknown.lines.is_some()
            && let Some(at) = self.address_of_lines(i)
        {
            return Ok(at);
        }
        let number = |r: Register| match self.register(r) {
            Number(n) => Ok(n),
            Bits(_) => secret!("a symbol in an address"),
        };
        let mut at = i.memory_displacement64();
        if i.memory_base() != Register::None && !i.is_ip_rel_memory_operand() {
            at = at.wrapping_add(number(i.memory_base())?);
        }
        match i.memory_index() {
            Register::None => {}
            r if r.is_vector_register() => stop!("addresses in a vector"),
            r => at = at.wrapping_add(number(r)?.wrapping_mul(u64::from(i.memory_index_scale()))),
        }
        match i.memory_segment() {
            Register::FS => Ok(at.wrapping_add(self.fs)),
            Register::GS => stop!("segment gs"),
            _ => Ok(at),
        }
    }

    /// Bits of an operand.
    pub fn width(i: &Instruction, operand: u32) -> usize {
        match i.op_kind(operand) {
            OpKind::Register => 8 * i.op_register(operand).size(),
            OpKind::Memory => 8 * i.memory_size().size(),
            _ => 64,
        }
    }

    pub fn load(&mut self, at: u64, bytes: usize) -> Result<Word> {
        if let Some(n) = self.memory.number(at, bytes)? {
            return Ok(Number(n));
        }
        let read = self.memory.read(at, 8 * bytes)?;
        self.degrees.read(read.degree(0..8 * bytes));
        Ok(Word::low(&read.bits))
    }

    pub fn store(&mut self, at: u64, bytes: usize, word: &Word) -> Result<()> {
        let degree = if let Number(_) = word { 0 } else { self.degrees.result() };
        self.memory.write(at, &word.bits()[..8 * bytes], &[degree; 8][..bytes])
    }

    /// A general operand.
    pub fn get(&mut self, i: &Instruction, operand: u32) -> Result<Word> {
        Ok(match i.op_kind(operand) {
            OpKind::Register if i.op_register(operand).is_gpr() => {
                let r = i.op_register(operand);
                self.degrees.read(self.degrees.general[r.full_register().number()]);
                self.register(r)
            }
            OpKind::Register => stop!("{:?} as a general register", i.op_register(operand)),
            OpKind::Memory => self.load(self.address(i)?, i.memory_size().size())?,
            OpKind::NearBranch64 => Number(i.near_branch64()),
            _ => Number(i.immediate(operand)),
        })
    }

    pub fn set(&mut self, i: &Instruction, operand: u32, word: &Word) -> Result<()> {
        match i.op_kind(operand) {
            OpKind::Register if i.op_register(operand).is_gpr() => self.set_register(i.op_register(operand), word),
            OpKind::Memory => self.store(self.address(i)?, i.memory_size().size(), word)?,
            _ => stop!("a destination that is not known"),
        }
        Ok(())
    }

    /// A vector operand, as wide as it is; of a broadcast as wide as the result.
    pub fn source(&mut self, i: &Instruction, operand: u32) -> Result<Vector> {
        match i.op_kind(operand) {
            OpKind::Register => {
                let r = i.op_register(operand);
                if r.is_vector_register() {
                    let (bits, degrees) = (&self.vectors[r.number()], &self.degrees.vectors[r.number()]);
                    Ok(Vector { bits: bits[..8 * r.size()].to_vec(), degrees: degrees[..r.size()].to_vec() })
                } else if r.is_gpr() {
                    let bits = self.register(r).bits()[..8 * r.size()].to_vec();
                    Ok(Vector { bits, degrees: vec![self.degrees.general[r.full_register().number()]; r.size()] })
                } else {
                    stop!("{r:?} as a vector")
                }
            }
            OpKind::Memory => {
                let (at, bits) = (self.address(i)?, Self::width(i, operand));
                if i.is_broadcast() {
                    let element = self.memory.read(at, 8 * i.memory_size().element_size())?;
                    let times = Self::width(i, 0) / element.len();
                    return Ok(Vector { bits: element.bits.repeat(times), degrees: element.degrees.repeat(times) });
                }
                if bits == 0 || bits > WIDEST {
                    stop!("memory of {bits} bits");
                }
                self.memory.read(at, bits)
            }
            _ => stop!("no vector operand"),
        }
    }

    /// All of a vector register, zeros above.
    pub(crate) fn set_register_vector(&mut self, r: Register, vector: &Vector) {
        let (own, degrees) = (&mut self.vectors[r.number()], &mut self.degrees.vectors[r.number()]);
        own.fill(O);
        degrees.fill(0);
        own[..vector.len()].copy_from_slice(&vector.bits);
        degrees[..vector.degrees.len()].copy_from_slice(&vector.degrees);
    }

    /// VZEROUPPER.
    pub(crate) fn clear_above(&mut self) {
        self.vectors[..16].iter_mut().for_each(|vector| vector[128..].fill(O));
        self.degrees.vectors[..16].iter_mut().for_each(|degrees| degrees[16..].fill(0));
    }

    /// The rest of VZEROALL.
    pub(crate) fn clear_low(&mut self) {
        self.vectors[..16].iter_mut().for_each(|vector| vector[..128].fill(O));
        self.degrees.vectors[..16].iter_mut().for_each(|degrees| degrees[..16].fill(0));
    }

    pub fn mask(&self, r: Register) -> Result<u64> {
        self.masks[r.number()].ok_or_else(|| "a mask that is not a number".into())
    }

    /// The mask of this instruction: all ones if it has none.
    pub fn own_mask(&self, i: &Instruction) -> Result<u64> {
        if i.op_mask() == Register::None { Ok(u64::MAX) } else { self.mask(i.op_mask()) }
    }

    /// Writes a vector where the first operand says, by elements of that many bits where there is a mask.
    pub fn set_vector(&mut self, i: &Instruction, mut result: Vector, element: usize) -> Result<()> {
        let mask = self.own_mask(i)?;
        let width = Self::width(i, 0);
        result.resize(width);
        let worst = result.degree(0..width);
        self.degrees.worst = self.degrees.worst.max(worst);
        if worst > MANY {
            self.unknown.lower(&mut result);
        }
        match i.op_kind(0) {
            OpKind::Register if i.op_register(0).is_vector_register() => {
                let own = &mut self.vectors[i.op_register(0).number()];
                let degrees = &mut self.degrees.vectors[i.op_register(0).number()];
                if i.op_mask() != Register::None {
                    for (_, range) in elements(width, element).enumerate().filter(|(j, _)| mask >> j & 1 == 0) {
                        let bytes = range.start / 8..range.end / 8;
                        if i.zeroing_masking() {
                            result.bits[range].fill(O);
                        } else {
                            result.bits[range.clone()].copy_from_slice(&own[range]);
                            result.degrees[bytes.clone()].copy_from_slice(&degrees[bytes]);
                        }
                    }
                }
                own[..width].copy_from_slice(&result.bits);
                degrees[..width / 8].copy_from_slice(&result.degrees);
                if is_extended(i) {
                    own[width..].fill(O);
                    degrees[width / 8..].fill(0);
                }
                Ok(())
            }
            OpKind::Memory => {
                let at = self.address(i)?;
                if i.op_mask() == Register::None {
                    return self.memory.write(at, &result.bits, &result.degrees);
                }
                for (_, range) in elements(width, element).enumerate().filter(|(j, _)| mask >> j & 1 == 1) {
                    let part = result.part(range.clone());
                    self.memory.write(at + range.start as u64 / 8, &part.bits, &part.degrees)?;
                }
                Ok(())
            }
            _ => stop!("a destination that is not known"),
        }
    }

    // Decisions

    fn is_zero(&mut self) -> Result<bool> {
        match &self.flags.zero {
            Zero::Is(zero) => Ok(*zero),
            Zero::IfNone(bits) => {
                let what = none(bits);
                self.degrees.decided = self.degrees.decided.max(u64::from(self.degrees.flags) * bits.len() as u64);
                if let Some(&assumed) = self.ways.as_ref().and_then(|ways| ways.assumed(&what)) {
                    return Ok(assumed);
                }
                if let Some(&outcome) = self.verdicts.get(&what.inverted()) {
                    let what = what.inverted();
                    if !self.asked.contains(&what) {
                        self.asked.push(what);
                    }
                    return Ok(!outcome);
                }
                let Some(&outcome) = self.verdicts.get(&what) else { secret!("{} symbols decide", bits.len()) };
                if !self.asked.contains(&what) {
                    self.asked.push(what);
                }
                Ok(outcome)
            }
            Zero::Undefined => secret!("a flag decides that is not known"),
        }
    }

    pub fn condition(&mut self, condition: ConditionCode) -> Result<bool> {
        let outcome = self.decided(condition);
        let mut way = || self.unknown.lines.as_mut().and_then(Lines::way);
        match outcome.or_else(|why| way().ok_or(why)) {
            Err(Stop::Secret(why)) if self.ways.is_some() => self.follow(condition, &why),
            outcome => outcome,
        }
    }

    /// Where the sign says whether tags are equal.
    fn verdict_of_sign(&mut self) -> Option<bool> {
        let (behind, sign) = self.sign?;
        if self.behind(self.compares)? != behind {
            return None;
        }
        let (what, is_equal) = [(sign, true), (sign.inverted(), false)].into_iter().find(|(what, _)| self.verdicts.contains_key(what))?;
        self.degrees.decided = self.degrees.decided.max(u64::from(self.degrees.flags));
        if !self.asked.contains(&what) {
            self.asked.push(what);
        }
        Some(self.verdicts[&what] == is_equal)
    }

    pub(crate) fn decided(&mut self, condition: ConditionCode) -> Result<bool> {
        use ConditionCode as C;
        let known = |flag: Option<bool>| flag.ok_or_else(|| Stop::Secret("a flag decides that is not known".into()));
        let Flags { carry, overflow, sign, parity, .. } = self.flags;
        let carry = carry.and_then(Bit::number);
        let outcome = match condition {
            C::o => known(overflow)?,
            C::no => !known(overflow)?,
            C::b => known(carry)?,
            C::ae => !known(carry)?,
            C::e => self.is_zero()?,
            C::ne => !self.is_zero()?,
            C::be => known(carry)? | self.is_zero()?,
            C::a => !(known(carry)? | self.is_zero()?),
            C::s => sign.or_else(|| self.verdict_of_sign()).map_or_else(|| known(None), Ok)?,
            C::ns => !sign.or_else(|| self.verdict_of_sign()).map_or_else(|| known(None), Ok)?,
            C::p => known(parity)?,
            C::np => !known(parity)?,
            C::l => known(sign)? != known(overflow)?,
            C::ge => known(sign)? == known(overflow)?,
            C::le => self.is_zero()? | (known(sign)? != known(overflow)?),
            C::g => !(self.is_zero()? | (known(sign)? != known(overflow)?)),
            C::None => stop!("no condition"),
        };
        if let Some(decisions) = &mut self.decisions {
            decisions.push((self.rip, condition, self.compared, outcome));
        }
        Ok(outcome)
    }
}

/// AH and its like.
fn is_second(r: Register) -> bool {
    matches!(r, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// In VEX or EVEX encoding, which clears what is above the result.
pub fn is_extended(i: &Instruction) -> bool {
    i.encoding() != iced_x86::EncodingKind::Legacy
}

/// Memory operands of 16 bytes must be aligned in the old encoding.
pub fn wants_alignment(i: &Instruction) -> bool {
    use Mnemonic::{Lddqu, Movdqu, Movupd, Movups};
    !is_extended(i) && i.memory_size().size() == 16 && !matches!(i.mnemonic(), Movdqu | Movups | Movupd | Lddqu)
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Machine at {} after {} steps", self.image.place(self.rip), self.steps)
    }
}
