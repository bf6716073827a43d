//! The end of a message: up to eight vectors of text, what is ahead of them, the lengths and the mask of the
//! tag; one reduction.
//!
//! A short message is nothing else. The end of a long one is a short message too, with its hash where the AAD
//! would be. Each block meets its own power of H, so nothing waits for anything: the sum is reduced once, and
//! its lanes are added once. Only a step of four whole vectors, before the last ones of more than four, is
//! woven with AES by hand; the rest fits in the window of the processor, which overlaps AES and GHASH by
//! itself.

use super::{
    counter::{Counters, STATES, XorCounter},
    drive::{self, Begun},
    key::Material,
    plan::{self, Class, STEP, blocks, lengths},
    turn::{HashWork, Hashed, NoHash, Sealed, Whole, rounds},
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{Ask, Down, Multiply},
    inout::{InOut, TURN, Turn, load_bytes},
    isa::Isa,
    nonce::{Nonce96, Start},
};

/// A sum of products that is not reduced.
type Sum<S, M> = <<M as Multiply<S>>::Short as Multiply<S>>::Sum;

/// An end on its way.
struct End<'a, S: Isa, M: Multiply<S>, P> {
    schedule: &'a Schedule,
    powers: &'a P,
    counters: XorCounter<S>,
    text: InOut<'a>,
    /// Blocks of the text, and that of the lengths.
    n: usize,
    sum: Sum<S, M>,
    /// What is to be added to the sum when it is reduced.
    extra: S::V,
}

/// Seals or opens a message that has no beginning, or what is left of one that has `begun`. Returns the tag.
#[inline(always)]
pub(crate) fn end<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &Material,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    begun: Option<&Begun<'_>>,
) -> Block {
    if const { !S::WEAVES } {
        return drive::message::<S, M, SEAL>(s, multiply, key, Start::Public(nonce), aad, text);
    }
    let (schedule, powers) = (&key.schedule, &key.tables);
    let mut end = End::<S, M, _>::new(s, schedule, powers, nonce, aad, text, begun);
    let has_step = plan::has_step(S::BLOCKS, text.len());
    if SEAL && has_step {
        let step = end.seal_step(s, &pending(s, powers, begun));
        return end.last_behind(s, &step);
    }
    if SEAL && let Some(turn) = &pending(s, powers, begun) {
        return end.last_behind(s, turn);
    }
    if has_step {
        end.open_step(s);
    }
    let fits = |class: Class| class.fits(S::BLOCKS, end.text.len());
    if fits(Class::Empty) {
        end.last::<SEAL, 0, 0, 1>(s, &NoHash)
    } else if fits(Class::OneLane) {
        end.last::<SEAL, 0, 1, 1>(s, &NoHash)
    } else if fits(Class::One) {
        end.last::<SEAL, 0, 1, 2>(s, &NoHash)
    } else if fits(Class::TwoLane) {
        end.last::<SEAL, 1, 2, 2>(s, &NoHash)
    } else if fits(Class::Two) {
        end.last::<SEAL, 1, 2, 3>(s, &NoHash)
    } else if fits(Class::Three) {
        end.last::<SEAL, 2, 3, 4>(s, &NoHash)
    } else {
        debug_assert!(Class::Four.fits(S::BLOCKS, end.text.len()));
        end.last::<SEAL, 3, 4, 5>(s, &NoHash)
    }
}

/// [`end`] of at most a vector of text with AAD beside the lengths, for a key that has few powers.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn short<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &Schedule,
    powers: &impl Ask<S>,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    seal: bool,
) -> Block {
    let len = text.len();
    let end = End::<S, M, _>::new(s, schedule, powers, nonce, aad, text, None);
    if len == 0 {
        end.last::<true, 0, 0, 1>(s, &NoHash)
    } else if seal {
        end.last::<true, 0, 1, 2>(s, &NoHash)
    } else {
        end.last::<false, 0, 1, 2>(s, &NoHash)
    }
}

