//! The words with which [`portable`](super) computes: integers of 64 bits, or as many of them side by side as
//! every processor of the target has.

use crate::Block;
use core::ops::{BitAnd, BitOr, BitXor, Not};

/// Lanes of 64 bits.
pub(crate) trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    const LANES: usize;
    /// The blocks that eight words hold: four for each lane.
    type Blocks;

    /// Returns a word with these bits in every lane.
    fn splat(bits: u64) -> Self;
    fn from_lanes(lane: impl Fn(usize) -> u64) -> Self;
    fn lane(self, i: usize) -> u64;
    /// Shifts every lane by `bits` bits, to the higher ones.
    fn up(self, bits: u32) -> Self;
    fn down(self, bits: u32) -> Self;
    /// Returns the product of the lower 32 bits of each lane.
    fn mul32(self, other: Self) -> Self;
    /// A lane has four rows of four columns of 4 bits: returns what is `ROWS` rows below and `COLUMNS`
    /// columns aside, wrapping around both.
    fn below<const ROWS: u32, const COLUMNS: u32>(self) -> Self;

    /// Puts the columns of block b with parity p into word 4p + b, interleaved: byte 2r + c/2 of the word is
    /// the byte of row r, column c. (Lane l has block 4l + b.)
    fn interleave(blocks: Self::Blocks) -> [Self; 8];
    /// Undoes `interleave`.
    fn blocks(words: [Self; 8]) -> Self::Blocks;
}

impl Word for u64 {
    const LANES: usize = 1;
    type Blocks = [Block; 4];

    #[inline(always)]
    fn splat(bits: u64) -> u64 {
        bits
    }
    #[inline(always)]
    fn from_lanes(lane: impl Fn(usize) -> u64) -> u64 {
        lane(0)
    }
    #[inline(always)]
    fn lane(self, _: usize) -> u64 {
        self
    }
    #[inline(always)]
    fn up(self, bits: u32) -> u64 {
        self << bits
    }
    #[inline(always)]
    fn down(self, bits: u32) -> u64 {
        self >> bits
    }
    #[inline(always)]
    fn mul32(self, other: u64) -> u64 {
        u64::from(self as u32) * u64::from(other as u32)
    }
    #[inline(always)]
    fn below<const ROWS: u32, const COLUMNS: u32>(self) -> u64 {
        let inside = 0x0001_0001_0001_0001 * ((1 << (16 - 4 * COLUMNS)) - 1);
        let aside = 16 * ROWS + 4 * COLUMNS;
        self.rotate_right(aside) & inside | self.rotate_right(aside - 16) & !inside
    }

    #[inline(always)]
    fn interleave(blocks: [Block; 4]) -> [u64; 8] {
        let mut words = [0; 8];
        for (b, block) in blocks.iter().enumerate() {
            let column = |c: u32| spread((block >> (32 * c)) as u32);
            words[b] = column(0) | column(2) << 8;
            words[4 + b] = column(1) | column(3) << 8;
        }
        words
    }
    #[inline(always)]
    fn blocks(words: [u64; 8]) -> [Block; 4] {
        core::array::from_fn(|b| {
            let [even, odd] = [words[b], words[4 + b]];
            gather(even) as Block
                | (gather(odd) as Block) << 32
                | (gather(even >> 8) as Block) << 64
                | (gather(odd >> 8) as Block) << 96
        })
    }
}

/// Spreads four bytes to every other byte of eight.
fn spread(x: u32) -> u64 {
    let x = x as u64;
    let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    (x | x << 8) & 0x00ff_00ff_00ff_00ff
}

/// Undoes `spread`, and drops what lies between.
fn gather(x: u64) -> u32 {
    let x = x & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}
