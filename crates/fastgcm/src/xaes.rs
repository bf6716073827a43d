//! XAES-256-GCM (C2SP): AES-256-GCM with nonces of 192 bits, which may be drawn at random for as many
//! messages as anybody has.
//!
//! A key and the first twelve bytes of the nonce make the key of the message: two blocks of AES, as KDF in
//! counter mode with CMAC (SP 800-108r1, section 4.1) prescribes. The rest of the nonce is that of
//! AES-256-GCM. So a message costs what [`seal_once`](crate::seal_once) costs, and two blocks of AES.

use crate::{
    AnyTag, Backend, Block, Error, Key, Nonce, Tag,
    isa::Frame,
    nonce::Nonce96,
    once::{open, seal},
};
use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop, optimization_barrier};

/// Bytes of a nonce.
#[cfg(feature = "alloc")]
const NONCE: usize = 24;

/// A key of XAES-256-GCM: <https://c2sp.org/XAES-256-GCM>.
///
/// Its nonces have 24 bytes. `seal_random` and `seal_random_vec` (feature `getrandom`) draw them. Of 2^80
/// random nonces two are equal with the chance that 2^32 of AES-GCM's have. A nonce must still be unique for
/// every message. The key is wiped when it is dropped. Copies that the compiler makes when it is *moved* are
/// not.
///
/// ```
/// # use fastgcm::Xaes256Gcm;
/// let key = Xaes256Gcm::new(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(b"a nonce of 24 bytes.....", b"header", &mut text)?;
/// key.open(b"a nonce of 24 bytes.....", b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
#[derive(Clone)]
pub struct Xaes256Gcm {
    /// Of this only the round keys are used.
    key: Key,
    /// The first subkey of CMAC (SP 800-38B, section 6.1).
    k1: Block,
}

impl Xaes256Gcm {
    /// For the best back end of this machine.
    #[inline]
    pub fn new(key: &[u8; 32]) -> Self {
        Self::of(Key::for_aes(key, Backend::best()))
    }

    /// For one back end.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run it.
    #[inline]
    pub fn with_backend(key: &[u8; 32], backend: Backend) -> Result<Self, Error> {
        Ok(Self::of(Key::for_aes(key, backend.row()?)))
    }

    #[inline(always)]
    fn of(key: Key) -> Self {
        let l = Block::from_be_bytes(key.row.steps().aes(&key.material, 0, |l| l).to_le_bytes());
        // No branch on the key: the mask is all ones or all zeros.
        let k1 = l << 1 ^ ((l as i128 >> 127) as Block & 0x87);
        Self { key, k1: k1.swap_bytes() }
    }

    /// The back end that it uses.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }

    /// Encrypts `text` in place and returns its tag.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) as for [`Key::seal`]: `text` is untouched.
    #[inline]
    pub fn seal(&self, nonce: &[u8; 24], aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        self.with_derived(nonce, |key, nonce| seal(self.key.row, key, nonce, aad, text))
    }

    /// Decrypts `text` in place.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if anything is not as it was sealed: `text` is all zero then.
    /// `TooLong` as for [`seal`](Self::seal): `text` is untouched.
    #[inline]
    pub fn open(
        &self,
        nonce: &[u8; 24],
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        self.with_derived(nonce, |key, nonce| open(self.key.row, key, nonce, aad, text, tag))
    }

    /// Encrypts `text` in place under a nonce from the operating system. Returns the nonce, which goes with
    /// the message, and the tag.
    ///
    /// It needs the library's feature `getrandom`: `fastgcm = { ..., features = ["getrandom"] }`.
    ///
    /// # Errors
    /// [`NoEntropy`](Error::NoEntropy) if the operating system gives no random bytes, else as for
    /// [`seal`](Self::seal): `text` is untouched.
    ///
    /// ```
    /// # use fastgcm::Xaes256Gcm;
    /// let key = Xaes256Gcm::new(&[7; 32]);
    /// let mut text = *b"to be sealed";
    /// let (nonce, tag) = key.seal_random(b"header", &mut text)?; // send nonce, text and tag
    /// key.open(&nonce, b"header", &mut text, &tag)?;
    /// assert_eq!(&text, b"to be sealed");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[cfg(feature = "getrandom")]
    #[inline]
    pub fn seal_random(&self, aad: &[u8], text: &mut [u8]) -> Result<([u8; 24], Tag), Error> {
        let nonce = crate::nonces::random()?;
        Ok((nonce, self.seal(&nonce, aad, text)?))
    }

