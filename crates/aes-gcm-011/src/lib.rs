#![doc = include_str!("../README.md")]
#![no_std]

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
use core::{fmt, marker::PhantomData};
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

/// AES-GCM with a key of the length of `Aes`, nonces of `NonceSize` bytes and tags of `TagSize`.
///
/// `Aes` is `Aes128`, `Aes192` or `Aes256` of the crate `aes` 0.9, or one of these with `Enc` behind its name. It says how long the key is, and none
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

impl<Aes, NonceSize: ArraySize, TagSize: self::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<Aes: private::Aes, NonceSize: ArraySize, TagSize: self::TagSize> AeadInOut for AesGcm<Aes, NonceSize, TagSize> {
    /// Encrypts `buffer`, and returns the tag. On an error it is untouched.
    #[inline]
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<TagSize>, Error> {
        let nonce = checked(nonce, associated_data, &buffer)?;
        let tag = self.key.seal(nonce, associated_data, buffer.into_out_with_copied_in()).map_err(|_| Error)?;
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
        let nonce = checked(nonce, associated_data, &buffer)?;
        let tag = &TagSize::native(tag);
        // What another buffer holds could not be restored, so nothing is written to it before the tag has been verified.
        if !core::ptr::eq(buffer.get_in(), buffer.get_out()) {
            self.key.verify(nonce, associated_data, buffer.get_in(), tag).map_err(|_| Error)?;
        }
        self.key.open_restoring(nonce, associated_data, buffer.into_out_with_copied_in(), tag).map_err(|_| Error)
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

/// What the type parameters can do; nobody else's types can.
mod private {
    use super::{AnyTag, Array, ArraySize, Key, KeySizeUser};

    pub trait Aes: KeySizeUser + Sized {
        fn key(key: &Key<Self>) -> fastgcm::Key;
    }

    pub trait SealedTagSize: ArraySize {
        type Native: AnyTag;
        fn native(tag: &Array<u8, Self>) -> Self::Native;
    }
}

macro_rules! ciphers {
    ($($length:ident $aes:ident $enc:ident,)+) => { $( ciphers! { @ $length $aes } ciphers! { @ $length $enc } )+ };
    (@ $length:ident $aes:ident) => {
        impl private::Aes for aes::$aes {
            #[inline(always)]
            fn key(key: &Key<Self>) -> fastgcm::Key {
                fastgcm::Key::$length(&key.0)
            }
        }
    };
}

ciphers! { aes128 Aes128 Aes128Enc, aes192 Aes192 Aes192Enc, aes256 Aes256 Aes256Enc, }

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

/// The key inside is, and there is nothing else.
impl<Aes, NonceSize, TagSize: self::TagSize> zeroize::ZeroizeOnDrop for AesGcm<Aes, NonceSize, TagSize> {}
