//! The rows: what runs a message on this machine, and the single entry into vector code.
//!
//! [`table`] has the rows and finds out which of them this machine can run. [`verbs`] has the list of what a
//! row can do. This module has what a row derives from that list.

mod software;
pub(crate) mod table;
mod verbs;
mod woven;

use crate::{
    Block, Error,
    aes::Material,
    gcm,
    inout::{InOut, made},
    isa::rarely,
    limits,
    nonce::{Kind, Nonce, Nonce96},
    packet::{Packet, TOGETHER},
};
use core::mem::MaybeUninit;
pub(crate) use table::Row;
pub use table::{Backend, UnknownBackend};
#[cfg(feature = "hazmat")]
pub(crate) use verbs::Ctr;
use verbs::{Batches, Once, Rekey};
pub(crate) use verbs::{Derive, Siv, Steps};

impl Row {
    /// Derives what messages need from the bytes of a key, or only what the `one` message with these numbers
    /// of bytes of AAD and text needs. The result is returned by value: a compiler that sees its destination
    /// makes it there.
    #[inline(always)]
    pub(crate) fn derive(&self, key: &[u8], one: Option<(usize, usize)>) -> Material {
        made(|place| self.derive_in(place, key, one))
    }

    /// Does what [`derive`](Self::derive) does, in the final place.
    #[inline(always)]
    pub(crate) fn derive_in<'a>(
        &self,
        place: &'a mut MaybeUninit<Material>,
        key: &[u8],
        one: Option<(usize, usize)>,
    ) -> &'a mut Material {
        self.messages.derive(place, key, one, |made| made)
    }

    /// Derives what messages need, in place of the old contents.
    #[inline(always)]
    pub(crate) fn rekey(&self, material: &mut Material, key: &[u8]) {
        let place = core::ptr::from_mut(material).cast();
        #[allow(unsafe_code)]
        // SAFETY: the key lies there, nobody else borrows it, and the function writes nothing there but bytes
        // of a key.
        let place = unsafe { &mut *place };
        self.backend.find::<Rekey>().expand(place, key, None, |()| ());
    }

    /// Wipes everything that this row has written there.
    #[inline(always)]
    pub(crate) fn wipe(&self, material: &mut Material) {
        self.messages.wipe(material, |()| ());
    }

    /// Returns whether a message is an end. If so, its lengths are within the limits of the standard.
    #[inline(always)]
    pub(crate) fn is_end(&self, aad: usize, text: usize) -> bool {
        gcm::plan::is_end(self.max_end, aad, text)
    }

    /// Seals (`SEAL`) or opens, and returns what `then` makes of the right tag.
    ///
    /// # Errors
    /// Returns `TooLong`.
    #[inline(always)]
    pub(crate) fn message<const SEAL: bool, T>(
        &self,
        material: &Material,
        nonce: Nonce96,
        aad: &[u8],
        text: InOut<'_>,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        let verbs = &self.messages;
        if self.is_end(aad.len(), text.len()) {
            return Ok(if SEAL {
                verbs.seal_end(material, nonce, aad, None, text, |tagged| then(tagged.tag()))
            } else {
                verbs.open_end(material, nonce, aad, None, text, then)
            });
        }
        rarely();
        limits::check(aad.len(), text.len())?;
        Ok(if SEAL {
            verbs.seal(material, nonce, aad, text, |tagged| then(tagged.tag()))
        } else {
            verbs.open(material, nonce, aad, text, then)
        })
    }

    /// Seals or opens a message that is short enough, under a key of its own, and returns what `then` makes
    /// of its tag.
    #[inline(always)]
    pub(crate) fn once<T>(
        &self,
        key: &[u8],
        nonce: Nonce<'_>,
        aad: &[u8],
        text: InOut<'_>,
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Option<T> {
        let (Some((max_aad, max_text)), Kind::Public(nonce)) = (gcm::max_once(self.blocks), nonce.0) else {
            return None;
        };
        let fits = aad.len() <= max_aad && text.len() <= max_text;
        fits.then(|| self.backend.find::<Once>().once(key, nonce, aad, seal, text, then))
    }

    /// Returns whether the first packets go side by side: this row has a way for their lengths, and there are
    /// enough of them. The last packets are hashed with nothing beside them: four of 16 bytes take 0.6 of the
    /// time of four calls, four of 32 bytes take 1.1, eight take 0.8 (Zen 4).
    #[inline(always)]
    pub(crate) fn side_by_side(&self, packets: &[Packet<'_>]) -> bool {
        let (Some((max_aad, max_text)), Some(first)) = (gcm::max_batch(self.blocks), packets.first()) else {
            return false;
        };
        let bytes = first.bytes();
        let enough = if bytes <= 16 { TOGETHER } else { 2 * TOGETHER };
        // Long packets see nothing of this but the first comparison.
        bytes <= max_text
            && first.aad.len() <= max_aad
            && first.lengths().is_some_and(|lengths| {
                packets
                    .get(1..enough)
                    .is_some_and(|others| others.iter().all(|other| other.lengths() == Some(lengths)))
            })
    }

    /// Seals or opens packets, the first of which go [`side_by_side`](Self::side_by_side). Returns how many
    /// were done, from the first on, and how many of their tags are wrong.
    #[inline(always)]
    pub(crate) fn batch(
        &self,
        material: &Material,
        packets: &mut [Packet<'_>],
        seal: bool,
    ) -> (usize, usize) {
        let verbs = self.backend.find::<Batches>();
        if seal {
            verbs.seal_batch(material, packets, |done| done)
        } else {
            verbs.open_batch(material, packets, |done| done)
        }
    }
}
