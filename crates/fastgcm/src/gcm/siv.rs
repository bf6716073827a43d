//! AES-GCM-SIV (RFC 8452): a message from its nonce to its tag, with the keys that are derived for it.
//!
//! The keys of a message live as long as the message, so nothing is made that it does not need: of the powers of H as many vectors as it has, up to
//! a turn. POLYVAL ends where a vector ends: blocks that are missing are missing at the front, where zeros change nothing. So each row of powers
//! is read as it was written. (What begins between two rows that have just been stored is loaded when both have left the store buffer: see
//! [`Few`](crate::ghash::Few).)

use super::{
    counter::{AddCounter, Counters, STATES, lanes},
    message::{blocks, lengths},
    turn::{Keys, NoHash, rounds},
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{Multiply, Rows},
    inout::{InOut, TURN, Table, load_bytes, load_vector},
    isa::Isa,
    nonce::Nonce96,
};
use zeroize::Zeroize;

/// Seals a message, or opens it if its tag is `given`. Returns the tag that it should have.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn siv<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    generating: &Schedule,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    given: Option<Block>,
) -> Block {
    let mut derived = Table::ZERO;
    derive::<S, M>(s, generating, nonce, &mut derived);
    let mut schedule = Schedule::ZERO;
    schedule.expand::<S, false>(s, &derived.bytes()[16..16 + generating.size.bytes()]);
    let most = blocks(aad.len()).max(blocks(text.len()) + 1);
    let mut rows = Rows::new(s);
    rows.fill::<M>(s, s.splat(derived.get(0)), most.div_ceil(S::BLOCKS));

    let keys = Keys::of(&schedule.keys);
    if let Some(tag) = given {
        ctr::<S, M>(s, &schedule, &keys, tag, text.here());
    }
    let data = if given.is_some() { text.written() } else { text.source() };
    let hash = absorb::<S, M, false>(s, &rows, s.splat(0), aad, 0);
    let hash = absorb::<S, M, true>(s, &rows, hash, data, swapped_lengths(aad.len(), text.len()));
    // Section 4: XOR the nonce, with the last bit cleared; encrypted.
    let sum = (s.fold(hash) ^ nonce.with_counter(0)) & !LAST;
    let mut x = [s.state(s.splat(0)); STATES];
    x[0] = s.state(s.whiten(s.splat(sum), s.splat(schedule.keys[0])));
    rounds::<S, M, _, AddCounter<S, true>, 0, 1>(s, &schedule, &keys, &mut x, &NoHash);
    let tag = s.fold(s.keep_first(last_round(s, &schedule, x[0], s.splat(0)), 16));
    if given.is_none() {
        ctr::<S, M>(s, &schedule, &keys, tag, text.here());
    }
    rows.wipe(s);
    schedule.zeroize();
    derived.zeroize();
    tag
}

/// The most significant bit of the last byte: cleared in what becomes the tag, set in the first counter block.
pub(super) const LAST: Block = 1 << 127;

/// The last block of POLYVAL: the lengths in bits, that of AAD first.
#[inline(always)]
pub(super) fn swapped_lengths(aad: usize, text: usize) -> Block {
    lengths(aad as u64, text as u64).rotate_left(64)
}

/// The keys of a message (section 4): that of POLYVAL, then that of AES, in halves. Each is the first halves of AES of two blocks, a number
/// before the nonce, which stand here in the same lane of two vectors.
#[inline(always)]
fn derive<S: Isa, M: Multiply<S>>(s: S, generating: &Schedule, nonce: Nonce96, keys: &mut Table<4>) {
    let (nonce, key0) = (s.splat(nonce.with_counter(0) << 32), s.splat(generating.keys[0]));
    let even = s.add32(lanes(s), lanes(s));
    let mut x = [s.state(s.splat(0)); STATES];
    each!(I in 0 1 2 => { if I * S::BLOCKS < 3 {
        let number = s.add32(even, s.splat(2 * (I * S::BLOCKS) as Block));
        x[2 * I] = s.state(s.whiten(s.xor(number, nonce), key0));
        x[2 * I + 1] = s.state(s.whiten(s.xor(s.add32(number, s.splat(1)), nonce), key0));
    } });
    let of = Keys::of(&generating.keys);
    if S::BLOCKS == 1 {
        rounds::<S, M, _, AddCounter<S, true>, 0, 6>(s, generating, &of, &mut x, &NoHash);
    } else if S::BLOCKS == 2 {
        rounds::<S, M, _, AddCounter<S, true>, 0, 4>(s, generating, &of, &mut x, &NoHash);
    } else {
        rounds::<S, M, _, AddCounter<S, true>, 0, 2>(s, generating, &of, &mut x, &NoHash);
    }
    each!(I in 0 1 2 => { if I * S::BLOCKS < 3 {
        let first = last_round(s, generating, x[2 * I], s.splat(0));
        let second = last_round(s, generating, x[2 * I + 1], s.splat(0));
        keys.store(s, I * S::BLOCKS, s.low_halves(first, second));
    } });
}

