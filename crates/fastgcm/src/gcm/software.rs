//! GCM where neither AES nor GHASH is an instruction: a state of AES, then its blocks into GHASH, and so on.
//!
//! With AES in hundreds of instructions and a multiplication in a hundred, there is nothing to weave, and
//! nothing to gain from many powers of H or from a path for each length. What counts is a key that is soon
//! ready and code that is small: the powers of one vector, one loop, operations as calls. The first `N`
//! blocks of keystream begin with J0: a bit-sliced state holds `N` blocks, so a message of up to N - 1 blocks
//! runs AES once. (`vpaes-ssse3`, which encrypts by the block, makes only the blocks that the message needs.)

use super::{
    drive::SIDE_BY_SIDE,
    plan::lengths,
    siv::{LAST, swapped_lengths},
};
use crate::{
    Block,
    aes::{KeySize, Material, Schedule, expand_in_loops},
    ghash::Pairs,
    inout::{Hash, InOut, PADS, Plain, Table, part_of_block, plain},
    isa::{Isa, Order, Sliced},
    nonce::{J0, Nonce96, Start},
};
use core::hint::black_box;
use zeroize::Zeroize;

plain! {
    /// Round keys in the form that AES of `N` blocks uses, with zeros behind them, and what GHASH reads.
    pub(crate) struct Tables<K, P> {
        round_keys: [K; 15],
        pairs: P,
    }
}

/// A multiplication, and the number of blocks that AES encrypts at a time.
#[derive(Clone, Copy)]
pub(crate) struct By<M, const N: usize>(pub(crate) M);

/// What these functions keep in a key.
pub(crate) type SoftwareMaterial<K, P> = Material<Tables<K, P>>;

/// Derives everything that a message needs from 16, 24 or 32 bytes of key, in tables of zeros.
pub(crate) fn expand<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    schedule: &mut Schedule,
    tables: &mut Tables<S::Key, M::Tables>,
    key: &[u8],
) {
    schedule.size = KeySize::of(key);
    let keys = &mut tables.round_keys[..=schedule.rounds()];
    expand_in_loops(s, key, keys);
    s.round_keys(keys);
    let mut h = [0; N];
    s.keystream(keys, 0, Order::Swapped, &mut h, 1);
    M::fill(s, &mut tables.pairs, h[0]);
}

/// Returns how many blocks of its tables [`expand`] writes, in whole vectors.
pub(crate) const fn filled<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    _: S,
    _: By<M, N>,
) -> usize {
    size_of::<Tables<S::Key, M::Tables>>() / 16 / S::BLOCKS * S::BLOCKS
}

/// Writes zeros to all of the material.
pub(crate) fn wipe<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    _: S,
    _: By<M, N>,
    material: &mut SoftwareMaterial<S::Key, M::Tables>,
) {
    material.schedule.zeroize();
    material.tables.wipe();
}

/// Returns the round keys that `expand` has left.
fn sliced<K, P>(key: &SoftwareMaterial<K, P>) -> &[K] {
    &key.tables.round_keys[..=key.schedule.rounds()]
}

/// Seals or opens any message. Returns the tag.
pub(crate) fn message<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    By(multiply): By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    j0: J0,
    aad: &[u8],
    text: InOut<'_>,
    seal: bool,
) -> Block {
    let lengths = lengths(aad.len() as u64, text.len() as u64);
    let mut hash = Ghash::new(s, multiply, key);
    hash.absorb(aad);
    let (mut counter, mut pads) = (0, [0; N]);
    keystream(s, key, j0, &mut counter, &mut pads, 1 + text.len().div_ceil(16));
    let mask = pads[0];
    if text.len() > 0 {
        hash.crypt(j0, counter, &mut pads, 1, text, seal);
    }
    mask ^ hash.finish(lengths)
}

/// Encrypts or decrypts a piece of text that begins with block `index`, and continues its hash. The piece has
/// whole blocks or is the last one.
#[allow(clippy::too_many_arguments)]
pub(crate) fn update<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    By(multiply): By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    start: &Start,
    index: u32,
    so_far: &mut Hash,
    text: InOut<'_>,
    seal: bool,
) {
    let mut hash = Ghash::going_on(s, multiply, key, so_far);
    hash.crypt(start.j0(), index.wrapping_add(1), &mut [0; N], N, text, seal);
    hash.leave(so_far);
}

/// Continues GHASH over the bytes that wait and over `data`, padded with zeros to whole blocks.
pub(crate) fn hash<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    By(multiply): By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    so_far: &mut Hash,
    data: &[u8],
) {
    let mut hash = Ghash::going_on(s, multiply, key, so_far);
    hash.absorb(data);
    hash.leave(so_far);
}

