//! Counter blocks, made in two ways. Types decide which way a message may use.
//!
//! **[`XorCounter`]: one XOR a vector.** The counter of text block i is i + 2. Within a group of blocks, as
//! many as a turn or a step has, the counter differs from the group's base only in its low bits, and these
//! are a table of a few entries. AES begins with an XOR of its first round key, which is folded into the
//! base. The table is indexed by the position in the message, and with a 96-bit nonce the index tells nothing
//! else. With any other nonce the counter starts at a value that depends on H, and an index derived from it
//! would lead a neighbour in the cache to the key. So an `XorCounter` is made only from a [`Nonce96`], and a
//! [`J0`] can only use the other way:
//!
//! **[`AddCounter`]: add and swap.** This is inc32 as the standard defines it (SP 800-38D, section 6.2),
//! modulo 2^32 and without a carry into the nonce.
//!
//! A piece of a message continues with a [`PieceCounter`], which is an `XorCounter` if a turn begins there
//! and the nonce is public.

use crate::{
    Block,
    aes::Schedule,
    inout::{TURN, Table},
    isa::Isa,
    nonce::{J0, Nonce96, Start, counter},
};

/// The most AES states in flight: eight vectors and the mask of a tag, or six blocks of a key.
pub(crate) const STATES: usize = 9;

/// What becomes of the states after two rounds.
pub(crate) trait Keep<S: Isa> {
    /// Stores the first `N` vectors of `x`, or does nothing.
    #[inline(always)]
    fn keep<const N: usize>(&mut self, _: S, _: &[S::State; STATES]) {}
}

/// Keeps nothing.
impl<S: Isa> Keep<S> for () {}

/// The counter blocks of one message, in order.
pub(crate) trait Counters<S: Isa>: Keep<S> {
    /// Whether what `next` returns has two rounds of AES behind it.
    const AHEAD: bool = false;
    /// Puts the next `N` vectors into `x`, whitened, or as states after two rounds.
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]);
}

/// What the counters of a group of blocks change in the group's base: entry i is i + 2, modulo the blocks of
/// the group. So the last two blocks of a group use the base of the next group.
type Changes = Table<{ 4 * TURN }>;

const fn changes(blocks: usize) -> Changes {
    let (mut all, mut i) = (Table::ZERO, 0);
    while i < blocks {
        all.set(i, (((i + 2) % blocks) as Block) << 120);
        i += 1;
    }
    all
}

/// Returns the changes of a text's first blocks in a vector or two, with J0's change in the last lane.
const fn changes_with_j0(blocks: usize) -> Table<8> {
    let (mut all, mut i) = (Table::ZERO, 0);
    while i + 1 < blocks {
        all.set(i, ((i + 2) as Block) << 120);
        i += 1;
    }
    all.set(blocks - 1, 1 << 120);
    all
}

const OF_4: &Changes = &changes(4);
const OF_8: &Changes = &changes(8);
const OF_16: &Changes = &changes(16);
const OF_32: &Changes = &changes(32);
const J0_2: &Table<8> = &changes_with_j0(2);
const J0_4: &Table<8> = &changes_with_j0(4);
const J0_8: &Table<8> = &changes_with_j0(8);

/// The counter of a 96-bit nonce. It advances in whole groups.
#[derive(Clone, Copy)]
pub(crate) struct XorCounter<S: Isa> {
    /// The counter block with a counter of zero, whitened.
    zero: S::V,
    /// The whitened counter block of the next group, with the number of blocks before that group.
    base: S::V,
    /// What changes a base into `zero`, in the last lane.
    back: S::V,
    /// The number of blocks of the text before that group.
    done: u32,
}

impl<S: Isa> XorCounter<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, schedule: &Schedule, nonce: Nonce96) -> Self {
        let zero = s.whiten(nonce.splat(s), s.splat(schedule.keys[0]));
        Self { zero, base: zero, back: s.splat(0), done: 0 }
    }

    /// Skips `blocks` blocks, which are whole groups.
    #[inline(always)]
    pub(crate) fn skip(&mut self, s: S, blocks: u32) {
        self.done = self.done.wrapping_add(blocks);
        let number = counter(self.done);
        self.base = s.xor(self.zero, s.splat(number));
        self.back = s.put_last(s.splat(0), number);
    }

    /// Returns J0, whose encryption masks the tag, whitened.
    #[inline(always)]
    pub(crate) fn j0(&self, s: S) -> S::State {
        s.state(s.xor(self.zero, s.splat(counter(1))))
    }

    /// Makes the first `N` vectors of a group of `GROUP`; `next` is the base of the next group.
    #[inline(always)]
    fn group<const N: usize, const GROUP: usize>(&self, s: S, next: S::V, x: &mut [S::State; STATES]) {
        let changes = match GROUP * S::BLOCKS {
            4 => OF_4,
            8 => OF_8,
            16 => OF_16,
            _ => OF_32,
        };
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } {
            // The lanes before the group's last two blocks.
            let lanes = (GROUP * S::BLOCKS - 2).saturating_sub(I * S::BLOCKS);
            let base = if lanes >= S::BLOCKS {
                self.base
            } else if lanes == 0 {
                next
            } else {
                s.xor(next, s.keep_first(s.xor(self.base, next), 16 * lanes))
            };
            x[I] = s.state(s.xor(base, changes.load(s, I * S::BLOCKS)));
        } });
    }

    /// Makes the last `N` vectors of a text, behind which no other group follows.
    #[inline(always)]
    pub(crate) fn last<const N: usize, const GROUP: usize>(&self, s: S, x: &mut [S::State; STATES]) {
        let next = if const { N * S::BLOCKS > GROUP * S::BLOCKS - 2 } {
            s.xor(self.zero, s.splat(counter(self.done.wrapping_add((GROUP * S::BLOCKS) as u32))))
        } else {
            self.base
        };
        self.group::<N, GROUP>(s, next, x);
    }

    /// Makes the last one or two vectors of a text, with J0 in the last lane, which the text leaves free.
    #[inline(always)]
    pub(crate) fn last_with_j0<const N: usize>(&self, s: S, x: &mut [S::State; STATES]) {
        let changes = match N * S::BLOCKS {
            2 => J0_2,
            4 => J0_4,
            _ => J0_8,
        };
        each!(I in 0 1 => { if const { I < N } {
            let change = changes.load(s, I * S::BLOCKS);
            let back = if const { I + 1 == N } { self.back } else { s.splat(0) };
            x[I] = s.state(s.xor3(self.base, change, back));
        } });
    }
}

