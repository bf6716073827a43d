//! GCM as the standard tells it: CTR here, GHASH there, eight vectors of the one and then of the other.
//!
//! Nothing is woven, and nothing is indexed by a counter, so any nonce may come this way: one that has not 96 bits must, since its counter
//! depends on H. It also serves where operations go through memory and weaving would win nothing (RISC-V), and to hash what is only
//! read: AAD, nonces, a message to be verified before it is decrypted. Loops, not straight lines: a kilobyte or two a row.

use super::{
    Material,
    counter::{AddCounter, Counters, STATES, TableCounter},
    message::{blocks, lengths},
    turn::{HashWork, Keys, NoHash},
    turns::turn,
};
use crate::{
    Block,
    ghash::{Ask, Down, Multiply},
    inout::{Hash, InOut, Room, TURN, Turn, load_bytes, load_vector},
    isa::Isa,
    nonce::{J0, Nonce96, Start},
};

use core::hint::black_box;

#[allow(unused_imports, reason = "for rows that have no other way, which most machines lack")]
pub(crate) use super::message::{expand, wipe};
#[cfg(test)]
#[allow(unused_imports, reason = "likewise")]
pub(crate) use crate::ghash::proof::{fill, products};

/// Seals or opens any message. Returns the tag.
#[allow(dead_code, reason = "for rows that have no other way, which most machines lack")]
#[inline(always)]
pub(crate) fn message<S: Isa, M: Multiply<S>>(s: S, multiply: M, key: &Material, j0: J0, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
    let (mut all, lengths) = (Hash::ZERO, lengths(aad.len() as u64, text.len() as u64));
    hash(s, multiply, key, &mut all, aad);
    crypt(s, multiply, key, &Start::Secret(j0), 0, &mut all, text, seal);
    finish(s, multiply, key, &all, lengths, Some(j0))
}

/// Encrypts or decrypts a piece of text that begins with block `index`, and goes on with its hash. Whole blocks, or the last piece.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn crypt<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    key: &Material,
    start: &Start,
    index: u32,
    hash: &mut Hash,
    text: InOut<'_>,
    seal: bool,
) {
    let lanes = hash.load(s);
    let lanes = if seal {
        ctr_and_hash::<S, M, true>(s, key, start, index, lanes, text)
    } else {
        ctr_and_hash::<S, M, false>(s, key, start, index, lanes, text)
    };
    hash.store(s, lanes);
}

/// Whole turns of a piece whose nonce is public, which begins with block `index`, where a turn begins.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn turns<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &Material,
    nonce: Nonce96,
    index: u32,
    hash: &mut Hash,
    room: Option<&mut Room>,
    text: InOut<'_>,
) {
    let mut counters = TableCounter::resumed(s, &key.schedule, nonce, index, hash);
    let turn = taken(s, hash, &room);
    let (lanes, last) = woven::<S, M, _, SEAL>(s, key, &mut counters, hash.load(s), turn, &mut text.here());
    counters.keep(s, hash);
    leave::<S, M>(s, key, index, hash, room, lanes, last);
}

/// The turn that waits, if one does.
#[inline(always)]
pub(super) fn taken<S: Isa>(s: S, hash: &mut Hash, room: &Option<&mut Room>) -> Option<Turn<'static, S>> {
    match room {
        Some(room) if const { S::ROOMY } => hash.take_turn(s, room),
        _ => None,
    }
}

/// Leaves the hash for the next piece behind one that began with block `index`. Its last turn waits if there is room, but not that of the first piece,
/// which may be all.
#[inline(always)]
pub(super) fn leave<S: Isa, M: Multiply<S>>(
    s: S,
    key: &Material,
    index: u32,
    hash: &mut Hash,
    room: Option<&mut Room>,
    lanes: S::V,
    last: Option<Turn<'_, S>>,
) {
    let left = match (last, room) {
        (Some(turn), Some(room)) if const { S::ROOMY } && index > 0 => {
            hash.let_wait(s, turn, room);
            lanes
        }
        (Some(turn), _) => hashed::<S, M>(s, key, lanes, turn),
        (None, _) => lanes,
    };
    hash.store(s, left);
}

/// Hashes the turn that waits.
#[inline(always)]
pub(crate) fn settle<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, hash: &mut Hash, room: &Room) {
    if const { S::ROOMY }
        && let Some(turn) = hash.take_turn(s, room)
    {
        hash.store(s, hashed::<S, M>(s, key, hash.load(s), turn));
    }
}

