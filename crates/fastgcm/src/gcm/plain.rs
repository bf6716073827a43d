//! GCM where nothing is an instruction: four blocks of AES, then four of GHASH, and so on.
//!
//! With AES in hundreds of instructions and a multiplication in a hundred, there is nothing to weave, and nothing to win by many
//! powers of H or by a path for each length. What counts there is a key that is soon ready and code that is small: one power, one loop,
//! operations as calls. The four blocks that a bit-sliced state holds begin with J0, so a message of up to 48 bytes runs AES once.

use super::message::lengths;
#[cfg(test)]
pub(crate) use crate::ghash::proof::fill_one as fill;
use crate::{
    Block,
    ghash::Multiply,
    inout::{InOut, load_bytes},
    isa::Sliced,
    key::Material,
    nonce::J0,
};
use zeroize::Zeroize;

/// Everything that a message needs, from 16, 24 or 32 bytes of key. Nothing of what was there before is left.
pub(crate) fn expand<S: Sliced, M: Multiply<S>>(s: S, _: M, material: &mut Material, key: &[u8]) {
    material.schedule.expand::<S, false>(s, key);
    material.powers.fill_one::<S, M>(s, &material.schedule);
}

/// Zeros, where `expand` has written.
pub(crate) fn wipe<S: Sliced>(_: S, material: &mut Material) {
    material.schedule.zeroize();
    material.powers.wipe_one();
}

/// Seals or opens any message with any nonce. Returns the tag.
pub(crate) fn any<S: Sliced, M: Multiply<S>>(s: S, _: M, key: &Material, j0: J0, aad: &[u8], mut text: InOut<'_>, seal: bool) -> Block {
    let lengths = lengths(aad, text.len());
    let hash = absorb::<S, M>(s, key, s.splat(0), aad);

    let mut counter = 0;
    let [mask, pads @ ..] = keystream(s, key, j0, &mut counter);
    let mut hash = apply::<S, M, 3>(s, key, hash, text.take::<S>(3), pads, seal);
    while text.len() > 0 {
        let pads = keystream(s, key, j0, &mut counter);
        hash = apply::<S, M, 4>(s, key, hash, text.take::<S>(4), pads, seal);
    }
    mask ^ finish::<S, M>(s, key, hash, lengths)
}

/// The pre-counter block of a nonce that has not 12 bytes: its GHASH (SP 800-38D, section 7.1, step 2).
pub(crate) fn j0<S: Sliced, M: Multiply<S>>(s: S, _: M, key: &Material, nonce: &[u8]) -> J0 {
    let hash = absorb::<S, M>(s, key, s.splat(0), nonce);
    J0(finish::<S, M>(s, key, hash, lengths(&[], nonce.len())))
}

/// The tag of AAD and ciphertext, without decrypting.
pub(crate) fn tag<S: Sliced, M: Multiply<S>>(s: S, _: M, key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
    let hash = absorb::<S, M>(s, key, s.splat(0), aad);
    let hash = absorb::<S, M>(s, key, hash, ciphertext);
    let [mask, ..] = keystream(s, key, j0, &mut 0);
    mask ^ finish::<S, M>(s, key, hash, lengths(aad, ciphertext.len()))
}

/// AES of the next four counter blocks, the first of all being J0 itself. inc32 is modulo 2^32, without a carry into the nonce
/// (SP 800-38D, section 6.2).
fn keystream<S: Sliced>(s: S, key: &Material, j0: J0, counter: &mut u32) -> [Block; 4] {
    const LOW: Block = u32::MAX as Block;
    let mirrored = j0.0.swap_bytes();
    let block = |i: u32| mirrored & !LOW | (mirrored as u32).wrapping_add(*counter).wrapping_add(i) as Block;
    let blocks = [block(0), block(1), block(2), block(3)].map(Block::swap_bytes);
    *counter = counter.wrapping_add(4);
    s.encrypt(key.powers.sliced(key.schedule.rounds), blocks)
}

/// Up to `N` blocks of text: XOR, and the ciphertext is hashed.
#[inline(always)]
fn apply<S: Sliced, M: Multiply<S>, const N: usize>(
    s: S,
    key: &Material,
    mut hash: S::V,
    mut text: InOut<'_>,
    pads: [Block; N],
    seal: bool,
) -> S::V {
    each!(I in 0 1 2 3 => { if I < N && text.bytes::<S, I>() > 0 {
        let input = text.load::<S, I>(s);
        let output = s.xor(input, s.splat(pads[I]));
        text.store::<S, I>(s, output);
        let ciphertext = if seal { s.keep_first(output, text.bytes::<S, I>()) } else { input };
        hash = times_h::<S, M>(s, key, s.xor(hash, s.byte_swap(ciphertext)));
    } });
    hash
}

/// GHASH goes on over `data`, padded with zeros.
fn absorb<S: Sliced, M: Multiply<S>>(s: S, key: &Material, mut hash: S::V, data: &[u8]) -> S::V {
    for block in data.chunks(16) {
        hash = times_h::<S, M>(s, key, s.xor(hash, s.byte_swap(load_bytes(s, block))));
    }
    hash
}

/// The last block of GHASH, and the hash in the order of the message.
fn finish<S: Sliced, M: Multiply<S>>(s: S, key: &Material, hash: S::V, lengths: Block) -> Block {
    s.fold(s.byte_swap(times_h::<S, M>(s, key, s.xor(hash, s.splat(lengths)))))
}

/// `v` times H.
#[inline(never)]
fn times_h<S: Sliced, M: Multiply<S>>(s: S, key: &Material, v: S::V) -> S::V {
    let (first, second) = key.powers.splat(s, 1);
    M::reduce(s, M::product(s, M::ready(s, v, first, second)), s.splat(key.powers.constants(s, 1)))
}

/// F4: the counter wraps, and carries into each of its bytes, wherever J0 begins: a message would need gigabytes to get there.
#[test]
fn f04_plain_counters_at_every_carry() {
    let s = crate::isa::Portable::<1>::here();
    let mut key = Material::ZERO;
    expand(s, crate::ghash::Winograd, &mut key, &[7; 16]);
    for (first, counter) in [(1, 0xfc), (1, 0xfffc), (1, 0xff_fffc), (1, 0xffff_fff8), (0xffff_fffe, 0), (0xffff_fffe, 0xffff_fffc)] {
        let block = |counter: u32| Block::from_le_bytes(*b"twelve bytes\0\0\0\0") | Block::from(counter.swap_bytes()) << 96;
        let mut next = counter;
        let blocks = keystream(s, &key, J0(block(first)), &mut next);
        let expected = [0, 1, 2, 3].map(|i| key.schedule.encrypt(s, block(first.wrapping_add(counter).wrapping_add(i))));
        assert_eq!((blocks, next.wrapping_sub(counter)), (expected, 4), "{first:x} + {counter:x}");
    }
}
