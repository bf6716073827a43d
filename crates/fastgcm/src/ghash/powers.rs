//! The powers of H that a key holds, in the layout that its multiplication uses.

use super::multiply::{Factor, Multiply, fold, square};
use crate::{
    Block,
    inout::{Part, TURN, Table, Unwritten, plain},
    isa::Vectors,
};
use zeroize::optimization_barrier;

/// Returns the rows of powers, one vector each: as many as the highest power that a message needs. The
/// longest end needs the highest power: a turn, AAD beside the lengths, and the lengths.
const fn rows(blocks: usize) -> usize {
    (TURN * blocks + aad_lanes(blocks) + 1).div_ceil(blocks)
}

/// Returns how many powers a key has for vectors of `blocks` blocks. Where nothing is woven, a key has no
/// powers.
pub(crate) const fn max_powers(blocks: usize) -> usize {
    if blocks == 0 { 0 } else { rows(blocks) * blocks }
}

/// Returns how many blocks of AAD fit in a tail: its vector has one lane left for the lengths. (Vectors of
/// one block take two.)
pub(crate) const fn aad_lanes(blocks: usize) -> usize {
    if blocks == 1 { 1 } else { blocks - 1 }
}

plain! {
    /// Two lists, each only as long as vectors of B blocks need it, so that narrow vectors fill and wipe a
    /// quarter; n is 9 B (10 where B is 1):
    /// ```text
    /// first entries of H^n ... H^1 │ second entries of H^n ... H^1 │ what to add to a turn
    /// ```
    /// What is added to a turn is the sum of what H^8B ... H^1 leave behind, a part in each lane: the lanes
    /// of a hash are added in any case.
    ///
    /// Powers descend, so that blocks and powers run in one direction. The space that narrow vectors leave
    /// free is zero.
    pub(crate) struct Powers {
        table: Table<SIZE>,
    }
}

/// The size for the widest vectors: both lists, and so many blocks behind them that a part as long as one list
/// and `MOST` vectors of the other may begin anywhere in the first list.
const SIZE: usize = 2 * max_powers(4) + MOST * 4;

/// The most vectors that meet powers from any H^n on: those of a step. (The eight vectors of a turn meet
/// [`HasPowers::powers_of_turn`].)
const MOST: usize = 4;

/// Where the lists begin for vectors of `S`.
struct Lists<S>(core::marker::PhantomData<S>);

impl<S: Vectors> Lists<S> {
    const LENGTH: usize = max_powers(S::BLOCKS);
    const SECOND: usize = Self::LENGTH;
    const CONSTANT: usize = 2 * Self::LENGTH;
    const ALL: usize = Self::CONSTANT + S::BLOCKS;
    /// The blocks of a turn.
    const OF_TURN: usize = TURN * S::BLOCKS;
}

impl Powers {
    /// Returns how many blocks are written; the blocks behind them are zero.
    pub(crate) const fn filled<S: Vectors>() -> usize {
        Lists::<S>::ALL
    }

    /// Makes the first `powers` powers or a few more, at most all that back end `s` can use, and writes zeros
    /// in place of the others. `h` is AES(0), in every lane.
    #[inline(always)]
    #[allow(unused_assignments)] // `each!` writes the loop out
    pub(crate) fn fill<S: Vectors, M: Multiply<S>>(
        table: &mut Unwritten<'_, Self>,
        s: S,
        h: S::V,
        powers: usize,
    ) {
        let (first, mut factor) = first_row(s, times_x_once(s, h));
        let (mut row, mut constants, mut at) = ([first; 10], M::zero(s), Lists::<S>::LENGTH);
        'rows: {
            each!(I in 0 1 2 3 4 5 6 7 8 9 => { if const { I < rows(S::BLOCKS) } {
                if I > 0 {
                    if usize::is_power_of_two(I) && powers <= I * S::BLOCKS {
                        break 'rows;
                    }
                    // The first I rows times their highest power are the next I rows: four steps, one after
                    // the other. (The ninth and tenth rows come from the fifth and sixth.)
                    if I == 2 || I == 4 {
                        factor = Factor::first_lane(s, row[I - 1]);
                    }
                    row[I] = factor.times(s, row[I - const { if I < 2 { 1 } else if I < 4 { 2 } else { 4 } }]);
                }
                let (first, second) = M::table(s, row[I], fold(s, row[I]));
                at -= S::BLOCKS;
                table.store(s, at, first);
                table.store(s, Lists::<S>::SECOND + at, second);
                if const { M::CONSTANTS && I < TURN } {
                    let nothing = M::ready(s, s.splat(0), first, second);
                    constants = M::add(s, constants, M::product(s, nothing));
                }
            } });
        }
        let constants = if const { M::CONSTANTS } { M::reduce(s, constants, s.splat(0)) } else { s.splat(0) };
        table.store(s, Lists::<S>::CONSTANT, constants);
        while at > 0 {
            at -= S::BLOCKS;
            table.store(s, at, s.splat(0));
            table.store(s, Lists::<S>::SECOND + at, s.splat(0));
        }
    }

    /// Writes zeros where `fill` has written.
    #[inline(always)]
    pub(crate) fn wipe<S: Vectors>(&mut self, s: S) {
        self.table.wipe_vectors(s, Self::filled::<S>() / S::BLOCKS);
    }
}

