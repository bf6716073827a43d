#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod other;

pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};
#[cfg(feature = "aes")]
pub use aes;

#[cfg(feature = "hazmat")]
use aead::consts::{U4, U8};
use aead::{
    TagPosition,
    array::{Array, ArraySize},
    consts::{U12, U13, U14, U15, U16},
    inout::InOutBuf,
};
use aes::cipher::{BlockCipherEncrypt, BlockSizeUser};
use core::{any::TypeId, fmt, marker::PhantomData};
use fastgcm::{AnyTag, ShortTag, limits};

/// The longest AAD in bytes.
pub const A_MAX: u64 = limits::AAD;

/// The longest plaintext in bytes.
pub const P_MAX: u64 = limits::TEXT;

/// A nonce. `U12` is the size to prefer; any other, from `U1` on, works.
pub type Nonce<NonceSize> = Array<u8, NonceSize>;

/// A tag.
pub type Tag<TagSize = U16> = Array<u8, TagSize>;

/// The lengths of a tag: `U12` to `U16`, and with feature `hazmat` also `U8` and `U4`. It cannot be implemented elsewhere.
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
/// If `Aes` is `Aes128`, `Aes192` or `Aes256` of the crate `aes` 0.9, or one of these with `Enc` behind its name, it says how long the key is, and
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
    Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeyInit,
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
    Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt,
    TagSize: self::TagSize,
{
    fn from(cipher: Aes) -> Self {
        Self { inner: Inner::Other(other::Other::new(cipher)), sizes: PhantomData }
    }
}

impl<Aes, NonceSize: ArraySize, TagSize: self::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<Aes, NonceSize, TagSize> AeadInOut for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt,
    NonceSize: ArraySize,
    TagSize: self::TagSize,
{
    /// Encrypts `buffer`, and returns the tag. On an error it is untouched.
    #[inline]
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<TagSize>, Error> {
        let checked = checked(nonce, associated_data, &buffer)?;
        let buffer = buffer.into_out_with_copied_in();
        let tag = match &self.inner {
            Inner::Ours(key) => key.seal(checked, associated_data, buffer).map_err(|_| Error)?,
            Inner::Other(other) => other.seal(nonce, associated_data, buffer),
        };
        Ok(Array::from_fn(|i| tag.0[i]))
    }

    /// Decrypts `buffer`. On an error its output holds what it held, bit for bit.
    #[inline]
    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        mut buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<TagSize>,
    ) -> Result<(), Error> {
        let checked = checked(nonce, associated_data, &buffer)?;
        let key = match &self.inner {
            Inner::Ours(key) => key,
            Inner::Other(other) => return other.open(nonce, associated_data, buffer, tag),
        };
        let tag = &TagSize::native(tag);
        // What another buffer holds could not be restored, so nothing is written to it before the tag has been verified.
        if !core::ptr::eq(buffer.get_in(), buffer.get_out()) {
            key.verify(checked, associated_data, buffer.get_in(), tag).map_err(|_| Error)?;
        }
        key.open_restoring(checked, associated_data, buffer.into_out_with_copied_in(), tag).map_err(|_| Error)
    }
}

/// Everything that can be wrong before anything is written: from one buffer to another, the text is copied first.
#[inline(always)]
fn checked<'n>(nonce: &'n [u8], aad: &[u8], buffer: &InOutBuf<'_, '_, u8>) -> Result<fastgcm::Nonce<'n>, Error> {
    if aad.len() as u64 > A_MAX || buffer.len() as u64 > P_MAX {
        return Err(Error);
    }
    fastgcm::Nonce::any(nonce).map_err(|_| Error)
}

/// What a length of a tag can do; nobody else's types can.
mod private {
    use super::{AnyTag, Array, ArraySize};

    pub trait SealedTagSize: ArraySize {
        type Native: AnyTag;
        fn native(tag: &Array<u8, Self>) -> Self::Native;
    }
}

macro_rules! tag_sizes {
    ($($(#[$when:meta])? $size:ident $native:path,)+) => { $(
        $(#[$when])?
        impl private::SealedTagSize for $size {
            type Native = $native;

            #[inline(always)]
            fn native(tag: &Array<u8, Self>) -> $native {
                $native(tag.0)
            }
        }
    )+ };
}

tag_sizes! {
    #[cfg(feature = "hazmat")] U4 ShortTag<4>,
    #[cfg(feature = "hazmat")] U8 ShortTag<8>,
    U12 ShortTag<12>,
    U13 ShortTag<13>,
    U14 ShortTag<14>,
    U15 ShortTag<15>,
    U16 fastgcm::Tag,
}

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
