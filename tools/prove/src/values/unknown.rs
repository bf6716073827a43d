//! Unknown values: inputs, earlier contents of registers, and uninterpreted functions.
//!
//! The S-box is an uninterpreted function of a byte: its value for a byte that is
//! not a number is eight symbols, fresh for each such byte. Code and standard share its table. Addition
//! of a number to 32 bits that are not numbers is another function, of which only (x + a) + b = x + (a + b) is known.

use super::{
    field::{Bit, Byte, O, Vector, byte, lifted, none, number, xor},
    lines::Lines,
    random::{Map, Random, Seed},
};
use std::sync::LazyLock;

/// A degree that is examined further: terms of a high degree may have cancelled.
pub const MANY: u32 = 64;

/// 32 bits, the least significant first.
pub type Word32 = [Bit; 32];

/// The least and the greatest value of the lowest byte of a word plus a number.
pub type Fact = (Word32, u32, [u32; 2]);

/// The functions that code and standard share.
#[derive(Debug)]
pub struct Unknown {
    pub random: Random,
    sbox: Map<Byte, Byte>,
    remembered: Map<Byte, Byte>,
    forgotten: usize,
    real: [u8; 256],
    /// The summands of each sum.
    sums: Map<Word32, (Word32, u32)>,
    made: Map<(Word32, u32), Word32>,
    /// The summands of words by their lowest byte.
    lowest: Map<Byte, (Word32, u32)>,
    carries: Map<(Word32, u32), Bit>,
    differences: Map<(Byte, Byte), (Byte, Bit)>,
    /// The facts about lowest bytes on the current path, one for each condition; and the number of conditions so far.
    pub facts: Vec<Option<Fact>>,
    pub met: usize,
    /// The numbers that are linear in an unknown length.
    pub lines: Option<Lines>,
    /// The bits of the standard's intermediate hashes, with their degree.
    hashes: Map<Bit, u32>,
    /// The bits of a byte less one, each a sum of two: its former bit, and whether it has changed.
    pub changed: Map<Bit, (Bit, Bit)>,
    /// The greatest degree of hashes; and the sum of squared degrees of comparisons with hashes and changed bits.
    most: u32,
    pub recognized: f64,
}

impl Unknown {
    pub fn new(seed: Seed) -> Self {
        static REAL: LazyLock<[u8; 256]> = LazyLock::new(sbox);
        let random = Random::new(seed, 0);
        Self {
            random,
            sbox: Map::default(),
            remembered: Map::default(),
            forgotten: 0,
            real: *REAL,
            sums: Map::default(),
            made: Map::default(),
            lowest: Map::default(),
            carries: Map::default(),
            differences: Map::default(),
            facts: Vec::new(),
            met: 0,
            lines: None,
            hashes: Map::default(),
            changed: Map::default(),
            most: 0,
            recognized: 0.0,
        }
    }

    /// Returns the S-box of a byte.
    pub fn sbox(&mut self, of: Byte) -> Byte {
        if let Some(n) = number(&of) {
            return byte(self.real[n as usize]);
        }
        *self.sbox.entry(of).or_insert_with(|| self.random.symbols())
    }

    /// Returns `of` + `n` modulo 2^32.
    pub fn add32(&mut self, of: &Word32, n: u32) -> Word32 {
        if let Some(of) = number(of) {
            return lifted(u64::from((of as u32).wrapping_add(n)));
        }
        let (base, before) = self.sums.get(of).copied().unwrap_or((*of, 0));
        let sum = before.wrapping_add(n);
        if sum == 0 {
            return base;
        }
        if let Some(made) = self.made.get(&(base, sum)) {
            return *made;
        }
        let lowest = |word: &Word32| *word.first_chunk().expect("a byte");
        self.lowest.entry(lowest(&base)).or_insert((base, 0));
        let mut new: Word32 = std::array::from_fn(|_| self.random.symbol());
        // Without a carry out of the lowest byte, the others stay.
        if Self::range_by(&self.facts, &base, sum.wrapping_sub(1))[1] < 255 {
            let before = self.add32(&base, sum.wrapping_sub(1));
            new[8..].copy_from_slice(&before[8..]);
        }
        self.lowest.insert(lowest(&new), (base, sum));
        self.made.insert((base, sum), new);
        self.sums.insert(new, (base, sum));
        new
    }

    /// Returns `of` + `n` modulo 2^8: the lowest byte of a sum of 32 bits, if it is one of these.
    pub fn add8(&mut self, of: &Byte, n: u8) -> Byte {
        let (word, before) = self.origin(of).unwrap_or_else(|| (std::array::from_fn(|i| if i < 8 { of[i] } else { O }), 0));
        *self.add32(&word, before.wrapping_add(n.into())).first_chunk().expect("a byte")
    }

    /// Returns the carry of the sum of 32 bits and a number.
    pub fn carry32(&mut self, of: &Word32, n: u32) -> Bit {
        if let Some(of) = number(of) {
            return Bit::from((of as u32).checked_add(n).is_none());
        }
        *self.carries.entry((*of, n)).or_insert_with(|| self.random.symbol())
    }

