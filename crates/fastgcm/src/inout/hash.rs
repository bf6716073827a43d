//! GHASH between two pieces of a message, and the bytes that wait for it.

use super::{InOut, SealedTurn, TURN, Table, Turn, store_bytes_of_block};
use crate::{Block, isa::Vectors};
use core::mem::MaybeUninit;
use zeroize::{Zeroize, optimization_barrier};

/// What a row keeps between two pieces of a message.
#[derive(Clone)]
pub(crate) struct Hash {
    /// GHASH of the bytes that do not wait, with its bytes reversed, on every row; the other lanes are zero.
    /// (It is stored as a vector: as two numbers of 64 bits it was loaded before both had left the store
    /// buffer, and a piece of 16 bytes took 56 ns on Zen 5.)
    lanes: Table<4>,
    /// AAD and ciphertext that wait to be hashed: a turn that is hashed beside the AES of the next turn takes
    /// no extra time, but alone it takes as long as AES. `filled` bytes of this are in use.
    waiting: MaybeUninit<Table<{ WAITING / 16 }>>,
    filled: usize,
}

/// The most bytes that wait: a turn of the widest vectors.
pub(crate) const WAITING: usize = 16 * 4 * TURN;

/// The number of blocks of keystream made at a time for small pieces of text: those of the widest vector.
pub(crate) const PADS: usize = 4;

impl Hash {
    pub(crate) const ZERO: Self = Self { lanes: Table::ZERO, waiting: MaybeUninit::uninit(), filled: 0 };

    /// Returns GHASH so far of the bytes that do not wait, with its bytes reversed.
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

    /// Returns GHASH as it is stored, to be continued.
    #[inline(always)]
    pub(crate) fn lanes_mut(&mut self) -> &mut Table<4> {
        &mut self.lanes
    }

    /// Returns how many bytes wait.
    #[inline(always)]
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the bytes that wait.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> &[u8] {
        // SAFETY: `filled` bytes have been written.
        unsafe { core::slice::from_raw_parts(self.waiting.as_ptr().cast(), self.filled) }
    }

    /// Notes that no byte waits any more.
    #[inline(always)]
    pub(crate) fn hashed(&mut self) {
        self.filled = 0;
    }

    /// Lets the first `n <= 16` bytes of `block` wait. There must be room for them.
    #[inline(always)]
    pub(crate) fn wait(&mut self, block: Block, n: usize) {
        assert!(n <= 16 && self.filled + n <= WAITING);
        // SAFETY: the line above has checked the room.
        unsafe { store_bytes_of_block(self.waiting.as_mut_ptr().cast::<u8>().add(self.filled), n, block) };
        self.filled += n;
    }

    /// Pads the waiting bytes with zeros to whole blocks.
    #[inline(always)]
    pub(crate) fn pad(&mut self) {
        self.wait(0, self.filled.wrapping_neg() % 16);
    }

    /// Lets a sealed turn wait. Nothing else may wait.
    #[inline(always)]
    pub(crate) fn let_wait<S: Vectors>(&mut self, s: S, turn: SealedTurn<'_, S>) {
        const { assert!(16 * S::BLOCKS * TURN <= WAITING) }
        let room = self.waiting.as_mut_ptr().cast::<u8>();
        each!(I in 0 1 2 3 4 5 6 7 => {
            // SAFETY: a turn fits.
            unsafe { s.store(room.add(16 * S::BLOCKS * I), turn.load::<I>(s)) }
        });
        self.filled = 16 * S::BLOCKS * TURN;
    }

    /// Returns the waiting turn, if a whole turn waits and there are registers for it.
    #[inline(always)]
    pub(crate) fn take_turn<S: Vectors>(&mut self, s: S) -> Option<SealedTurn<'static, S>> {
        const { assert!(16 * S::BLOCKS * TURN <= WAITING) }
        if const { !S::MANY_REGISTERS } || self.filled != 16 * S::BLOCKS * TURN {
            return None;
        }
        self.filled = 0;
        let mut turn = Turn::new(s, InOut::EMPTY); // it lies in no text
        let room = self.waiting.as_ptr().cast::<u8>();
        // SAFETY: a whole turn of bytes has been written.
        each!(I in 0 1 2 3 4 5 6 7 => { turn.kept[I] = unsafe { s.load(room.add(16 * S::BLOCKS * I)) }; });
        Some(SealedTurn::of(turn))
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
