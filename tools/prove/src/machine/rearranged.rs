//! Compares and rearranges elements of vectors.

use crate::{
    machine::families::Family::{self, *},
    machine::{Machine, Result, WIDEST, is_extended, stop},
    values::field::{Bit, I, O, Vector, elements, lifted, none, number},
};
use iced_x86::{Instruction, Mnemonic, OpKind};

/// Picks elements of `bits` bits, or zeros, up to a width of `n` bits.
pub(crate) fn picked<'v>(n: usize, bits: usize, from: impl Fn(usize) -> Option<(&'v Vector, usize)>) -> Vector {
    let mut result = Vector::zeros(n);
    for (j, range) in elements(n, bits).enumerate() {
        if let Some((vector, element)) = from(j) {
            result.bits[range.clone()].copy_from_slice(&vector.bits[element * bits..][..bits]);
            result.degrees[range.start / 8..range.end / 8].copy_from_slice(&vector.degrees[element * bits / 8..][..bits / 8]);
        }
    }
    result
}

/// Combines two vectors bit by bit. `may_multiply` says whether `f` multiplies.
pub(crate) fn bitwise(a: &Vector, b: &Vector, f: fn(Bit, Bit) -> Bit, may_multiply: bool) -> Vector {
    let bits: Vec<Bit> = a.bits.iter().zip(&b.bits).map(|(&a, &b)| f(a, b)).collect();
    let multiplies = |j: usize| may_multiply && (8 * j..8 * j + 8).any(|i| a.bits[i].multiplies(b.bits[i]));
    let degree = |j: usize| match (a.degrees[j], b.degrees[j]) {
        _ if bits[8 * j..8 * j + 8].iter().all(|bit| bit.number().is_some()) => 0,
        (a, b) if multiplies(j) => a.saturating_add(b),
        (a, b) => a.max(b),
    };
    let degrees = (0..bits.len() / 8).map(degree).collect();
    Vector { bits, degrees }
}

pub(crate) fn index(of: &[Bit]) -> Result<usize> {
    number(of).map(|n| n as usize).ok_or_else(|| "a symbol says which element".into())
}

/// Returns the index in each element: a number below `below`, which is a power of two.
pub(crate) fn indices(of: &Vector, bits: usize, below: usize) -> Result<Vec<usize>> {
    elements(of.len(), bits).map(|range| Ok(index(&of.bits[range][..8])? % below)).collect()
}

