//! All turns of a text: the loop, and which of its forms a text takes.

// As in `message`: a closure may be compiled without the row's instructions.
#![allow(clippy::manual_map)]

use super::{
    Material,
    counter::{Counters, FirstRoundTable, STATES, TableCounter},
    tail::Outlined,
    turn::{HashTurn, HashWork, Keys, NoHash, RoundKey, SpreadKey, SpreadPowers, TurnPowers, rounds},
};
use crate::{
    aes::KeySize,
    ghash::Multiply,
    inout::{InOut, Place, Scratch, TURN, Turn, no_memset},
    isa::Isa,
    runs::Runs,
};
use core::hint::black_box;

/// Bytes from which on turns without a table of first rounds ask for memory ahead (see `inout::AHEAD`): below, all of it may be in the cache. Turns with a
/// table always ask.
pub(super) const ASK_PAYS: usize = 8 << 20;

/// Blocks of a turn.
pub(crate) const fn blocks_of_turn(blocks: usize) -> usize {
    TURN * blocks
}

/// What turns begin with, and what they leave.
pub(crate) struct Bulk<'a, S: Isa> {
    pub(super) counters: TableCounter<S>,
    pub(super) text: InOut<'a>,
    /// The text, if it lies in several buffers.
    pub(super) runs: Option<&'a mut Runs<'a>>,
    /// The fewest bytes that they leave.
    pub(super) left: usize,
    pub(super) hash: S::V,
    /// Where the turn is that is left to hash, if any.
    pub(super) pending: Option<Place<'a, S>>,
}

/// All turns of a message that has more than a few, with a table of first rounds or without. To be called, so that only such a message has the
/// table's 4 KiB in its stack frame: with feature `scrub` every message of more than four vectors wiped them, 40 ns. (Called without
/// need it costs 7 ns: vectors go through memory. And without a table its loop is 5 % slower than where it is inlined: Zen 5.)
#[inline(always)]
pub(crate) fn bulk<'a, S: Isa, M: Multiply<S>, const SEAL: bool, const FACE: bool>(s: S, _: M, key: &'a Material, all: &mut Bulk<'a, S>) {
    let (mut counters, mut text, left, mut hash) = (all.counters.clone(), all.text.here(), all.left, all.hash);
    let mut runs = if const { S::BLOCKS > 1 } { all.runs.take() } else { None };
    let ask = FACE || text.len() >= ASK_PAYS;
    let mut scratch = [const { Scratch::new() }; 2];
    let scratch = Some(&mut scratch);
    let pending = if FACE {
        let mut changes = FirstRoundTable::<S>::room();
        let mut face = FirstRoundTable::new(s, &key.schedule, &mut counters, &mut changes);
        let pending = turns::<S, M, _, SEAL, false>(s, key, scratch, ask, left, None, &mut face, &mut text, &mut runs, &mut hash);
        face.done(s, &key.schedule);
        pending
    } else {
        turns::<S, M, _, SEAL, false>(s, key, scratch, ask, left, None, &mut counters, &mut text, &mut runs, &mut hash)
    };
    let pending = if let Some(pending) = pending { Some(pending.text.place()) } else { None };
    *all = Bulk { counters, text, runs: None, left, hash, pending };
}

/// Whether a list is no reason to call: its message's own loop reads it. So it is for what is sealed where registers are many: 16 KiB from four chunks 4 %
/// faster, and no function for that alone (6 KB). That loop never asks for memory ahead: so long a text has a table of first rounds. (What is opened, and
/// what is sealed where registers are few, took 1 to 4 % longer from one slice. With `scrub` all would wipe a larger frame.)
pub(super) const fn has_own_loop<S: Isa, const SEAL: bool>() -> bool {
    SEAL && S::ROOMY && S::BLOCKS > 1 && !cfg!(feature = "scrub")
}

/// [`bulk`], with a table of first rounds if that pays. (Vectors of one block are never here without.)
#[inline(always)]
pub(super) fn called<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    row: impl Outlined<S, M>,
    key: &'a Material,
    faces: bool,
    all: &mut Bulk<'a, S>,
) {
    if const { has_faces::<S>() } && (const { S::BLOCKS == 1 } || faces) {
        row.bulk::<SEAL, true>(s, multiply, key, all)
    } else {
        row.bulk::<SEAL, false>(s, multiply, key, all)
    }
}

