//! The last part of a message: up to nine vectors, the mask of the tag, the lengths; one reduction.
//!
//! A short message is nothing else. Each block meets its own power of H, so nothing has to wait for anything: the sum is
//! reduced once, and its lanes are added once.

use super::{
    Material,
    counter::{Counters, STATES, TableCounter},
    message::blocks,
    turn::{HashTurn, HashWork, Keys, NoHash, rounds},
    turns::Bulk,
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{Ask, BEHIND, Descending, Down, Multiply, aad_lanes},
    inout::{InOut, load_bytes, load_vector},
    isa::Isa,
};

/// A message whose turns are done, if it has any.
pub(crate) struct Rest<'a, S: Isa, B> {
    pub(crate) counters: TableCounter<S>,
    pub(crate) text: InOut<'a>,
    pub(crate) before: Before<S>,
    /// What is encrypted but not hashed yet.
    pub(crate) beside: B,
}

/// What is hashed while a tail is encrypted: nothing, the turn before it, or its own first part. A type, not a value that is looked at: else the
/// compiler would make each tail for all three, and leave out two of them later. (`Copy`, so that nothing has to be dropped if a call panics: none
/// does, but the compiler would prepare for it in each.)
pub(crate) trait Beside<S: Isa, M: Multiply<S>>: Copy {
    /// Vectors of the text that are encrypted already.
    const DONE: usize = 0;

    /// AAD and lengths, multiplied.
    #[inline(always)]
    fn header_and_lengths<const N: usize>(&self, s: S, before: &Before<S>, powers: &impl Ask<S>, text: usize) -> M::Sum {
        before.header_and_lengths::<N, M>(s, powers, text)
    }

    /// The rounds of the vectors up to `ALL` that are not encrypted yet, and what is hashed meanwhile: it changes the `hash` of what has been, or the
    /// `sum` of the tail.
    fn rounds<const ALL: usize>(&self, s: S, schedule: &Schedule, x: &mut [S::State; STATES], hash: &mut S::V, sum: &mut M::Sum);
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for NoHash {
    #[inline(always)]
    fn rounds<const ALL: usize>(&self, s: S, schedule: &Schedule, x: &mut [S::State; STATES], _: &mut S::V, _: &mut M::Sum) {
        rounds::<S, M, _, TableCounter<S>, 0, ALL>(s, schedule, &Keys::of(&schedule.keys), x, self);
    }
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for HashTurn<'_, S, true> {
    #[inline(always)]
    fn rounds<const ALL: usize>(&self, s: S, schedule: &Schedule, x: &mut [S::State; STATES], hash: &mut S::V, _: &mut M::Sum) {
        if let Some(hashed) = rounds::<S, M, _, TableCounter<S>, 0, ALL>(s, schedule, &Keys::of(&schedule.keys), x, self) {
            *hash = self.reduce::<M>(s, hashed);
        }
    }
}

/// The first part of a tail that is sealed in two: `WOVEN` whole vectors, encrypted but not hashed yet. They are hashed while the second part is
/// encrypted.
#[derive(Clone, Copy)]
pub(crate) struct First<'a, S: Isa, M: Multiply<S>> {
    outputs: [S::V; WOVEN],
    /// Each lane with its own power.
    powers: Descending<'a, S>,
    /// The hash of what has been.
    hash: S::V,
    /// AAD and lengths, multiplied. (Behind the first part that took 2 to 5 % longer: there AES leaves no room.)
    sum: M::Sum,
}

impl<S: Isa, M: Multiply<S>> HashWork<S, M> for First<'_, S, M> {
    const COUNT: usize = WOVEN;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        HashTail::<S, _, WOVEN, WOVEN> { powers: self.powers, hash: self.hash, text: InOut::EMPTY }.meet::<M, I>(s, self.outputs[I])
    }
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for First<'_, S, M> {
    const DONE: usize = WOVEN;

    #[inline(always)]
    fn header_and_lengths<const N: usize>(&self, _: S, _: &Before<S>, _: &impl Ask<S>, _: usize) -> M::Sum {
        self.sum
    }

    #[inline(always)]
    fn rounds<const ALL: usize>(&self, s: S, schedule: &Schedule, x: &mut [S::State; STATES], _: &mut S::V, sum: &mut M::Sum) {
        if let Some(hashed) = rounds::<S, M, _, TableCounter<S>, WOVEN, ALL>(s, schedule, &Keys::of(&schedule.keys), x, self) {
            *sum = M::add(s, *sum, hashed);
        }
    }
}

