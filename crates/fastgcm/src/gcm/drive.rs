//! The drive: what comes before the end of a message, and messages in pieces.
//!
//! A whole message is a beginning, if the message is long, and an end. A message in pieces has any number of
//! updates and a finish; each update starts from the [`Hash`](struct@Hash) that the previous one has left.
//! Both kinds run one loop over turns ([`turns`]). Between turns, pieces and the end there is one form of
//! hash: a block, in lane 0.

use super::{
    ahead::Fill,
    counter::{AddCounter, Counters, PieceCounter, STATES, XorCounter},
    key::WovenMaterial,
    plan::{PREFETCH_PAYS, STEP, WINDOW, before_ahead, blocks, lengths, max_text},
    turn::{HashInput, NoHash, crypt, store, turn},
};
use crate::{
    Block,
    aes::Schedule,
    ghash::{HasPowers, Multiply, Powers, PowersFrom},
    inout::{Filling, Hash, InOut, PADS, SealedTurn, TURN, Table, load_bytes, load_vector},
    isa::Isa,
    nonce::{Nonce96, Start},
};
use core::{hint::black_box, mem::MaybeUninit};

/// What the beginning of a message hands to its end. It is made where the end reads it, vector by vector:
/// otherwise a load would span two stores and wait until both have left the store buffer.
pub(crate) struct Beginning<'a> {
    /// A turn that is sealed but not hashed yet.
    pub(crate) pending: Option<InOut<'a>>,
    /// The hash of everything before the pending turn, in lane 0.
    pub(crate) hash: Table<4>,
    /// The number of blocks of the text so far.
    pub(crate) done: u32,
    /// The lengths block of the whole message.
    pub(crate) lengths: Block,
}

impl Beginning<'_> {
    /// A message with these numbers of bytes, of which nothing is done.
    #[inline(always)]
    pub(crate) fn new<S: Isa>(s: S, aad: usize, text: usize) -> Self {
        let lengths = lengths(aad as u64, text as u64);
        let mut beginning = Self { pending: None, hash: Table::ZERO, done: 0, lengths };
        beginning.hash.store(s, 0, s.splat(0));
        beginning
    }
}

/// Runs the beginning of a message that is not an end and has no turns ahead: AAD, and turns until one to eight
/// vectors are left. Returns these vectors, and writes to `beginning` what the end must know.
#[inline(always)]
pub(crate) fn begin<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &WovenMaterial,
    nonce: Nonce96,
    aad: &[u8],
    mut text: InOut<'a>,
    beginning: &mut Beginning<'a>,
) -> InOut<'a> {
    let (all, from) = (text.len(), const { max_text(S::BLOCKS) + 1 });
    let mut counters = XorCounter::new(s, &key.schedule, nonce);
    // The first turn comes before AAD, so the processor, which takes instructions in order, begins with it
    // while the previous message is being finished.
    let seals = SEAL && all >= from;
    let first =
        if seals { first::<S, M, _>(s, key, &mut counters, &mut text) } else { SealedTurn::nothing(s) };
    let mut hash = absorb::<S, M>(s, &key.tables, s.splat(0), aad);
    let last = turns::<S, M, _, SEAL>(s, key, &mut counters, &mut hash, first, &mut text, from, false);
    if seals {
        // The last turn is hashed beside the end.
        beginning.pending = Some(last.text());
    }
    beginning.hash.store(s, 0, hash);
    beginning.done = ((all - text.len()) / 16) as u32;
    text
}

/// Begins a message whose turns run ahead: hashes AAD. Returns the turns, which are still to run
/// ([`turns_ahead`]), and the one to eight vectors behind them.
#[inline(always)]
pub(crate) fn begin_ahead<'a, S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    key: &WovenMaterial,
    aad: &[u8],
    mut text: InOut<'a>,
    beginning: &mut Beginning<'_>,
) -> (InOut<'a>, InOut<'a>) {
    let turn = const { 16 * TURN * S::BLOCKS };
    let turns = text.take_len((text.len() - 1) / turn * turn);
    beginning.hash.store(s, 0, absorb::<S, M>(s, &key.tables, s.splat(0), aad));
    beginning.done = (turns.len() / 16) as u32;
    (turns, text)
}

