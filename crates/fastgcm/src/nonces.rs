//! Nonces that cannot repeat: counted, or drawn at random and counted.
//!
//! Two messages with one nonce give away the XOR of their texts and the hash key, with which anybody can
//! forge. Three types rule this out by construction (SP 800-38D, section 8.2), and [`SealingKey`] joins one of
//! them to a key, so that nobody chooses a nonce by hand:
//!
//! | | for whom | used up after |
//! |---|---|---|
//! | [`CounterNonces`] | one sealer for each key or fixed field, which remembers its count | 2^64 messages, fewer with a longer fixed field |
//! | [`XorNonces`] | one sealer in a protocol that XORs a number with a static IV (TLS 1.3, QUIC, HPKE) | 2^64 - 1 messages |
//! | `RandomNonces` (feature `getrandom`) | several sealers under one key, or one that may forget its count | 2^32 messages, of all sealers together |
//!
//! A key wears out by blocks, too, before most of these nonces end: [`SealingKey`] counts the blocks that it
//! seals, [`OpeningKey`] those of the messages that it refuses.
//!
//! `docs/nonces.md` in the repository says which type to choose, and when [`Xaes256Gcm`](crate::Xaes256Gcm)
//! is the better choice.

use crate::{
    AnyTag, Backend, Error, Key, NONCE_LEN, Nonce, TAG_LEN, Tag,
    limits::{self, Blocks},
};
#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};
use core::fmt;

mod opening;

pub use opening::OpeningKey;

/// Nonces of 96 bits, each given out once. Other crates cannot implement this trait.
pub trait Nonces: sealed::Sealed {}

impl<T: sealed::Sealed> Nonces for T {}

mod sealed {
    pub trait Sealed {
        fn draw(&mut self) -> Result<[u8; 12], crate::Error>;
    }
}

/// The deterministic construction (SP 800-38D, section 8.2.1): a fixed field of `FIXED` bytes, which names
/// the sealer, and behind it an invocation field, which counts the sealer's messages as a big-endian number.
///
/// `FIXED` is 4 to 11; with 4, as in TLS and IPsec, the invocation field has 64 bits. No two sealers may
/// share a key and a fixed field, so the type cannot be cloned. A process that forks, or a machine that is
/// restored from a snapshot, becomes a second sealer and needs another fixed field.
///
/// ```
/// use fastgcm::{Error, nonces::CounterNonces};
///
/// let mut nonces = CounterNonces::new(*b"eleven byte");
/// for i in 0..=255 {
///     assert_eq!(nonces.draw()?, [b"eleven byte", &[i][..]].concat()[..]);
/// }
/// assert_eq!(nonces.draw(), Err(Error::Exhausted));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct CounterNonces<const FIXED: usize = 4> {
    fixed: [u8; FIXED],
    /// `None` when the nonces are used up.
    next: Option<u64>,
}

impl<const FIXED: usize> CounterNonces<FIXED> {
    /// The last value of the invocation field.
    const LAST: u64 = {
        assert!(FIXED >= 4 && FIXED <= 11, "a fixed field has 4 to 11 bytes");
        u64::MAX >> (8 * (FIXED - 4))
    };

    /// Makes nonces that count from zero.
    #[inline]
    pub fn new(fixed: [u8; FIXED]) -> Self {
        const { assert!(Self::LAST > 0) }
        Self { fixed, next: Some(0) }
    }

    /// Makes nonces that count from `next` on, a value that [`position`](Self::position) returned. A sealer
    /// that continues after a restart must have stored a value that it had not reached yet: a value far
    /// ahead, stored before the nonces up to it are given out.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if the invocation field cannot hold `next`.
    #[inline]
    pub fn starting_at(fixed: [u8; FIXED], next: u64) -> Result<Self, Error> {
        if next > Self::LAST { Err(Error::Exhausted) } else { Ok(Self { fixed, next: Some(next) }) }
    }

    /// Returns the invocation field of the next nonce; `None` when the nonces are used up.
    #[inline]
    pub fn position(&self) -> Option<u64> {
        self.next
    }

    /// Returns the next nonce.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) once all nonces have been given out.
    #[inline]
    pub fn draw(&mut self) -> Result<[u8; 12], Error> {
        let now = self.next.ok_or(Error::Exhausted)?;
        self.next = if now < Self::LAST { Some(now + 1) } else { None };
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&now.to_be_bytes());
        nonce[..FIXED].copy_from_slice(&self.fixed);
        Ok(nonce)
    }
}

impl<const FIXED: usize> sealed::Sealed for CounterNonces<FIXED> {
    #[inline]
    fn draw(&mut self) -> Result<[u8; 12], Error> {
        self.draw()
    }
}

