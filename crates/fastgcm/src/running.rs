//! A message that comes in pieces: begin, AAD, text, finish.
//!
//! Every message that is not one slice of AAD and one slice of text is made of these four steps: messages in
//! pieces, lists of chunks, parts, GMAC, nonces of other lengths. A piece may end anywhere. Whole blocks of a
//! large piece go to the row at once, with their hash. A small piece, or the rest of a large one, takes one
//! XOR with keystream that is made for several blocks at a time; its bytes then wait until a whole turn can
//! be hashed.

use crate::{
    Block, Error, Nonce,
    aes::Material,
    gcm::lengths,
    inout::{Hash, InOut, PADS, Table, WAITING, part_of_block},
    limits,
    nonce::{J0, Kind, Nonce96, Start},
    row::{Row, Steps},
};
use zeroize::{Zeroize, optimization_barrier};

/// The state of a message in pieces. It borrows no key: each call must name the material of one key.
#[derive(Clone)]
pub(crate) struct Running {
    /// The row that determines the form of `hash`.
    steps: &'static Steps,
    start: Start,
    hash: Hash,
    /// Keystream of the next bytes, of which the last `left` bytes are unused.
    pads: Table<PADS>,
    left: usize,
    /// The number of bytes of AAD so far.
    aad: u64,
    text: u64,
}

/// A key as a message in pieces uses it.
pub(crate) type Keyed<'a> = (&'static Steps, &'a Material);

/// The shortest piece, in bytes, that goes to the row.
const LARGE: usize = 16 * PADS;

impl Row {
    /// The steps of any message.
    #[inline]
    pub(crate) fn steps(&self) -> &'static Steps {
        self.backend.find()
    }
}

impl Steps {
    /// Returns where a message with this nonce begins (SP 800-38D, section 7.1, step 2).
    #[inline]
    pub(crate) fn start(&self, material: &Material, nonce: Nonce<'_>) -> Start {
        match nonce.0 {
            Kind::Public(nonce) => Start::Public(nonce),
            Kind::Any(bytes) => {
                let mut hash = Hash::ZERO;
                self.hash(material, &mut hash, bytes, |()| ());
                Start::Secret(J0(self.finish(material, &hash, lengths(0, bytes.len() as u64), None, |j0| j0)))
            }
        }
    }
}

impl Running {
    /// Begins a message with this nonce.
    #[inline]
    pub(crate) fn begin((steps, material): Keyed<'_>, nonce: Nonce<'_>) -> Self {
        Self {
            steps,
            start: steps.start(material, nonce),
            hash: Hash::ZERO,
            pads: Table::ZERO,
            left: 0,
            aad: 0,
            text: 0,
        }
    }

    /// Begins in the middle of the text, with the block at byte `offset`. The text from there on has a hash
    /// of its own, and no AAD.
    #[cfg(any(feature = "hazmat", feature = "rayon"))]
    pub(crate) fn at(keyed: Keyed<'_>, nonce: Nonce<'_>, offset: u64) -> Self {
        debug_assert!(offset.is_multiple_of(16));
        let mut running = Self::begin(keyed, nonce);
        running.text = offset;
        running
    }

    /// Returns GHASH of such a part after its last byte, padded with zeros to whole blocks.
    #[cfg(any(feature = "hazmat", feature = "rayon"))]
    pub(crate) fn hash_of_part(&mut self, material: &Material) -> Block {
        debug_assert!(self.aad == 0);
        self.steps.hash(material, &mut self.hash, &[], |()| ());
        self.hash.get().swap_bytes()
    }

    /// Returns whether the message was begun with a key of this row.
    #[cfg(feature = "hazmat")]
    #[inline]
    pub(crate) fn fits(&self, (steps, _): Keyed<'_>) -> bool {
        core::ptr::eq(self.steps, steps)
    }

    /// Takes more AAD. There must have been no text yet.
    ///
    /// # Errors
    /// Returns `TooLong`; nothing has then changed.
    #[inline]
    pub(crate) fn aad(&mut self, material: &Material, aad: &[u8]) -> Result<(), Error> {
        debug_assert!(self.text == 0);
        self.aad = Some(self.aad.saturating_add(aad.len() as u64))
            .filter(|all| *all <= limits::AAD)
            .ok_or(Error::TooLong)?;
        self.absorb(material, aad);
        Ok(())
    }

    /// Encrypts (`seal`) or decrypts the next piece of text.
    ///
    /// # Errors
    /// Returns `TooLong`; nothing has then changed, and nothing is written.
    #[inline]
    pub(crate) fn text(&mut self, material: &Material, mut text: InOut<'_>, seal: bool) -> Result<(), Error> {
        let (so_far, n) = (self.goes_on(text.len())?, text.len());
        if n <= self.left.min(16).min(WAITING - self.hash.filled()) {
            self.apply(&mut text, n, seal);
        } else {
            self.any(material, so_far, &mut text, seal);
        }
        Ok(())
    }