/// Loops over turns, while `text` has at least `from` bytes. Sealing hashes the ciphertext of the previous
/// turn, which is pending, while it encrypts this turn; opening hashes this turn. Returns the last turn, which
/// is not hashed yet if it was sealed.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn turns<'a, S: Isa, M: Multiply<S>, C: Counters<S>, const SEAL: bool>(
    s: S,
    key: &WovenMaterial,
    counters: &mut C,
    hash: &mut S::V,
    mut pending: SealedTurn<'a, S>,
    text: &mut InOut<'a>,
    from: usize,
    prefetch: bool,
) -> SealedTurn<'a, S> {
    // The optimiser must not see what the round keys are: otherwise it fills half of the registers with them
    // and spills the hash.
    let (schedule, keys) = (&key.schedule, black_box(&key.schedule.keys));
    while text.len() >= from {
        if prefetch {
            text.prefetch_turn(s);
        }
        // The optimiser must not see that every turn uses the same powers: otherwise it copies them to the
        // stack, 1 KiB a call.
        let powers = black_box(&key.tables).powers_of_turn(s);
        let Some(next) = text.whole_turn(s) else { break };
        let out = if SEAL {
            let work = HashInput::<S, _, _, TURN> { powers, hash: *hash, text: pending };
            let (out, sum) = turn::<S, M, _>(s, schedule, keys, counters, &next, &work);
            *hash = work.reduced::<M>(s, sum);
            out
        } else {
            let work = HashInput::<S, _, _, TURN> { powers, hash: *hash, text: &next };
            let (out, sum) = turn::<S, M, _>(s, schedule, keys, counters, &next, &work);
            *hash = work.reduced::<M>(s, sum);
            out
        };
        pending = store(s, next, out);
    }
    pending
}

/// Seals the first turn: nothing is hashed beside it.
#[inline(always)]
fn first<'a, S: Isa, M: Multiply<S>, C: Counters<S>>(
    s: S,
    key: &WovenMaterial,
    counters: &mut C,
    text: &mut InOut<'a>,
) -> SealedTurn<'a, S> {
    let Some(first) = text.whole_turn(s) else { return SealedTurn::nothing(s) };
    let keys = black_box(&key.schedule.keys);
    let (out, _) = turn::<S, M, _>(s, &key.schedule, keys, counters, &first, &NoHash);
    store(s, first, out)
}

/// Runs turns two rounds ahead ([`ahead`](super::ahead)): more than a window of them, from block `index` on,
/// where a window begins. Continues `hash`, in lane 0; sealing leaves out the last turn, which is not hashed
/// yet.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn turns_ahead<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &WovenMaterial,
    nonce: Nonce96,
    index: u32,
    hash: &mut Table<4>,
    text: InOut<'_>,
) {
    debug_assert!(text.len() > 16 * WINDOW);
    let (prefetch, turn) = (text.len() >= PREFETCH_PAYS, const { 16 * TURN * S::BLOCKS });
    let (mut states, mut counters) = (MaybeUninit::uninit(), XorCounter::new(s, &key.schedule, nonce));
    counters.skip(s, index);
    let mut fill = Fill::new(counters, Filling::new(&mut states));
    let (mut text, mut lanes) = (text, hash.load(s, 0));
    let mut window = text.take_blocks(WINDOW);
    let mut pending =
        if SEAL { first::<S, M, _>(s, key, &mut fill, &mut window) } else { SealedTurn::nothing(s) };
    pending = turns::<S, M, _, SEAL>(s, key, &mut fill, &mut lanes, pending, &mut window, turn, prefetch);
    let start = s.splat(nonce.with_counter(index.wrapping_add(2)).swap_bytes());
    let Some(mut windows) = fill.windows::<S, false>(s, &key.schedule, start, text.len() / 16) else {
        return;
    };
    while text.len() > 0 {
        let mut window = text.take_blocks(WINDOW);
        let mut take = windows.next(s, &key.schedule, window.len() / 16, text.len() / 16);
        pending = turns::<S, M, _, SEAL>(s, key, &mut take, &mut lanes, pending, &mut window, turn, prefetch);
    }
    hash.store(s, 0, lanes);
}

/// Continues GHASH from `hash`, in lane 0, over `data` padded with zeros to whole blocks: one reduction for
/// each turn.
#[inline(always)]
fn absorb<S: Isa, M: Multiply<S>>(s: S, powers: &Powers, mut hash: S::V, mut data: &[u8]) -> S::V {
    while !data.is_empty() {
        let (part, behind) = data.split_at(data.len().min(16 * TURN * S::BLOCKS));
        (hash, data) = (s.first(s.fold(products::<S, M>(s, powers, hash, part))), behind);
    }
    hash
}

/// Multiplies `hash` and at most a turn of `data`, padded with zeros to whole blocks, by their powers of H.
/// The sum is reduced, but not added up over the lanes.
#[inline(always)]
fn products<S: Isa, M: Multiply<S>>(s: S, powers: &Powers, mut hash: S::V, mut data: &[u8]) -> S::V {
    let mut sum = M::Short::zero(s);
    while !data.is_empty() {
        let (first, second) = powers.powers_from(s, blocks(data.len())).vector(0);
        let v = if let Some((vector, rest)) = data.split_at_checked(16 * S::BLOCKS) {
            data = rest;
            load_vector(s, vector)
        } else {
            load_bytes(s, core::mem::take(&mut data))
        };
        let v = s.xor(s.byte_swap(v), hash);
        sum = M::Short::add(s, sum, M::Short::product(s, M::Short::ready(s, v, first, second)));
        hash = s.splat(0);
    }
    M::Short::reduce(s, sum, s.splat(0))
}

