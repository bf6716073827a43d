//! GMAC: a message without text, whose AAD may come in pieces (SP 800-38D, section 3).

use crate::{
    Block, Error, Key, Nonce, Tag,
    inout::InOut,
    isa::Frame,
    nonce::{Kind, Nonce96},
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
    /// Of 96 bits. With any other nonce `running` is there from the beginning.
    nonce: Nonce96,
    first: Option<First>,
    /// From the second piece on, or from a long one on.
    running: Option<Running>,
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
        let nonce = nonce.into();
        match nonce.0 {
            Kind::Public(nonce) => Gmac { key: self, nonce, first: None, running: None },
            Kind::Any(_) => {
                let running = Some(Running::begin(self.keyed(), nonce));
                Gmac { key: self, nonce: Nonce96::ZERO, first: None, running }
            }
        }
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
        if piece.len() <= FIRST
            && row.is_end(piece.len(), 0)
            && self.first.is_none()
            && self.running.is_none()
        {
            let first = self.first.insert(First { data: [0; FIRST], len: piece.len(), tag: 0 });
            first.data[..piece.len()].copy_from_slice(piece);
            first.tag = row.message::<true, _>(material, self.nonce, piece, InOut::EMPTY, |tag| tag)?;
            return Ok(());
        }
        Frame::wiped_after_all(|| {
            let running = begun(&mut self.running, self.key, self.nonce);
            if let Some(First { data, len, .. }) = &self.first {
                // No error: it is short.
                running.aad(material, &data[..*len])?;
                self.first = None;
            }
            running.aad(material, piece)
        })
    }

    #[inline]
    fn tag(&mut self) -> Block {
        let material = &self.key.material;
        if let Some(first) = &self.first {
            return first.tag;
        }
        Frame::wiped_after_all(|| begun(&mut self.running, self.key, self.nonce).finish(material))
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

/// What pieces go on from, begun if it is not there.
#[inline]
fn begun<'r>(running: &'r mut Option<Running>, key: &Key, nonce: Nonce96) -> &'r mut Running {
    running.get_or_insert_with(|| Running::begin(key.keyed(), Nonce(Kind::Public(nonce))))
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
