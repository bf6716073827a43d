//! No instruction for either.

use super::{Engine, KeyOf, Row};
use crate::{
    Block,
    aes::Schedule,
    gcm::software::{self, message},
    ghash::Pairs,
    inout::{Hash, InOut, Unwritten},
    isa::{Frame, Sliced},
    material::Material,
    nonce::{J0, Nonce96, Start},
    runs::Text,
};
use core::mem::MaybeUninit;

/// AES of `N` blocks at a time. See [`crate::gcm::software`].
#[derive(Clone, Copy)]
pub(crate) struct Software<S, M, const N: usize>(pub(crate) S, pub(crate) M);

impl<S: Sliced<N>, M: Pairs<S>, const N: usize> Engine for Software<S, M, N> {
    type S = S;
    type M = M::Multiply;
    type Tables = software::Tables<M::Tables>;
    /// Empty ones alone.
    const MOST_SHORT: (usize, usize) = (0, 0);

    #[inline]
    fn enter(frame: Frame<'_>) {
        frame.enter_calls();
    }

    #[inline]
    fn blank(self, place: &mut MaybeUninit<Material>) {
        Material::zero_around(self.0, place, size_of::<Self::Tables>() / 16);
    }

    #[inline]
    fn expand(self, schedule: &mut Schedule, tables: Unwritten<'_, Self::Tables>, key: &[u8], _: Option<(usize, usize)>) {
        software::expand(self.0, self.1, schedule, tables.zeroed(), key);
    }

    #[inline]
    fn wipe(self, material: &mut KeyOf<Self>) {
        software::wipe(material);
    }

    #[inline]
    fn long<'a, const SEAL: bool>(self, _: impl Row<Self>, key: &'a KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: &mut Text<'a>) -> Block {
        message(self.0, self.1, key, nonce.into(), aad, text.all, SEAL)
    }

    #[inline]
    fn hash(self, key: &KeyOf<Self>, hash: &mut Hash, data: &[u8]) {
        software::hash(self.0, self.1, key, hash, data);
    }

    #[inline]
    fn crypt(self, key: &KeyOf<Self>, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>, seal: bool) {
        software::crypt(self.0, self.1, key, start, index, hash, text, seal);
    }

    #[inline]
    fn finish(self, key: &KeyOf<Self>, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block {
        software::finish(self.0, self.1, key, hash, lengths, j0)
    }

    #[inline]
    fn ctr(self, key: &KeyOf<Self>, first: Block, text: InOut<'_>) {
        software::ctr(self.0, key, first, text);
    }

    /// In line, so that the key of the message stands in the frame of the entry: what is wiped below that is less than a key and the calls behind it.
    #[inline(always)]
    fn siv(self, key: &KeyOf<Self>, nonce: Nonce96, aad: &[u8], text: InOut<'_>, given: Option<Block>) -> Block {
        software::siv(self.0, self.1, key, nonce, aad, text, given)
    }

    #[inline]
    fn aes(self, key: &KeyOf<Self>, block: Block) -> Block {
        software::aes(self.0, key, block)
    }

    #[cfg(feature = "internals")]
    #[inline]
    fn parts(self) -> (S, M::Multiply) {
        (self.0, self.1.multiply())
    }

    #[cfg(test)]
    #[inline]
    fn products(self, block: Block, h: Block) -> [[Block; 4]; 2] {
        software::products(self.0, self.1, block, h)
    }

    #[cfg(test)]
    #[inline]
    fn fill(self, material: &mut KeyOf<Self>, h: Block) {
        software::fill(self.0, self.1, material, h);
    }
}
