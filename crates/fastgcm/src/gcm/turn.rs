//! AES of up to nine vectors, and meanwhile GHASH of up to eight others: the inner loop of the library.
//!
//! AES and carry-less multiplication use different units of the CPU, so the two are written as one schedule
//! ([`rounds`]). `pin` holds each of its steps in its place.

use super::counter::{Counters, Keep, STATES};
use crate::{
    aes::{KeySize, Keys, Schedule, WOVEN},
    ghash::{Multiply, PowersFrom},
    inout::{InOut, SealedTurn, TURN, Turn},
    isa::Isa,
};
use core::hint::black_box;

/// The vectors that are hashed while AES runs, eight at most.
pub(crate) trait HashWork<S: Isa, M: Multiply<S>> {
    /// The number of vectors.
    const COUNT: usize;
    /// Returns vector `I`, byte-swapped, with its powers.
    fn ready<const I: usize>(&self, s: S) -> M::Ready;
}

/// No vector to hash.
#[derive(Clone, Copy)]
pub(crate) struct NoHash;

impl<S: Isa, M: Multiply<S>> HashWork<S, M> for NoHash {
    const COUNT: usize = 0;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let zero = s.splat(0);
        M::ready(s, zero, zero, zero)
    }
}

/// `N` vectors of ciphertext, each block of which meets its own power of H.
pub(crate) struct HashInput<S: Isa, D, T, const N: usize> {
    /// The powers, from the power of the first block on.
    pub(crate) powers: D,
    /// The hash of what is before the vectors, in lane 0: a block that is added to the first.
    pub(crate) hash: S::V,
    pub(crate) text: T,
}

/// Where vectors of ciphertext come from.
pub(crate) trait Source<S: Isa> {
    fn vector<const I: usize>(&self, s: S) -> S::V;
}

impl<S: Isa, D: PowersFrom<S>, T: Source<S>, const N: usize> HashInput<S, D, T, N> {
    /// Reduces `sum`, the products of a turn, and adds it up over the lanes: the hash behind the turn, in
    /// lane 0.
    #[inline(always)]
    pub(crate) fn reduced<M: Multiply<S>>(&self, s: S, sum: M::Sum) -> S::V {
        s.first(s.fold(M::reduce(s, sum, self.powers.constants())))
    }
}

impl<S: Isa, M: Multiply<S>, D: PowersFrom<S>, T: Source<S>, const N: usize> HashWork<S, M>
    for HashInput<S, D, T, N>
{
    const COUNT: usize = N;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let v = s.byte_swap(self.text.vector::<I>(s));
        let (first, second) = self.powers.vector(I * S::BLOCKS);
        M::ready(s, if const { I == 0 } { s.xor(v, self.hash) } else { v }, first, second)
    }
}

/// A turn to be opened, which is not overwritten yet.
impl<S: Isa> Source<S> for &Turn<'_, S> {
    #[inline(always)]
    fn vector<const I: usize>(&self, s: S) -> S::V {
        self.load::<I>(s)
    }
}

/// A turn that was sealed.
impl<S: Isa> Source<S> for SealedTurn<'_, S> {
    #[inline(always)]
    fn vector<const I: usize>(&self, s: S) -> S::V {
        self.load::<I>(s)
    }
}

/// `N` whole vectors to be opened.
pub(crate) struct Whole<'a, 'b, const N: usize>(pub(crate) &'b InOut<'a>);

impl<S: Isa, const N: usize> Source<S> for Whole<'_, '_, N> {
    #[inline(always)]
    fn vector<const I: usize>(&self, s: S) -> S::V {
        self.0.load::<S, I, N>(s)
    }
}

/// Vectors that were just sealed.
impl<S: Isa<V = V>, V: Copy, const N: usize> Source<S> for [V; N] {
    #[inline(always)]
    fn vector<const I: usize>(&self, _: S) -> V {
        self[I]
    }
}

/// Which of `N` vectors a round takes.
const ALL: usize = 0;
const FIRST_HALF: usize = 1;
const SECOND_HALF: usize = 2;

/// Returns whether vector `i` is one of these.
const fn is_of(i: usize, n: usize, part: usize) -> bool {
    i >= if part == SECOND_HALF { n / 2 } else { 0 } && i < if part == FIRST_HALF { n / 2 } else { n }
}

/// Runs one round. This function and `pin` are separate: written out in each round of `rounds`, they made 4
/// million lines of LLVM IR; now there are 0.7 million.
#[inline(always)]
fn round<S: Isa, const N: usize, const PART: usize>(s: S, x: &mut [S::State; STATES], key: &S::State) {
    each!(I in 0 1 2 3 4 5 6 7 8 => { if const { is_of(I, N, PART) } { s.round(&mut x[I], key); } });
}

#[inline(always)]
fn pin<S: Isa, const N: usize, const PART: usize>(s: S, x: &mut [S::State; STATES]) {
    each!(I in 0 1 2 3 4 5 6 7 8 => { if const { is_of(I, N, PART) } { s.pin_state(&mut x[I]); } });
}

