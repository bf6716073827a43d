//! Semantics of instructions on general registers, and of branches.

use super::{condition, field, signed};
use crate::{
    machine::general::{bitwise, mask, shifted},
    machine::{
        Flags, Machine, Result,
        Word::{self, Number},
        Zero, stop,
    },
    process::qemu::THREAD,
    values::field::{Bit, O},
};
use iced_x86::Mnemonic;

/// The instruction that reads the size of the block of zeros (`mrs x0, dczid_el0`), and the instruction that zeroes it (`dc zva, x0`). The block has this
/// many words, as on all of Arm's own cores.
pub(crate) const DCZID: u32 = 0xd53b_00e0;
pub(crate) const ZERO_BLOCK: u32 = 0xd50b_7420;
const ZEROED: u32 = 16;

/// Returns the bits of the general registers of an instruction.
fn width(i: u32) -> usize {
    if i >> 31 == 1 { 64 } else { 32 }
}

/// Decodes `N`, `immr` and `imms` of a logical instruction: rotated ones in each element of a power of two of bits.
fn pattern(i: u32, bits: usize) -> Result<u64> {
    let (turn, ones, wide) = (field(i, 16, 6), field(i, 10, 6), field(i, 22, 1));
    let size = (wide << 6 | !ones & 0x3f).checked_ilog2().filter(|&log| log > 0 && 1 << log <= bits);
    let Some(size) = size.map(|log| 1 << log) else { stop!("no instruction") };
    let (turn, ones) = (turn & (size - 1), ones & (size - 1));
    if ones == size - 1 {
        stop!("no instruction");
    }
    let element = mask(ones as usize + 1);
    let turned = if turn == 0 { element } else { (element >> turn | element << (size - turn)) & mask(size as usize) };
    Ok((0..bits as u32 / size).fold(0, |all, j| all | turned << (j * size)))
}

fn inverted(a: &Word, n: usize) -> Word {
    bitwise(a, &Number(u64::MAX), n, |a, b| a ^ b)
}

