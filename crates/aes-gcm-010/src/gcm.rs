//! The code that both versions of `aes-gcm` share: one file, to which a symbolic link in the other crate leads. Whatever each version of
//! `aead` calls an item, `lib.rs` imports it under one name.

use crate::{Array, BlockCipherEncrypt, other::Other};
use aead::{Error, Key, KeyInit, KeySizeUser, consts::U16};
use aes::cipher::BlockSizeUser;
use core::{any::TypeId, fmt, marker::PhantomData};

/// A nonce. Prefer the size `U12`; any other size from `U1` on also works.
pub type Nonce<NonceSize> = Array<u8, NonceSize>;

/// A tag.
pub type Tag<TagSize = U16> = Array<u8, TagSize>;

/// The lengths of a tag: `U12` to `U16`, and with feature `hazmat` of the crate for `aes-gcm` 0.11 also `U8` and `U4`. Other crates cannot
/// implement this trait.
pub trait TagSize: private::SealedTagSize {}

impl<T: private::SealedTagSize> TagSize for T {}

/// AES-GCM with a key of 128 bits and nonces of 96 bits.
#[cfg(feature = "aes")]
pub type Aes128Gcm = AesGcm<aes::Aes128, aead::consts::U12>;

/// AES-GCM with a key of 256 bits and nonces of 96 bits.
#[cfg(feature = "aes")]
pub type Aes256Gcm = AesGcm<aes::Aes256, aead::consts::U12>;

/// GCM over `Aes`, with nonces of `NonceSize` bytes and tags of `TagSize` bytes.
///
/// If `Aes` is `Aes128`, `Aes192` or `Aes256` of the crate `aes` that this crate uses, or such a name with `Enc` behind it, the type states
/// the key length, and fastgcm does the work. Any other block cipher does its own work, and so does a cipher that had its key before
/// (`From<Aes>`).
#[derive(Clone)]
pub struct AesGcm<Aes, NonceSize, TagSize = U16>
where
    TagSize: self::TagSize,
{
    pub(crate) inner: Inner<Aes>,
    sizes: PhantomData<(NonceSize, TagSize)>,
}

/// The variants are not in boxes: there may be no allocator, and almost everybody uses the larger variant.
#[allow(clippy::large_enum_variant)]
#[derive(Clone)]
pub(crate) enum Inner<Aes> {
    Ours(fastgcm::Key),
    Other(Other<Aes>),
}

/// Returns whether `T` is one of two types. The compiler knows the answer, so only one branch of `new` remains.
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

/// The cipher does not give its key away. So none of fastgcm's code runs, and this cipher is as slow as `aes-gcm`.
impl<Aes, NonceSize, TagSize> From<Aes> for AesGcm<Aes, NonceSize, TagSize>
where
    Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt,
    TagSize: self::TagSize,
{
    fn from(cipher: Aes) -> Self {
        Self { inner: Inner::Other(Other::new(cipher)), sizes: PhantomData }
    }
}

/// Checks everything that can be wrong before anything is written.
#[inline(always)]
pub(crate) fn checked<'n>(nonce: &'n [u8], aad: &[u8], text: usize) -> Result<fastgcm::Nonce<'n>, Error> {
    if aad.len() as u64 > crate::A_MAX || text as u64 > crate::P_MAX {
        return Err(Error);
    }
    fastgcm::Nonce::any(nonce).map_err(|_| Error)
}

/// What a length of a tag can do. Nobody else's types can do it.
pub(crate) mod private {
    use crate::{Array, Size};
    use fastgcm::AnyTag;

    pub trait SealedTagSize: Size {
        type Native: AnyTag;
        fn native(tag: &Array<u8, Self>) -> Self::Native;
    }
}

macro_rules! tag_sizes {
    ($($(#[$when:meta])? $size:ident $native:path,)+) => { $(
        $(#[$when])?
        impl $crate::gcm::private::SealedTagSize for $size {
            type Native = $native;

            #[inline(always)]
            fn native(tag: &$crate::Array<u8, Self>) -> $native {
                $native((*tag).into())
            }
        }
    )+ };
}

pub(crate) use tag_sizes;

impl<Aes, NonceSize, TagSize: self::TagSize> fmt::Debug for AesGcm<Aes, NonceSize, TagSize> {
    /// Writes the name of the type, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesGcm").finish_non_exhaustive()
    }
}

/// The key inside is wiped on drop. With another block cipher the hash key is wiped, and the cipher wipes itself.
impl<Aes: zeroize::ZeroizeOnDrop, NonceSize, TagSize: self::TagSize> zeroize::ZeroizeOnDrop for AesGcm<Aes, NonceSize, TagSize> {}

#[cfg(test)]
mod tests {
    use super::*;
    use aead::consts::U12;

    /// Keys of AES itself are ours, of each length, and not those of another block cipher's way.
    #[test]
    fn keys_of_aes_are_ours() {
        let ours = [
            matches!(Aes128Gcm::new(&Default::default()).inner, Inner::Ours(_)),
            matches!(AesGcm::<aes::Aes192, U12>::new(&Default::default()).inner, Inner::Ours(_)),
            matches!(Aes256Gcm::new(&Default::default()).inner, Inner::Ours(_)),
        ];
        assert_eq!(ours, [true; 3]);
    }
}
