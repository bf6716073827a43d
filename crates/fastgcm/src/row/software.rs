//! The bodies of all verbs where neither AES nor GHASH is an instruction: each is a function of
//! [`gcm::software`](crate::gcm::software), in the types of the row. An end is a message like any other, and nothing
//! runs two rounds ahead.

use super::verbs::{Engine, Functions, Has, Rekey, within_row};
use crate::{
    Block,
    aes::Material,
    gcm::{
        Beginning, SIDE_BY_SIDE,
        software::{self, By},
    },
    ghash::Pairs,
    inout::{Hash, InOut, PADS, Plain, Table},
    isa::{Frame, Sliced, TagRegister},
    nonce::{Nonce96, Start},
};
use core::{marker::PhantomData, mem::MaybeUninit};

/// The engine of the row `R`, with an instruction set, a multiplication, and the number of blocks that AES
/// encrypts at a time.
#[derive(Clone, Copy)]
pub(crate) struct Software<'f, S, M, const N: usize, R> {
    pub(crate) s: S,
    pub(crate) m: By<M, N>,
    pub(crate) frame: Frame<'f>,
    pub(crate) row: PhantomData<R>,
}

#[allow(unsafe_code)]
impl<S: Sliced<N, Key: Plain>, M: Pairs<S>, const N: usize, R: Functions + Copy> Engine
    for Software<'_, S, M, N, R>
{
    const BLOCKS: usize = 0;

    #[inline(always)]
    fn enter(self) {
        self.frame.enter_calls();
    }

    #[inline(always)]
    fn derive<'a>(
        self,
        place: &'a mut MaybeUninit<Material>,
        key: &[u8],
        one: Option<(usize, usize)>,
    ) -> &'a mut Material {
        Material::zero_around(self.s, place, software::filled(self.s, self.m));
        within_row!(self, Rekey.expand(place, key, one));
        // SAFETY: both calls together have written each byte.
        unsafe { place.assume_init_mut() }
    }

    #[inline(always)]
    fn expand(self, place: &mut MaybeUninit<Material>, key: &[u8], _: Option<(usize, usize)>) {
        // SAFETY: the place was made blank, or holds another key: the schedule is initialised.
        let (schedule, tables) = unsafe { Material::parts(place) };
        software::expand(self.s, self.m, schedule, tables.zeroed(), key);
    }

    #[inline(always)]
    fn wipe(self, key: &mut Material) {
        software::wipe(self.s, self.m, key.view_mut());
    }

    #[inline(always)]
    fn seal_end(
        self,
        key: &Material,
        nonce: Nonce96,
        aad: &[u8],
        _: Option<&Beginning<'_>>,
        text: InOut<'_>,
    ) -> TagRegister {
        self.seal(key, nonce, aad, text)
    }

    #[inline(always)]
    fn open_end(
        self,
        key: &Material,
        nonce: Nonce96,
        aad: &[u8],
        _: Option<&Beginning<'_>>,
        text: InOut<'_>,
    ) -> Block {
        self.open(key, nonce, aad, text)
    }

    #[inline(always)]
    fn seal(self, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> TagRegister {
        TagRegister::of(software::message(self.s, self.m, key.view(), nonce.into(), aad, text, true))
    }

    #[inline(always)]
    fn open(self, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
        software::message(self.s, self.m, key.view(), nonce.into(), aad, text, false)
    }

    #[inline(always)]
    fn hash(self, key: &Material, hash: &mut Hash, data: &[u8]) {
        software::hash(self.s, self.m, key.view(), hash, data);
    }

    #[inline(always)]
    fn seal_piece(self, key: &Material, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>) {
        software::update(self.s, self.m, key.view(), start, index, hash, text, true);
    }

    #[inline(always)]
    fn open_piece(self, key: &Material, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>) {
        software::update(self.s, self.m, key.view(), start, index, hash, text, false);
    }

    #[inline(always)]
    fn pads(self, key: &Material, start: &Start, index: u32, pads: &mut Table<PADS>) {
        software::pads(self.s, self.m, key.view(), start, index, pads);
    }

    #[inline(always)]
    fn finish(self, key: &Material, hash: &Hash, lengths: Block, start: Option<&Start>) -> Block {
        software::finish(self.s, self.m, key.view(), hash, lengths, start)
    }

    #[inline(always)]
    fn aes(self, key: &Material, block: Block) -> Block {
        software::aes(self.s, self.m, key.view(), block)
    }

    #[inline(always)]
    fn aes_beside(self, key: &Material, blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize) {
        software::aes_beside(self.s, self.m, key.view(), blocks, wanted);
    }

    #[inline(always)]
    fn ctr(self, key: &Material, first: Block, text: InOut<'_>) {
        software::ctr(self.s, self.m, key.view(), first, text);
    }

    #[inline(always)]
    fn siv(
        self,
        key: &Material,
        nonce: Nonce96,
        aad: &[u8],
        given: Option<&Block>,
        text: InOut<'_>,
    ) -> Block {
        software::siv(self.s, self.m, key.view(), nonce, aad, text, given)
    }

    #[cfg(test)]
    #[inline(always)]
    fn products(self, block: Block, h: Block) -> [[Block; 4]; 2] {
        software::products(self.s, self.m.0, block, h)
    }

    #[cfg(test)]
    #[inline(always)]
    fn fill(self, key: &mut Material, h: Block) {
        software::fill(self.s, self.m, key.view_mut(), h);
    }
}