/// Hashes the lengths, the last block of GHASH, and returns the hash in the order of the message: the tag,
/// once AES of a J0 masks it.
pub(crate) fn finish<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    by: By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    hash: &Hash,
    lengths: Block,
    start: Option<&Start>,
) -> Block {
    let hash = Ghash::going_on(s, by.0, key, hash).finish(lengths);
    hash ^ start.map_or(0, |start| aes(s, by, key, start.j0().0))
}

/// Makes the keystream of the blocks of the text from block `index` on.
pub(crate) fn pads<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    start: &Start,
    index: u32,
    pads: &mut Table<PADS>,
) {
    const { assert!(N >= PADS) }
    let mut blocks = [0; N];
    keystream(s, key, start.j0(), &mut index.wrapping_add(1), &mut blocks, PADS);
    blocks.iter().take(PADS).enumerate().for_each(|(i, block)| pads.set(i, *block));
    blocks.zeroize();
}

/// Runs CTR alone: encrypts or decrypts, from the counter block `first` on.
pub(crate) fn ctr<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    first: Block,
    mut text: InOut<'_>,
) {
    let (mut counter, mut pads) = (0, [0; N]);
    while text.len() > 0 {
        keystream(s, key, J0(first), &mut counter, &mut pads, text.len().div_ceil(16));
        apply(s, text.take_blocks(N), &pads);
    }
}

/// Seals a message of AES-GCM-SIV, or opens it if its tag is `given`. Returns the right tag.
#[inline(always)]
pub(crate) fn siv<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    By(multiply): By<M, N>,
    generating: &SoftwareMaterial<S::Key, M::Tables>,
    nonce: Nonce96,
    aad: &[u8],
    mut text: InOut<'_>,
    given: Option<&Block>,
) -> Block {
    // RFC 8452, section 4: the first halves of AES of the nonce with a number before it make POLYVAL's key,
    // then AES's key.
    let nonce = nonce.with_counter(0);
    let mut blocks = [[0; 16]; 6];
    let used = &mut blocks[..2 + generating.schedule.size.bytes() / 8];
    ctr_straight(s, generating, nonce << 32, InOut::in_place(used.as_flattened_mut()));
    let mut halves = [[0; 8]; 6];
    halves.iter_mut().zip(&*used).for_each(|(half, block)| half.copy_from_slice(&block[..8]));
    let (h, key) = halves[..used.len()].as_flattened().split_at(16);
    let mut of_message = SoftwareMaterial::ZERO;
    expand(s, By::<M, N>(multiply), &mut of_message.schedule, &mut of_message.tables, key);
    M::fill(s, &mut of_message.tables.pairs, by_x(part_of_block(h)).swap_bytes());

    if let Some(tag) = given {
        ctr_straight(s, &of_message, tag | LAST, text.here());
    }
    let data = if given.is_some() { text.written() } else { text.source() };
    let sum = polyval(s, multiply, &of_message, aad, data, swapped_lengths(aad.len(), data.len()));
    let tag = aes(s, By::<M, N>(multiply), &of_message, (sum ^ nonce) & !LAST);
    if given.is_none() {
        ctr_straight(s, &of_message, tag | LAST, text);
    }
    wipe(s, By::<M, N>(multiply), &mut of_message);
    blocks.zeroize();
    halves.zeroize();
    tag
}

/// Returns H divided by x, in POLYVAL's field: x^128 + x^127 + x^126 + x^121 + 1. (The tables multiply by x
/// again.) There is no branch on the key: the mask is all ones or all zeros.
fn by_x(h: Block) -> Block {
    let odd = (h & 1).wrapping_neg();
    (h ^ (0xc2 << 120 & odd)) >> 1 | odd << 127
}

/// Runs CTR of GCM-SIV, from the counter block `first` on: the counter is in the first four bytes.
fn ctr_straight<S: Sliced<N>, P, const N: usize>(
    s: S,
    key: &SoftwareMaterial<S::Key, P>,
    first: Block,
    mut text: InOut<'_>,
) {
    const LOW: Block = u32::MAX as Block;
    let (mut counter, mut pads) = (first as u32, [0; N]);
    while text.len() > 0 {
        let next = first & !LOW | counter as Block;
        let wanted = text.len().div_ceil(16).min(N);
        s.keystream(sliced(key), next, Order::Straight, &mut pads, wanted);
        apply(s, text.take_blocks(N), &pads);
        counter = counter.wrapping_add(const { N as u32 });
    }
}

