//! Tables of blocks, in a key or of a message.

use super::{Plain, part_of_block};
use crate::{Block, isa::Vectors};
use core::mem::MaybeUninit;
use zeroize::{Zeroize, optimization_barrier};

/// A table of blocks that can be read one by one or a vector at a time. In memory every block has its bytes
/// in the order of the message, whatever the machine's own byte order.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Table<const N: usize>([Block; N]);

impl<const N: usize> Table<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    pub(crate) const fn set(&mut self, i: usize, block: Block) {
        self.0[i] = block.to_le();
    }

    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> Block {
        Block::from_le(self.0[i])
    }

    /// Returns the whole table, in the order of a message.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: blocks are plain bytes.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), 16 * N) }
    }

    /// Returns the `n <= 16` bytes from byte `i` on, as the first bytes of a block.
    #[inline(always)]
    pub(crate) fn part_of_block(&self, i: usize, n: usize) -> Block {
        part_of_block(&self.bytes()[i..][..n])
    }

    /// Loads the vector that starts at block `i`.
    #[inline(always)]
    pub(crate) fn load<S: Vectors>(&self, s: S, i: usize) -> S::V {
        assert!(i <= N - S::BLOCKS);
        // SAFETY: the line above has checked the bounds.
        unsafe { s.load(self.0.as_ptr().add(i).cast()) }
    }

    #[inline(always)]
    pub(crate) fn store<S: Vectors>(&mut self, s: S, i: usize, v: S::V) {
        assert!(i <= N - S::BLOCKS);
        // SAFETY: the line above has checked the bounds.
        unsafe { s.store(self.0.as_mut_ptr().add(i).cast(), v) }
    }

    /// Writes zeros to the first `n` vectors. (A `memset` of more than 2 KiB took 17 ns on Zen 5, and nothing
    /// else ran meanwhile.)
    #[inline(always)]
    pub(crate) fn wipe_vectors<S: Vectors>(&mut self, s: S, n: usize) {
        let zero = no_memset(s);
        for i in 0..n {
            self.store(s, i * S::BLOCKS, zero);
        }
        optimization_barrier(self);
    }

    /// Writes zeros to `VECTORS` vectors, eight at most, from block `i` on.
    #[inline(always)]
    pub(crate) fn wipe_at<S: Vectors, const VECTORS: usize>(&mut self, s: S, i: usize) {
        assert!(VECTORS <= 8 && i <= N - VECTORS * S::BLOCKS);
        let (zero, place) = (no_memset(s), self.0.as_mut_ptr().cast::<u8>().wrapping_add(16 * i));
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < VECTORS } {
            // SAFETY: the assertion has checked the bounds.
            unsafe { s.store(place.add(16 * S::BLOCKS * I), zero) }
        } });
    }

    /// Returns `blocks` blocks from block `i` on.
    #[inline(always)]
    pub(crate) fn part(&self, i: usize, blocks: usize) -> Part<'_> {
        Part(&self.0[i..][..blocks])
    }

    /// Returns `blocks` blocks, the first of which stands `n` blocks before block `end`.
    #[inline(always)]
    pub(crate) fn part_before(&self, end: usize, n: usize, blocks: usize) -> Part<'_> {
        assert!(n <= end && end - n + blocks <= N);
        // SAFETY: the line above has checked the bounds. (As `part(end - n, ..)` this takes two instructions
        // more; by blocks instead of bytes it takes up to five more in an end, because `n` is derived from a
        // number of bytes.)
        Part(unsafe { core::slice::from_raw_parts(self.0.as_ptr().add(end).byte_sub(16 * n), blocks) })
    }
}

/// A part of a table: bounds are checked once, and positions inside are constants of the program. (A check
/// for each vector left eight compare-and-branch pairs in the bulk loop, and an index for each left three
/// instructions a load in every tail.)
#[derive(Clone, Copy)]
pub(crate) struct Part<'a>(&'a [Block]);

impl Part<'_> {
    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> Block {
        Block::from_le(self.0[i])
    }

    /// Loads the vector that starts at block `i`.
    #[inline(always)]
    pub(crate) fn load<S: Vectors>(self, s: S, i: usize) -> S::V {
        assert!(i + S::BLOCKS <= self.0.len());
        // SAFETY: the line above has checked the bounds.
        unsafe { s.load(self.0.as_ptr().add(i).cast()) }
    }
}

/// Memory that becomes a table, vector by vector.
pub(crate) struct Filling<'a, const N: usize> {
    table: &'a mut MaybeUninit<Table<N>>,
    filled: usize,
}

impl<'a, const N: usize> Filling<'a, N> {
    #[inline(always)]
    pub(crate) fn new(table: &'a mut MaybeUninit<Table<N>>) -> Self {
        Self { table, filled: 0 }
    }

    /// Writes the next vectors: as many of these as `VECTORS` says.
    #[inline(always)]
    pub(crate) fn push<S: Vectors, const VECTORS: usize>(&mut self, s: S, vectors: &[S::V; 8]) {
        assert!(VECTORS <= 8 && self.filled <= N - VECTORS * S::BLOCKS);
        let place = self.table.as_mut_ptr().cast::<u8>().wrapping_add(16 * self.filled);
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < VECTORS } {
            // SAFETY: the assertion has checked the bounds.
            unsafe { s.store(place.add(16 * S::BLOCKS * I), vectors[I]) }
        } });
        self.filled += VECTORS * S::BLOCKS;
    }

    /// Returns the table, if all of it has been written.
    #[inline(always)]
    pub(crate) fn all(self) -> Option<&'a mut Table<N>> {
        // SAFETY: each block has been written.
        if self.filled == N { Some(unsafe { self.table.assume_init_mut() }) } else { None }
    }
}

/// Returns a zero that the optimiser does not recognise: it would merge its stores into a `memset`.
#[inline(always)]
pub(crate) fn no_memset<S: Vectors>(s: S) -> S::V {
    let mut zero = s.splat(0);
    s.pin(&mut zero);
    zero
}

/// One fill and a barrier: the loop of volatile stores in `zeroize` took as long as a short message.
impl<const N: usize> Zeroize for Table<N> {
    fn zeroize(&mut self) {
        self.wipe();
    }
}