/// Returns H·x, which POLYVAL calls H, from AES(0) in every lane. This is a product: through general
/// registers H would wait twice as long.
#[inline(always)]
fn times_x_once<S: Vectors>(s: S, h: S::V) -> S::V {
    Factor::new(s, s.splat(X)).times(s, s.byte_swap(h))
}

/// Returns H^B ... H^1 for vectors of B blocks, and H^B in every lane. `h` is H·x, which POLYVAL calls H.
#[inline(always)]
fn first_row<S: Vectors>(s: S, h: S::V) -> (S::V, Factor<S>) {
    // This doubles too: of each two runs of n lanes the first has H^n more. H^2, H^4 ... are squares: they
    // wait for half as many multiplications as another product does, and for no move between lanes.
    let (mut row, mut double) = (h, h);
    let mut n = 1;
    while n < S::BLOCKS {
        let square = square(s, double);
        let product = if n == 1 { square } else { Factor::new(s, double).times(s, row) };
        row = runs(s, n, product, row);
        double = square;
        n *= 2;
    }
    (row, Factor::new(s, double))
}

/// The powers of one message whose lanes have a chain each: the last vector meets H^B ... H^1, and any other
/// vector meets powers of H^B, in every lane. There are eight powers of H^B. A short message has only one, in
/// registers, so it waits for no others.
pub(crate) struct Chains<S: Vectors> {
    last: [S::V; 2],
    step: [S::V; 2],
    /// H^B, in every lane.
    factor: S::V,
    /// First entries of H^8B ... H^B, second entries, and the sum of their constants, in every lane.
    table: Table<{ 2 * TURN + 4 }>,
    powers: usize,
}

impl<S: Vectors> Chains<S> {
    /// Makes H^B alone. `h` is POLYVAL's H, in every lane.
    #[inline(always)]
    pub(crate) fn new<M: Multiply<S>>(s: S, h: S::V) -> Self {
        const { assert!(!M::Short::CONSTANTS) }
        let (row, factor) = first_row(s, h);
        let (last, step) = (M::table(s, row, fold(s, row)).into(), M::table(s, factor.b, factor.k).into());
        Self { last, step, factor: factor.b, table: Table::ZERO, powers: 1 }
    }

