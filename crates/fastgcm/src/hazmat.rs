//! Parts of protocols that are easily misused: unverified text, one message sealed in parts, AES and CTR
//! without a tag (feature `hazmat`).
//!
//! Nothing here authenticates by itself. Use this module for a protocol that requires it (QUIC's header
//! protection, SRTP, Parquet, OpenSSL's interface). Use [`Key::seal`] to protect data.

#[cfg(feature = "alloc")]
pub use crate::parts::Plan;
use crate::{
    Backend, Block, Error, Key, Nonce, Tag,
    inout::{InOut, part_of_block},
    isa::Frame,
    once,
    row::Ctr,
    running::Running,
    tag::{AnyTag, differ, tags_differ},
};
pub use crate::{
    parts::{PartHash, combine, hash_part, open_part, seal_part, seal_part_to},
    stream::{Aad, Text},
};
use core::{fmt, marker::PhantomData};

/// Returns whether a message with these numbers of bytes of AAD and text is short. The key's back end has
/// separate functions for short messages. An interface that asks this first can keep the code for longer
/// messages, and the stack of that code, elsewhere. Sizes that no buffer has are not short.
#[must_use]
#[inline(always)]
pub fn is_short(key: &Key, aad: usize, text: usize) -> bool {
    // A row is asked about the sizes of slices, so their sums do not wrap.
    aad <= isize::MAX as usize && key.row.is_end(aad, text)
}

/// Opens one message in pieces, and hands out **text that nobody has verified**.
///
/// Text that the owner of the key did not seal must have no effect. So the caller must keep the text private
/// until [`verify`](Self::verify) has returned `Ok`, and must wipe the text if `verify` returns an error.
/// [`Key::open`] needs no such care, and neither does `open_gathered` for text in several buffers.
pub struct UnverifiedOpener<'k, Phase = Text> {
    key: &'k Key,
    running: Running,
    phase: PhantomData<Phase>,
}

impl<'k> UnverifiedOpener<'k, Aad> {
    /// Begins a message that is opened in pieces.
    #[inline]
    pub fn new<'n>(key: &'k Key, nonce: impl Into<Nonce<'n>>) -> Self {
        Self { key, running: Running::begin(key.keyed(), nonce.into()), phase: PhantomData }
    }

    /// Takes the next piece of AAD, which may be empty.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::AAD`](crate::limits::AAD) bytes. The message does not take this piece.
    #[inline]
    pub fn aad(&mut self, piece: &[u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.aad(&self.key.material, piece))
    }

    /// Ends the AAD and begins the text.
    #[inline]
    pub fn text(self) -> UnverifiedOpener<'k, Text> {
        UnverifiedOpener { key: self.key, running: self.running, phase: PhantomData }
    }
}

impl UnverifiedOpener<'_, Text> {
    /// Decrypts the next piece of text in place. The text is not verified.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::TEXT`](crate::limits::TEXT) bytes. The piece is untouched, and the message does not take it.
    #[inline]
    pub fn open(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.text(&self.key.material, InOut::in_place(piece), false))
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, which has the same length as `ciphertext`. The text
    /// is not verified.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`open`](Self::open) does. `text` is untouched, and the message does not take the piece.
    #[inline]
    pub fn open_to(&mut self, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let piece = InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(&self.key.material, piece, false))
    }

    /// Ends the message, and verifies its tag. If it returns `Ok`, the text is what was sealed.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if `tag` is not the tag of the message. The caller must
    /// then wipe all text that it has received.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.running.finish(&self.key.material), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

impl<Phase> fmt::Debug for UnverifiedOpener<'_, Phase> {
    /// Writes the key's length and back end, and nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnverifiedOpener").field(self.key).finish()
    }
}

/// One message in pieces, to seal or to open, that borrows no key: each call must name the same key. The type
/// is for interfaces that keep key and message apart and check the order of calls themselves (C's,
/// OpenSSL's). Other programs use [`Sealer`](crate::Sealer) and [`UnverifiedOpener`], whose rules hold here
/// too.
///
/// A call fails with [`OutOfOrder`](Error::OutOfOrder) and does nothing if AAD comes after text, if anything
/// comes after the end, or if the key has another back end. A `Pieces` does not notice another key of the
/// same back end; the message then cannot be opened.
pub struct Pieces {
    running: Running,
    phase: Phase,
}

/// What a message takes next.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Aad,
    Text,
    Ended,
}