/// Runs an AES round of `N` vectors, or of half of them. Without hashing they need pins only where registers
/// are few: there LLVM would run four states one after the other, with all keys in registers and the sum in
/// memory (opening 64 bytes took 3 to 19 % longer).
#[inline(always)]
fn aes<S: Isa, M: Multiply<S>, H: HashWork<S, M>, const N: usize, const PART: usize>(
    s: S,
    x: &mut [S::State; STATES],
    key: S::State,
) {
    round::<S, N, PART>(s, x, &key);
    if const { H::COUNT == TURN || !S::MANY_REGISTERS && N > 3 && N < TURN } {
        pin::<S, N, PART>(s, x);
    }
}

/// Returns which key round `round` uses: its own, or the previous one on machines that add keys first.
#[inline(always)]
pub(crate) const fn key_of<S: Isa>(round: usize) -> usize {
    round - S::KEY_FIRST as usize
}

/// Runs all rounds but the last on the first `N` vectors of `x`, which have `DONE` rounds behind them: none,
/// or two ([`ahead`](super::ahead)). Returns the sum of what was hashed meanwhile.
///
/// The extra rounds of longer keys come first, without hashing: when sealing, the hash waits for what the
/// previous turn has just stored. Vector 0 waits for the hash before it, so it comes last.
#[inline(always)]
pub(crate) fn rounds<S: Isa, M: Multiply<S>, H: HashWork<S, M>, const N: usize, const DONE: usize>(
    s: S,
    (size, keys): (KeySize, &Keys),
    x: &mut [S::State; STATES],
    kept: &mut impl Keep<S>,
    meanwhile: &H,
) -> M::Sum {
    const { assert!(DONE == 0 || DONE == 2) }
    let key = |i: usize| s.state(s.splat(keys[i]));
    if size != KeySize::Aes128 {
        if const { DONE == 0 } {
            each!(R in 1 2 => { aes::<S, M, H, N, ALL>(s, x, key(key_of::<S>(R))); });
            kept.keep::<N>(s, x);
        }
        if size == KeySize::Aes256 {
            each!(R in 3 4 => { aes::<S, M, H, N, ALL>(s, x, key(key_of::<S>(R))); });
        }
        if const { DONE == 2 } {
            each!(R in 1 2 => { aes::<S, M, H, N, ALL>(s, x, key(WOVEN + key_of::<S>(R))); });
        }
    }
    if const { S::MANY_REGISTERS && H::COUNT == TURN } {
        rounds_in_halves::<S, M, H, N, DONE>(s, (size, keys), x, kept, meanwhile)
    } else {
        rounds_behind::<S, M, H, N, DONE>(s, (size, keys), x, kept, meanwhile)
    }
}

/// Runs the woven rounds where registers are many: one step of hashing stands between the two halves of each
/// round and one behind it, and each step works on another vector. (Whole vectors behind each round took 5 to
/// 15 % longer on Zen 5.)
/// ```text
/// round r:  AES, first half │ load and prepare vector r │ AES, second half │ multiply vector r-1 │ add two products
/// ```
#[inline(always)]
fn rounds_in_halves<S: Isa, M: Multiply<S>, H: HashWork<S, M>, const N: usize, const DONE: usize>(
    s: S,
    (size, keys): (KeySize, &Keys),
    x: &mut [S::State; STATES],
    kept: &mut impl Keep<S>,
    meanwhile: &H,
) -> M::Sum {
    let (nothing, zero) = (<NoHash as HashWork<S, M>>::ready::<0>(&NoHash, s), M::zero(s));
    let (mut ready, mut products, mut sum) = ([nothing; 9], [zero; 9], zero);
    // With two rounds done there are seven for nine steps: the first step comes before them, the last one
    // behind them.
    each!(I in 1 2 3 4 5 6 7 8 9 => {
        let woven = const { I + DONE / 2 > DONE && I + DONE / 2 <= 9 };
        let key = if woven { s.state(s.splat(keys[WOVEN + key_of::<S>(I + DONE / 2)])) } else { s.unset() };
        if woven {
            aes::<S, M, H, N, FIRST_HALF>(s, x, key);
        }
        if I < 9 {
            ready[I % 9] = meanwhile.ready::<{ I % 8 }>(s);
            M::pin_ready(s, &mut ready[I % 9]);
        }
        if woven {
            aes::<S, M, H, N, SECOND_HALF>(s, x, key);
        }
        if I > 1 {
            products[I - 1] = M::product(s, ready[I - 1]);
            M::pin_sum(s, &mut products[I - 1]);
        }
        if I == 2 {
            sum = products[1];
        } else if I == 4 || I == 6 || I == 8 {
            sum = M::add3(s, sum, products[I - 2], products[I - 1]);
            M::pin_sum(s, &mut sum);
        }
        if const { DONE == 0 && I == 2 } && size == KeySize::Aes128 {
            kept.keep::<N>(s, x);
        }
    });
    M::add(s, sum, products[8])
}

