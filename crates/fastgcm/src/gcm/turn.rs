//! AES of up to ten vectors, and meanwhile GHASH of a turn: the inner loop of the library.
//!
//! AES and carry-less multiplication use different units of the CPU, so the two are written as one schedule: between the
//! two halves of each AES round stands one step of hashing, and each step works on another vector of the turn.
//! ```text
//! round r:  AES, first half │ load and prepare vector r │ AES, second half │ multiply vector r-1 │ add vectors r-3 and r-2
//! ```
//! `pin` holds each step in its place.

use super::counter::{Counters, STATES};
use crate::{
    Block,
    aes::{KeySize, Schedule, WOVEN},
    ghash::{Ask, Multiply, Powers},
    inout::{TURN, Turn},
    isa::Isa,
};

/// The vectors that are hashed while AES runs: eight of them, or fewer in a tail.
pub(crate) trait HashWork<S: Isa, M: Multiply<S>> {
    /// How many vectors.
    const COUNT: usize;
    /// Vector `I`, byte-swapped, with its powers.
    fn ready<const I: usize>(&self, s: S) -> M::Ready;
}

/// The round keys of a message, without the last one, and the ten of them that GHASH is woven between.
pub(crate) struct Keys<'a, K> {
    all: &'a [K; 14],
    woven: &'a [K; 10],
}

impl<'a, K> Keys<'a, K> {
    #[inline(always)]
    pub(crate) fn of(all: &'a [K; 14]) -> Self {
        Self { all, woven: all[WOVEN..].first_chunk().unwrap() }
    }
}

/// A round key: one block, which each use broadcasts to the lanes, or a [`SpreadKey`].
pub(crate) trait RoundKey<S: Isa> {
    /// The round key is in every lane already.
    const SPREAD: bool;
    fn state(&self, s: S) -> S::State;
}

impl<S: Isa> RoundKey<S> for Block {
    const SPREAD: bool = false;

    #[inline(always)]
    fn state(&self, s: S) -> S::State {
        s.state(s.splat(*self))
    }
}

/// A round key broadcast to every lane.
#[derive(Clone, Copy)]
pub(crate) struct SpreadKey<S: Isa>(S::State);

impl<S: Isa> SpreadKey<S> {
    /// Of all keys. (Those that a shorter key has not are zeros, and not used.)
    #[inline(always)]
    pub(crate) fn of(s: S, keys: &[Block; 14]) -> [Self; 14] {
        let mut all = Self::all(s, s.splat(0));
        each!(R in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 => { all[R] = Self(keys[R].state(s)); });
        all
    }

    /// The same vector everywhere.
    #[inline(always)]
    pub(crate) fn all(s: S, v: S::V) -> [Self; 14] {
        [Self(s.state(v)); 14]
    }
}

impl<S: Isa> RoundKey<S> for SpreadKey<S> {
    const SPREAD: bool = true;

    #[inline(always)]
    fn state(&self, _: S) -> S::State {
        self.0
    }
}

/// No hashing to interleave.
#[derive(Clone, Copy)]
pub(crate) struct NoHash;

/// The powers that a turn meets: those of a key, which each use broadcasts to the lanes, or [`SpreadPowers`].
pub(crate) trait TurnPowers<S: Isa>: Copy {
    /// The entries of H^(8-I)B, in every lane.
    fn entries<const I: usize>(self, s: S) -> (S::V, S::V);
    /// What to add, in each lane, to a sum that used all of them once each.
    fn constant(self, s: S) -> S::V;
}

impl<S: Isa> TurnPowers<S> for &Powers {
    #[inline(always)]
    fn entries<const I: usize>(self, s: S) -> (S::V, S::V) {
        self.down_from(s, S::BLOCKS * (TURN - I)).splat()
    }

    #[inline(always)]
    fn constant(self, s: S) -> S::V {
        s.splat(self.turn_constant(s))
    }
}

/// Those of a turn, broadcast to every lane.
#[derive(Clone, Copy)]
pub(crate) struct SpreadPowers<S: Isa> {
    entries: [(S::V, S::V); TURN],
    constant: S::V,
}