impl<S: Isa> Keep<S> for XorCounter<S> {}

impl<S: Isa> Counters<S> for XorCounter<S> {
    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, _: &Schedule, x: &mut [S::State; STATES]) {
        let mut behind = *self;
        behind.skip(s, (N * S::BLOCKS) as u32);
        self.group::<N, N>(s, behind.base, x);
        *self = behind;
    }
}

/// The counter of a nonce of any length: the next vector of counter blocks, mirrored, so that the counter is
/// in the first four bytes. With `STRAIGHT` it is the counter of GCM-SIV, which is in those bytes anyway (RFC
/// 8452, section 4).
pub(crate) struct AddCounter<S: Isa, const STRAIGHT: bool = false>(S::V);

/// The number of lanes of the widest vector.
const MOST_BLOCKS: usize = 4;

/// How many blocks lane l is ahead of lane 0.
const LANES: &Table<MOST_BLOCKS> = &{
    let mut lanes = Table::ZERO;
    lanes.set(1, 1);
    lanes.set(2, 2);
    lanes.set(3, 3);
    lanes
};

/// Returns how many blocks each lane is ahead of lane 0.
#[inline(always)]
pub(crate) fn lanes<S: Isa>(s: S) -> S::V {
    LANES.load(s, 0)
}

impl<S: Isa> AddCounter<S> {
    #[inline(always)]
    pub(crate) fn at(s: S, j0: J0, index: u32) -> Self {
        Self::from_block(s, j0.counter_block(index))
    }

    /// Counts from the counter block `first` on.
    #[inline(always)]
    pub(crate) fn from_block(s: S, first: Block) -> Self {
        Self::numbered(s, s.splat(first.swap_bytes()))
    }
}

impl<S: Isa, const STRAIGHT: bool> AddCounter<S, STRAIGHT> {
    /// Counts from a block on that fills every lane and has its counter in its low 32 bits.
    #[inline(always)]
    pub(crate) fn numbered(s: S, first: S::V) -> Self {
        Self(s.add32(first, lanes(s)))
    }
}

impl<S: Isa, const STRAIGHT: bool> Keep<S> for AddCounter<S, STRAIGHT> {}

impl<S: Isa, const STRAIGHT: bool> Counters<S> for AddCounter<S, STRAIGHT> {
    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        let (key0, step) = (s.splat(schedule.keys[0]), s.splat(S::BLOCKS as Block));
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } {
            x[I] = s.state(s.whiten(if STRAIGHT { self.0 } else { s.byte_swap(self.0) }, key0));
            self.0 = s.add32(self.0, step);
        } });
    }
}

/// The counter of a piece that begins with any block of its text. The choice between the two variants depends
/// only on public values, and so does the branch.
pub(crate) enum PieceCounter<S: Isa> {
    Xor(XorCounter<S>),
    Add(AddCounter<S>),
}

impl<S: Isa> PieceCounter<S> {
    #[inline(always)]
    pub(crate) fn at(s: S, schedule: &Schedule, start: &Start, index: u32) -> Self {
        match start {
            Start::Public(nonce) if (index as usize).is_multiple_of(TURN * S::BLOCKS) => {
                let mut counter = XorCounter::new(s, schedule, *nonce);
                counter.skip(s, index);
                Self::Xor(counter)
            }
            _ => Self::Add(AddCounter::at(s, start.j0(), index)),
        }
    }
}

impl<S: Isa> Keep<S> for PieceCounter<S> {}

impl<S: Isa> Counters<S> for PieceCounter<S> {
    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        match self {
            Self::Xor(counter) => counter.next::<N>(s, schedule, x),
            Self::Add(counter) => counter.next::<N>(s, schedule, x),
        }
    }
}

#[cfg(test)]
mod tests;
