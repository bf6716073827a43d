//! Semantics of vector instructions. Each has one definition for the legacy and the new encodings, and for all widths; masks are the destination's.
//!
//! `families` has the mnemonics and their operations. Most operations only move elements, in `rearranged.rs`.

use crate::{
    machine::families::family,
    machine::{Flags, Machine, Result, WIDEST, Word, Zero, is_extended, refuse, stop, wants_alignment},
    spec,
    values::field::{Bit, Block, Byte, I, Sums, Vector, elements, number},
};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

pub(crate) use crate::{
    machine::families::Family,
    machine::rearranged::{bitwise, index, moved, picked},
};
use Family::*;

/// Returns true for an instruction of this module: one with a vector or a mask among its operands.
pub(crate) fn is(i: &Instruction) -> bool {
    let is_wide = |r: Register| r.is_vector_register() || r.is_k();
    matches!(i.mnemonic(), Mnemonic::Vzeroupper | Mnemonic::Vzeroall)
        || (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && is_wide(i.op_register(op)))
}

/// Returns true for instructions of AES and carry-less products.
pub(crate) fn is_kernel(i: &Instruction) -> bool {
    matches!(family(i.mnemonic()), Some(AesRound(_) | AesKey | Multiply))
}

impl Machine<'_> {
    pub(crate) fn vector(&mut self, i: &Instruction) -> Result<()> {
        let Some(family) = family(i.mnemonic()) else { stop!("no semantics") };
        let n = Self::width(i, 0);
        let last = i.op_count() - 1;
        let by_number = i.op_kind(last) == OpKind::Immediate8;
        let immediate = if by_number { i.immediate(last) as usize & 0xff } else { 0 };
        // The first source is the destination in the legacy encoding.
        let [first, second] = if is_extended(i) { [1, 2] } else { [0, 1] };
        if (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory) {
            let size = i.memory_size().size() as u64;
            let alignment = if matches!(family, MoveAligned(_)) || wants_alignment(i) { size } else { 1 };
            let at = self.address(i)?;
            if !at.is_multiple_of(alignment) {
                refuse!("memory at {at:#x} is not aligned to {alignment} bytes, at which the processor stops");
            }
            if self.memory.endless.contains(&at) && !self.moves_by(alignment) {
                stop!("memory that is aligned in some turns only");
            }
        }
        // These have many predicates, of which two are used.
        let family = match (family, immediate) {
            (Compare(e), 0) => Equal(e),
            (Compare(e), 4) => Unequal(e),
            _ => family,
        };
        let to_general = i.op_kind(0) == OpKind::Register && i.op_register(0).is_gpr();
        let to_memory = i.op_kind(0) == OpKind::Memory;
        let (result, element) = match family {
            Move(e) | MoveAligned(e) => (self.masked_source(i, e)?, e),
            Low => {
                let is_64 = |op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_gpr64();
                let bits = if matches!(i.mnemonic(), Mnemonic::Movq | Mnemonic::Vmovq) || is_64(0) || is_64(1) { 64 } else { 32 };
                let source = self.source(i, 1)?.part(0..bits);
                if to_general || to_memory {
                    return self.set_general(i, &source);
                }
                (source, WIDEST)
            }
            Scalar(bits) if last == 1 && (to_memory || i.op_kind(1) == OpKind::Memory) => (self.source(i, 1)?.part(0..bits), WIDEST),
            Scalar(bits) => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                a.replace(0, &b.part(0..bits));
                (a, WIDEST)
            }
            Half(from) if to_memory => (self.source(i, 1)?.part(from..from + 64), WIDEST),
            Half(to) => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                a.replace(to, &b.part(0..64));
                (a, WIDEST)
            }
            LowToHigh | HighToLow => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                let (to, from) = if family == LowToHigh { (64, 0) } else { (0, 64) };
                a.replace(to, &b.part(from..from + 64));
                (a, WIDEST)
            }
            Xor(e) | And(e) | AndNot(e) | Or(e) => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let f = match family {
                    Xor(_) => |a, b| a ^ b,
                    And(_) => Bit::and,
                    AndNot(_) => |a: Bit, b| a.inverted().and(b),
                    _ => Bit::or,
                };
                (bitwise(&a, &b, f, !matches!(family, Xor(_))), e)
            }
            Ternary(e) => (ternary(&self.source(i, 0)?, &self.source(i, 1)?, &self.source(i, 2)?, immediate), e),
            AesRound(mixes) => {
                let (state, key) = (self.source(i, first)?, self.source(i, second)?);
                self.degrees.read(state.degree(0..n));
                self.degrees.note_argument();
                let mut substituted = Vector::zeros(n);
                for lane in elements(n, 128) {
                    let state = &state.bits[lane.clone()];
                    let state: Block = std::array::from_fn(|j| self.unknown.sbox(*state[8 * j..].first_chunk().expect("a byte")));
                    substituted.bits[lane].copy_from_slice(spec::linear(&state, mixes).as_flattened());
                }
                substituted.degrees.fill(1);
                (bitwise(&substituted, &key, |a, b| a ^ b, false), WIDEST)
            }
            AesUnmix => {
                let a = self.source(i, 1)?;
                let mut result = Vector::zeros(n);
                for column in elements(n, 32) {
                    let four: [Byte; 4] = std::array::from_fn(|j| *a.bits[column.start + 8 * j..].first_chunk().expect("a byte"));
                    result.bits[column.clone()].copy_from_slice(spec::unmixed(&four).as_flattened());
                    result.degrees[column.start / 8..column.end / 8].fill(a.degree(column));
                }
                (result, WIDEST)
            }
            AesKey => {
                let a = self.source(i, 1)?;
                self.degrees.read(a.degree(0..n));
                self.degrees.note_argument();
                let mut result = Vector::zeros(n);
                for half in 0..2 {
                    let word = 64 * half + 32;
                    let s: [_; 4] = std::array::from_fn(|j| self.unknown.sbox(*a.bits[word + 8 * j..].first_chunk().expect("a byte")));
                    for j in 0..4 {
                        result.bits[64 * half + 8 * j..][..8].copy_from_slice(&s[j]);
                        result.bits[word + 8 * j..][..8].copy_from_slice(&s[(j + 1) % 4]);
                    }
                    (0..8).for_each(|bit| result.bits[word + bit] ^= Bit::from(immediate >> bit & 1 == 1));
                }
                result.degrees.fill(1);
                (result, WIDEST)
            }
            Multiply => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let mut result = Vector::zeros(n);
                for lane in elements(n, 128) {
                    let [p, q] = [immediate & 1, immediate >> 4 & 1].map(|half| lane.start + 64 * half..lane.start + 64 * half + 64);
                    let mut sums = Sums::new(128);
                    a.bits[p.clone()].iter().enumerate().for_each(|(at, &p)| sums.add(at, p, &b.bits[q.clone()]));
                    result.bits[lane.clone()].copy_from_slice(&sums.reduced());
                    result.degrees[lane.start / 8..lane.end / 8].fill(a.degree(p).saturating_add(b.degree(q)));
                }
                (result, WIDEST)
            }
            MaskMove(bits) => return self.mask_move(i, bits),
            MaskXor(bits, not) => {
                let [a, b] = [i.op_register(1), i.op_register(2)];
                let xor = if a == b { 0 } else { self.mask(a)? ^ self.mask(b)? };
                return self.set_mask(i, bits, if not { !xor } else { xor });
            }
            MaskTest(bits) => {
                let all = u64::MAX >> (64 - bits);
                let or = (self.mask(i.op_register(0))? | self.mask(i.op_register(1))?) & all;
                let no = Some(false);
                self.flags = Flags { carry: Some((or == all).into()), overflow: no, sign: no, parity: no, zero: Zero::Is(or == 0) };
                return Ok(());
            }
            MaskShift(bits, up) => {
                let a = self.mask(i.op_register(1))? & (u64::MAX >> (64 - bits));
                let by = immediate as u32;
                let result = match up {
                    _ if by >= bits => 0,
                    true => a << by,
                    false => a >> by,
                };
                return self.set_mask(i, bits, result);
            }
            MaskToVector(e) => {
                let mask = self.mask(i.op_register(1))?;
                let mut result = Vector::zeros(n);
                elements(n, e).enumerate().for_each(|(j, range)| result.bits[range].fill(Bit::from(mask >> j & 1 == 1)));
                (result, WIDEST)
            }
            VectorToMask(e) => {
                let Some(mask) = number(&signs(&self.source(i, 1)?, e)) else { stop!("symbols become a mask") };
                return self.set_mask(i, 64, mask);
            }
            SignsToRegister => {
                let source = self.source(i, 1)?;
                self.degrees.read(source.degree(0..source.len()));
                return self.set(i, 0, &Word::low(&signs(&source, 8)));
            }
            Test => {
                let (a, b) = (self.source(i, 0)?, self.source(i, 1)?);
                let [both, second] = [bitwise(&a, &b, Bit::and, true), bitwise(&a, &b, |a, b| a.inverted().and(b), true)];
                self.degrees.read(both.degree(0..both.len()));
                let carry = match Zero::of(&second.bits) {
                    Zero::Is(zero) => Some(zero.into()),
                    _ => None,
                };
                let no = Some(false);
                self.flags = Flags { carry, overflow: no, sign: no, parity: no, zero: Zero::of(&both.bits) };
                return Ok(());
            }
            Strings => {
                let (a, b) = (self.source(i, 0)?, self.source(i, 1)?);
                let bytes = |of: &Vector| elements(128, 8).map(|range| number(&of.bits[range])).collect::<Option<Vec<u64>>>();
                let (Some(a), Some(b), 0x1a) = (bytes(&a), bytes(&b), immediate) else { stop!("no semantics") };
                let end = |of: &[u64]| of.iter().position(|&byte| byte == 0).unwrap_or(16);
                let (to_a, to_b) = (end(&a), end(&b));
                // Bytes beyond both ends are equal, and beyond one end different.
                let equal = |j: usize| if j < to_a && j < to_b { a[j] == b[j] } else { j >= to_a && j >= to_b };
                let differ: Vec<bool> = (0..16).map(|j| !equal(j)).collect();
                let first = differ.iter().position(|&differs| differs);
                self.flags = Flags {
                    carry: Some(first.is_some().into()),
                    overflow: Some(differ[0]),
                    sign: Some(to_a < 16),
                    parity: Some(false),
                    zero: Zero::Is(to_b < 16),
                };
                self.set_register(Register::ECX, &Word::Number(first.unwrap_or(16) as u64));
                return Ok(());
            }
            ClearAbove | ClearAll => {
                self.clear_above();
                if family == ClearAll {
                    self.clear_low();
                }
                return Ok(());
            }
            ExtractElement(e) => {
                let at = immediate % (128 / e) * e;
                let element = self.source(i, 1)?.part(at..at + e);
                return self.set_general(i, &element);
            }
            Up(e) | Down(e) | DownSigned(e) => {
                let by = match by_number {
                    true => immediate,
                    false => index(&self.source(i, last)?.bits[..64])?.min(0xff),
                };
                (moved(family, &self.source(i, first)?, e, by), e)
            }
            Sum(e) => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let mut result = Vector::zeros(n);
                for range in elements(n, e) {
                    self.degrees.forget();
                    self.degrees.read(a.degree(range.clone()).max(b.degree(range.clone())));
                    let sum = self.add_bits(&a.bits[range.clone()], &b.bits[range.clone()])?;
                    result.bits[range.clone()].copy_from_slice(&sum);
                    result.degrees[range.start / 8..range.end / 8].fill(self.degrees.result());
                }
                (result, e)
            }
            Equal(e) | Unequal(e) if i.op_kind(0) == OpKind::Register && i.op_register(0).is_k() => {
                let (a, b) = (self.source(i, 1)?, self.source(i, 2)?);
                let (own, mut mask) = (self.own_mask(i)?, 0);
                for (j, range) in elements(a.len(), e).enumerate().filter(|(j, _)| own >> j & 1 == 1) {
                    let (a, b) = (&a.bits[range.clone()], &b.bits[range]);
                    let equal = match (number(a), number(b)) {
                        _ if a == b => true,
                        (Some(a), Some(b)) => a == b,
                        _ => stop!("symbols become a mask"),
                    };
                    mask |= u64::from(equal == matches!(family, Equal(_))) << j;
                }
                return self.set_mask(i, 64, mask);
            }
            TestToMask(e, any) => {
                let (a, b) = (self.source(i, 1)?, self.source(i, 2)?);
                let (own, mut mask) = (self.own_mask(i)?, 0);
                for (j, range) in elements(a.len(), e).enumerate().filter(|(j, _)| own >> j & 1 == 1) {
                    let (Some(a), Some(b)) = (number(&a.bits[range.clone()]), number(&b.bits[range])) else {
                        stop!("symbols become a mask")
                    };
                    mask |= u64::from((a & b != 0) == any) << j;
                }
                return self.set_mask(i, 64, mask);
            }
            Greater(_) if i.op_kind(0) == OpKind::Register && i.op_register(0).is_k() => stop!("no semantics"),
            Difference(e) | Equal(e) | Greater(e) | Smallest(e) | Greatest(e) => (self.compared(i, family, e, [first, second])?, e),
            _ => self.rearranged(i, family, immediate, by_number)?,
        };
        self.set_vector(i, result, element)
    }

    /// Writes a part of a vector to a general register, or to memory of its size or less.
    fn set_general(&mut self, i: &Instruction, part: &Vector) -> Result<()> {
        self.degrees.read(part.degree(0..part.len()));
        self.set(i, 0, &Word::low(&part.bits))
    }

    /// Reads the vector to be moved: only the masked elements of memory.
    fn masked_source(&mut self, i: &Instruction, e: usize) -> Result<Vector> {
        if i.op_kind(1) != OpKind::Memory || i.op_mask() == Register::None {
            return self.source(i, 1);
        }
        let (at, mask, n) = (self.address(i)?, self.own_mask(i)?, Self::width(i, 0));
        let mut result = Vector::zeros(n);
        for (_, range) in elements(n, e).enumerate().filter(|(j, _)| mask >> j & 1 == 1) {
            result.replace(range.start, &self.memory.read(at + range.start as u64 / 8, e)?);
        }
        Ok(result)
    }

    fn set_mask(&mut self, i: &Instruction, bits: u32, mask: u64) -> Result<()> {
        self.masks[i.op_register(0).number()] = Some(mask & (u64::MAX >> (64 - bits)));
        Ok(())
    }

    fn mask_move(&mut self, i: &Instruction, bits: u32) -> Result<()> {
        let is_mask = |op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_k();
        let word = if is_mask(1) { Word::Number(self.mask(i.op_register(1))?) } else { self.get(i, 1)? }.keep(bits as usize);
        if !is_mask(0) {
            return self.set(i, 0, &word);
        }
        self.masks[i.op_register(0).number()] = word.number().ok();
        Ok(())
    }
}

/// Returns the highest bit of each element.
fn signs(of: &Vector, e: usize) -> Vec<Bit> {
    elements(of.len(), e).map(|range| of.bits[range.end - 1]).collect()
}

/// Computes a function of three bits by its table: a sum of products, its algebraic normal form.
fn ternary(a: &Vector, b: &Vector, c: &Vector, table: usize) -> Vector {
    let mut terms: [usize; 8] = std::array::from_fn(|j| table >> j & 1);
    for bit in [1, 2, 4] {
        (0..8).filter(|j| j & bit != 0).for_each(|j| terms[j] ^= terms[j ^ bit]);
    }
    let mut sum = Vector::zeros(a.len());
    if terms[0] == 1 {
        sum.bits.fill(I);
    }
    for term in (1..8).filter(|&term| terms[term] == 1) {
        let factors = [(4, a), (2, b), (1, c)].into_iter().filter(|(bit, _)| term & bit != 0).map(|(_, factor)| factor);
        let product = factors.fold(None, |product: Option<Vector>, factor| {
            Some(product.map_or_else(|| factor.clone(), |product| bitwise(&product, factor, Bit::and, true)))
        });
        sum = bitwise(&sum, &product.expect("a factor"), |a, b| a ^ b, false);
    }
    sum
}