/// All turns of `text`, behind one that is pending. They are woven as those of long messages are; but each ends with a sum over the lanes, so that it
/// may be the last. Returns the hash, and the turn that is left to hash, if there is one.
#[inline(always)]
fn woven<'a, S: Isa, M: Multiply<S>, C: Counters<S>, const SEAL: bool>(
    s: S,
    key: &Material,
    counters: &mut C,
    mut lanes: S::V,
    mut pending: Option<Turn<'a, S>>,
    text: &mut InOut<'a>,
) -> (S::V, Option<Turn<'a, S>>) {
    let keys = Keys::of(black_box(&key.schedule.keys));
    if SEAL
        && pending.is_none()
        && let Some(mut first) = text.whole_turn(s)
    {
        turn::<S, M, _>(s, key, &keys, counters, &mut first, &NoHash);
        pending = Some(first);
    }
    while let Some(mut next) = text.whole_turn(s) {
        let hashed = HashPiece::<S, _, SEAL> { powers: of_turn(s, key), hash: lanes, text: pending.unwrap_or(next) };
        if let Some(sum) = turn::<S, M, _>(s, key, &keys, counters, &mut next, &hashed) {
            lanes = hashed.reduce::<M>(s, sum);
        }
        if SEAL {
            pending = Some(next);
        }
    }
    (lanes, pending)
}

/// Encrypts or decrypts a piece of text with the hash in lanes, which it returns.
#[inline(always)]
fn ctr_and_hash<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    key: &Material,
    start: &Start,
    index: u32,
    lanes: S::V,
    text: InOut<'_>,
) -> S::V {
    let (mut text, mut hash) = (text.here(), lanes);
    if text.len() == 0 {
        return hash;
    }
    let counters = &mut AddCounter::at(s, start.j0(), index);
    if text.len() >= 16 * TURN * S::BLOCKS {
        let (lanes, last) = woven::<S, M, _, SEAL>(s, key, counters, hash, None, &mut text);
        hash = lanes;
        if SEAL && let Some(turn) = last {
            hash = hashed::<S, M>(s, key, hash, turn);
        }
    }
    if text.len() == 0 {
        return hash;
    }

    // The rest: four vectors at a time, or a single one, and one reduction.
    let constants = key.tables.down_from(s, blocks(text.len())).constants();
    let mut sum = M::zero(s);
    while text.len() > 0 {
        let powers = key.tables.down_from(s, blocks(text.len()));
        let x = if text.len() > 16 * S::BLOCKS { keystream::<S, 4>(s, key, counters) } else { keystream::<S, 1>(s, key, counters) };
        let mut part = text.take::<S>(4);
        each!(I in 0 1 2 3 => { if part.len() > I * 16 * S::BLOCKS {
            let input = part.load::<S, I, 0>(s);
            let output = apply(s, key, x[I], input);
            part.store::<S, I, 0>(s, output);
            let n = part.bytes::<S, I>();
            let v = s.byte_swap(if SEAL { s.keep_first(output, n) } else { input });
            let (first, second) = if const { M::CONSTANTS } { powers.partly(s, I * S::BLOCKS, blocks(n)) } else { powers.vector(I * S::BLOCKS) };
            sum = M::add(s, sum, M::product(s, M::ready(s, s.xor(v, hash), first, second)));
            hash = s.splat(0);
        } });
    }
    s.first(s.fold(M::reduce(s, sum, constants)))
}

/// The hash after a turn that was sealed, with nothing beside it.
#[inline(always)]
pub(super) fn hashed<S: Isa, M: Multiply<S>>(s: S, key: &Material, hash: S::V, text: Turn<'_, S>) -> S::V {
    HashPiece::<S, _, true> { powers: of_turn(s, key), hash, text }.alone::<M>(s)
}

/// The powers of a turn. The optimiser must not see that they are the same in each: it would copy them to the stack before the first.
#[inline(always)]
fn of_turn<S: Isa>(s: S, key: &Material) -> impl Down<S> + '_ {
    black_box(&key.tables).down_from(s, TURN * S::BLOCKS)
}

/// A turn of a piece: each block meets its own power.
struct HashPiece<'a, S: Isa, D, const STORED: bool> {
    /// From that of its first block on.
    powers: D,
    hash: S::V,
    text: Turn<'a, S>,
}

impl<S: Isa, D: Down<S>, const STORED: bool> HashPiece<'_, S, D, STORED> {
    #[inline(always)]
    fn reduce<M: Multiply<S>>(&self, s: S, sum: M::Sum) -> S::V {
        s.first(s.fold(M::reduce(s, sum, self.powers.constants())))
    }

    /// With nothing beside it.
    #[inline(always)]
    fn alone<M: Multiply<S>>(&self, s: S) -> S::V {
        let mut sum = M::zero(s);
        each!(I in 1 2 3 4 5 6 7 0 => { sum = M::add(s, sum, M::product(s, HashWork::<S, M>::ready::<I>(self, s))); });
        self.reduce::<M>(s, sum)
    }
}