impl Machine<'_> {
    /// Compares elements, which must be numbers unless both are equal.
    pub(crate) fn compared(&mut self, i: &Instruction, family: Family, e: usize, [first, second]: [u32; 2]) -> Result<Vector> {
        let (a, b) = (self.source(i, first)?, self.source(i, second)?);
        let mut result = Vector::zeros(a.len());
        for range in elements(a.len(), e) {
            let (x, y) = (&a.bits[range.clone()], &b.bits[range.clone()]);
            let all = u64::MAX >> (64 - e);
            let lower = match (family, number(y)) {
                (Difference(_), Some(less)) => self.low_sum(x, &lifted::<64>(less.wrapping_neg() & all)[..e], O),
                _ => None,
            };
            let n = match (family, number(x), number(y)) {
                (Equal(_), ..) if x == y => all,
                (Difference(_) | Greater(_), ..) if x == y => 0,
                (Smallest(_) | Greatest(_), ..) if x == y => {
                    result.replace(range.start, &a.part(range));
                    continue;
                }
                (Greater(_), Some(0), known) if known.is_none() || self.lifted_only => {
                    result.degrees[range.start / 8..range.end / 8].fill(b.degree(range.end - 8..range.end));
                    let sign = b.bits[range.end - 1];
                    result.bits[range].fill(sign);
                    continue;
                }
                // All ones or all zeros: whether no bit differs, as one polynomial.
                (Equal(_), known, other) if known.is_none() || other.is_none() || self.lifted_only => {
                    let differ: Vec<Bit> = x.iter().zip(y).map(|(&x, &y)| x ^ y).filter(|&bit| bit != O).collect();
                    let degree = a.degree(range.clone()).max(b.degree(range.clone())).saturating_mul(differ.len() as u32);
                    result.degrees[range.start / 8..range.end / 8].fill(if differ.contains(&I) { 0 } else { degree });
                    let equal = none(&differ);
                    result.bits[range].fill(equal);
                    continue;
                }
                // A difference with a number is a sum, without a carry into symbols.
                (Difference(_), None, Some(_)) if lower.is_some() => {
                    let sum = lower.unwrap_or_default();
                    result.degrees[range.start / 8..range.end / 8].copy_from_slice(&a.degrees[range.start / 8..range.end / 8]);
                    result.bits[range].copy_from_slice(&sum);
                    continue;
                }
                (_, None, _) | (_, _, None) => stop!("{family:?} of symbols"),
                (Equal(_), ..) => 0,
                (Greater(_), Some(x), Some(y)) => {
                    let signed = |x: u64| (x << (64 - e)) as i64;
                    if signed(x) > signed(y) { all } else { 0 }
                }
                (Difference(_), Some(x), Some(y)) => x.wrapping_sub(y),
                (Smallest(_), Some(x), Some(y)) => x.min(y),
                (_, Some(x), Some(y)) => x.max(y),
            };
            result.bits[range].iter_mut().enumerate().for_each(|(j, bit)| *bit = Bit::from(n >> j & 1 == 1));
        }
        Ok(result)
    }

    /// Moves elements unchanged. Returns the result, and the bits of a mask's element.
    pub(crate) fn rearranged(&mut self, i: &Instruction, family: Family, immediate: usize, by_number: bool) -> Result<(Vector, usize)> {
        let n = Self::width(i, 0);
        let [first, second] = if is_extended(i) { [1, 2] } else { [0, 1] };
        // The j-th field of the immediate.
        let field = |j: usize, bits: usize| immediate >> (j * bits) & ((1 << bits) - 1);
        match family {
            // Of one vector.
            Four(e) => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, e, |j| Some((&a, j / 4 * 4 + field(j % 4, 2)))), e));
            }
            Any(64) if by_number => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, 64, |j| Some((&a, j / 4 * 4 + field(j % 4, 2)))), 64));
            }
            LowFour | HighFour => {
                let (a, chosen) = (self.source(i, 1)?, if family == LowFour { 0 } else { 4 });
                let from = |j: usize| if j & 4 == chosen { j / 8 * 8 + chosen + field(j % 4, 2) } else { j };
                return Ok((picked(n, 16, |j| Some((&a, from(j)))), 16));
            }
            BytesUp | BytesDown => {
                let a = self.source(i, first)?;
                let from = |j: usize| {
                    let byte = if family == BytesUp { (j % 16).checked_sub(immediate) } else { Some(j % 16 + immediate) };
                    byte.filter(|&byte| byte < 16).map(|byte| (&a, j / 16 * 16 + byte))
                };
                return Ok((picked(n, 8, from), WIDEST));
            }
            Broadcast(64, _) if matches!(i.mnemonic(), Mnemonic::Movddup | Mnemonic::Vmovddup) && n > 128 => stop!("no semantics"),
            Broadcast(bits, e) => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, bits, |_| Some((&a, 0))), e));
            }
            Extract(bits, e) => {
                let a = self.source(i, 1)?;
                let at = immediate % (a.len() / bits) * bits;
                return Ok((a.part(at..at + bits), e));
            }
            Expand(e) => return self.expanded(i, e),
            AnyOfTwo(e, overwrites_table) => {
                let [own, one, two] = [self.source(i, 0)?, self.source(i, 1)?, self.source(i, 2)?];
                let (index, table) = if overwrites_table { (&one, &own) } else { (&own, &one) };
                let count = n / e;
                let at = indices(index, e, 2 * count)?;
                return Ok((picked(n, e, |j| Some(if at[j] < count { (table, at[j]) } else { (&two, at[j] - count) })), e));
            }
            _ => {}
        }
        let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
        Ok(match family {
            Bytes if self.lifted_only || number(&b.bits).is_none() => (looked_up(&a, &b), 8),
            Bytes => {
                let at = indices(&b, 8, 256)?;
                let from = |j: usize| (at[j] & 0x80 == 0).then_some((&a, j / 16 * 16 + at[j] % 16));
                (picked(n, 8, from), 8)
            }
            Any(e) => {
                let at = indices(&a, e, n / e)?;
                (picked(n, e, |j| Some((&b, at[j]))), e)
            }
            Shuffle(32) => {
                let from = |j: usize| Some((if j % 4 < 2 { &a } else { &b }, j / 4 * 4 + field(j % 4, 2)));
                (picked(n, 32, from), 32)
            }
            Shuffle(e) => {
                let from = |j: usize| Some((if j.is_multiple_of(2) { &a } else { &b }, j / 2 * 2 + field(j, 1)));
                (picked(n, e, from), e)
            }
            Unpack(e, high) => {
                let lane = 128 / e;
                let half = if high { lane / 2 } else { 0 };
                let from = |j: usize| Some((if j.is_multiple_of(2) { &a } else { &b }, j / lane * lane + half + j % lane / 2));
                (picked(n, e, from), e)
            }
            AlignBytes => {
                let from = |j: usize| {
                    let (lane, byte) = (j / 16 * 16, j % 16 + immediate);
                    match byte {
                        0..16 => Some((&b, lane + byte)),
                        16..32 => Some((&a, lane + byte - 16)),
                        _ => None,
                    }
                };
                (picked(n, 8, from), 8)
            }
            Align(e) => {
                let count = n / e;
                let at = |j: usize| j + immediate % count;
                (picked(n, e, |j| Some(if at(j) < count { (&b, at(j)) } else { (&a, at(j) - count) })), e)
            }
            Pack => {
                let mut result = Vector::zeros(n);
                for byte in 0..n / 8 {
                    let (from, lane) = (if byte % 16 < 8 { &a } else { &b }, byte / 16 * 16);
                    let word = 8 * lane + 16 * (byte % 8);
                    let part = from.part(word..word + 16);
                    if part.bits[8..].iter().all(|&bit| bit == O) {
                        result.replace(8 * byte, &part.part(0..8));
                    } else {
                        let Some(n) = number(&part.bits) else { stop!("{family:?} of symbols") };
                        let packed = (n as i16).clamp(0, 255) as u8;
                        result.bits[8 * byte..8 * byte + 8].copy_from_slice(&crate::values::field::byte(packed));
                    }
                }
                (result, 8)
            }
            Insert(bits, e) => {
                a.replace(immediate % (n / bits) * bits, &b.part(0..bits));
                (a, e)
            }
            Lanes(e) => {
                let count = n / 128;
                let bits = count.trailing_zeros() as usize;
                (picked(n, 128, |j| Some((if j < count / 2 { &a } else { &b }, field(j, bits)))), e)
            }
            TwoLanes => {
                let from = |j: usize| {
                    let field = field(j, 4);
                    (field & 8 == 0).then_some((if field & 2 == 0 { &a } else { &b }, field & 1))
                };
                (picked(n, 128, from), WIDEST)
            }
            Blend(e) => (picked(n, e, |j| Some((if field(j % 8, 1) == 1 { &b } else { &a }, j))), WIDEST),
            BlendByMask(e) => {
                // Its mask chooses between two sources; the old destination is not in the result.
                let (mask, zeroing) = (self.own_mask(i)?, i.zeroing_masking());
                let from = |j: usize| if mask >> j & 1 == 1 { Some((&b, j)) } else { (!zeroing).then_some((&a, j)) };
                let result = picked(n, e, from);
                self.set_register_vector(i.op_register(0), &result);
                (result, e)
            }
            InsertElement(e) => {
                a.replace(immediate % (128 / e) * e, &b.part(0..e));
                (a, WIDEST)
            }
            InsertScalar => {
                let from = if i.op_kind(second) == OpKind::Memory { 0 } else { field(3, 2) };
                a.replace(32 * field(2, 2), &b.part(32 * from..32 * from + 32));
                (0..4).filter(|&j| field(j, 1) == 1).for_each(|j| a.replace(32 * j, &Vector::zeros(32)));
                (a, WIDEST)
            }
            _ => stop!("{family:?} is not a rearrangement"),
        })
    }

    /// Moves consecutive elements to the ones of the mask.
    fn expanded(&mut self, i: &Instruction, e: usize) -> Result<(Vector, usize)> {
        let (n, mask) = (Self::width(i, 0), self.own_mask(i)?);
        let mut next = 0..;
        let from: Vec<Option<usize>> = (0..n / e).map(|j| if mask >> j & 1 == 1 { next.next() } else { None }).collect();
        let a = match i.op_kind(1) {
            OpKind::Memory => {
                let at = self.address(i)?;
                self.memory.read(at, e * from.iter().flatten().count())?
            }
            _ => self.source(i, 1)?,
        };
        Ok((picked(n, e, |j| from[j].map(|element| (&a, element))), e))
    }
}

