#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod other;

pub use aead::{self, AeadCore, AeadInPlace, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use aes;

use aead::{
    consts::{U0, U12, U13, U14, U15, U16},
    generic_array::{ArrayLength, GenericArray},
};
use aes::cipher::{BlockCipher, BlockEncrypt, BlockSizeUser};
use core::{any::TypeId, fmt, marker::PhantomData};
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

/// GCM over `Aes`, with nonces of `NonceSize` bytes and tags of `TagSize`.
///
/// If `Aes` is `Aes128`, `Aes192` or `Aes256` of the crate `aes` 0.8, or one of these with `Enc` behind its name, it says how long the key is, and
/// fastgcm does the work. Any other block cipher does its own, and so does one that had its key before (`From<Aes>`).
#[derive(Clone)]
pub struct AesGcm<Aes, NonceSize, TagSize = U16>
where
    TagSize: self::TagSize,
{
    inner: Inner<Aes>,
    sizes: PhantomData<(NonceSize, TagSize)>,
}

/// Not in boxes: there may be no allocator, and the larger of them is what almost everybody has.
#[allow(clippy::large_enum_variant)]
#[derive(Clone)]
enum Inner<Aes> {
    Ours(fastgcm::Key),
    Other(other::Other<Aes>),
}

/// Whether `T` is one of two types. The compiler knows, and so only one branch is left of `new`.
#[inline(always)]
fn is<T, A: 'static, B: 'static>() -> bool {
    let id = typeid::of::<T>();
    id == TypeId::of::<A>() || id == TypeId::of::<B>()
}

impl<Aes: KeySizeUser, NonceSize, TagSize: self::TagSize> KeySizeUser for AesGcm<Aes, NonceSize, TagSize> {
    type KeySize = Aes::KeySize;
}

impl<Aes, NonceSize, TagSize> KeyInit for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockSizeUser<BlockSize = U16> + BlockEncrypt + KeyInit,
    TagSize: self::TagSize,
{
    #[inline]
    fn new(key: &Key<Self>) -> Self {
        let ours = |key| Self { inner: Inner::Ours(key), sizes: PhantomData };
        if is::<Aes, aes::Aes128, aes::Aes128Enc>()
            && let Some(key) = key.first_chunk()
        {
            return ours(fastgcm::Key::aes128(key));
        }
        if is::<Aes, aes::Aes192, aes::Aes192Enc>()
            && let Some(key) = key.first_chunk()
        {
            return ours(fastgcm::Key::aes192(key));
        }
        if is::<Aes, aes::Aes256, aes::Aes256Enc>()
            && let Some(key) = key.first_chunk()
        {
            return ours(fastgcm::Key::aes256(key));
        }
        Aes::new(key).into()
    }
}

/// The cipher does not give its key away. So none of fastgcm's code runs, and it is as slow as `aes-gcm`.
impl<Aes, NonceSize, TagSize> From<Aes> for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockSizeUser<BlockSize = U16> + BlockEncrypt,
    TagSize: self::TagSize,
{
    fn from(cipher: Aes) -> Self {
        Self { inner: Inner::Other(other::Other::new(cipher)), sizes: PhantomData }
    }
}

impl<Aes, NonceSize: ArrayLength<u8>, TagSize: self::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    type CiphertextOverhead = U0;
}

impl<Aes, NonceSize, TagSize> AeadInPlace for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockCipher + BlockSizeUser<BlockSize = U16> + BlockEncrypt,
    NonceSize: ArrayLength<u8>,
    TagSize: self::TagSize,
{
    /// Encrypts `buffer`, and returns the tag. On an error it is untouched.
    #[inline]
    fn encrypt_in_place_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: &mut [u8],
    ) -> Result<Tag<TagSize>, Error> {
        let checked = checked(nonce, associated_data, buffer)?;
        let tag = match &self.inner {
            Inner::Ours(key) => key.seal(checked, associated_data, buffer).map_err(|_| Error)?,
            Inner::Other(other) => other.seal(nonce, associated_data, buffer),
        };
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
        let checked = checked(nonce, associated_data, buffer)?;
        match &self.inner {
            Inner::Ours(key) => key.open_restoring(checked, associated_data, buffer, &TagSize::native(tag)).map_err(|_| Error),
            Inner::Other(other) => other.open(nonce, associated_data, buffer, tag),
        }
    }
}

/// Everything that can be wrong before anything is written.
#[inline(always)]
fn checked<'n>(nonce: &'n [u8], aad: &[u8], text: &[u8]) -> Result<fastgcm::Nonce<'n>, Error> {
    if aad.len() as u64 > A_MAX || text.len() as u64 > P_MAX {
        return Err(Error);
    }
    fastgcm::Nonce::any(nonce).map_err(|_| Error)
}

/// What a length of a tag can do; nobody else's types can.
mod private {
    use super::{AnyTag, ArrayLength, GenericArray};

    pub trait SealedTagSize: ArrayLength<u8> {
        type Native: AnyTag;
        fn native(tag: &GenericArray<u8, Self>) -> Self::Native;
    }
}

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

/// The key inside is. Of another block cipher the hash key is, and the cipher answers for itself.
impl<Aes: zeroize::ZeroizeOnDrop, NonceSize, TagSize: self::TagSize> zeroize::ZeroizeOnDrop for AesGcm<Aes, NonceSize, TagSize> {}

#[cfg(test)]
mod tests;
