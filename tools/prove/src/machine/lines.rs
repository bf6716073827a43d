//! Instructions on numbers that are linear in a length: sums, comparisons, addresses.

use super::{Flags, Machine, Word, Zero};
use crate::values::{
    field::{Bit, I, O},
    lines::{Line, Lines},
};
use iced_x86::{Instruction, Register};

impl Machine<'_> {
    fn line_of(&self, word: &Word, n: usize) -> Option<Line> {
        let lines = self.unknown.lines.as_ref()?;
        lines.line(&word.bits()[..n])
    }

    /// Returns both words as lines, if one of them is no number.
    fn both_lines(&self, a: &Word, b: &Word, n: usize) -> Option<(Line, Line)> {
        let (a, b) = (self.line_of(a, n)?, self.line_of(b, n)?);
        (!a.is_number() || !b.is_number()).then_some((a, b))
    }

    fn lines(&mut self) -> &mut Lines {
        self.unknown.lines.as_mut().expect("somebody has asked for a line")
    }

    /// Returns the word and its flags, without those that are unknown in a part of the region.
    fn settle(&mut self, raw: &Line, n: usize) -> Option<(Word, Flags, i128)> {
        let (line, turns) = self.lines().settled(raw, n)?;
        let mut flags = Flags::UNDEFINED;
        let (least, most) = self.lines().range(&line);
        let half = 1 << (n - 1);
        flags.sign = if least >= half {
            Some(true)
        } else if most < half {
            Some(false)
        } else {
            None
        };
        flags.zero = self.lines().is_zero(&line).map_or(Zero::Undefined, Zero::Is);
        let bits = self.lines().bits(&line);
        Some((Word::low(&bits[..n]), flags, turns))
    }

    fn sign(&mut self, line: &Line, n: usize) -> Option<bool> {
        let (least, most) = self.lines().range(line);
        (least >> (n - 1) == most >> (n - 1)).then_some(least >> (n - 1) & 1 == 1)
    }

    /// Returns the sum of two lines, and sets its flags. `Some(None)` if it is no line.
    pub(crate) fn sum_of_lines(&mut self, a: &Word, b: &Word, carry: Bit, n: usize) -> Option<Option<Word>> {
        let (a, b) = self.both_lines(a, b, n)?;
        let raw = a.add(&b).add_number(i128::from(carry.number()?));
        self.lines().doubt.set(None);
        let Some((sum, mut flags, turns)) = self.settle(&raw, n) else { return Some(None) };
        flags.carry = Some(Bit::from(turns != 0));
        flags.overflow = match (self.sign(&a, n), self.sign(&b, n), flags.sign) {
            (Some(a), Some(b), Some(sum)) => Some(a == b && a != sum),
            _ => None,
        };
        self.flags = flags;
        Some(Some(sum))
    }

    /// Returns the difference of two lines, and sets its flags. A comparison has these even where the difference has a gap.
    pub(crate) fn difference_of_lines(&mut self, a: &Word, b: &Word, borrow: Bit, n: usize) -> Option<Option<Word>> {
        let (a, b) = self.both_lines(a, b, n)?;
        let raw = a.sub(&b).add_number(-i128::from(borrow.number()?));
        self.lines().doubt.set(None);
        let Some((difference, mut flags, turns)) = self.settle(&raw, n) else {
            self.flags = Flags::UNDEFINED;
            return Some(None);
        };
        flags.carry = Some(if turns == 0 { O } else { I });
        flags.overflow = match (self.sign(&a, n), self.sign(&b, n), flags.sign) {
            (Some(a), Some(b), Some(difference)) => Some(a != b && a != difference),
            _ => None,
        };
        self.flags = flags;
        Some(Some(difference))
    }

    /// Records an undecided comparison of public bits.
    pub(crate) fn compared_in_public(&mut self, a: &[Bit], b: &[Bit]) {
        if let Some(lines) = &mut self.unknown.lines {
            lines.is_public = lines.is_public(a) && lines.is_public(b);
        }
    }

    /// Sets zero flag and sign of a word that may be a line.
    pub(crate) fn flags_of_line(&mut self, word: &Word, n: usize) {
        if let Some(line) = self.line_of(word, n).filter(|line| !line.is_number()) {
            self.lines().doubt.set(None);
            if let Some((_, flags, _)) = self.settle(&line, n) {
                (self.flags.zero, self.flags.sign) = (flags.zero, flags.sign);
            }
            return;
        }
        let Some(lines) = &self.unknown.lines else { return };
        if let Some((core, by)) = lines.moved_down(&word.bits()[..n]) {
            lines.doubt.set(None);
            let above = core.add_number(-(1 << by));
            let (least, most) = lines.range(&above);
            if least >= 0 || most < 0 {
                self.flags.zero = Zero::Is(most < 0);
            } else {
                lines.doubt.set(Some(above));
            }
        }
    }

    /// Returns the product of a line and a number.
    pub(crate) fn product_of_lines(&mut self, a: &Word, b: &Word, n: usize) -> Option<Word> {
        let (a, b) = self.both_lines(a, b, n)?;
        let product = match (a.is_number(), b.is_number()) {
            (true, _) => b.scaled(a.plus),
            (_, true) => a.scaled(b.plus),
            _ => return None,
        };
        self.flags = Flags::UNDEFINED;
        self.lines().doubt.set(None);
        Some(self.settle(&product, n)?.0)
    }

    /// Returns the sum of elements of a vector, or of 32 bits of a register, without flags.
    pub(crate) fn sum_of_bits(&mut self, a: &[Bit], b: &[Bit]) -> Option<Option<Vec<Bit>>> {
        let n = a.len();
        let (a, b) = self.both_lines(&Word::low(a), &Word::low(b), n)?;
        let Some((line, _)) = self.lines().settled(&a.add(&b), n) else { return Some(None) };
        Some(Some(self.lines().bits(&line)[..n].to_vec()))
    }

    /// Returns the address that represents a memory operand in all iterations, if its address is a line.
    pub(crate) fn address_of_lines(&self, i: &Instruction) -> Option<u64> {
        let (mut sum, mut is_number) = (Line::number(i128::from(i.memory_displacement64())), true);
        if i.memory_segment() == Register::FS || i.is_ip_rel_memory_operand() || i.memory_index().is_vector_register() {
            return None;
        }
        for (register, times) in [(i.memory_base(), 1), (i.memory_index(), i128::from(i.memory_index_scale()))] {
            if register != Register::None {
                let line = self.line_of(&self.register(register), 64)?;
                is_number &= line.is_number();
                sum = sum.add(&line.scaled(times));
            }
        }
        if is_number {
            return None;
        }
        self.place_of_line(&sum)
    }

    /// Records REP STOSB of a line of bytes in endless memory, which is finished and unknown afterwards.
    pub(crate) fn filled(&mut self) -> Option<()> {
        let [count, to] = [Register::RCX, Register::RDI].map(|r| self.line_of(&self.register(r), 64));
        let (count, to, what) =
            (count.filter(|count| !count.is_number() || count.plus > 1 << 16)?, to?, self.register(Register::AL).number().ok()?);
        let (least, _) = self.lines().range(&count);
        let moves = to.times == self.lines().stride;
        let reference = self.lines().reference;
        let start = if to.is_number() { to.plus } else { to.at(&reference) } as u64;
        let memory = &self.memory;
        let is_text = memory.endless.contains(&start) && (moves || to.is_number())
            || memory.passed.iter().any(|range| range.contains(&start)) && to.is_number();
        if least < 0 || !is_text || self.lines().filled.is_some() {
            return None;
        }
        self.lines().filled = Some((to, count, what));
        self.memory.pass();
        let end = self.lines().bits(&to.add(&count));
        self.general[Register::RDI.number()] = Word::of(end);
        self.general[Register::RCX.number()] = Word::Number(0);
        Some(())
    }

    /// Returns the line of flags that are unknown in a part of the region; an instruction without flags keeps it.
    pub(crate) fn doubt(&self) -> Option<Line> {
        self.unknown.lines.as_ref()?.doubt.get()
    }

    pub(crate) fn set_doubt(&self, doubt: Option<Line>) {
        self.unknown.lines.iter().for_each(|lines| lines.doubt.set(doubt));
    }

    /// Returns the address that represents a word's address.
    pub(crate) fn place_of_word(&self, word: &Word) -> Option<u64> {
        self.unknown.lines.as_ref()?;
        self.place_of_line(&self.line_of(word, 64).filter(|line| !line.is_number())?)
    }

    /// Returns true if addresses move by a multiple of this many bytes each iteration.
    pub(crate) fn moves_by(&self, bytes: u64) -> bool {
        self.unknown.lines.as_ref().is_none_or(|lines| lines.stride[0] % i128::from(bytes) == 0)
    }

    fn place_of_line(&self, sum: &Line) -> Option<u64> {
        // The slopes of two registers cancel.
        if sum.is_number() {
            return Some(sum.plus as u64);
        }
        let lines = self.unknown.lines.as_ref()?;
        lines.doubt.set(None);
        let (line, _) = lines.settled(sum, 64)?;
        let moves = line.times == lines.stride;
        moves.then(|| line.at(&lines.reference) as u64)
    }
}
