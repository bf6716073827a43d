//! GMAC: a message without text, whose AAD may come in pieces (SP 800-38D, section 3).

use crate::{
    Block, Error, Key, Nonce, Tag,
    inout::InOut,
    isa::Frame,
    running::Running,
    tag::{AnyTag, tags_differ},
};
use core::fmt;
use zeroize::Zeroize;

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
    first: Option<First>,
}

/// A first piece, which has been authenticated as if it were all, in one call: most messages have no other. If one
/// follows, all begins with this copy.
struct First {
    data: [u8; FIRST],
    len: usize,
    tag: Block,
}

/// The most bytes of such a piece.
const FIRST: usize = 128;

impl Key {
    /// Begins a message that is only authenticated.
    #[inline]
    pub fn gmac<'n>(&self, nonce: impl Into<Nonce<'n>>) -> Gmac<'_> {
        Gmac { key: self, running: Running::begin(self.keyed(), nonce.into()), first: None }
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
        let Key { row, material, .. } = self.key;
        if self.first.is_none()
            && piece.len() <= FIRST
            && row.is_end(piece.len(), 0)
            && let Some(nonce) = self.running.untouched()
        {
            let first = self.first.insert(First { data: [0; FIRST], len: piece.len(), tag: 0 });
            first.data[..piece.len()].copy_from_slice(piece);
            first.tag = row.message::<true, _>(material, nonce, piece, InOut::EMPTY, |tag| tag)?;
            return Ok(());
        }
        Frame::wiped_after_all(|| {
            if let Some(First { data, len, .. }) = &self.first {
                // No error: it is short.
                self.running.aad(material, &data[..*len])?;
                self.first = None;
            }
            self.running.aad(material, piece)
        })
    }

    #[inline]
    fn tag(&mut self) -> Block {
        let material = &self.key.material;
        if let Some(first) = &self.first {
            first.tag
        } else {
            Frame::wiped_after_all(|| self.running.finish(material))
        }
    }

    /// Ends the message, and returns its tag.
    #[inline]
    pub fn finish(mut self) -> Tag {
        Tag::of(self.tag())
    }

    /// Ends the message, and compares its tag with `tag` in constant time.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if `tag` is another one.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.tag(), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

impl Drop for First {
    /// Perhaps nobody has asked for this tag.
    #[inline]
    fn drop(&mut self) {
        self.tag.zeroize();
    }
}

impl fmt::Debug for Gmac<'_> {
    /// The key's length and back end; nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gmac").field(self.key).finish()
    }
}
