//! Functions that seal and open one message.
//!
//! They differ in where the text and the tag lie:
//!
//! | | tag apart | tag behind the text |
//! |---|---|---|
//! | in place | [`seal`](Key::seal), [`open`](Key::open), [`open_restoring`](Key::open_restoring), [`open_verified_first`](Key::open_verified_first) | [`seal_appended`](Key::seal_appended), [`open_appended`](Key::open_appended), [`open_within`](Key::open_within); to a `Vec` that grows [`seal_in_place_append_tag`](Key::seal_in_place_append_tag) |
//! | from one buffer to another | [`seal_detached_to`](Key::seal_detached_to), [`open_detached_to`](Key::open_detached_to) | [`seal_to`](Key::seal_to), [`open_to`](Key::open_to) |
//! | to a new `Vec` | | [`seal_vec`](Key::seal_vec), [`open_vec`](Key::open_vec) |
//!
//! **Opening is one pass**: a function decrypts text while it hashes it, and zeroes the text if the tag is
//! wrong. The caller never sees unverified plaintext, but another thread or process that can see the buffer
//! might. If that matters, use `open_verified_first`, which takes two passes. `open_restoring` takes a second
//! pass only for a refused message, and leaves the ciphertext in the buffer. [`verify`](Key::verify) decrypts
//! nothing.
//!
//! **Nobody else may write to the buffers during a call.** Rust's slices guarantee this. Memory that another
//! process shares, or that came from C, does not guarantee it. A function loads ciphertext twice, to hash it
//! and to decrypt it, so ciphertext that changes in between may be accepted as text that nobody sealed. Copy
//! such memory first.

use crate::{
    Block, Error, Key, Nonce, Tag,
    inout::InOut,
    isa::Frame,
    limits,
    nonce::Kind,
    running::Running,
    tag::{AnyTag, TAG_LEN, tags_differ},
};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::ops::RangeFrom;

