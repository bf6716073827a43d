//! The bodies of all verbs where AES and GHASH have instructions, or where the row weaves their operations all the
//! same: each is a function of [`gcm`], in the types of the row.

use super::verbs::{Engine, Functions, Has, Messages, Rekey, Siv, Steps, within_row};
use crate::{
    Block,
    aes::{Material, Schedule},
    gcm::{self, Beginning, SIDE_BY_SIDE, drive, plan::AHEAD_PAYS},
    ghash::Multiply,
    inout::{Hash, InOut, PADS, Table},
    isa::{Frame, Isa, TagRegister, rarely},
    nonce::{Nonce96, Start},
    packet::Packet,
};
use core::{hint::assert_unchecked, marker::PhantomData, mem::MaybeUninit};

/// The engine of the row `R`, with an instruction set and a multiplication.
#[derive(Clone, Copy)]
pub(crate) struct Woven<'f, S, M, R> {
    pub(crate) s: S,
    pub(crate) m: M,
    pub(crate) frame: Frame<'f>,
    pub(crate) row: PhantomData<R>,
}

#[allow(unsafe_code)]
impl<S: Isa, M: Multiply<S>, R: Functions + Copy> Engine for Woven<'_, S, M, R> {
    const BLOCKS: usize = gcm::woven_blocks::<S>();

    #[inline(always)]
    fn enter(self) {
        self.frame.enter();
    }

    #[inline(always)]
    fn derive<'a>(
        self,
        place: &'a mut MaybeUninit<Material>,
        key: &[u8],
        one: Option<(usize, usize)>,
    ) -> &'a mut Material {
        Material::zero_around(self.s, place, gcm::filled(self.s));
        within_row!(self, Rekey.expand(place, key, one));
        // SAFETY: both calls together have written each byte.
        unsafe { place.assume_init_mut() }
    }

    #[inline(always)]
    fn expand(self, place: &mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>) {
        // SAFETY: the place was made blank, or holds another key: the schedule is initialised.
        let (schedule, tables) = unsafe { Material::parts(place) };
        gcm::expand(self.s, self.m, schedule, tables, key, one);
    }

    #[inline(always)]
    fn wipe(self, key: &mut Material) {
        gcm::wipe(self.s, key.view_mut());
    }

    #[inline(always)]
    fn seal_end(
        self,
        key: &Material,
        nonce: Nonce96,
        aad: &[u8],
        beginning: Option<&Beginning<'_>>,
        text: InOut<'_>,
    ) -> TagRegister {
        self.assume_end(aad, &text);
        TagRegister::of(gcm::end::<_, _, true>(self.s, self.m, key.view(), nonce, aad, text, beginning))
    }

    #[inline(always)]
    fn open_end(
        self,
        key: &Material,
        nonce: Nonce96,
        aad: &[u8],
        beginning: Option<&Beginning<'_>>,
        text: InOut<'_>,
    ) -> Block {
        self.assume_end(aad, &text);
        gcm::end::<_, _, false>(self.s, self.m, key.view(), nonce, aad, text, beginning)
    }

    #[inline(always)]
    fn seal(self, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> TagRegister {
        TagRegister::of(self.long::<true>(key, nonce, aad, text))
    }

    #[inline(always)]
    fn open(self, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
        self.long::<false>(key, nonce, aad, text)
    }

    #[inline(always)]
    fn seal_ahead(self, key: &Material, nonce: Nonce96, index: u32, hash: &mut Table<4>, text: InOut<'_>) {
        drive::turns_ahead::<_, _, true>(self.s, self.m, key.view(), nonce, index, hash, text);
    }

    #[inline(always)]
    fn open_ahead(self, key: &Material, nonce: Nonce96, index: u32, hash: &mut Table<4>, text: InOut<'_>) {
        drive::turns_ahead::<_, _, false>(self.s, self.m, key.view(), nonce, index, hash, text);
    }

    #[inline(always)]
    fn hash(self, key: &Material, hash: &mut Hash, data: &[u8]) {
        drive::hash(self.s, self.m, key.view(), hash, data);
    }

    #[inline(always)]
    fn seal_piece(self, key: &Material, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>) {
        let flush = |waits: &mut Hash| within_row!(self, Steps.hash(key, waits, &[]));
        let ahead = |nonce, index, hash: &mut Table<4>, text: InOut<'_>| {
            within_row!(self, Messages.seal_ahead(key, nonce, index, hash; text));
        };
        drive::update::<_, _, true>(self.s, self.m, key.view(), start, index, hash, text, flush, ahead);
    }

    #[inline(always)]
    fn open_piece(self, key: &Material, start: &Start, index: u32, hash: &mut Hash, text: InOut<'_>) {
        let flush = |waits: &mut Hash| within_row!(self, Steps.hash(key, waits, &[]));
        let ahead = |nonce, index, hash: &mut Table<4>, text: InOut<'_>| {
            within_row!(self, Messages.open_ahead(key, nonce, index, hash; text));
        };
        drive::update::<_, _, false>(self.s, self.m, key.view(), start, index, hash, text, flush, ahead);
    }

    #[inline(always)]
    fn pads(self, key: &Material, start: &Start, index: u32, pads: &mut Table<PADS>) {
        drive::pads(self.s, key.view(), start, index, pads);
    }

    #[inline(always)]
    fn finish(self, key: &Material, hash: &Hash, lengths: Block, start: Option<&Start>) -> Block {
        drive::finish(self.s, self.m, key.view(), hash, lengths, start)
    }

    #[inline(always)]
    fn aes(self, key: &Material, block: Block) -> Block {
        drive::aes(self.s, key.view(), block)
    }

    #[inline(always)]
    fn aes_beside(self, key: &Material, blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize) {
        drive::aes_beside(self.s, key.view(), blocks, wanted);
    }

    #[inline(always)]
    fn once(self, key: &[u8], nonce: Nonce96, aad: &[u8], seal: bool, text: InOut<'_>) -> Block {
        gcm::once(self.s, self.m, key, nonce, aad, text, seal)
    }

    #[inline(always)]
    fn seal_batch(self, key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) {
        gcm::batch::<_, _, true>(self.s, self.m, key.view(), packets)
    }

    #[inline(always)]
    fn open_batch(self, key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) {
        gcm::batch::<_, _, false>(self.s, self.m, key.view(), packets)
    }

    #[inline(always)]
    fn ctr(self, key: &Material, first: Block, text: InOut<'_>) {
        drive::ctr(self.s, self.m, key.view(), first, text);
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
        gcm::siv(
            self.s,
            self.m,
            &key.schedule,
            nonce,
            aad,
            text,
            given,
            |schedule, first, text| within_row!(self, Siv.siv_ahead(schedule, first; text)),
        )
    }

    #[inline(always)]
    fn siv_ahead(self, schedule: &Schedule, first: Block, text: InOut<'_>) {
        gcm::siv_ahead(self.s, self.m, schedule, first, text);
    }

    #[cfg(test)]
    #[inline(always)]
    fn products(self, block: Block, h: Block) -> [[Block; 4]; 2] {
        crate::ghash::proof::products(self.s, self.m, block, h)
    }

    #[cfg(test)]
    #[inline(always)]
    fn fill(self, key: &mut Material, h: Block) {
        crate::ghash::proof::fill(self.s, self.m, key.view_mut(), h);
    }
}

