//! Schemes that derive a key of AES-256-GCM for each nonce from a root key: [`xaes`](crate::xaes), and
//! `draft` (feature `draft`).
//!
//! This module holds what the schemes have in common. A few blocks of AES under the root key make the key of
//! the message, and the commitment to the root key if the scheme has one. [`seal_once`](crate::seal_once)
//! then does the rest.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::inout::made_shared;
use crate::{
    Backend, Block, Error, Key,
    gcm::SIDE_BY_SIDE,
    inout::{InOut, Table, made_in},
    isa::Frame,
    once,
    row::{Derive, Row},
    seal::verdict,
    tag::sealed::SchemeTag,
};
#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};
use core::{fmt, mem::MaybeUninit};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A scheme that derives a key for each message. Other crates cannot implement this trait.
pub trait Scheme: sealed::Derives {
    /// The nonces of the scheme: an array of 24 bytes, or of 12.
    type Nonce: Copy + AsRef<[u8]> + AsMut<[u8]> + for<'a> TryFrom<&'a [u8]>;
    /// What authenticates a message: [`Tag`](crate::Tag), or [`CommittingTag`](crate::CommittingTag).
    type Tag: Copy + AsRef<[u8]> + for<'a> TryFrom<&'a [u8]> + SchemeTag;
}

pub(crate) mod sealed {
    use super::{Block, SIDE_BY_SIDE, Table};

    pub trait Derives: Sized {
        const NAME: &'static str;

        /// Returns what the scheme keeps beside the round keys of its root key. `aes` is AES under that root
        /// key.
        fn subkey(aes: impl Fn(Block) -> Block) -> Block;

        /// Leaves the key of the message in the first two of `blocks`, and the commitment in the next two if
        /// the scheme has one. Returns the nonce of the message. `aes` encrypts as many of the first blocks
        /// in place as it is told.
        #[allow(private_bounds, private_interfaces)] // nobody else can name the trait
        fn derive(
            aes: impl Fn(&mut Table<SIDE_BY_SIDE>, usize),
            subkey: Block,
            nonce: &<Self as super::Scheme>::Nonce,
            blocks: &mut Table<SIDE_BY_SIDE>,
        ) -> [u8; 12]
        where
            Self: super::Scheme;
    }
}

/// A root key, from which a scheme derives the key of each message: [`Xaes256Gcm`](crate::Xaes256Gcm),
/// [`KcXaes256Gcm`](crate::KcXaes256Gcm), and with feature `draft` the schemes of `fastgcm::draft`.
///
/// The functions differ in where text and tag lie, as the functions of [`Key`] do ([`seal`](crate::seal)). A
/// tag is an `S::Tag`: 16 bytes, or 48 if the scheme commits to its key. `S::Nonce` is an array of 24 bytes,
/// or of 12.
///
/// **A root key is for one scheme**: do not use its bytes with another scheme.
///
/// The key is wiped when it is dropped. Copies that the compiler makes when it is *moved* are not wiped.
///
/// ```
/// # use fastgcm::KcXaes256Gcm;
/// let key = KcXaes256Gcm::new(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(b"a nonce of 24 bytes.....", b"header", &mut text)?;
/// assert_eq!(tag.len(), 48);
/// key.open(b"a nonce of 24 bytes.....", b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub struct RootKey<S: Scheme> {
    /// Only the round keys of this key are used.
    key: Key,
    subkey: Block,
    scheme: core::marker::PhantomData<S>,
}

impl<S: Scheme> RootKey<S> {
    /// The lengths in bytes of a nonce and of a tag.
    #[cfg(feature = "alloc")]
    const NONCE: usize = size_of::<S::Nonce>();
    const TAG: usize = S::Tag::LEN;

