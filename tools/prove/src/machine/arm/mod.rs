//! AArch64 on the machine of `machine`: its registers, and the groups of its instructions.
//!
//! An instruction is one word with fixed fields, so a table of groups (Arm's *Architecture Reference Manual*, C4.1) replaces a decoder.
//! The carry of a difference is stored as on x86-64, as a borrow: AArch64's C is always the opposite of `flags.carry`.

pub(crate) mod general;
mod memory;
mod vector;

pub use crate::process::qemu::{LINK, STACK};
use crate::{
    machine::{Flags, Machine, Result, Stop, Word, stop},
    process::image::Isa,
    values::field::{Bit, Vector},
    values::unknown::MANY,
};
use iced_x86::ConditionCode;

/// The bits of a vector.
pub(crate) const WIDTH: usize = 128;

/// Returns a field of an instruction.
pub(crate) fn field(i: u32, first: u32, bits: u32) -> u32 {
    i >> first & ((1 << bits) - 1)
}

/// Returns a signed field of an instruction.
fn signed(i: u32, first: u32, bits: u32) -> u64 {
    i64::from((field(i, first, bits) << (32 - bits)) as i32 >> (32 - bits)) as u64
}

/// Returns true for a carry-less product of 64 bits.
pub(crate) fn is_product(i: u32) -> bool {
    i & 0xbfe0_fc00 == 0x0ee0_e000
}

/// Returns true for instructions of AES and carry-less products.
fn is_kernel(i: u32) -> bool {
    is_product(i) || i & 0xffff_cc00 == 0x4e28_4800
}

/// Returns true if an instruction may branch.
pub(crate) fn jumps(i: u32) -> bool {
    matches!(field(i, 25, 4), 0b1010 | 0b1011)
}

/// Returns the condition in x86-64's terms, where "below" is a borrow, or `None` for the two that always hold.
fn condition(code: u32) -> Option<ConditionCode> {
    use ConditionCode as C;
    [C::e, C::ne, C::ae, C::b, C::s, C::ns, C::o, C::no, C::a, C::be, C::ge, C::l, C::g, C::le].get(code as usize).copied()
}

