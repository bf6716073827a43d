//! One message: AAD, turns, tail, tag.

// As a closure, what has vectors is compiled without the row's instructions wherever LLVM does not inline it: slow, and with a frame that `scrub` misses.
#![allow(clippy::manual_map)]

use super::{
    Material,
    counter::TableCounter,
    sequential::{absorb, hashed, leave, taken},
    tail::{Before, Header, Outlined, Rest, WOVEN, tail},
    turn::{HashTurn, NoHash},
    turns::{ASK_PAYS, Bulk, blocks_of_turn, called, face_pays, has_own_loop, spread_pays, turns},
};
use crate::{
    Block,
    aes::{KeySize, Schedule},
    ghash::{Ask, Few, Multiply, Powers, aad_lanes, most_powers},
    inout::{Hash, InOut, Room, Scratch, Turn, Unwritten, is_tail, load_bytes, meeting},
    isa::Isa,
    nonce::Nonce96,
    runs::Text,
};
use zeroize::Zeroize;

/// Everything that messages need, from 16, 24 or 32 bytes of key; or what the one message needs that has so many bytes of AAD and text.
/// Nothing of what was there before is left.
#[inline(always)]
pub(crate) fn expand<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &mut Schedule,
    tables: Unwritten<'_, Powers>,
    key: &[u8],
    one: Option<(usize, usize)>,
) {
    let h = schedule.expand::<S, true>(s, key);
    Powers::fill::<S, M>(tables, s, h, one.map_or(usize::MAX, |(aad, text)| powers_of::<S>(aad, text)));
}

/// The same in a key.
#[cfg(all(test, feature = "internals"))]
pub(super) fn expand_in<S: Isa, M: Multiply<S>>(s: S, multiply: M, material: &mut Material, key: &[u8], one: Option<(usize, usize)>) {
    expand(s, multiply, &mut material.schedule, Unwritten::of(&mut material.tables), key, one);
}

/// The highest power of H that a message asks for: one for each block of a tail, with AAD ahead of it, and one for the lengths; and those of a turn.
fn powers_of<S: Isa>(aad: usize, text: usize) -> usize {
    let left = meeting(S::BLOCKS);
    if is_tail::<S>(text, left) {
        return blocks(aad) + blocks(text) + 1;
    }
    // A constant: where functions are not put into one another, the remainder would be a division.
    let turn = const { blocks_of_turn(S::BLOCKS) };
    turn.max(blocks(left + (text - left) % (16 * turn)) + 1)
}

/// Zeros, where `expand` has written.
#[inline(always)]
pub(crate) fn wipe<S: Isa>(s: S, material: &mut Material) {
    material.schedule.zeroize();
    material.tables.wipe(s);
}

/// The most bytes of AAD, and of text, of a short message, for vectors of `blocks` blocks: its text fits in one tail, and of all its blocks, with that of
/// the lengths, each has a power of its own.
pub(crate) const fn most_short(blocks: usize) -> (usize, usize) {
    (16 * (most_powers(blocks) - SHORT * blocks - 1), 16 * SHORT * blocks)
}

/// Vectors in the longest short message.
const SHORT: usize = 4;

/// A short message: no loop over text. Returns the tag.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn short<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    row: impl Outlined<S, M> + Outlined<S, M::Short>,
    key: &Material,
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
) -> Block {
    let counters = TableCounter::new(s, &key.schedule, nonce);
    let header = Header::any::<M::Short>(s, key, aad, text.len());
    let before = Before { header, hash: s.splat(0), lengths: lengths(aad.len() as u64, text.len() as u64) };
    let (length, vectors) = (text.len(), |n: usize| 16 * S::BLOCKS * n);
    // A lane that the text leaves free takes the tag's mask: of 16 bytes half of the AES. (From three vectors on it would be a quarter at most.)
    let leaves_lane = |n: usize| length <= vectors(n) - 16;
    /// Made for each of them: `Rest` made before them all, LLVM would begin the tails there too (of 48 and 128 bytes 3 to 4 % with `aesni-avx`).
    macro_rules! tail {
        ($n:literal $all:literal $whole:literal) => {{
            // What is opened, of more than two vectors, has enough multiplications to be slowed by more of them (AES-256, 256 bytes: 9 %).
            if const { S::ROOMY && (SEAL || $n <= 2) } {
                Outlined::<S, M::Short>::tail::<SEAL, $n, $all, $whole>(row, s, key, Rest::alone(counters, text, before))
            } else {
                Outlined::<S, M>::tail::<SEAL, $n, $all, $whole>(row, s, key, Rest::alone(counters, text, before))
            }
        }};
    }
    // Comparisons of the length, not a table of places to jump to: so the optimiser knows in each of them how long the last vector can be.
    if length == 0 {
        tail!(0 1 0)
    } else if const { S::BLOCKS > 1 } && leaves_lane(1) {
        tail!(1 1 0)
    } else if length <= vectors(1) {
        tail!(1 2 0)
    } else if const { S::BLOCKS > 1 } && leaves_lane(2) {
        tail!(2 2 1)
    } else if length <= vectors(2) {
        tail!(2 3 1)
    } else if length <= vectors(3) {
        tail!(3 4 2)
    } else {
        tail!(4 5 3)
    }
}

