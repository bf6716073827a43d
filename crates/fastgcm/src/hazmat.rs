//! Parts of protocols that are easily misused: text before it is verified, AES and CTR without a tag (feature `hazmat`).
//!
//! Nothing here authenticates by itself. Use it for a protocol that asks for it (QUIC's header protection, SRTP, Parquet, OpenSSL's interface). Use
//! [`Key::seal`] to protect data.

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
/// Text that the owner of the key did not seal must have no effect. So the caller keeps the text to itself until [`verify`](Self::verify) has
/// returned `Ok`, and wipes the text if `verify` returns an error. [`Key::open`] needs no such care, and neither does `open_gathered`, for text in
/// several buffers.
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
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::AAD`](crate::limits::AAD) bytes. This piece is not taken.
    #[inline]
    pub fn aad(&mut self, piece: &[u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.aad(self.key.keyed(), piece))
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
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::TEXT`](crate::limits::TEXT) bytes. This piece is untouched and not
    /// taken.
    #[inline]
    pub fn open(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.text(self.key.keyed(), InOut::in_place(piece), false))
    }

    /// Decrypts the next piece, `ciphertext`, to `text`, which has the same length. The text is not verified.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if the lengths differ, `TooLong` as for [`open`](Self::open). `text` is untouched, and the piece is not
    /// taken.
    #[inline]
    pub fn open_to(&mut self, ciphertext: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let piece = InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?;
        Frame::wiped_after_all(|| self.running.text(self.key.keyed(), piece, false))
    }

    /// Ends the message, and verifies its tag. On `Ok` the text is what was sealed.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if `tag` is not the tag of the message. The caller must wipe all text that it has received.
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

/// Encrypts one block in place with AES (FIPS 197, section 5.1), for example for the mask of QUIC's header protection.
#[inline]
pub fn aes_block(key: &Key, block: &mut [u8; 16]) {
    let (kernels, material) = key.keyed();
    *block = kernels.aes(material, Block::from_le_bytes(*block)).to_le_bytes();
}

/// Encrypts each block in place with AES.
#[inline]
pub fn aes_blocks(key: &Key, blocks: &mut [[u8; 16]]) {
    blocks.iter_mut().for_each(|block| aes_block(key, block));
}

/// Encrypts or decrypts `text` in place with CTR (GCTR of SP 800-38D, section 6.5): XORs `text` with the keystream whose first counter block is
/// `counter`. The last four bytes of `counter` count, modulo 2^32. The function authenticates nothing: whoever can change the ciphertext can flip
/// any bit of the text.
#[inline]
pub fn ctr(key: &Key, counter: &[u8; 16], text: &mut [u8]) {
    let (kernels, material) = key.keyed();
    kernels.ctr(material, Block::from_le_bytes(*counter), InOut::in_place(text));
}
