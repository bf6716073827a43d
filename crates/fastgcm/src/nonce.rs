//! Nonces, and the pre-counter block J0 that is derived from them (SP 800-38D, section 7.1, step 2).
//!
//! There are two kinds of nonces, and they are two types down to the counter that each may use. The counter
//! of a **96-bit** nonce starts at 2 and goes up by one: it is public, so it may index a table. For **any
//! other length** J0 = GHASH(nonce), so the counter depends on the hash key, and nothing may be indexed by
//! it. This kind uses only the counter that adds ([`gcm::counter`](crate::gcm)).

use crate::{
    Block, Error,
    isa::{Vectors, joined},
    limits,
};

/// The preferred length of a nonce in bytes: 96 bits.
pub const NONCE_LEN: usize = 12;

/// A nonce: the number that must be unique for every message under one key.
///
/// An array of 12 bytes becomes a nonce with `into()`, which cannot fail. A slice becomes a nonce with
/// `try_into()`, which fails unless the slice has 12 bytes. [`Nonce::any`] takes any number of bytes from 1
/// on. Nonces of twelve bytes are faster and have better bounds; use another length only where a protocol
/// requires it.
///
/// ```
/// # use fastgcm::{Key, Nonce};
/// let key = Key::aes128(&[7; 16]);
/// let mut text = *b"text";
/// key.seal([1; 12], b"", &mut text)?; // 12 bytes
/// key.seal(&[2; 12], b"", &mut text)?;
/// key.seal(Nonce::any(b"16 bytes nonce..")?, b"", &mut text)?;
/// assert!(Nonce::any(b"").is_err());
/// let received = [3; 13];
/// key.seal(Nonce::try_from(&received[1..])?, b"", &mut text)?;
/// assert!(Nonce::try_from(&received[..]).is_err());
/// # Ok::<(), fastgcm::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nonce<'a>(pub(crate) Kind<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    Public(Nonce96),
    Any(&'a [u8]),
}

/// A nonce of 96 bits, in the parts in which it is loaded. Its counter is public.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nonce96 {
    first: u64,
    rest: u64,
}

/// The pre-counter block of a nonce of any length. Its counter may be as secret as H.
#[derive(Clone, Copy, Debug)]
pub(crate) struct J0(pub(crate) Block);

impl<'a> Nonce<'a> {
    /// Makes a nonce of any length from 1 byte on. From 12 bytes it makes the nonce that `into()` makes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `nonce` is empty (the tag of an empty message with
    /// an empty nonce would give away the hash key), or [`TooLong`](Error::TooLong) if `nonce` has more than
    /// [`limits::NONCE`] bytes.
    #[inline]
    pub fn any(nonce: &'a [u8]) -> Result<Self, Error> {
        if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
            return Ok(nonce.into());
        }
        limits::check_nonce(nonce.len())?;
        Ok(Self(Kind::Any(nonce)))
    }

    /// Returns the bytes of a nonce of 12 bytes, for a caller that keeps them for a later call, or `None` for
    /// a nonce of any other length.
    ///
    /// `Nonce::from(&nonce).to_array()` copies by words, so the copy waits for no store, however `nonce` was
    /// just written. `*nonce` copies as `memcpy` does.
    #[inline]
    pub fn to_array(&self) -> Option<[u8; NONCE_LEN]> {
        match self.0 {
            Kind::Public(nonce) => Some(nonce.to_array()),
            Kind::Any(_) => None,
        }
    }
}

impl From<&[u8; 12]> for Nonce<'_> {
    #[inline(always)]
    fn from(nonce: &[u8; 12]) -> Self {
        Self(Kind::Public(Nonce96::new(nonce)))
    }
}

impl From<[u8; 12]> for Nonce<'_> {
    #[inline(always)]
    fn from(nonce: [u8; 12]) -> Self {
        Self::from(&nonce)
    }
}

impl TryFrom<&[u8]> for Nonce<'_> {
    type Error = Error;

    /// Makes a nonce of exactly 12 bytes. [`Nonce::any`] accepts other lengths.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    #[inline]
    fn try_from(nonce: &[u8]) -> Result<Self, Error> {
        <&[u8; NONCE_LEN]>::try_from(nonce).map(Into::into).map_err(|_| Error::InvalidLength)
    }
}

impl Nonce96 {
    pub(crate) const ZERO: Self = Self { first: 0, rest: 0 };

    /// Loads three words of 4 bytes. A load that spans two stores waits until both have left the store
    /// buffer, and a nonce is often stored just before the call: as salt and counter by 4 + 8 bytes, or by
    /// `memcpy` by 8 + 4. No word spans two stores of either kind. With loads of 4 + 8 bytes a message after
    /// `memcpy` took 31 ns; it now takes 12 (16 bytes, AES-128, Emerald Rapids).
    ///
    /// Each word is a value of its own until `joined`: an array of words would be copied by 8 + 4 bytes.
    #[inline(always)]
    pub(crate) fn new(nonce: &[u8; 12]) -> Self {
        let word = |i: usize| u32::from_le_bytes(*nonce[i..].first_chunk().unwrap());
        Self { first: u64::from(word(0)), rest: joined(word(4), word(8)) }
    }

    /// Returns the nonce as bytes.
    #[inline(always)]
    pub(crate) fn to_array(self) -> [u8; NONCE_LEN] {
        let mut nonce = [0; NONCE_LEN];
        nonce[..4].copy_from_slice(&(self.first as u32).to_le_bytes());
        nonce[4..].copy_from_slice(&self.rest.to_le_bytes());
        nonce
    }

    /// Returns the counter block with this counter.
    #[inline(always)]
    pub(crate) fn with_counter(self, counter: u32) -> Block {
        self.first as Block | (self.rest as Block) << 32 | self::counter(counter)
    }

    /// Returns the counter block with a counter of zero, in every lane.
    #[inline(always)]
    pub(crate) fn splat<S: Vectors>(self, s: S) -> S::V {
        s.splat_nonce(self.first as u32, self.rest)
    }
}

/// Returns a counter at its place in the block.
#[inline(always)]
pub(crate) fn counter(counter: u32) -> Block {
    (counter.swap_bytes() as Block) << 96
}

/// What the counter blocks of a message begin with, and whether the counter is public.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    Public(Nonce96),
    Secret(J0),
}

impl Start {
    #[inline(always)]
    pub(crate) fn j0(self) -> J0 {
        match self {
            Self::Public(nonce) => nonce.into(),
            Self::Secret(j0) => j0,
        }
    }
}

impl J0 {
    /// Returns the counter block of block `index` of the text (inc32 of SP 800-38D, section 6.2: modulo 2^32,
    /// without a carry into the nonce).
    #[inline(always)]
    pub(crate) fn counter_block(self, index: u32) -> Block {
        const LOW: Block = u32::MAX as Block;
        let j0 = self.0.swap_bytes();
        (j0 & !LOW | (j0 as u32).wrapping_add(index).wrapping_add(1) as Block).swap_bytes()
    }
}

impl From<Nonce96> for J0 {
    #[inline(always)]
    fn from(nonce: Nonce96) -> Self {
        Self(nonce.with_counter(1))
    }
}