/// The most bytes of AAD, and of text, of a message that `once` takes: its powers are those of [`Few`].
pub(crate) const fn most_once(blocks: usize) -> Option<(usize, usize)> {
    if blocks == 1 { None } else { Some((16 * aad_lanes(blocks), 16 * blocks)) }
}

/// Seals or opens a short message under a key of 16, 24 or 32 bytes that is for this message only: nothing of it is stored but its round keys, which
/// are wiped. Returns the tag.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(crate) fn once<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &mut Schedule,
    key: &[u8],
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    seal: bool,
) -> Block {
    let h = schedule.expand::<S, true>(s, key);
    let powers = Few::new::<M::Short>(s, h);
    let before = Before { header: Header::new(s, aad), hash: s.splat(0), lengths: lengths(aad.len() as u64, text.len() as u64) };
    let rest = Rest::alone(TableCounter::new(s, schedule, nonce), text, before);
    let tag = match (text.len(), seal) {
        (0, _) => tail::<S, M::Short, _, true, 0, 1, 0>(s, schedule, &powers, rest),
        (_, true) => tail::<S, M::Short, _, true, 1, 2, 0>(s, schedule, &powers, rest),
        (_, false) => tail::<S, M::Short, _, false, 1, 2, 0>(s, schedule, &powers, rest),
    };
    Zeroize::zeroize(schedule);
    tag
}

/// Any message with a 96-bit nonce. Returns the tag.
#[inline(always)]
pub(crate) fn long<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    row: impl Outlined<S, M>,
    key: &'a Material,
    nonce: Nonce96,
    aad: &[u8],
    text: &mut Text<'a>,
) -> Block {
    #[cfg(feature = "scrub")]
    let scratch = &mut text.scratch;
    let (mut text, runs) = (text.all.here(), text.runs.take());
    let mut counters = TableCounter::new(s, &key.schedule, nonce);
    let mut before = before::<S, M>(s, key, aad, text.len());
    let (faces, many) = (face_pays::<S, SEAL>(text.len(), key.schedule.size, false), S::BLOCKS > 1 && text.len() >= spread_pays(SEAL));
    let own = const { has_own_loop::<S, SEAL>() };
    let pending = if faces || many && !own && (runs.is_some() || text.len() >= ASK_PAYS) {
        let mut all = Bulk { counters, text, runs, left: meeting(S::BLOCKS), hash: before.hash, pending: None };
        called::<S, M, SEAL>(s, multiply, row, key, faces, &mut all);
        let Bulk { hash, pending, .. } = all;
        (counters, text, before.hash) = (all.counters, all.text, hash);
        // A message that long has turns. (For what might be none LLVM would make tails a second time: 4 KB of vaes-avx2.)
        if SEAL { Some(HashTurn { powers: &key.tables, hash, text: Turn::at(s, pending.unwrap()) }) } else { None }
    } else {
        #[cfg(not(feature = "scrub"))]
        let scratch = &mut [const { Scratch::new() }; 2];
        // (Any other list was called for: it is longer than `runs_from`.)
        let mut runs = if own { runs } else { None };
        let (scratch, left) = (if many { Some(scratch) } else { None }, meeting(S::BLOCKS));
        turns::<S, M, _, SEAL, true>(s, key, scratch, false, left, None, &mut counters, &mut text, &mut runs, &mut before.hash)
    };
    last::<S, M, SEAL>(s, row, key, Rest::alone(counters, text, before), pending)
}

