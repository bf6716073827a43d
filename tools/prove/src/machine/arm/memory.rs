//! Semantics of loads and stores.

use super::{field, signed};
use crate::{
    machine::{
        Machine, Result,
        Word::{self, Number},
        stop,
    },
    values::field::{O, Vector},
};

/// A load or a store.
#[derive(Clone, Copy)]
struct Access {
    bytes: usize,
    is_vector: bool,
    is_load: bool,
    /// The width of the sign extension.
    signed: Option<usize>,
}

impl Machine<'_> {
    pub(super) fn access(&mut self, i: u32, at: u64) -> Result<()> {
        let is_vector = field(i, 26, 1) == 1;
        match field(i, 27, 3) {
            0b101 => self.pair(i, is_vector),
            0b111 => self.single(i, is_vector),
            // A literal near the instruction.
            0b011 if field(i, 24, 2) == 0 => {
                let (bytes, signed_to) = match (is_vector, field(i, 30, 2)) {
                    (true, size @ 0..3) => (4 << size, None),
                    (false, size @ 0..2) => (4 << size, None),
                    (false, 2) => (4, Some(64)),
                    _ => stop!("no semantics"),
                };
                let access = Access { bytes, is_vector, is_load: true, signed: signed_to };
                self.moves(access, field(i, 0, 5), at.wrapping_add(signed(i, 5, 19).wrapping_mul(4)))
            }
            0b001 if is_vector && field(i, 31, 1) == 0 => self.structure(i),
            // LDAR, STLR: their order between threads does not matter to one thread.
            0b001 if i & 0x3fbf_fc00 == 0x089f_fc00 => {
                let access = Access { bytes: 1 << field(i, 30, 2), is_vector, is_load: field(i, 22, 1) == 1, signed: None };
                let at = self.base(field(i, 5, 5))?.place()?;
                self.degrees.forget();
                self.moves(access, field(i, 0, 5), at)
            }
            _ => stop!("no semantics"),
        }
    }

    /// Moves one register from or to memory.
    fn moves(&mut self, access: Access, number: u32, at: u64) -> Result<()> {
        let Access { bytes, is_vector, is_load, signed } = access;
        match (is_vector, is_load) {
            (true, true) => {
                let vector = self.memory.read(at, 8 * bytes)?;
                self.set_v(number, vector);
            }
            (true, false) => {
                let part = self.v(number).part(0..8 * bytes);
                self.memory.write(at, &part.bits, &part.degrees)?;
            }
            (false, true) => {
                let mut word = self.load(at, bytes)?;
                if let Some(to) = signed {
                    let bits = word.bits();
                    word = Word::of(std::array::from_fn(|j| bits[j.min(8 * bytes - 1)])).keep(to);
                }
                self.set_x(number, &word, 64);
            }
            (false, false) => {
                let word = self.x(number, 8 * bytes);
                self.store(at, bytes, &word)?;
            }
        }
        Ok(())
    }

    /// Returns the address in a register. The stack pointer must be aligned.
    fn base(&mut self, number: u32) -> Result<Word> {
        let word = self.x_or_stack(number, 64);
        if number == 31 && !word.place()?.is_multiple_of(16) {
            stop!("the stack is not aligned");
        }
        Ok(word)
    }

    fn moved(&mut self, word: &Word, by: &Word) -> Result<Word> {
        match (word, by) {
            (Number(at), Number(by)) => Ok(Number(at.wrapping_add(*by))),
            _ => self.without_flags(|machine| machine.sum(word, by, O, 64)),
        }
    }

    /// Returns an address; for a line, the one that represents it in all iterations.
    fn place(&mut self, word: &Word) -> Result<u64> {
        self.without_flags(|machine| machine.place_of_word(word).map_or_else(|| word.place(), Ok))
    }

    /// Writes an address back to its register.
    fn keep(&mut self, number: u32, at: &Word) {
        self.degrees.forget();
        self.degrees.read(self.degrees.general[number as usize]);
        self.set_x_or_stack(number, at, 64);
    }

    fn pair(&mut self, i: u32, is_vector: bool) -> Result<()> {
        let (base, is_load) = (field(i, 5, 5), field(i, 22, 1) == 1);
        let (bytes, signed_to) = match (is_vector, field(i, 30, 2)) {
            (true, size @ 0..3) => (4usize << size, None),
            (false, 0) => (4, None),
            (false, 2) => (8, None),
            (false, 1) if is_load => (4, Some(64)),
            _ => stop!("no semantics"),
        };
        let start = self.base(base)?;
        let moved = self.moved(&start, &Number(signed(i, 15, 7).wrapping_mul(bytes as u64)))?;
        let kind = field(i, 23, 2);
        let first = if kind == 1 { start } else { moved.clone() };
        let second = self.moved(&first, &Number(bytes as u64))?;
        let access = Access { bytes, is_vector, is_load, signed: signed_to };
        let registers = [field(i, 0, 5), field(i, 10, 5)];
        if kind & 1 == 1 && !is_vector && registers.contains(&base) && base != 31 {
            stop!("an address is moved by what it is loaded with");
        }
        for (register, at) in registers.into_iter().zip([self.place(&first)?, self.place(&second)?]) {
            self.degrees.forget();
            self.moves(access, register, at)?;
        }
        if kind & 1 == 1 {
            self.keep(base, &moved);
        }
        Ok(())
    }

    fn single(&mut self, i: u32, is_vector: bool) -> Result<()> {
        let (size, opcode, base, register) = (field(i, 30, 2), field(i, 22, 2), field(i, 5, 5), field(i, 0, 5));
        let access = match (is_vector, opcode) {
            (true, 0 | 1) => Access { bytes: 1 << size, is_vector, is_load: opcode == 1, signed: None },
            (true, _) if size == 0 => Access { bytes: 16, is_vector, is_load: opcode == 3, signed: None },
            (false, 0 | 1) => Access { bytes: 1 << size, is_vector, is_load: opcode == 1, signed: None },
            (false, 2) if size < 3 => Access { bytes: 1 << size, is_vector, is_load: true, signed: Some(64) },
            (false, 3) if size < 2 => Access { bytes: 1 << size, is_vector, is_load: true, signed: Some(32) },
            _ => stop!("no semantics"),
        };
        let start = self.base(base)?;
        let near = self.moved(&start, &Number(signed(i, 12, 9)))?;
        let (at, keeps) = match (field(i, 24, 2), field(i, 21, 1), field(i, 10, 2)) {
            (1, ..) => (self.moved(&start, &Number(u64::from(field(i, 10, 12)) * access.bytes as u64))?, None),
            (0, 0, 0) => (near, None),
            (0, 0, 1) => (start, Some(near)),
            (0, 0, 3) => (near.clone(), Some(near)),
            (0, 1, 2) if field(i, 14, 1) == 1 => {
                let up = if field(i, 12, 1) == 1 { access.bytes.trailing_zeros() } else { 0 };
                let index = self.extended(i, field(i, 16, 5), up as usize)?;
                (self.moved(&start, &index)?, None)
            }
            _ => stop!("no semantics"),
        };
        if keeps.is_some() && !is_vector && base == register && base != 31 {
            stop!("an address is moved by what it is loaded with");
        }
        let at = self.place(&at)?;
        self.degrees.forget();
        self.moves(access, register, at)?;
        if let Some(at) = keeps {
            self.keep(base, &at);
        }
        Ok(())
    }

    /// Executes LD1 and ST1 (consecutive vectors) and LD1R (one element in all).
    fn structure(&mut self, i: u32) -> Result<()> {
        if field(i, 24, 6) == 0b00_1100 && field(i, 21, 1) == 0 {
            let count = match field(i, 12, 4) {
                0b0111 => 1,
                0b1010 => 2,
                0b0110 => 3,
                0b0010 => 4,
                _ => stop!("no semantics"),
            };
            let (bytes, base, by) = (8u64 << field(i, 30, 1), field(i, 5, 5), field(i, 16, 5));
            let start = self.base(base)?;
            let moved = match (field(i, 23, 1), by) {
                (1, 31) => Some(self.moved(&start, &Number(count * bytes))?),
                (1, by) => {
                    let by = self.x(by, 64);
                    Some(self.moved(&start, &by)?)
                }
                _ => None,
            };
            let access = Access { bytes: bytes as usize, is_vector: true, is_load: field(i, 22, 1) == 1, signed: None };
            for n in 0..count {
                let at = self.moved(&start, &Number(n * bytes))?;
                let at = self.place(&at)?;
                self.moves(access, (field(i, 0, 5) + n as u32) % 32, at)?;
            }
            if let Some(at) = moved {
                self.keep(base, &at);
            }
            return Ok(());
        }
        if i & 0xbfff_f000 != 0x0d40_c000 {
            stop!("no semantics");
        }
        let (bits, at) = (8 << field(i, 10, 2), self.base(field(i, 5, 5))?);
        let at = self.place(&at)?;
        let element = self.memory.read(at, bits)?;
        let times = (64 << field(i, 30, 1)) / bits;
        let all = Vector { bits: element.bits.repeat(times), degrees: element.degrees.repeat(times) };
        self.set_v(field(i, 0, 5), all);
        Ok(())
    }
}
