//! A key that counts forgeries.

use crate::{
    Backend, Error, Key, Nonce, Tag,
    limits::{self, Blocks},
    nonces,
};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;

/// A key that opens messages, and stops before somebody who sends forgeries has a chance worth having.
///
/// The key counts the blocks of the messages that it refuses, AAD among them. It fails with
/// [`Exhausted`](Error::Exhausted) before the chance that a forgery succeeds exceeds 2^-57 by the bound of
/// [`Blocks::integrity`]. That is after 2^70 blocks, which nobody refuses by accident;
/// [`with_blocks`](Self::with_blocks) sets another limit, as QUIC does (RFC 9001, section 6.6). A message
/// that opens takes nothing. Tags have 16 bytes: each byte less makes a forgery 256 times as likely.
///
/// Whoever can send forgeries can use up a small limit, so what the program does then must not cost more
/// than the forgeries did.
///
/// ```
/// use fastgcm::{Error, Key, Tag, limits::Blocks, nonces::OpeningKey};
///
/// let mut text = *b"to be sealed";
/// let tag = Key::new(&[7; 32])?.seal([1; 12], b"header", &mut text)?;
/// let mut key = OpeningKey::with_blocks(&[7; 32], Blocks::integrity(124))?; // 8 blocks
/// assert_eq!(key.open([1; 12], b"header", &mut text.clone(), &Tag([0; 16])), Err(Error::Unauthentic));
/// assert_eq!((key.blocks().used(), key.blocks_left()), (1 + 1 + 1, 8 - 3)); // AAD, text, message
/// key.open([1; 12], b"header", &mut text, &tag)?;
/// assert_eq!((&text, key.blocks_left()), (b"to be sealed", 5));
/// assert_eq!(OpeningKey::new(&[7; 32])?.blocks_left(), 1 << 70);
/// # Ok::<(), Error>(())
/// ```
///
/// The key cannot be cloned: a copy would count for itself.
///
/// ```compile_fail,E0599
/// let copy = fastgcm::nonces::OpeningKey::new(&[7; 32]).unwrap().clone();
/// ```
pub struct OpeningKey {
    key: Key,
    blocks: Blocks,
}

impl OpeningKey {
    /// Makes a key of 16, 24 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for a key that may refuse so many blocks.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new).
    pub fn with_blocks(key: &[u8], blocks: Blocks) -> Result<Self, Error> {
        Ok(Self { key: Key::new(key)?, blocks })
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Fails like [`Key::with_backend`].
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: Key::with_backend(key, backend)?, blocks: Blocks::integrity(Blocks::INTEGRITY) })
    }

    /// Opens a message of so many bytes by `open`, and counts its blocks if it is refused.
    #[inline]
    fn counted<T>(
        &mut self,
        aad: usize,
        text: usize,
        open: impl FnOnce(&Key) -> Result<T, Error>,
    ) -> Result<T, Error> {
        limits::check(aad, text)?;
        let blocks = Blocks::refused(aad as u64, text as u64);
        self.blocks.has(blocks)?;
        let opened = open(&self.key);
        if let Err(Error::Unauthentic) = opened {
            self.blocks.take(blocks)?;
        }
        opened
    }

    /// Decrypts `text` in place, as [`Key::open`] does.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if fewer blocks are left than a message of these lengths takes
    /// when it is refused; `text` is untouched. Otherwise fails like [`Key::open`].
    #[inline]
    pub fn open<'n>(
        &mut self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Error> {
        self.counted(aad.len(), text.len(), |key| key.open(nonce, aad, text, tag))
    }

    /// Does what [`open_prefixed`](nonces::open_prefixed) does, with this key:
    ///
    /// ```
    /// # use fastgcm::{Backend, Error, nonces::{CounterNonces, OpeningKey, SealingKey}};
    /// let message = SealingKey::new(&[7; 32], CounterNonces::new(*b"left"))?.seal_vec(b"header", b"text")?;
    /// let mut key = OpeningKey::with_backend(&[7; 32], Backend::detect())?;
    /// assert_eq!(key.open_vec(b"header", &message)?, b"text");
    /// assert_eq!(key.open_prefixed(b"header", &mut message.clone())?, b"text");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// A message that is too short to
    /// be one is refused, and not counted.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) as [`open`](Self::open) does; `buffer` is untouched. Otherwise
    /// fails like [`open_prefixed`](nonces::open_prefixed).
    pub fn open_prefixed<'b>(&mut self, aad: &[u8], buffer: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        let text = text_len(buffer)?;
        self.counted(aad.len(), text, |key| nonces::open_prefixed(key, aad, buffer))
    }

    /// Does what [`open_vec`](nonces::open_vec) does, with this key. A message that is too short to be one is
    /// refused, and not counted.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) as [`open`](Self::open) does. Otherwise fails like
    /// [`open_vec`](nonces::open_vec).
    #[cfg(feature = "alloc")]
    pub fn open_vec(&mut self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let text = text_len(message)?;
        self.counted(aad.len(), text, |key| nonces::open_vec(key, aad, message))
    }

    /// Returns how many blocks of refused messages there were, and how many are left.
    #[inline]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Returns how many blocks are left: `blocks().left()`.
    #[inline]
    pub fn blocks_left(&self) -> u128 {
        self.blocks.left()
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }
}

/// Returns the length of the text between nonce and tag.
#[inline]
fn text_len(message: &[u8]) -> Result<usize, Error> {
    message.len().checked_sub(crate::NONCE_LEN + crate::TAG_LEN).ok_or(Error::Unauthentic)
}

impl fmt::Debug for OpeningKey {
    /// Writes the key's length and back end and the blocks, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpeningKey").field("key", &self.key).field("blocks", &self.blocks).finish()
    }
}