/// Whether there are messages that are long enough for a table of first rounds. With four blocks a vector 128 KiB and more are: sealed 1 to 5 % faster
/// (Zen 4) or 4 to 7 % (Emerald Rapids), opened 3 to 6 % (Zen 4). Two blocks a vector have none: sealed 2 % slower (Zen 4) or 3 to 8 % (Emerald Rapids),
/// opened 1 % faster to 3 % slower.
const fn has_faces<S: Isa>() -> bool {
    S::FACE_PAYS < usize::MAX
}

/// Whether a message is one of these, or a piece. AES-128 that is sealed with narrow vectors never is: without its first round a
/// turn keeps all three vector ports of Skylake-SP busy, not that of AES alone. By itself it was up to 6 % faster from 64 KiB on, but beside other
/// implementations up to 8 % slower, by the minute and by the run; with longer keys 5 to 8 % faster each time.
///
/// A piece of 64 KiB has a table, where a message of 64 KiB has none: alone on its core it is 2 to 5 % faster with it, beside another thread on the same
/// core 3 to 6 % slower (Emerald Rapids). But a text that comes in such pieces is longer than the nearer caches, and turns with a table ask for memory
/// ahead: 1 MiB takes 1.04 to 1.06 of the time of one call, without tables 1.06 to 1.11.
#[inline(always)]
pub(super) fn face_pays<S: Isa, const SEAL: bool>(bytes: usize, size: KeySize, piece: bool) -> bool {
    let from = if const { S::BLOCKS > 1 } && piece { S::FACE_PAYS / 2 } else { S::FACE_PAYS };
    has_faces::<S>() && bytes >= from && !(SEAL && S::BLOCKS == 1 && size == KeySize::Aes128)
}

/// All turns of a message, of `runs` if it comes in these: with `scratch`, where what they want in every lane is spread for them, or with `FEW` without.
/// Returns the one that is left to hash, if any.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn turns<'a, S: Isa, M: Multiply<S>, C: Counters<S>, const SEAL: bool, const FEW: bool>(
    s: S,
    key: &'a Material,
    scratch: Option<&mut [Scratch; 2]>,
    ask: bool,
    mut left: usize,
    waiting: Option<Turn<'a, S>>,
    counters: &mut C,
    text: &mut InOut<'a>,
    runs: &mut Option<&'a mut Runs<'a>>,
    hash: &mut S::V,
) -> Option<HashTurn<'a, S, true>> {
    if let Some(runs) = runs {
        (*text, left) = (runs.next(S::BLOCKS), 0);
    }
    if text.is_tail::<S>(left) {
        return if let Some(text) = waiting { Some(HashTurn { powers: &key.tables, hash: *hash, text }) } else { None };
    }
    // The optimiser must not see what the round keys are: else it fills half of the registers with them and spills the hash.
    let keys = &key.schedule.keys;
    let alone = Keys::of(black_box(keys));
    let mut pending = waiting;
    if SEAL && pending.is_none() {
        // Each turn hashes the ciphertext of the one before, and the first nothing.
        let mut first = text.turn(s, left)?;
        turn::<S, M, C>(s, key, &alone, counters, &mut first, &NoHash);
        pending = Some(first);
        if text.is_tail::<S>(left) && runs.is_none() {
            return Some(HashTurn { powers: &key.tables, hash: *hash, text: first });
        }
    }
    let (many, first) = (S::BLOCKS > 1 && scratch.is_some(), const { !SEAL && cfg!(feature = "scrub") });
    if const { S::BLOCKS == 1 } || const { FEW } && (first || !many) {
        // Few; or the first of many, see `spread_pays`.
        let (left, none) = (if many { text.len() - 16 * blocks_of_turn(S::BLOCKS) } else { left }, &mut None);
        let done = woven_turns::<S, M, C, _, _, SEAL>(s, key, &alone, &key.tables, ask, left, counters, text, none, hash, pending);
        if const { S::BLOCKS == 1 } || !many {
            return done;
        }
    }
    let Some(scratch) = scratch else { unreachable!("they are many") };
    // One after the other: all of it would be in registers before it is stored, and in the frame, since they are not that many.
    let [of_keys, of_powers] = scratch;
    let spread = Keys::of(black_box(of_keys.put(SpreadKey::<S>::of(s, keys))));
    let powers = black_box(of_powers.put(SpreadPowers::of(s, &key.tables)));
    let pending = woven_turns::<S, M, C, _, _, SEAL>(s, key, &spread, &*powers, ask, left, counters, text, runs, hash, pending);
    // It is the caller's. (A frame of its own is wiped with the rest.)
    if cfg!(feature = "scrub") && FEW {
        let zero = no_memset(s);
        of_keys.wipe(SpreadKey::<S>::all(s, zero));
        of_powers.wipe(SpreadPowers::<S>::all(zero));
    }
    pending
}