/// Continues GHASH over the bytes that wait and then over `data`, padded with zeros to whole blocks.
#[inline(always)]
pub(crate) fn hash<S: Isa, M: Multiply<S>>(s: S, _: M, key: &WovenMaterial, hash: &mut Hash, data: &[u8]) {
    let mut lanes = hash.load(s);
    for data in [hash.waiting(), data] {
        lanes = absorb::<S, M>(s, &key.tables, lanes, data);
    }
    hash.hashed();
    hash.store(s, lanes);
}

/// Encrypts or decrypts a piece of text that begins with block `index`, and continues its hash. The piece has
/// whole blocks or is the last one. `flush` hashes the bytes that wait, and `ahead` runs turns for which
/// [`turns_ahead`] pays: they are functions of the row, so this function needs no loops for them.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn update<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &WovenMaterial,
    start: &Start,
    index: u32,
    hash: &mut Hash,
    mut text: InOut<'_>,
    flush: impl Fn(&mut Hash),
    ahead: impl FnOnce(Nonce96, u32, &mut Table<4>, InOut<'_>),
) {
    let (all, turn) = (text.len(), const { 16 * TURN * S::BLOCKS });
    let before = match start {
        Start::Public(_) => before_ahead(TURN * S::BLOCKS, index, all),
        Start::Secret(_) => all,
    };
    let mut behind = text.here();
    let mut text = behind.take_len(before);
    let mut pending = None;
    if SEAL && before >= turn {
        // A turn that waits is hashed beside the first turn of the piece.
        pending = hash.take_turn(s);
    }
    if hash.filled() > 0 {
        flush(hash);
    }
    if before >= turn {
        let (mut counters, mut lanes) = (PieceCounter::at(s, &key.schedule, start, index), hash.load(s));
        let pending = match pending {
            Some(pending) => pending,
            None if SEAL => first::<S, M, _>(s, key, &mut counters, &mut text),
            None => SealedTurn::nothing(s),
        };
        let prefetch = all >= PREFETCH_PAYS;
        let last =
            turns::<S, M, _, SEAL>(s, key, &mut counters, &mut lanes, pending, &mut text, turn, prefetch);
        hash.store(s, lanes);
        if SEAL {
            hash.let_wait(s, last);
        }
    }
    if let (Start::Public(nonce), true) = (start, behind.len() > 0) {
        if hash.filled() > 0 {
            flush(hash);
        }
        let mut turns = behind.take_len(behind.len() / turn * turn);
        ahead(*nonce, index.wrapping_add((before / 16) as u32), hash.lanes_mut(), turns.here());
        if SEAL {
            hash.let_wait(s, SealedTurn::at(s, &turns.last_turn(s)));
        }
        text = behind;
    }
    if text.len() > 0 {
        if hash.filled() > 0 {
            flush(hash);
        }
        let index = index.wrapping_add(((all - text.len()) / 16) as u32);
        let lanes = rest::<S, M, SEAL>(s, key, start, index, hash.load(s), text);
        hash.store(s, lanes);
    }
}

/// Takes less than a turn: four vectors at a time, or a single one, with one reduction.
#[inline(always)]
fn rest<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    key: &WovenMaterial,
    start: &Start,
    index: u32,
    mut hash: S::V,
    mut text: InOut<'_>,
) -> S::V {
    let mut counters = AddCounter::at(s, start.j0(), index);
    let mut sum = M::Short::zero(s);
    while text.len() > 0 {
        let powers = key.tables.powers_from(s, blocks(text.len()));
        let x = if text.len() > 16 * S::BLOCKS {
            keystream::<S, STEP>(s, &key.schedule, &mut counters)
        } else {
            keystream::<S, 1>(s, &key.schedule, &mut counters)
        };
        let mut part = text.take::<S>(STEP);
        each!(I in 0 1 2 3 => { if part.len() > I * 16 * S::BLOCKS {
            let input = part.load::<S, I, 0>(s);
            let output = key.schedule.last_round(s, x[I], input);
            part.store::<S, I, 0>(s, output);
            let v = s.byte_swap(if SEAL { s.keep_first(output, part.bytes::<S, I>()) } else { input });
            let (first, second) = powers.vector(I * S::BLOCKS);
            let ready = M::Short::ready(s, s.xor(v, hash), first, second);
            sum = M::Short::add(s, sum, M::Short::product(s, ready));
            hash = s.splat(0);
        } });
    }
    s.first(s.fold(M::Short::reduce(s, sum, s.splat(0))))
}

