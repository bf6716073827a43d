#![doc = include_str!("../README.md")]
#![no_std]

pub use aead::{self, AeadCore, AeadInPlace, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use aes;

use aead::{
    consts::{U0, U12, U13, U14, U15, U16},
    generic_array::{ArrayLength, GenericArray},
};
use core::{fmt, marker::PhantomData};
use fastgcm::{AnyTag, ShortTag, limits};

/// The longest AAD in bytes: 64 GiB, as in `aes-gcm`.
pub const A_MAX: u64 = 1 << 36;

/// The longest plaintext in bytes: 2^36 - 32 (SP 800-38D, section 5.2.1.1). `aes-gcm` 0.10 takes 32 more, whose last blocks would be encrypted with
/// the keystream of the tag and of the first one.
pub const P_MAX: u64 = limits::TEXT;

/// The longest ciphertext in bytes, its tag included.
pub const C_MAX: u64 = P_MAX + 16;

/// A nonce. `U12` is the size to prefer; any other, from `U1` on, works.
pub type Nonce<NonceSize> = GenericArray<u8, NonceSize>;

/// A tag.
pub type Tag<TagSize = U16> = GenericArray<u8, TagSize>;

/// The lengths of a tag: `U12` to `U16`. It cannot be implemented elsewhere.
pub trait TagSize: private::SealedTagSize {}

impl<T: private::SealedTagSize> TagSize for T {}

/// AES-GCM with a key of 128 bits and nonces of 96.
#[cfg(feature = "aes")]
pub type Aes128Gcm = AesGcm<aes::Aes128, U12>;

/// AES-GCM with a key of 256 bits and nonces of 96.
#[cfg(feature = "aes")]
pub type Aes256Gcm = AesGcm<aes::Aes256, U12>;

/// AES-GCM with a key of the length of `Aes`, nonces of `NonceSize` bytes and tags of `TagSize`.
///
/// `Aes` is `Aes128`, `Aes192` or `Aes256` of the crate `aes` 0.8, or one of these with `Enc` behind its name. It says how long the key is, and none
/// of its code runs.
#[derive(Clone)]
pub struct AesGcm<Aes, NonceSize, TagSize = U16>
where
    TagSize: self::TagSize,
{
    key: fastgcm::Key,
    sizes: PhantomData<(Aes, NonceSize, TagSize)>,
}

impl<Aes: KeySizeUser, NonceSize, TagSize: self::TagSize> KeySizeUser for AesGcm<Aes, NonceSize, TagSize> {
    type KeySize = Aes::KeySize;
}

impl<Aes: private::Aes, NonceSize, TagSize: self::TagSize> KeyInit for AesGcm<Aes, NonceSize, TagSize> {
    #[inline]
    fn new(key: &Key<Self>) -> Self {
        Self { key: Aes::key(key), sizes: PhantomData }
    }
}

impl<Aes, NonceSize: ArrayLength<u8>, TagSize: self::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    type CiphertextOverhead = U0;
}

impl<Aes: private::Aes, NonceSize: ArrayLength<u8>, TagSize: self::TagSize> AeadInPlace for AesGcm<Aes, NonceSize, TagSize> {
    /// Encrypts `buffer`, and returns the tag. On an error it is untouched.
    #[inline]
    fn encrypt_in_place_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: &mut [u8],
    ) -> Result<Tag<TagSize>, Error> {
        let nonce = checked(nonce, associated_data)?;
        let tag = self.key.seal(nonce, associated_data, buffer).map_err(|_| Error)?;
        Ok(tag.0.into_iter().take(TagSize::USIZE).collect())
    }

    /// Decrypts `buffer`. On an error it holds what it held, bit for bit.
    #[inline]
    fn decrypt_in_place_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: &mut [u8],
        tag: &Tag<TagSize>,
    ) -> Result<(), Error> {
        let nonce = checked(nonce, associated_data)?;
        self.key.open_restoring(nonce, associated_data, buffer, &TagSize::native(tag)).map_err(|_| Error)
    }
}

/// What can be wrong that the library does not see.
#[inline(always)]
fn checked<'n>(nonce: &'n [u8], aad: &[u8]) -> Result<fastgcm::Nonce<'n>, Error> {
    if aad.len() as u64 > A_MAX {
        return Err(Error);
    }
    fastgcm::Nonce::any(nonce).map_err(|_| Error)
}

/// What the type parameters can do; nobody else's types can.
mod private {
    use super::{AnyTag, ArrayLength, GenericArray, Key, KeySizeUser};

    pub trait Aes: KeySizeUser + Sized {
        fn key(key: &Key<Self>) -> fastgcm::Key;
    }

    pub trait SealedTagSize: ArrayLength<u8> {
        type Native: AnyTag;
        fn native(tag: &GenericArray<u8, Self>) -> Self::Native;
    }
}

macro_rules! ciphers {
    ($($length:ident $aes:ident $enc:ident,)+) => { $( ciphers! { @ $length $aes } ciphers! { @ $length $enc } )+ };
    (@ $length:ident $aes:ident) => {
        impl private::Aes for aes::$aes {
            #[inline(always)]
            fn key(key: &Key<Self>) -> fastgcm::Key {
                fastgcm::Key::$length(key.as_ref())
            }
        }
    };
}

ciphers! { aes128 Aes128 Aes128Enc, aes192 Aes192 Aes192Enc, aes256 Aes256 Aes256Enc, }

macro_rules! tag_sizes {
    ($($size:ident $native:path,)+) => { $(
        impl private::SealedTagSize for $size {
            type Native = $native;

            #[inline(always)]
            fn native(tag: &GenericArray<u8, Self>) -> $native {
                $native((*tag).into())
            }
        }
    )+ };
}

tag_sizes! { U12 ShortTag<12>, U13 ShortTag<13>, U14 ShortTag<14>, U15 ShortTag<15>, U16 fastgcm::Tag, }

impl<Aes, NonceSize, TagSize: self::TagSize> fmt::Debug for AesGcm<Aes, NonceSize, TagSize> {
    /// The name of the type; nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesGcm").finish_non_exhaustive()
    }
}

/// The key inside is, and there is nothing else.
impl<Aes, NonceSize, TagSize: self::TagSize> zeroize::ZeroizeOnDrop for AesGcm<Aes, NonceSize, TagSize> {}