/// The first part of a tail that is opened in two: those vectors, decrypted and hashed.
#[derive(Clone, Copy)]
pub(crate) struct Opened<Sum> {
    /// They, AAD and lengths, multiplied.
    sum: Sum,
}

impl<S: Isa, M: Multiply<S>> Beside<S, M> for Opened<M::Sum> {
    const DONE: usize = WOVEN;

    #[inline(always)]
    fn header_and_lengths<const N: usize>(&self, _: S, _: &Before<S>, _: &impl Ask<S>, _: usize) -> M::Sum {
        self.sum
    }

    #[inline(always)]
    fn rounds<const ALL: usize>(&self, s: S, schedule: &Schedule, x: &mut [S::State; STATES], _: &mut S::V, _: &mut M::Sum) {
        rounds::<S, M, _, TableCounter<S>, WOVEN, ALL>(s, schedule, &Keys::of(&schedule.keys), x, &NoHash);
    }
}

impl<'a, S: Isa> Rest<'a, S, NoHash> {
    /// A message without turns.
    #[inline(always)]
    pub(crate) fn alone(counters: TableCounter<S>, text: InOut<'a>, before: Before<S>) -> Self {
        Self { counters, text, before, beside: NoHash }
    }

    /// The same behind a turn.
    #[inline(always)]
    pub(crate) fn behind(self, pending: HashTurn<'a, S, true>) -> Rest<'a, S, HashTurn<'a, S, true>> {
        Rest { counters: self.counters, text: self.text, before: self.before, beside: pending }
    }

    /// Encrypts the first part, and meanwhile hashes the turn that is pending, if there is one.
    #[inline(always)]
    pub(crate) fn begin<M: Multiply<S>>(
        self,
        s: S,
        key: &'a Material,
        pending: &Option<HashTurn<'a, S, true>>,
    ) -> Rest<'a, S, First<'a, S, M>> {
        let schedule = &key.schedule;
        let (mut text, mut before) = (self.text.at_least::<S>(WOVEN), self.before);
        let (mut x, mut outputs) = ([s.state(s.splat(0)); STATES], [s.splat(0); WOVEN]);
        self.counters.clone().next::<WOVEN>(s, schedule, &mut x);
        let mut sum = before.header_and_lengths::<WOVEN, M>(s, &key.tables, text.len());
        match pending {
            Some(turn) => Beside::<S, M>::rounds::<WOVEN>(turn, s, schedule, &mut x, &mut before.hash, &mut sum),
            None => Beside::<S, M>::rounds::<WOVEN>(&NoHash, s, schedule, &mut x, &mut before.hash, &mut sum),
        }
        let prev = s.state(s.splat(*schedule.before_last())); // of no use on x86
        let last = s.state(s.splat(schedule.last));
        each!(I in 0 1 2 3 => {
            outputs[I] = s.last_round(x[I], prev, last, text.load::<S, I, WOVEN>(s));
            text.store::<S, I, WOVEN>(s, outputs[I]);
        });
        let powers = key.tables.down_from(s, blocks(text.len()) + 1);
        Rest { counters: self.counters, text, beside: First { outputs, powers, hash: before.hash, sum }, before }
    }

