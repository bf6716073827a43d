//! Bounds of the degrees of polynomials.

use super::WIDEST;
use iced_x86::{Instruction, Register, RflagsBits};

/// Bounds of the degrees of polynomials in each register, and of those that the current instruction has read.
#[derive(Clone, Debug)]
pub struct Degrees {
    pub(crate) general: [u32; 32],
    pub(crate) vectors: Box<[[u32; WIDEST / 8]; 32]>,
    /// The bounds of the bits that determine the flags, and of the carry itself.
    flags: u32,
    carry: u32,
    /// The bound of the current instruction's carry, if it is a product.
    own_carry: u32,
    /// The largest degree read from general registers, and the sum of all.
    greatest: u32,
    sum: u32,
    /// True if the result is a product of the operands.
    pub(crate) multiplies: bool,
    /// The largest degree of all, of an argument of a shared function, and of a condition.
    pub worst: u32,
    pub argument: u32,
    pub decided: u64,
    /// The sum over instructions of the squared largest degree so far.
    pub looked_at: f64,
}

impl Degrees {
    pub(super) fn new() -> Self {
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
            looked_at: 0.0,
            decided: 0,
        }
    }

    /// Begins a new instruction.
    pub(crate) fn forget(&mut self) {
        (self.greatest, self.sum, self.multiplies, self.own_carry) = (0, 0, false, 0);
    }

    pub(crate) fn read(&mut self, degree: u32) {
        self.greatest = self.greatest.max(degree);
        self.sum = self.sum.saturating_add(degree);
    }

    /// Returns the bound of the result of the operands read so far.
    pub(crate) fn of_result(&self) -> u32 {
        self.greatest
    }

    /// Sets the bound of all flags to that of the operands.
    pub(crate) fn all_flagged(&mut self) {
        self.flags = self.result();
        self.carry = self.flags.max(self.own_carry);
        self.worst = self.worst.max(self.carry);
    }

    /// Returns the bounds of the flags and of the carry.
    pub(crate) fn flags(&self) -> [u32; 2] {
        [self.flags, self.carry]
    }

    pub(crate) fn set_flags(&mut self, flags: [u32; 2]) {
        [self.flags, self.carry] = flags;
    }

    /// Returns the bound of the flags.
    pub(crate) fn of_flags(&self) -> u32 {
        self.flags
    }

    pub(crate) fn of_carry(&self) -> u32 {
        self.carry
    }

    /// Sets the carry's bound: it says whether any of `n` bits is one.
    pub(crate) fn carry_of_all(&mut self, n: usize) {
        self.own_carry = self.greatest.saturating_mul(n as u32);
    }

    /// Updates the bounds of the flags. Unchanged flags keep their degree, and so do all after a shift by a register, whose count may be 0.
    pub(super) fn flagged(&mut self, i: &Instruction) {
        let degree = self.result();
        let shifts = i.op_count() == 2 && i.op1_register() == Register::CL;
        let keeps = |flag: u32| shifts || i.rflags_modified() & flag == 0;
        self.carry = degree.max(self.own_carry).max(if keeps(RflagsBits::CF) { self.carry } else { 0 });
        self.flags = degree.max(if keeps(RflagsBits::ZF) { self.flags } else { 0 });
        self.worst = self.worst.max(self.carry);
    }

    /// Reads some general register that is no operand.
    pub(crate) fn read_any(&mut self) {
        let greatest = self.general.iter().copied().fold(0, u32::max);
        self.read(greatest);
    }

    /// Restores the bounds of registers; each may hold symbols now.
    pub(crate) fn back_to(&mut self, then: &Self) {
        (self.general, self.flags, self.carry) = (then.general, 0, 0);
        self.vectors.clone_from(&then.vectors);
        let vectors = self.vectors.as_flattened_mut().iter_mut();
        self.general.iter_mut().chain(vectors).for_each(|degree| *degree = (*degree).max(1));
    }

    /// Records that the operands are arguments of a function, whose value is a new symbol.
    pub(crate) fn note_argument(&mut self) {
        self.argument = self.argument.max(self.greatest);
        (self.greatest, self.sum) = (1, 1);
    }

    /// Returns the bound of the result.
    pub(crate) fn result(&mut self) -> u32 {
        let degree = if self.multiplies { self.sum } else { self.greatest };
        self.worst = self.worst.max(degree);
        degree
    }
}