impl<'a, S: Isa, M: Multiply<S>, P: Ask<S>> End<'a, S, M, P> {
    /// What is ahead of the text, and the lengths: one vector. (Vectors of one block take one each.)
    #[inline(always)]
    fn new(
        s: S,
        schedule: &'a Schedule,
        powers: &'a P,
        nonce: Nonce96,
        aad: &[u8],
        text: InOut<'a>,
        begun: Option<&Begun<'_>>,
    ) -> Self {
        let mut counters = XorCounter::new(s, schedule, nonce);
        let n = blocks(text.len()) + 1;
        let (header, lengths) = if let Some(begun) = begun {
            counters.skip(s, begun.done);
            let hash = if begun.pending.is_some() { s.splat(0) } else { begun.hash.load(s, 0) };
            (hash, begun.lengths)
        } else {
            (s.byte_swap(load_bytes(s, aad)), lengths(aad.len() as u64, text.len() as u64))
        };
        let all = blocks(aad.len()) + n;
        let entries = powers.down_from(s, all).vector(0);
        let mut sum = product::<S, M>(s, s.put_last(header, lengths), powers.with_last(s, entries));
        if const { S::BLOCKS == 1 } && (begun.is_some() || !aad.is_empty()) {
            sum = add::<S, M>(s, sum, header, entries);
        }
        // What the lengths have no room beside.
        let mut more = aad.get(const { plan::beside_lengths(S::BLOCKS) }..).unwrap_or_default();
        while !more.is_empty() {
            let entries = powers.down_from(s, blocks(more.len()) + n).vector(0);
            let (part, behind) = more.split_at(more.len().min(16 * S::BLOCKS));
            sum = add::<S, M>(s, sum, s.byte_swap(load_bytes(s, part)), entries);
            more = behind;
        }
        Self { schedule, powers, counters, text, n, sum, extra: s.splat(0) }
    }

    /// The next four vectors, encrypted, and meanwhile a turn that is pending is hashed.
    #[inline(always)]
    fn seal_step(
        &mut self,
        s: S,
        turn: &Option<PendingTurn<'_, S, P::Down<'a>>>,
    ) -> Hashed<S, P::Down<'a>, [S::V; STEP], STEP> {
        let (mut x, powers) = ([s.state(s.splat(0)); STATES], self.powers.down_from(s, self.n));
        self.counters.next::<STEP>(s, self.schedule, &mut x);
        if let Some(turn) = turn {
            if let Some(sum) = rounds::<S, M, _, STEP>(s, self.schedule, self.schedule, &mut x, turn) {
                turn.add(s, self, sum);
            }
        } else {
            rounds::<S, M, _, STEP>(s, self.schedule, self.schedule, &mut x, &NoHash);
        }
        let text = self.apply_step(s, &x);
        Hashed { powers, hash: s.splat(0), text }
    }

    /// The next four vectors, decrypted, and meanwhile hashed.
    #[inline(always)]
    fn open_step(&mut self, s: S) {
        let (mut x, powers) = ([s.state(s.splat(0)); STATES], self.powers.down_from(s, self.n));
        self.counters.next::<STEP>(s, self.schedule, &mut x);
        let work = Hashed::<S, _, _, STEP> { powers, hash: s.splat(0), text: Whole::<STEP>(&self.text) };
        if let Some(sum) = rounds::<S, M, _, STEP>(s, self.schedule, self.schedule, &mut x, &work) {
            self.add_whole::<STEP>(s, sum);
        }
        self.apply_step(s, &x);
    }

    /// The last round of a step. Returns what was written.
    #[inline(always)]
    fn apply_step(&mut self, s: S, x: &[S::State; STATES]) -> [S::V; STEP] {
        let (mut these, mut out) = (self.text.take::<S>(STEP), [s.splat(0); STEP]);
        each!(I in 0 1 2 3 => {
            out[I] = self.schedule.last_round(s, x[I], these.load::<S, I, STEP>(s));
            these.store::<S, I, STEP>(s, out[I]);
        });
        self.n -= STEP * S::BLOCKS;
        out
    }

    /// Adds the products of `N` whole vectors that are next.
    #[inline(always)]
    fn add_whole<const N: usize>(&mut self, s: S, sum: M::Sum) {
        self.sum = M::Short::add(s, self.sum, M::short(s, sum));
        if const { M::CONSTANTS } {
            let constants = |n: usize| self.powers.down_from(s, n).constants();
            self.extra = s.xor3(self.extra, constants(self.n), constants(self.n - N * S::BLOCKS));
        }
    }

    /// The last vectors, sealed behind a step or a turn that is hashed beside them.
    #[inline(always)]
    fn last_behind(self, s: S, beside: &impl Beside<S, M>) -> Block {
        if Class::Two.fits(S::BLOCKS, self.text.len()) {
            self.last::<true, 0, 2, 3>(s, beside)
        } else {
            self.last::<true, 2, 4, 5>(s, beside)
        }
    }

    /// The last `N` vectors, of which `WHOLE` are whole for certain, in `ALL` states: one more for J0, or J0
    /// is in the last lane. What is `beside` is hashed between the rounds. Returns the tag.
    ///
    /// In a debug build it is a function, which has not even the row's features: without an optimiser no two
    /// values share a place on the stack, and with all of these in it `end` had a frame of more than a
    /// megabyte.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg_attr(debug_assertions, inline(never))]
    fn last<const SEAL: bool, const WHOLE: usize, const N: usize, const ALL: usize>(
        mut self,
        s: S,
        beside: &impl Beside<S, M>,
    ) -> Block {
        const { assert!(ALL == N || ALL == N + 1) }
        let (powers, mut text) = (self.powers.down_from(s, self.n), self.text.at_least::<S>(WHOLE));
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
        // What is opened is hashed meanwhile, if that is two vectors at least.
        let woven = const { if !SEAL && WHOLE >= 2 { WHOLE } else { 0 } };
        if const { !SEAL && WHOLE >= 2 } {
            let work = Hashed::<S, _, _, WHOLE> { powers, hash: s.splat(0), text: Whole::<WHOLE>(&text) };
            if let Some(sum) = rounds::<S, M, _, ALL>(s, self.schedule, self.schedule, &mut x, &work) {
                self.add_whole::<WHOLE>(s, sum);
            }
        } else if let Some(sum) = rounds::<S, M, _, ALL>(s, self.schedule, self.schedule, &mut x, beside) {
            beside.add(s, &mut self, sum);
        }
        let mut mask = s.splat(0);
        each!(I in 0 1 2 3 => { if const { I < N } {
            let input = text.load::<S, I, WHOLE>(s);
            let output = self.schedule.last_round(s, x[I], input);
            text.store::<S, I, WHOLE>(s, output);
            if const { I + 1 == N && ALL == N } {
                mask = output;
            }
            if I >= woven {
                let bytes = text.bytes::<S, I>();
                let sealed = if const { I < WHOLE } { output } else { s.keep_first(output, bytes) };
                let v = s.byte_swap(if SEAL { sealed } else { input });
                self.sum = add::<S, M>(s, self.sum, v, powers.vector(I * S::BLOCKS));
            }
        } });
        if const { ALL > N } {
            mask = self.schedule.last_round(s, x[N], s.splat(0));
        }
        let hash = s.byte_swap(M::Short::reduce(s, self.sum, self.extra));
        if const { ALL > N } { s.fold_with::<false>(hash, mask) } else { s.fold_with::<true>(hash, mask) }
    }
}

