//! AES and GHASH one after the other: where operations go through memory there is nothing to weave.

use super::{Engine, KeyOf, Row};
#[cfg(test)]
use crate::ghash::proof;
use crate::{
    Block,
    aes::Schedule,
    gcm::{
        self,
        sequential::{self, message},
    },
    ghash::{Multiply, Powers},
    inout::{Hash, InOut, Unwritten},
    isa::{Frame, Isa},
    material::Material,
    nonce::{J0, Nonce96, Start},
    runs::Text,
};
use core::mem::MaybeUninit;

/// See [`crate::gcm::sequential`].
#[allow(dead_code)] // for a row of RISC-V
#[derive(Clone, Copy)]
pub(crate) struct Sequential<S, M>(pub(crate) S, pub(crate) M);

impl<S: Isa, M: Multiply<S>> Engine for Sequential<S, M> {
    type S = S;
    type M = M;
    type Tables = Powers;
    /// Empty ones alone.
    const MOST_SHORT: (usize, usize) = (0, 0);

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
        sequential::expand(self.0, self.1, schedule, tables, key, one);
    }

    #[inline(always)]
    fn wipe(self, material: &mut KeyOf<Self>) {
        sequential::wipe(self.0, material);
    }

    #[inline(always)]
    fn long<'a, const SEAL: bool>(self, _: impl Row<Self>, key: &'a KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: &mut Text<'a>) -> Block {
        message(self.0, self.1, key, nonce.into(), aad, text.all, SEAL)
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
