#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs
#![forbid(unsafe_code)]

mod gcm;
mod other;

pub use aead::{self, AeadCore, AeadInPlace, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use aes;
#[cfg(feature = "aes")]
pub use gcm::{Aes128Gcm, Aes256Gcm};
pub use gcm::{AesGcm, Nonce, Tag, TagSize};

use aead::{
    consts::{U0, U12, U13, U14, U15, U16},
    generic_array::{ArrayLength, GenericArray as Array},
};
use aes::cipher::{BlockCipher, BlockEncrypt as BlockCipherEncrypt, BlockSizeUser, StreamCipher};
use fastgcm::{ShortTag, limits};
use gcm::{Inner, checked};
use zeroize::optimization_barrier;

/// The longest AAD in bytes: 64 GiB, as in `aes-gcm`.
pub const A_MAX: u64 = 1 << 36;

/// The longest plaintext in bytes: 2^36 - 32 (SP 800-38D, section 5.2.1.1). `aes-gcm` 0.10 accepts 32 more bytes, whose last blocks would
/// be encrypted with the keystream of the tag and of the first block.
pub const P_MAX: u64 = limits::TEXT;

/// The longest ciphertext in bytes, including its tag.
pub const C_MAX: u64 = P_MAX + 16;

impl<Aes, NonceSize: ArrayLength<u8>, TagSize: gcm::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    type CiphertextOverhead = U0;
}

impl<Aes, NonceSize, TagSize> AeadInPlace for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockCipher + BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt,
    NonceSize: ArrayLength<u8>,
    TagSize: gcm::TagSize,
{
    /// Encrypts `buffer`, and returns the tag. After an error `buffer` is untouched.
    #[inline]
    fn encrypt_in_place_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: &mut [u8],
    ) -> Result<Tag<TagSize>, Error> {
        let checked = checked(nonce, associated_data, buffer.len())?;
        let tag = match &self.inner {
            Inner::Ours(key) => key.seal(checked, associated_data, buffer).map_err(|_| Error)?,
            Inner::Other(other) => other.seal(nonce, associated_data, buffer),
        };
        Ok(tag.0.into_iter().take(TagSize::USIZE).collect())
    }

    /// Decrypts `buffer`. After an error `buffer` is bit for bit what it was.
    #[inline]
    fn decrypt_in_place_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: &mut [u8],
        tag: &Tag<TagSize>,
    ) -> Result<(), Error> {
        let checked = checked(nonce, associated_data, buffer.len())?;
        match &self.inner {
            Inner::Ours(key) => key.open_restoring(checked, associated_data, buffer, &TagSize::native(tag)).map_err(|_| Error),
            Inner::Other(other) => {
                other.verified(nonce, associated_data, buffer, tag)?.apply_keystream(buffer);
                Ok(())
            }
        }
    }
}

gcm::tag_sizes! { U12 ShortTag<12>, U13 ShortTag<13>, U14 ShortTag<14>, U15 ShortTag<15>, U16 fastgcm::Tag, }

/// A length of an array of bytes.
mod size {
    pub trait Size: aead::generic_array::ArrayLength<u8> {}

    impl<T: aead::generic_array::ArrayLength<u8>> Size for T {}
}
use size::Size;

/// What `ctr` requires of a block cipher.
trait CtrCipher: BlockCipher + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> {}

impl<T: BlockCipher + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> CtrCipher for T {}

/// `ghash` 0.5 does not wipe its key here, even with its feature `zeroize`: it keeps the hash key in a union of `polyval` 0.6.
impl<Cipher> Drop for other::Other<Cipher> {
    fn drop(&mut self) {
        self.ghash = other::keyed(&Default::default());
        optimization_barrier(&self.ghash);
    }
}