/// A static IV of 12 bytes XOR a number of 64 bits, which counts the sealer's messages: the nonces of TLS 1.3
/// (RFC 8446, section 5.3), QUIC (RFC 9001, section 5.3) and HPKE (RFC 9180, section 5.2).
///
/// Each key has an IV of its own, from the protocol's key schedule. The last number, 2^64 - 1, is never
/// given out, as in HPKE. The type cannot be cloned, for the reason of [`CounterNonces`]. The opener knows
/// each message's number, from its place in the stream or its header, and finds the nonce with
/// [`at`](Self::at).
///
/// ```
/// use fastgcm::{Key, nonces::{SealingKey, XorNonces}};
///
/// let iv = [0x5b; 12];
/// let mut key = SealingKey::new(&[7; 32], XorNonces::starting_at(iv, 3))?;
/// let mut text = *b"the record 3";
/// let (_, tag) = key.seal(b"header", &mut text)?;
/// assert_eq!(key.nonces().position(), Some(4));
/// Key::new(&[7; 32])?.open(XorNonces::at(iv, 3), b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"the record 3");
/// assert_eq!(XorNonces::new(iv).draw()?, XorNonces::at(iv, 0));
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub struct XorNonces {
    iv: [u8; 12],
    next: u64,
}

impl XorNonces {
    /// Makes nonces that count from zero.
    #[inline]
    pub fn new(iv: [u8; 12]) -> Self {
        Self::starting_at(iv, 0)
    }

    /// Makes nonces that count from `next` on, as [`CounterNonces::starting_at`] does.
    #[inline]
    pub fn starting_at(iv: [u8; 12], next: u64) -> Self {
        Self { iv, next }
    }

    /// Returns the nonce of message `number`.
    #[inline]
    pub fn at(iv: [u8; 12], number: u64) -> [u8; 12] {
        let mut nonce = iv;
        let numbered = u64::from_be_bytes(core::array::from_fn(|i| iv[4 + i])) ^ number;
        nonce[4..].copy_from_slice(&numbered.to_be_bytes());
        nonce
    }

    /// Returns the number of the next message; `None` when the nonces are used up.
    #[inline]
    pub fn position(&self) -> Option<u64> {
        (self.next < u64::MAX).then_some(self.next)
    }

    /// Returns the next nonce.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) once all nonces have been given out.
    #[inline]
    pub fn draw(&mut self) -> Result<[u8; 12], Error> {
        let now = self.position().ok_or(Error::Exhausted)?;
        self.next += 1;
        Ok(Self::at(self.iv, now))
    }
}

impl sealed::Sealed for XorNonces {
    #[inline]
    fn draw(&mut self) -> Result<[u8; 12], Error> {
        self.draw()
    }
}

impl fmt::Debug for XorNonces {
    /// Writes the position, and nothing of the IV, which a protocol derives from its secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XorNonces").field("position", &self.position()).finish_non_exhaustive()
    }
}

/// The RBG-based construction (SP 800-38D, section 8.2.2): 96 bits from the operating system, for at most
/// 2^32 messages.
///
/// The limit is that of section 8.3: the chance that two of 2^32 nonces are equal is 2^-33. The limit holds
/// for all sealers under the key together; a `RandomNonces` counts only its own messages.
#[cfg(feature = "getrandom")]
#[derive(Debug, Default)]
pub struct RandomNonces {
    used: u64,
}

#[cfg(feature = "getrandom")]
impl RandomNonces {
    /// The number of messages that a key may seal with random nonces.
    pub const LIMIT: u64 = 1 << 32;

    /// Makes the nonces of a key that has sealed nothing yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the nonces of a key that has sealed `used` messages, or that other sealers may use for that
    /// many.
    #[inline]
    pub fn after(used: u64) -> Self {
        Self { used }
    }

    /// Returns the number of messages so far, including the messages given to `after`.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the next nonce.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) after [`LIMIT`](Self::LIMIT) nonces, or
    /// [`NoEntropy`](Error::NoEntropy) if the operating system gives no random bytes; no nonce is then
    /// counted.
    #[inline]
    pub fn draw(&mut self) -> Result<[u8; 12], Error> {
        if self.used >= Self::LIMIT {
            return Err(Error::Exhausted);
        }
        let nonce = random()?;
        self.used += 1;
        Ok(nonce)
    }
}

#[cfg(feature = "getrandom")]
impl sealed::Sealed for RandomNonces {
    #[inline]
    fn draw(&mut self) -> Result<[u8; 12], Error> {
        self.draw()
    }
}

/// Returns random bytes from the operating system.
#[cfg(feature = "getrandom")]
#[inline]
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::NoEntropy)?;
    Ok(bytes)
}

