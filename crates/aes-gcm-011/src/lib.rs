#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs
#![forbid(unsafe_code)]

mod gcm;
mod other;

pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use aes;
#[cfg(feature = "aes")]
pub use gcm::{Aes128Gcm, Aes256Gcm};
pub use gcm::{AesGcm, Nonce, Tag, TagSize};

#[cfg(feature = "hazmat")]
use aead::consts::{U4, U8};
use aead::{
    TagPosition,
    array::{Array, ArraySize as Size},
    consts::{U12, U13, U14, U15, U16},
    inout::InOutBuf,
};
use aes::cipher::{BlockCipherEncrypt, BlockSizeUser, StreamCipher};
use fastgcm::{ShortTag, limits};
use gcm::{Inner, checked};

/// The longest AAD in bytes.
pub const A_MAX: u64 = limits::AAD;

/// The longest plaintext in bytes.
pub const P_MAX: u64 = limits::TEXT;

impl<Aes, NonceSize: Size, TagSize: gcm::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<Aes, NonceSize, TagSize> AeadInOut for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt,
    NonceSize: Size,
    TagSize: gcm::TagSize,
{
    /// Encrypts `buffer`, and returns the tag. After an error `buffer` is untouched.
    #[inline]
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<TagSize>, Error> {
        let checked = checked(nonce, associated_data, buffer.len())?;
        // If the text goes from one buffer to another, it is copied first.
        let buffer = buffer.into_out_with_copied_in();
        let tag = match &self.inner {
            Inner::Ours(key) => key.seal(checked, associated_data, buffer).map_err(|_| Error)?,
            Inner::Other(other) => other.seal(nonce, associated_data, buffer),
        };
        Ok(Array::from_fn(|i| tag.0[i]))
    }

    /// Decrypts `buffer`. After an error its output is bit for bit what it was.
    #[inline]
    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        mut buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<TagSize>,
    ) -> Result<(), Error> {
        let checked = checked(nonce, associated_data, buffer.len())?;
        let key = match &self.inner {
            Inner::Ours(key) => key,
            Inner::Other(other) => {
                other.verified(nonce, associated_data, buffer.get_in(), tag)?.apply_keystream_inout(buffer);
                return Ok(());
            }
        };
        let tag = &TagSize::native(tag);
        // What another buffer holds could not be restored, so nothing is written to it before the tag has been verified.
        if !core::ptr::eq(buffer.get_in(), buffer.get_out()) {
            key.verify(checked, associated_data, buffer.get_in(), tag).map_err(|_| Error)?;
        }
        key.open_restoring(checked, associated_data, buffer.into_out_with_copied_in(), tag).map_err(|_| Error)
    }
}

gcm::tag_sizes! {
    #[cfg(feature = "hazmat")] U4 ShortTag<4>,
    #[cfg(feature = "hazmat")] U8 ShortTag<8>,
    U12 ShortTag<12>,
    U13 ShortTag<13>,
    U14 ShortTag<14>,
    U15 ShortTag<15>,
    U16 fastgcm::Tag,
}

/// What `ctr` requires of a block cipher.
trait CtrCipher: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> {}

impl<T: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> CtrCipher for T {}
