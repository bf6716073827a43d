//! The end of a message: up to eight vectors of text, what is ahead of them, the lengths and the mask of the
//! tag, with one reduction.
//!
//! A short message is nothing but an end. The end of a long message is also a short message, with its hash in
//! place of the AAD. Each block meets its own power of H, so nothing waits: the sum is reduced once, and its
//! lanes are added once. If there are more than four vectors, a step of four whole vectors comes before the
//! last ones. Vectors that are there before AES runs, a sealed step or the text to be opened, are hashed
//! between the rounds of AES. The rest fits in the processor's window, which overlaps AES and GHASH by
//! itself.

use super::{
    counter::{Counters, STATES, XorCounter},
    drive::{self, Beginning},
    key::WovenMaterial,
    plan::{self, Class, STEP, blocks, lengths},
    turn::{HashInput, HashWork, NoHash, Whole, rounds},
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{HasPowers, Multiply, PowersFrom},
    inout::{InOut, SealedTurn, TURN, load_bytes, load_vector},
    isa::{Isa, rarely},
    nonce::Nonce96,
};

/// A sum of products that is not reduced.
type Sum<S, M> = <<M as Multiply<S>>::Short as Multiply<S>>::Sum;

/// An end on its way.
struct End<'a, S: Isa, M: Multiply<S>, P: HasPowers<S> + 'a> {
    schedule: &'a Schedule,
    powers: &'a P,
    counters: XorCounter<S>,
    aad: &'a [u8],
    /// What is ahead of the text in place of AAD.
    beginning: Option<&'a Beginning<'a>>,
    /// The number of bytes of the whole text.
    bytes: usize,
    /// The text that is left.
    text: InOut<'a>,
    sum: Sum<S, M>,
}

/// The last vectors of a text in AES, after all rounds but the last: the last vector, which may be cut, the
/// vector before it and so on; and J0, in the last lane.
type States<S> = ([<S as Isa>::State; 4], <S as Isa>::State);

/// Seals or opens a message without a beginning, or what is left of a message that has `beginning`. Returns the
/// tag.
#[inline(always)]
pub(crate) fn end<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &WovenMaterial,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    beginning: Option<&Beginning<'_>>,
) -> Block {
    if const { !S::WEAVES } {
        return drive::message::<S, M, SEAL>(s, multiply, key, nonce, aad, text);
    }
    End::<S, M, _>::new(s, &key.schedule, &key.tables, nonce, aad, text, beginning).any::<SEAL>(s)
}

/// Does what [`end`] does, for at most a vector of text with AAD beside the lengths, and a key that has few
/// powers.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn short<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &Schedule,
    powers: &impl HasPowers<S>,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    seal: bool,
) -> Block {
    assert!(text.len() <= 16 * S::BLOCKS);
    let mut end = End::<S, M, _>::new(s, schedule, powers, nonce, aad, text, None);
    if seal {
        let states = end.states::<1, 2, _>(s, &NoHash);
        end.seal_last(s, states)
    } else {
        end.sum = end.with_header(s);
        end.open_last::<0, 1, 2>(s)
    }
}

impl<'a, S: Isa, M: Multiply<S>, P: HasPowers<S>> End<'a, S, M, P> {
    #[inline(always)]
    fn new(
        s: S,
        schedule: &'a Schedule,
        powers: &'a P,
        nonce: Nonce96,
        aad: &'a [u8],
        text: InOut<'a>,
        beginning: Option<&'a Beginning<'a>>,
    ) -> Self {
        let (counters, bytes, sum) = (XorCounter::new(s, schedule, nonce), text.len(), M::Short::zero(s));
        Self { schedule, powers, counters, aad, beginning, bytes, text, sum }
    }