impl<S: Isa, M: Multiply<S>, D: Down<S>, const STORED: bool> HashWork<S, M> for HashPiece<'_, S, D, STORED> {
    const COUNT: usize = 8;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let v = s.byte_swap(if STORED { self.text.stored::<I>(s) } else { self.text.load::<I>(s) });
        let v = if const { I == 0 } { s.xor(v, self.hash) } else { v };
        let (first, second) = self.powers.vector(I * S::BLOCKS);
        M::ready(s, v, first, second)
    }
}

/// GHASH goes on from `hash` over `data`, padded with zeros to whole blocks.
#[inline(always)]
pub(crate) fn hash<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, hash: &mut Hash, data: &[u8]) {
    hash.store(s, absorb::<S, M>(s, key, hash.load(s), data));
}

/// CTR alone: encrypts, or decrypts, from that counter block on.
#[inline(always)]
pub(crate) fn ctr<S: Isa>(s: S, key: &Material, first: Block, text: InOut<'_>) {
    let mut counters = AddCounter::from_block(s, first);
    let mut text = text.here();
    while let Some(mut turn) = text.whole_turn(s) {
        let x = keystream::<S, TURN>(s, key, &mut counters);
        each!(I in 0 1 2 3 4 5 6 7 => { turn.store::<I>(s, apply(s, key, x[I], turn.load::<I>(s))); });
    }
    while text.len() > 0 {
        let x = keystream::<S, 1>(s, key, &mut counters);
        let mut vector = text.take::<S>(1);
        vector.store::<S, 0, 0>(s, apply(s, key, x[0], vector.load::<S, 0, 0>(s)));
    }
}

/// AES of a block.
#[inline(always)]
pub(crate) fn aes<S: Isa>(s: S, key: &Material, block: Block) -> Block {
    key.schedule.encrypt(s, block)
}

/// The next `N` vectors of keystream but for the last round of AES.
#[inline(always)]
fn keystream<S: Isa, const N: usize>(s: S, key: &Material, counters: &mut impl Counters<S>) -> [S::State; STATES] {
    let schedule = black_box(&key.schedule); // else LLVM loads the keys before the loop of the caller, and keeps them on the stack
    let mut x = [s.state(s.splat(0)); STATES];
    counters.next::<N>(s, schedule, &mut x);
    schedule.each_round(s, |key| {
        each!(I in 0 1 2 3 4 5 6 7 => { if const { I < N } { s.round(&mut x[I], &key); } });
    });
    x
}

/// The last round, XOR the text.
#[inline(always)]
fn apply<S: Isa>(s: S, key: &Material, x: S::State, text: S::V) -> S::V {
    s.last_round(x, s.state(s.splat(*key.schedule.before_last())), s.state(s.splat(key.schedule.last)), text)
}

/// GHASH goes on from `hash`, in lane 0, over `data` padded with zeros: one reduction for every `TURN` vectors.
#[inline(always)]
pub(super) fn absorb<S: Isa, M: Multiply<S>>(s: S, key: &Material, hash: S::V, data: &[u8]) -> S::V {
    let powers = &key.tables;
    let mut hash = hash;
    for part in data.chunks(TURN * 16 * S::BLOCKS) {
        let blocks = part.len().div_ceil(16);
        let mut n = blocks;
        let mut sum = M::zero(s);
        let mut whole = part.chunks_exact(16 * S::BLOCKS);
        for bytes in &mut whole {
            let v = s.xor(s.byte_swap(load_vector(s, bytes)), hash);
            hash = s.splat(0);
            let (first, second) = powers.down_from(s, n).vector(0);
            sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
            n -= S::BLOCKS;
        }
        let rest = whole.remainder();
        if !rest.is_empty() {
            let v = s.xor(s.byte_swap(load_bytes(s, rest)), hash);
            let (first, second) = powers.down_from(s, n).partly(s, 0, n);
            sum = M::add(s, sum, M::product(s, M::ready(s, v, first, second)));
        }
        let constants = powers.down_from(s, blocks).constants();
        hash = s.first(s.fold(M::reduce(s, sum, constants)));
    }
    hash
}

/// The lengths, the last block of GHASH, and the hash in the order of the message: the tag, if it is masked by AES of a J0.
#[inline(always)]
pub(crate) fn finish<S: Isa, M: Multiply<S>>(s: S, _: M, key: &Material, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block {
    let mask = if let Some(j0) = j0 { key.schedule.encrypt(s, j0.0) } else { 0 };
    let powers = key.tables.down_from(s, 1);
    let (first, second) = powers.partly(s, 0, 1);
    let product = M::product(s, M::ready(s, s.xor(hash.load(s), s.first(lengths)), first, second));
    s.fold(s.byte_swap(M::reduce(s, product, powers.constants()))) ^ mask
}