/// Runs the woven rounds where sixteen registers hold eight states and three sums, so that a whole vector is
/// hashed behind a round; and where few vectors are hashed, or none: they are hashed behind every other round.
#[inline(always)]
fn rounds_behind<S: Isa, M: Multiply<S>, H: HashWork<S, M>, const N: usize, const DONE: usize>(
    s: S,
    (size, keys): (KeySize, &Keys),
    x: &mut [S::State; STATES],
    kept: &mut impl Keep<S>,
    meanwhile: &H,
) -> M::Sum {
    let mut sum = M::zero(s);
    if const { H::COUNT == TURN } {
        sum = M::product(s, meanwhile.ready::<1>(s));
    }
    each!(R in 1 2 3 4 5 6 7 8 9 => { if const { R + DONE <= 9 } {
        let key = s.state(s.splat(keys[WOVEN + key_of::<S>(R + DONE)]));
        aes::<S, M, H, N, ALL>(s, x, key);
        if const { H::COUNT == TURN && R <= 7 } {
            sum = M::add(s, sum, M::product(s, meanwhile.ready::<{ (R + 1) % 8 }>(s)));
            M::pin_sum(s, &mut sum);
        }
        if R % 2 == 1 && R < 9 && const { H::COUNT < TURN && R.div_ceil(2) % 4 < H::COUNT } {
            pin::<S, N, ALL>(s, x);
            sum = M::add(s, sum, M::product(s, meanwhile.ready::<{ R.div_ceil(2) % 4 }>(s)));
            M::pin_sum(s, &mut sum);
        }
        if const { DONE == 0 && R == 2 } && size == KeySize::Aes128 {
            kept.keep::<N>(s, x);
        }
    } });
    sum
}

/// Encrypts or decrypts a turn. Returns what is to be stored there, and the sum of what was hashed meanwhile.
#[inline(always)]
pub(crate) fn turn<S: Isa, M: Multiply<S>, C: Counters<S>>(
    s: S,
    schedule: &Schedule,
    keys: &Keys,
    counters: &mut C,
    turn: &Turn<'_, S>,
    meanwhile: &impl HashWork<S, M>,
) -> ([S::V; TURN], M::Sum) {
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<TURN>(s, schedule, &mut x);
    let sum = if const { C::AHEAD } {
        rounds::<S, M, _, TURN, 2>(s, (schedule.size, keys), &mut x, counters, meanwhile)
    } else {
        rounds::<S, M, _, TURN, 0>(s, (schedule.size, keys), &mut x, counters, meanwhile)
    };
    let mut out = [s.splat(0); TURN];
    each!(I in 0 1 2 3 4 5 6 7 => { out[I] = schedule.last_round(s, x[I], turn.load::<I>(s)); });
    (out, sum)
}

/// Stores a turn.
#[inline(always)]
pub(crate) fn store<'a, S: Isa>(s: S, mut turn: Turn<'a, S>, out: [S::V; TURN]) -> SealedTurn<'a, S> {
    each!(I in 0 1 2 3 4 5 6 7 => { turn.store::<I>(s, out[I]); });
    SealedTurn::of(turn)
}

/// Encrypts or decrypts whole turns, without a hash.
#[inline(always)]
pub(crate) fn crypt_turns<S: Isa, M: Multiply<S>, C: Counters<S>>(
    s: S,
    schedule: &Schedule,
    counters: &mut C,
    text: &mut InOut<'_>,
) {
    while let Some(next) = text.whole_turn(s) {
        let (out, _) = turn::<S, M, _>(s, schedule, black_box(&schedule.keys), counters, &next, &NoHash);
        store(s, next, out);
    }
}

/// The number of vectors side by side behind the last turn. (One after the other they would wait for each
/// round.)
const SHORT_TURN: usize = 4;

/// Encrypts or decrypts a text of any length, without a hash.
#[inline(always)]
pub(crate) fn crypt<S: Isa, M: Multiply<S>, C: Counters<S>>(
    s: S,
    schedule: &Schedule,
    counters: &mut C,
    mut text: InOut<'_>,
) {
    let (mut text, mut x) = (text.here(), [s.state(s.splat(0)); STATES]);
    crypt_turns::<S, M, _>(s, schedule, counters, &mut text);
    if text.len() >= SHORT_TURN * 16 * S::BLOCKS {
        counters.next::<SHORT_TURN>(s, schedule, &mut x);
        rounds::<S, M, _, SHORT_TURN, 0>(s, schedule.keys(), &mut x, &mut (), &NoHash);
        let mut turn = text.take::<S>(SHORT_TURN);
        each!(I in 0 1 2 3 => {
            let output = schedule.last_round(s, x[I], turn.load::<S, I, SHORT_TURN>(s));
            turn.store::<S, I, SHORT_TURN>(s, output);
        });
    }
    while text.len() > 0 {
        counters.next::<1>(s, schedule, &mut x);
        rounds::<S, M, _, 1, 0>(s, schedule.keys(), &mut x, &mut (), &NoHash);
        let mut vector = text.take::<S>(1);
        vector.store::<S, 0, 0>(s, schedule.last_round(s, x[0], vector.load::<S, 0, 0>(s)));
    }
}