/// Returns POLYVAL of AAD, text and lengths: GHASH of these blocks with their bytes reversed (RFC 8452,
/// appendix A).
fn polyval<S: Isa, M: Pairs<S>, K>(
    s: S,
    multiply: M,
    key: &SoftwareMaterial<K, M::Tables>,
    aad: &[u8],
    text: &[u8],
    lengths: Block,
) -> Block {
    let mut hash = Ghash::new(s, multiply, key);
    for data in [aad, text] {
        let (blocks, rest) = data.as_chunks();
        blocks.iter().for_each(|block| hash.push(Block::from_le_bytes(*block).to_be_bytes()));
        if !rest.is_empty() {
            hash.push(part_of_block(rest).to_be_bytes());
        }
    }
    hash.finish(lengths).swap_bytes()
}

/// Returns AES of a block.
pub(crate) fn aes<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    block: Block,
) -> Block {
    let mut pads = [0; N];
    keystream(s, key, J0(block), &mut 0, &mut pads, 1);
    pads[0]
}

/// Encrypts the first `wanted` of these blocks with AES, in place.
pub(crate) fn aes_beside<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    key: &SoftwareMaterial<S::Key, M::Tables>,
    blocks: &mut Table<SIDE_BY_SIDE>,
    wanted: usize,
) {
    let mut state = [0; N];
    for first in (0..wanted).step_by(N) {
        let some = first..wanted.min(first + N);
        state.iter_mut().zip(some.clone()).for_each(|(state, i)| *state = blocks.get(i));
        s.encrypt(sliced(key), &mut state, some.len());
        state.iter().zip(some).for_each(|(state, i)| blocks.set(i, *state));
    }
    state.zeroize();
}

/// Makes AES of the next `wanted` counter blocks or of `N`; the first block of all is J0 itself.
fn keystream<S: Sliced<N>, P, const N: usize>(
    s: S,
    key: &SoftwareMaterial<S::Key, P>,
    j0: J0,
    counter: &mut u32,
    pads: &mut [Block; N],
    wanted: usize,
) {
    const LOW: Block = u32::MAX as Block;
    let j0 = j0.0.swap_bytes();
    let first = j0 & !LOW | (j0 as u32).wrapping_add(*counter) as Block;
    *counter = counter.wrapping_add(N as u32);
    s.keystream(sliced(key), first, Order::Swapped, pads, wanted.min(N));
}

/// XORs a text with as many pads as it has blocks.
fn apply<S: Sliced<N>, const N: usize>(s: S, mut text: InOut<'_>, pads: &[Block]) {
    let mut pads = pads.chunks(S::BLOCKS).map(|pads| s.put_last(s.splat(pads[0]), pads[pads.len() - 1]));
    // Whole vectors have a loop of their own: in one loop with the rest, all of them would go through
    // `memcpy`.
    while text.len() >= 16 * S::BLOCKS
        && let Some(pad) = pads.next()
    {
        let mut vector = text.take::<S>(1).at_least::<S>(1);
        vector.store::<S, 0, 0>(s, s.xor(vector.load::<S, 0, 0>(s), pad));
    }
    if text.len() > 0
        && let Some(pad) = pads.next()
    {
        text.store::<S, 0, 0>(s, s.xor(text.load::<S, 0, 0>(s), pad));
    }
}

/// GHASH, two blocks at a time.
struct Ghash<'a, S: Isa, M: Pairs<S>, K> {
    s: S,
    _multiply: M,
    key: &'a SoftwareMaterial<K, M::Tables>,
    hash: Block,
    /// The first block of a pair.
    waiting: Option<[u8; 16]>,
}

impl<'a, S: Isa, M: Pairs<S>, K> Ghash<'a, S, M, K> {
    fn new(s: S, _multiply: M, key: &'a SoftwareMaterial<K, M::Tables>) -> Self {
        Self { s, _multiply, key, hash: 0, waiting: None }
    }

    /// Continues from a hash between two pieces, which is mirrored there, over the bytes that wait.
    fn going_on(s: S, multiply: M, key: &'a SoftwareMaterial<K, M::Tables>, hash: &Hash) -> Self {
        let mut all = Self { hash: hash.get().swap_bytes(), ..Self::new(s, multiply, key) };
        all.absorb(hash.waiting());
        all
    }

    /// Leaves the hash for the next piece.
    fn leave(self, hash: &mut Hash) {
        hash.set(self.value().swap_bytes());
        hash.hashed();
    }