    /// Decrypts the first part, and meanwhile hashes it.
    #[inline(always)]
    pub(crate) fn begin_opening<M: Multiply<S>>(self, s: S, key: &'a Material) -> Rest<'a, S, Opened<M::Sum>> {
        let schedule = &key.schedule;
        let (mut text, before) = (self.text.at_least::<S>(WOVEN), self.before);
        let mut x = [s.state(s.splat(0)); STATES];
        self.counters.clone().next::<WOVEN>(s, schedule, &mut x);
        let mut sum = before.header_and_lengths::<WOVEN, M>(s, &key.tables, text.len());
        let powers = key.tables.down_from(s, blocks(text.len()) + 1);
        let own = HashTail::<S, _, WOVEN, WOVEN> { powers, hash: before.hash, text };
        if let Some(hashed) = rounds::<S, M, _, TableCounter<S>, 0, WOVEN>(s, schedule, &Keys::of(&schedule.keys), &mut x, &own) {
            sum = M::add(s, sum, hashed);
        }
        let prev = s.state(s.splat(*schedule.before_last())); // of no use on x86
        let last = s.state(s.splat(schedule.last));
        each!(I in 0 1 2 3 => {
            let output = s.last_round(x[I], prev, last, text.load::<S, I, WOVEN>(s));
            text.store::<S, I, WOVEN>(s, output);
        });
        Rest { counters: self.counters, text, beside: Opened { sum }, before }
    }
}

/// What the tail has to know of the message before it.
pub(crate) struct Before<S: Isa> {
    pub(crate) header: Header<S>,
    /// The hash of what has been, in lanes (see `turn`).
    pub(crate) hash: S::V,
    /// The lengths block, mirrored.
    pub(crate) lengths: Block,
}

impl<S: Isa> Before<S> {
    /// AAD and lengths share a vector before a tail of `text` bytes, `N` vectors: AAD in the first lanes, with its own powers, and the lengths in the
    /// last, with H^1. (Vectors of one block take one each.)
    #[inline(always)]
    fn header_and_lengths<const N: usize, M: Multiply<S>>(&self, s: S, powers: &impl Ask<S>, text: usize) -> M::Sum {
        let Header { aad, blocks: aad_blocks, .. } = self.header;
        let lengths = if const { N == 0 } { self.lengths ^ s.fold(self.hash) } else { self.lengths };
        let all_powers = powers.down_from(s, aad_blocks + blocks(text) + 1);
        if const { S::BLOCKS == 1 } {
            let (first, second) = powers.down_from(s, 1).vector(0);
            let sum = M::product(s, M::ready(s, s.splat(lengths), first, second));
            if aad_blocks == 0 {
                sum
            } else {
                let (first, second) = all_powers.vector(0);
                M::add(s, sum, M::product(s, M::ready(s, aad, first, second)))
            }
        } else {
            let (first, second) =
                powers.with_last(s, if const { M::CONSTANTS } { all_powers.partly(s, 0, aad_blocks) } else { all_powers.vector(0) });
            M::product(s, M::ready(s, s.put_last(aad, lengths), first, second))
        }
    }
}

/// AAD that does not begin the hash: each block meets a power of its own.
pub(crate) struct Header<S: Isa> {
    /// The last of it, mirrored: a vector with a lane left for the lengths.
    aad: S::V,
    blocks: usize,
    /// What stands before that vector, multiplied and reduced, in lanes.
    ahead: S::V,
}

impl<S: Isa> Header<S> {
    /// AAD that leaves that lane.
    #[inline(always)]
    pub(crate) fn new(s: S, aad: &[u8]) -> Self {
        Self { aad: s.byte_swap(load_bytes(s, aad)), blocks: blocks(aad.len()), ahead: s.splat(0) }
    }