    /// Makes eight powers of H^B.
    #[inline(always)]
    #[allow(unused_assignments)] // `each!` writes the loop out
    pub(crate) fn fill<M: Multiply<S>>(&mut self, s: S) {
        let (first, mut double) = first_row(s, self.factor);
        let (table, mut row, mut constants) = (&mut self.table, [first; TURN], s.splat(0));
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I * S::BLOCKS < TURN } {
            if I > 0 {
                // The first I rows times their highest power are the next I rows.
                if I > 1 && usize::is_power_of_two(I) {
                    double = Factor::first_lane(s, row[I - 1]);
                }
                row[I] = double.times(s, row[I - (1 << usize::ilog2(I))]);
            }
            let (first, second) = M::table(s, row[I], fold(s, row[I]));
            let at = TURN - (I + 1) * S::BLOCKS;
            table.store(s, at, first);
            table.store(s, TURN + at, second);
            if const { M::CONSTANTS } {
                constants = s.xor(constants, M::constant(s, first, second));
            }
        } });
        table.store(s, 2 * TURN, s.splat(s.fold(constants)));
        self.powers = TURN;
    }

    /// Returns how many powers of H^B there are.
    #[inline(always)]
    pub(crate) fn powers(&self) -> usize {
        self.powers
    }

    /// Returns the hash of a vector that meets H^B ... H^1, or of vectors of one block that meet H^2 and H.
    /// It is not added up over the lanes.
    #[inline(always)]
    pub(crate) fn last<M: Multiply<S>>(&self, s: S, mut v: S::V, behind: Option<S::V>) -> S::V {
        let mut sum = M::Short::zero(s);
        if let Some(behind) = behind {
            if self.powers == TURN {
                let (first, second) = self.entries_in_turn(s, 1);
                sum = M::Short::product(s, M::Short::ready(s, v, first, second));
                v = behind;
            } else {
                v = s.xor(self.step::<M>(s, v), behind);
            }
        }
        let [first, second] = self.last;
        M::Short::reduce(
            s,
            M::Short::add(s, sum, M::Short::product(s, M::Short::ready(s, v, first, second))),
            s.splat(0),
        )
    }

    /// Multiplies each lane by H^B.
    #[inline(always)]
    pub(crate) fn step<M: Multiply<S>>(&self, s: S, v: S::V) -> S::V {
        let [first, second] = self.step;
        M::Short::reduce(s, M::Short::product(s, M::Short::ready(s, v, first, second)), s.splat(0))
    }

    /// Returns the entries of H^(i+1)B, in every lane.
    #[inline(always)]
    pub(crate) fn entries(&self, s: S, i: usize) -> (S::V, S::V) {
        if i == 0 { self.step.into() } else { self.entries_in_turn(s, i) }
    }

    /// Returns the entries of H^(i+1)B, where eight vectors take turns.
    #[inline(always)]
    pub(crate) fn entries_in_turn(&self, s: S, i: usize) -> (S::V, S::V) {
        (s.splat(self.table.get(TURN - 1 - i)), s.splat(self.table.get(2 * TURN - 1 - i)))
    }

    /// Returns what must be added, in each lane, to a sum that used each power once.
    #[inline(always)]
    pub(crate) fn constant(&self, s: S) -> S::V {
        s.splat(self.table.get(2 * TURN))
    }

    /// Writes zeros where something has been written.
    #[inline(always)]
    pub(crate) fn wipe(&mut self, s: S) {
        let zero = s.splat(0);
        (self.last, self.step, self.factor) = ([zero; 2], [zero; 2], zero);
        if self.powers > 1 {
            self.table.wipe_vectors(s, (2 * TURN + 4) / S::BLOCKS);
        }
        optimization_barrier(self);
    }
}

/// Powers that a tail may use: those of a key, or [`PowersForOnce`].
pub(crate) trait HasPowers<S: Vectors> {
    type PowersFrom<'a>: PowersFrom<S>
    where
        Self: 'a;

    /// Returns H^n, H^(n-1) ... H^1, for `n` blocks, of which at most the first four vectors are used.
    fn powers_from(&self, s: S, n: usize) -> Self::PowersFrom<'_>;
    /// Returns the powers of a turn.
    fn powers_of_turn(&self, s: S) -> Self::PowersFrom<'_>;
    /// Returns the entries of a vector whose last lane has no block yet, with the entries of H^1 in that
    /// lane.
    fn with_last(&self, s: S, entries: (S::V, S::V)) -> (S::V, S::V);
}

/// The entries of H^n, H^(n-1) ... H^1.
pub(crate) trait PowersFrom<S: Vectors>: Copy {
    /// Returns the entries of one vector of blocks, behind the first `skip`.
    fn vector(self, skip: usize) -> (S::V, S::V);
    /// Returns what must be added to a sum that used each power of a turn once and whose lanes will be added.
    /// This holds only for a turn.
    fn constants(self) -> S::V;
}

impl<S: Vectors> HasPowers<S> for Powers {
    type PowersFrom<'a> = Descending<'a, S>;

    #[inline(always)]
    fn powers_from(&self, s: S, n: usize) -> Descending<'_, S> {
        const { assert!(2 * Lists::<S>::LENGTH + MOST * S::BLOCKS <= SIZE) }
        let length = Lists::<S>::LENGTH;
        Descending { part: self.table.part_before(length, n, length + MOST * S::BLOCKS), s }
    }

    #[inline(always)]
    fn powers_of_turn(&self, s: S) -> Descending<'_, S> {
        let from = Lists::<S>::LENGTH - Lists::<S>::OF_TURN;
        Descending { part: self.table.part(from, Lists::<S>::ALL - from), s }
    }

    #[inline(always)]
    fn with_last(&self, s: S, (first, second): (S::V, S::V)) -> (S::V, S::V) {
        let i = Lists::<S>::LENGTH - 1;
        (s.put_last(first, self.table.get(i)), s.put_last(second, self.table.get(Lists::<S>::SECOND + i)))
    }
}

/// The powers of two vectors, in registers, for a message that is sealed under a key of its own. From memory,
/// a vector that begins between two rows just stored could be loaded only after both have left the store
/// buffer (15 ns on Zen 5, twice).
#[derive(Clone, Copy)]
pub(crate) struct PowersForOnce<S: Vectors> {
    /// First and second entries of H^2B ... H^(B+1).
    high: [S::V; 2],
    /// First and second entries of H^B ... H^1.
    low: [S::V; 2],
}

