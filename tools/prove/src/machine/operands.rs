//! Operands of x86-64: registers, memory, vectors and masks.

use super::{
    Machine, Result, WIDEST,
    Word::{self, Bits, Number},
    secret, stop,
};
use crate::{
    values::field::{O, Vector, elements},
    values::unknown::MANY,
};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

impl Machine<'_> {
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

    /// Returns the bits of an operand.
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

    /// Reads a general operand.
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
            _ => Number(i.try_immediate(operand).map_err(|_| "an operand of another kind")?),
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

    /// Reads a vector operand in its own width, or for a broadcast in the result's.
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

    /// Sets a vector register, with zeros above.
    pub(crate) fn set_register_vector(&mut self, r: Register, vector: &Vector) {
        let (own, degrees) = (&mut self.vectors[r.number()], &mut self.degrees.vectors[r.number()]);
        own.fill(O);
        degrees.fill(0);
        own[..vector.len()].copy_from_slice(&vector.bits);
        degrees[..vector.degrees.len()].copy_from_slice(&vector.degrees);
    }

    /// Clears the upper halves (VZEROUPPER).
    pub(crate) fn clear_above(&mut self) {
        self.vectors[..16].iter_mut().for_each(|vector| vector[128..].fill(O));
        self.degrees.vectors[..16].iter_mut().for_each(|degrees| degrees[16..].fill(0));
    }

    /// Clears the lower halves (the rest of VZEROALL).
    pub(crate) fn clear_low(&mut self) {
        self.vectors[..16].iter_mut().for_each(|vector| vector[..128].fill(O));
        self.degrees.vectors[..16].iter_mut().for_each(|degrees| degrees[..16].fill(0));
    }

    pub fn mask(&self, r: Register) -> Result<u64> {
        self.masks[r.number()].ok_or_else(|| "a mask that is not a number".into())
    }

    /// Returns the mask of an instruction: all ones if it has none.
    pub fn own_mask(&self, i: &Instruction) -> Result<u64> {
        if i.op_mask() == Register::None { Ok(u64::MAX) } else { self.mask(i.op_mask()) }
    }

    /// Writes a vector to the first operand, by elements of this many bits if there is a mask.
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
}

/// Returns true for AH, BH, CH and DH.
fn is_second(r: Register) -> bool {
    matches!(r, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// Returns true for VEX or EVEX encoding, which clears the bits above the result.
pub fn is_extended(i: &Instruction) -> bool {
    i.encoding() != iced_x86::EncodingKind::Legacy
}

/// Returns true if a memory operand of 16 bytes must be aligned, as in the legacy encoding.
pub fn wants_alignment(i: &Instruction) -> bool {
    use Mnemonic::{Lddqu, Movdqu, Movupd, Movups};
    !is_extended(i) && i.memory_size().size() == 16 && !matches!(i.mnemonic(), Movdqu | Movups | Movupd | Lddqu)
}