    /// Returns the powers of what is left, from the power of its first block on. The lengths have the last
    /// power.
    #[inline(always)]
    fn down(&self, s: S) -> P::PowersFrom<'a> {
        self.powers.powers_from(s, blocks(self.text.len()) + 1)
    }

    /// Returns the sealed turn that is not hashed yet, if there is one, and the blocks before what is left.
    #[inline(always)]
    fn pending(&self, s: S) -> Option<(u32, PendingTurn<'a, S, P::PowersFrom<'a>>)> {
        let beginning = self.beginning?;
        rarely();
        let Beginning { pending: Some(text), hash, done, .. } = beginning else { return None };
        let powers = self.powers.powers_of_turn(s);
        Some((*done, HashInput { powers, hash: hash.load(s, 0), text: SealedTurn::at(s, text) }))
    }

    /// Returns the sum with the products of what is ahead of the text and of the lengths: one vector.
    /// (Vectors of one block take one product each.)
    #[inline(always)]
    fn with_header(&self, s: S) -> Sum<S, M> {
        let (header, lengths) = if let Some(beginning) = self.beginning {
            rarely();
            (
                if beginning.pending.is_some() { s.splat(0) } else { beginning.hash.load(s, 0) },
                beginning.lengths,
            )
        } else {
            (s.byte_swap(load_bytes(s, self.aad)), lengths(self.aad.len() as u64, self.bytes as u64))
        };
        let (ahead, text) = (blocks(self.aad.len()), blocks(self.bytes));
        let entries = self.powers.powers_from(s, ahead + text + 1).vector(0);
        let mut sum =
            add::<S, M>(s, self.sum, s.put_last(header, lengths), self.powers.with_last(s, entries));
        if const { S::BLOCKS == 1 } && (self.beginning.is_some() || !self.aad.is_empty()) {
            sum = add::<S, M>(s, sum, header, entries);
        }
        // The AAD for which there is no room beside the lengths.
        let mut more = self.aad.get(const { plan::beside_lengths(S::BLOCKS) }..).unwrap_or_default();
        while !more.is_empty() {
            let entries = self.powers.powers_from(s, blocks(more.len()) + text + 1).vector(0);
            let v = if let Some((vector, behind)) = more.split_at_checked(16 * S::BLOCKS) {
                more = behind;
                load_vector(s, vector)
            } else {
                load_bytes(s, core::mem::take(&mut more))
            };
            sum = add::<S, M>(s, sum, s.byte_swap(v), entries);
        }
        sum
    }

    #[inline(always)]
    fn any<const SEAL: bool>(self, s: S) -> Block {
        if SEAL { self.seal(s) } else { self.open(s) }
    }

    /// Sealing hashes what AES makes, and the tag waits for all of it. So AES comes first: the processor
    /// takes instructions in order, and begins with the AES of this message while the previous one is being
    /// finished. (16 bytes: 1.3 ns on Zen 4, with six instructions more than with AES behind the header.)
    /// Each class makes its own states; header, last round, GHASH and tag are written once.
    ///
    /// A message that is an end goes straight on; the code for a beginning and for steps comes behind it.
    #[inline(always)]
    fn seal(mut self, s: S) -> Block {
        let states = if plan::has_step(S::BLOCKS, self.text.len()) {
            rarely();
            let step = if let Some((done, turn)) = &self.pending(s) {
                self.counters.skip(s, *done);
                self.seal_step(s, turn)
            } else {
                self.seal_step(s, &NoHash)
            };
            self.behind(s, &step)
        } else if let Some((done, turn)) = &self.pending(s) {
            self.counters.skip(s, *done);
            self.behind(s, turn)
        } else if self.fits(Class::One) {
            if self.fits(Class::OneLane) {
                self.states::<1, 1, _>(s, &NoHash)
            } else {
                self.states::<1, 2, _>(s, &NoHash)
            }
        } else if self.fits(Class::Two) {
            if self.fits(Class::TwoLane) {
                self.states::<2, 2, _>(s, &NoHash)
            } else {
                self.states::<2, 3, _>(s, &NoHash)
            }
        } else if self.fits(Class::Three) {
            self.states::<3, 4, _>(s, &NoHash)
        } else {
            debug_assert!(self.fits(Class::Four));
            self.states::<4, 5, _>(s, &NoHash)
        };
        self.seal_last(s, states)
    }

    /// Opening hashes what is already there, so nothing waits for AES: products and rounds must alternate,
    /// from the header on. (With AES first, 129 to 256 bytes took 11 % longer on Zen 5.)
    #[inline(always)]
    fn open(mut self, s: S) -> Block {
        if let Some(beginning) = self.beginning {
            rarely();
            self.counters.skip(s, beginning.done);
        }
        self.sum = self.with_header(s);
        if plan::has_step(S::BLOCKS, self.text.len()) {
            self.open_step(s);
        }
        if self.fits(Class::One) {
            if self.fits(Class::Empty) {
                rarely();
                self.open_last::<0, 0, 1>(s)
            } else if self.fits(Class::OneLane) {
                self.open_last::<0, 1, 1>(s)
            } else {
                self.open_last::<0, 1, 2>(s)
            }
        } else if self.fits(Class::Two) {
            if self.fits(Class::TwoLane) {
                self.open_last::<1, 2, 2>(s)
            } else {
                self.open_last::<1, 2, 3>(s)
            }
        } else if self.fits(Class::Three) {
            self.open_last::<2, 3, 4>(s)
        } else {
            debug_assert!(self.fits(Class::Four));
            self.open_last::<3, 4, 5>(s)
        }
    }

    #[inline(always)]
    fn fits(&self, class: Class) -> bool {
        class.fits(S::BLOCKS, self.text.len())
    }

    /// Encrypts the next four vectors, and meanwhile hashes a pending turn.
    #[inline(always)]
    fn seal_step<B: PendingHash<S, M>>(
        &mut self,
        s: S,
        beside: &B,
    ) -> HashInput<S, P::PowersFrom<'a>, [S::V; STEP], STEP> {
        let (mut x, powers) = ([s.state(s.splat(0)); STATES], self.down(s));
        self.counters.next::<STEP>(s, self.schedule, &mut x);
        let sum = rounds::<S, B::By, _, STEP, 0>(s, self.schedule.keys(), &mut x, &mut (), beside);
        beside.add(s, self, sum);
        let text = self.apply_step(s, &x);
        HashInput { powers, hash: s.splat(0), text }
    }

    /// Decrypts the next four vectors, and meanwhile hashes them.
    #[inline(always)]
    fn open_step(&mut self, s: S) {
        let (mut x, powers) = ([s.state(s.splat(0)); STATES], self.down(s));
        self.counters.next::<STEP>(s, self.schedule, &mut x);
        let work = HashInput::<S, _, _, STEP> { powers, hash: s.splat(0), text: Whole::<STEP>(&self.text) };
        let sum = rounds::<S, M::Short, _, STEP, 0>(s, self.schedule.keys(), &mut x, &mut (), &work);
        self.sum = M::Short::add(s, self.sum, sum);
        self.apply_step(s, &x);
    }

    /// Runs the last round of a step. Returns what was written.
    #[inline(always)]
    fn apply_step(&mut self, s: S, x: &[S::State; STATES]) -> [S::V; STEP] {
        let (mut these, mut out) = (self.text.take::<S>(STEP), [s.splat(0); STEP]);
        each!(I in 0 1 2 3 => {
            out[I] = self.schedule.last_round(s, x[I], these.load::<S, I, STEP>(s));
            these.store::<S, I, STEP>(s, out[I]);
        });
        out
    }

    /// Runs AES of the last vectors, behind a step or a turn that is hashed beside them.
    #[inline(always)]
    fn behind(&mut self, s: S, beside: &impl PendingHash<S, M>) -> States<S> {
        if self.fits(Class::Two) {
            let ([b, a, ..], j0) = self.states::<2, 3, _>(s, beside);
            if self.fits(Class::One) { ([a; 4], j0) } else { ([b, a, a, a], j0) }
        } else {
            let ([d, c, b, a], j0) = self.states::<4, 5, _>(s, beside);
            if self.fits(Class::Three) { ([c, b, a, a], j0) } else { ([d, c, b, a], j0) }
        }
    }

    /// Runs AES of the last `N` vectors in `ALL` states, all rounds but the last: there is one more state for
    /// J0, or J0 is in the last lane. `work` is hashed between the rounds, and the function returns its sum
    /// too.
    #[inline(always)]
    fn aes<const N: usize, const ALL: usize, By: Multiply<S>>(
        &self,
        s: S,
        work: &impl HashWork<S, By>,
    ) -> ([S::State; STATES], By::Sum) {
        const { assert!(ALL == N || ALL == N + 1) }
        let mut x = [s.state(s.splat(0)); STATES];
        each!(I in 1 2 3 4 => { if const { N == I } {
            if const { ALL == I } {
                self.counters.last_with_j0::<I>(s, &mut x);
            } else {
                self.counters.last::<I, STEP>(s, &mut x);
            }
        } });
        if const { ALL > N } {
            x[N] = self.counters.j0(s);
        }
        let sum = rounds::<S, By, _, ALL, 0>(s, self.schedule.keys(), &mut x, &mut (), work);
        (x, sum)
    }

    /// Runs AES of the last vectors to be sealed, `N` or one fewer, and of J0. `beside` is hashed between the
    /// rounds.
    #[inline(always)]
    fn states<const N: usize, const ALL: usize, B: PendingHash<S, M>>(
        &mut self,
        s: S,
        beside: &B,
    ) -> States<S> {
        let (mut x, sum) = self.aes::<N, ALL, B::By>(s, beside);
        beside.add(s, self, sum);
        // Otherwise LLVM moves AES behind the header.
        each!(I in 0 1 2 3 4 => { if const { I < ALL } { s.pin_state(&mut x[I]); } });
        let mut last = [s.unset(), s.unset(), s.unset(), s.unset()];
        each!(I in 0 1 2 3 => { if const { I < N } { last[I] = x[N - 1 - I]; } });
        (last, x[ALL - 1])
    }

    /// Runs the last round and GHASH of the last vectors to be sealed. Returns the tag. A last vector that is
    /// whole needs no masks.
    ///
    /// In a debug build it is a separate function, without even the row's features: without an optimiser no
    /// two values share a place on the stack, and with all of these inlined `end` had a frame of more than a
    /// megabyte.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    fn seal_last(self, s: S, (x, j0): States<S>) -> Block {
        let mut sum = self.with_header(s);
        // Broadcast once for all ways: otherwise LLVM broadcasts it again on each way.
        let mut last = s.state(s.splat(self.schedule.last));
        if const { S::BLOCKS > 1 } {
            s.pin_state(&mut last);
        }
        let (mut whole, mut cut) = self.text.split_cut::<S>();
        let n = if cut.len() > 0 {
            let output = self.schedule.last_round_by(s, &last, x[0], cut.load::<S, 0, 0>(s));
            cut.store::<S, 0, 0>(s, output);
            let (v, n) = (s.byte_swap(s.keep_first(output, cut.len())), blocks(cut.len()) + 1);
            sum = add::<S, M>(s, sum, v, self.powers.powers_from(s, n).vector(0));
            n
        } else {
            if let Some(mut one) = whole.take_last::<S>() {
                let output = self.schedule.last_round_by(s, &last, x[0], one.load::<S, 0, 1>(s));
                one.store::<S, 0, 1>(s, output);
                let entries = self.powers.powers_from(s, S::BLOCKS + 1).vector(0);
                sum = add::<S, M>(s, sum, s.byte_swap(output), entries);
            }
            S::BLOCKS + 1
        };
        let ahead = self.powers.powers_from(s, n + 3 * S::BLOCKS);
        'whole: {
            each!(I in 1 2 3 => {
                let Some(mut one) = whole.take_last::<S>() else { break 'whole };
                let output = self.schedule.last_round_by(s, &last, x[I], one.load::<S, 0, 1>(s));
                one.store::<S, 0, 1>(s, output);
                sum = add::<S, M>(s, sum, s.byte_swap(output), ahead.vector((3 - I) * S::BLOCKS));
            });
        }
        let mask = self.schedule.last_round_by(s, &last, j0, s.splat(0));
        s.fold_with::<true>(s.byte_swap(M::Short::reduce(s, sum, s.splat(0))), mask)
    }

    /// Opens the last `N` vectors, of which `WHOLE` are certainly whole, in `ALL` states. Returns the right
    /// tag. (In a debug build: see [`seal_last`](Self::seal_last).)
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    fn open_last<const WHOLE: usize, const N: usize, const ALL: usize>(self, s: S) -> Block {
        let (powers, mut sum) = (self.down(s), self.sum);
        // Only two vectors or more are hashed between the rounds.
        let woven = const { if WHOLE >= 2 { WHOLE } else { 0 } };
        let x = if const { WHOLE >= 2 } {
            let work =
                HashInput::<S, _, _, WHOLE> { powers, hash: s.splat(0), text: Whole::<WHOLE>(&self.text) };
            let (x, more) = self.aes::<N, ALL, M::Short>(s, &work);
            sum = M::Short::add(s, sum, more);
            x
        } else {
            self.aes::<N, ALL, M::Short>(s, &NoHash).0
        };
        let (mut text, mut mask) = (self.text.at_least::<S>(WHOLE), s.splat(0));
        each!(I in 0 1 2 3 => { if const { I < N } {
            let input = text.load::<S, I, WHOLE>(s);
            let output = self.schedule.last_round(s, x[I], input);
            text.store::<S, I, WHOLE>(s, output);
            if const { I + 1 == N && ALL == N } {
                mask = output;
            }
            if I >= woven {
                sum = add::<S, M>(s, sum, s.byte_swap(input), powers.vector(I * S::BLOCKS));
            }
        } });
        if const { ALL > N } {
            mask = self.schedule.last_round(s, x[N], s.splat(0));
        }
        let hash = s.byte_swap(M::Short::reduce(s, sum, s.splat(0)));
        if const { ALL > N } { s.fold_with::<false>(hash, mask) } else { s.fold_with::<true>(hash, mask) }
    }
}

