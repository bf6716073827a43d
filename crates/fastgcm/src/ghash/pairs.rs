//! How rows without an instruction for GHASH hash (`gcm::software`): one or two blocks at a time, in the
//! order of memory.

use super::{
    multiply::{Multiply, Winograd, fold},
    powers::times_x,
};
use crate::{
    Block,
    inout::{Plain, Table, plain},
    isa::{
        Vectors,
        nibbles::{Lookups, Permutes},
    },
};

pub(crate) trait Pairs<S: Vectors>: Copy {
    /// The tables that `hash` reads.
    type Tables: Plain;
    /// Fills in the tables. `h` is AES(0).
    fn fill(s: S, tables: &mut Self::Tables, h: Block);
    /// Continues GHASH from `hash` over these blocks. A single block may take as long as two.
    fn hash(s: S, tables: &Self::Tables, hash: Block, blocks: &[[u8; 16]]) -> Block;
}

plain! {
    /// The powers of one vector of at most [`MOST`] blocks, and the sum of their constants.
    pub(crate) struct OneVector {
        /// First entries of H^2 and H, second entries, constants, and blocks that fill a cache line.
        table: Table<{ 4 * MOST }>,
    }
}

/// The most blocks of that vector.
const MOST: usize = 2;

impl OneVector {
    /// Fills in the entries; `row` holds the powers.
    fn set<S: Vectors, M: Multiply<S>>(&mut self, s: S, row: S::V, constants: Block) {
        const { assert!(S::BLOCKS <= MOST) }
        let (first, second) = M::table(s, row, fold(s, row));
        self.table.store(s, 0, first);
        self.table.store(s, MOST, second);
        self.table.store(s, 2 * MOST, s.first(constants));
    }

    fn get<S: Vectors>(&self, s: S) -> [S::V; 3] {
        [self.table.load(s, 0), self.table.load(s, MOST), self.table.load(s, 2 * MOST)]
    }
}

/// Hashing in vectors of one or two blocks, with the powers of one vector.
impl<S: Vectors> Pairs<S> for Winograd {
    type Tables = OneVector;

    /// The square and the constants come from hashing: a product in place would be two kilobytes of code, and
    /// there are six. Before there are constants, hashing zeros yields exactly the constants. (The constants
    /// of two lanes with one power cancel each other.)
    fn fill(s: S, powers: &mut OneVector, h: Block) {
        let mut row = s.splat(times_x(h.swap_bytes()));
        powers.set::<S, Self>(s, row, 0);
        if const { S::BLOCKS == 2 } {
            let square = Self::hash(s, powers, h, &[[0; 16]]);
            row = s.put_last(s.splat(times_x(square.swap_bytes())), times_x(h.swap_bytes()));
            powers.set::<S, Self>(s, row, 0);
        }
        let zeros = Self::hash(s, powers, 0, &[[0; 16]; 2][..S::BLOCKS]);
        powers.set::<S, Self>(s, row, zeros.swap_bytes());
    }

    #[inline(never)]
    fn hash(s: S, powers: &OneVector, mut hash: Block, blocks: &[[u8; 16]]) -> Block {
        hash = hash.swap_bytes();
        for blocks in blocks.chunks(S::BLOCKS) {
            // The hash goes with the first block; a single block is in the last lane.
            let mut lanes = [0; 2];
            for (lane, block) in lanes.iter_mut().rev().zip(blocks.iter().rev()) {
                *lane = Block::from_be_bytes(*block);
            }
            lanes[2 - blocks.len()] ^= hash;
            let [b, k, constants] = powers.get(s);
            let blocks = s.put_last(s.splat(lanes[0]), lanes[1]);
            hash = s.fold(Self::reduce(s, Self::product(s, Self::ready(s, blocks, b, k)), constants));
        }
        hash.swap_bytes()
    }
}

/// Hashing by looking up nibbles ([`isa::nibbles`](crate::isa::nibbles)).
#[derive(Clone, Copy)]
#[allow(dead_code)] // a row of x86 has it
pub(crate) struct Nibbles;

impl<S: Permutes> Pairs<S> for Nibbles {
    /// The lookups of H^2 and H.
    type Tables = [Lookups<Block>; 2];

    fn fill(s: S, powers: &mut Self::Tables, h: Block) {
        s.lookups(h, &mut powers[1]);
        let square = s.hash(powers, h, &[[0; 16]]);
        s.lookups(square, &mut powers[0]);
    }

    fn hash(s: S, powers: &Self::Tables, hash: Block, blocks: &[[u8; 16]]) -> Block {
        s.hash(powers, hash, blocks)
    }
}