    /// Takes any piece that is not wholly inside one block. (The text comes by reference: a copy would read
    /// two pointers that have just been stored as one vector, and would wait for both.)
    #[inline(never)]
    fn any(&mut self, material: &Material, so_far: u64, text: &mut InOut<'_>, seal: bool) {
        // The blocks of a message of at most 2^36 - 32 bytes are numbered by 32 bits.
        let mut index = (so_far + self.left as u64).div_ceil(16) as u32;
        self.apply_all(material, text, seal);
        if text.len() >= LARGE {
            let whole = text.take_blocks(text.len() / 16);
            let behind = index.wrapping_add((whole.len() / 16) as u32);
            if seal {
                self.steps.seal_piece(material, &self.start, index, &mut self.hash, whole, |()| ());
            } else {
                self.steps.open_piece(material, &self.start, index, &mut self.hash, whole, |()| ());
            }
            index = behind;
        }
        if text.len() > 0 {
            self.steps.pads(material, &self.start, index, &mut self.pads, |()| ());
            self.left = LARGE;
            self.apply_all(material, text, seal);
        }
    }

    /// Takes more ciphertext, which is only verified and not decrypted.
    ///
    /// # Errors
    /// Returns `TooLong`; nothing has then changed.
    pub(crate) fn verify(&mut self, material: &Material, ciphertext: &[u8]) -> Result<(), Error> {
        self.goes_on(ciphertext.len())?;
        self.absorb(material, ciphertext);
        Ok(())
    }

    /// Returns the tag of the whole message. This must be the last call. (The state is not moved, because
    /// nobody would wipe its old place.)
    #[inline]
    pub(crate) fn finish(&mut self, material: &Material) -> Block {
        let lengths = lengths(self.aad, self.text);
        if self.hash.filled() > 0 {
            self.steps.hash(material, &mut self.hash, &[], |()| ());
        }
        self.steps.finish(material, &self.hash, lengths, Some(&self.start), |tag| tag)
    }

    /// Counts `bytes` more bytes of text, and returns how many there were before. The first text ends the
    /// AAD, which is padded with zeros to whole blocks.
    #[inline]
    fn goes_on(&mut self, bytes: usize) -> Result<u64, Error> {
        let so_far = self.text;
        self.text = Some(so_far.saturating_add(bytes as u64))
            .filter(|all| *all <= limits::TEXT)
            .ok_or(Error::TooLong)?;
        if so_far == 0 && bytes > 0 {
            self.hash.pad();
        }
        Ok(so_far)
    }

    /// Encrypts or decrypts the next bytes with the keystream that is left.
    #[inline]
    fn apply_all(&mut self, material: &Material, text: &mut InOut<'_>, seal: bool) {
        while text.len() > 0 && self.left > 0 {
            let n = self.room(material, text.len().min(self.left));
            self.apply(text, n, seal);
        }
    }

    /// Encrypts or decrypts the next `n` bytes with that keystream, a block at most.
    #[inline]
    fn apply(&mut self, text: &mut InOut<'_>, n: usize, seal: bool) {
        let pad = self.pads.part_of_block(LARGE - self.left, n);
        let (read, written) = text.take_bytes(n, |bytes| bytes ^ pad);
        self.hash.wait(if seal { written } else { read }, n);
        self.left -= n;
    }

    /// Returns how many of `n` bytes may wait, up to a block of them and at least one.
    #[inline]
    fn room(&mut self, material: &Material, n: usize) -> usize {
        if self.hash.filled() == WAITING {
            self.steps.hash(material, &mut self.hash, &[], |()| ());
        }
        n.min(16).min(WAITING - self.hash.filled())
    }

    /// Takes bytes that are only hashed.
    #[inline]
    fn absorb(&mut self, material: &Material, mut bytes: &[u8]) {
        if bytes.len() >= LARGE {
            let (ahead, behind) = bytes.split_at(self.hash.filled().wrapping_neg() % 16);
            self.wait(material, ahead);
            let (blocks, rest) = behind.split_at(behind.len() & !15);
            self.steps.hash(material, &mut self.hash, blocks, |()| ());
            bytes = rest;
        }
        self.wait(material, bytes);
    }

    /// Lets bytes wait to be hashed.
    #[inline]
    fn wait(&mut self, material: &Material, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let n = self.room(material, bytes.len());
            let (these, rest) = bytes.split_at(n);
            self.hash.wait(part_of_block(these), n);
            bytes = rest;
        }
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        // If no bytes came, there is nothing to wipe but a J0.
        if self.aad | self.text > 0 {
            self.hash.zeroize();
            self.pads.zeroize();
        }
        if let Start::Secret(j0) = &mut self.start {
            j0.0.zeroize();
        }
        // The other variant of `Start` also fills what is padding in this one, where the compiler may have
        // left anything.
        self.start = Start::Public(Nonce96::ZERO);
        optimization_barrier(self);
    }
}

#[cfg(test)]
mod tests;
