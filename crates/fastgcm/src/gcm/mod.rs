//! GCM, written once for every instruction set: safe code that names no instruction set.
//!
//! One message with a nonce of 96 bits in the standard's terms (SP 800-38D, sections 7.1 and 7.2):
//! ```text
//!  1  expand(key):
//!  2      H         = AES(a block of zeros)
//!  3      powers    = H^1, H^2 ... H^n
//!  4  seal(nonce, aad, text):
//!  5      counter   = 1
//!  6      mask      = AES(nonce || counter)                        this counter block is J0
//!  7      hash      = 0
//!  8      for block in aad, padded with zeros:
//!  9          hash      = (hash ^ block) * H
//! 10      for block in text:
//! 11          counter   = counter + 1                              modulo 2^32
//! 12          keystream = AES(nonce || counter)
//! 13          block     = block ^ keystream                        of a last block that is cut, the bytes that it has
//! 14          hash      = (hash ^ block, padded with zeros) * H
//! 15      hash      = (hash ^ (bits of aad || bits of text)) * H
//! 16      return tag = hash ^ mask
//! 17  open(nonce, aad, text, tag):
//! 18      the same, but line 14 hashes the block before line 13 changes it
//! 19      if the tag is another one: wipe the text, and return an error
//! 20      return the text
//! ```
//! | lines | where they live | why they are less plain |
//! |---|---|---|
//! | 2 | `aes` | the instructions for the rounds also make the round keys |
//! | 3 | `ghash::powers` | each block meets a power of its own, so no product waits for another |
//! | 5, 11 | [`counter`] | counter blocks are one XOR where the counter is public, and additions where it is secret |
//! | 6, 16 | [`tail`] | J0 goes through AES in a lane that the text leaves free |
//! | 8, 9 | [`tail`], [`drive`] | AAD that is not long meets its powers together with the text |
//! | 10 to 14 | [`turn`], [`drive`] | AES and the product use different units of the processor, so eight vectors are encrypted while eight others are hashed |
//! | 10 to 14, the end | [`tail`] | the last one to eight vectors have a class for their number, and one reduction |
//! | 15 | [`lengths`] | the lengths are one more block of the sum |
//! | 18 | everywhere | the direction is a const parameter of the same code |
//! | 19 | `seal` | one branch, on the verdict |
//!
//! [`plan`] decides which way a message goes. A short message is an end ([`tail`]): one pass, one reduction,
//! no loop. A long message has a beginning before its end ([`drive`]). A message in pieces, or with a nonce
//! of another length, is driven step by step. GCM-SIV is in [`siv`](mod@siv), packets side by side are in
//! [`batch`](mod@batch), and [`software`] serves machines without AES instructions.

mod ahead;
mod batch;
mod counter;
pub(crate) mod drive;
mod key;
pub(crate) mod plan;
mod siv;
pub(crate) mod software;
mod tail;
#[cfg(all(test, feature = "internals"))]
// These tests take as long to compile as all others; the check `inside` runs them.
mod tests;
mod turn;

use crate::{
    Block,
    aes::Schedule,
    ghash::{Multiply, PowersForOnce, aad_lanes},
    inout::InOut,
    isa::Isa,
    nonce::Nonce96,
    packet::Packet,
};
use zeroize::Zeroize;

pub(crate) use batch::max_batch;
pub(crate) use drive::{Beginning, SIDE_BY_SIDE};
pub(crate) use key::{WovenMaterial, expand, filled, wipe};
pub(crate) use plan::lengths;
pub(crate) use siv::{siv, turns_ahead as siv_ahead};
pub(crate) use tail::end;

/// Returns the blocks of a vector, or none where AES and GHASH are not woven.
pub(crate) const fn woven_blocks<S: Isa>() -> usize {
    if S::WEAVES { S::BLOCKS } else { 0 }
}

/// Returns whether a message is an end ([`plan`]).
#[inline(always)]
pub(crate) fn is_end<S: Isa>(_: S, aad: usize, text: usize) -> bool {
    plan::is_end(const { plan::max_end(woven_blocks::<S>()) }, aad, text)
}

/// Returns the most bytes of AAD, and of text, of a message that `once` takes: its powers are those of
/// [`PowersForOnce`].
pub(crate) const fn max_once(blocks: usize) -> Option<(usize, usize)> {
    if blocks <= 1 { None } else { Some((16 * aad_lanes(blocks), 16 * blocks)) }
}

/// Seals or opens a short message under a key of 16, 24 or 32 bytes that serves only this message: only the
/// round keys are stored, and they are wiped. Returns the tag.
#[inline(always)]
pub(crate) fn once<S: Isa, M: Multiply<S>>(
    s: S,
    multiply: M,
    key: &[u8],
    nonce: Nonce96,
    aad: &[u8],
    text: InOut<'_>,
    seal: bool,
) -> Block {
    let mut schedule = Schedule::ZERO;
    let h = schedule.expand::<S, true>(s, key);
    let powers = PowersForOnce::new::<M::Short>(s, h);
    let tag = tail::short(s, multiply, &schedule, &powers, nonce, aad, text, seal);
    schedule.zeroize();
    tag
}

/// Seals or opens packets while AAD and text of the next four are as long as those of the first packet, and
/// no longer than [`max_batch`] says. Returns how many packets were done, and how many of their tags are
/// wrong. (Both are numbers: a `bool` would leave with three other bytes in its register, which may be bytes
/// of a tag.)
#[inline(always)]
pub(crate) fn batch<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    multiply: M,
    key: &WovenMaterial,
    packets: &mut [Packet<'_>],
) -> (usize, usize) {
    if const { max_batch(S::BLOCKS).is_some() } {
        batch::batch::<S, M, SEAL>(s, multiply, key, packets)
    } else {
        (0, 0)
    }
}
