//! AES-GCM-SIV (RFC 8452): a message from its nonce to its tag, with the keys that are derived for it.
//!
//! The keys of a message live only as long as the message, so nothing is made that the message does not need.
//! POLYVAL ends where a vector ends: blocks are missing only at the front, where zeros change nothing. So
//! only the last vector meets H^B ... H^1 (B blocks to a vector), and each lane of the vectors before it has
//! a chain of its own, which steps by H^B. A short message needs no more than that: a step takes 16 cycles on
//! Zen 4, and one more power of H takes 24 to make. A long message has eight powers of H^B.

use super::{
    ahead::Fill,
    counter::{AddCounter, STATES, lanes},
    plan::{AHEAD_PAYS, WINDOW, before_ahead, blocks, lengths},
    turn::{NoHash, crypt, crypt_turns, rounds},
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{Chains, Multiply},
    inout::{Filling, InOut, TURN, Table, load_bytes, load_vector},
    isa::{Isa, rarely},
    nonce::Nonce96,
};
use core::mem::MaybeUninit;
use zeroize::Zeroize;

/// Seals a message, or opens it if its tag is `given`. Returns the right tag. `ahead` is [`turns_ahead`] as a
/// function of the row.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn siv<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    generating: &Schedule,
    nonce: Nonce96,
    aad: &[u8],
    mut text: InOut<'_>,
    given: Option<&Block>,
    ahead: impl Fn(&Schedule, Block, InOut<'_>),
) -> Block {
    let mut derived = Table::ZERO;
    let h = derive::<S, M>(s, generating, nonce, &mut derived);
    let vectors = (blocks(aad.len()) + blocks(text.len()) + 1).div_ceil(S::BLOCKS);
    let mut chains = Chains::new::<M>(s, h);
    let mut aligned = Aligned(Schedule::ZERO);
    let schedule = &mut aligned.0;
    schedule.expand::<S, false>(s, &derived.bytes()[16..16 + generating.size.bytes()]);

    if vectors >= const { long(S::BLOCKS) } {
        chains.fill::<M>(s);
    }

    // Sealing hashes and then encrypts; opening decrypts and then hashes. So there are two steps, each
    // compiled once. `known` says that `tag` is there, from which CTR begins.
    let schedule = &*schedule;
    let mut tag = s.splat(given.copied().unwrap_or(0));
    let opening = given.is_some();
    let mut known = opening;
    loop {
        if known {
            ctr::<S, M>(s, schedule, s.xor(s.splat_masked(tag, !LAST), s.splat(LAST)), text.here(), &ahead);
            if !opening {
                break;
            }
        }
        let data = if opening { text.written() } else { text.source() };
        let hash = s.first(s.fold(polyval::<S, M>(s, &chains, aad, data)));
        // Section 4: XOR with the nonce, clear the last bit, and encrypt. (In vectors: by way of general
        // registers the sum would wait twice as long.)
        let sum = s.xor(s.splat_masked(hash, !LAST), s.splat(nonce.with_counter(0)));
        let mut x = [s.state(s.splat(0)); STATES];
        x[0] = s.state(s.whiten(sum, s.splat(schedule.keys[0])));
        rounds::<S, M, _, 1, 0>(s, schedule.keys(), &mut x, &mut (), &NoHash);
        tag = schedule.last_round(s, x[0], s.splat(0));
        if opening {
            break;
        }
        known = true;
    }
    let tag = s.fold(s.keep_first(tag, 16));
    chains.wipe(s);
    aligned.0.zeroize();
    derived.zeroize();
    tag
}

/// Aligned so that no vector of zeros stored there crosses a cache line.
#[repr(align(64))]
struct Aligned(Schedule);

/// Returns from how many vectors of `blocks` blocks on eight powers of H^B pay off: with one block, eight
/// products make the powers; with four, three.
const fn long(blocks: usize) -> usize {
    if blocks == 1 { 20 } else { 11 }
}

/// The most significant bit of the last byte: cleared in the block that becomes the tag, set in the first
/// counter block.
pub(super) const LAST: Block = 1 << 127;

/// Returns the last block of POLYVAL: the lengths in bits, AAD's length first.
#[inline(always)]
pub(super) fn swapped_lengths(aad: usize, text: usize) -> Block {
    lengths(aad as u64, text as u64).rotate_left(64)
}