/// The turns of a long piece of text, which begins with block `index` of its message, where a turn begins. Returns what is left: less than a turn of
/// what is sealed; of what is opened, at least a block for each lane of the hash.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn piece<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    row: impl Outlined<S, M>,
    key: &'a Material,
    nonce: Nonce96,
    index: u32,
    hash: &mut Hash,
    room: Option<&mut Room>,
    text: InOut<'a>,
) -> InOut<'a> {
    let (mut counters, mut text) = (TableCounter::at(s, &key.schedule, nonce, index), text.here());
    let faces = face_pays::<S, SEAL>(text.len(), key.schedule.size, true);
    // What is sealed may end with its last turn, whose blocks are hashed each with its own power. What is opened was hashed lane by lane.
    let left = if SEAL { 0 } else { meeting(S::BLOCKS) };
    let mut lanes = hash.load(s);
    let turn = taken(s, hash, &room);
    let own = const { has_own_loop::<S, SEAL>() };
    let last = if faces || cfg!(feature = "scrub") || !own && text.len() >= ASK_PAYS {
        if let Some(turn) = turn {
            lanes = hashed::<S, M>(s, key, lanes, turn);
        }
        let mut all = Bulk { counters, text, runs: None, left, hash: lanes, pending: None };
        called::<S, M, SEAL>(s, multiply, row, key, faces, &mut all);
        (text, lanes) = (all.text, all.hash);
        if let Some(place) = all.pending { Some(Turn::at(s, place)) } else { None }
    } else {
        let (mut scratch, none) = ([const { Scratch::new() }; 2], &mut None);
        let pending =
            turns::<S, M, _, SEAL, false>(s, key, Some(&mut scratch), false, left, turn, &mut counters, &mut text, none, &mut lanes);
        if let Some(pending) = pending { Some(pending.text) } else { None }
    };
    leave::<S, M>(s, key, index, hash, room, lanes, last);
    text
}

/// Bytes of a piece from which on that pays: the loop is called, and what it spreads over the lanes goes through memory.
pub(crate) const PIECE_PAYS: usize = 5120;

/// What stands before the text. AAD that fits in the tail of a message without turns waits for it there. (Not with vectors of one
/// block, which have no lane to spare: 3 to 9 ns slower at 128 to 512 bytes, while a short message gains 6 to 10 ns by it.) Else the
/// hash begins with it.
#[inline(always)]
fn before<S: Isa, M: Multiply<S>>(s: S, key: &Material, aad: &[u8], text: usize) -> Before<S> {
    let (lengths, zero) = (lengths(aad.len() as u64, text as u64), s.splat(0));
    if aad.len() <= 16 * (S::BLOCKS - 1) && is_tail::<S>(text, meeting(S::BLOCKS)) {
        return Before { header: Header::new(s, aad), hash: zero, lengths };
    }
    let vector = 16 * S::BLOCKS;
    let hash = if !aad.is_empty() && aad.len() <= vector && text >= vector {
        // One vector, n blocks. Its block i stands n - i places before the first block of the text, and its lane is added to block i of
        // the text, which stands i places behind the first: so every lane wants H^n.
        let powers = key.tables.down_from(s, blocks(aad.len()));
        let (first, second) = powers.splat();
        let aad = s.byte_swap(load_bytes(s, aad));
        M::reduce(s, M::product(s, M::ready(s, aad, first, second)), powers.constant())
    } else {
        absorb::<S, M>(s, key, zero, aad)
    };
    Before { header: Header::new(s, &[]), hash, lengths }
}