    /// Makes a root key for the best back end of this machine.
    #[inline]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::of(Key::for_aes(key, Backend::best()))
    }

    /// Makes a root key for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`.
    #[inline]
    pub fn with_backend(key: &[u8; 32], backend: Backend) -> Result<Self, Error> {
        Ok(Self::of(Key::for_aes(key, backend.row()?)))
    }

    /// Makes a key in memory of the caller's choice. The key is derived in place, so no move ever copies it.
    /// The caller must drop the key before freeing that memory.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend), and then writes nothing.
    pub fn init_in_place<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8; 32],
        backend: Backend,
    ) -> Result<&'a mut Self, Error> {
        Ok(Self::derive_in(place, key, backend.row()?))
    }

    /// Makes a key behind a counted reference. The key is derived in place, so no move ever copies it.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend).
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    pub fn shared_with_backend(key: &[u8; 32], backend: Backend) -> Result<alloc::sync::Arc<Self>, Error> {
        let row = backend.row()?;
        Ok(made_shared(|place| Self::derive_in(place, key, row)))
    }

    fn derive_in<'a>(place: &'a mut MaybeUninit<Self>, key: &[u8; 32], row: &'static Row) -> &'a mut Self {
        let made = made_in!(
            place,
            Self {
                key: |place| Key::for_aes_in(place, key, row),
                subkey: 0,
                scheme: core::marker::PhantomData
            }
        );
        made.subkey = Self::subkey(&made.key);
        made
    }

    #[inline(always)]
    fn of(key: Key) -> Self {
        let subkey = Self::subkey(&key);
        Self { key, subkey, scheme: core::marker::PhantomData }
    }

    #[inline(always)]
    fn subkey(key: &Key) -> Block {
        S::subkey(|block| key.row.steps().aes(&key.material, block, |block| block))
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }

    /// Encrypts `text` in place and returns its tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) as [`Key::seal`] does; `text` is untouched.
    #[inline]
    pub fn seal(&self, nonce: &S::Nonce, aad: &[u8], text: &mut [u8]) -> Result<S::Tag, Error> {
        self.seal_inout(nonce, aad, InOut::in_place(text))
    }

    /// Decrypts `text` in place.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if anything differs from what was sealed; `text` is then
    /// all zero. Returns `TooLong` as [`seal`](Self::seal) does; `text` is untouched.
    #[inline]
    pub fn open(&self, nonce: &S::Nonce, aad: &[u8], text: &mut [u8], tag: &S::Tag) -> Result<(), Error> {
        let wrong = self.open_inout(nonce, aad, InOut::in_place(text), tag)?;
        verdict(wrong, text)
    }

    /// Encrypts `text` to `ciphertext`, which has the same length as `text`, and returns the tag.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`seal`](Self::seal) does. `ciphertext` is untouched.
    #[inline]
    pub fn seal_detached_to(
        &self,
        nonce: &S::Nonce,
        aad: &[u8],
        text: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<S::Tag, Error> {
        self.seal_inout(nonce, aad, InOut::copying(text, ciphertext).ok_or(Error::InvalidLength)?)
    }

    /// Decrypts `ciphertext` to `text`, which has the same length as `ciphertext`.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`seal`](Self::seal) does; `text` is untouched.
    #[inline]
    pub fn open_detached_to(
        &self,
        nonce: &S::Nonce,
        aad: &[u8],
        ciphertext: &[u8],
        text: &mut [u8],
        tag: &S::Tag,
    ) -> Result<(), Error> {
        let apart = InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?;
        let wrong = self.open_inout(nonce, aad, apart, tag)?;
        verdict(wrong, text)
    }

    /// Encrypts all of `buffer` except its last 16 or 48 bytes in place, and writes the tag to those bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `buffer` is shorter than a tag, or `TooLong` as
    /// [`seal`](Self::seal) does. `buffer` is untouched.
    #[inline]
    pub fn seal_appended(&self, nonce: &S::Nonce, aad: &[u8], buffer: &mut [u8]) -> Result<(), Error> {
        let (text, end) = split_end::<S>(buffer).ok_or(Error::InvalidLength)?;
        end.copy_from_slice(self.seal(nonce, aad, text)?.as_ref());
        Ok(())
    }

    /// Decrypts all of `buffer` except its last bytes, the tag, in place, and returns the text.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does, and if `buffer` is shorter
    /// than a tag; all but the tag is then zero. Returns `TooLong` as [`seal`](Self::seal) does; `buffer` is
    /// untouched.
    #[inline]
    pub fn open_appended<'b>(
        &self,
        nonce: &S::Nonce,
        aad: &[u8],
        buffer: &'b mut [u8],
    ) -> Result<&'b mut [u8], Error> {
        let (text, end) = split_end::<S>(buffer).ok_or(Error::Unauthentic)?;
        self.open(nonce, aad, text, &tag_of::<S>(end)?)?;
        Ok(text)
    }

    /// Encrypts `text` to `sealed`, which receives ciphertext and tag and is one tag longer than `text`.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) unless `sealed` is 16 or 48 bytes longer than `text`,
    /// or `TooLong` as [`seal`](Self::seal) does. `sealed` is untouched.
    #[inline]
    pub fn seal_to(&self, nonce: &S::Nonce, aad: &[u8], text: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        let (ciphertext, end) = split_end::<S>(sealed).ok_or(Error::InvalidLength)?;
        end.copy_from_slice(self.seal_detached_to(nonce, aad, text, ciphertext)?.as_ref());
        Ok(())
    }

    /// Decrypts `sealed`, which holds ciphertext and tag, to `text`, which is one tag shorter.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns `Unauthentic` also if `sealed` is shorter than a tag, [`InvalidLength`](Error::InvalidLength)
    /// unless `text` is otherwise 16 or 48 bytes shorter than `sealed`, or `TooLong` as
    /// [`seal`](Self::seal) does; `text` is untouched.
    #[inline]
    pub fn open_to(&self, nonce: &S::Nonce, aad: &[u8], sealed: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let length = sealed.len().checked_sub(Self::TAG).ok_or(Error::Unauthentic)?;
        let (ciphertext, end) = sealed.split_at(length);
        self.open_detached_to(nonce, aad, ciphertext, text, &tag_of::<S>(end)?)
    }

    /// Encrypts `text` to a new vector, which holds the scheme's ciphertext and tag.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal).
    #[cfg(feature = "alloc")]
    pub fn seal_vec(&self, nonce: &S::Nonce, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        self.seal_behind(&[], nonce, aad, text)
    }

    /// Decrypts `sealed`, which holds ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does, and if `sealed` is shorter
    /// than a tag. Returns `TooLong` as [`seal`](Self::seal) does.
    #[cfg(feature = "alloc")]
    pub fn open_vec(&self, nonce: &S::Nonce, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let length = sealed.len().checked_sub(Self::TAG).ok_or(Error::Unauthentic)?;
        crate::limits::check(aad.len(), length)?;
        let mut text = vec![0; length];
        self.open_to(nonce, aad, sealed, &mut text)?;
        Ok(text)
    }

    /// Decrypts `message`, which holds a nonce, ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does, and if `message` is shorter
    /// than a nonce and a tag. Returns `TooLong` as [`seal`](Self::seal) does.
    #[cfg(feature = "alloc")]
    pub fn open_random_vec(&self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let (nonce, sealed) = message.split_at_checked(Self::NONCE).ok_or(Error::Unauthentic)?;
        let nonce = S::Nonce::try_from(nonce).map_err(|_| Error::Unauthentic)?;
        self.open_vec(&nonce, aad, sealed)
    }

    /// Returns a new vector that holds `front`, ciphertext and tag.
    #[cfg(feature = "alloc")]
    fn seal_behind(&self, front: &[u8], nonce: &S::Nonce, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        crate::limits::check(aad.len(), text.len())?;
        let mut message = vec![0; front.len() + text.len() + Self::TAG];
        message[..front.len()].copy_from_slice(front);
        self.seal_to(nonce, aad, text, &mut message[front.len()..])?;
        Ok(message)
    }

    #[inline(always)]
    fn seal_inout(&self, nonce: &S::Nonce, aad: &[u8], text: InOut<'_>) -> Result<S::Tag, Error> {
        self.with_derived(nonce, |key, nonce, commitment| {
            once::seal(self.key.row, key, nonce.into(), aad, text, |tag| S::Tag::of(tag, commitment))
        })
    }

    /// Decrypts, and returns whether the tag is wrong.
    #[inline(always)]
    fn open_inout(&self, nonce: &S::Nonce, aad: &[u8], text: InOut<'_>, tag: &S::Tag) -> Result<bool, Error> {
        self.with_derived(nonce, |key, nonce, commitment| {
            let differs = |found| tag.differs(found, commitment);
            once::decrypt(self.key.row, key, nonce.into(), aad, text, differs)
        })
    }

    /// Seals or opens a message with what is derived for it: its key, its nonce, its commitment.
    #[inline(always)]
    fn with_derived<T>(
        &self,
        nonce: &S::Nonce,
        message: impl FnOnce(&[u8], [u8; 12], &[Block]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        Frame::try_wiped_after_all(|| {
            let derive = self.key.row.backend.find::<Derive>();
            let aes = |blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize| {
                derive.aes_beside(&self.key.material, blocks, wanted, |()| ());
            };
            let mut derived = Table::ZERO;
            let of_message = S::derive(aes, self.subkey, nonce, &mut derived);
            let commitment = [derived.get(2), derived.get(3)];
            // The key is not copied: the processor would wait for a copy by words.
            let result = message(&derived.bytes()[..32], of_message, &commitment);
            derived.zeroize();
            result
        })
    }
}