/// Derives the keys of a message (section 4): POLYVAL's key, then AES's key, in halves. Each key consists of
/// the first halves of AES of two blocks, a number before the nonce, which are here in one lane of two
/// vectors. Returns the first key, in every lane.
#[inline(always)]
fn derive<S: Isa, M: Multiply<S>>(s: S, generating: &Schedule, nonce: Nonce96, keys: &mut Table<4>) -> S::V {
    let mut h = s.splat(0);
    let (nonce, key0) = (s.splat(nonce.with_counter(0) << 32), s.splat(generating.keys[0]));
    let even = s.add32(lanes(s), lanes(s));
    let mut x = [s.state(s.splat(0)); STATES];
    each!(I in 0 1 2 => { if const { I * S::BLOCKS < 3 } {
        let number = s.add32(even, s.splat(2 * (I * S::BLOCKS) as Block));
        x[2 * I] = s.state(s.whiten(s.xor(number, nonce), key0));
        x[2 * I + 1] = s.state(s.whiten(s.xor(s.add32(number, s.splat(1)), nonce), key0));
    } });
    if const { S::BLOCKS == 1 } {
        rounds::<S, M, _, 6, 0>(s, generating.keys(), &mut x, &mut (), &NoHash);
    } else if const { S::BLOCKS == 2 } {
        rounds::<S, M, _, 4, 0>(s, generating.keys(), &mut x, &mut (), &NoHash);
    } else {
        rounds::<S, M, _, 2, 0>(s, generating.keys(), &mut x, &mut (), &NoHash);
    }
    each!(I in 0 1 2 => { if const { I * S::BLOCKS < 3 } {
        let first = generating.last_round(s, x[2 * I], s.splat(0));
        let second = generating.last_round(s, x[2 * I + 1], s.splat(0));
        let halves = s.low_halves(first, second);
        keys.store(s, I * S::BLOCKS, halves);
        if I == 0 {
            h = s.splat(s.fold(s.keep_first(halves, 16)));
        }
    } });
    h
}

/// Runs CTR: the tag with its last bit set is the first counter block (here in every lane), and its first
/// four bytes are the counter. The tag is public. `ahead` is [`turns_ahead`] as a function of the row.
#[inline(always)]
fn ctr<S: Isa, M: Multiply<S>>(
    s: S,
    schedule: &Schedule,
    mut first: S::V,
    mut text: InOut<'_>,
    ahead: impl Fn(&Schedule, Block, InOut<'_>),
) {
    let (mut text, turn) = (text.here(), const { 16 * TURN * S::BLOCKS });
    let block = |first| s.fold(s.keep_first(first, 16));
    // A window begins where the first byte of the counter is zero. (What a shorter text does depends on nothing
    // but its length.)
    let mut before = text.len();
    if before >= AHEAD_PAYS {
        rarely();
        before = before_ahead(1, block(first) as u32, before);
    }
    loop {
        let part = text.take_len(before);
        let behind = s.add32(first, s.splat(blocks(part.len()) as u32 as Block));
        crypt::<S, M, _>(s, schedule, &mut AddCounter::<S, true>::numbered(s, first), part);
        if text.len() == 0 {
            break;
        }
        let turns = text.take_len(text.len() / turn * turn);
        first = s.add32(behind, s.splat(blocks(turns.len()) as u32 as Block));
        ahead(schedule, block(behind), turns);
        before = text.len(); // less than a turn
    }
}

/// Runs CTR two rounds ahead ([`ahead`](super::ahead)), in turns: more than a window of them. The last byte of the
/// first counter is zero.
#[inline(always)]
pub(crate) fn turns_ahead<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &Schedule,
    first: Block,
    mut text: InOut<'_>,
) {
    let (mut states, first) = (MaybeUninit::uninit(), s.splat(first));
    let counters = AddCounter::<S, true>::numbered(s, first);
    let mut fill = Fill::new(counters, Filling::new(&mut states));
    crypt_turns::<S, M, _>(s, schedule, &mut fill, &mut text.take_blocks(WINDOW));
    let Some(mut windows) = fill.windows::<S, true>(s, schedule, first, text.len() / 16) else { return };
    while text.len() > 0 {
        let mut window = text.take_blocks(WINDOW);
        let mut take = windows.next(s, schedule, window.len() / 16, text.len() / 16);
        crypt_turns::<S, M, _>(s, schedule, &mut take, &mut window);
    }
}

