//! A message that comes in pieces: begin, AAD, text, finish.
//!
//! Whatever is not one slice of AAD and one slice of text is made of these four steps: messages in pieces, lists of chunks, GMAC. A piece may end
//! anywhere. Whole blocks go to the row at once, with their hash; what lies between two blocks waits here, with the keystream that is left over.

use crate::{
    Block, Error, Nonce,
    gcm::lengths,
    inout::{Hash, InOut, Room, part_of_block},
    limits,
    material::Material,
    nonce::{Nonce96, Start},
    steps::Steps,
};
use zeroize::{Zeroize, optimization_barrier};

/// The state of such a message. It borrows no key: each call names the same one's material.
#[derive(Clone)]
pub(crate) struct Running {
    /// The row whose form `hash` has.
    steps: &'static Steps,
    start: Start,
    /// GHASH of all whole blocks.
    hash: Hash,
    /// The bytes of the block that is not whole yet, AAD or ciphertext; zeros behind them.
    part: Block,
    /// The keystream of that block.
    pad: Block,
    /// Bytes so far.
    aad: u64,
    text: u64,
}

/// A key, as a row wants it.
pub(crate) type Keyed<'a> = (&'static Steps, &'a Material);

impl Running {
    /// Begins a message with that nonce.
    #[inline]
    pub(crate) fn begin((steps, material): Keyed<'_>, nonce: Nonce<'_>) -> Self {
        Self { steps, start: steps.start(material, nonce), hash: Hash::ZERO, part: 0, pad: 0, aad: 0, text: 0 }
    }

    /// Begins in the middle of the text, with the block at byte `offset`. What follows has a hash of its own, and no AAD.
    #[cfg(any(feature = "hazmat", feature = "rayon"))]
    pub(crate) fn at(keyed: Keyed<'_>, nonce: Nonce<'_>, offset: u64) -> Self {
        debug_assert!(offset.is_multiple_of(16));
        let mut running = Self::begin(keyed, nonce);
        running.text = offset;
        running
    }

    /// GHASH of such a part, of which that was the last byte, padded with zeros to whole blocks.
    #[cfg(any(feature = "hazmat", feature = "rayon"))]
    pub(crate) fn hash_of_part(&mut self, material: &Material) -> Block {
        debug_assert!(self.aad == 0);
        if !self.text.is_multiple_of(16) {
            self.whole(material);
        }
        self.hash.get().swap_bytes()
    }

    /// It was begun with a key of that row.
    #[cfg(feature = "hazmat")]
    #[inline]
    pub(crate) fn fits(&self, (steps, _): Keyed<'_>) -> bool {
        core::ptr::eq(self.steps, steps)
    }

    /// Goes on with AAD. There must have been no text yet.
    ///
    /// # Errors
    /// `TooLong`: nothing has changed.
    #[inline]
    pub(crate) fn aad(&mut self, material: &Material, aad: &[u8]) -> Result<(), Error> {
        debug_assert!(self.text == 0);
        let used = (self.aad % 16) as usize;
        self.aad = Some(self.aad + aad.len() as u64).filter(|all| *all <= limits::AAD).ok_or(Error::TooLong)?;
        self.hash_bytes(material, used, aad);
        Ok(())
    }

    /// Encrypts (`seal`) or decrypts the next piece of text. If there is room in `room`, a turn may wait there. A message has the same room in each
    /// call, or none.
    ///
    /// # Errors
    /// `TooLong`: nothing has changed, and nothing is written.
    #[inline]
    pub(crate) fn text(&mut self, material: &Material, mut room: Option<&mut Room>, text: InOut<'_>, seal: bool) -> Result<(), Error> {
        let (so_far, bytes) = (self.text, text.len() as u64);
        self.text = Some(so_far.saturating_add(bytes)).filter(|all| *all <= limits::TEXT).ok_or(Error::TooLong)?;
        let at_once =
            so_far != 0 && self.steps.crypt_at_once(material, &self.start, so_far, &mut self.hash, room.as_deref_mut(), text, seal);
        if !at_once {
            self.any(material, room, text, seal);
        }
        Ok(())
    }