#[cfg(feature = "hazmat")]
impl<S: Scheme> RootKey<S> {
    /// Calls `message` with what one message needs: its key of AES-256-GCM, its nonce of 12 bytes, and a tag.
    /// The first 16 bytes of that tag are zero, and the commitment follows if the scheme has one.
    ///
    /// The function is for interfaces that process a message in pieces (OpenSSL's), as [`seal`](Self::seal)
    /// and [`open`](Self::open) would process it whole. **The key is for that one message**. A caller that
    /// opens must compare the commitment with the tag, and a caller that copies the key must wipe the copy.
    ///
    /// The function needs the library's feature `hazmat`.
    ///
    /// # Errors
    /// Returns the errors of `message`.
    #[inline]
    pub fn with_derived_key<T>(
        &self,
        nonce: &S::Nonce,
        message: impl FnOnce(&[u8], [u8; 12], &S::Tag) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.with_derived(nonce, |key, nonce, commitment| message(key, nonce, &S::Tag::of(0, commitment)))
    }
}

#[cfg(feature = "getrandom")]
impl<S: Scheme<Nonce = [u8; 24]>> RootKey<S> {
    /// Encrypts `text` in place under a nonce from the operating system. Returns the nonce, which travels
    /// with the message, and the tag.
    ///
    /// The function needs the library's feature `getrandom`: `fastgcm = { ..., features = ["getrandom"] }`.
    ///
    /// # Errors
    /// Returns [`NoEntropy`](Error::NoEntropy) if the operating system gives no random bytes. Otherwise fails
    /// like [`seal`](Self::seal). `text` is untouched.
    ///
    /// ```
    /// # use fastgcm::KcXaes256Gcm;
    /// let key = KcXaes256Gcm::new(&[7; 32]);
    /// let mut text = *b"to be sealed";
    /// let (nonce, tag) = key.seal_random(b"header", &mut text)?; // send nonce, text and tag
    /// key.open(&nonce, b"header", &mut text, &tag)?;
    /// assert_eq!(&text, b"to be sealed");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[inline]
    pub fn seal_random(&self, aad: &[u8], text: &mut [u8]) -> Result<([u8; 24], S::Tag), Error> {
        let nonce = crate::nonces::random()?;
        Ok((nonce, self.seal(&nonce, aad, text)?))
    }