/// CTR: the tag with its last bit set is the first counter block, and its first four bytes count.
#[inline(always)]
fn ctr<S: Isa, M: Multiply<S>>(s: S, schedule: &Schedule, keys: &Keys<'_, Block>, tag: Block, text: InOut<'_>) {
    let mut counters = AddCounter::<S, true>::numbered(s, tag | LAST);
    let mut text = text.here();
    let mut x = [s.state(s.splat(0)); STATES];
    while let Some(mut turn) = text.whole_turn(s) {
        counters.next::<TURN>(s, schedule, &mut x);
        rounds::<S, M, _, AddCounter<S, true>, 0, TURN>(s, schedule, keys, &mut x, &NoHash);
        each!(I in 0 1 2 3 4 5 6 7 => { turn.store::<I>(s, last_round(s, schedule, x[I], turn.load::<I>(s))); });
    }
    while text.len() > 0 {
        counters.next::<1>(s, schedule, &mut x);
        rounds::<S, M, _, AddCounter<S, true>, 0, 1>(s, schedule, keys, &mut x, &NoHash);
        let mut vector = text.take::<S>(1);
        vector.store::<S, 0, 0>(s, last_round(s, schedule, x[0], vector.load::<S, 0, 0>(s)));
    }
}

/// The last round of AES, XOR `data`.
#[inline(always)]
fn last_round<S: Isa>(s: S, schedule: &Schedule, x: S::State, data: S::V) -> S::V {
    s.last_round(x, s.state(s.splat(*schedule.before_last())), s.state(s.splat(schedule.last)), data)
}

/// POLYVAL (section 3) goes on from `hash`, in lane 0, over `data`, padded with zeros to whole blocks, and over the `lengths` if `END`. A block of it
/// is what GHASH makes of a block by turning its bytes round, so it is taken as it stands.
#[inline(always)]
fn absorb<S: Isa, M: Multiply<S>, const END: bool>(s: S, rows: &Rows<S>, mut hash: S::V, mut data: &[u8], lengths: Block) -> S::V {
    let all = blocks(data.len()) + END as usize;
    let mut vectors = all.div_ceil(S::BLOCKS);
    // Blocks of the next vector: the first may have fewer, in its last lanes.
    let mut lanes = all + S::BLOCKS - vectors * S::BLOCKS;
    while vectors > 0 {
        // So that the last turn ends with the last vector. There is a power of two of rows.
        let turn = ((vectors - 1) & (rows.len() - 1)) + 1;
        // Each lane has its own chain until the last turn: no other one ends with a sum over lanes, for which the next would wait.
        let last = vectors == turn;
        let mut sum = M::zero(s);
        if turn == TURN && !last && lanes == S::BLOCKS {
            let (whole, rest) = data.split_at(16 * S::BLOCKS * TURN);
            /// (A closure would lose the row's features.)
            macro_rules! product {
                ($i:expr, $hash:expr) => {{
                    let v = s.xor(load_vector(s, &whole[16 * S::BLOCKS * $i..16 * S::BLOCKS * ($i + 1)]), $hash);
                    let (first, second) = rows.spread(s, TURN - 1 - $i);
                    M::product(s, M::ready(s, v, first, second))
                }};
            }
            let zero = s.splat(0);
            each!(I in 1 3 5 => { sum = M::add3(s, sum, product!(I, zero), product!(I + 1, zero)); });
            // Vector 0 waits for the hash before it, so it comes last.
            sum = M::add3(s, sum, product!(7, zero), product!(0, hash));
            data = rest;
        } else {
            for row in (0..turn).rev() {
                let (part, rest) = data.split_at(data.len().min(16 * lanes));
                let mut v = s.xor(if part.len() == 16 * S::BLOCKS { load_vector(s, part) } else { load_bytes(s, part) }, hash);
                hash = s.splat(0);
                if lanes < S::BLOCKS {
                    v = s.lanes_from(hash, v, lanes);
                    lanes = S::BLOCKS;
                }
                if END && row == 0 && last {
                    v = s.xor(v, s.put_last(s.splat(0), lengths)); // without text, that lane has the hash of AAD
                }
                let (first, second) = if last { rows.entries(row) } else { rows.spread(s, row) };
                sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
                data = rest;
            }
        }
        vectors -= turn;
        hash =
            if last { s.first(s.fold(M::reduce(s, sum, rows.constants(turn)))) } else { M::reduce(s, sum, rows.spread_constants(s, turn)) };
    }
    hash
}