    /// The same of any piece, which is a part of `self.text` already.
    #[inline(never)]
    fn any(&mut self, material: &Material, mut room: Option<&mut Room>, mut text: InOut<'_>, seal: bool) {
        let so_far = self.text - text.len() as u64;
        if text.len() == 0 {
            return;
        }
        if so_far == 0 {
            self.end_aad(material);
        }
        let used = (so_far % 16) as usize;
        if used != 0 {
            let pad = self.pad >> (8 * used);
            let (read, written) = text.take_bytes(16 - used, |bytes| bytes ^ pad);
            self.part |= (if seal { written } else { read }) << (8 * used);
            if !(self.text - text.len() as u64).is_multiple_of(16) {
                return;
            }
            self.steps.settle(material, &mut self.hash, room.as_deref_mut());
            self.whole(material);
        }
        // The blocks of a message of at most 2^36 - 32 bytes are numbered by 32 bits.
        let mut index = so_far.div_ceil(16) as u32;
        let blocks = text.take_blocks(text.len() / 16);
        if blocks.len() > 0 {
            let behind = index.wrapping_add((blocks.len() / 16) as u32);
            self.steps.crypt(material, &self.start, index, &mut self.hash, room, blocks, seal);
            index = behind;
        }
        if text.len() > 0 {
            self.pad = self.steps.aes(material, self.start.j0().counter_block(index));
            let (read, written) = text.take_bytes(15, |bytes| bytes ^ self.pad);
            self.part = if seal { written } else { read };
        }
    }

    /// Goes on with ciphertext that is only verified, and not decrypted.
    ///
    /// # Errors
    /// `TooLong`: nothing has changed.
    pub(crate) fn verify(&mut self, material: &Material, ciphertext: &[u8]) -> Result<(), Error> {
        let so_far = self.text;
        self.text = Some(so_far.saturating_add(ciphertext.len() as u64)).filter(|all| *all <= limits::TEXT).ok_or(Error::TooLong)?;
        if so_far == 0 && !ciphertext.is_empty() {
            self.end_aad(material);
        }
        self.hash_bytes(material, (so_far % 16) as usize, ciphertext);
        Ok(())
    }

    /// The tag of all that there has been. It is the last call. (The state is not moved: nobody would wipe where it was.)
    #[inline]
    pub(crate) fn finish(&mut self, material: &Material, room: Option<&mut Room>) -> Block {
        self.steps.settle(material, &mut self.hash, room);
        if !self.text.is_multiple_of(16) {
            self.whole(material);
        } else if self.text == 0 {
            self.end_aad(material);
        }
        self.steps.finish(material, &self.hash, lengths(self.aad, self.text), Some(self.start.j0()))
    }

    /// Bytes that are only hashed, behind the `used` ones of the block that is waiting.
    #[inline]
    fn hash_bytes(&mut self, material: &Material, used: usize, bytes: &[u8]) {
        let (first, others) = bytes.split_at(bytes.len().min((16 - used) % 16));
        self.part |= part_of_block(first) << (8 * used);
        if used + first.len() == 16 {
            self.whole(material);
        }
        let (blocks, rest) = others.split_at(others.len() & !15);
        if !blocks.is_empty() {
            self.steps.hash(material, &mut self.hash, blocks);
        }
        if !rest.is_empty() {
            self.part = part_of_block(rest);
        }
    }

    /// AAD is padded with zeros to whole blocks.
    #[inline]
    fn end_aad(&mut self, material: &Material) {
        if !self.aad.is_multiple_of(16) {
            self.whole(material);
        }
    }

    /// The block that has been waiting.
    #[inline]
    fn whole(&mut self, material: &Material) {
        self.steps.hash(material, &mut self.hash, &self.part.to_le_bytes());
        self.part = 0;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.hash.zeroize();
        self.part.zeroize();
        self.pad.zeroize();
        if let Start::Secret(j0) = &mut self.start {
            j0.0.zeroize();
        }
        // The other kind fills what is padding of this one, where the compiler has left what it pleased.
        self.start = Start::Public(Nonce96::ZERO);
        optimization_barrier(self);
    }
}

#[cfg(test)]
mod tests;