/// A turn before an end.
type PendingTurn<'a, S, D> = HashInput<S, D, SealedTurn<'a, S>, TURN>;

/// What is hashed beside the last vectors: nothing, or what was sealed before them.
trait PendingHash<S: Isa, M: Multiply<S>>: HashWork<S, Self::By> {
    type By: Multiply<S>;
    fn add<'a, P: HasPowers<S> + 'a>(
        &self,
        s: S,
        end: &mut End<'a, S, M, P>,
        sum: <Self::By as Multiply<S>>::Sum,
    );
}

impl<S: Isa, M: Multiply<S>> PendingHash<S, M> for NoHash {
    type By = M;
    #[inline(always)]
    fn add<'a, P: HasPowers<S> + 'a>(&self, _: S, _: &mut End<'a, S, M, P>, _: M::Sum) {}
}

impl<S: Isa, M: Multiply<S>, D: PowersFrom<S>> PendingHash<S, M> for HashInput<S, D, [S::V; STEP], STEP> {
    type By = M::Short;
    #[inline(always)]
    fn add<'a, P: HasPowers<S> + 'a>(&self, s: S, end: &mut End<'a, S, M, P>, sum: Sum<S, M>) {
        end.sum = M::Short::add(s, end.sum, sum);
    }
}

/// Multiplies a vector by its powers.
#[inline(always)]
fn product<S: Isa, M: Multiply<S>>(s: S, v: S::V, (first, second): (S::V, S::V)) -> Sum<S, M> {
    M::Short::product(s, M::Short::ready(s, v, first, second))
}

/// Adds to `sum` a vector times its powers.
#[inline(always)]
fn add<S: Isa, M: Multiply<S>>(s: S, sum: Sum<S, M>, v: S::V, entries: (S::V, S::V)) -> Sum<S, M> {
    M::Short::add(s, sum, product::<S, M>(s, v, entries))
}

impl<S: Isa, M: Multiply<S>, D: PowersFrom<S>> PendingHash<S, M> for PendingTurn<'_, S, D> {
    type By = M;
    /// The hash counts as a block before the blocks that are left.
    #[inline(always)]
    fn add<'a, P: HasPowers<S> + 'a>(&self, s: S, end: &mut End<'a, S, M, P>, sum: M::Sum) {
        let entries = end.powers.powers_from(s, blocks(end.text.len()) + 1).vector(0);
        end.sum = add::<S, M>(s, end.sum, self.reduced::<M>(s, sum), entries);
    }
}
