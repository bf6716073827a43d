//! Counter blocks, by three means. Which of them a message may use is a matter of types.
//!
//! **[`TableCounter`]: one XOR a vector.** The counter of data block i is i + 2. Within 256 blocks only its low byte moves, so
//! `nonce || counter` is a constant XOR an entry of a table; AES begins with an XOR of its first key, which melts into the
//! constant.
//!
//! **[`FirstRoundTable`]: and one round less** (Park and Lee, "FACE: Fast AES CTR mode Encryption Techniques", 2018). The low byte reaches one
//! column of the state after the first round, and what it changes there does not depend on the nonce. So a table of these
//! changes takes the first round's place. It costs 64 rounds to make, and a long message makes it on its stack: nothing to
//! store in a key, nothing to share between threads.
//!
//! Both tables are indexed by the position in the message. With a 96-bit nonce that is all that the index tells. With any other
//! nonce the counter starts at a value that depends on H, and an index made of it would lead a neighbour in the cache to the
//! key. So both are made of a [`Nonce96`] only, and the third is all that a [`J0`] can be given:
//!
//! **[`AddCounter`]: add and swap.** inc32 as the standard has it (SP 800-38D, section 6.2), modulo 2^32 and without a carry into
//! the nonce. Only [`sequential`](super::sequential) uses it: nonces of other lengths are rare, and a second copy of every path that is woven
//! for speed was a quarter of the library.

use crate::{
    Block,
    aes::Schedule,
    inout::{Hash, TURN, Table},
    isa::Isa,
    nonce::{J0, Nonce96, counter},
};

/// AES states in flight, at most: nine vectors of a tail and the mask of the tag.
pub(crate) const STATES: usize = 10;

/// The counter blocks of one message, in order.
pub(crate) trait Counters<S: Isa> {
    /// The states come with the first round done.
    const FACE: bool;

    /// The next `N` vectors, whitened. Only the last call of a message may ask for another number than `TURN`.
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]);
}

/// Blocks between two changes of the constant.
const PERIOD: usize = 256;

/// Entry i: what the low byte of counter i + 2 changes in a block. Padded, so that a tail may begin in the last turn of a period.
pub(crate) type CounterTable = Table<{ PERIOD + 8 }>;

/// Before the first round: the byte itself, the last of its block.
static PLAIN: CounterTable = {
    let mut changes = Table::ZERO;
    let mut i = 0;
    while i < PERIOD + 8 {
        changes.set(i, (((i + 2) & 0xff) as Block) << 120);
        i += 1;
    }
    changes
};

/// The counter of a 96-bit nonce.
#[derive(Clone)]
pub(crate) struct TableCounter<S: Isa> {
    nonce: Nonce96,
    /// A block whose counter has a low byte of zero, whitened.
    constant: S::V,
    /// The counter's upper three bytes.
    high: u32,
    /// Blocks done in this period.
    done: usize,
}

