//! The powers of H that a key holds, in the layout that its multiplication wants.

use super::multiply::{Factor, Multiply, fold};
use crate::{
    Block,
    inout::{TURN, Table},
    isa::Isa,
};
use zeroize::Zeroize;

/// Powers kept for the widest vectors (four blocks).
const POWERS: usize = kept(4);
/// Zeros behind H^1: a vector that reaches past the last block multiplies zeros by zeros. `tail` proves that they are enough.
pub(crate) const PADDING: usize = 20;

/// The highest power that a message asks for: the longest tail, AAD beside it, and the lengths.
const fn kept(blocks: usize) -> usize {
    (TURN * blocks + blocks - 1 + aad_lanes(blocks) + 1).next_multiple_of(blocks)
}

/// Blocks of AAD that fit in a tail: its vector has one lane left for the lengths. (Vectors of one block take two.)
pub(crate) const fn aad_lanes(blocks: usize) -> usize {
    if blocks == 1 { 1 } else { blocks - 1 }
}

/// Powers descending: entry `POWERS - n` belongs to H^n, so that blocks and powers run the same way.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Powers {
    first: Table<{ POWERS + PADDING }>,
    second: Table<{ POWERS + PADDING }>,
    /// Entry `POWERS - n`: the constants of H^1 ..= H^n together.
    constants: Table<POWERS>,
    /// The constants of one turn of the bulk loop, for each lane.
    turn: Table<4>, // one is used; four fill the line, so that no padding keeps what the stack held before
}

impl Powers {
    pub(crate) const ZERO: Self = Self { first: Table::ZERO, second: Table::ZERO, constants: Table::ZERO, turn: Table::ZERO };

    /// The entries of H^n, H^(n-1), ..., but for the first `skip`: those of one vector.
    #[inline(always)]
    pub(crate) fn from<S: Isa>(&self, s: S, n: usize, skip: usize) -> (S::V, S::V) {
        (self.first.load(s, POWERS - n + skip), self.second.load(s, POWERS - n + skip))
    }

    /// The same for the first `blocks` lanes, zeros in the others. With `LAST`, the last lane meets H^1.
    #[inline(always)]
    pub(crate) fn partly<S: Isa, const LAST: bool>(&self, s: S, n: usize, skip: usize, blocks: usize) -> (S::V, S::V) {
        let (first, second) = self.from(s, n, skip);
        let (first, second) = (s.keep_first(first, 16 * blocks), s.keep_first(second, 16 * blocks));
        if LAST {
            (s.put_last(first, self.first.get(POWERS - 1)), s.put_last(second, self.second.get(POWERS - 1)))
        } else {
            (first, second)
        }
    }

    /// H^n in every lane.
    #[inline(always)]
    pub(crate) fn splat<S: Isa>(&self, s: S, n: usize) -> (S::V, S::V) {
        (s.splat(self.first.get(POWERS - n)), s.splat(self.second.get(POWERS - n)))
    }

    /// What to add to a sum that used each of H^1 ..= H^n once.
    #[inline(always)]
    pub(crate) fn constants(&self, n: usize) -> Block {
        self.constants.get(POWERS - n)
    }

    /// What to add to a sum that used H^n once.
    #[inline(always)]
    pub(crate) fn constant(&self, n: usize) -> Block {
        if n > 1 { self.constants(n) ^ self.constants(n - 1) } else { self.constants(1) }
    }

    /// What to add, in each lane, to a sum that used each of H^B, H^2B ..= H^8B once (B blocks to a vector).
    #[inline(always)]
    pub(crate) fn turn_constant(&self) -> Block {
        self.turn.get(0)
    }

    /// All powers that back end `s` can ask for, and no more: 10, 20 or 40. `h` is AES(0).
    ///
    /// By doubling, since one power after the other would wait for forty multiplications: the first n rows times H^nB, which all lanes
    /// of one vector hold and which is squared meanwhile, are the next n (B blocks to a row). Rows stay in registers: through memory,
    /// each doubling would wait for the stores of the one before.
    #[inline(always)]
    pub(crate) fn fill<S: Isa, M: Multiply<S>>(&mut self, s: S, h: Block) {
        let h = times_x(h.swap_bytes());
        let mut power = s.splat(h);

        // The first row: doubled lane by lane, in memory. Lanes that have no power yet are zero, and so are their products.
        self.first.store(s, POWERS - S::BLOCKS, s.splat(0));
        self.first.set(POWERS - 1, h);
        let mut n = 1;
        while n < S::BLOCKS {
            let double = Factor::new(s, power);
            let row = self.first.load(s, POWERS - S::BLOCKS);
            self.first.store(s, POWERS - S::BLOCKS - n, double.times(s, row));
            power = double.times(s, power);
            n *= 2;
        }

        let mut row = [self.first.load(s, POWERS - S::BLOCKS); ROWS];
        let mut double = Factor::new(s, power);
        each!(I in 1 2 3 4 5 6 7 8 9 => {
            row[I] = double.times(s, row[I - const { 1 << usize::ilog2(I) }]);
            if const { (I + 1_usize).is_power_of_two() } {
                power = double.times(s, power);
                double = Factor::new(s, power);
            }
        });

        each!(I in 0 1 2 3 4 5 6 7 8 9 => {
            let i = POWERS - (I + 1) * S::BLOCKS;
            let (first, second) = M::table(s, row[I], fold(s, row[I]));
            self.first.store(s, i, first);
            self.second.store(s, i, second);
            if M::CONSTANTS { self.constants.store(s, i, M::constant(s, first, second)); }
        });

        if !M::CONSTANTS {
            return;
        }
        let (mut sum, mut turn) = (0, 0);
        for n in 1..=ROWS * S::BLOCKS {
            let constant = self.constants.get(POWERS - n);
            sum ^= constant;
            self.constants.set(POWERS - n, sum);
            if n % S::BLOCKS == 0 && n <= TURN * S::BLOCKS {
                turn ^= constant;
            }
        }
        self.turn.set(0, turn);
    }
}

/// Rows of powers, on every back end.
const ROWS: usize = 10;
const _: () = assert!(kept(1) == ROWS && kept(2) == 2 * ROWS && kept(4) == 4 * ROWS);

/// H·x, mirrored. No branch on the key: the mask is all ones or all zeros.
#[inline(always)]
pub(super) fn times_x(h: Block) -> Block {
    (h << 1) ^ (((h as i128 >> 127) as Block) & ((0xc2 << 120) | 1))
}

impl Zeroize for Powers {
    fn zeroize(&mut self) {
        self.first.zeroize();
        self.second.zeroize();
        self.constants.zeroize();
        self.turn.zeroize();
    }
}
