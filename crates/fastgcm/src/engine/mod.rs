//! The three ways to run GCM. Each fills the table of a row completely; a row names one, with an instruction set and a multiplication.
//!
//! | engine | for | AES and GHASH |
//! |---|---|---|
//! | [`Woven`] | processors with instructions for both | one schedule: their units work side by side |
//! | [`Sequential`] | where operations go through memory (RISC-V) | one after the other, eight vectors at a time |
//! | [`Software`] | where neither is an instruction | AES of as many blocks as a bit-sliced state has, then GHASH |
//!
//! All functions are inlined into the functions of a row (`entry.rs`), which have the row's target features.

mod sequential;
mod software;
mod woven;

pub(crate) use sequential::Sequential;
pub(crate) use software::Software;
pub(crate) use woven::Woven;

use crate::{
    Block,
    aes::Schedule,
    gcm::Outlined,
    ghash::Multiply,
    inout::{Hash, InOut, Plain, Room, Unwritten},
    isa::{Frame, Isa},
    material::Material,
    nonce::{J0, Nonce96, Start},
    packet::Packet,
    runs::Text,
};
use core::mem::MaybeUninit;

/// One of them. `row` gets at what stands in a function of its own.
pub(crate) trait Engine: Copy {
    /// The vectors of the row.
    type S: Isa;
    /// A multiplication of these vectors by the row's tables.
    type M: Multiply<Self::S>;
    /// What it keeps in a key, beside the round keys.
    type Tables: Plain;

    /// The most bytes of AAD, and of text, of a short message.
    const MOST_SHORT: (usize, usize);
    /// Those of a message that has a way of its own with a fresh key, if it has.
    const MOST_ONCE: Option<(usize, usize)> = None;
    /// The most bytes of AAD, and of text, of packets that go side by side, where they do.
    const MOST_BATCH: Option<(usize, usize)> = None;
    /// Blocks of a turn, where there is a loop for long pieces.
    const TURN: Option<usize> = None;

    /// Said by a function of the row: how deep it reaches.
    fn enter(frame: Frame<'_>);

    /// Zeros in the schedule, and where `expand` writes nothing: of both together no byte is what it was.
    fn blank(self, place: &mut MaybeUninit<Material>);
    /// What any message needs, from 16, 24 or 32 bytes of key, or what the `one` message needs that has so many bytes of AAD and text; in place of what was
    /// there.
    fn expand(self, schedule: &mut Schedule, tables: Unwritten<'_, Self::Tables>, key: &[u8], one: Option<(usize, usize)>);
    /// Zeros, where these have written.
    fn wipe(self, material: &mut KeyOf<Self>);

    /// Seals or opens a message under a key of its own, of the lengths that `MOST_ONCE` allows. Returns the tag, as the next three do.
    #[inline(always)]
    fn once(self, _key: &[u8], _nonce: Nonce96, _aad: &[u8], _text: InOut<'_>, _seal: bool) -> Block {
        unreachable!("there is no such message")
    }
    /// A short message.
    #[inline(always)]
    fn short<const SEAL: bool>(self, row: impl Row<Self>, key: &KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
        self.long::<SEAL>(row, key, nonce, aad, &mut text.into())
    }
    /// Any other. Only a row with `TURN` is given a text in runs.
    fn long<'a, const SEAL: bool>(
        self,
        row: impl Row<Self>,
        key: &'a KeyOf<Self>,
        nonce: Nonce96,
        aad: &[u8],
        text: &mut Text<'a>,
    ) -> Block;

    /// Seals or opens packets while they have the lengths of the first, which `MOST_BATCH` allows, as many as a vector has lanes at a time. Returns
    /// how many, and whether a tag was wrong.
    #[inline(always)]
    fn batch<const SEAL: bool>(self, _key: &KeyOf<Self>, _packets: &mut [Packet<'_>]) -> (usize, bool) {
        (0, false)
    }

    // ---- the same in pieces
    /// GHASH goes on from `hash` over `data`, padded with zeros to whole blocks.
    fn hash(self, key: &KeyOf<Self>, hash: &mut Hash, data: &[u8]);
    /// Encrypts or decrypts a piece of text that begins with block `index`, and goes on with its hash. Whole blocks, or the last piece.
    fn crypt(self, key: &KeyOf<Self>, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>, seal: bool);
    /// Whole turns of a piece that begins with a turn, where there is `TURN`.
    #[inline(always)]
    fn turns<const SEAL: bool>(
        self,
        _key: &KeyOf<Self>,
        _nonce: Nonce96,
        _index: u32,
        _hash: &mut Hash,
        _room: Option<&mut Room>,
        _text: InOut<'_>,
    ) {
    }
    /// Hashes the turn that waits, likewise.
    #[inline(always)]
    fn settle(self, _key: &KeyOf<Self>, _hash: &mut Hash, _room: &Room) {}
    /// The turns of a long piece that begins with a turn, where there is `TURN`. Returns what is left.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    fn piece<'a>(
        self,
        _row: impl Row<Self>,
        _key: &'a KeyOf<Self>,
        _nonce: Nonce96,
        _index: u32,
        _hash: &mut Hash,
        _room: Option<&mut Room>,
        text: InOut<'a>,
        _seal: bool,
    ) -> InOut<'a> {
        text
    }
    /// The lengths, the last block of GHASH, and the hash in the order of the message: the tag, if it is masked by AES of a J0.
    fn finish(self, key: &KeyOf<Self>, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block;
    /// CTR alone, from that counter block on.
    fn ctr(self, key: &KeyOf<Self>, first: Block, text: InOut<'_>);
    /// Seals a message of AES-GCM-SIV under a key that generates keys, or opens it if its tag is `given`. Returns the tag that it should have.
    fn siv(self, key: &KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: InOut<'_>, given: Option<Block>) -> Block;
    /// AES of a block.
    fn aes(self, key: &KeyOf<Self>, block: Block) -> Block;

    // ---- what proofs and variants ask of a row
    /// Its multiplication.
    #[cfg(feature = "internals")]
    fn parts(self) -> (Self::S, Self::M);
    /// Products of numbers.
    #[cfg(test)]
    fn products(self, block: Block, h: Block) -> [[Block; 4]; 2];
    /// Powers of a hash key of the test's choice.
    #[cfg(test)]
    fn fill(self, material: &mut KeyOf<Self>, h: Block);
}

/// A key, as an engine sees it.
pub(crate) type KeyOf<E> = Material<<E as Engine>::Tables>;

/// How the engine of a row gets at the functions of the row.
pub(crate) trait Row<E: Engine>: Outlined<E::S, E::M> + Outlined<E::S, <E::M as Multiply<E::S>>::Short> {}

impl<E: Engine, R: Outlined<E::S, E::M> + Outlined<E::S, <E::M as Multiply<E::S>>::Short>> Row<E> for R {}
