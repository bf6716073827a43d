//! Sealing one message in pieces.
//!
//! AAD comes first, then text, then the end; the types enforce this order. A piece may have any length and
//! may end anywhere. Functions for whole messages are faster ([`seal`](crate::seal)). Opening in pieces
//! yields text that nobody has verified (`hazmat::UnverifiedOpener`). The functions of
//! [`gathered`](crate::gathered) open a message that lies in several buffers in one call.

use crate::{Error, Key, Nonce, Tag, inout::InOut, isa::Frame, running::Running};
use core::{fmt, marker::PhantomData};

/// The phase in which a message takes AAD.
#[derive(Debug)]
pub struct Aad(());

/// The phase in which a message takes text.
#[derive(Debug)]
pub struct Text(());

/// Seals one message in pieces (SP 800-38D, section 7.1). [`Key::sealer`] returns a `Sealer`.
///
/// A `Sealer` cannot be cloned, because two texts under one nonce would give each other away. A `Sealer` is
/// wiped when it is dropped. Copies that the compiler makes when it is moved are not wiped.
///
/// ```
/// # use fastgcm::Key;
/// let key = Key::aes128(&[7; 16]);
/// let mut sealer = key.sealer([1; 12]);
/// sealer.aad(b"head")?;
/// sealer.aad(b"er")?;
/// let mut sealer = sealer.text();
/// let (mut first, mut second) = (*b"a text in ", *b"two pieces");
/// sealer.seal(&mut first)?;
/// sealer.seal(&mut second)?;
/// let tag = sealer.finish();
///
/// let mut text = [first, second].concat();
/// key.open([1; 12], b"header", &mut text, &tag)?;
/// assert_eq!(text, b"a text in two pieces");
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub struct Sealer<'k, Phase = Text> {
    key: &'k Key,
    running: Running,
    phase: PhantomData<Phase>,
}

impl Key {
    /// Begins a message that is sealed in pieces.
    #[inline]
    pub fn sealer<'n>(&self, nonce: impl Into<Nonce<'n>>) -> Sealer<'_, Aad> {
        Sealer { key: self, running: Running::begin(self.keyed(), nonce.into()), phase: PhantomData }
    }
}

impl<'k> Sealer<'k, Aad> {
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
    pub fn text(self) -> Sealer<'k, Text> {
        Sealer { key: self.key, running: self.running, phase: PhantomData }
    }
}

impl Sealer<'_, Text> {
    /// Encrypts the next piece of text in place.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::TEXT`](crate::limits::TEXT) bytes. The piece is untouched, and the message does not take it.
    #[inline]
    pub fn seal(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.text(&self.key.material, InOut::in_place(piece), true))
    }

    /// Encrypts the next piece of text, `piece`, to `ciphertext`, which has the same length as `piece`.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`seal`](Self::seal) does. `ciphertext` is untouched, and the message does not take the piece.
    #[inline]
    pub fn seal_to(&mut self, piece: &[u8], ciphertext: &mut [u8]) -> Result<(), Error> {
        let piece = InOut::copying(piece, ciphertext).ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(&self.key.material, piece, true))
    }

    /// Ends the message, and returns its tag.
    #[inline]
    pub fn finish(mut self) -> Tag {
        Tag::of(Frame::wiped_after_all(|| self.running.finish(&self.key.material)))
    }
}

impl<Phase> fmt::Debug for Sealer<'_, Phase> {
    /// Writes the key's length and back end, and nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sealer").field(self.key).finish()
    }
}
