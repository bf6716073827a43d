//! AES-GCM-SIV (RFC 8452): for nonces that may repeat in spite of all care.
//!
//! The tag covers the whole message and is made first; encryption starts from it as the counter. So a
//! repeated nonce tells only whether two messages are equal. The price is a second pass over the text, and
//! keys that are derived for each nonce.
//!
//! POLYVAL is GHASH with the bytes of each block reversed and H multiplied by x (RFC 8452, appendix A). GHASH
//! keeps its blocks in this order in registers anyway ([`ghash`](crate::ghash)), so POLYVAL's blocks and its
//! H are used unchanged. A message is one call in `gcm/siv.rs`.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::inout::made_shared;
use crate::{
    Backend, Block, Error, Key, Tag,
    inout::{InOut, made_in},
    nonce::Nonce96,
    row::{Row, Siv},
    seal::verdict,
    tag::tags_differ,
};
use core::{fmt, mem::MaybeUninit};
use zeroize::ZeroizeOnDrop;

/// A key of AES-GCM-SIV: AEAD_AES_128_GCM_SIV or AEAD_AES_256_GCM_SIV.
///
/// A nonce of 12 bytes should be used once, and may be drawn at random for 2^32 messages. A repeated nonce
/// tells only whether two of its messages are equal. (RFC 8452, section 9, has the bounds.) The key is wiped
/// when it is dropped. Copies that the compiler makes when it is *moved* are not wiped.
///
/// ```
/// # use fastgcm::AesGcmSiv;
/// let key = AesGcmSiv::aes256(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(&[1; 12], b"header", &mut text)?;
/// key.open(&[1; 12], b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
#[derive(Clone)]
pub struct AesGcmSiv {
    /// The key-generating key, of which only the round keys are used.
    key: Key,
}

impl AesGcmSiv {
    /// The longest text and the longest AAD, in bytes (RFC 8452, section 6).
    pub const LIMIT: u64 = 1 << 36;

    /// Makes a key of 16 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect())
    }

    /// Makes an AES-128 key for the best back end of this machine. It cannot fail.
    #[inline]
    pub fn aes128(key: &[u8; 16]) -> Self {
        Self { key: Key::for_aes(key, Backend::best()) }
    }

    /// Makes an AES-256 key for the best back end of this machine. It cannot fail.
    #[inline]
    pub fn aes256(key: &[u8; 32]) -> Self {
        Self { key: Key::for_aes(key, Backend::best()) }
    }

    /// Makes a key of 16 or 32 bytes for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`. Otherwise fails like
    /// [`new`](Self::new).
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: Key::for_aes(key, row_for(key, backend)?) })
    }

    /// Makes an AES-192 key, **which RFC 8452 does not define**: GCM-SIV with a longer key, as in OpenSSL's
    /// AES-192-GCM-SIV.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run the back end.
    #[cfg(feature = "hazmat")]
    pub fn aes192_with_backend(key: &[u8; 24], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: Key::for_aes(key, backend.row()?) })
    }

    /// Makes a key of 16 or 32 bytes in memory of the caller's choice. The key is derived in place, so no move
    /// ever copies it. The caller must drop the key before freeing that memory.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend), and then writes nothing.
    pub fn init_in_place<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8],
        backend: Backend,
    ) -> Result<&'a mut Self, Error> {
        Ok(Self::derive_in(place, key, row_for(key, backend)?))
    }

    /// Makes an AES-192 key, **which RFC 8452 does not define**, in memory of the caller's choice.
    ///
    /// # Errors
    /// Fails like [`aes192_with_backend`](Self::aes192_with_backend), and then writes nothing.
    #[cfg(feature = "hazmat")]
    pub fn aes192_init_in_place<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8; 24],
        backend: Backend,
    ) -> Result<&'a mut Self, Error> {
        Ok(Self::derive_in(place, key, backend.row()?))
    }

    /// Makes a key of 16 or 32 bytes behind a counted reference. The key is derived in place.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend).
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    pub fn shared_with_backend(key: &[u8], backend: Backend) -> Result<alloc::sync::Arc<Self>, Error> {
        let row = row_for(key, backend)?;
        Ok(made_shared(|place| Self::derive_in(place, key, row)))
    }

    fn derive_in<'a>(place: &'a mut MaybeUninit<Self>, key: &[u8], row: &'static Row) -> &'a mut Self {
        made_in!(place, Self { key: |place| Key::for_aes_in(place, key, row) })
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }

    /// Encrypts `text` in place and returns its tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if `text` or `aad` has more than [`LIMIT`](Self::LIMIT) bytes;
    /// `text` is untouched.
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        self.seal_inout(nonce, aad, InOut::in_place(text))
    }

    /// Encrypts `text` to `ciphertext`, which has the same length as `text`, and returns the tag. The
    /// function copies nothing first.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`seal`](Self::seal) does. `ciphertext` is untouched.
    pub fn seal_detached_to(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        text: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal_inout(nonce, aad, InOut::copying(text, ciphertext).ok_or(Error::InvalidLength)?)
    }

    fn seal_inout(&self, nonce: &[u8; 12], aad: &[u8], text: InOut<'_>) -> Result<Tag, Error> {
        within_limits(aad, text.len())?;
        Ok(self.siv(nonce, aad, text, None, Tag::of))
    }

    /// Decrypts `text` in place, and then verifies it.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if anything differs from what was sealed; `text` is then
    /// all zero. Returns `TooLong` as [`seal`](Self::seal) does; `text` is untouched.
    pub fn open(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        let wrong = self.open_inout(nonce, aad, InOut::in_place(text), tag)?;
        verdict(wrong, text)
    }

    /// Decrypts `ciphertext` to `text`, which has the same length as `ciphertext`, and then verifies it.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns [`InvalidLength`](Error::InvalidLength) if the lengths differ, or `TooLong` as
    /// [`seal`](Self::seal) does; `text` is untouched.
    pub fn open_detached_to(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        ciphertext: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), Error> {
        let refused =
            self.open_inout(nonce, aad, InOut::copying(ciphertext, text).ok_or(Error::InvalidLength)?, tag)?;
        verdict(refused, text)
    }

    /// Decrypts, and returns whether the tag is wrong.
    fn open_inout(&self, nonce: &[u8; 12], aad: &[u8], text: InOut<'_>, tag: &Tag) -> Result<bool, Error> {
        within_limits(aad, text.len())?;
        let (given, then) = (Some(Block::from_le_bytes(tag.0)), |found| tags_differ(found, tag));
        Ok(self.siv(nonce, aad, text, given, then))
    }

    /// Seals, or opens if a tag is `given`, and returns what `then` makes of the right tag.
    fn siv<T>(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        text: InOut<'_>,
        given: Option<Block>,
        then: impl FnOnce(Block) -> T,
    ) -> T {
        let (key, nonce) = (&self.key, Nonce96::new(nonce));
        key.row.backend.find::<Siv>().siv(&key.material, nonce, aad, given.as_ref(), text, then)
    }
}

