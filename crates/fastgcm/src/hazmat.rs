//! Parts of protocols that are easily misused: text before it is verified, one message sealed in parts, AES
//! and CTR without a tag (feature `hazmat`).
//!
//! Nothing here authenticates by itself. Use it for a protocol that asks for it (QUIC's header protection,
//! SRTP, Parquet, OpenSSL's interface). Use [`Key::seal`] to protect data.

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

/// Returns whether a message with so many bytes of AAD and text is short: the key's back end has functions of
/// their own for short messages. An interface that asks this first can keep the code for longer messages, and
/// its stack, elsewhere. Sizes that no buffer has are not short.
#[must_use]
#[inline(always)]
pub fn is_short(key: &Key, aad: usize, text: usize) -> bool {
    // A row asks about the sizes of slices: their sums do not wrap.
    aad <= isize::MAX as usize && key.row.is_end(aad, text)
}

/// Opens one message in pieces, and hands out **text that nobody has verified**.
///
/// Text that the owner of the key did not seal must have no effect. So the caller keeps the text to itself
/// until [`verify`](Self::verify) has returned `Ok`, and wipes the text if `verify` returns an error.
/// [`Key::open`] needs no such care, and neither does `open_gathered`, for text in several buffers.
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
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::AAD`](crate::limits::AAD)
    /// bytes. This piece is not taken.
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
    /// [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::TEXT`](crate::limits::TEXT) bytes. This piece is untouched and not taken.
    #[inline]
    pub fn open(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.text(&self.key.material, InOut::in_place(piece), false))
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, which has the same length. The text is not verified.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if the lengths differ, `TooLong` as for [`open`](Self::open).
    /// `text` is untouched, and the piece is not taken.
    #[inline]
    pub fn open_to(&mut self, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let piece = InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(&self.key.material, piece, false))
    }

    /// Ends the message, and verifies its tag. On `Ok` the text is what was sealed.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if `tag` is not the tag of the message. The caller must wipe all
    /// text that it has received.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.running.finish(&self.key.material), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

impl<Phase> fmt::Debug for UnverifiedOpener<'_, Phase> {
    /// The key's length and back end; nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnverifiedOpener").field(self.key).finish()
    }
}

/// One message in pieces, to seal or to open, that borrows no key: each call names the same one. It is for
/// interfaces that keep the two apart and see to the order of calls themselves (C's, OpenSSL's); other
/// programs use [`Sealer`](crate::Sealer) and [`UnverifiedOpener`], whose rules hold here too.
///
/// Each call fails with [`OutOfOrder`](Error::OutOfOrder), and does nothing, if AAD comes behind text, if
/// anything comes behind the end, or if the key has another back end. A `Pieces` does not notice another key
/// of the same back end, and the message then cannot be opened.
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
    /// each other away, and the hash key with them.
    pub fn duplicate(&self) -> Self {
        Self { running: self.running.clone(), phase: self.phase }
    }

    /// Takes the next piece of AAD, which may be empty.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::AAD`](crate::limits::AAD)
    /// bytes, or `OutOfOrder`: this one is not taken.
    #[inline]
    pub fn aad(&mut self, key: &Key, piece: &[u8]) -> Result<(), Error> {
        self.follows(key, self.phase == Phase::Aad)?;
        Frame::wiped_after_all(|| self.running.aad(&key.material, piece))
    }

    /// Encrypts the next piece of text in place.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::TEXT`](crate::limits::TEXT) bytes, or `OutOfOrder`: this one is untouched, and not taken.
    #[inline]
    pub fn seal(&mut self, key: &Key, piece: &mut [u8]) -> Result<(), Error> {
        self.text(key, Some(InOut::in_place(piece)), true)
    }

    /// Encrypts the next piece of text, `piece`, to `ciphertext`, of the same length.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if the lengths differ, else as for [`seal`](Self::seal):
    /// nothing is written, and the piece is not taken.
    #[inline]
    pub fn seal_to(&mut self, key: &Key, piece: &[u8], ciphertext: &mut [u8]) -> Result<(), Error> {
        self.text(key, InOut::copying(piece, ciphertext), true)
    }

    /// Decrypts the next piece of text in place. It is not verified.
    ///
    /// # Errors
    /// As for [`seal`](Self::seal).
    #[inline]
    pub fn open(&mut self, key: &Key, piece: &mut [u8]) -> Result<(), Error> {
        self.text(key, Some(InOut::in_place(piece)), false)
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, of the same length. It is not verified.
    ///
    /// # Errors
    /// As for [`seal_to`](Self::seal_to).
    #[inline]
    pub fn open_to(&mut self, key: &Key, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        self.text(key, InOut::copying(ciphertext, text), false)
    }

    /// Ends the message, and returns its tag.
    ///
    /// # Errors
    /// `OutOfOrder`.
    #[inline]
    pub fn finish(&mut self, key: &Key) -> Result<Tag, Error> {
        self.end(key, Tag::of)
    }

    /// Ends the message, and compares its tag in constant time with `tag`, which has 16 bytes, or as many as
    /// a [`ShortTag`](crate::ShortTag). Only now is text known to be what was sealed.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if it is not: all that was handed out must be wiped, by the
    /// caller. [`InvalidLength`](Error::InvalidLength) if `tag` has another length, or `OutOfOrder`: the
    /// message has not ended.
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
    /// Nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}

/// Decrypts a whole message in place, and returns the tag that it should have. **Nobody has verified the
/// text**: the caller compares the tags (`==` of [`Tag`] does so in constant time), wipes the text if they
/// differ, and shows the tag to nobody, because a forger could use it. [`Key::open`] does all of that.
///
/// # Errors
/// [`TooLong`](Error::TooLong) as for [`Key::open`]: `text` is untouched.
#[inline]
pub fn open_unverified<'n>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    text: &mut [u8],
) -> Result<Tag, Error> {
    key.open_inout(nonce.into(), aad, InOut::in_place(text), Tag::of)
}

/// Opens a message under a key of 16, 24 or 32 bytes that is used for this message only, as
/// [`open_once`](crate::open_once) does it, with the back end `backend`.
///
/// # Errors
/// [`InvalidLength`](Error::InvalidLength) if `key` has another length, [`Unavailable`](Error::Unavailable)
/// if this machine cannot run the back end, else as for [`open_unverified`]. `text` is untouched.
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
/// keystream whose first counter block is `counter`. The last four bytes of `counter` count, modulo 2^32. The
/// function authenticates nothing: anybody who can change the ciphertext can flip any bit of the text.
#[inline]
pub fn ctr(key: &Key, counter: &[u8; 16], text: &mut [u8]) {
    key.row.backend.find::<Ctr>().ctr(
        &key.material,
        Block::from_le_bytes(*counter),
        InOut::in_place(text),
        |()| (),
    );
}
