//! An instruction set for tests that counts its operations and computes nothing: what a message takes depends on lengths alone. (As a
//! wrapper around `Portable` it would give right tags as well, and take eight minutes to compile.)
//!
//! Operations that every step has anyway, XOR and shuffles, are not counted.

extern crate std;
use super::{
    Isa, Order, Sliced, Vectors,
    nibbles::{Lookups, Permutes},
};
use crate::Block;
use std::cell::Cell;

/// Work of one message, in operations on vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Carry-less multiplications, those of reductions included.
    pub(crate) clmul: usize,
    /// Of these, by the constant of the reduction.
    pub(crate) reductions: usize,
    /// Sums over lanes.
    pub(crate) folds: usize,
    /// AES rounds but the last.
    pub(crate) rounds: usize,
    pub(crate) last_rounds: usize,
    /// Whole vectors read: text in turns, powers of H, counters.
    pub(crate) loads: usize,
    /// Bytes read in parts of vectors: text of tails, AAD.
    pub(crate) bytes_read: usize,
    /// Bytes written: the text, once.
    pub(crate) bytes_written: usize,
}

std::thread_local! {
    static WORK: Cell<Work> = Cell::default();
}

impl Work {
    /// From now on, in this thread.
    pub(crate) fn start() {
        WORK.take();
    }

    /// Since then.
    pub(crate) fn done() -> Self {
        WORK.get()
    }

    fn count(count: impl FnOnce(&mut Self)) {
        let mut work = WORK.get();
        count(&mut work);
        WORK.set(work);
    }
}

/// `B` blocks a vector, and many registers or few.
#[derive(Clone, Copy)]
pub(crate) struct Counting<const B: usize, const ROOMY: bool = false>;

/// All that is to be known of a vector: whether it is the constant of the reduction.
pub(crate) type IsFold = bool;

impl<const B: usize, const ROOMY: bool> Vectors for Counting<B, ROOMY> {
    type V = IsFold;
    const BLOCKS: usize = B;
    const ROOMY: bool = ROOMY;

    #[inline(never)]
    unsafe fn load(self, _: *const u8) -> IsFold {
        Work::count(|w| w.loads += 1);
        false
    }
    #[inline(never)]
    unsafe fn store(self, _: *mut u8, _: IsFold) {
        Work::count(|w| w.bytes_written += 16 * B);
    }
    #[inline(never)]
    unsafe fn load_first(self, _: *const u8, n: usize) -> IsFold {
        Work::count(|w| w.bytes_read += n);
        false
    }
    #[inline(never)]
    unsafe fn store_first(self, _: *mut u8, n: usize, _: IsFold) {
        Work::count(|w| w.bytes_written += n);
    }
    #[inline(never)]
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, _: IsFold, b: IsFold) -> IsFold {
        Work::count(|w| {
            w.clmul += 1;
            w.reductions += b as usize;
        });
        false
    }
    #[inline(never)]
    fn fold(self, _: IsFold) -> Block {
        Work::count(|w| w.folds += 1);
        0
    }

    fn splat(self, block: Block) -> IsFold {
        const X63_X62_X57: Block = 0xc2 << 56;
        block == X63_X62_X57
    }
    fn first(self, _: Block) -> IsFold {
        false
    }
    fn put_last(self, _: IsFold, _: Block) -> IsFold {
        false
    }
    fn keep_first(self, _: IsFold, _: usize) -> IsFold {
        false
    }
    fn xor(self, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn xor3(self, _: IsFold, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn byte_swap(self, _: IsFold) -> IsFold {
        false
    }
    fn swap_halves(self, _: IsFold) -> IsFold {
        false
    }
    fn low_halves(self, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn high_halves(self, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn add32(self, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn pin(self, _: &mut IsFold) {}
}

impl<const B: usize, const ROOMY: bool> Isa for Counting<B, ROOMY> {
    type State = ();
    const FACE_PAYS: usize = if B == 1 && ROOMY { usize::MAX } else { 1 << 14 }; // as in the rows, but sooner
    #[inline(never)]
    fn round(self, _: &mut (), _: &()) {
        Work::count(|w| w.rounds += 1);
    }
    #[inline(never)]
    fn last_round(self, _: (), _: (), _: (), _: IsFold) -> IsFold {
        Work::count(|w| w.last_rounds += 1);
        false
    }

    fn whiten(self, _: IsFold, _: IsFold) -> IsFold {
        false
    }
    fn leave(self, _: ()) -> IsFold {
        false
    }
    fn state(self, _: IsFold) {}
    fn next_words<const ROTATE: bool>(self, _: Block, _: Block, _: u8) -> Block {
        0
    }
    fn pin_state(self, _: &mut ()) {}
}

/// What the rows without AES instructions have, by their words: four blocks, or eight.
macro_rules! sliced {
    ($blocks:literal, $n:literal) => {
        impl Sliced<$n> for Counting<$blocks> {
            fn round_keys(self, _: &mut [[Block; 4]]) {}
            #[inline(never)]
            fn keystream(self, keys: &[[Block; 4]], _: Block, _: Order, _: &mut [Block; $n], _: usize) {
                Work::count(|w| {
                    w.rounds += keys.len() - 2;
                    w.last_rounds += 1;
                });
            }
        }
    };
}
sliced!(1, 4);
sliced!(2, 8);

/// The row that looks nibbles up: by the block.
impl Sliced<8> for Counting<2, true> {
    fn round_keys(self, _: &mut [[Block; 4]]) {}
    fn keystream(self, keys: &[[Block; 4]], _: Block, _: Order, _: &mut [Block; 8], wanted: usize) {
        Work::count(|w| {
            w.rounds += wanted * (keys.len() - 2);
            w.last_rounds += wanted;
        });
    }
}

impl Permutes for Counting<2, true> {
    fn lookups(self, _: Block, _: &mut Lookups<Block>) {}
    fn hash(self, _: &[Lookups<Block>; 2], _: Block, blocks: &[[u8; 16]]) -> Block {
        Work::count(|w| {
            w.clmul += blocks.len();
            w.reductions += blocks.len().div_ceil(2);
        });
        0
    }
}
