//! Unknown numbers that may decide: linear functions of a length and of a count of iterations.
//!
//! A [`Line`] is `a x + b y + c`, where x and y are integers of which only a convex region is known. Elsewhere in the interpreter it
//! is 64 ordinary bits: those below the greatest power of two that divides `a` and `b` are numbers, and those above are symbols, one set
//! for each such function. So code and standard that compute one function get one set, and shifts and byte swaps of it move bits. Additions,
//! comparisons and addresses check whether bits are a line, and calculate with it. A comparison has an outcome if this is constant over
//! the region, which its corners decide; otherwise the interpreter stops, and [`Lines::doubt`] has the line where the outcome
//! changes.

use super::{
    field::{Bit, O, lifted, number},
    random::{Fold, Map, Random, Seed},
};
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

/// The lines, and the symbols of each.
#[derive(Debug)]
pub struct Lines {
    /// The corners of the region.
    corners: Vec<Point>,
    /// Memory whose address grows by this in each iteration is represented by its address at the point of reference.
    pub stride: Point,
    pub reference: Point,
    random: Random,
    cores: HashMap<Line, [Bit; 64]>,
    /// The first symbol of each core.
    known: Map<Bit, Line>,
    all: Set<Bit>,
    /// The last comparison's difference, if it is negative in a part of the region only.
    pub doubt: Cell<Option<Line>>,
    /// Flags depend on bits of lines that form no line: public, and undecided. Then the outcomes of branches if all paths are followed, and the number
    /// of those taken so far.
    pub is_public: bool,
    pub branches: Option<(Vec<bool>, usize)>,
    /// Memory that was filled with a number: its start, its length, and the number.
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
            branches: None,
            filled: None,
        }
    }

    /// Returns the least and the greatest value.
    pub fn range(&self, line: &Line) -> (i128, i128) {
        let values = self.corners.iter().map(|corner| line.at(corner));
        values.fold((i128::MAX, i128::MIN), |(least, most), value| (least.min(value), most.max(value)))
    }

    /// Returns its 64 bits.
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

    /// Returns the line with these lowest bits, and zeros above.
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

    /// Returns the core that leaves these bits when shifted down, and the shift: zero is then a value less than a power of two.
    pub(crate) fn moved_down(&self, bits: &[Bit]) -> Option<(Line, usize)> {
        self.cores.iter().find_map(|(core, own)| {
            let by = own.iter().position(|bit| bit.number().is_none() && *bit == bits[0])?;
            let rest = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(O);
            (0..64).all(|i| rest(bits, i) == rest(own, by + i)).then_some((*core, by))
        })
    }

    /// Returns true if all of these bits are numbers, or bits of lines.
    pub(crate) fn is_public(&self, bits: &[Bit]) -> bool {
        bits.iter().all(|bit| bit.number().is_some() || self.all.contains(bit))
    }

    /// Returns the outcome of the next branch on the path.
    pub fn branch(&mut self) -> Option<bool> {
        let (branches, taken) = self.branches.as_mut().filter(|_| self.is_public)?;
        if *taken == branches.len() {
            branches.push(false);
        }
        *taken += 1;
        Some(branches[*taken - 1])
    }

    /// Returns all cores, and the symbols of each with their positions.
    pub fn origins(&self) -> Vec<(Line, Vec<(Bit, usize)>)> {
        let symbols = |bits: &[Bit; 64]| bits.iter().copied().zip(0..).filter(|(bit, _)| bit.number().is_none()).collect();
        self.cores.iter().map(|(core, bits)| (*core, symbols(bits))).collect()
    }

    /// Reduces modulo 2^n, if the result is one line in the whole region.
    pub(crate) fn settled(&self, raw: &Line, n: usize) -> Option<(Line, i128)> {
        let (least, most) = self.range(raw);
        let turns = least >> n;
        if most >> n != turns {
            self.doubt.set(Some(raw.add_number(-((turns + 1) << n))));
            return None;
        }
        Some((raw.add_number(-(turns << n)), turns))
    }

    /// Returns whether it is zero, or sets `doubt` if that is unknown.
    pub(crate) fn is_zero(&self, line: &Line) -> Option<bool> {
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
            // A missing, inverted or moved bit.
            let mut less = rest(by);
            less[2] = O;
            assert_eq!(lines.moved_down(&less), None);
            less[2] = bits[by + 2].inverted();
            assert_eq!(lines.moved_down(&less), None);
            assert_eq!(lines.moved_down(&rest(by)[..4]), None);
        }
    }

    /// Calculations with lines agree with those with their values.
    #[test]
    fn lines_are_added_as_their_values_are() {
        let (a, b, point) = (Line { times: [3, -7], plus: 11 }, Line { times: [5, 13], plus: -2 }, [17, 29]);
        assert_eq!(a.at(&point), 3 * 17 - 7 * 29 + 11);
        assert_eq!(a.add(&b).at(&point), a.at(&point) + b.at(&point));
        assert_eq!(a.sub(&b).at(&point), a.at(&point) - b.at(&point));
        assert_eq!(a.add_number(4).at(&point), a.at(&point) + 4);
        assert_eq!(a.scaled(-6).at(&point), -6 * a.at(&point));
        assert!(Line::number(5).is_number() && !a.is_number());
    }

    /// A line always has equal bits, with numbers as its lowest ones; it is found from them, shifted or whole, and from no others.
    #[test]
    fn lines_and_their_bits() {
        let mut lines = Lines::new(vec![[0, 0], [1000, 0], [0, 50]], 1, 2);
        for (times, plus) in [([1, 0], 0), ([1, 0], 1), ([16, 0], 5), ([6, 64], 3), ([0, 2], 1)] {
            let line = Line { times, plus };
            let bits = lines.bits(&line);
            assert_eq!(lines.bits(&line), bits);
            assert_eq!(lines.line(&bits), Some(line));
            let below = times.iter().filter(|n| **n != 0).map(|n| n.trailing_zeros()).min().unwrap() as usize;
            assert_eq!(number(&bits[..below]), Some(plus as u64 & ((1 << below) - 1)));
            assert!(bits[below].number().is_none() && bits[63] == O);
            // Bits cut above, or changed, are no line.
            assert_eq!(lines.line(&bits[..below + 3]), None);
            assert_eq!(lines.line(&bits[..32]), Some(line));
            let mut other = bits;
            other[below + 1] = other[below + 1].inverted();
            assert_eq!(lines.line(&other), None);
            assert!(lines.is_public(&bits));
            // Shifted up: multiplied by a power of two.
            assert_eq!(lines.line(&[&[O; 3], &bits[..61]].concat()), Some(line.scaled(8)));
        }
        assert_eq!(lines.line(&lifted::<64>(77)), Some(Line::number(77)));
        assert_eq!(lines.bits(&Line::number(77)), lifted(77));
        let stranger = lines.random.symbol();
        assert!(!lines.is_public(&[O, stranger]));
        assert_eq!(lines.line(&[stranger]), None);
        assert_eq!(lines.origins().len(), 4); // two have one core
    }

    /// An outcome that changes in the region is in doubt, with a line that changes its sign at the change.
    #[test]
    fn what_is_so_in_all_of_the_region() {
        let lines = Lines::new(vec![[0, 0], [100, 0], [0, 7]], 1, 2);
        let line = |a, b, plus| Line { times: [a, b], plus };
        assert_eq!(lines.range(&line(1, 2, 3)), (3, 103));
        assert_eq!(lines.range(&line(-1, 2, 3)), (-97, 17));
        for plus in -300..300 {
            for (a, b) in [(1, 0), (-1, 0), (0, 3), (2, -5)] {
                let (least, most) = lines.range(&line(a, b, plus));
                lines.doubt.set(None);
                let is_zero = lines.is_zero(&line(a, b, plus));
                assert_eq!(is_zero, if least > 0 || most < 0 { Some(false) } else { None });
                assert_eq!(lines.doubt.get(), if is_zero.is_none() { Some(line(a, b, plus)) } else { None });
                lines.doubt.set(None);
                let settled = lines.settled(&line(a, b, plus), 8);
                if least.div_euclid(256) == most.div_euclid(256) {
                    let turns = least.div_euclid(256);
                    assert_eq!(settled, Some((line(a, b, plus - 256 * turns), turns)));
                } else {
                    assert_eq!(settled, None);
                    let (least, most) = lines.range(&lines.doubt.get().unwrap());
                    assert!(least < 0 && most >= 0);
                }
            }
        }
        assert_eq!(lines.is_zero(&Line::number(0)), Some(true));
    }

    /// All paths are followed one after the other, if public values decide.
    #[test]
    fn branches_are_taken_in_order() {
        let mut lines = Lines::new(vec![[0, 0], [9, 0]], 1, 2);
        assert_eq!(lines.branch(), None);
        lines.branches = Some((vec![true], 0));
        assert_eq!(lines.branch(), None);
        lines.is_public = true;
        assert_eq!([lines.branch(), lines.branch(), lines.branch()], [Some(true), Some(false), Some(false)]);
        assert_eq!(lines.branches, Some((vec![true, false, false], 3)));
    }
}
