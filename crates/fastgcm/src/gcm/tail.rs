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
    turn::{HashWork, Hashed, NoHash, RoundKeys, Sealed, Whole, rounds},
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
struct End<'a, S: Isa, M: Multiply<S>, P: Ask<S> + 'a, K> {
    schedule: &'a Schedule,
    keys: K,
    powers: &'a P,
    counters: XorCounter<S>,
    text: InOut<'a>,
    /// Blocks of the text, and that of the lengths.
    n: usize,
    sum: Sum<S, M>,
}

/// The last vectors of a text in AES, all rounds but the last: the last vector, which may be cut, the one
/// before it and so on; and J0, in the last lane.
type States<S> = ([<S as Isa>::State; 4], <S as Isa>::State);

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
    if const { S::BLOCKS > 1 } {
        end_by::<S, M, SEAL>(s, key, key.tables.more(s), nonce, aad, text, begun)
    } else {
        end_by::<S, M, SEAL>(s, key, &key.schedule, nonce, aad, text, begun)
    }
}

/// [`end`] with these round keys.
#[inline(always)]
fn end_by<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    key: &Material,
    keys: impl RoundKeys<S>,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    begun: Option<&Begun<'_>>,
) -> Block {
    let (schedule, powers) = (&key.schedule, &key.tables);
    let header = Header::new(s, powers, aad, text.len(), begun);
    let mut end = End::<S, M, _, _>::new(s, schedule, keys, powers, nonce, text, begun);
    let has_step = plan::has_step(S::BLOCKS, text.len());
    let states = if SEAL && has_step {
        let step = end.seal_step(s, &pending(s, powers, begun));
        end.behind(s, &step)
    } else if SEAL && let Some(turn) = &pending(s, powers, begun) {
        end.behind(s, turn)
    } else {
        if has_step {
            end.open_step(s);
        }
        let fits = |class: Class| class.fits(S::BLOCKS, end.text.len());
        if fits(Class::OneLane) {
            end.states::<1, 1, _>(s, &NoHash)
        } else if fits(Class::One) {
            end.states::<1, 2, _>(s, &NoHash)
        } else if fits(Class::TwoLane) {
            end.states::<2, 2, _>(s, &NoHash)
        } else if fits(Class::Two) {
            end.states::<2, 3, _>(s, &NoHash)
        } else if fits(Class::Three) {
            end.states::<3, 4, _>(s, &NoHash)
        } else {
            debug_assert!(Class::Four.fits(S::BLOCKS, end.text.len()));
            end.states::<4, 5, _>(s, &NoHash)
        }
    };
    end.last::<SEAL>(s, states, header)
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
    assert!(text.len() <= 16 * S::BLOCKS);
    let header = Header::new(s, powers, aad, text.len(), None);
    let mut end = End::<S, M, _, _>::new(s, schedule, schedule, powers, nonce, text, None);
    let states = end.states::<1, 2, _>(s, &NoHash);
    if seal { end.last::<true>(s, states, header) } else { end.last::<false>(s, states, header) }
}

/// What is ahead of the text, and the lengths: one vector. (Vectors of one block take one each.)
struct Header<'a, S: Isa, P: Ask<S> + 'a> {
    powers: &'a P,
    /// Those of all blocks.
    all: P::Down<'a>,
    aad: &'a [u8],
    begun: Option<&'a Begun<'a>>,
    /// Bytes of the text.
    text: usize,
    /// Blocks of the text, and that of the lengths.
    n: usize,
}

impl<'a, S: Isa, P: Ask<S>> Header<'a, S, P> {
    #[inline(always)]
    fn new(s: S, powers: &'a P, aad: &'a [u8], text: usize, begun: Option<&'a Begun<'a>>) -> Self {
        let n = blocks(text) + 1;
        Self { powers, all: powers.down_from(s, blocks(aad.len()) + n), aad, begun, text, n }
    }

    #[inline(always)]
    fn add<M: Multiply<S>>(&self, s: S, sum: Sum<S, M>) -> Sum<S, M> {
        let (header, lengths) = if let Some(begun) = self.begun {
            (if begun.pending.is_some() { s.splat(0) } else { begun.hash.load(s, 0) }, begun.lengths)
        } else {
            (s.byte_swap(load_bytes(s, self.aad)), lengths(self.aad.len() as u64, self.text as u64))
        };
        let entries = self.all.vector(0);
        let mut sum = add::<S, M>(s, sum, s.put_last(header, lengths), self.powers.with_last(s, entries));
        if const { S::BLOCKS == 1 } && (self.begun.is_some() || !self.aad.is_empty()) {
            sum = add::<S, M>(s, sum, header, entries);
        }
        // What the lengths have no room beside.
        let mut more = self.aad.get(const { plan::beside_lengths(S::BLOCKS) }..).unwrap_or_default();
        while !more.is_empty() {
            let entries = self.powers.down_from(s, blocks(more.len()) + self.n).vector(0);
            let (part, behind) = more.split_at(more.len().min(16 * S::BLOCKS));
            sum = add::<S, M>(s, sum, s.byte_swap(load_bytes(s, part)), entries);
            more = behind;
        }
        sum
    }
}