impl Machine<'_> {
    /// Returns the instruction at an address.
    pub(crate) fn word(&self, at: u64) -> Result<u32> {
        let bytes = self
            .image
            .bytes::<4>(at)
            .filter(|_| at.is_multiple_of(4) && self.image.is_executable(at))
            .ok_or_else(|| Stop::from("no instruction"))?;
        Ok(u32::from_le_bytes(std::array::from_fn(|i| self.decoded.patches.get(&(at + i as u64)).copied().unwrap_or(bytes[i]))))
    }

    pub(crate) fn arm_step(&mut self, at: u64) -> Result<()> {
        debug_assert_eq!(self.image.isa, Isa::Arm);
        let i = self.word(at)?;
        self.executes(at, is_kernel(i));
        self.rip = at + 4;
        self.degrees.forget();
        match field(i, 25, 4) {
            0b1000 | 0b1001 => self.with_immediate(i, at),
            0b1010 | 0b1011 => self.branch(i, at),
            0b0100 | 0b0110 | 0b1100 | 0b1110 => self.access(i, at),
            0b0101 | 0b1101 => self.with_registers(i),
            0b0111 | 0b1111 => self.of_vectors(i),
            _ => stop!("no semantics"),
        }
    }

    /// Returns the values that a function preserves: x19 to x29, and the lower halves of v8 to v15.
    pub(crate) fn arm_kept(&self) -> Vec<Word> {
        let halves = self.vectors[8..16].iter().map(|vector| Word::low(&vector[..64]));
        self.general[19..30].iter().cloned().chain(halves).collect()
    }

    // Registers

    /// Returns a general register; number 31 is zero.
    fn x(&mut self, number: u32, bits: usize) -> Word {
        if number == 31 { Word::Number(0) } else { self.x_or_stack(number, bits) }
    }

    /// Returns a general register; number 31 is the stack pointer.
    fn x_or_stack(&mut self, number: u32, bits: usize) -> Word {
        self.degrees.read(self.degrees.general[number as usize]);
        self.general[number as usize].keep(bits)
    }

    /// Sets a general register, with zeros above these bits; number 31 is discarded.
    fn set_x(&mut self, number: u32, word: &Word, bits: usize) {
        if number != 31 {
            self.set_x_or_stack(number, word, bits);
        }
    }

    fn set_x_or_stack(&mut self, number: u32, word: &Word, bits: usize) {
        let degree = self.degrees.result();
        self.degrees.general[number as usize] = if let Word::Number(_) = word { 0 } else { degree };
        self.general[number as usize] = word.keep(bits);
    }

    fn v(&self, number: u32) -> Vector {
        let number = number as usize;
        Vector { bits: self.vectors[number][..WIDTH].to_vec(), degrees: self.degrees.vectors[number][..WIDTH / 8].to_vec() }
    }

    /// Sets a vector register, with zeros above the result.
    fn set_v(&mut self, number: u32, mut result: Vector) {
        result.resize(WIDTH);
        let worst = result.degree(0..WIDTH);
        self.degrees.worst = self.degrees.worst.max(worst);
        if worst > MANY {
            self.unknown.lower(&mut result);
        }
        self.vectors[number as usize][..WIDTH].copy_from_slice(&result.bits);
        self.degrees.vectors[number as usize][..WIDTH / 8].copy_from_slice(&result.degrees);
    }

    // Flags

    /// Runs a function that sets the flags.
    fn with_flags<T>(&mut self, sets: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(lines) = &mut self.unknown.lines {
            lines.is_public = false;
        }
        let result = sets(self)?;
        self.compares = self.rip - 4;
        self.degrees.all_flagged();
        Ok(result)
    }

    /// Runs a function, and restores the flags that it sets.
    fn without_flags<T>(&mut self, does: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = (self.flags.clone(), self.compares, self.degrees.flags());
        let doubt = self.doubt();
        let result = does(self)?;
        let degrees;
        (self.flags, self.compares, degrees) = before;
        self.degrees.set_flags(degrees);
        self.set_doubt(doubt);
        Ok(result)
    }

    /// Sets the flags of a result that is compared with zero.
    fn flags_of(&mut self, result: &Word, bits: usize) {
        // No borrow.
        self.flags = Flags { carry: Some(Bit::from(true)), ..Flags::of_logic(result, bits) };
        self.flags_of_line(result, bits);
        self.sign = Some((self.rip, result.bits()[bits - 1]));
    }

    /// Decides a branch by a condition.
    fn holds(&mut self, code: u32) -> Result<bool> {
        condition(code).map_or(Ok(true), |condition| self.condition(condition))
    }

    /// Decides a branch by whether these bits are zero.
    fn is_none(&mut self, word: &Word, bits: usize) -> Result<bool> {
        self.without_flags(|machine| {
            machine.with_flags(|machine| {
                machine.flags_of(word, bits);
                Ok(())
            })?;
            machine.condition(ConditionCode::e)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        machine::Decoded,
        process::image::{Image, Marker, Region},
        statement::calls::row,
    };

    /// Executes instructions on unknown registers. Returns x0 to x9 afterwards, and before.
    fn executed(code: &[u32]) -> [Vec<Word>; 2] {
        let bytes: Vec<u8> = code.iter().flat_map(|i| i.to_le_bytes()).collect();
        let region = Region { range: 0..bytes.len() as u64, writable: false, executable: true, shared: false, file: String::new(), bytes };
        let marker = Marker { arguments: [0; 6], stack: 0, at: 0, fs: 0 };
        let image = Image::new(Isa::Arm, vec![region], marker, 0..0);
        let mut decoded = Decoded::default();
        let mut machine = Machine::new(&image, &mut decoded, row(4).1, 1, 0, 0..0);
        let before = machine.general[..10].to_vec();
        machine.run_to(4 * code.len() as u64, 100).unwrap();
        [machine.general[..10].to_vec(), before]
    }

    /// Tests semantics of symbols, which qemu does not have.
    #[test]
    fn symbols() {
        // sub w0, w1, #3; add w2, w0, #3; add w3, w1, #1; sub w3, w3, #4; sub w4, w1, #4
        let [now, before] = executed(&[0x5100_0c20, 0x1100_0c02, 0x1100_0423, 0x5100_1063, 0x5100_1024]);
        assert_eq!(now[2], before[1].keep(32));
        assert_eq!(now[0], now[3]);
        assert_ne!(now[0], now[4]);
        // cmp x1, x2; ccmp x3, x4, #0, eq; cset x0, eq. Then x1, x3 and the comparisons swapped; and the second alone.
        let equal = |code: &[u32]| executed(code)[0][0].clone();
        let both = equal(&[0xeb02_003f, 0xfa44_0060, 0x9a9f_17e0]);
        assert_eq!(both, equal(&[0xeb03_009f, 0xfa41_0040, 0x9a9f_17e0]));
        assert_ne!(both, equal(&[0xeb04_007f, 0x9a9f_17e0]));
        assert_ne!(both, equal(&[0xeb02_003f, 0x9a9f_17e0]));
        // It is one where these are equal: cmp x1, x1; ccmp x3, x3, #0, eq.
        assert_eq!(equal(&[0xeb01_003f, 0xfa43_0060, 0x9a9f_17e0]), Word::Number(1));
    }
}