#[allow(unsafe_code)]
impl<S: Isa, M: Multiply<S>, R: Functions> Woven<'_, S, M, R> {
    /// Seals or opens a message that is not an end: begins it, and hands the rest to the row's function for an
    /// end.
    #[inline(always)]
    fn long<const SEAL: bool>(self, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
        let Self { s, m, .. } = self;
        if const { !S::WEAVES } {
            return drive::message::<_, _, SEAL>(s, m, key.view(), nonce, aad, text);
        }
        let mut beginning = Beginning::new(s, aad.len(), text.len());
        let rest = if text.len() >= AHEAD_PAYS {
            rarely();
            let (mut turns, rest) = drive::begin_ahead(s, m, key.view(), aad, text, &mut beginning);
            if SEAL {
                within_row!(self, Messages.seal_ahead(key, nonce, 0, &mut beginning.hash; turns.here()));
                beginning.pending = Some(turns.last_turn(s));
            } else {
                within_row!(self, Messages.open_ahead(key, nonce, 0, &mut beginning.hash; turns));
            }
            rest
        } else {
            drive::begin::<_, _, SEAL>(s, m, key.view(), nonce, aad, text, &mut beginning)
        };
        if SEAL {
            within_row!(self, Messages.seal_end(key, nonce, &[], Some(&beginning); rest)).tag()
        } else {
            within_row!(self, Messages.open_end(key, nonce, &[], Some(&beginning); rest))
        }
    }

    /// Tells the optimiser that a text is an end: otherwise it would leave bounds checks, and a way to panic,
    /// in 150 instructions.
    #[inline(always)]
    fn assume_end(self, aad: &[u8], text: &InOut<'_>) {
        let is_end = gcm::is_end(self.s, aad.len(), text.len());
        debug_assert!(is_end);
        // SAFETY: `Row::message` calls the verbs of an end only for such lengths. So do `seal` and `open` of the
        // row: they leave at most a turn, without AAD, which is an end (`plan::max_end` asserts it).
        unsafe { assert_unchecked(is_end) };
    }
}