impl Pieces {
    /// Begins a message.
    #[inline]
    pub fn new<'n>(key: &Key, nonce: impl Into<Nonce<'n>>) -> Self {
        Self { running: Running::begin(key.keyed(), nonce.into()), phase: Phase::Aad }
    }

    /// Returns a copy of this state. **Only one of the two may seal text**: two texts under one nonce give
    /// away each other and the hash key.
    pub fn duplicate(&self) -> Self {
        Self { running: self.running.clone(), phase: self.phase }
    }

    /// Takes the next piece of AAD, which may be empty.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::AAD`](crate::limits::AAD) bytes, or `OutOfOrder`. The message does not take this piece.
    #[inline]
    pub fn aad(&mut self, key: &Key, piece: &[u8]) -> Result<(), Error> {
        self.follows(key, self.phase == Phase::Aad)?;
        Frame::wiped_after_all(|| self.running.aad(&key.material, piece))
    }

    /// Encrypts the next piece of text in place.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::TEXT`](crate::limits::TEXT) bytes, or `OutOfOrder`. The piece is untouched, and the message
    /// does not take it.
    #[inline]
    pub fn seal(&mut self, key: &Key, piece: &mut [u8]) -> Result<(), Error> {
        self.text(key, Some(InOut::in_place(piece)), true)
    }

    /// Encrypts the next piece of text, `piece`, to `ciphertext`, which has the same length as `piece`.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ. Otherwise fails like
    /// [`seal`](Self::seal). Nothing is written, and the message does not take the piece.
    #[inline]
    pub fn seal_to(&mut self, key: &Key, piece: &[u8], ciphertext: &mut [u8]) -> Result<(), Error> {
        self.text(key, InOut::copying(piece, ciphertext), true)
    }

    /// Decrypts the next piece of text in place. The text is not verified.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal).
    #[inline]
    pub fn open(&mut self, key: &Key, piece: &mut [u8]) -> Result<(), Error> {
        self.text(key, Some(InOut::in_place(piece)), false)
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, which has the same length as `ciphertext`. The text
    /// is not verified.
    ///
    /// # Errors
    /// Fails like [`seal_to`](Self::seal_to).
    #[inline]
    pub fn open_to(&mut self, key: &Key, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        self.text(key, InOut::copying(ciphertext, text), false)
    }

    /// Ends the message, and returns its tag.
    ///
    /// # Errors
    /// Returns `OutOfOrder` if the call comes at the wrong time or the key has another back end.
    #[inline]
    pub fn finish(&mut self, key: &Key) -> Result<Tag, Error> {
        self.end(key, Tag::of)
    }

    /// Ends the message, and compares its tag in constant time with `tag`, which has 16 bytes or the length
    /// of a [`ShortTag`](crate::ShortTag). Only after this call is the text known to be what was sealed.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the tags differ; the caller must then wipe all text
    /// that it has received. Returns [`InvalidLength`](Error::InvalidLength) if `tag` has another length, or
    /// `OutOfOrder`; the message has then not ended.
    #[inline]
    pub fn verify(&mut self, key: &Key, tag: &[u8]) -> Result<(), Error> {
        if !matches!(tag.len(), 4 | 8 | 12..=16) {
            return Err(Error::InvalidLength);
        }
        let wrong = self.end(key, |found| differ(found, part_of_block(tag), tag.len()))?;
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }

    #[inline]
    fn text(&mut self, key: &Key, piece: Option<InOut<'_>>, seal: bool) -> Result<(), Error> {
        self.follows(key, self.phase != Phase::Ended)?;
        let piece = piece.ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(&key.material, piece, seal))?;
        self.phase = Phase::Text;
        Ok(())
    }

    #[inline]
    fn end<T>(&mut self, key: &Key, then: impl FnOnce(Block) -> T) -> Result<T, Error> {
        self.follows(key, self.phase != Phase::Ended)?;
        self.phase = Phase::Ended;
        Ok(Frame::wiped_after_all(|| then(self.running.finish(&key.material))))
    }

    #[inline]
    fn follows(&self, key: &Key, follows: bool) -> Result<(), Error> {
        if follows && self.running.fits(key.keyed()) { Ok(()) } else { Err(Error::OutOfOrder) }
    }
}

impl fmt::Debug for Pieces {
    /// Writes nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}

/// Decrypts a whole message in place, and returns the tag that it should have. **Nobody has verified the
/// text**: the caller must compare the tags (`==` of [`Tag`] does so in constant time), wipe the text if they
/// differ, and show the tag to nobody, because a forger could use it. [`Key::open`] does all of this.
///
/// # Errors
/// Returns [`TooLong`](Error::TooLong) as [`Key::open`] does; `text` is untouched.
#[inline]
pub fn open_unverified<'n>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    text: &mut [u8],
) -> Result<Tag, Error> {
    key.open_inout(nonce.into(), aad, InOut::in_place(text), Tag::of)
}

/// Opens a message as [`open_once`](crate::open_once) does, under a key of 16, 24 or 32 bytes that opens only
/// this message, on the back end `backend`. **Nobody has verified the text.**
///
/// # Errors
/// Returns [`InvalidLength`](Error::InvalidLength) if `key` has another length, or
/// [`Unavailable`](Error::Unavailable) if this machine cannot run the back end. Otherwise fails like
/// [`open_unverified`]. `text` is untouched.
#[inline]
pub fn open_once_unverified<'n>(
    backend: Backend,
    key: &[u8],
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    text: &mut [u8],
) -> Result<Tag, Error> {
    once::decrypt(backend.row()?, key, nonce.into(), aad, InOut::in_place(text), Tag::of)
}

/// Encrypts one block in place with AES (FIPS 197, section 5.1), for example for the mask of QUIC's header
/// protection.
#[inline]
pub fn aes_block(key: &Key, block: &mut [u8; 16]) {
    let (steps, material) = key.keyed();
    *block = steps.aes(material, Block::from_le_bytes(*block), |block| block).to_le_bytes();
}

/// Encrypts each block in place with AES.
#[inline]
pub fn aes_blocks(key: &Key, blocks: &mut [[u8; 16]]) {
    blocks.iter_mut().for_each(|block| aes_block(key, block));
}

/// Encrypts or decrypts `text` in place with CTR (GCTR of SP 800-38D, section 6.5): XORs `text` with the
/// keystream whose first counter block is `counter`. The last four bytes of `counter` are the counter, modulo
/// 2^32. The function authenticates nothing: anybody who can change the ciphertext can flip any bit of the
/// text.
#[inline]
pub fn ctr(key: &Key, counter: &[u8; 16], text: &mut [u8]) {
    key.row.backend.find::<Ctr>().ctr(
        &key.material,
        Block::from_le_bytes(*counter),
        InOut::in_place(text),
        |()| (),
    );
}