impl<S: Isa> TableCounter<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, schedule: &Schedule, nonce: Nonce96) -> Self {
        Self { nonce, constant: constant::<S, false>(s, schedule, nonce, 0), high: 0, done: 0 }
    }

    /// The same from block `index` of the text on, where a turn begins.
    #[inline(always)]
    pub(crate) fn at(s: S, schedule: &Schedule, nonce: Nonce96, index: u32) -> Self {
        Self::resumed(s, schedule, nonce, index, &Hash::ZERO)
    }

    /// The same in a piece behind others, of which `kept` knows.
    #[inline(always)]
    pub(crate) fn resumed(s: S, schedule: &Schedule, nonce: Nonce96, index: u32, kept: &Hash) -> Self {
        debug_assert!((index as usize).is_multiple_of(TURN * S::BLOCKS));
        let high = index / PERIOD as u32;
        let constant = if let Some(constant) = kept.counter(s, high) { constant } else { constant::<S, false>(s, schedule, nonce, high) };
        Self { nonce, constant, high, done: index as usize % PERIOD }
    }

    /// Keeps it for the next piece.
    #[inline(always)]
    pub(crate) fn keep(&self, s: S, kept: &mut Hash) {
        kept.keep_counter(s, self.constant, self.high);
    }

    /// J0, whose encryption masks the tag, whitened: what sets the constant's counter to 1 is known before the nonce.
    #[inline(always)]
    pub(crate) fn j0(&self, s: S) -> S::State {
        s.state(s.xor(self.constant, s.splat(counter((self.high << 8) + 1))))
    }

    /// All `N` vectors of a short message whose last lane has no block of it, with J0 there.
    #[inline(always)]
    pub(crate) fn all_with_j0<const N: usize>(&self, s: S, x: &mut [S::State; STATES]) {
        each!(I in 0 1 2 3 => { if const { I < N } {
            let change = PLAIN.load(s, I * S::BLOCKS);
            x[I] = s.state(s.xor(self.constant, if const { I + 1 == N } { s.put_last(change, counter(1)) } else { change }));
        } });
    }

    /// The next `N` vectors as the constant and a table give them. With `FACE`, both are those of the state after the first round.
    #[inline(always)]
    fn next_of<const FACE: bool, const N: usize>(&mut self, s: S, schedule: &Schedule, changes: &CounterTable, x: &mut [S::State; STATES]) {
        let row = changes.part(self.done & (PERIOD - TURN * S::BLOCKS), N * S::BLOCKS); // it is that: now the optimiser sees that no bound is crossed
        let mut blocks = [self.constant; STATES];
        each!(I in 0 1 2 3 4 5 6 7 8 => { if const { I < N } { blocks[I] = s.xor(self.constant, row.load(s, I * S::BLOCKS)); } });
        self.done += TURN * S::BLOCKS;
        if self.done == PERIOD {
            // The last two blocks of a period, and those behind it, belong to the next constant.
            let (before, high) = (self.constant, self.high);
            self.high = high.wrapping_add(1);
            self.done = 0;
            // (Where registers are few, LLVM made of the short way one that keeps an AES state on the stack: 256 bytes 40 % slower.)
            self.constant = if const { FACE || !S::ROOMY } {
                constant::<S, FACE>(s, schedule, self.nonce, self.high)
            } else {
                s.xor(before, s.splat(counter((high ^ self.high) << 8)))
            };
            let carry = s.xor(before, self.constant);
            each!(I in 6 7 8 => {
                // Lanes of vector I that lie before the last two blocks of the turn.
                let lanes = (2 * S::BLOCKS - 2).saturating_sub((I - 6) * S::BLOCKS);
                if const { I < N } && lanes < S::BLOCKS {
                    blocks[I] = s.xor(blocks[I], s.xor(carry, s.keep_first(carry, 16 * lanes)));
                }
            });
        }
        each!(I in 0 1 2 3 4 5 6 7 8 => { if const { I < N } { x[I] = s.state(blocks[I]); } });
    }
}

/// The counter block with `high` in the counter's upper three bytes and zero in the lowest, whitened; with `FACE`, after the
/// first round.
#[inline(always)]
fn constant<S: Isa, const FACE: bool>(s: S, schedule: &Schedule, nonce: Nonce96, high: u32) -> S::V {
    let (key0, key1) = (s.splat(schedule.keys[0]), s.splat(schedule.keys[1]));
    let whitened = s.xor(s.whiten(nonce.splat(s), key0), s.splat(counter(high << 8)));
    if FACE { rounded(s, s.state(whitened), s.state(key0), s.state(key1)) } else { whitened }
}

impl<S: Isa> Counters<S> for TableCounter<S> {
    const FACE: bool = false;

    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        self.next_of::<false, N>(s, schedule, &PLAIN, x);
    }
}

/// The same with the first round in the table. It is dropped before the tail, which goes on with the [`TableCounter`] that it borrowed.
pub(crate) struct FirstRoundTable<'a, S: Isa> {
    public: &'a mut TableCounter<S>,
    changes: &'a mut CounterTable,
}

impl<'a, S: Isa> FirstRoundTable<'a, S> {
    /// Room for its table. From a copy of `PLAIN`, not from zeros: `memset` of more than 2 KiB is slow to start.
    pub(crate) const fn room() -> CounterTable {
        PLAIN
    }