/// Bytes from which on what a turn wants in every lane, round keys and powers, is spread before the first: that is 14 to 31 stores, and loads
/// that wait for them. With fewer, each turn spreads it anew: of 600 to 1536 bytes 3 to 18 % faster, for 3 KB of code in each direction.
///
/// With feature `scrub` what was spread is wiped as well, so what is opened spreads it later, too. And then behind its first turn, as what is sealed: so
/// many stores, behind those that wipe for the message before, wait until that is done (5 KiB and more 6 to 10 ns, Zen 5; without `scrub` a turn that
/// spreads nothing takes 1 to 4 ns longer).
pub(super) const fn spread_pays(seal: bool) -> usize {
    if seal || cfg!(feature = "scrub") { 3072 } else { 2048 }
}

/// Bytes of a text from which on it may come in runs: it has many turns, whichever way it goes.
pub(crate) const fn runs_from() -> usize {
    const { assert!(spread_pays(true) >= spread_pays(false)) }
    spread_pays(true)
}

/// Those that are hashed meanwhile: what is `pending`, or opened, each itself.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn woven_turns<'a, S: Isa, M: Multiply<S>, C: Counters<S>, K: RoundKey<S>, P: TurnPowers<S>, const SEAL: bool>(
    s: S,
    key: &'a Material,
    keys: &Keys<'_, K>,
    mut powers: P,
    ask: bool,
    left: usize,
    counters: &mut C,
    text: &mut InOut<'a>,
    runs: &mut Option<&'a mut Runs<'a>>,
    hash: &mut S::V,
    mut pending: Option<Turn<'a, S>>,
) -> Option<HashTurn<'a, S, true>> {
    loop {
        // A turn at a time of a long message, which may not be in the cache. (Asked in each turn whether it is one, others took 2 % longer: Zen 5.)
        let until = if ask && !text.is_tail::<S>(left) {
            text.ask_for_turn(s);
            text.len() - 16 * blocks_of_turn(S::BLOCKS)
        } else {
            left
        };
        while let Some(mut next) = text.turn(s, until) {
            if const { S::BLOCKS > 1 && S::ROOMY && !K::SPREAD } {
                powers = black_box(powers); // else LLVM spreads them before the loop
            }
            let hashed = HashTurn::<S, SEAL, P> { powers, hash: *hash, text: pending.unwrap_or(next) };
            if let Some(sum) = turn::<S, M, C>(s, key, keys, counters, &mut next, &hashed) {
                *hash = hashed.reduce::<M>(s, sum);
            }
            if SEAL {
                pending = Some(next);
            }
        }
        if ask && !text.is_tail::<S>(left) {
            continue;
        }
        let Some(runs) = runs else { break };
        if let Some(run) = runs.next_in_chunk(S::BLOCKS) {
            *text = run;
            continue;
        }
        *text = runs.next_gathered(S::BLOCKS);
        // Not in registers over that call.
        if let Some(turn) = pending {
            pending = Some(Turn::at(s, turn.place()));
        }
        if runs.rest().len() == 0 {
            break;
        }
    }
    if let Some(text) = pending { Some(HashTurn { powers: &key.tables, hash: *hash, text }) } else { None }
}

/// Encrypts or decrypts a turn.
#[inline(always)]
pub(super) fn turn<S: Isa, M: Multiply<S>, C: Counters<S>>(
    s: S,
    key: &Material,
    keys: &Keys<'_, impl RoundKey<S>>,
    counters: &mut C,
    turn: &mut Turn<'_, S>,
    meanwhile: &impl HashWork<S, M>,
) -> Option<M::Sum> {
    let schedule = &key.schedule;
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<TURN>(s, schedule, &mut x);
    let sum = rounds::<S, M, _, C, 0, TURN>(s, schedule, keys, &mut x, meanwhile);
    let prev = s.state(s.splat(*schedule.before_last())); // of no use on x86
    let last = s.state(s.splat(schedule.last));
    let mut out = [s.splat(0); TURN];
    each!(I in 0 1 2 3 4 5 6 7 => { out[I] = s.last_round(x[I], prev, last, turn.load::<I>(s)); });
    each!(I in 0 1 2 3 4 5 6 7 => { turn.store::<I>(s, out[I]); });
    sum
}
