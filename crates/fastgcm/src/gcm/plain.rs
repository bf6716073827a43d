//! GCM where nothing is an instruction: a state of AES, then its blocks into GHASH, and so on.
//!
//! With AES in hundreds of instructions and a multiplication in a hundred, there is nothing to weave, and nothing to win by many
//! powers of H or by a path for each length. What counts there is a key that is soon ready and code that is small: the powers of one
//! vector, one loop, operations as calls. The `N` blocks that a bit-sliced state holds begin with J0, so a message of up to N - 1 blocks
//! runs AES once.

use super::message::lengths;
#[cfg(test)]
pub(crate) use crate::ghash::proof::fill_one as fill;
use crate::{
    Block,
    ghash::Multiply,
    inout::InOut,
    isa::{Isa, Sliced},
    key::Material,
    nonce::J0,
};
use zeroize::Zeroize;

/// Everything that a message needs, from 16, 24 or 32 bytes of key. Nothing of what was there before is left.
pub(crate) fn expand<S: Sliced<N>, M: Multiply<S>, const N: usize>(s: S, _: M, material: &mut Material, key: &[u8]) {
    material.schedule.expand::<S, false>(s, key);
    material.powers.fill_one::<S, M, N>(s, &material.schedule);
}

/// Zeros, where `expand` has written.
pub(crate) fn wipe<S: Sliced<N>, const N: usize>(_: S, material: &mut Material) {
    material.schedule.zeroize();
    material.powers.wipe_one();
}

/// Seals or opens any message with any nonce. Returns the tag.
pub(crate) fn any<S: Sliced<N>, M: Multiply<S>, const N: usize>(
    s: S,
    multiply: M,
    key: &Material,
    j0: J0,
    aad: &[u8],
    mut text: InOut<'_>,
    seal: bool,
) -> Block {
    let lengths = lengths(aad, text.len());
    let mut hash = Ghash::new(s, multiply, key);
    hash.absorb(aad);

    let mut counter = 0;
    let mut pads = keystream(s, key, j0, &mut counter);
    let mask = pads[0];
    let mut used = 1;
    while text.len() > 0 {
        if used == N {
            pads = keystream(s, key, j0, &mut counter);
            used = 0;
        }
        let part = text.take_blocks(N - used);
        if !seal {
            hash.absorb(part.source());
        }
        apply(s, part.here(), &pads[used..]);
        if seal {
            hash.absorb(part.written());
        }
        used = N;
    }
    mask ^ hash.finish(lengths)
}

/// The pre-counter block of a nonce that has not 12 bytes: its GHASH (SP 800-38D, section 7.1, step 2).
pub(crate) fn j0<S: Sliced<N>, M: Multiply<S>, const N: usize>(s: S, multiply: M, key: &Material, nonce: &[u8]) -> J0 {
    let mut hash = Ghash::new(s, multiply, key);
    hash.absorb(nonce);
    J0(hash.finish(lengths(&[], nonce.len())))
}

/// The tag of AAD and ciphertext, without decrypting.
pub(crate) fn tag<S: Sliced<N>, M: Multiply<S>, const N: usize>(
    s: S,
    multiply: M,
    key: &Material,
    j0: J0,
    aad: &[u8],
    ciphertext: &[u8],
) -> Block {
    let mut hash = Ghash::new(s, multiply, key);
    hash.absorb(aad);
    hash.absorb(ciphertext);
    keystream(s, key, j0, &mut 0)[0] ^ hash.finish(lengths(aad, ciphertext.len()))
}

/// AES of the next `N` counter blocks, the first of all being J0 itself. inc32 is modulo 2^32, without a carry into the nonce
/// (SP 800-38D, section 6.2).
fn keystream<S: Sliced<N>, const N: usize>(s: S, key: &Material, j0: J0, counter: &mut u32) -> [Block; N] {
    const LOW: Block = u32::MAX as Block;
    let mirrored = j0.0.swap_bytes();
    let block = |i: u32| mirrored & !LOW | (mirrored as u32).wrapping_add(*counter).wrapping_add(i) as Block;
    let blocks = core::array::from_fn(|i| block(i as u32).swap_bytes());
    *counter = counter.wrapping_add(N as u32);
    s.encrypt(key.powers.sliced(key.schedule.rounds()), blocks)
}

