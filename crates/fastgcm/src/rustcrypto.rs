//! RustCrypto's interface (`aead` 0.6), with the names of the crate `aes-gcm` 0.11: a program replaces
//! `use aes_gcm::...` with `use fastgcm::rustcrypto::...`. The list below says what else may have to change.
//! (Crate `fastgcm-aes-gcm`, 0.10 and 0.11, also has the features and the types of crate `aes`, so no source
//! changes.)
#![cfg_attr(all(feature = "alloc", feature = "getrandom"), doc = "```")]
#![cfg_attr(not(all(feature = "alloc", feature = "getrandom")), doc = "```ignore")]
//! use fastgcm::rustcrypto::{
//!     Aes256Gcm, Nonce,
//!     aead::{Aead, Generate, Key, KeyInit, Payload},
//! };
//!
//! let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::generate());
//! let nonce = Nonce::generate(); // must be unique for every message under one key
//! let sealed = cipher.encrypt(&nonce, Payload { msg: b"text", aad: b"header" })?;
//! assert_eq!(cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"header" })?, b"text");
//! # Ok::<(), fastgcm::rustcrypto::Error>(())
//! ```
//!
//! # Differences from `aes-gcm` 0.11
//! * **Features.** In `aes-gcm` the features `alloc` and `getrandom` are on by default. Here `alloc` (for
//!   [`Aead`](aead::Aead) and `Vec`) comes with the default feature `std`, and the program enables
//!   `getrandom` (for `Generate`) itself. This crate has no features `arrayvec`, `bytes` and `rand_core`: a
//!   program that needs them adds `aead` to its own dependencies, with the feature of that name. `zeroize` is
//!   always on, and no program needs the crate `aes`.
//! * **Rust 1.89** or newer is required, where `aes-gcm` requires 1.85.
//! * **AES has no type of its own.** The names in [`aes`] only choose the length of the key: the module is
//!   not the crate `aes`. So this crate has no `From<Aes>`, accepts no other implementation of AES, and does
//!   not compile with code that is generic over a block cipher (`BlockCipherEncrypt`). Sizes (`U12` and so
//!   on) come from [`aead::consts`], not from `aes::cipher::consts`.
//! * **Opening is one pass.** `aes-gcm` verifies, then decrypts. This crate decrypts the text while it hashes
//!   it. If the tag is wrong, it encrypts a buffer in place again, which restores the ciphertext bit for bit.
//!   So after an error a buffer in place is as it was, in both crates. During the call, another thread or
//!   process that can see the buffer might see unverified plaintext
//!   ([`Key::open_verified_first`](crate::Key::open_verified_first) never writes any).
//! * **From one buffer to another** (an `InOutBuf` of two): after a wrong tag the output is all zero here,
//!   and untouched in `aes-gcm`.
//! * **An empty nonce** (`U0`) is an error: SP 800-38D does not allow it, and tags under it give away the
//!   hash key.
//! * **The key is always wiped** when it is dropped. It is larger than a key of `aes-gcm` (see
//!   [`Key`](crate::Key)), so avoid moving it.
//!
//! # From `aes-gcm` 0.10
//! That version implements `aead` 0.5, whose traits are different traits: a function that requires them does
//! not accept these types. A call that changes from 0.10 to 0.11 changes here as it does there. `AeadInPlace`
//! becomes [`AeadInOut`], `generate_key` and `generate_nonce` become `Generate::generate`, and `GenericArray`
//! becomes [`Array`]. `C_MAX` and the features `std`, `stream` and `heapless` of that crate are gone.

pub use aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser};

use crate::{
    AnyTag, ShortTag,
    inout::InOut,
    limits,
    seal::{restore, wipe},
    tag::tags_differ,
};
#[cfg(feature = "hazmat")]
use aead::consts::{U4, U8};
use aead::{
    TagPosition,
    array::{Array, ArraySize},
    consts::{U12, U13, U14, U15, U16, U24, U32},
    inout::InOutBuf,
};
use core::{fmt, marker::PhantomData};

/// The longest AAD in bytes.
pub const A_MAX: u64 = limits::AAD;

/// The longest plaintext in bytes.
pub const P_MAX: u64 = limits::TEXT;

/// A nonce. Prefer the size [`U12`]; any other size from `U1` on also works.
pub type Nonce<NonceSize> = Array<u8, NonceSize>;

/// A tag.
pub type Tag<TagSize = U16> = Array<u8, TagSize>;

/// AES-GCM with a key of 128 bits and nonces of 96 bits.
pub type Aes128Gcm = AesGcm<aes::Aes128, U12>;

/// AES-GCM with a key of 256 bits and nonces of 96 bits.
pub type Aes256Gcm = AesGcm<aes::Aes256, U12>;

/// AES-GCM with keys of the length that `Aes` names (a type of [`aes`]), nonces of `NonceSize` bytes and tags
/// of `TagSize` bytes.
///
/// The type parameters exist only at compile time: a value is a [`Key`](crate::Key) for the best back end of
/// this machine.
#[derive(Clone)]
pub struct AesGcm<Aes, NonceSize, TagSize = U16>
where
    TagSize: self::TagSize,
{
    key: crate::Key,
    sizes: PhantomData<(Aes, NonceSize, TagSize)>,
}