/// Hashes the lengths, the last block of GHASH, and returns the hash in the order of the message: the tag,
/// once AES of J0 masks it. No bytes may wait.
#[inline(always)]
pub(crate) fn finish<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    key: &WovenMaterial,
    hash: &Hash,
    lengths: Block,
    start: Option<&Start>,
) -> Block {
    let mask = if let Some(start) = start { key.schedule.encrypt(s, start.j0().0) } else { 0 };
    let (first, second) = key.tables.powers_from(s, 1).vector(0);
    let product =
        M::Short::product(s, M::Short::ready(s, s.xor(hash.load(s), s.first(lengths)), first, second));
    s.fold(s.byte_swap(M::Short::reduce(s, product, s.splat(0)))) ^ mask
}

/// Seals or opens a message, one step after the other.
#[inline(always)]
pub(crate) fn message<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    m: M,
    key: &WovenMaterial,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
) -> Block {
    let (mut all, lengths) = (Hash::ZERO, lengths(aad.len() as u64, text.len() as u64));
    let (start, flush) = (Start::Public(nonce), |all: &mut Hash| hash(s, m, key, all, &[]));
    hash(s, m, key, &mut all, aad);
    update::<S, M, SEAL>(s, m, key, &start, 0, &mut all, text, flush, |nonce, index, hash, text| {
        turns_ahead::<S, M, SEAL>(s, m, key, nonce, index, hash, text)
    });
    hash(s, m, key, &mut all, &[]);
    finish(s, m, key, &all, lengths, Some(&start))
}

/// Runs CTR alone: encrypts or decrypts, from the counter block `first` on.
#[inline(always)]
pub(crate) fn ctr<S: Isa, M: Multiply<S>>(s: S, _: M, key: &WovenMaterial, first: Block, text: InOut<'_>) {
    crypt::<S, M, _>(s, &key.schedule, &mut AddCounter::from_block(s, first), text);
}

/// Makes the keystream of four blocks of the text from block `index` on.
#[inline(always)]
pub(crate) fn pads<S: Isa>(s: S, key: &WovenMaterial, start: &Start, index: u32, pads: &mut Table<PADS>) {
    let mut counters = AddCounter::at(s, start.j0(), index);
    let x = keystream::<S, { PADS }>(s, &key.schedule, &mut counters);
    each!(I in 0 1 2 3 => { if const { I * S::BLOCKS < PADS } {
        pads.store(s, I * S::BLOCKS, key.schedule.last_round(s, x[I], s.splat(0)));
    } });
}

/// Returns AES of a block.
#[inline(always)]
pub(crate) fn aes<S: Isa>(s: S, key: &WovenMaterial, block: Block) -> Block {
    key.schedule.encrypt(s, block)
}

/// The most blocks that [`aes_beside`] encrypts: no scheme that derives keys needs more.
pub(crate) const SIDE_BY_SIDE: usize = 5;

/// Encrypts the first `wanted` of these blocks with AES, in place. Each block has a vector of its own,
/// whatever the width: the blocks hide each other's latency, and no block is put together from words that
/// were just stored.
#[inline(always)]
pub(crate) fn aes_beside<S: Isa>(s: S, key: &WovenMaterial, blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize) {
    if wanted <= 3 {
        beside::<S, 3>(s, &key.schedule, blocks)
    } else {
        beside::<S, SIDE_BY_SIDE>(s, &key.schedule, blocks)
    }
}

#[inline(always)]
fn beside<S: Isa, const N: usize>(s: S, schedule: &Schedule, blocks: &mut Table<SIDE_BY_SIDE>) {
    let mut x = [s.state(s.splat(0)); SIDE_BY_SIDE];
    each!(I in 0 1 2 3 4 => { if const { I < N } {
        let block = blocks.get(I);
        let words = [block as u64, (block >> 64) as u64];
        x[I] = s.state(s.whiten(s.splat_words(words), s.splat(schedule.keys[0])));
    } });
    schedule.each_round(s, |key| {
        each!(I in 0 1 2 3 4 => { if const { I < N } { s.round(&mut x[I], &key); } });
    });
    each!(I in 0 1 2 3 4 => { if const { I < N } {
        blocks.set(I, s.fold(s.keep_first(schedule.last_round(s, x[I], s.splat(0)), 16)));
    } });
}

/// Makes the next `N` vectors of keystream, all rounds of AES but the last.
#[inline(always)]
fn keystream<S: Isa, const N: usize>(
    s: S,
    schedule: &Schedule,
    counters: &mut impl Counters<S>,
) -> [S::State; STATES] {
    // Otherwise LLVM loads the keys before the caller's loop and keeps them on the stack.
    let schedule = black_box(schedule);
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<N>(s, schedule, &mut x);
    schedule.each_round(s, |key| {
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } { s.round(&mut x[I], &key); } });
    });
    x
}