impl<S: Isa> SpreadPowers<S> {
    #[inline(always)]
    pub(crate) fn of(s: S, powers: &Powers) -> Self {
        let mut all = Self::all(s.splat(0));
        each!(I in 0 1 2 3 4 5 6 7 => { all.entries[I] = powers.entries::<I>(s); });
        all.constant = powers.constant(s);
        all
    }

    /// The same vector everywhere.
    #[inline(always)]
    pub(crate) fn all(v: S::V) -> Self {
        Self { entries: [(v, v); TURN], constant: v }
    }
}

impl<S: Isa> TurnPowers<S> for &SpreadPowers<S> {
    #[inline(always)]
    fn entries<const I: usize>(self, _: S) -> (S::V, S::V) {
        self.entries[I]
    }

    #[inline(always)]
    fn constant(self, _: S) -> S::V {
        self.constant
    }
}

/// A turn. Lane l of every vector has its own chain: the powers are H^8B, H^7B ... H^B in every lane, and the lanes meet only
/// in the tail, where lane l is added to block l. So no turn ends with a sum over lanes.
#[derive(Clone, Copy)]
pub(crate) struct HashTurn<'a, S: Isa, const STORED: bool, P = &'a Powers> {
    pub(crate) powers: P,
    /// Of all turns before.
    pub(crate) hash: S::V,
    /// Seal: already stored. Open: not yet overwritten.
    pub(crate) text: Turn<'a, S>,
}

/// Of vectors `FROM..TO`, which ones.
const ALL: usize = 0;
const FIRST_HALF: usize = 1;
const SECOND_HALF: usize = 2;

/// Whether vector `i` is one of them.
const fn is_of(i: usize, from: usize, to: usize, part: usize) -> bool {
    let half = (from + to) / 2;
    i >= if part == SECOND_HALF { half } else { from } && i < if part == FIRST_HALF { half } else { to }
}

/// One round. A function of its own, as is `pin`: written out in each round of `rounds`, they were 4 million lines of LLVM IR, now 0.7.
#[inline(always)]
fn round<S: Isa, const FROM: usize, const TO: usize, const PART: usize>(s: S, x: &mut [S::State; STATES], key: &S::State) {
    each!(I in 0 1 2 3 4 5 6 7 8 9 => { if const { is_of(I, FROM, TO, PART) } { s.round(&mut x[I], key); } });
}

#[inline(always)]
fn pin<S: Isa, const FROM: usize, const TO: usize, const PART: usize>(s: S, x: &mut [S::State; STATES]) {
    each!(I in 0 1 2 3 4 5 6 7 8 9 => { if const { is_of(I, FROM, TO, PART) } { s.pin_state(&mut x[I]); } });
}

