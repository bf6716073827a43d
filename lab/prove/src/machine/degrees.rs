//! Bounds of degrees of polynomials.

use super::WIDEST;
use iced_x86::{Instruction, Register, RflagsBits};

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
    /// Of each instruction the square of the greatest by then.
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
    pub(super) fn flagged(&mut self, i: &Instruction) {
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