    /// Continues over `data`, padded with zeros to whole blocks.
    fn absorb(&mut self, data: &[u8]) {
        let (mut blocks, rest) = data.as_chunks();
        if let (Some(_), [block, others @ ..]) = (self.waiting, blocks) {
            self.push(*block);
            blocks = others;
        }
        let (pairs, alone) = blocks.split_at(blocks.len() & !1);
        self.go_on(pairs);
        alone.iter().for_each(|block| self.push(*block));
        if !rest.is_empty() {
            let mut block = [0; 16];
            block[..rest.len()].copy_from_slice(rest);
            self.push(block);
        }
    }

    /// Encrypts or decrypts whole blocks, or the last blocks of a text, and continues over their ciphertext:
    /// first with the pads from `used` on, then with AES of the counters from `counter` on. There is one
    /// loop: LLVM makes four if it sees the direction and that the first turn is special.
    #[inline(never)]
    fn crypt<const N: usize>(
        &mut self,
        j0: J0,
        mut counter: u32,
        pads: &mut [Block; N],
        mut used: usize,
        mut text: InOut<'_>,
        seal: bool,
    ) where
        S: Sliced<N, Key = K>,
    {
        while text.len() > 0 {
            if used == N {
                keystream(self.s, self.key, j0, &mut counter, pads, text.len().div_ceil(16));
                used = 0;
            }
            let mut part = text.take_blocks(N - used);
            if !black_box(seal) {
                self.absorb(part.source());
            }
            apply(self.s, part.here(), &pads[used..]);
            if black_box(seal) {
                self.absorb(part.written());
            }
            used = black_box(N);
        }
    }

    fn push(&mut self, block: [u8; 16]) {
        match self.waiting.take() {
            None => self.waiting = Some(block),
            Some(first) => self.go_on(&[first, block]),
        }
    }

    /// Hashes the last block, and returns the hash.
    fn finish(mut self, lengths: Block) -> Block {
        self.push(lengths.to_be_bytes());
        self.value()
    }

    /// Returns the hash so far.
    fn value(mut self) -> Block {
        let alone = self.waiting;
        self.go_on(alone.as_slice());
        self.hash
    }

    fn go_on(&mut self, blocks: &[[u8; 16]]) {
        if !blocks.is_empty() {
            self.hash = M::hash(self.s, &self.key.tables.pairs, self.hash, blocks);
        }
    }
}

/// Fills in the powers of `h` instead of those of AES(0), and a product: proofs ask this of a row.
#[cfg(test)]
pub(crate) fn fill<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize>(
    s: S,
    _: By<M, N>,
    material: &mut SoftwareMaterial<S::Key, M::Tables>,
    h: Block,
) {
    M::fill(s, &mut material.tables.pairs, h);
}

#[cfg(test)]
pub(crate) fn products<S: Isa, M: Pairs<S>>(s: S, _: M, x: Block, h: Block) -> [[Block; 4]; 2] {
    let mut powers = M::Tables::ZERO;
    M::fill(s, &mut powers, h.swap_bytes());
    [[M::hash(s, &powers, 0, &[x.to_be_bytes()]).swap_bytes(), 0, 0, 0]; 2]
}

/// F4: the counter wraps, and carries into each of its bytes, wherever J0 begins: a message would need
/// gigabytes to reach these counters.
#[test]
fn f04_plain_counters_at_every_carry() {
    use crate::isa::{Portable, Widest, Word};
    let s = Portable::<{ Widest::LANES }>::here();
    let (mut key, mut schedule) = (SoftwareMaterial::ZERO, Schedule::ZERO);
    expand(s, By(crate::ghash::Winograd), &mut key.schedule, &mut key.tables, &[7; 16]);
    schedule.expand::<_, false>(s, &[7; 16]);
    for (first, counter) in [
        (1, 0xf8),
        (1, 0xfff8),
        (1, 0xff_fff8),
        (1, 0xffff_fff8),
        (0xffff_fffa, 0),
        (0xffff_fffe, 0xffff_fffc),
    ] {
        let block = |counter: u32| {
            Block::from_le_bytes(*b"twelve bytes\0\0\0\0") | Block::from(counter.swap_bytes()) << 96
        };
        let mut next = counter;
        let mut blocks = [0; 4 * Widest::LANES];
        keystream(s, &key, J0(block(first)), &mut next, &mut blocks, 8);
        let expected = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|i| schedule.encrypt(s, block(first.wrapping_add(counter).wrapping_add(i))));
        assert_eq!(
            (&blocks[..], next.wrapping_sub(counter)),
            (&expected[..blocks.len()], blocks.len() as u32),
            "{first:x} + {counter:x}"
        );
    }
}

/// Checks H with and without each bit.
#[test]
fn by_x_is_undone() {
    for h in (0..128).flat_map(|i| [1 << i, !(1 << i)]) {
        assert_eq!(crate::ghash::powers::times_x(by_x(h)), h);
    }
}