    /// Returns `a` - `b` modulo 2^8, and whether `a` is less. Known of "less": neither is less if they are equal, and one is if they are not; so of the two answers one
    /// is a variable, and the other follows. With e for "equal", a point of the surface (1 + l)(1 + m) = e is what l and the bytes choose, and m is
    /// 1 + e / (1 + l). A polynomial that vanishes for all these points is a multiple of (1 + l)(1 + m) + e: this is linear in m, and 1 + l, its coefficient, has no
    /// factor with e in common, because e does not have l (Gauss' lemma). So the polynomial vanishes for all bytes. A polynomial of degree d has m at most d / 9 times, since m
    /// counts as the degree of e, eight times that of a bit, and one: [`crate::statement::prove::Proved`] makes the bound greater by (10/9)^2 for the denominators. (A point with l = 1
    /// gives a wrong m; that its probability is 2^-64 is less than what the bound rounds up.)
    pub fn difference8(&mut self, a: &Byte, b: &Byte) -> (Byte, Bit) {
        if let Some(known) = self.differences.get(&(*a, *b)) {
            return *known;
        }
        let low = self.random.symbols();
        let less = match self.differences.get(&(*b, *a)) {
            Some((_, more)) => none(&xor(a, b)).times(more.inverted().inverse()).inverted(),
            None => self.random.symbol(),
        };
        self.differences.insert((*a, *b), (low, less));
        (low, less)
    }

    /// Returns true if there is such a difference.
    pub fn differs(&self) -> bool {
        !self.differences.is_empty()
    }

    /// Returns the word and the number whose sum has this lowest byte.
    pub fn origin(&self, of: &Byte) -> Option<(Word32, u32)> {
        self.lowest.get(of).copied()
    }

    /// Returns the least and the greatest value of this byte on the current path.
    pub fn range(&self, of: &Byte) -> [u32; 2] {
        self.origin(of).map_or([0, 255], |(word, n)| Self::range_by(&self.facts[..self.met], &word, n))
    }

    fn range_by(facts: &[Option<Fact>], word: &Word32, n: u32) -> [u32; 2] {
        let mut range = [0, 255];
        for (_, from, [least, most]) in facts.iter().flatten().filter(|fact| fact.0 == *word) {
            let more = n.wrapping_sub(*from);
            // No carry, or a certain carry.
            let moved = match more {
                0..256 if most + more < 256 => [least + more, most + more],
                0..256 if least + more > 255 => [least + more - 256, most + more - 256],
                _ => continue,
            };
            range = [range[0].max(moved[0]), range[1].min(moved[1])];
        }
        range
    }

    /// Records the degree of these bits.
    pub fn note(&mut self, bits: &[Bit], degree: u32) {
        self.most = self.most.max(degree);
        self.hashes.extend(bits.iter().map(|&bit| (bit, degree)));
    }

    /// Lowers the bounds of hashes to the standard's degree. A product's bound is a sum of degrees, even if terms of that degree cancel, as they do in Winograd's
    /// multiplication.
    pub fn lower(&mut self, vector: &mut Vector) {
        let bytes = vector.bits.as_chunks::<8>().0.iter().zip(&mut vector.degrees);
        for (byte, degree) in bytes.filter(|(_, degree)| **degree > MANY) {
            let mut known = |bit| {
                self.recognized += self.hashes.len() as f64 * f64::from(self.most.max(*degree)).powi(2);
                self.hashes.get(bit)
            };
            let most = byte.iter().try_fold(0, |most, bit| Some(*known(bit)?.max(&most)));
            *degree = most.map_or(*degree, |most| most.min(*degree));
        }
    }

    /// Marks the values of the S-box so far, which `forget` keeps.
    pub fn remember(&mut self) {
        self.remembered = self.sbox.clone();
    }

    /// Forgets all values of the S-box since `remember`, which are not needed any more.
    pub fn forget(&mut self) {
        self.forgotten += self.sbox.len() - self.remembered.len();
        self.sbox = self.remembered.clone();
        self.hashes.clear();
    }

    /// Returns the number of arguments of the S-box and of sums: pairs of them could be confused.
    pub fn argument_count(&self) -> usize {
        self.forgotten + self.sbox.len() + self.made.len() + self.carries.len() + 2 * self.differences.len()
    }
}

/// Computes the S-box: the inverse in GF(2^8), then an affine map (FIPS 197, 5.1.1).
fn sbox() -> [u8; 256] {
    let times = |mut a: u8, mut b: u8| {
        let mut product = 0;
        while b != 0 {
            if b & 1 != 0 {
                product ^= a;
            }
            a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
            b >>= 1;
        }
        product
    };
    std::array::from_fn(|x| {
        let inverse = (0..=255).find(|&y| times(x as u8, y) == 1).unwrap_or(0);
        (1..5).fold(inverse ^ 0x63, |sum, by| sum ^ inverse.rotate_left(by))
    })
}