/// Looks up bytes in a table of 16 in each lane at an index of symbols: a sum of products, like any function of five bits. If the table is a linear
/// function of its index, like GHASH's for a reduction, no product remains.
pub(crate) fn looked_up(table: &Vector, index: &Vector) -> Vector {
    let mut result = Vector::zeros(table.len());
    for byte in 0..table.len() / 8 {
        let own = &index.bits[8 * byte..8 * byte + 8];
        let lane = byte / 16 * 16;
        let mut terms: [Vec<Bit>; 16] = std::array::from_fn(|j| table.bits[8 * (lane + j)..8 * (lane + j) + 8].to_vec());
        for bit in [1, 2, 4, 8] {
            for j in (0..16).filter(|j| j & bit != 0) {
                let less = terms[j ^ bit].clone();
                terms[j].iter_mut().zip(less).for_each(|(term, less)| *term ^= less);
            }
        }
        let (of_table, of_index) = (table.degree(8 * lane..8 * lane + 128), index.degree(8 * byte..8 * byte + 8));
        for (j, term) in terms.iter().enumerate().filter(|(_, term)| term.iter().any(|&bit| bit != O)) {
            // The highest bit of an index selects zero.
            let factors = (0..4).filter(|k| j >> k & 1 == 1).map(|k| own[k]).chain([own[7].inverted()]);
            let factor = factors.fold(I, Bit::and);
            (0..8).for_each(|k| result.bits[8 * byte + k] ^= term[k].and(factor));
            let count = j.count_ones() + u32::from(own[7].number().is_none());
            let term = if term.iter().all(|bit| bit.number().is_some()) { 0 } else { of_table };
            result.degrees[byte] = result.degrees[byte].max(of_index.saturating_mul(count).saturating_add(term));
        }
    }
    result
}

/// Shifts each element up or down.
pub(crate) fn moved(family: Family, a: &Vector, e: usize, by: usize) -> Vector {
    let mut result = Vector::zeros(a.len());
    for range in elements(a.len(), e) {
        let from = &a.bits[range.clone()];
        result.degrees[range.start / 8..range.end / 8].fill(a.degree(range.clone()));
        result.bits[range].iter_mut().enumerate().for_each(|(j, bit)| {
            *bit = match family {
                Up(_) => j.checked_sub(by).map_or(O, |j| from[j]),
                Down(_) => from.get(j + by).copied().unwrap_or(O),
                _ => from[(j + by).min(e - 1)],
            }
        });
    }
    result
}
