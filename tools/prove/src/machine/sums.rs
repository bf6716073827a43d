//! Sums and differences of words, and their flags.

use crate::{
    machine::general::mask,
    machine::{
        Flags, Machine, Result,
        Word::{self, Bits, Number},
        Zero, stop,
    },
    values::field::{Bit, O, lifted, none, number},
};

impl Machine<'_> {
    pub(crate) fn sum(&mut self, a: &Word, b: &Word, carry: Bit, n: usize) -> Result<Word> {
        if let (Number(a), Number(b), Some(carry)) = (a, b, carry.number()) {
            let (a, b) = (a & mask(n), b & mask(n));
            self.compared = [a, b];
            let wide = u128::from(a) + u128::from(b) + u128::from(carry);
            let sum = wide as u64 & mask(n);
            self.flags.carry = Some(Bit::from(wide >> n != 0));
            self.flags.overflow = Some(((a ^ sum) & (b ^ sum)) >> (n - 1) & 1 == 1);
            self.flags.of_result(&Number(sum), n);
            return Ok(Number(sum));
        }
        if let Some(sum) = self.sum_of_lines(a, b, carry, n) {
            return sum.ok_or_else(|| "a sum that is too great for some lengths".into());
        }
        let (a, b) = (a.bits(), b.bits());
        self.flags = Flags::UNDEFINED;
        if a[..n] == b[..n] {
            // A number doubled: a shift up with the carry.
            self.flags.carry = Some(a[n - 1]);
            return Ok(Word::low(&[&[carry], &a[..n - 1]].concat()));
        }
        // A number is added to numbers in the lowest bits, without a carry into the symbols above.
        if let Some(sum) = self.low_sum(&a[..n], &b[..n], carry) {
            self.flags.carry = Some(O);
            return Ok(Word::low(&sum));
        }
        if carry != O {
            stop!("a sum of symbols, with a carry");
        }
        match (number(&a[..n]), number(&b[..n])) {
            (None, Some(other)) => self.low_byte(&a[..n], &Number(other), true),
            (Some(other), None) => self.low_byte(&b[..n], &Number(other), true),
            _ => {}
        }
        let sum = self.add_bits(&a[..n], &b[..n])?;
        Ok(Word::low(&sum))
    }

    /// Returns the sum of a number and bits whose lowest are numbers, if it has no carry into the others.
    pub(crate) fn low_sum(&self, a: &[Bit], b: &[Bit], carry: Bit) -> Option<Vec<Bit>> {
        let (bits, more) = match (number(a), number(b)) {
            (None, Some(more)) => (a, more),
            (Some(more), None) => (b, more),
            _ => return None,
        };
        let known = bits.iter().position(|bit| bit.number().is_none())?;
        let low = number(&bits[..known])?.checked_add(more)?.checked_add(carry.number()?.into())?;
        let fits = low >> known == 0;
        fits.then(|| [&lifted::<64>(low)[..known], &bits[known..]].concat())
    }

    /// Returns the sum of two elements: of numbers, without a carry, or by the shared function of 32 bits and a number.
    pub(crate) fn add_bits(&mut self, a: &[Bit], b: &[Bit]) -> Result<Vec<Bit>> {
        if a.iter().zip(b).all(|(&a, &b)| a == O || b == O) {
            return Ok(a.iter().zip(b).map(|(&a, &b)| a ^ b).collect());
        }
        if a == b {
            // A number doubled: a shift up.
            return Ok([&[O], &a[..a.len() - 1]].concat());
        }
        if let Some(sum) = self.sum_of_bits(a, b) {
            return sum.ok_or_else(|| "a sum that is too great for some lengths".into());
        }
        let words = || Some((<&[Bit; 32]>::try_from(a).ok()?, <&[Bit; 32]>::try_from(b).ok()?));
        if let Some(sum) = self.sum_in_bytes(a, b) {
            return Ok(sum);
        }
        match (number(a), number(b), words()) {
            (Some(x), Some(y), _) => Ok(lifted::<64>(x.wrapping_add(y))[..a.len()].to_vec()),
            (_, Some(y), Some((a, _))) => {
                self.degrees.note_argument();
                Ok(self.unknown.add32(a, y as u32).to_vec())
            }
            (Some(x), _, Some((_, b))) => {
                self.degrees.note_argument();
                Ok(self.unknown.add32(b, x as u32).to_vec())
            }
            _ => stop!("a sum of symbols"),
        }
    }

    /// Returns a sum of symbols and a number in which a byte is the lowest of a counter, or of which only the low half is used.
    fn sum_in_bytes(&mut self, a: &[Bit], b: &[Bit]) -> Option<Vec<Bit>> {
        let (bits, more) = match (number(a), number(b)) {
            (None, Some(more)) => (a, more),
            (Some(more), None) => (b, more),
            _ => return None,
        };
        let n = bits.len();
        let (byte, rest) = bits.split_first_chunk::<8>()?;
        let zeros = |bits: &[Bit]| bits.iter().all(|&bit| bit == O);
        self.degrees.note_argument();
        if n == 8 {
            return Some(self.unknown.add8(byte, more as u8).to_vec());
        }
        if n == 32 && more & 0xff_ffff == 0 {
            // A byte-swapped counter.
            let highest = self.unknown.add8(bits[24..].try_into().expect("a byte"), (more >> 24) as u8);
            return Some([&bits[..24], &highest].concat());
        }
        if zeros(rest) && more < 256 && u64::from(self.unknown.range(byte)[1]) + more < 256 {
            return Some([&self.unknown.add8(byte, more as u8), rest].concat());
        }
        if n == 64 && zeros(&bits[32..]) && more >> 32 == 0 {
            let low = bits[..32].try_into().expect("32 bits");
            let (sum, carry) = (self.unknown.add32(low, more as u32), self.unknown.carry32(low, more as u32));
            return Some([&sum[..], &[carry], &[O; 31]].concat());
        }
        None
    }

    pub(crate) fn difference(&mut self, a: &Word, b: &Word, borrow: Bit, n: usize) -> Result<Word> {
        if let Some(difference) = self.difference_of_lines(a, b, borrow, n) {
            return difference.ok_or_else(|| "a difference that is negative for some lengths".into());
        }
        match (a, b, borrow.number()) {
            // Equal numbers: the borrow in all bits.
            (Number(a), Number(b), known) if a == b && (known.is_none() || self.lifted_only) => {
                let all = Word::low(&vec![borrow; n]);
                self.flags = Flags { carry: Some(borrow), overflow: Some(false), ..Flags::UNDEFINED };
                self.flags.of_result(&all, n);
                Ok(all)
            }
            (Number(a), Number(b), Some(borrow)) => {
                let (a, b) = (a & mask(n), b & mask(n));
                self.compared = [a, b];
                let difference = a.wrapping_sub(b).wrapping_sub(borrow.into()) & mask(n);
                self.flags.carry = Some(Bit::from(u128::from(a) < u128::from(b) + u128::from(borrow)));
                self.flags.overflow = Some(((a ^ b) & (a ^ difference)) >> (n - 1) & 1 == 1);
                self.flags.of_result(&Number(difference), n);
                if self.lifted_only && (a, borrow) == (0, false) {
                    return Ok(self.negative(&Number(b).bits()[..n], &Number(difference).bits()[..n]));
                } else if self.lifted_only && (b, borrow) == (1, false) && a < 256 && n > 8 {
                    return Ok(self.less_one(&Number(a).bits()[..8], n));
                } else if self.lifted_only && !borrow && n == 64 && a >> 32 == 0 && b >> 32 == 0 && b > 1 {
                    return Ok(self.less_than_wide(&Number(a).bits()[..32], b as u32));
                }
                Ok(Number(difference))
            }
            // A negated bit: all ones, or all zeros.
            (Number(0), Bits(bits), Some(false)) if bits[1..].iter().all(|&bit| bit == O) => {
                self.flags = Flags { carry: Some(bits[0]), ..Flags::UNDEFINED };
                Ok(Word::low(&vec![bits[0]; n]))
            }
            // Minus a word with equal bits: plus this bit.
            (a, Bits(bits), Some(false)) if bits[..n].iter().all(|&bit| bit == bits[0]) => {
                self.flags = Flags::UNDEFINED;
                let sum = self.add_bits(&a.bits()[..n], &Word::low(&bits[..1]).bits()[..n])?;
                Ok(Word::low(&sum))
            }
            // A byte minus another, as in comparisons without a branch.
            (Bits(x), Bits(y), Some(false)) if n > 8 && [x, y].iter().all(|bits| bits[8..].iter().all(|&bit| bit == O)) => {
                let byte = |bits: &[Bit; 64]| *bits.first_chunk().expect("a byte");
                let degree = self.degrees.of_result();
                self.degrees.note_argument();
                self.degrees.read(degree.saturating_mul(8).saturating_add(1));
                let (low, less) = self.unknown.difference8(&byte(x), &byte(y));
                self.flags = Flags { carry: Some(less), ..Flags::UNDEFINED };
                Ok(Word::low(&[&low[..], &vec![less; n - 8]].concat()))
            }
            // A byte less one.
            (Bits(bits), Number(1), Some(false)) if n > 8 && bits[8..].iter().all(|&bit| bit == O) => Ok(self.less_one(&bits[..8], n)),
            (Bits(bits), Number(less), Some(false))
                if n == 64 && less >> 32 == 0 && *less > 1 && bits[32..].iter().all(|&bit| bit == O) =>
            {
                self.degrees.note_argument();
                Ok(self.less_than_wide(&bits[..32], *less as u32))
            }
            (a, Number(0), Some(false)) => {
                self.flags = Flags::UNDEFINED;
                Ok(a.clone())
            }
            // Zero minus symbols, whose value is new variables: what holds for all values of these, holds for the one that it has. Its flags say whether there is
            // a one among these bits, and so does each bit of the value above them.
            (Number(0), Bits(bits), Some(false)) => {
                self.degrees.carry_of_all(n);
                self.flags = Flags::UNDEFINED;
                self.degrees.read(self.degrees.of_result().saturating_mul(n as u32));
                let unknown: Vec<Bit> = (0..n).map(|_| self.unknown.random.symbol()).collect();
                Ok(self.negative(&bits[..n], &unknown))
            }
            // Minus a number: plus its opposite.
            (a, Number(b), Some(false)) => {
                self.flags = Flags::UNDEFINED;
                let sum = self.add_bits(&a.bits()[..n], &Number(b.wrapping_neg()).bits()[..n])?;
                Ok(Word::low(&sum))
            }
            _ => stop!("a difference of symbols"),
        }
    }

    /// Returns a byte, with zeros above it, less one: a bit changes if all below it are zeros.
    fn less_one(&mut self, byte: &[Bit], n: usize) -> Word {
        self.degrees.carry_of_all(8);
        let borrows: Vec<Bit> = (0..=8).map(|j| none(&byte[..j])).collect();
        let low: Vec<Bit> = byte.iter().zip(&borrows).map(|(&bit, &borrow)| bit ^ borrow).collect();
        self.unknown.changed.extend(low.iter().zip(byte.iter().zip(&borrows)).map(|(&sum, (&bit, &borrow))| (sum, (bit, borrow))));
        self.flags = Flags { carry: Some(borrows[8]), ..Flags::UNDEFINED };
        let degree = self.degrees.of_result();
        self.degrees.read(degree.saturating_mul(8));
        Word::low(&[&low[..], &vec![borrows[8]; n - 8]].concat())
    }

    /// Returns 32 bits, with zeros above them, less a nonzero number: plus its opposite, with ones above if that sum has no carry.
    fn less_than_wide(&mut self, low: &[Bit], less: u32) -> Word {
        let low = low.try_into().expect("32 bits");
        let (sum, carry) = (self.unknown.add32(low, less.wrapping_neg()), self.unknown.carry32(low, less.wrapping_neg()));
        self.flags = Flags { carry: Some(carry.inverted()), ..Flags::UNDEFINED };
        Word::low(&[&sum[..], &[carry.inverted(); 32]].concat())
    }

    /// Returns the AND of two bits. For x + c and 1 + x it is (1 + x) c, because x (1 + x) is zero.
    pub(crate) fn both(&self, a: Bit, b: Bit) -> Bit {
        let known = |a: Bit, b: Bit| self.unknown.changed.get(&b).filter(|(x, _)| *x == a.inverted()).map(|(_, c)| a.times(*c));
        known(a, b).or_else(|| known(b, a)).unwrap_or_else(|| a.and(b))
    }

    /// Zero minus these bits, whose lower part is as `low` has it: above the highest that can be one, each bit says whether there is a one. It is zero, and
    /// borrows nothing, if there is none.
    fn negative(&mut self, bits: &[Bit], low: &[Bit]) -> Word {
        self.flags.zero = Zero::of(bits);
        let is_zero = match &self.flags.zero {
            Zero::IfNone(bits) => none(bits),
            zero => Bit::from(*zero == Zero::Is(true)),
        };
        self.flags.carry = Some(is_zero.inverted());
        let width = bits.iter().rposition(|&bit| bit != O).map_or(0, |last| last + 1);
        Word::low(&[&low[..width], &vec![is_zero.inverted(); bits.len() - width]].concat())
    }
}
