//! AES and GHASH in one schedule.

use super::{Engine, KeyOf, Row};
#[cfg(test)]
use crate::ghash::proof;
use crate::{
    Block,
    aes::Schedule,
    gcm::{self, sequential},
    ghash::{Multiply, Powers},
    inout::{Hash, InOut, Room, Unwritten},
    isa::{Frame, Isa},
    material::Material,
    nonce::{J0, Nonce96, Start},
    packet::Packet,
    runs::Text,
};
use core::mem::MaybeUninit;

/// See [`crate::gcm`].
#[derive(Clone, Copy)]
pub(crate) struct Woven<S, M>(pub(crate) S, pub(crate) M);

impl<S: Isa, M: Multiply<S>> Engine for Woven<S, M> {
    type S = S;
    type M = M;
    type Tables = Powers;
    const MOST_SHORT: (usize, usize) = gcm::most_short(S::BLOCKS);
    const MOST_ONCE: Option<(usize, usize)> = gcm::most_once(S::BLOCKS);
    const MOST_BATCH: Option<(usize, usize)> = gcm::most_batch(S::BLOCKS);
    // Vectors of one block have nothing to spread: what is called for the pieces of others would be no faster (5 KB).
    const TURN: Option<usize> = if S::BLOCKS == 1 { None } else { Some(gcm::blocks_of_turn(S::BLOCKS)) };

    #[inline(always)]
    fn enter(frame: Frame<'_>) {
        frame.enter();
    }

    #[inline(always)]
    fn blank(self, place: &mut MaybeUninit<Material>) {
        Material::zero_around(self.0, place, Powers::filled::<S>());
    }

    #[inline(always)]
    fn expand(self, schedule: &mut Schedule, tables: Unwritten<'_, Powers>, key: &[u8], one: Option<(usize, usize)>) {
        gcm::expand(self.0, self.1, schedule, tables, key, one);
    }

    #[inline(always)]
    fn wipe(self, material: &mut KeyOf<Self>) {
        gcm::wipe(self.0, material);
    }

    #[inline(always)]
    fn once(self, key: &[u8], nonce: Nonce96, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
        let mut schedule = Schedule::ZERO;
        gcm::once(self.0, self.1, &mut schedule, key, nonce, aad, text, seal)
    }

    #[inline(always)]
    fn short<const SEAL: bool>(self, row: impl Row<Self>, key: &KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
        gcm::short::<_, _, SEAL>(self.0, self.1, row, key, nonce, aad, text)
    }

    #[inline(always)]
    fn long<'a, const SEAL: bool>(
        self,
        row: impl Row<Self>,
        key: &'a KeyOf<Self>,
        nonce: Nonce96,
        aad: &[u8],
        text: &mut Text<'a>,
    ) -> Block {
        gcm::long::<_, M, SEAL>(self.0, self.1, row, key, nonce, aad, text)
    }

    #[inline(always)]
    fn batch<const SEAL: bool>(self, key: &KeyOf<Self>, packets: &mut [Packet<'_>]) -> (usize, bool) {
        if const { Self::MOST_BATCH.is_some() } { gcm::batch::<S, M, SEAL>(self.0, self.1, key, packets) } else { (0, false) }
    }

    #[inline(always)]
    fn hash(self, key: &KeyOf<Self>, hash: &mut Hash, data: &[u8]) {
        sequential::hash(self.0, self.1, key, hash, data);
    }

    #[inline(always)]
    fn crypt(self, key: &KeyOf<Self>, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>, seal: bool) {
        sequential::crypt(self.0, self.1, key, start, index, hash, text, seal);
    }

    #[inline(always)]
    fn turns<const SEAL: bool>(
        self,
        key: &KeyOf<Self>,
        nonce: Nonce96,
        index: u32,
        hash: &mut Hash,
        room: Option<&mut Room>,
        text: InOut<'_>,
    ) {
        if const { Self::TURN.is_some() } {
            sequential::turns::<_, _, SEAL>(self.0, self.1, key, nonce, index, hash, room, text);
        }
    }

    #[inline(always)]
    fn settle(self, key: &KeyOf<Self>, hash: &mut Hash, room: &Room) {
        sequential::settle(self.0, self.1, key, hash, room);
    }

    #[inline(always)]
    fn piece<'a>(
        self,
        row: impl Row<Self>,
        key: &'a KeyOf<Self>,
        nonce: Nonce96,
        index: u32,
        hash: &mut Hash,
        room: Option<&mut Room>,
        text: InOut<'a>,
        seal: bool,
    ) -> InOut<'a> {
        if seal {
            gcm::piece::<_, M, true>(self.0, self.1, row, key, nonce, index, hash, room, text)
        } else {
            gcm::piece::<_, M, false>(self.0, self.1, row, key, nonce, index, hash, None, text)
        }
    }

    #[inline(always)]
    fn finish(self, key: &KeyOf<Self>, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block {
        sequential::finish(self.0, self.1, key, hash, lengths, j0)
    }

    #[inline(always)]
    fn ctr(self, key: &KeyOf<Self>, first: Block, text: InOut<'_>) {
        sequential::ctr(self.0, key, first, text);
    }

    #[inline(always)]
    fn siv(self, key: &KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: InOut<'_>, given: Option<Block>) -> Block {
        gcm::siv(self.0, self.1, &key.schedule, nonce, aad, text, given)
    }

    #[inline(always)]
    fn aes(self, key: &KeyOf<Self>, block: Block) -> Block {
        sequential::aes(self.0, key, block)
    }

    #[cfg(feature = "internals")]
    #[inline(always)]
    fn parts(self) -> (S, M) {
        (self.0, self.1)
    }

    #[cfg(test)]
    #[inline(always)]
    fn products(self, block: Block, h: Block) -> [[Block; 4]; 2] {
        proof::products(self.0, self.1, block, h)
    }

    #[cfg(test)]
    #[inline(always)]
    fn fill(self, material: &mut KeyOf<Self>, h: Block) {
        proof::fill(self.0, self.1, material, h);
    }
}