/// XOR of a text and of as many pads as it has blocks.
fn apply<S: Sliced<N>, const N: usize>(s: S, mut text: InOut<'_>, pads: &[Block]) {
    for pads in pads.chunks(S::BLOCKS) {
        let mut vector = text.take::<S>(1);
        if vector.len() == 0 {
            break;
        }
        let pad = s.put_last(s.splat(pads[0]), pads[pads.len() - 1]);
        vector.store::<S, 0>(s, s.xor(vector.load::<S, 0>(s), pad));
    }
}

/// GHASH, a vector of blocks at a time.
struct Ghash<'a, S, M> {
    s: S,
    _multiply: M,
    key: &'a Material,
    /// In the order of the field, as blocks are in here.
    hash: Block,
    /// The first block of a vector of two.
    waiting: Option<Block>,
}

impl<'a, S: Isa, M: Multiply<S>> Ghash<'a, S, M> {
    fn new(s: S, _multiply: M, key: &'a Material) -> Self {
        const { assert!(S::BLOCKS <= 2) }
        Self { s, _multiply, key, hash: 0, waiting: None }
    }

    /// Goes on over `data`, padded with zeros to whole blocks.
    fn absorb(&mut self, data: &[u8]) {
        let (blocks, rest) = data.as_chunks();
        blocks.iter().for_each(|block| self.push(Block::from_be_bytes(*block)));
        if !rest.is_empty() {
            let mut block = [0; 16];
            block[..rest.len()].copy_from_slice(rest);
            self.push(Block::from_be_bytes(block));
        }
    }

    fn push(&mut self, block: Block) {
        match self.waiting.take() {
            None if S::BLOCKS == 2 => self.waiting = Some(block),
            None => self.times(0, block ^ self.hash),
            Some(first) => self.times(first ^ self.hash, block),
        }
    }

    /// The last block, and the hash in the order of the message.
    fn finish(mut self, lengths: Block) -> Block {
        self.push(lengths);
        if let Some(alone) = self.waiting {
            self.times(0, alone ^ self.hash);
        }
        self.hash.swap_bytes()
    }

    /// Times H^2 and H; or `last` times H if vectors have one block.
    #[inline(never)]
    fn times(&mut self, first: Block, last: Block) {
        let (s, powers) = (self.s, &self.key.powers);
        let powers = powers.down_from(s, S::BLOCKS);
        let (b, k) = powers.vector(0);
        let product = M::product(s, M::ready(s, s.put_last(s.splat(first), last), b, k));
        self.hash = s.fold(M::reduce(s, product, s.first(powers.constants())));
    }
}

/// F4: the counter wraps, and carries into each of its bytes, wherever J0 begins: a message would need gigabytes to get there.
#[test]
fn f04_plain_counters_at_every_carry() {
    use crate::isa::{Portable, Widest, Word};
    let s = Portable::<{ Widest::LANES }>::here();
    let mut key = Material::ZERO;
    expand(s, crate::ghash::Winograd, &mut key, &[7; 16]);
    for (first, counter) in [(1, 0xf8), (1, 0xfff8), (1, 0xff_fff8), (1, 0xffff_fff8), (0xffff_fffa, 0), (0xffff_fffe, 0xffff_fffc)] {
        let block = |counter: u32| Block::from_le_bytes(*b"twelve bytes\0\0\0\0") | Block::from(counter.swap_bytes()) << 96;
        let mut next = counter;
        let blocks = keystream(s, &key, J0(block(first)), &mut next);
        let expected = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| key.schedule.encrypt(s, block(first.wrapping_add(counter).wrapping_add(i))));
        assert_eq!((&blocks[..], next.wrapping_sub(counter)), (&expected[..blocks.len()], blocks.len() as u32), "{first:x} + {counter:x}");
    }
}