/// The lengths of a tag: 12 to 16 bytes, and with feature `hazmat` also 8 and 4. Other crates cannot
/// implement this trait.
pub trait TagSize: private::SealedTagSize {}

impl<T: private::SealedTagSize> TagSize for T {}

impl<Aes: KeySizeUser, NonceSize, TagSize: self::TagSize> KeySizeUser for AesGcm<Aes, NonceSize, TagSize> {
    type KeySize = Aes::KeySize;
}

impl<Aes: private::KeyLength, NonceSize, TagSize: self::TagSize> KeyInit for AesGcm<Aes, NonceSize, TagSize> {
    #[inline]
    fn new(key: &Key<Self>) -> Self {
        Self { key: Aes::derive(key), sizes: PhantomData }
    }
}

impl<Aes, NonceSize: ArraySize, TagSize: self::TagSize> AeadCore for AesGcm<Aes, NonceSize, TagSize> {
    type NonceSize = NonceSize;
    type TagSize = TagSize;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<Aes, NonceSize: ArraySize, TagSize: self::TagSize> AeadInOut for AesGcm<Aes, NonceSize, TagSize> {
    #[inline]
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> Result<Tag<TagSize>, Error> {
        let nonce = checked(nonce, associated_data, &buffer)?;
        let tag = self
            .key
            .seal_inout(nonce, associated_data, InOut::of(buffer))
            .map(crate::Tag::of)
            .map_err(|_| Error)?;
        Ok(Array::from_fn(|i| tag.0[i]))
    }

    #[inline]
    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<NonceSize>,
        associated_data: &[u8],
        mut buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<TagSize>,
    ) -> Result<(), Error> {
        let nonce = checked(nonce, associated_data, &buffer)?;
        let text = InOut::of(buffer.reborrow());
        let in_place = text.is_in_place();
        let differs = |found| tags_differ(found, &TagSize::native(tag));
        // There is no error, because `checked` has seen the lengths. So there is only one branch, on the
        // verdict.
        if self.key.open_inout(nonce, associated_data, text, differs).unwrap_or(true) {
            let text = buffer.get_out();
            if in_place {
                restore(&self.key, nonce, associated_data, text);
            } else {
                wipe(text);
            }
            return Err(Error);
        }
        Ok(())
    }
}

/// Checks everything that can be wrong before anything is written.
#[inline(always)]
fn checked<'n>(
    nonce: &'n [u8],
    aad: &[u8],
    buffer: &InOutBuf<'_, '_, u8>,
) -> Result<crate::Nonce<'n>, Error> {
    limits::check(aad.len(), buffer.len()).map_err(|_| Error)?;
    crate::Nonce::any(nonce).map_err(|_| Error)
}

/// Names of key lengths, for the first parameter of [`AesGcm`]. They replace RustCrypto's crate `aes`.
pub mod aes {
    /// A key of 128 bits.
    #[derive(Clone, Copy, Debug)]
    pub enum Aes128 {}

    /// A key of 192 bits.
    #[derive(Clone, Copy, Debug)]
    pub enum Aes192 {}

    /// A key of 256 bits.
    #[derive(Clone, Copy, Debug)]
    pub enum Aes256 {}
}

/// What the type parameters can do. Nobody else's types can do it.
mod private {
    use super::{AnyTag, Array, ArraySize, Key, KeySizeUser};

    pub trait KeyLength: KeySizeUser + Sized {
        fn derive(key: &Key<Self>) -> crate::Key;
    }

    pub trait SealedTagSize: ArraySize {
        type Native: AnyTag;
        fn native(tag: &Array<u8, Self>) -> Self::Native;
    }
}

macro_rules! key_lengths {
    ($($aes:ident $size:ident $derive:ident,)+) => { $(
        impl KeySizeUser for aes::$aes {
            type KeySize = $size;
        }

        impl private::KeyLength for aes::$aes {
            #[inline(always)]
            fn derive(key: &Key<Self>) -> crate::Key {
                crate::Key::$derive(&key.0)
            }
        }
    )+ };
}

key_lengths! { Aes128 U16 aes128, Aes192 U24 aes192, Aes256 U32 aes256, }

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
    U16 crate::Tag,
    U15 ShortTag<15>,
    U14 ShortTag<14>,
    U13 ShortTag<13>,
    U12 ShortTag<12>,
    #[cfg(feature = "hazmat")] U8 ShortTag<8>,
    #[cfg(feature = "hazmat")] U4 ShortTag<4>,
}

impl<Aes, NonceSize, TagSize: self::TagSize> fmt::Debug for AesGcm<Aes, NonceSize, TagSize> {
    /// Writes the name of the type, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesGcm").finish_non_exhaustive()
    }
}

/// The key inside is wiped on drop, and the type has no other field.
impl<Aes, NonceSize, TagSize: self::TagSize> zeroize::ZeroizeOnDrop for AesGcm<Aes, NonceSize, TagSize> {}