/// # Errors
/// Returns `TooLong` if `aad` or the text exceeds the limit.
fn within_limits(aad: &[u8], text: usize) -> Result<(), Error> {
    if aad.len().max(text) as u64 > AesGcmSiv::LIMIT { Err(Error::TooLong) } else { Ok(()) }
}

/// Returns the row of a back end, for a key of a length that RFC 8452 has.
fn row_for(key: &[u8], backend: Backend) -> Result<&'static Row, Error> {
    let row = backend.row()?;
    if matches!(key.len(), 16 | 32) { Ok(row) } else { Err(Error::InvalidLength) }
}

impl ZeroizeOnDrop for AesGcmSiv {}

impl fmt::Debug for AesGcmSiv {
    /// Writes the key's length and back end, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AesGcmSiv").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    /// F5: the limit itself is allowed, one byte more is not.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn f05_limits_are_exact() {
        assert_eq!(AesGcmSiv::LIMIT, 68_719_476_736);
        assert_eq!(within_limits(b"", AesGcmSiv::LIMIT as usize), Ok(()));
        assert_eq!(within_limits(b"", AesGcmSiv::LIMIT as usize + 1), Err(Error::TooLong));
    }

    /// F4: the counter wraps wherever it begins, without a carry into the bytes behind it, and carries into its
    /// own bytes; texts of more than two windows run two rounds ahead from any first byte on. The tag with
    /// which a message is opened sets the first counter.
    #[test]
    fn f04_straight_counters_wrap() {
        for backend in Backend::available() {
            let key = AesGcmSiv::with_backend(&[7; 32], backend).unwrap().key;
            let block =
                |i: u32| key.row.steps().aes(&key.material, Block::from(i), |block| block).to_le_bytes();
            let derived: Vec<u8> = (2..6).flat_map(|i| block(i)[..8].to_vec()).collect();
            let derived = Key::with_backend(&derived, backend).unwrap();
            let short = (0..=70_u32).flat_map(|before| {
                [1, 16, 33, 64, 200, 511, 512, 1100].map(|length| (u32::MAX - before, length))
            });
            let slow = matches!(backend.name(), "portable" | "vpaes-ssse3" | "vpaes-neon" | "vpaes-simd128");
            let long = (0..256_u32).step_by(if slow { 85 } else { 1 }).flat_map(|byte| {
                let carries = [0x2_0000, 0x200_0000, 0_u32];
                carries.map(|carry| {
                    (carry.wrapping_sub(512) | byte, 16 * (256 - byte as usize) % 4096 + 12_288 + 40)
                })
            });
            for (start, length) in short.chain(long) {
                {
                    let first = Block::from_le_bytes([0xa5; 16]) >> 32 << 32;
                    let mut text = vec![0; length];
                    let given = Some(first | Block::from(start));
                    key.row.backend.find::<Siv>().siv(
                        &key.material,
                        Nonce96::ZERO,
                        b"",
                        given.as_ref(),
                        InOut::in_place(&mut text),
                        drop,
                    );
                    for (i, part) in text.chunks(16).enumerate() {
                        let counter = start.wrapping_add(i as u32);
                        let expected = derived
                            .row
                            .steps()
                            .aes(&derived.material, first | Block::from(counter), |block| block)
                            .to_le_bytes();
                        assert_eq!(
                            part,
                            &expected[..part.len()],
                            "{backend}, from {start:x} on, block {i} of {length} bytes"
                        );
                    }
                }
            }
        }
    }
}