/// The tail behind the turns, of which one may be left to hash. Returns the tag.
#[inline(always)]
fn last<'a, S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    row: impl Outlined<S, M>,
    key: &'a Material,
    rest: Rest<'a, S, NoHash>,
    pending: Option<HashTurn<'a, S, true>>,
) -> Block {
    /// For each number of vectors the function of that many or a few more: `$n`, of which `$whole` are whole for certain. From five on, if there are
    /// `$more`, each number has its own (of 300 bytes 13 % with vectors of four blocks, of 1420 bytes 5 %: for 3 KB more in each function), but of
    /// vectors of one block, where one more or less is no difference that could be measured; of those no more than eight remain.
    macro_rules! tails {
        ($rest:expr, $vectors:expr, more $more:expr $(, $few:pat $(if $guard:expr)? => $n:literal $all:literal $whole:literal)*) => {
            match $vectors {
                $($few $(if const { $guard })? => row.tail::<SEAL, $n, $all, $whole>(s, key, $rest),)*
                _ if const { !$more } => unreachable!("there are no more vectors"),
                ..=6 if const { S::BLOCKS == 1 } => row.tail::<SEAL, 6, 7, 4>(s, key, $rest),
                _ if const { S::BLOCKS == 1 } => row.tail::<SEAL, 8, 9, 6>(s, key, $rest),
                ..=5 => row.tail::<SEAL, 5, 6, 4>(s, key, $rest),
                6 => row.tail::<SEAL, 6, 7, 5>(s, key, $rest),
                7 => row.tail::<SEAL, 7, 8, 6>(s, key, $rest),
                8 => row.tail::<SEAL, 8, 9, 7>(s, key, $rest),
                _ => row.tail::<SEAL, 9, 10, 8>(s, key, $rest),
            }
        };
    }
    let vectors = rest.text.len().div_ceil(16 * S::BLOCKS);
    if const { !SEAL } {
        // In two parts too where registers are few: AES-128 2 to 8 % faster, AES-256 as fast, for a sixth less code. (With many, of 300 to 1420 bytes
        // 4 to 10 % slower: Zen 4.)
        if const { !S::ROOMY } && vectors > WOVEN {
            let rest = rest.begin_opening::<M>(s, key);
            return tails!(rest, vectors, more true);
        }
        return tails!(rest, vectors, more S::ROOMY, 0 => 0 1 0, 1..=2 => 2 3 0, 3..=4 => 4 5 2, _ if !S::ROOMY => 4 5 2);
    }
    if vectors > WOVEN && in_parts(s, key.schedule.size, &rest, pending.is_none(), vectors) {
        let rest = rest.begin::<M>(s, key, &pending);
        return tails!(rest, vectors, more true);
    }
    if let Some(pending) = pending {
        let rest = rest.behind(pending);
        tails!(rest, vectors, more true, 0..=2 => 2 3 0, 3..=4 => 4 5 2, _ if S::BLOCKS > 1 && !S::ROOMY => 8 9 6)
    } else {
        // Up to four vectors, behind much AAD. (Arm has more of them.) One or two of one block are apart: 16 bytes behind AAD of 128 take 15 % less time
        // than among four, for 300 to 800 bytes of code.
        let vectors = if const { arm::<S>() } { vectors } else { vectors.min(WOVEN) };
        tails!(rest, vectors, more arm::<S>(), 0 => 0 1 0, 1..=2 if S::BLOCKS == 1 => 2 3 0, 3..=4 if S::BLOCKS == 1 => 4 5 2, 1..=4 => 4 5 0)
    }
}

/// Vectors of one block, and many of them.
const fn arm<S: Isa>() -> bool {
    S::ROOMY && S::BLOCKS == 1
}

/// Whether a tail of more than [`WOVEN`] vectors is sealed in two parts, of which the first is hashed while the second is encrypted. All tails share
/// the code of the first part.
///
/// Alone always: with vectors of four blocks 5 % faster, of two 15 %, of one 11 to 17 % (Emerald Rapids). But vectors of one block with many registers
/// (Arm) were not measured.
///
/// Behind a turn that waits to be hashed, where registers are few: not seven and eight vectors (5 to 10 % slower), nor any of one block. Where they are many: not with
/// AES-128, where the eight vectors of the turn want all of the AES (Zen 4, 1024 and 1420 bytes 3 to 6 % slower). Longer keys leave them room beside
/// the first part (Granite Rapids: 1024 bytes 8 %, 1420 and 2048 bytes 5 %), but not behind turns whose keys and powers were spread (3100 and 4096
/// bytes 3 % slower). On Zen 5, which does two of these rounds a cycle, AES of a part is as long as its rounds wait for each other, and so are two: 832 to
/// 1024 bytes take 5 to 12 % longer, 1420 bytes 4 to 6 %, from 1800 on 2 to 5 %. There fastgcm is ahead of all others with that too; on Intel it was not.
#[inline(always)]
fn in_parts<S: Isa>(_: S, size: KeySize, rest: &Rest<'_, S, NoHash>, alone: bool, vectors: usize) -> bool {
    if const { !S::ROOMY } {
        alone || S::BLOCKS > 1 && !(7..=8).contains(&vectors)
    } else {
        S::BLOCKS > 1 && (alone || size != KeySize::Aes128 && rest.before.lengths as u64 / 8 < spread_pays(true) as u64)
    }
}

/// Blocks of so many bytes.
#[inline(always)]
pub(super) fn blocks(bytes: usize) -> usize {
    bytes.div_ceil(16)
}

/// The lengths block, in bits, mirrored. No overflow: `limits` comes first.
#[inline(always)]
pub(crate) fn lengths(aad: u64, text: u64) -> Block {
    ((aad as Block * 8) << 64) | (text as Block * 8)
}
