//! Two rounds ahead: blocks 256 apart share the first two rounds of AES.
//!
//! The counter blocks of a message differ in their counter only. Let b be the last byte of the counter (byte
//! 15 of the block), and w all other bytes. Each round but the last is SubBytes, ShiftRows, MixColumns and a
//! round key.
//!
//! * *Round 1.* SubBytes goes byte by byte. ShiftRows moves byte 15 to column 0, beside bytes 0, 5 and 10, which
//!   are bytes of the nonce. It moves the other bytes of the counter, 12, 13 and 14, to columns 0, 3 and 2; byte
//!   12 stands in row 0, so it goes to column 3. MixColumns mixes within a column. So after round 1 column 0
//!   depends on b alone, and columns 1 to 3 depend on w alone.
//! * *Round 2.* SubBytes goes byte by byte again, so each byte depends on b alone or on w alone. The rest of the
//!   round is linear. So the state is a sum: **state after round 2 = A(b) + B(w)**.
//!
//! A *window* is 256 blocks of text, from a multiple of 256 on. The blocks of a text's first window are encrypted
//! as usual, and their states after round 2 are kept: 4 KiB ([`Fill`]). Entry i holds A(b) + B(w) with the b and w of
//! block i of that window. In window k the same places have the same b, and other bytes w. So a block of window k needs one
//! load and one XOR, entry i + D(k), in place of its counter block, its whitening and two rounds ([`Take`]). D(k) is
//! the sum of B in window k and B in the first window: one block of each window tells it.
//!
//! A text begins with counter 2. So the last byte of the counter overflows within a window: blocks 254 and 255
//! of a window have the w of the next window's first blocks, and need D(k + 1). We keep both differences: before
//! window k, D(k - 1) + D(k + 1) is added to entries 254 and 255, so that D(k) serves all entries. The counter of GCM-SIV is in bytes 0
//! to 3, and byte 0 goes to column 0, too. It starts anywhere; the blocks before an overflow go the usual way, and
//! then a window has no overflow inside.
//!
//! The table is as secret as the key: with known counters, two rounds tell two round keys. It lives for one call,
//! and each entry is overwritten with zeros when it is taken for the last time.
//!
//! Sources: Bernstein and Schwabe, "New AES software speed records" (2008), section 4, cache states of counter mode
//! between messages and blocks; Park and Lee, "FACE: Fast AES CTR mode encryption techniques based on the reuse of repetitive data" (TCHES
//! 2018, issue 3). Ours: the first window fills the table as it passes, and GHASH is woven into the rounds that are
//! left.

use super::{
    counter::{Counters, Keep, STATES},
    plan::WINDOW,
    turn::key_of,
};
use crate::{
    Block,
    aes::Schedule,
    inout::{Filling, Table, no_memset},
    isa::Isa,
};
use zeroize::optimization_barrier;

/// The blocks of the first window, whose states are kept.
pub(crate) struct Fill<'t, C> {
    counters: C,
    table: Filling<'t, WINDOW>,
}

impl<'t, C> Fill<'t, C> {
    /// Takes the counters from the first block of a window on.
    #[inline(always)]
    pub(crate) fn new(counters: C, table: Filling<'t, WINDOW>) -> Self {
        Self { counters, table }
    }

    /// Returns the windows behind the first, the next of which will take `taken` entries, or `None` unless the
    /// table is full. `first` is the first counter block of the first window, in every lane: mirrored, or with its counter first if
    /// `STRAIGHT` (as [`AddCounter`](super::counter::AddCounter) has it).
    #[inline(always)]
    pub(crate) fn windows<S: Isa, const STRAIGHT: bool>(
        self,
        s: S,
        schedule: &Schedule,
        first: S::V,
        taken: usize,
    ) -> Option<Windows<'t, S, STRAIGHT>> {
        let (table, zero) = (self.table.all()?, no_memset(s));
        let mut windows = Windows { table, first, now: zero, next: zero };
        windows.next = windows.difference(s, schedule);
        for i in (taken..WINDOW).step_by(S::BLOCKS) {
            windows.table.store(s, i, zero);
        }
        Some(windows)
    }
}

impl<S: Isa, C> Keep<S> for Fill<'_, C> {
    #[inline(always)]
    fn keep<const N: usize>(&mut self, s: S, x: &[S::State; STATES]) {
        let mut states = [s.splat(0); 8];
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } { states[I] = s.vector(x[I]); } });
        self.table.push::<S, N>(s, &states);
    }
}

impl<S: Isa, C: Counters<S>> Counters<S> for Fill<'_, C> {
    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        self.counters.next::<N>(s, schedule, x);
    }
}

/// The windows behind the first.
pub(crate) struct Windows<'t, S: Isa, const STRAIGHT: bool> {
    table: &'t mut Table<WINDOW>,
    /// The first counter block of a window, in every lane: of the last window that has a difference.
    first: S::V,
    /// The difference of this window, in every lane.
    now: S::V,
    /// The difference of the next window.
    next: S::V,
}

impl<S: Isa, const STRAIGHT: bool> Windows<'_, S, STRAIGHT> {
    /// Returns the difference of the window behind the last one that has a difference.
    #[inline(always)]
    fn difference(&mut self, s: S, schedule: &Schedule) -> S::V {
        self.first = s.add32(self.first, s.splat(WINDOW as Block));
        let block = if STRAIGHT { self.first } else { s.byte_swap(self.first) };
        let mut x = s.state(s.whiten(block, s.splat(schedule.keys[0])));
        each!(R in 1 2 => { s.round(&mut x, &s.state(s.splat(schedule.keys[key_of::<S>(R)]))); });
        s.xor(s.vector(x), s.splat(self.table.get(0)))
    }

    /// Begins the next window, of which `taken` entries will be taken. The window behind it will take `kept` entries.
    #[inline(always)]
    pub(crate) fn next(&mut self, s: S, schedule: &Schedule, taken: usize, kept: usize) -> Take<'_, S> {
        let before = self.now;
        self.now = self.next;
        if kept > 0 || taken == WINDOW {
            self.next = self.difference(s, schedule);
        }
        if !STRAIGHT && taken == WINDOW {
            let change = s.fold(s.keep_first(s.xor(before, self.next), 16));
            each!(I in 254 255 => { self.table.set(I, self.table.get(I) ^ change); });
        }
        Take { table: self.table, at: 0, kept, difference: self.now }
    }
}

impl<S: Isa, const STRAIGHT: bool> Drop for Windows<'_, S, STRAIGHT> {
    /// Sees to it that the zeros are written, which nobody reads.
    #[inline(always)]
    fn drop(&mut self) {
        optimization_barrier(self.table);
    }
}

/// The blocks of a window, as entries of the table.
pub(crate) struct Take<'t, S: Isa> {
    table: &'t mut Table<WINDOW>,
    /// The number of entries that were taken.
    at: usize,
    /// The number of entries that the next window will take.
    kept: usize,
    difference: S::V,
}

impl<S: Isa> Keep<S> for Take<'_, S> {}

impl<S: Isa> Counters<S> for Take<'_, S> {
    const AHEAD: bool = true;

    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, _: &Schedule, x: &mut [S::State; STATES]) {
        let entries = self.table.part(self.at, N * S::BLOCKS);
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } {
            x[I] = s.state(s.xor(entries.load(s, I * S::BLOCKS), self.difference));
        } });
        if self.at >= self.kept {
            self.table.wipe_at::<S, N>(s, self.at);
        }
        self.at += N * S::BLOCKS;
    }
}