/// Returns POLYVAL (section 3) of AAD, text and lengths, each padded with zeros to whole blocks, in lanes
/// that are not added up. POLYVAL's blocks are GHASH's blocks with their bytes reversed, so each block is
/// used as it is in memory.
#[inline(always)]
fn polyval<S: Isa, M: Multiply<S>>(s: S, chains: &Chains<S>, aad: &[u8], text: &[u8]) -> S::V {
    let (of_aad, of_text) = (blocks(aad.len()), blocks(text.len()) + 1);
    // The first vector of text may have fewer blocks, in its last lanes; the last blocks of AAD then come
    // before them. In the same way the first vector of the AAD may have fewer blocks.
    let text_lanes = (of_text - 1) % S::BLOCKS + 1;
    let beside = of_aad.min(S::BLOCKS - text_lanes);
    let ahead = of_aad - beside;
    let (ahead_bytes, beside_bytes) = aad.split_at(aad.len().min(16 * ahead));
    let vector = 16 * S::BLOCKS;

    let mut v = s.splat(0);
    let mut in_text = ahead == 0;
    loop {
        let (data, lanes) =
            if in_text { (text, text_lanes) } else { (ahead_bytes, (ahead - 1) % S::BLOCKS + 1) };
        let (part, mut rest) = data.split_at(data.len().min(16 * lanes));
        let mut next = load_bytes(s, part);
        if lanes < S::BLOCKS {
            let mut before = s.splat(0);
            if in_text && beside > 0 {
                before = s.lanes_from(before, load_bytes(s, beside_bytes), beside);
            }
            next = s.lanes_from(before, next, lanes);
        }
        v = s.xor(v, next);
        if chains.powers() == TURN {
            while rest.len() > (TURN - 1) * vector {
                let (seven, behind) = rest.split_at((TURN - 1) * vector);
                let sum = polyval_seven::<S, M>(s, chains, v, seven);
                (v, rest) = next_vector(s, behind);
                v = s.xor(v, sum);
            }
        }
        // The rest is a turn with lower powers, or, if there is one power, many turns of one vector.
        while !rest.is_empty() {
            let mut i = rest.len().div_ceil(vector).min(chains.powers());
            let mut sum = M::Short::zero(s);
            while i > 0 {
                i -= 1;
                let (first, second) = chains.entries(s, i);
                sum = M::Short::add(s, sum, M::Short::product(s, M::Short::ready(s, v, first, second)));
                (v, rest) = next_vector(s, rest);
            }
            v = s.xor(v, M::Short::reduce(s, sum, s.splat(0)));
        }
        if in_text {
            let lengths = s.put_last(s.splat(0), swapped_lengths(aad.len(), text.len()));
            // The lengths have a lane in the last vector of text, if vectors have more than one lane.
            let (v, behind) =
                if S::BLOCKS > 1 || text.is_empty() { (s.xor(v, lengths), None) } else { (v, Some(lengths)) };
            return chains.last::<M>(s, v, behind);
        }
        v = chains.step::<M>(s, v);
        in_text = true;
    }
}

/// Returns the next vector, padded with zeros, and the data behind it.
#[inline(always)]
fn next_vector<S: Isa>(s: S, data: &[u8]) -> (S::V, &[u8]) {
    match data.split_at_checked(16 * S::BLOCKS) {
        Some((vector, behind)) => (load_vector(s, vector), behind),
        None => (load_bytes(s, data), &[]),
    }
}

/// Multiplies `v` and seven vectors behind it by the powers of H^B. Each lane has a chain of its own, so no
/// turn ends with a sum over lanes.
#[inline(always)]
fn polyval_seven<S: Isa, M: Multiply<S>>(s: S, chains: &Chains<S>, v: S::V, seven: &[u8]) -> S::V {
    let mut sum = product::<S, M>(s, chains, load(s, seven, 0), 6);
    each!(I in 1 3 5 => {
        let (first, second) = (load(s, seven, I), load(s, seven, I + 1));
        let (first, second) = (product::<S, M>(s, chains, first, 6 - I), product::<S, M>(s, chains, second, 5 - I));
        sum = M::add3(s, sum, first, second);
    });
    // The first vector waits for the hash before it, so its product comes last.
    sum = M::add(s, sum, product::<S, M>(s, chains, v, 7));
    M::reduce(s, sum, chains.constant(s))
}

/// Returns `v` times H^(i+1)B.
#[inline(always)]
fn product<S: Isa, M: Multiply<S>>(s: S, chains: &Chains<S>, v: S::V, i: usize) -> M::Sum {
    let (first, second) = chains.entries_in_turn(s, i);
    M::product(s, M::ready(s, v, first, second))
}

/// Loads vector `i` of `bytes`.
#[inline(always)]
fn load<S: Isa>(s: S, bytes: &[u8], i: usize) -> S::V {
    load_vector(s, &bytes[16 * S::BLOCKS * i..16 * S::BLOCKS * (i + 1)])
}