    /// Fills the table in place: returned by value it would be copied once more.
    #[inline(always)]
    pub(crate) fn new(s: S, schedule: &Schedule, public: &'a mut TableCounter<S>, changes: &'a mut CounterTable) -> Self {
        let key_byte = s.splat(schedule.keys[0] & (0xff << 120));
        let unchanged = first_round(s, key_byte);
        for i in (0..PERIOD).step_by(S::BLOCKS) {
            let x = s.xor(key_byte, changes.load(s, i));
            changes.store(s, i, s.xor(unchanged, first_round(s, x)));
        }
        public.constant = constant::<S, true>(s, schedule, public.nonce, public.high);
        Self { public, changes }
    }

    /// Gives the counter back, and wipes the table: it is made of the key.
    #[inline(always)]
    pub(crate) fn done(self, s: S, schedule: &Schedule) {
        self.changes.wipe_vectors(s, (PERIOD + 8) / S::BLOCKS);
        self.public.constant = constant::<S, false>(s, schedule, self.public.nonce, self.public.high);
    }
}

/// A round without a key.
#[inline(always)]
fn first_round<S: Isa>(s: S, x: S::V) -> S::V {
    let zero = s.state(s.splat(0));
    rounded(s, s.state(x), zero, zero)
}

/// `x` after a round.
#[inline(always)]
fn rounded<S: Isa>(s: S, mut x: S::State, prev: S::State, next: S::State) -> S::V {
    s.round_between(&mut x, &prev, &next);
    s.leave(x)
}

impl<S: Isa> Counters<S> for FirstRoundTable<'_, S> {
    const FACE: bool = true;

    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        self.public.next_of::<true, N>(s, schedule, self.changes, x);
    }
}

/// The counter of a nonce of any length: the next vector of counter blocks, mirrored, so that the counter is in the first four bytes. With
/// `STRAIGHT` that of GCM-SIV, which stands there anyway (RFC 8452, section 4).
pub(crate) struct AddCounter<S: Isa, const STRAIGHT: bool = false>(S::V);

/// Lanes of the widest vector.
const MOST_BLOCKS: usize = 4;

/// How many blocks lane l is ahead of lane 0.
static LANES: Table<MOST_BLOCKS> = {
    let mut lanes = Table::ZERO;
    lanes.set(1, 1);
    lanes.set(2, 2);
    lanes.set(3, 3);
    lanes
};

/// How many blocks each lane is ahead of lane 0.
#[inline(always)]
pub(crate) fn lanes<S: Isa>(s: S) -> S::V {
    LANES.load(s, 0)
}

impl<S: Isa> AddCounter<S> {
    #[inline(always)]
    pub(crate) fn at(s: S, j0: J0, index: u32) -> Self {
        Self::from_block(s, j0.counter_block(index))
    }

    /// From that counter block on.
    #[inline(always)]
    pub(crate) fn from_block(s: S, first: Block) -> Self {
        Self::numbered(s, s.splat(first.swap_bytes()))
    }
}

impl<S: Isa, const STRAIGHT: bool> AddCounter<S, STRAIGHT> {
    /// From a block on, in every lane, whose counter is in its low 32 bits.
    #[inline(always)]
    pub(crate) fn numbered(s: S, first: S::V) -> Self {
        Self(s.add32(first, lanes(s)))
    }
}

impl<S: Isa, const STRAIGHT: bool> Counters<S> for AddCounter<S, STRAIGHT> {
    const FACE: bool = false;

    #[inline(always)]
    fn next<const N: usize>(&mut self, s: S, schedule: &Schedule, x: &mut [S::State; STATES]) {
        let (key0, step) = (s.splat(schedule.keys[0]), s.splat(S::BLOCKS as Block));
        each!(I in 0 1 2 3 4 5 6 7 8 => { if const { I < N } {
            x[I] = s.state(s.whiten(if STRAIGHT { self.0 } else { s.byte_swap(self.0) }, key0));
            self.0 = s.add32(self.0, step);
        } });
    }
}

#[cfg(test)]
mod tests;