    /// Encrypts `text` under a nonce from the operating system to a new vector, which holds nonce, ciphertext
    /// and tag and is 40 or 72 bytes longer than the text.
    ///
    /// The function needs the library's feature `getrandom`. [`open_random_vec`](Self::open_random_vec),
    /// which opens the result, does not need it.
    ///
    /// # Errors
    /// Fails like [`seal_random`](Self::seal_random).
    ///
    /// ```
    /// # use fastgcm::KcXaes256Gcm;
    /// let key = KcXaes256Gcm::new(&[7; 32]);
    /// let message = key.seal_random_vec(b"header", b"text")?;
    /// assert_eq!(key.open_random_vec(b"header", &message)?, b"text");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[cfg(feature = "alloc")]
    pub fn seal_random_vec(&self, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        let nonce = crate::nonces::random()?;
        self.seal_behind(&nonce, &nonce, aad, text)
    }
}

/// Splits a buffer into the text and the bytes of the tag behind it.
fn split_end<S: Scheme>(buffer: &mut [u8]) -> Option<(&mut [u8], &mut [u8])> {
    Some(buffer.split_at_mut(buffer.len().checked_sub(S::Tag::LEN)?))
}

fn tag_of<S: Scheme>(bytes: &[u8]) -> Result<S::Tag, Error> {
    S::Tag::try_from(bytes).map_err(|_| Error::InvalidLength)
}

impl<S: Scheme> Clone for RootKey<S> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), ..*self }
    }
}

impl<S: Scheme> Drop for RootKey<S> {
    fn drop(&mut self) {
        self.subkey.zeroize();
    }
}

impl<S: Scheme> ZeroizeOnDrop for RootKey<S> {}

impl<S: Scheme> fmt::Debug for RootKey<S> {
    /// Writes the scheme and the back end, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", S::NAME, self.backend())
    }
}