    /// Any AAD before `text` bytes of text. With the lengths both must not be more blocks than a key has powers.
    #[inline(always)]
    pub(crate) fn any<M: Multiply<S>>(s: S, key: &Material, aad: &[u8], text: usize) -> Self {
        const { assert!(!M::CONSTANTS) }
        let most = 16 * aad_lanes(S::BLOCKS);
        if aad.len() <= most {
            return Self::new(s, aad);
        }
        // Vectors without a free lane, so that their powers and those of what follows are all powers from one on, once each. If less than a vector would
        // be left, and no lane of it free, the first block goes alone (among zeros): a load with a mask takes longer, and registers.
        let (mut rest, mut n, mut sum) = (aad, blocks(aad.len()) + blocks(text) + 1, M::zero(s));
        macro_rules! add {
            ($vector:expr, $powers:expr) => {
                let (first, second) = $powers;
                sum = M::add(s, sum, M::product(s, M::ready(s, s.byte_swap($vector), first, second)));
            };
        }
        if rest.len() % (16 * S::BLOCKS) > most {
            let (block, behind) = rest.split_at(16);
            add!(load_bytes(s, block), key.tables.down_from(s, n).vector(0));
            (rest, n) = (behind, n - 1);
        }
        let (powers, mut skip) = (key.tables.down_from(s, n), 0);
        while let Some((vector, behind)) = rest.split_at_checked(16 * S::BLOCKS) {
            add!(load_vector(s, vector), powers.vector(skip));
            (rest, skip) = (behind, skip + S::BLOCKS);
        }
        Self { ahead: M::reduce(s, sum, s.splat(0)), ..Self::new(s, rest) }
    }
}

/// How a row gets at what stands in a function of its own, behind the one gate where vectors come to life.
pub(crate) trait Outlined<S: Isa, M: Multiply<S>>: Copy {
    /// [`bulk`](super::bulk): always called, never a part of the caller.
    fn bulk<'a, const SEAL: bool, const FACE: bool>(self, s: S, multiply: M, key: &'a Material, all: &mut Bulk<'a, S>);

    /// [`tail`]: a part of the caller, with all that the optimiser can make of that. But not in a debug build: without an optimiser no two
    /// values share a place, and a function with all tails in it had a frame of two megabytes, which is all that a thread has.
    fn tail<const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
        self,
        s: S,
        key: &Material,
        rest: Rest<'_, S, impl Beside<S, M>>,
    ) -> Block;
}

/// `N` vectors, of which `WHOLE` are whole for certain, in `ALL` AES states: one more, for the mask of the tag, or as many, if the last lane has
/// no block of the text and can be the mask's. Returns the tag.
#[inline(always)]
pub(crate) fn tail<S: Isa, M: Multiply<S>, B: Beside<S, M>, const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
    s: S,
    schedule: &Schedule,
    powers: &impl Ask<S>,
    rest: Rest<'_, S, B>,
) -> Block {
    const { assert!(ALL == N + 1 && ALL <= STATES || ALL == N) }
    // The last of them may have no block, and reads powers behind H^1.
    const { assert!(N - WHOLE <= BEHIND) }
    let Rest { mut counters, text, before, beside } = rest;
    let mut text = text.at_least::<S>(WHOLE);

    // N vectors of counter blocks, and J0: as one state more, or in the last lane.
    let zero = s.splat(0);
    let mut x = [s.state(zero); STATES];
    if const { ALL == N } {
        counters.all_with_j0::<N>(s, &mut x);
    } else {
        x[N] = counters.j0(s);
        counters.next::<N>(s, schedule, &mut x);
    }

    let blocks = blocks(text.len());
    let mut sum = beside.header_and_lengths::<N>(s, &before, powers, text.len());

    // AES, and meanwhile: seal, what is beside it; open, this ciphertext itself.
    let own = HashTail::<S, _, N, WHOLE> { powers: powers.down_from(s, blocks + 1), hash: before.hash, text };
    let mut hash = before.hash;
    if const { !SEAL && woven::<S>(N, ALL, WHOLE) > 0 && B::DONE == 0 } {
        let keys = Keys::of(&schedule.keys);
        let hashed = if const { N > WOVEN } {
            rounds::<S, M, _, TableCounter<S>, 0, ALL>(s, schedule, &keys, &mut x, &own)
        } else {
            let whole = HashTail::<S, _, WHOLE, WHOLE> { powers: own.powers, hash, text };
            rounds::<S, M, _, TableCounter<S>, 0, ALL>(s, schedule, &keys, &mut x, &whole)
        };
        if let Some(hashed) = hashed {
            sum = M::add(s, sum, hashed);
        }
    } else {
        beside.rounds::<ALL>(s, schedule, &mut x, &mut hash, &mut sum);
    }
    let own = HashTail { hash, ..own };

    let prev = s.state(s.splat(*schedule.before_last())); // of no use on x86
    let last = s.state(s.splat(schedule.last));
    let mut mask = zero;
    each!(I in 0 1 2 3 4 5 6 7 8 => { if const { I < N && I >= B::DONE } {
        let input = text.load::<S, I, WHOLE>(s);
        let output = s.last_round(x[I], prev, last, input);
        text.store::<S, I, WHOLE>(s, output);
        if const { ALL == N && I + 1 == N } {
            mask = output;
        }
        if SEAL {
            let output = if const { I < WHOLE } { output } else { s.keep_first(output, text.bytes::<S, I>()) };
            sum = M::add(s, sum, M::product(s, own.meet::<M, I>(s, output)));
        } else if const { I >= woven::<S>(N, ALL, WHOLE) || B::DONE > 0 } {
            sum = M::add(s, sum, M::product(s, own.meet::<M, I>(s, input)));
        }
    } });
    if const { ALL > N } {
        mask = s.last_round(x[N], prev, last, zero);
    }

    let Header { blocks: aad_blocks, ahead, .. } = before.header;
    let extra = if const { M::CONSTANTS } { s.xor(powers.down_from(s, aad_blocks + blocks + 1).constants(), ahead) } else { ahead };
    let hash = s.byte_swap(M::reduce(s, sum, extra));
    if const { ALL == N } { s.fold_with::<true>(hash, mask) } else { s.fold_with::<false>(hash, mask) }
}

