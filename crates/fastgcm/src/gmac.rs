//! GMAC: a message without text, whose AAD may come in pieces (SP 800-38D, section 3).

use crate::{
    Error, Key, Nonce, Tag,
    isa::Frame,
    running::Running,
    tag::{AnyTag, tags_differ},
};
use core::fmt;

/// Authenticates data without encrypting them. [`Key::gmac`] makes it.
///
/// As for any message, a nonce must not be used twice: two tags under one nonce give the hash key away.
///
/// ```
/// # use fastgcm::Key;
/// let key = Key::aes128(&[7; 16]);
/// let mut mac = key.gmac([1; 12]);
/// mac.update(b"some ")?;
/// mac.update(b"data")?;
/// let tag = mac.finish();
/// # let mut mac = key.gmac([1; 12]);
/// # mac.update(b"some data")?;
/// mac.verify(&tag)?;
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub struct Gmac<'k> {
    key: &'k Key,
    running: Running,
}

impl Key {
    /// Begins a message that is only authenticated.
    #[inline]
    pub fn gmac<'n>(&self, nonce: impl Into<Nonce<'n>>) -> Gmac<'_> {
        Gmac { key: self, running: Running::begin(self.keyed(), nonce.into()) }
    }
}

impl Gmac<'_> {
    /// Takes the next piece of data, which may be empty.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) if all pieces together have more than [`limits::AAD`](crate::limits::AAD)
    /// bytes. This piece is not taken.
    #[inline]
    pub fn update(&mut self, piece: &[u8]) -> Result<(), Error> {
        Frame::wiped_after_all(|| self.running.aad(&self.key.material, piece))
    }

    /// Ends the message, and returns its tag.
    #[inline]
    pub fn finish(mut self) -> Tag {
        Tag::of(Frame::wiped_after_all(|| self.running.finish(&self.key.material)))
    }

    /// Ends the message, and compares its tag with `tag` in constant time.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if `tag` is another one.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.running.finish(&self.key.material), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

impl fmt::Debug for Gmac<'_> {
    /// The key's length and back end; nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gmac").field(self.key).finish()
    }
}