impl<'a, S: Isa, M: Multiply<S>, P: Ask<S>, K: RoundKeys<S>> End<'a, S, M, P, K> {
    #[inline(always)]
    fn new(
        s: S,
        schedule: &'a Schedule,
        keys: K,
        powers: &'a P,
        nonce: Nonce96,
        text: InOut<'a>,
        begun: Option<&Begun<'_>>,
    ) -> Self {
        let mut counters = XorCounter::new(s, schedule, nonce);
        if let Some(begun) = begun {
            counters.skip(s, begun.done);
        }
        let (n, sum) = (blocks(text.len()) + 1, M::Short::zero(s));
        Self { schedule, keys, powers, counters, text, n, sum }
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
            if let Some(sum) = rounds::<S, M, _, STEP>(s, self.schedule, self.keys, &mut x, turn) {
                turn.add(s, self, sum);
            }
        } else {
            rounds::<S, M, _, STEP>(s, self.schedule, self.keys, &mut x, &NoHash);
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
        if let Some(sum) = rounds::<S, M::Short, _, STEP>(s, self.schedule, self.keys, &mut x, &work) {
            self.sum = M::Short::add(s, self.sum, sum);
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

    /// The last vectors in AES, behind a step or a turn that is hashed beside them.
    #[inline(always)]
    fn behind(&mut self, s: S, beside: &impl Beside<S, M>) -> States<S> {
        let vectors = self.text.len().div_ceil(16 * S::BLOCKS);
        if vectors <= 2 {
            let ([b, a, ..], j0) = self.states::<2, 3, _>(s, beside);
            if vectors == 2 { ([b, a, a, a], j0) } else { ([a; 4], j0) }
        } else {
            let ([d, c, b, a], j0) = self.states::<4, 5, _>(s, beside);
            if vectors == 4 { ([d, c, b, a], j0) } else { ([c, b, a, a], j0) }
        }
    }

    /// `N` vectors in `ALL` states: one more for J0, or J0 is in the last lane. What is `beside` is hashed
    /// between the rounds.
    ///
    /// All that need not wait for these states comes behind them: so the processor, which takes instructions
    /// in order, begins with them while the message before is being finished.
    #[inline(always)]
    fn states<const N: usize, const ALL: usize, B: Beside<S, M>>(&mut self, s: S, beside: &B) -> States<S> {
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
        if let Some(sum) = rounds::<S, B::By, _, ALL>(s, self.schedule, self.keys, &mut x, beside) {
            beside.add(s, self, sum);
        }
        each!(I in 0 1 2 3 4 => { if const { I < ALL } { s.pin_state(&mut x[I]); } });
        let mut last = [s.unset(); 4];
        each!(I in 0 1 2 3 => { if const { I < N } { last[I] = x[N - 1 - I]; } });
        (last, x[ALL - 1])
    }

    /// The last round and GHASH of the last vectors. Returns the tag.
    #[inline(always)]
    fn last<const SEAL: bool>(self, s: S, (x, j0): States<S>, header: Header<'_, S, P>) -> Block {
        let mut sum = header.add::<M>(s, self.sum);
        let (mut whole, mut cut) = self.text.split_cut::<S>();
        let n = blocks(cut.len()) + 1;
        let [a, b, c, d] = x;
        let x = if cut.len() > 0 {
            let input = cut.load::<S, 0, 0>(s);
            let output = self.schedule.last_round(s, a, input);
            cut.store::<S, 0, 0>(s, output);
            let v = if SEAL { s.keep_first(output, cut.len()) } else { input };
            sum = add::<S, M>(s, sum, s.byte_swap(v), self.powers.down_from(s, n).vector(0));
            [b, c, d, s.unset()]
        } else {
            [a, b, c, d]
        };
        let ahead = self.powers.down_from(s, n + 4 * S::BLOCKS);
        'whole: {
            each!(I in 0 1 2 3 => {
                let Some(mut one) = whole.take_last::<S>() else { break 'whole };
                let input = one.load::<S, 0, 1>(s);
                let output = self.schedule.last_round(s, x[I], input);
                one.store::<S, 0, 1>(s, output);
                let v = s.byte_swap(if SEAL { output } else { input });
                sum = add::<S, M>(s, sum, v, ahead.vector((3 - I) * S::BLOCKS));
            });
        }
        let mask = self.schedule.last_round(s, j0, s.splat(0));
        s.fold_with::<true>(s.byte_swap(M::Short::reduce(s, sum, s.splat(0))), mask)
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
trait Beside<S: Isa, M: Multiply<S>>: HashWork<S, Self::By> {
    type By: Multiply<S>;
    fn add<'a, P: Ask<S> + 'a, K>(
        &self,
        s: S,
        end: &mut End<'a, S, M, P, K>,
        sum: <Self::By as Multiply<S>>::Sum,
    );
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for NoHash {
    type By = M;
    #[inline(always)]
    fn add<'a, P: Ask<S> + 'a, K>(&self, _: S, _: &mut End<'a, S, M, P, K>, _: M::Sum) {}
}

impl<S: Isa, M: Multiply<S>, D: Down<S>> Beside<S, M> for Hashed<S, D, [S::V; STEP], STEP> {
    type By = M::Short;
    #[inline(always)]
    fn add<'a, P: Ask<S> + 'a, K>(&self, s: S, end: &mut End<'a, S, M, P, K>, sum: Sum<S, M>) {
        end.sum = M::Short::add(s, end.sum, sum);
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
    type By = M;
    /// Its hash is a block before those that are left.
    #[inline(always)]
    fn add<'a, P: Ask<S> + 'a, K>(&self, s: S, end: &mut End<'a, S, M, P, K>, sum: M::Sum) {
        let entries = end.powers.down_from(s, end.n).vector(0);
        end.sum = add::<S, M>(s, end.sum, self.reduced::<M>(s, sum), entries);
    }
}