    /// Encrypts `text` under a nonce from the operating system, to a new vector, which holds nonce,
    /// ciphertext and tag: 40 bytes more than the text.
    ///
    /// It needs the library's feature `getrandom`. [`open_random_vec`](Self::open_random_vec), which opens
    /// the result, does not.
    ///
    /// # Errors
    /// As for [`seal_random`](Self::seal_random).
    ///
    /// ```
    /// # use fastgcm::Xaes256Gcm;
    /// let key = Xaes256Gcm::new(&[7; 32]);
    /// let message = key.seal_random_vec(b"header", b"text")?;
    /// assert_eq!(key.open_random_vec(b"header", &message)?, b"text");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[cfg(all(feature = "alloc", feature = "getrandom"))]
    pub fn seal_random_vec(&self, aad: &[u8], text: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        crate::limits::check(aad.len(), text.len())?;
        let nonce: [u8; NONCE] = crate::nonces::random()?;
        let mut message = alloc::vec::Vec::with_capacity(NONCE + text.len() + crate::TAG_LEN);
        message.extend_from_slice(&nonce);
        message.extend_from_slice(text);
        let tag = self.seal(&nonce, aad, &mut message[NONCE..])?;
        message.extend_from_slice(&*tag);
        Ok(message)
    }

    /// Decrypts `message`, which holds a nonce of 24 bytes, ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic), also if it has fewer than 40 bytes; `TooLong` as for
    /// [`seal`](Self::seal).
    #[cfg(feature = "alloc")]
    pub fn open_random_vec(&self, aad: &[u8], message: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let (nonce, sealed) = message.split_first_chunk::<NONCE>().ok_or(Error::Unauthentic)?;
        self.open_vec(nonce, aad, sealed)
    }

    /// Encrypts `text` to a new vector: ciphertext and tag, as the specification has them.
    ///
    /// # Errors
    /// As for [`seal`](Self::seal).
    #[cfg(feature = "alloc")]
    pub fn seal_vec(&self, nonce: &[u8; 24], aad: &[u8], text: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        crate::limits::check(aad.len(), text.len())?;
        let mut sealed = alloc::vec::Vec::with_capacity(text.len() + crate::TAG_LEN);
        sealed.extend_from_slice(text);
        let tag = self.seal(nonce, aad, &mut sealed)?;
        sealed.extend_from_slice(&tag.0);
        Ok(sealed)
    }

    /// Decrypts `sealed`, ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic), also if it has fewer than 16 bytes; `TooLong` as for
    /// [`seal`](Self::seal).
    #[cfg(feature = "alloc")]
    pub fn open_vec(
        &self,
        nonce: &[u8; 24],
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<alloc::vec::Vec<u8>, Error> {
        let (ciphertext, tag) = sealed.split_last_chunk::<{ crate::TAG_LEN }>().ok_or(Error::Unauthentic)?;
        crate::limits::check(aad.len(), ciphertext.len())?;
        let mut text = ciphertext.to_vec();
        self.open(nonce, aad, &mut text, &Tag(*tag))?;
        Ok(text)
    }

    /// Does a message with the key that is derived for it, and its nonce.
    #[inline(always)]
    fn with_derived<T>(
        &self,
        nonce: &[u8; 24],
        message: impl FnOnce(&[u8], Nonce<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (first, of_message) =
            (Nonce96::new(nonce.first_chunk().unwrap()), Nonce::from(nonce.last_chunk().unwrap()));
        Frame::try_wiped_after_all(|| {
            let mut derived = self.derive(first);
            let result = message(&derived, of_message);
            derived.fill(0);
            optimization_barrier(&derived);
            result
        })
    }

    /// CMAC of one block for each half: a counter of 16 bits, the label "X", a zero, and as much of the nonce
    /// (section "Overview" of the specification).
    #[inline(always)]
    fn derive(&self, nonce: Nonce96) -> [u8; 32] {
        let block = (nonce.with_counter(0) << 32 | Block::from(b'X') << 16) ^ self.k1;
        let half = |i: Block| self.key.row.steps().aes(&self.key.material, block ^ i << 8, |half| half);
        let mut derived = [0; 32];
        derived[..16].copy_from_slice(&half(1).to_le_bytes());
        derived[16..].copy_from_slice(&half(2).to_le_bytes());
        derived
    }
}

impl Drop for Xaes256Gcm {
    fn drop(&mut self) {
        self.k1.zeroize();
    }
}

impl ZeroizeOnDrop for Xaes256Gcm {}

impl fmt::Debug for Xaes256Gcm {
    /// The back end; nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Xaes256Gcm({})", self.backend())
    }
}
