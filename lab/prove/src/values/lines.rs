//! Numbers that nobody knows and that may decide nevertheless: linear functions of a length and of a count of turns.
//!
//! A [`Line`] is `a x + b y + c`, where x and y are integers of which only a convex region is known. Everywhere else in the interpreter it
//! is 64 bits like any other: those below the greatest power of two that divides `a` and `b` are numbers, and those above are symbols, one set
//! for each such function; so code and standard that compute one function get one set, and whoever shifts it or swaps its bytes
//! moves bits. Whoever adds to it, compares it or wants memory there asks whether bits are a line, and calculates with that. A comparison has an
//! outcome if it is one and the same in all of the region, which the corners tell; otherwise the interpreter stops, and [`Lines::doubt`] says
//! where the outcome changes.

use crate::{
    machine::{Flags, Machine, Word, Zero},
    values::field::{Bit, I, O, lifted, number},
    values::unknown::{Fold, Map, Random, Seed},
};
use iced_x86::{Instruction, Register};
use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    hash::BuildHasherDefault,
};

type Set<K> = HashSet<K, BuildHasherDefault<Fold>>;

/// Two unknown integers.
pub type Point = [i128; 2];

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Line {
    pub times: Point,
    pub plus: i128,
}

impl Line {
    pub fn number(n: i128) -> Self {
        Self { times: [0; 2], plus: n }
    }

    pub fn is_number(&self) -> bool {
        self.times == [0; 2]
    }

    pub fn at(&self, point: &Point) -> i128 {
        self.times[0] * point[0] + self.times[1] * point[1] + self.plus
    }

    pub fn scaled(&self, by: i128) -> Self {
        Self { times: self.times.map(|n| n * by), plus: self.plus * by }
    }

    pub fn add(&self, other: &Self) -> Self {
        Self { times: [self.times[0] + other.times[0], self.times[1] + other.times[1]], plus: self.plus + other.plus }
    }

    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.scaled(-1))
    }

    pub fn add_number(&self, n: i128) -> Self {
        self.add(&Self::number(n))
    }
}

/// Which lines there are, and the symbols of each.
#[derive(Debug)]
pub struct Lines {
    /// The region is within these corners.
    corners: Vec<Point>,
    /// Memory whose address is greater by this in each turn stands for itself in all turns: its address is that at the point of reference.
    pub stride: Point,
    pub reference: Point,
    random: Random,
    cores: HashMap<Line, [Bit; 64]>,
    /// The first symbol of each core.
    known: Map<Bit, Line>,
    all: Set<Bit>,
    /// What has just been compared is negative in a part of the region, and zero or positive in another.
    pub doubt: Cell<Option<Line>>,
    /// Flags are of bits that belong to lines, but are none: public, and not decided. What branches do then, if both ways are gone; how many
    /// have been asked for.
    pub is_public: bool,
    pub ways: Option<(Vec<bool>, usize)>,
    /// What was filled with one number as a whole: from where on, so many bytes, that number.
    pub filled: Option<(Line, Line, u64)>,
}

impl Lines {
    pub fn new(corners: Vec<Point>, seed: Seed, stream: u64) -> Self {
        let random = Random::new(seed, stream);
        let stride = [0; 2];
        Self {
            corners,
            stride,
            reference: [0; 2],
            random,
            cores: HashMap::new(),
            known: Map::default(),
            all: Set::default(),
            doubt: Cell::new(None),
            is_public: false,
            ways: None,
            filled: None,
        }
    }

    /// Least and greatest value.
    pub fn range(&self, line: &Line) -> (i128, i128) {
        let values = self.corners.iter().map(|corner| line.at(corner));
        values.fold((i128::MAX, i128::MIN), |(least, most), value| (least.min(value), most.max(value)))
    }

    /// Its 64 bits.
    pub fn bits(&mut self, line: &Line) -> [Bit; 64] {
        if line.is_number() {
            return lifted(line.plus as u64);
        }
        let below = line.times.iter().filter(|&&n| n != 0).map(|n| n.trailing_zeros()).min().unwrap_or(0);
        let core = Line { times: line.times.map(|n| n >> below), plus: line.plus >> below };
        let most = self.range(&core).1;
        let width = 128 - most.max(1).leading_zeros() as usize;
        let symbols = self.cores.entry(core).or_insert_with(|| {
            let symbols = std::array::from_fn(|i| if i < width { self.random.symbol() } else { O });
            self.known.insert(symbols[0], core);
            self.all.extend(symbols.iter().filter(|bit| bit.number().is_none()));
            symbols
        });
        let below = below as usize;
        std::array::from_fn(|i| if i < below { Bit::from(line.plus >> i & 1 == 1) } else { symbols[i - below] })
    }

    /// The line of which these are the bits, from the lowest one on, and all above are zeros.
    pub fn line(&self, bits: &[Bit]) -> Option<Line> {
        let Some(first) = bits.iter().position(|bit| bit.number().is_none()) else {
            return number(bits).map(|n| Line::number(n.into()));
        };
        let core = self.known.get(&bits[first])?;
        let symbols = &self.cores[core];
        let (part, above) = symbols.split_at((bits.len() - first).min(64));
        if part != &bits[first..] || above.iter().any(|&bit| bit != O) {
            return None;
        }
        let low = number(&bits[..first]).unwrap_or(0);
        let line = core.scaled(1 << first);
        Some(line.add_number(low.into()))
    }

    /// The core of which these bits are all that is left when it is moved down by so many bits: zero is then what is less than a power of two.
    fn moved_down(&self, bits: &[Bit]) -> Option<(Line, usize)> {
        self.cores.iter().find_map(|(core, own)| {
            let by = own.iter().position(|bit| bit.number().is_none() && *bit == bits[0])?;
            let rest = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(O);
            (0..64).all(|i| rest(bits, i) == rest(own, by + i)).then_some((*core, by))
        })
    }