impl<S: Vectors> PowersForOnce<S> {
    /// Makes the powers for a multiplication of short messages, which has no constants.
    #[inline(always)]
    pub(crate) fn new<M: Multiply<S>>(s: S, h: S::V) -> Self {
        const { assert!(!M::CONSTANTS) }
        let (low, factor) = first_row(s, times_x_once(s, h));
        let high = factor.times(s, low);
        Self { high: M::table(s, high, fold(s, high)).into(), low: M::table(s, low, fold(s, low)).into() }
    }
}

impl<S: Vectors> HasPowers<S> for PowersForOnce<S> {
    type PowersFrom<'a> = Window<S>;

    #[inline(always)]
    fn powers_from(&self, s: S, n: usize) -> Window<S> {
        Window { powers: *self, n, s }
    }

    #[inline(always)]
    fn powers_of_turn(&self, _: S) -> Window<S> {
        unreachable!("a short message has no turn")
    }

    #[inline(always)]
    fn with_last(&self, s: S, (first, second): (S::V, S::V)) -> (S::V, S::V) {
        (with_last_of(s, first, self.low[0]), with_last_of(s, second, self.low[1]))
    }
}

/// Returns `v` with the last lane of `other`.
#[inline(always)]
fn with_last_of<S: Vectors>(s: S, v: S::V, other: S::V) -> S::V {
    s.xor(other, s.keep_first(s.xor(v, other), 16 * (S::BLOCKS - 1)))
}

/// The powers from H^n on.
#[derive(Clone, Copy)]
pub(crate) struct Window<S: Vectors> {
    powers: PowersForOnce<S>,
    n: usize,
    s: S,
}

impl<S: Vectors> PowersFrom<S> for Window<S> {
    #[inline(always)]
    fn vector(self, skip: usize) -> (S::V, S::V) {
        let (Self { powers, n, s }, zero) = (self, [self.s.splat(0); 2]);
        let n = n - skip;
        let (high, low, lane) =
            if n > S::BLOCKS { (powers.high, powers.low, S::BLOCKS) } else { (powers.low, zero, 0) };
        let skip = lane + S::BLOCKS - n;
        (s.lanes_from(high[0], low[0], skip), s.lanes_from(high[1], low[1], skip))
    }

    #[inline(always)]
    fn constants(self) -> S::V {
        unreachable!("no multiplication that has them has few powers")
    }
}

/// The entries of H^n, H^(n-1) ... H^1 in the memory of a key.
#[derive(Clone, Copy)]
pub(crate) struct Descending<'a, S> {
    /// The powers from the first entry of H^n on, in a part as long as both lists: so the positions of its
    /// vectors are constants.
    part: Part<'a>,
    s: S,
}

impl<S: Vectors> PowersFrom<S> for Descending<'_, S> {
    #[inline(always)]
    fn vector(self, skip: usize) -> (S::V, S::V) {
        (self.part.load(self.s, skip), self.part.load(self.s, Lists::<S>::SECOND + skip))
    }

    #[inline(always)]
    fn constants(self) -> S::V {
        self.part.load(self.s, Lists::<S>::OF_TURN + Lists::<S>::CONSTANT - Lists::<S>::LENGTH)
    }
}

impl<S: Vectors> Descending<'_, S> {
    /// Returns the entries of H^n, in every lane.
    #[inline(always)]
    pub(crate) fn splat(self) -> (S::V, S::V) {
        (self.s.splat(self.part.get(0)), self.s.splat(self.part.get(Lists::<S>::SECOND)))
    }
}

/// Returns runs of `n` lanes, alternately of `a` and of `b`.
#[inline(always)]
fn runs<S: Vectors>(s: S, n: usize, a: S::V, b: S::V) -> S::V {
    let (both, mut v) = (s.xor(a, b), b);
    for lane in (0..S::BLOCKS).step_by(2 * n) {
        v = s.xor3(v, s.keep_first(both, 16 * lane), s.keep_first(both, 16 * (lane + n)));
    }
    v
}

/// The factor by which `Factor::times` multiplies H to make H·x: `times_x` of `times_x` of one. (A test
/// checks this.)
pub(super) const X: Block = 0x46 << 120 | 3;

/// Returns H·x, mirrored. There is no branch on the key: the mask is all ones or all zeros.
#[inline(always)]
pub fn times_x(h: Block) -> Block {
    (h << 1) ^ (((h as i128 >> 127) as Block) & ((0xc2 << 120) | 1))
}