/// Up to here the CPU overlaps AES and GHASH by itself: both fit in its window.
pub(crate) const WOVEN: usize = 4;

/// How many vectors of what is opened are hashed between the rounds: all of a long tail, and with AVX-512 those that are whole in a message of three states
/// or more without turns. Such a message waits for its hash, which begins late behind all rounds (Zen 5: 113 to 192 bytes take up to 9 % less, 200 and 256
/// bytes 5 to 8 %; Emerald Rapids: AES-128 1 to 2 % more, AES-256 2 to 4 % less). Messages of fewer states, and narrower vectors, took up to 10 % longer
/// that way. Tails behind turns took 1 to 4 % longer: where they are short, each stands for two numbers of vectors.
const fn woven<S: Isa>(vectors: usize, states: usize, whole: usize) -> usize {
    if vectors > 8 {
        8
    } else if vectors > WOVEN {
        vectors
    } else if S::ROOMY && S::BLOCKS > 1 && states > 2 && whole + 1 == vectors {
        whole
    } else {
        0
    }
}

/// The vectors of the tail, each lane with its own power.
struct HashTail<'a, S: Isa, D, const N: usize, const WHOLE: usize> {
    /// From that of its first block on.
    powers: D,
    hash: S::V,
    text: InOut<'a>,
}

impl<S: Isa, D: Down<S>, const N: usize, const WHOLE: usize> HashTail<'_, S, D, N, WHOLE> {
    /// Vector `I` of the ciphertext meets its powers. Vector 0 carries the hash of what came before.
    #[inline(always)]
    fn meet<M: Multiply<S>, const I: usize>(&self, s: S, v: S::V) -> M::Ready {
        let v = s.byte_swap(v);
        let v = if const { I == 0 } { s.xor(v, self.hash) } else { v };
        let skip = I * S::BLOCKS;
        let (first, second) = if const { I < WHOLE || !M::CONSTANTS } {
            self.powers.vector(skip)
        } else {
            self.powers.partly(s, skip, self.text.bytes::<S, I>().div_ceil(16))
        };
        M::ready(s, v, first, second)
    }
}

impl<S: Isa, M: Multiply<S>, D: Down<S>, const N: usize, const WHOLE: usize> HashWork<S, M> for HashTail<'_, S, D, N, WHOLE> {
    const COUNT: usize = if N < 8 { N } else { 8 };

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        self.meet::<M, I>(s, self.text.load::<S, I, WHOLE>(s))
    }
}
