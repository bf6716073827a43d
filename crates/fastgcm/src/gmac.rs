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

/// Authenticates data without encrypting them. [`Key::gmac`] returns a `Gmac`.
///
/// As for any message, a nonce must not be used twice: two tags under one nonce give away the hash key.
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
    /// A nonce of 96 bits. With any other nonce, `running` is there from the beginning.
    nonce: Nonce96,
    first: Option<First>,
    /// Present from the second piece on, or after a long first piece.
    running: Option<Running>,
}

/// A first piece. It has been authenticated, in one call, as if it were the whole message, because most
/// messages have no other piece. If another piece follows, the work starts again from this copy.
struct First {
    data: [u8; FIRST],
    len: usize,
    tag: Block,
}

/// The most bytes that a `First` holds.
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
    /// Returns [`TooLong`](Error::TooLong) if all pieces together have more than
    /// [`limits::AAD`](crate::limits::AAD) bytes. The message does not take this piece.
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
                // The piece is short, so there is no error.
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
    /// Returns [`Unauthentic`](Error::Unauthentic) if the two tags differ.
    #[inline]
    pub fn verify(mut self, tag: &impl AnyTag) -> Result<(), Error> {
        let wrong = Frame::wiped_after_all(|| tags_differ(self.tag(), tag));
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }
}

/// Returns the state to which pieces are added, and begins it if it does not exist yet.
#[inline]
fn begun<'r>(running: &'r mut Option<Running>, key: &Key, nonce: Nonce96) -> &'r mut Running {
    running.get_or_insert_with(|| Running::begin(key.keyed(), Nonce(Kind::Public(nonce))))
}

impl Drop for First {
    /// Nobody may have asked for this tag.
    #[inline]
    fn drop(&mut self) {
        self.tag.zeroize();
    }
}

impl fmt::Debug for Gmac<'_> {
    /// Writes the key's length and back end, and nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gmac").field(self.key).finish()
    }
}