/// A key that chooses its nonces itself. Any [`Key`] made of its bytes opens its messages.
///
/// The key also counts the blocks that it has sealed. It fails with [`Exhausted`](Error::Exhausted) before an
/// attacker's advantage exceeds 2^-32 by the bound of [`Blocks::confidentiality`], which is after 6 PB of
/// full blocks; [`with_blocks`](Self::with_blocks) sets another limit. The chance that two random nonces are
/// equal comes on top of that, with `RandomNonces`.
///
/// ```
/// use fastgcm::nonces::{CounterNonces, SealingKey};
///
/// let mut key = SealingKey::new(&[7; 32], CounterNonces::new(*b"left"))?;
/// let mut text = *b"to be sealed";
/// let (nonce, tag) = key.seal(b"header", &mut text)?;
/// key.open(&nonce, b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
///
/// The nonce may travel in front of the message, where [`open_prefixed`] and `open_vec` find it:
///
/// ```
/// # use fastgcm::{Key, nonces::{self, CounterNonces, SealingKey}};
/// let mut key = SealingKey::new(&[7; 32], CounterNonces::new(*b"left"))?;
/// let mut packet = [0; 12 + 4 + 16]; // nonce, text, tag
/// packet[12..16].copy_from_slice(b"text");
/// key.seal_prefixed(b"header", &mut packet)?;
/// assert_eq!(nonces::open_prefixed(&Key::new(&[7; 32])?, b"header", &mut packet)?, b"text");
/// # Ok::<(), fastgcm::Error>(())
/// ```
///
/// The key cannot be cloned: a copy would count for itself.
///
/// ```compile_fail,E0599
/// # use fastgcm::nonces::{CounterNonces, SealingKey};
/// let copy = SealingKey::new(&[7; 32], CounterNonces::new(*b"left")).unwrap().clone();
/// ```
pub struct SealingKey<N> {
    key: Key,
    nonces: N,
    blocks: Blocks,
}

impl<N: Nonces> SealingKey<N> {
    /// Makes a key of 16, 24 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    #[inline]
    pub fn new(key: &[u8], nonces: N) -> Result<Self, Error> {
        Self::with_backend(key, nonces, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for a key that may seal so many blocks.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new).
    ///
    /// ```
    /// # use fastgcm::{Error, limits::Blocks, nonces::{CounterNonces, SealingKey}};
    /// let almost_all = Blocks::confidentiality(60).after(24_296_003_989, 1);
    /// let mut key = SealingKey::with_blocks(&[7; 32], CounterNonces::new(*b"left"), almost_all)?;
    /// assert_eq!(key.blocks().left(), 9);
    /// key.seal(b"header", &mut [0; 100])?; // 7 blocks, and one for the message
    /// assert_eq!(key.seal(b"header", &mut [0; 100]), Err(Error::Exhausted)); // time for another key
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn with_blocks(key: &[u8], nonces: N, blocks: Blocks) -> Result<Self, Error> {
        Ok(Self { key: Key::new(key)?, nonces, blocks })
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Fails like [`Key::with_backend`].
    #[inline]
    pub fn with_backend(key: &[u8], nonces: N, backend: Backend) -> Result<Self, Error> {
        let blocks = const { Blocks::confidentiality(Blocks::CONFIDENTIALITY) };
        Ok(Self { key: Key::with_backend(key, backend)?, nonces, blocks })
    }

    /// Returns the nonce of the next message, and counts its blocks.
    #[inline]
    fn draw(&mut self, aad: usize, text: usize) -> Result<[u8; 12], Error> {
        limits::check(aad, text)?;
        let blocks = Blocks::sealed(text as u64);
        self.blocks.has(blocks)?;
        let nonce = self.nonces.draw()?;
        self.blocks.take(blocks)?;
        Ok(nonce)
    }

    /// Encrypts `text` in place. Returns the nonce, which travels with the message, and the tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) as [`Key::seal`] does, [`Exhausted`](Error::Exhausted) if too few
    /// blocks are left, or `Exhausted` or `NoEntropy` as the nonces do; `text` is untouched, no nonce is
    /// used, and no block counted.
    #[inline]
    pub fn seal(&mut self, aad: &[u8], text: &mut [u8]) -> Result<([u8; 12], Tag), Error> {
        let nonce = self.draw(aad.len(), text.len())?;
        Ok((nonce, self.key.seal(nonce, aad, text)?))
    }

    /// Encrypts all of `buffer` except its last 16 bytes in place, and writes the tag to those 16 bytes.
    /// Returns the nonce, which travels with the message.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `buffer` has fewer than 16 bytes. Otherwise fails
    /// like [`seal`](Self::seal). `buffer` is untouched, and no nonce is used.
    pub fn seal_appended(&mut self, aad: &[u8], buffer: &mut [u8]) -> Result<[u8; NONCE_LEN], Error> {
        let (text, place) = buffer.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::InvalidLength)?;
        let (nonce, tag) = self.seal(aad, text)?;
        *place = tag.0;
        Ok(nonce)
    }

    /// Encrypts all of `buffer` except its first 12 and its last 16 bytes in place, and writes the nonce and
    /// the tag to those bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `buffer` has fewer than 28 bytes. Otherwise fails
    /// like [`seal`](Self::seal). `buffer` is untouched, and no nonce is used.
    pub fn seal_prefixed(&mut self, aad: &[u8], buffer: &mut [u8]) -> Result<(), Error> {
        let (place, rest) = buffer.split_first_chunk_mut::<NONCE_LEN>().ok_or(Error::InvalidLength)?;
        *place = self.seal_appended(aad, rest)?;
        Ok(())
    }

    /// Encrypts `text` to a new vector, which holds nonce, ciphertext and tag: 28 bytes more than the text.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal).
    ///
    /// ```
    /// # use fastgcm::nonces::{CounterNonces, SealingKey};
    /// # let mut key = SealingKey::new(&[7; 32], CounterNonces::new(*b"left"))?;
    /// let message = key.seal_vec(b"header", b"text")?;
    /// assert_eq!(key.open_vec(b"header", &message)?, b"text");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[cfg(feature = "alloc")]
    pub fn seal_vec(&mut self, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        limits::check(aad.len(), text.len())?;
        let mut message = vec![0; NONCE_LEN + text.len() + TAG_LEN];
        let (place, sealed) = message.split_at_mut(NONCE_LEN);
        let nonce = self.draw(aad.len(), text.len())?;
        place.copy_from_slice(&nonce);
        self.key.seal_to(nonce, aad, text, sealed)?;
        Ok(message)
    }

    /// Does what [`open_prefixed`] does, with this key.
    ///
    /// # Errors
    /// Fails like [`open_prefixed`].
    pub fn open_prefixed<'b>(&self, aad: &[u8], buffer: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        open_prefixed(&self.key, aad, buffer)
    }