impl Machine<'_> {
    pub(super) fn with_immediate(&mut self, i: u32, at: u64) -> Result<()> {
        let (n, to, from) = (width(i), field(i, 0, 5), field(i, 5, 5));
        let opcode = field(i, 29, 2);
        match field(i, 23, 6) {
            0b10_0000 | 0b10_0001 => {
                let by = signed(field(i, 5, 19) << 2 | opcode, 0, 21);
                let place = if n == 64 { (at & !0xfff).wrapping_add(by << 12) } else { at.wrapping_add(by) };
                self.set_x(to, &Number(place), 64);
            }
            0b10_0010 => {
                let a = self.x_or_stack(from, n);
                let b = Number(u64::from(field(i, 10, 12)) << (12 * field(i, 22, 1)));
                self.sum_or_difference(i, to, &a, &b, true)?;
            }
            0b10_0100 => {
                let (a, b) = (self.x(from, n), Number(pattern(i, n)?));
                let result = self.logical(opcode, &a, &b, n)?;
                if opcode == 3 { self.set_x(to, &result, n) } else { self.set_x_or_stack(to, &result, n) }
            }
            0b10_0101 => {
                let shift = 16 * field(i, 21, 2);
                if shift >= n as u32 {
                    stop!("no instruction");
                }
                let number = u64::from(field(i, 5, 16)) << shift;
                let result = match opcode {
                    0 => Number(!number).keep(n),
                    2 => Number(number),
                    3 => {
                        let mut bits = self.x(to, n).bits();
                        (0..16).for_each(|j| bits[shift as usize + j] = Bit::from(field(i, 5, 16) >> j & 1 == 1));
                        Word::of(bits)
                    }
                    _ => stop!("no instruction"),
                };
                self.set_x(to, &result, n);
            }
            0b10_0110 => {
                let (turn, last) = (field(i, 16, 6) as usize, field(i, 10, 6) as usize);
                if field(i, 22, 1) != field(i, 31, 1) || turn.max(last) >= n {
                    stop!("no instruction");
                }
                let a = self.x(from, n).bits();
                let (first, count, place) = if last >= turn { (turn, last - turn + 1, 0) } else { (0, last + 1, n - turn) };
                let around = if opcode == 1 { self.x(to, n).bits() } else { [O; 64] };
                let sign = a[last];
                let result = std::array::from_fn(|j| match j {
                    j if j >= n => O,
                    j if (place..place + count).contains(&j) => a[first + j - place],
                    j if j >= place + count && opcode == 0 => sign,
                    j => around[j],
                });
                if opcode == 3 {
                    stop!("no instruction");
                }
                self.set_x(to, &Word::of(result), n);
            }
            0b10_0111 if i & 0x7fe0_0000 == 0x1380_0000 | (i >> 31) << 22 => {
                let by = field(i, 10, 6) as usize;
                if by >= n {
                    stop!("no instruction");
                }
                let both = [&self.x(field(i, 16, 5), n).bits()[..n], &self.x(from, n).bits()[..n]].concat();
                self.set_x(to, &Word::low(&both[by..by + n]), n);
            }
            _ => stop!("no semantics"),
        }
        Ok(())
    }

    pub(super) fn branch(&mut self, i: u32, at: u64) -> Result<()> {
        let by = |first, bits| at.wrapping_add(signed(i, first, bits).wrapping_mul(4));
        if i & 0x7c00_0000 == 0x1400_0000 {
            if i >> 31 == 1 {
                self.set_x(30, &Number(at + 4), 64);
            }
            self.rip = by(0, 26);
        } else if i & 0xff00_0010 == 0x5400_0000 {
            if self.holds(field(i, 0, 4))? {
                self.rip = by(5, 19);
            }
        } else if i & 0x7e00_0000 == 0x3400_0000 {
            let word = self.x(field(i, 0, 5), width(i));
            if self.is_none(&word, width(i))? == (field(i, 24, 1) == 0) {
                self.rip = by(5, 19);
            }
        } else if i & 0x7e00_0000 == 0x3600_0000 {
            let bit = self.x(field(i, 0, 5), 64).bits()[(field(i, 31, 1) << 5 | field(i, 19, 5)) as usize];
            if self.is_none(&Word::low(&[bit]), 32)? == (field(i, 24, 1) == 0) {
                self.rip = by(5, 14);
            }
        } else if i & 0xff9f_fc1f == 0xd61f_0000 && field(i, 21, 2) != 3 {
            let to = self.x(field(i, 5, 5), 64).place()?;
            if field(i, 21, 2) == 1 {
                self.set_x(30, &Number(at + 4), 64);
            }
            self.rip = to;
        } else if i & 0xffff_ffe0 == DCZID {
            self.set_x(field(i, 0, 5), &Number(ZEROED.trailing_zeros().into()).keep(64), 64);
        } else if i & 0xffff_ffe0 == THREAD {
            self.set_x(field(i, 0, 5), &Number(self.fs), 64);
        } else if i & 0xffff_ffe0 == ZERO_BLOCK {
            let bytes = 4 * u64::from(ZEROED);
            let start = self.x(field(i, 0, 5), 64).place()? & !(bytes - 1);
            self.memory.write(start, &vec![O; 8 * bytes as usize], &vec![0; bytes as usize])?;
        } else if i != 0xd503_201f {
            stop!("no semantics");
        }
        Ok(())
    }

    pub(super) fn with_registers(&mut self, i: u32) -> Result<()> {
        let (n, to, first, second) = (width(i), field(i, 0, 5), field(i, 5, 5), field(i, 16, 5));
        let opcode = field(i, 29, 2);
        match field(i, 21, 8) {
            0b0101_0000..=0b0101_0111 => {
                let (a, mut b) = (self.x(first, n), self.shifted_register(i)?);
                if field(i, 21, 1) == 1 {
                    b = inverted(&b, n);
                }
                let result = self.logical(opcode, &a, &b, n)?;
                self.set_x(to, &result, n);
            }
            0b0101_1000 | 0b0101_1010 | 0b0101_1100 => {
                let of_itself = first == second && field(i, 10, 6) == 0 && opcode & 2 != 0;
                let (a, b) = if of_itself { (Number(0), Number(0)) } else { (self.x(first, n), self.shifted_register(i)?) };
                self.sum_or_difference(i, to, &a, &b, false)?;
            }
            0b0101_1001 if field(i, 22, 2) == 0 => {
                let (a, b) = (self.x_or_stack(first, n), self.extended(i, second, field(i, 10, 3) as usize)?);
                self.sum_or_difference(i, to, &a, &b, true)?;
            }
            // A comparison if the condition holds, otherwise given flags.
            0b1101_0010 if i & 0x2000_0410 == 0x2000_0000 => {
                let a = self.x(first, n);
                let b = if field(i, 11, 1) == 1 { Number(second.into()) } else { self.x(second, n) };
                if field(i, 12, 4) == 0
                    && field(i, 2, 1) == 0
                    && let Zero::IfNone(bits) = &self.flags.zero
                {
                    // Equal before, and equal here.
                    let (bits, degree) = (bits.clone(), self.degrees.of_flags());
                    self.degrees.read(degree);
                    self.sum_or_difference(i, 31, &a, &b, false)?;
                    let zero = match std::mem::replace(&mut self.flags.zero, Zero::Undefined) {
                        Zero::IfNone(more) => Zero::IfNone([bits, more].concat()),
                        Zero::Is(true) => Zero::IfNone(bits),
                        not => not,
                    };
                    self.flags = Flags { zero, ..Flags::UNDEFINED };
                    return Ok(());
                }
                if condition(field(i, 12, 4)).map_or(Ok(true), |condition| self.decided(condition))? {
                    self.sum_or_difference(i, 31, &a, &b, false)?;
                } else {
                    self.with_flags(|machine| {
                        let flag = |bit| field(i, bit, 1) == 1;
                        let (overflow, sign) = (Some(flag(0)), Some(flag(3)));
                        machine.flags = Flags { carry: Some((!flag(1)).into()), overflow, sign, parity: None, zero: Zero::Is(flag(2)) };
                        Ok(())
                    })?;
                }
            }
            // A selection, whose second operand may be incremented, inverted or negated.
            0b1101_0100 if field(i, 29, 1) == 0 && field(i, 11, 1) == 0 => {
                let (a, mut b) = (self.x(first, n), self.x(second, n));
                match (opcode, field(i, 10, 1)) {
                    (0, 0) => {}
                    (0, _) => b = self.without_flags(|machine| machine.sum(&b, &Number(1), O, n))?,
                    (_, 0) => b = inverted(&b, n),
                    _ => b = self.without_flags(|machine| machine.difference(&Number(0), &b, O, n))?,
                }
                let chosen = match condition(field(i, 12, 4)) {
                    Some(condition) => self.chosen(condition, &b, &a)?,
                    None => a,
                };
                self.set_x(to, &chosen, n);
            }
            0b1101_0110 if opcode == 0 => {
                let (a, b) = (self.x(first, n), self.x(second, n).number()?);
                let by = b as usize % n;
                let result = match field(i, 10, 6) {
                    0b10 => Number(a.number()?.checked_div(b).unwrap_or(0)),
                    0b1000 => shifted(Mnemonic::Shl, &a, by, n),
                    0b1001 => shifted(Mnemonic::Shr, &a, by, n),
                    _ => stop!("no semantics"),
                };
                self.set_x(to, &result, n);
            }
            0b1101_0110 if opcode == 2 && second == 0 => {
                let a = self.x(first, n);
                let result = match field(i, 10, 6) {
                    // A byte-swapped register.
                    code @ (0b10 | 0b11) if (code == 0b11) == (n == 64) => {
                        let bits = a.bits();
                        Word::low(&std::array::from_fn::<_, 64, _>(|j| bits[(n - 8 - j / 8 * 8 + j % 8) % 64])[..n])
                    }
                    0b100 => Number(u64::from(a.number()?.leading_zeros()) - (64 - n as u64)),
                    _ => stop!("no semantics"),
                };
                self.set_x(to, &result, n);
            }
            // A product of numbers, and a sum.
            0b1101_1000 | 0b1101_1101 if opcode == 0 && field(i, 15, 1) == 0 && (n == 64 || field(i, 21, 3) == 0) => {
                let bits = if field(i, 21, 3) == 0 { n } else { 32 };
                let (a, b) = (self.x(first, bits).number()?, self.x(second, bits).number()?);
                let more = self.x(field(i, 10, 5), n).number()?;
                self.set_x(to, &Number(a.wrapping_mul(b).wrapping_add(more)), n);
            }
            _ => stop!("no semantics"),
        }
        Ok(())
    }

    /// Computes AND, OR, XOR, and AND with flags.
    fn logical(&mut self, opcode: u32, a: &Word, b: &Word, n: usize) -> Result<Word> {
        let result = match (opcode, a, b) {
            (0 | 3, Number(a), Number(b)) if !self.lifted_only => Number(a & b),
            (1, Number(a), Number(b)) if !self.lifted_only => Number(a | b),
            (2, Number(a), Number(b)) if !self.lifted_only => Number(a ^ b),
            (1, ..) => bitwise(a, b, n, Bit::or),
            (2, ..) => bitwise(a, b, n, |a, b| a ^ b),
            _ => bitwise(a, b, n, Bit::and),
        };
        if opcode != 2 && (a.bits().iter().zip(b.bits()).take(n)).any(|(a, b)| a.multiplies(b)) {
            self.degrees.multiplies = true;
        }
        if opcode == 3 {
            self.with_flags(|machine| {
                machine.flags_of(&result, n);
                Ok(())
            })?;
        }
        Ok(result)
    }

    /// Computes ADD and SUB, with or without flags. `may_be_stack`: the result may go to the stack pointer.
    fn sum_or_difference(&mut self, i: u32, to: u32, a: &Word, b: &Word, may_be_stack: bool) -> Result<()> {
        let (n, subtracts, sets) = (width(i), field(i, 30, 1) == 1, field(i, 29, 1) == 1);
        let does = |machine: &mut Self| {
            if subtracts {
                return machine.difference(a, b, O, n);
            }
            let sum = machine.sum(a, b, O, n)?;
            machine.flags.carry = machine.flags.carry.map(Bit::inverted);
            Ok(sum)
        };
        match (sets, to) {
            (true, 31) if subtracts => self.with_flags(|machine| machine.compare(a, b, n)),
            (true, _) => {
                let result = self.with_flags(does)?;
                self.set_x(to, &result, n);
                Ok(())
            }
            _ => {
                let result = self.without_flags(does)?;
                if may_be_stack {
                    self.set_x_or_stack(to, &result, n)
                } else {
                    self.set_x(to, &result, n)
                }
                Ok(())
            }
        }
    }

    /// Returns the shifted second source.
    fn shifted_register(&mut self, i: u32) -> Result<Word> {
        let (n, by) = (width(i), field(i, 10, 6) as usize);
        if by >= n {
            stop!("no instruction");
        }
        let how = [Mnemonic::Shl, Mnemonic::Shr, Mnemonic::Sar, Mnemonic::Ror][field(i, 22, 2) as usize];
        let word = self.x(field(i, 16, 5), n);
        Ok(if by == 0 { word } else { shifted(how, &word, by, n) })
    }

    /// Returns a register as an index: its lowest bits, extended with zeros or the sign, and shifted up.
    pub(super) fn extended(&mut self, i: u32, number: u32, up: usize) -> Result<Word> {
        let (kept, has_sign) = (8 << field(i, 13, 2), field(i, 15, 1) == 1);
        if up > 4 {
            stop!("no instruction");
        }
        let word = self.x(number, kept);
        if let Number(_) = word
            && !has_sign
        {
            return Ok(shifted(Mnemonic::Shl, &word, up, 64));
        }
        let bits = word.bits();
        let all = std::array::from_fn(|j| {
            if j < kept {
                bits[j]
            } else if has_sign {
                bits[kept - 1]
            } else {
                O
            }
        });
        Ok(shifted(Mnemonic::Shl, &Word::of(all), up, 64))
    }
}
