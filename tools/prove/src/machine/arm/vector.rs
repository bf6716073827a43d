//! Semantics of instructions on vectors.

use super::{WIDTH, field, is_product};
use crate::{
    machine::vector::{Family, bitwise, index, moved, picked},
    machine::{Machine, Result, Word, stop},
    spec,
    values::field::{Bit, Block, Byte, Sums, Vector, byte, elements, lifted, number},
};

fn xor(a: &Vector, b: &Vector) -> Vector {
    bitwise(a, b, |a, b| a ^ b, false)
}

fn block(bits: &[Bit]) -> Block {
    std::array::from_fn(|j| *bits[8 * j..].first_chunk().expect("a byte"))
}

/// Mixes the columns of AES: the linear part of a round, after undoing the shift of rows.
fn mixed(state: &Block) -> Block {
    let back: Block = std::array::from_fn(|i| state[(i + 12 * (i % 4)) % 16]);
    spec::linear(&back, true)
}

/// Decodes an element: the lowest one gives its size, the bits above its number.
fn element(imm5: u32) -> Result<(usize, usize)> {
    match imm5.trailing_zeros() {
        log @ 0..4 => Ok((8 << log, (imm5 >> (log + 1)) as usize)),
        _ => stop!("no instruction"),
    }
}

impl Machine<'_> {
    pub(super) fn of_vectors(&mut self, i: u32) -> Result<()> {
        let (to, first, second) = (field(i, 0, 5), field(i, 5, 5), field(i, 16, 5));
        let is_scalar = field(i, 28, 1) == 1;
        let n = if field(i, 30, 1) == 1 && !is_scalar { 128 } else { 64 };
        let upper = field(i, 29, 1) == 1;
        let bits = 8usize << field(i, 22, 2);
        let (a, b) = (self.v(first), self.v(second));
        let short = |vector: Vector| vector.part(0..n);
        let result = match i {
            // AESE: adds a key, substitutes bytes, shifts rows; or AESMC: mixes columns.
            _ if i & 0xffff_fc00 == 0x4e28_4800 => {
                let state = xor(&self.v(to), &a);
                self.degrees.read(state.degree(0..WIDTH));
                self.degrees.note_argument();
                let substituted = block(&state.bits).map(|byte| self.unknown.sbox(byte));
                Vector { bits: spec::linear(&substituted, false).as_flattened().to_vec(), degrees: vec![1; 16] }
            }
            _ if i & 0xffff_fc00 == 0x4e28_6800 => {
                let mut result = Vector { bits: mixed(&block(&a.bits)).as_flattened().to_vec(), degrees: Vec::new() };
                elements(WIDTH, 32).for_each(|column| result.degrees.extend([a.degree(column); 4]));
                result
            }
            // A carry-less product of two halves.
            _ if is_product(i) => {
                let half = if n == 128 { 64..128 } else { 0..64 };
                let mut sums = Sums::new(128);
                a.bits[half.clone()].iter().enumerate().for_each(|(at, &p)| sums.add(at, p, &b.bits[half.clone()]));
                let degree = a.degree(half.clone()).saturating_add(b.degree(half));
                Vector { bits: sums.reduced(), degrees: vec![degree; 16] }
            }
            // Three of a kind.
            _ if i & 0x9f20_0400 == 0x0e20_0400 => short(self.of_three(i, to, &a, &b, bits)?),
            // EOR3.
            _ if i & 0xffe0_8000 == 0xce00_0000 => xor(&xor(&a, &b), &self.v(field(i, 10, 5))),
            // EXT: bytes of two concatenated vectors.
            _ if i & 0xbfe0_8400 == 0x2e00_0000 => {
                let by = field(i, 11, 4) as usize;
                if by >= n / 8 {
                    stop!("no instruction");
                }
                picked(n, 8, |j| Some(if j + by < n / 8 { (&a, j + by) } else { (&b, j + by - n / 8) }))
            }
            // TBL with one table.
            _ if i & 0xbfe0_fc00 == 0x0e00_0000 => {
                let at = elements(n, 8).map(|range| index(&b.bits[range])).collect::<Result<Vec<_>>>()?;
                picked(n, 8, |j| (at[j] < 16).then_some((&a, at[j])))
            }
            // ZIP1, ZIP2; TRN1, TRN2.
            _ if i & 0xbf20_ac00 == 0x0e00_2800 => {
                let (zips, second) = (field(i, 12, 1) == 1, field(i, 14, 1) as usize);
                let at = |j: usize| if zips { second * (n / bits / 2) + j / 2 } else { j / 2 * 2 + second };
                picked(n, bits, |j| Some((if j.is_multiple_of(2) { &a } else { &b }, at(j))))
            }
            // REV64, REV32.
            _ if i & 0x9f3f_fc00 == 0x0e20_0800 && bits < if upper { 32 } else { 64 } => {
                let count = if upper { 32 } else { 64 } / bits;
                picked(n, bits, |j| Some((&a, j / count * count + count - 1 - j % count)))
            }
            // DUP of an element, into all or one.
            _ if i & 0xbfe0_fc00 == 0x0e00_0400 || i & 0xffe0_fc00 == 0x5e00_0400 => {
                let (bits, at) = element(second)?;
                picked(if is_scalar { bits } else { n }, bits, |_| Some((&a, at)))
            }
            // DUP and INS of a general register; INS of an element.
            _ if i & 0xbfe0_fc00 == 0x0e00_0c00 || i & 0xffe0_fc00 == 0x4e00_1c00 => {
                let (bits, at) = element(second)?;
                let register = self.general_part(first, bits);
                if field(i, 12, 1) == 0 {
                    picked(n, bits, |_| Some((&register, 0)))
                } else {
                    let mut own = self.v(to);
                    own.replace(at * bits, &register);
                    own
                }
            }
            _ if i & 0xffe0_8400 == 0x6e00_0400 => {
                let (bits, at) = element(second)?;
                let from = field(i, 11, 4) as usize / (bits / 8) * bits;
                let mut own = self.v(to);
                own.replace(at * bits, &a.part(from..from + bits));
                own
            }
            // UMOV: an element into a general register.
            _ if i & 0xbfe0_fc00 == 0x0e00_3c00 => {
                let (bits, at) = element(second)?;
                return self.gives_general(to, &a.part(at * bits..(at + 1) * bits));
            }
            // FMOV between a general register and a vector, or its upper half.
            _ if i & 0xffff_fc00 == 0x9e66_0000 => return self.gives_general(to, &a.part(0..64)),
            _ if i & 0xffff_fc00 == 0x1e26_0000 => return self.gives_general(to, &a.part(0..32)),
            _ if i & 0xffff_fc00 == 0x1e27_0000 => self.general_part(first, 32),
            _ if i & 0xffff_fc00 == 0x9eae_0000 => return self.gives_general(to, &a.part(64..128)),
            _ if i & 0xffff_fc00 == 0x9e67_0000 => self.general_part(first, 64),
            _ if i & 0xffff_fc00 == 0x9eaf_0000 => {
                let mut own = self.v(to);
                own.replace(64, &self.general_part(first, 64));
                own
            }
            // Shifts by an immediate.
            _ if (i & 0x9f80_0400 == 0x0f00_0400 || i & 0xdf80_0400 == 0x5f00_0400) && field(i, 19, 4) != 0 => {
                let code = field(i, 16, 7) as usize;
                let bits = 1 << code.ilog2();
                match (upper, field(i, 11, 5)) {
                    (false, 0b01010) => short(moved(Family::Up(bits), &a, bits, code - bits)),
                    (false, 0b00000) => short(moved(Family::DownSigned(bits), &a, bits, 2 * bits - code)),
                    (true, 0b00000) => short(moved(Family::Down(bits), &a, bits, 2 * bits - code)),
                    _ => stop!("no semantics"),
                }
            }
            // MOVI.
            _ if i & 0x9ff8_0c00 == 0x0f00_0400 => short(numbers(i, upper)?),
            _ => stop!("no semantics"),
        };
        self.set_v(to, result);
        Ok(())
    }

    fn of_three(&mut self, i: u32, to: u32, a: &Vector, b: &Vector, bits: usize) -> Result<Vector> {
        let own = self.v(to);
        Ok(match (field(i, 29, 1), field(i, 11, 5), field(i, 22, 2)) {
            (0, 0b00011, 0) => bitwise(a, b, Bit::and, true),
            (0, 0b00011, 1) => bitwise(a, b, |a, b| a.and(b.inverted()), true),
            (0, 0b00011, 2) => bitwise(a, b, Bit::or, true),
            (1, 0b00011, 0) => xor(a, b),
            // BIT, BIF: insert bits where the second has ones, or zeros.
            (1, 0b00011, 2) => xor(&own, &bitwise(&xor(&own, a), b, Bit::and, true)),
            (1, 0b00011, 3) => xor(&own, &bitwise(&xor(&own, a), b, |a, b| a.and(b.inverted()), true)),
            // ADD; and SUB of numbers, as an addition.
            (subtracts, 0b10000, _) => {
                let mut result = Vector::zeros(WIDTH);
                for range in elements(WIDTH, bits) {
                    self.degrees.forget();
                    self.degrees.read(a.degree(range.clone()).max(b.degree(range.clone())));
                    let mut more = b.bits[range.clone()].to_vec();
                    if subtracts == 1 {
                        let Some(less) = number(&more) else { stop!("a difference of symbols") };
                        more.copy_from_slice(&lifted::<64>(less.wrapping_neg())[..range.len()]);
                    }
                    let sum = self.add_bits(&a.bits[range.clone()], &more)?;
                    result.bits[range.clone()].copy_from_slice(&sum);
                    result.degrees[range.start / 8..range.end / 8].fill(self.degrees.result());
                }
                result
            }
            // USHL: shifts by the lowest byte of each element, down if it is negative.
            (1, 0b01000, _) => {
                let mut result = Vector::zeros(WIDTH);
                for range in elements(WIDTH, bits) {
                    let by = index(&b.bits[range.clone()][..8])? as u8 as i8;
                    let family = if by < 0 { Family::Down(bits) } else { Family::Up(bits) };
                    result.replace(range.start, &moved(family, &a.part(range), bits, by.unsigned_abs().into()));
                }
                result
            }
            // CMHI of numbers.
            (1, 0b00110, _) => {
                let mut result = Vector::zeros(WIDTH);
                for range in elements(WIDTH, bits) {
                    let (Some(x), Some(y)) = (number(&a.bits[range.clone()]), number(&b.bits[range.clone()])) else {
                        stop!("a comparison of symbols")
                    };
                    result.bits[range].fill(Bit::from(x > y));
                }
                result
            }
            _ => stop!("no semantics"),
        })
    }

    /// Returns the lowest bits of a general register as a vector.
    fn general_part(&mut self, register: u32, bits: usize) -> Vector {
        let word = self.x(register, bits);
        let degree = if let Word::Number(_) = word { 0 } else { self.degrees.of_result() };
        Vector { bits: word.bits()[..bits].to_vec(), degrees: vec![degree; bits / 8] }
    }

    fn gives_general(&mut self, register: u32, part: &Vector) -> Result<()> {
        self.degrees.read(part.degree(0..part.len()));
        self.set_x(register, &Word::low(&part.bits), 64);
        Ok(())
    }
}

/// Returns the immediate of MOVI and MVNI.
fn numbers(i: u32, upper: bool) -> Result<Vector> {
    let immediate = (field(i, 16, 3) << 5 | field(i, 5, 5)) as u8;
    let bytes: [u8; 16] = match (upper, field(i, 12, 4)) {
        (false, 0b1110) => [immediate; 16],
        // A bit becomes a byte.
        (true, 0b1110) => std::array::from_fn(|j| if immediate >> (j % 8) & 1 == 1 { 0xff } else { 0 }),
        (not, code @ (0 | 2 | 4 | 6)) => {
            let word = u32::from(immediate) << (4 * code);
            let word = if not { !word } else { word };
            std::array::from_fn(|j| word.to_le_bytes()[j % 4])
        }
        _ => stop!("no semantics"),
    };
    let bits: Vec<Byte> = bytes.iter().map(|&n| byte(n)).collect();
    Ok(Vector { bits: bits.as_flattened().to_vec(), degrees: vec![0; 16] })
}
