//! AES of up to nine vectors, and meanwhile GHASH of up to eight others: the inner loop of the library.
//!
//! AES and carry-less multiplication use different units of the CPU, so the two are written as one schedule:
//! one step of hashing stands between the two halves of each AES round, and each step works on another
//! vector.
//! ```text
//! round r:  AES, first half │ load and prepare vector r │ AES, second half │ multiply vector r-1 │ add vectors r-3 and r-2
//! ```
//! `pin` holds each step in its place.

use super::counter::{Counters, STATES};
use crate::{
    aes::{KeySize, Schedule, WOVEN},
    ghash::{Multiply, PowersFrom},
    inout::{InOut, Part, Stored, TURN, Turn},
    isa::Isa,
};

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
pub(crate) struct Hashed<S: Isa, D, T, const N: usize> {
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

impl<S: Isa, D: PowersFrom<S>, T: Source<S>, const N: usize> Hashed<S, D, T, N> {
    /// Reduces `sum`, the products of a turn, and adds it up over the lanes: the hash behind the turn, in
    /// lane 0.
    #[inline(always)]
    pub(crate) fn reduced<M: Multiply<S>>(&self, s: S, sum: M::Sum) -> S::V {
        s.first(s.fold(M::reduce(s, sum, self.powers.constants())))
    }
}

impl<S: Isa, M: Multiply<S>, D: PowersFrom<S>, T: Source<S>, const N: usize> HashWork<S, M>
    for Hashed<S, D, T, N>
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
impl<S: Isa> Source<S> for Stored<'_, S> {
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

/// The round keys of a message except the last, in the order of [`Schedule`].
pub(crate) trait RoundKeys<S: Isa>: Copy {
    fn key(self, s: S, i: usize) -> S::State;
}

/// One block for each key, which every use broadcasts to the lanes.
impl<S: Isa> RoundKeys<S> for &Schedule {
    #[inline(always)]
    fn key(self, s: S, i: usize) -> S::State {
        s.state(s.splat(self.keys[i]))
    }
}

/// One vector for each key, which is in every lane already.
impl<S: Isa> RoundKeys<S> for Part<'_> {
    #[inline(always)]
    fn key(self, s: S, i: usize) -> S::State {
        s.state(self.load(s, i * S::BLOCKS))
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
const fn before<S: Isa>(round: usize) -> usize {
    round - S::KEY_FIRST as usize
}

/// Runs all rounds but the last on the first `N` vectors of `x`. Returns the sum of what was hashed
/// meanwhile.
#[inline(always)]
#[allow(unused_comparisons)]
pub(crate) fn rounds<S: Isa, M: Multiply<S>, H: HashWork<S, M>, const N: usize>(
    s: S,
    schedule: &Schedule,
    keys: impl RoundKeys<S>,
    x: &mut [S::State; STATES],
    meanwhile: &H,
) -> Option<M::Sum> {
    // The extra rounds of longer keys come first, without hashing: when sealing, the hash waits for what the
    // previous turn has just stored.
    if schedule.size != KeySize::Aes128 {
        each!(R in 1 2 => { aes::<S, M, H, N, ALL>(s, x, keys.key(s, before::<S>(R))); });
        if schedule.size == KeySize::Aes256 {
            each!(R in 3 4 => { aes::<S, M, H, N, ALL>(s, x, keys.key(s, before::<S>(R))); });
        }
    }
    if const { H::COUNT == 0 } {
        each!(R in 1 2 3 4 5 6 7 8 9 => {
            aes::<S, M, H, N, ALL>(s, x, keys.key(s, WOVEN + before::<S>(R)));
        });
        return None;
    }

    // Vector 0 waits for the hash before it, so it comes last.
    if const { S::MANY_REGISTERS && H::COUNT == TURN } {
        let (nothing, zero) = (<NoHash as HashWork<S, M>>::ready::<0>(&NoHash, s), M::zero(s));
        let mut ready: [M::Ready; 8] = [nothing; 8];
        let (mut sums, mut sum) = ([zero; 8], zero);
        each!(R in 1 2 3 4 5 6 7 8 9 => {
            let key = keys.key(s, WOVEN + before::<S>(R)); // loaded once: it stays in registers between the two halves
            aes::<S, M, H, N, FIRST_HALF>(s, x, key);
            if R <= 8 && const { R % 8 < H::COUNT } {
                ready[R - 1] = meanwhile.ready::<{ R % 8 }>(s);
                M::pin_ready(s, &mut ready[R - 1]);
            }
            aes::<S, M, H, N, SECOND_HALF>(s, x, key);
            if R >= 2 && const { (R - 1) % 8 < H::COUNT } {
                sums[R - 2] = M::product(s, ready[R - 2]);
                M::pin_sum(s, &mut sums[R - 2]);
            }
            if (R == 4 || R == 6 || R == 8) && const { (R + 5) % 8 < H::COUNT } {
                sum = M::add3(s, sum, sums[R - 4], sums[R - 3]);
                M::pin_sum(s, &mut sum);
            }
        });
        sum = M::add3(s, sum, sums[6], sums[7]);
        Some(sum)
    } else {
        // Sixteen registers hold eight states and three sums, so a whole vector is hashed at once, between
        // two rounds. The few vectors of an end are hashed in this way too, behind every other round.
        let mut sum = M::zero(s);
        if const { H::COUNT == TURN } {
            sum = M::product(s, meanwhile.ready::<1>(s));
        }
        each!(R in 1 2 3 4 5 6 7 8 9 => {
            aes::<S, M, H, N, ALL>(s, x, keys.key(s, WOVEN + before::<S>(R)));
            if R <= 7 && const { H::COUNT == TURN } {
                sum = M::add(s, sum, M::product(s, meanwhile.ready::<{ (R + 1) % 8 }>(s)));
                M::pin_sum(s, &mut sum);
            }
            if R % 2 == 1 && R < 9 && const { H::COUNT < TURN && R.div_ceil(2) % 4 < H::COUNT } {
                pin::<S, N, ALL>(s, x);
                sum = M::add(s, sum, M::product(s, meanwhile.ready::<{ R.div_ceil(2) % 4 }>(s)));
                M::pin_sum(s, &mut sum);
            }
        });
        Some(sum)
    }
}

/// Encrypts or decrypts a turn. Returns what is to be stored there, and the sum of what was hashed meanwhile.
#[inline(always)]
pub(crate) fn turn<S: Isa, M: Multiply<S>>(
    s: S,
    schedule: &Schedule,
    keys: impl RoundKeys<S>,
    counters: &mut impl Counters<S>,
    turn: &Turn<'_, S>,
    meanwhile: &impl HashWork<S, M>,
) -> ([S::V; TURN], Option<M::Sum>) {
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<TURN>(s, schedule, &mut x);
    let sum = rounds::<S, M, _, TURN>(s, schedule, keys, &mut x, meanwhile);
    let mut out = [s.splat(0); TURN];
    each!(I in 0 1 2 3 4 5 6 7 => { out[I] = schedule.last_round(s, x[I], turn.load::<I>(s)); });
    (out, sum)
}

/// Stores a turn.
#[inline(always)]
pub(crate) fn store<'a, S: Isa>(s: S, mut turn: Turn<'a, S>, out: [S::V; TURN]) -> Stored<'a, S> {
    each!(I in 0 1 2 3 4 5 6 7 => { turn.store::<I>(s, out[I]); });
    Stored::of(turn)
}
