//! Functions that make a key, use it for one message, and wipe it.
//!
//! A program that derives a key for each message (XAES, envelope encryption, tokens) spends more time on the
//! [`Key`] than on the message: a `Key` holds the 36 powers of the hash key that a long message needs. A
//! short message needs three. So these functions look at the message first.

use crate::{
    Backend, Block, Error, Key, Nonce, Tag,
    inout::InOut,
    isa::try_wiped_after_all,
    key::check,
    nonce::Kind,
    row::Row,
    seal::verdict,
    tag::{AnyTag, tags_differ},
};

/// Encrypts `text` in place under a key that seals only this message, and returns the tag.
///
/// The result equals that of [`Key::new`] and [`Key::seal`]. This function is faster, because it makes only
/// the powers of the hash key that the message needs. `key` has 16, 24 or 32 bytes. The round keys and powers
/// stay on the stack and are wiped.
///
/// # Errors
/// Returns [`InvalidLength`](Error::InvalidLength) if `key` has another length, or
/// [`TooLong`](Error::TooLong) as [`Key::seal`] does. `text` is untouched.
///
/// ```
/// let (key, mut text) = ([7; 32], *b"to be sealed");
/// let tag = fastgcm::seal_once(&key, [0; 12], b"header", &mut text)?;
/// fastgcm::open_once(&key, [0; 12], b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
#[inline]
pub fn seal_once<'n>(
    key: &[u8],
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    text: &mut [u8],
) -> Result<Tag, Error> {
    seal(Backend::best(), key, nonce.into(), aad, InOut::in_place(text), Tag::of)
}

/// Decrypts `text` in place under a key that opens only this message. The result equals that of [`Key::new`]
/// and [`Key::open`].
///
/// # Errors
/// Returns [`Unauthentic`](Error::Unauthentic) as [`Key::open`] does; `text` is then all zero. Returns
/// [`InvalidLength`](Error::InvalidLength) unless `key` has 16, 24 or 32 bytes, or
/// [`TooLong`](Error::TooLong) as [`Key::open`] does; `text` is untouched.
#[inline]
pub fn open_once<'n>(
    key: &[u8],
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    text: &mut [u8],
    tag: &impl AnyTag,
) -> Result<(), Error> {
    open(Backend::best(), key, nonce.into(), aad, text, tag)
}

impl Backend {
    /// Does what [`seal_once`] does, on this back end.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run the back end. Otherwise fails
    /// like [`seal_once`]. `text` is untouched.
    #[inline]
    pub fn seal_once<'n>(
        self,
        key: &[u8],
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<Tag, Error> {
        seal(self.row()?, key, nonce.into(), aad, InOut::in_place(text), Tag::of)
    }

    /// Does what [`open_once`] does, on this back end.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run the back end; `text` is
    /// untouched. Otherwise fails like [`open_once`].
    #[inline]
    pub fn open_once<'n>(
        self,
        key: &[u8],
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        open(self.row()?, key, nonce.into(), aad, text, tag)
    }
}

/// Encrypts, and returns what `then` makes of the tag.
#[inline(always)]
pub(crate) fn seal<T>(
    row: &'static Row,
    key: &[u8],
    nonce: Nonce<'_>,
    aad: &[u8],
    mut text: InOut<'_>,
    then: impl FnOnce(Block) -> T + Copy,
) -> Result<T, Error> {
    check(key)?;
    if let Some(done) = row.once(key, nonce, aad, text.here(), true, then) {
        return Ok(done);
    }
    with_key(row, key, lengths(nonce, aad.len(), text.len()), |key| {
        key.seal_inout(nonce, aad, text).map(then)
    })
}

#[inline(always)]
pub(crate) fn open(
    row: &'static Row,
    key: &[u8],
    nonce: Nonce<'_>,
    aad: &[u8],
    text: &mut [u8],
    tag: &impl AnyTag,
) -> Result<(), Error> {
    verdict(decrypt(row, key, nonce, aad, InOut::in_place(text), |found| tags_differ(found, tag))?, text)
}

/// Decrypts, and returns what `then` makes of the right tag.
#[inline(always)]
pub(crate) fn decrypt<T>(
    row: &'static Row,
    key: &[u8],
    nonce: Nonce<'_>,
    aad: &[u8],
    mut text: InOut<'_>,
    then: impl FnOnce(Block) -> T + Copy,
) -> Result<T, Error> {
    check(key)?;
    if let Some(done) = row.once(key, nonce, aad, text.here(), false, then) {
        return Ok(done);
    }
    with_key(row, key, lengths(nonce, aad.len(), text.len()), |key| key.open_inout(nonce, aad, text, then))
}

/// Seals or opens a message with a key of its own. With feature `scrub` the function also has a frame of its
/// own: the compiler may have copied a key that is returned by value, and nobody else wipes the copy.
#[inline(always)]
fn with_key<T>(
    row: &'static Row,
    key: &[u8],
    one: Option<(usize, usize)>,
    message: impl FnOnce(&Key) -> Result<T, Error>,
) -> Result<T, Error> {
    try_wiped_after_all!(message(&Key::for_one(key, row, one)))
}

/// Returns the lengths that say which powers of H a message needs. A nonce that does not have 12 bytes is
/// hashed too, and may be of any length, so it needs all powers.
fn lengths(nonce: Nonce<'_>, aad: usize, text: usize) -> Option<(usize, usize)> {
    matches!(nonce.0, Kind::Public(_)).then_some((aad, text))
}
