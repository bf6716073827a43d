//! GHASH between two pieces of a message, and what waits for it.

use super::{InOut, Stored, TURN, Table, Turn, store_bytes_of_block};
use crate::{Block, isa::Vectors};
use core::mem::MaybeUninit;
use zeroize::{Zeroize, optimization_barrier};

/// What a row keeps between two pieces of a message.
#[derive(Clone)]
pub(crate) struct Hash {
    /// GHASH of what does not wait, its bytes turned round, on every row; zeros in the other lanes. (In
    /// memory as a vector: as two numbers of 64 bits it was loaded before both had left the store buffer, and
    /// a piece of 16 bytes took 56 ns on Zen 5.)
    lanes: Table<4>,
    /// AAD and ciphertext that wait to be hashed: a turn hashed beside the AES of the next one takes no time,
    /// and alone as long as AES. `filled` bytes of it are there.
    waiting: MaybeUninit<Table<{ WAITING / 16 }>>,
    filled: usize,
}

/// The most bytes that wait: a turn of the widest vectors.
pub(crate) const WAITING: usize = 16 * 4 * TURN;

/// Blocks of keystream that are made at a time for small pieces of text: those of the widest vector.
pub(crate) const PADS: usize = 4;

impl Hash {
    pub(crate) const ZERO: Self = Self { lanes: Table::ZERO, waiting: MaybeUninit::uninit(), filled: 0 };

    /// GHASH so far, its bytes turned round, of what does not wait.
    #[inline(always)]
    pub(crate) fn get(&self) -> Block {
        self.lanes.get(0)
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, hash: Block) {
        self.lanes.set(0, hash);
    }

    #[inline(always)]
    pub(crate) fn load<S: Vectors>(&self, s: S) -> S::V {
        self.lanes.load(s, 0)
    }

    #[inline(always)]
    pub(crate) fn store<S: Vectors>(&mut self, s: S, lanes: S::V) {
        self.lanes.store(s, 0, lanes);
    }

    /// Bytes that wait.
    #[inline(always)]
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// What waits.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> &[u8] {
        // SAFETY: so many bytes have been written.
        unsafe { core::slice::from_raw_parts(self.waiting.as_ptr().cast(), self.filled) }
    }

    /// Nothing waits any more.
    #[inline(always)]
    pub(crate) fn hashed(&mut self) {
        self.filled = 0;
    }

    /// Lets the first `n <= 16` bytes of `block` wait, of which there must be room for all.
    #[inline(always)]
    pub(crate) fn wait(&mut self, block: Block, n: usize) {
        assert!(n <= 16 && self.filled + n <= WAITING);
        // SAFETY: just checked.
        unsafe { store_bytes_of_block(self.waiting.as_mut_ptr().cast::<u8>().add(self.filled), n, block) };
        self.filled += n;
    }

    /// Pads what waits with zeros to whole blocks.
    #[inline(always)]
    pub(crate) fn pad(&mut self) {
        self.wait(0, self.filled.wrapping_neg() % 16);
    }

    /// Lets a turn wait that was sealed. Nothing else may wait.
    #[inline(always)]
    pub(crate) fn let_wait<S: Vectors>(&mut self, s: S, turn: Stored<'_, S>) {
        const { assert!(16 * S::BLOCKS * TURN <= WAITING) }
        let room = self.waiting.as_mut_ptr().cast::<u8>();
        each!(I in 0 1 2 3 4 5 6 7 => {
            // SAFETY: a turn fits.
            unsafe { s.store(room.add(16 * S::BLOCKS * I), turn.load::<I>(s)) }
        });
        self.filled = 16 * S::BLOCKS * TURN;
    }

    /// The turn that waits, if what waits is a whole turn and there are registers for it.
    #[inline(always)]
    pub(crate) fn take_turn<S: Vectors>(&mut self, s: S) -> Option<Stored<'static, S>> {
        const { assert!(16 * S::BLOCKS * TURN <= WAITING) }
        if const { !S::MANY_REGISTERS } || self.filled != 16 * S::BLOCKS * TURN {
            return None;
        }
        self.filled = 0;
        let mut turn = Turn::new(s, InOut::EMPTY); // it lies in no text
        let room = self.waiting.as_ptr().cast::<u8>();
        // SAFETY: so many bytes have been written.
        each!(I in 0 1 2 3 4 5 6 7 => { turn.kept[I] = unsafe { s.load(room.add(16 * S::BLOCKS * I)) }; });
        Some(Stored::of(turn))
    }
}

impl Zeroize for Hash {
    fn zeroize(&mut self) {
        self.lanes.zeroize();
        self.waiting.write(Table::ZERO);
        optimization_barrier(self);
        self.filled = 0;
    }
}
