//! How rows without an instruction for it hash (`gcm::software`): one block at a time or two, in the order of memory.

use super::{
    multiply::{Multiply, Winograd},
    powers::{Ask, Down, Powers, times_x},
};
use crate::{
    Block,
    isa::{Vectors, nibbles::Permutes},
};

pub(crate) trait Pairs<S: Vectors>: Copy {
    /// What variants are compared with, which multiply vectors (`backend::Job`).
    type Multiply: Multiply<S>;
    #[cfg(feature = "internals")]
    fn multiply(self) -> Self::Multiply;

    /// Fills in what `hash` reads. `h` is AES(0).
    fn fill(s: S, powers: &mut Powers, h: Block);
    /// GHASH goes on from `hash` over these blocks. One that is left alone may take as long as two.
    fn hash(s: S, powers: &Powers, hash: Block, blocks: &[[u8; 16]]) -> Block;
}

/// In vectors of one or two blocks, with the powers of one.
impl<S: Vectors> Pairs<S> for Winograd {
    type Multiply = Self;
    #[cfg(feature = "internals")]
    fn multiply(self) -> Self {
        self
    }

    /// By hashing: a product in place would be two kilobytes of code, and there are six. What zeros leave where there are no constants yet, are the
    /// constants. (Those of two lanes with one power cancel each other.)
    fn fill(s: S, powers: &mut Powers, h: Block) {
        let mut row = s.splat(times_x(h.swap_bytes()));
        powers.set_one::<S, Self>(s, row, 0);
        if const { S::BLOCKS == 2 } {
            let square = Self::hash(s, powers, h, &[[0; 16]]);
            row = s.put_last(s.splat(times_x(square.swap_bytes())), times_x(h.swap_bytes()));
            powers.set_one::<S, Self>(s, row, 0);
        }
        let zeros = Self::hash(s, powers, 0, &[[0; 16]; 2][..S::BLOCKS]);
        powers.set_one::<S, Self>(s, row, zeros.swap_bytes());
    }

    #[inline(never)]
    fn hash(s: S, powers: &Powers, mut hash: Block, blocks: &[[u8; 16]]) -> Block {
        const { assert!(S::BLOCKS <= 2) }
        let powers = powers.down_from(s, S::BLOCKS);
        hash = hash.swap_bytes();
        for blocks in blocks.chunks(S::BLOCKS) {
            // The hash goes with the first; one alone stands in the last lane.
            let mut lanes = [0; 2];
            for (lane, block) in lanes.iter_mut().rev().zip(blocks.iter().rev()) {
                *lane = Block::from_be_bytes(*block);
            }
            lanes[2 - blocks.len()] ^= hash;
            let (b, k) = powers.vector(0);
            let blocks = s.put_last(s.splat(lanes[0]), lanes[1]);
            hash = s.fold(Self::reduce(s, Self::product(s, Self::ready(s, blocks, b, k)), powers.constants()));
        }
        hash.swap_bytes()
    }
}

/// By looking up nibbles ([`isa::nibbles`](crate::isa::nibbles)).
#[derive(Clone, Copy)]
#[allow(dead_code)] // a row of x86 has it
pub(crate) struct Nibbles;

impl<S: Permutes> Pairs<S> for Nibbles {
    type Multiply = Winograd;
    #[cfg(feature = "internals")]
    fn multiply(self) -> Winograd {
        Winograd
    }

    fn fill(s: S, powers: &mut Powers, h: Block) {
        s.lookups(h, &mut powers.lookups_mut()[1]);
        let square = s.hash(powers.lookups(), h, &[[0; 16]]);
        s.lookups(square, &mut powers.lookups_mut()[0]);
    }

    fn hash(s: S, powers: &Powers, hash: Block, blocks: &[[u8; 16]]) -> Block {
        s.hash(powers.lookups(), hash, blocks)
    }
}