/// A turn before an end.
type PendingTurn<'a, S, D> = Hashed<S, D, Sealed<'a, S>, TURN>;

/// That which has `begun` with a message, if one is pending.
#[inline(always)]
fn pending<'a, 'p, S: Isa, P: Ask<S>>(
    s: S,
    powers: &'p P,
    begun: Option<&Begun<'a>>,
) -> Option<PendingTurn<'a, S, P::Down<'p>>> {
    let Some(Begun { pending: Some(text), hash, .. }) = begun else { return None };
    let (powers, turn) = (powers.down_from(s, TURN * S::BLOCKS), Turn::stored_at(s, *text));
    Some(Hashed { powers, hash: hash.load(s, 0), text: Sealed(turn) })
}

/// What is hashed beside the last vectors: nothing, or what was sealed before them.
trait Beside<S: Isa, M: Multiply<S>>: HashWork<S, M> {
    fn add<P: Ask<S>>(&self, s: S, end: &mut End<'_, S, M, P>, sum: M::Sum);
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for NoHash {
    #[inline(always)]
    fn add<P: Ask<S>>(&self, _: S, _: &mut End<'_, S, M, P>, _: M::Sum) {}
}

impl<S: Isa, M: Multiply<S>, D: Down<S>> Beside<S, M> for Hashed<S, D, [S::V; STEP], STEP> {
    #[inline(always)]
    fn add<P: Ask<S>>(&self, s: S, end: &mut End<'_, S, M, P>, sum: M::Sum) {
        end.sum = M::Short::add(s, end.sum, M::short(s, sum));
        if const { M::CONSTANTS } {
            let behind = end.powers.down_from(s, end.n).constants();
            end.extra = s.xor3(end.extra, self.powers.constants(), behind);
        }
    }
}

/// A vector that meets its powers.
#[inline(always)]
fn product<S: Isa, M: Multiply<S>>(s: S, v: S::V, (first, second): (S::V, S::V)) -> Sum<S, M> {
    M::Short::product(s, M::Short::ready(s, v, first, second))
}

/// `sum` and a vector that meets its powers.
#[inline(always)]
fn add<S: Isa, M: Multiply<S>>(s: S, sum: Sum<S, M>, v: S::V, entries: (S::V, S::V)) -> Sum<S, M> {
    M::Short::add(s, sum, product::<S, M>(s, v, entries))
}

impl<S: Isa, M: Multiply<S>, D: Down<S>> Beside<S, M> for PendingTurn<'_, S, D> {
    /// Its hash is a block before those that are left.
    #[inline(always)]
    fn add<P: Ask<S>>(&self, s: S, end: &mut End<'_, S, M, P>, sum: M::Sum) {
        let entries = end.powers.down_from(s, end.n).vector(0);
        end.sum = add::<S, M>(s, end.sum, self.reduced::<M>(s, sum), entries);
    }
}
