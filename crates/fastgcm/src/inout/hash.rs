//! GHASH between two pieces of a message.

use super::{InOut, Lanes, Room, Turn};
use crate::{Block, isa::Vectors};
use zeroize::Zeroize;

/// What a row keeps between two pieces of a message.
#[derive(Clone)]
pub(crate) struct Hash {
    /// All lanes but the first are zero unless a turn waits or has just been done. The first then is GHASH so far, its bytes turned round, on every row.
    lanes: Lanes,
    /// The last turn of a piece that was sealed waits in its room, and is hashed beside the AES of the next piece: alone it takes as long as AES, and
    /// the processor does not overlap what is so far apart.
    waits: bool,
    /// What whole turns make their counter blocks of (`gcm::counter`), and behind which period: 0 if nothing is kept.
    counter: Lanes,
    behind: u32,
}

impl Hash {
    pub(crate) const ZERO: Self = Self { lanes: Lanes::ZERO, waits: false, counter: Lanes::ZERO, behind: 0 };

    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// GHASH so far, its bytes turned round. No turn waits.
    #[inline(always)]
    pub(crate) fn get(&self) -> Block {
        debug_assert!(!self.waits);
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

    /// What was kept for that period, if it was that one.
    #[inline(always)]
    pub(crate) fn counter<S: Vectors>(&self, s: S, period: u32) -> Option<S::V> {
        if self.behind == period + 1 { Some(self.counter.load(s, 0)) } else { None }
    }

    #[inline(always)]
    pub(crate) fn keep_counter<S: Vectors>(&mut self, s: S, counter: S::V, period: u32) {
        self.counter.store(s, 0, counter);
        self.behind = period + 1;
    }

    /// The turn that waits in `room`, if one does.
    #[inline(always)]
    pub(crate) fn take_turn<S: Vectors>(&mut self, s: S, room: &Room) -> Option<Turn<'static, S>> {
        if !core::mem::take(&mut self.waits) {
            return None;
        }
        let mut turn = Turn::new(s, &InOut::EMPTY); // it lies in no text
        each!(I in 0 1 2 3 4 5 6 7 => { turn.kept[I] = room.load(s, I * S::BLOCKS); });
        Some(turn)
    }

    /// Lets a turn wait there. Only where it has been kept in registers.
    #[inline(always)]
    pub(crate) fn let_wait<S: Vectors>(&mut self, s: S, turn: Turn<'_, S>, room: &mut Room) {
        each!(I in 0 1 2 3 4 5 6 7 => { room.store(s, I * S::BLOCKS, turn.kept[I]); });
        self.waits = true;
    }
}

impl Zeroize for Hash {
    fn zeroize(&mut self) {
        self.lanes.zeroize();
        self.counter.zeroize();
        self.behind = 0;
    }
}