impl Key {
    /// Encrypts `text` in place and returns its tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if `text` has more than [`limits::TEXT`] bytes or `aad` has more
    /// than [`limits::AAD`]; `text` is untouched.
    ///
    /// ```
    /// # use fastgcm::Key;
    /// let key = Key::aes256(&[7; 32]);
    /// let mut text = *b"to be sealed";
    /// let tag = key.seal([0; 12], b"header", &mut text)?;
    /// key.open([0; 12], b"header", &mut text, &tag)?;
    /// assert_eq!(&text, b"to be sealed");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[inline(always)]
    pub fn seal<'n>(&self, nonce: impl Into<Nonce<'n>>, aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        self.seal_inout(nonce.into(), aad, InOut::in_place(text)).map(Tag::of)
    }

    /// Decrypts `text` in place. The tag is a [`Tag`] or a [`ShortTag`](crate::ShortTag).
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the key, nonce, AAD, ciphertext or tag does not belong
    /// to a sealed message; `text` is then all zero. Returns [`TooLong`](Error::TooLong) as
    /// [`seal`](Self::seal) does; `text` is untouched.
    #[inline(always)]
    pub fn open<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let wrong =
            self.open_inout(nonce.into(), aad, InOut::in_place(text), |found| tags_differ(found, tag))?;
        verdict(wrong, text)
    }

    /// Decrypts `text` in place, in two passes: the function verifies the tag before it writes anything.
    ///
    /// The function takes about twice as long as [`open`](Self::open): on Zen 5, 1.8 to 2.0 times from 2 KiB
    /// on, and up to 2.5 times for shorter texts.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open). `text` is untouched in every case.
    pub fn open_verified_first<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let nonce = nonce.into();
        self.verify(nonce, aad, text, tag)?;
        self.open(nonce, aad, text, tag)
    }

    /// Decrypts `text` in place, in one pass. If the message is refused, a second pass encrypts the text
    /// again, so `text` is bit for bit what it was even after `Unauthentic`. During the call, another thread
    /// that can see the buffer might see unverified plaintext.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open), but always leaves `text` as it was.
    #[inline]
    pub fn open_restoring<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let nonce = nonce.into();
        if self.open_inout(nonce, aad, InOut::in_place(text), |found| tags_differ(found, tag))? {
            restore(self, nonce, aad, text);
            return Err(Error::Unauthentic);
        }
        Ok(())
    }

    /// Verifies the tag of `ciphertext` without decrypting anything.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if anything differs from what was sealed, or `TooLong` as
    /// [`seal`](Self::seal) does.
    pub fn verify<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        ciphertext: &[u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let nonce = nonce.into();
        limits::check(aad.len(), ciphertext.len())?;
        let wrong = Frame::try_wiped_after_all(|| {
            let mut running = Running::begin(self.keyed(), nonce);
            running.aad(&self.material, aad)?;
            running.verify(&self.material, ciphertext)?;
            Ok(tags_differ(running.finish(&self.material), tag))
        })?;
        if wrong { Err(Error::Unauthentic) } else { Ok(()) }
    }

    /// Encrypts all of `buffer` except its last 16 bytes in place, and writes the tag to those 16 bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `buffer` has fewer than 16 bytes, or
    /// [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does. `buffer` is untouched.
    #[inline(always)]
    pub fn seal_appended<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let (text, tag) = buffer.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::InvalidLength)?;
        *tag = self.seal_inout(nonce.into(), aad, InOut::in_place(text))?.to_le_bytes();
        Ok(())
    }

    /// Decrypts all of `buffer` except its last 16 bytes, the tag, in place, and returns the text.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does, and if `buffer` has fewer
    /// than 16 bytes; all but the last 16 bytes are then zero. Returns [`TooLong`](Error::TooLong) as
    /// [`seal`](Self::seal) does; `buffer` is untouched.
    #[inline(always)]
    pub fn open_appended<'b, 'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        buffer: &'b mut [u8],
    ) -> Result<&'b mut [u8], Error> {
        let (text, tag) = buffer.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::Unauthentic)?;
        // The tag is read last, so the tag of a text that is too long is never read.
        let wrong = self
            .open_inout(nonce.into(), aad, InOut::in_place(text), |found| tags_differ(found, &Tag(*tag)))?;
        verdict(wrong, text)?;
        Ok(text)
    }

    /// Encrypts `text` in place and appends the tag of 16 bytes. ring has a function of this name.
    ///
    /// The function encrypts before the vector grows, so any memory that the vector frees holds only
    /// ciphertext. [`open_appended`](Self::open_appended) and [`open_within`](Self::open_within) open the
    /// result.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does; the vector is untouched.
    ///
    /// ```
    /// # use fastgcm::Key;
    /// let key = Key::aes256(&[7; 32]);
    /// let mut message = b"to be sealed".to_vec();
    /// key.seal_in_place_append_tag([0; 12], b"header", &mut message)?;
    /// assert_eq!(key.open_within([0; 12], b"header", &mut message, 0..)?, b"to be sealed");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn seal_in_place_append_tag<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let tag = self.seal_inout(nonce.into(), aad, InOut::in_place(text))?;
        text.extend_from_slice(&tag.to_le_bytes());
        Ok(())
    }

    /// Decrypts `buffer[sealed]`, which holds ciphertext and tag, in place, moves the text to the beginning
    /// of `buffer`, and returns it. ring has a function of this name.
    ///
    /// Before it decrypts, the function moves the ciphertext over the header or nonce that a protocol puts in
    /// front of it. Afterwards the bytes of `buffer` behind the text are bytes of ciphertext and tag.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `buffer` is then zero where
    /// the text would be. Returns `Unauthentic` also if `buffer[sealed]` has fewer than 16 bytes; `buffer` is
    /// untouched. Returns [`InvalidLength`](Error::InvalidLength) if `sealed.start` is greater than the
    /// length of `buffer`, or [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does; `buffer` is
    /// untouched.
    ///
    /// ```
    /// # use fastgcm::Key;
    /// # let key = Key::aes256(&[7; 32]);
    /// let mut packet = b"header".to_vec();
    /// packet.extend(key.seal_vec([0; 12], b"header", b"text")?);
    /// assert_eq!(key.open_within([0; 12], b"header", &mut packet, 6..)?, b"text");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    pub fn open_within<'b, 'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        buffer: &'b mut [u8],
        sealed: RangeFrom<usize>,
    ) -> Result<&'b mut [u8], Error> {
        let length = buffer.len().checked_sub(sealed.start).ok_or(Error::InvalidLength)?;
        limits::check(aad.len(), length.checked_sub(TAG_LEN).ok_or(Error::Unauthentic)?)?;
        buffer.copy_within(sealed, 0);
        self.open_appended(nonce, aad, &mut buffer[..length])
    }

    /// Encrypts `text` to `ciphertext`, which has the same length as `text`, and returns the tag. The
    /// function copies nothing first.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or [`TooLong`](Error::TooLong)
    /// as [`seal`](Self::seal) does. `ciphertext` is untouched.
    #[inline(always)]
    pub fn seal_detached_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal_inout(nonce.into(), aad, InOut::copying(text, ciphertext).ok_or(Error::InvalidLength)?)
            .map(Tag::of)
    }

    /// Decrypts `ciphertext` to `text`, which has the same length as `ciphertext`.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or [`TooLong`](Error::TooLong)
    /// as [`seal`](Self::seal) does; `text` is untouched.
    #[inline(always)]
    pub fn open_detached_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        ciphertext: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        self.open_apart(nonce.into(), aad, ciphertext, text, |found| tags_differ(found, tag))
    }

    /// Encrypts `text` to `sealed`, which receives ciphertext and tag and is 16 bytes longer than `text`.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) unless `sealed.len() == text.len() + 16`, or
    /// [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does. `sealed` is untouched.
    ///
    /// ```
    /// # use fastgcm::Key;
    /// let key = Key::aes128(&[7; 16]);
    /// let (mut sealed, mut text) = ([0; 20], [0; 4]);
    /// key.seal_to([1; 12], b"", b"text", &mut sealed)?;
    /// key.open_to([1; 12], b"", &sealed, &mut text)?;
    /// assert_eq!(&text, b"text");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[inline(always)]
    pub fn seal_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Error> {
        let (ciphertext, tag) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::InvalidLength)?;
        *tag = self
            .seal_inout(nonce.into(), aad, InOut::copying(text, ciphertext).ok_or(Error::InvalidLength)?)?
            .to_le_bytes();
        Ok(())
    }

    /// Decrypts `sealed`, which holds ciphertext and tag, to `text`, which is 16 bytes shorter.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns `Unauthentic` also if `sealed` is shorter than a tag,
    /// [`InvalidLength`](Error::InvalidLength) unless otherwise `sealed.len() == text.len() + 16`, or
    /// [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does; `text` is untouched.
    #[inline(always)]
    pub fn open_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        sealed: &[u8],
        text: &mut [u8],
    ) -> Result<(), Error> {
        let (ciphertext, tag) = sealed.split_last_chunk::<TAG_LEN>().ok_or(Error::Unauthentic)?;
        // The tag is read last, as in `open_appended`.
        self.open_apart(nonce.into(), aad, ciphertext, text, |found| tags_differ(found, &Tag(*tag)))
    }

    /// Encrypts `text` to a new vector, which holds ciphertext and tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does.
    #[cfg(feature = "alloc")]
    pub fn seal_vec<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &[u8],
    ) -> Result<Vec<u8>, Error> {
        limits::check(aad.len(), text.len())?;
        let mut sealed = alloc::vec![0; text.len() + TAG_LEN];
        self.seal_to(nonce, aad, text, &mut sealed)?;
        Ok(sealed)
    }

    /// Decrypts `sealed`, which holds ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does, and if `sealed` has fewer
    /// than 16 bytes. Returns [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does.
    #[cfg(feature = "alloc")]
    pub fn open_vec<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let length = sealed.len().checked_sub(TAG_LEN).ok_or(Error::Unauthentic)?;
        limits::check(aad.len(), length)?;
        let mut text = alloc::vec![0; length];
        self.open_to(nonce, aad, sealed, &mut text)?;
        Ok(text)
    }

    /// Encrypts, and returns the tag as a number: a `Result` of sixteen bytes is stored in pieces, which
    /// costs 3 to 5 % of a short message. (For that reason `any` gives the tag to a closure: a `Result` that
    /// one of two ways writes to memory lies in memory for both.)
    #[inline(always)]
    pub(crate) fn seal_inout(&self, nonce: Nonce<'_>, aad: &[u8], text: InOut<'_>) -> Result<Block, Error> {
        match nonce.0 {
            Kind::Public(nonce) => self.row.message::<true, _>(&self.material, nonce, aad, text, |tag| tag),
            Kind::Any(_) => {
                let mut tag = 0;
                self.any(nonce, aad, text, true, |made| tag = made)?;
                Ok(tag)
            }
        }
    }

    /// Decrypts from one buffer to another, and wipes the text of a refused message.
    #[inline(always)]
    fn open_apart(
        &self,
        nonce: Nonce<'_>,
        aad: &[u8],
        ciphertext: &[u8],
        text: &mut [u8],
        differs: impl FnOnce(Block) -> bool,
    ) -> Result<(), Error> {
        let wrong = self.open_inout(
            nonce,
            aad,
            InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?,
            differs,
        )?;
        verdict(wrong, text)
    }

    /// Decrypts, and returns what `then` makes of the right tag: whether the caller's tag differs from it.
    /// Only this answer leaves the function: with feature `scrub` the right tag, which a forger could use,
    /// must not outlive the call.
    #[inline(always)]
    pub(crate) fn open_inout<T>(
        &self,
        nonce: Nonce<'_>,
        aad: &[u8],
        text: InOut<'_>,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        match nonce.0 {
            Kind::Public(nonce) => self.row.message::<false, _>(&self.material, nonce, aad, text, then),
            Kind::Any(_) => self.any(nonce, aad, text, false, then),
        }
    }

    fn any<T>(
        &self,
        nonce: Nonce<'_>,
        aad: &[u8],
        text: InOut<'_>,
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        limits::check(aad.len(), text.len())?;
        Frame::try_wiped_after_all(|| {
            let mut running = Running::begin(self.keyed(), nonce);
            running.aad(&self.material, aad)?;
            running.text(&self.material, text, seal)?;
            Ok(then(running.finish(&self.material)))
        })
    }
}

/// Takes one branch, on the verdict, which the caller learns anyway.
#[inline(always)]
pub(crate) fn verdict(wrong: bool, text: &mut [u8]) -> Result<(), Error> {
    if wrong {
        wipe(text);
        return Err(Error::Unauthentic);
    }
    Ok(())
}

/// Turns text back to ciphertext: GCM encrypts by XOR with a keystream, so the same nonce undoes its
/// decryption.
#[cold]
#[inline(never)]
pub(crate) fn restore(key: &Key, nonce: Nonce<'_>, aad: &[u8], text: &mut [u8]) {
    // The lengths have been checked, so the call cannot fail. The tag must neither leave nor stay on the
    // stack: it is the tag that the forger was looking for.
    if Frame::wiped_after_all(|| key.seal(nonce, aad, text).is_err()) {
        text.iter_mut().for_each(|byte| *byte = 0);
    }
}

#[cold]
#[inline(never)]
pub(crate) fn wipe(text: &mut [u8]) {
    text.fill(0);
}