    /// Does what [`open_vec`] does, with this key.
    ///
    /// # Errors
    /// Fails like [`open_vec`].
    #[cfg(feature = "alloc")]
    pub fn open_vec(&self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        open_vec(&self.key, aad, message)
    }

    /// Does what [`Key::open`] does, with this key.
    ///
    /// # Errors
    /// Fails like [`Key::open`].
    #[inline]
    pub fn open<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        self.key.open(nonce, aad, text, tag)
    }

    /// Returns the nonces, which tell how many messages they have served.
    #[inline]
    pub fn nonces(&self) -> &N {
        &self.nonces
    }

    /// Returns how many blocks the key has sealed, and how many are left: a program makes another key in time.
    ///
    /// ```
    /// # use fastgcm::nonces::{CounterNonces, SealingKey};
    /// let mut key = SealingKey::new(&[7; 32], CounterNonces::new(*b"left"))?;
    /// key.seal(b"header", &mut [0; 100])?;
    /// assert_eq!((key.blocks().used(), key.blocks().left()), (8, 398_065_729_532_859 - 8));
    /// assert_eq!(key.blocks_left(), key.blocks().left());
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
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

/// Decrypts `buffer`, which holds a nonce of 12 bytes, ciphertext and tag, in place, and returns the text.
/// [`SealingKey::seal_prefixed`] and `SealingKey::seal_vec` make such messages.
///
/// # Errors
/// Returns [`Unauthentic`](Error::Unauthentic) as [`Key::open`] does, and if `buffer` has fewer than 28
/// bytes; everything between nonce and tag is then zero. Returns [`TooLong`](Error::TooLong) as [`Key::seal`]
/// does; `buffer` is untouched.
pub fn open_prefixed<'b>(key: &Key, aad: &[u8], buffer: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
    let (nonce, sealed) = buffer.split_first_chunk_mut::<NONCE_LEN>().ok_or(Error::Unauthentic)?;
    key.open_appended(Nonce::from(&*nonce), aad, sealed)
}

/// Decrypts `message`, which holds a nonce of 12 bytes, ciphertext and tag, to a new vector.
///
/// # Errors
/// Returns [`Unauthentic`](Error::Unauthentic) as [`Key::open`] does, and if `message` has fewer than 28
/// bytes. Returns [`TooLong`](Error::TooLong) as [`Key::seal`] does.
#[cfg(feature = "alloc")]
pub fn open_vec(key: &Key, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
    let (nonce, sealed) = message.split_first_chunk::<NONCE_LEN>().ok_or(Error::Unauthentic)?;
    key.open_vec(nonce, aad, sealed)
}

impl<N: fmt::Debug> fmt::Debug for SealingKey<N> {
    /// Writes the key's length and back end, the blocks and the nonces, which are public, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, nonces, blocks } = self;
        f.debug_struct("SealingKey")
            .field("key", key)
            .field("nonces", nonces)
            .field("blocks", blocks)
            .finish()
    }
}