    /// All of these bits are numbers, or bits of lines.
    fn is_public(&self, bits: &[Bit]) -> bool {
        bits.iter().all(|bit| bit.number().is_some() || self.all.contains(bit))
    }

    /// Which way to go.
    pub fn way(&mut self) -> Option<bool> {
        let (ways, asked) = self.ways.as_mut().filter(|_| self.is_public)?;
        if *asked == ways.len() {
            ways.push(false);
        }
        *asked += 1;
        Some(ways[*asked - 1])
    }

    /// All cores, and the symbols of each with their places.
    pub fn origins(&self) -> Vec<(Line, Vec<(Bit, usize)>)> {
        let symbols = |bits: &[Bit; 64]| bits.iter().copied().zip(0..).filter(|(bit, _)| bit.number().is_none()).collect();
        self.cores.iter().map(|(core, bits)| (*core, symbols(bits))).collect()
    }

    /// Modulo 2^n, if it is one line in all of the region.
    fn settled(&self, raw: &Line, n: usize) -> Option<(Line, i128)> {
        let (least, most) = self.range(raw);
        let turns = least >> n;
        if most >> n != turns {
            self.doubt.set(Some(raw.add_number(-((turns + 1) << n))));
            return None;
        }
        Some((raw.add_number(-(turns << n)), turns))
    }

    /// Whether it is zero, or how that is not known.
    fn is_zero(&self, line: &Line) -> Option<bool> {
        let (least, most) = self.range(line);
        if least > 0 || most < 0 {
            return Some(false);
        }
        if least == 0 && most == 0 {
            return Some(true);
        }
        self.doubt.set(Some(*line));
        None
    }
}

impl Machine<'_> {
    fn line_of(&self, word: &Word, n: usize) -> Option<Line> {
        let lines = self.unknown.lines.as_ref()?;
        lines.line(&word.bits()[..n])
    }

    /// Both words are lines, and one of them is no number.
    fn both_lines(&self, a: &Word, b: &Word, n: usize) -> Option<(Line, Line)> {
        let (a, b) = (self.line_of(a, n)?, self.line_of(b, n)?);
        (!a.is_number() || !b.is_number()).then_some((a, b))
    }

    fn lines(&mut self) -> &mut Lines {
        self.unknown.lines.as_mut().expect("somebody has asked for a line")
    }

    /// The word, and flags of it: what is not known in all of the region is left out.
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

    /// The sum of two words that are lines, and its flags; `Some(None)` if it is no line.
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

    /// The difference of two words that are lines, and its flags. A comparison has these even where the difference has a gap.
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

    /// These are compared, and nothing comes of it.
    pub(crate) fn compared_in_public(&mut self, a: &[Bit], b: &[Bit]) {
        if let Some(lines) = &mut self.unknown.lines {
            lines.is_public = lines.is_public(a) && lines.is_public(b);
        }
    }

    /// Zero flag and sign of a word that may be a line.
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

    /// The product of a line and a number.
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

    /// The sum of elements of a vector, or of 32 bits of a register, without flags.
    pub(crate) fn sum_of_bits(&mut self, a: &[Bit], b: &[Bit]) -> Option<Option<Vec<Bit>>> {
        let n = a.len();
        let (a, b) = self.both_lines(&Word::low(a), &Word::low(b), n)?;
        let Some((line, _)) = self.lines().settled(&a.add(&b), n) else { return Some(None) };
        Some(Some(self.lines().bits(&line)[..n].to_vec()))
    }

    /// Where the memory operand is, if its address is a line: the place that stands for it in all turns.
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

    /// REP STOSB of so many bytes as a line says, of memory without an end, which is over then: it is noted, and no more is known of that memory.
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

    /// Of what flags are that are not known in all of the region: who sets none, leaves that as it is.
    pub(crate) fn doubt(&self) -> Option<Line> {
        self.unknown.lines.as_ref()?.doubt.get()
    }

    pub(crate) fn set_doubt(&self, doubt: Option<Line>) {
        self.unknown.lines.iter().for_each(|lines| lines.doubt.set(doubt));
    }

    /// And that of an address in a word.
    pub(crate) fn place_of_word(&self, word: &Word) -> Option<u64> {
        self.unknown.lines.as_ref()?;
        self.place_of_line(&self.line_of(word, 64).filter(|line| !line.is_number())?)
    }

    /// Whether what moves with the turns moves by a multiple of so many bytes.
    pub(crate) fn moves_by(&self, bytes: u64) -> bool {
        self.unknown.lines.as_ref().is_none_or(|lines| lines.stride[0] % i128::from(bytes) == 0)
    }

    fn place_of_line(&self, sum: &Line) -> Option<u64> {
        // What one register has more another has less.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_line_is_found() {
        let mut lines = Lines::new(vec![[0, 0], [1 << 36, 0]], 1, 2);
        let line = Line { times: [1, 0], plus: 0 };
        let bits = lines.bits(&line);
        let rest = |by: usize| -> Vec<Bit> { bits[by..].iter().copied().chain(std::iter::repeat_n(O, by)).collect() };
        for by in [1, 5, 31] {
            assert_eq!(lines.moved_down(&rest(by)), Some((line, by)));
            // A bit is missing, inverted, or in another place.
            let mut less = rest(by);
            less[2] = O;
            assert_eq!(lines.moved_down(&less), None);
            less[2] = bits[by + 2].inverted();
            assert_eq!(lines.moved_down(&less), None);
            assert_eq!(lines.moved_down(&rest(by)[..4]), None);
        }
    }
}
