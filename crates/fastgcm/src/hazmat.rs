//! What protocols are made of, and what is easily misused: text before it is verified, AES and CTR without a tag (feature `hazmat`).
//!
//! Nothing here authenticates by itself. Whoever has a protocol that asks for it (QUIC's header protection, SRTP, Parquet, OpenSSL's interface) is
//! right here; whoever wants to protect data is not: that is [`Key::seal`].

pub use crate::stream::{Aad, Text};
use crate::{
    Block, Error, Key, Nonce,
    inout::InOut,
    isa::Frame,
    running::Running,
    tag::{AnyTag, tags_differ},
};
use core::{fmt, marker::PhantomData};

/// Opens one message in pieces, and hands out **text that nobody has verified**.
///
/// Text that was not sealed by the key's owner must have no effect: a caller keeps what it gets to itself until [`verify`](Self::verify) has
/// returned `Ok`, and wipes it if not. [`Key::open`] does that by itself, and so does `open_gathered` for text in several buffers.
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
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::AAD`](crate::limits::AAD) bytes: this one is not taken.
    #[inline]
    pub fn aad(&mut self, piece: &[u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.aad(self.key.keyed(), piece))
    }

    /// Goes on to the text.
    #[inline]
    pub fn text(self) -> UnverifiedOpener<'k, Text> {
        UnverifiedOpener { key: self.key, running: self.running, phase: PhantomData }
    }
}

impl UnverifiedOpener<'_, Text> {
    /// Decrypts the next piece of text in place. It is not verified.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::TEXT`](crate::limits::TEXT) bytes: this one is untouched, and not
    /// taken.
    #[inline]
    pub fn open(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.text(self.key.keyed(), InOut::in_place(piece), false))
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, of the same length. It is not verified.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if the lengths differ, `TooLong` as for [`open`](Self::open): nothing is written, and the piece is not
    /// taken.
    #[inline]
    pub fn open_to(&mut self, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let piece = InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(self.key.keyed(), piece, false))
    }

    /// Ends the message. Only now is its text known to be what was sealed.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if it is not: all that was handed out must be wiped, by the caller.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.running.finish(self.key.keyed()), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

impl<Phase> fmt::Debug for UnverifiedOpener<'_, Phase> {
    /// The key's length and back end; nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnverifiedOpener").field(self.key).finish()
    }
}

/// AES of one block in place (FIPS 197, section 5.1): the mask of QUIC's header protection, for one.
#[inline]
pub fn aes_block(key: &Key, block: &mut [u8; 16]) {
    let (kernels, material) = key.keyed();
    *block = kernels.aes(material, Block::from_le_bytes(*block)).to_le_bytes();
}

/// AES of each block in place.
#[inline]
pub fn aes_blocks(key: &Key, blocks: &mut [[u8; 16]]) {
    blocks.iter_mut().for_each(|block| aes_block(key, block));
}

/// CTR in place (SP 800-38D, section 6.5, GCTR): XOR of `text` with the keystream from `counter` on, whose last four bytes count, modulo 2^32. To
/// encrypt and to decrypt is the same. Nothing is authenticated: who can change the ciphertext can flip any bit of the text.
#[inline]
pub fn ctr(key: &Key, counter: &[u8; 16], text: &mut [u8]) {
    let (kernels, material) = key.keyed();
    kernels.ctr(material, Block::from_le_bytes(*counter), InOut::in_place(text));
}