/// Rounds 1 (2 with `C::FACE`) to last but one of vectors `FROM..TO` of `x`; returns the sum of what was hashed meanwhile.
/// `keys` are chosen before a loop: chosen inside it, ten keys would be spread over the lanes in every turn (5 % slower).
#[inline(always)]
#[allow(unused_comparisons)]
pub(crate) fn rounds<S: Isa, M: Multiply<S>, H: HashWork<S, M>, C: Counters<S>, const FROM: usize, const TO: usize>(
    s: S,
    schedule: &Schedule,
    keys: &Keys<'_, impl RoundKey<S>>,
    x: &mut [S::State; STATES],
    meanwhile: &H,
) -> Option<M::Sum> {
    /// The key of AES round `$r`.
    macro_rules! key {
        ($keys:ident, $r:expr) => {
            keys.$keys[$r - S::KEY_FIRST as usize].state(s)
        };
    }
    /// AES round of vectors `FROM..TO`, or of a half of them.
    macro_rules! aes {
        ($key:expr, $part:expr) => {
            let key = $key;
            round::<S, FROM, TO, { $part }>(s, x, &key);
            // Alone they need no pins but where registers are few: there LLVM would run four states one after the other, with all keys in
            // registers and the sum in memory (64 bytes opened: 3 to 19 % slower).
            if const { H::COUNT > 0 || !S::ROOMY && TO > FROM + 3 && TO < FROM + TURN } {
                pin::<S, FROM, TO, { $part }>(s, x);
            }
        };
    }

    // The rounds that longer keys have more come first, alone: seal's hashing waits for what the turn before has just stored. Where registers are many
    // they are a loop, for half of the code. (Where they are few, LLVM keeps what it has loaded across it, and spills.)
    if const { S::ROOMY } {
        let mut done = 0;
        while done < schedule.size as usize {
            each!(R in 1 2 => { aes!(key!(all, done + R + C::FACE as usize), ALL); });
            done += 2;
        }
    } else if schedule.size != KeySize::Aes128 {
        each!(R in 1 2 => { aes!(key!(all, R + C::FACE as usize), ALL); });
        if schedule.size == KeySize::Aes256 {
            each!(R in 3 4 => { aes!(key!(all, R + C::FACE as usize), ALL); });
        }
    }
    if const { H::COUNT == 0 } {
        each!(R in 1 2 3 4 5 6 7 8 9 => { if const { R > C::FACE as usize } { aes!(key!(woven, R), ALL); } });
        return None;
    }

    /// The `$q`-th vector to be hashed. Vector 0 waits for the hash before it, so it comes last.
    macro_rules! prepare {
        ($q:expr) => {
            meanwhile.ready::<{ ($q + 1) % 8 }>(s)
        };
    }

    if const { S::ROOMY } {
        let (nothing, zero) = (<NoHash as HashWork<S, M>>::ready::<0>(&NoHash, s), M::zero(s));
        let mut ready: [M::Ready; 8] = [nothing; 8];
        let (mut sums, mut sum) = ([zero; 8], zero);
        each!(R in 1 2 3 4 5 6 7 8 9 => {
            let key = key!(woven, R); // once: in registers between the two halves
            if const { R > C::FACE as usize } { aes!(key, FIRST_HALF); }
            if R <= 8 && const { R % 8 < H::COUNT } {
                ready[R - 1] = prepare!(R - 1);
                M::pin_ready(s, &mut ready[R - 1]);
            }
            if const { R > C::FACE as usize } { aes!(key, SECOND_HALF); }
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
        // Sixteen registers hold eight states and three sums: a whole vector is hashed at once, between two rounds.
        let mut sum = M::product(s, prepare!(0));
        each!(R in 1 2 3 4 5 6 7 8 9 => {
            if const { R > C::FACE as usize } { aes!(key!(woven, R), ALL); }
            if R <= 7 && const { (R + 1) % 8 < H::COUNT } {
                sum = M::add(s, sum, M::product(s, prepare!(R)));
                M::pin_sum(s, &mut sum);
            }
        });
        Some(sum)
    }
}

impl<S: Isa, M: Multiply<S>> HashWork<S, M> for NoHash {
    const COUNT: usize = 0;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let zero = s.splat(0);
        M::ready(s, zero, zero, zero)
    }
}

impl<S: Isa, const STORED: bool, P: TurnPowers<S>> HashTurn<'_, S, STORED, P> {
    /// The hash after the turn, lane by lane.
    #[inline(always)]
    pub(crate) fn reduce<M: Multiply<S>>(&self, s: S, sum: M::Sum) -> S::V {
        M::reduce(s, sum, self.powers.constant(s))
    }
}

impl<S: Isa, M: Multiply<S>, const STORED: bool, P: TurnPowers<S>> HashWork<S, M> for HashTurn<'_, S, STORED, P> {
    const COUNT: usize = 8;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let v = s.byte_swap(if STORED { self.text.stored::<I>(s) } else { self.text.load::<I>(s) });
        let v = if const { I == 0 } { s.xor(v, self.hash) } else { v };
        let (first, second) = self.powers.entries::<I>(s);
        M::ready(s, v, first, second)
    }
}
