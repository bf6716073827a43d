//! The key: everything that sealing and opening need, derived once and wiped on drop.

use crate::{Backend, Error, aes::Material, inout::made_in, row::Row, running::Keyed};
use core::{fmt, mem::MaybeUninit};
use zeroize::ZeroizeOnDrop;

/// An AES-GCM key of 128, 192 or 256 bits, ready for use: AES round keys and powers of the hash key H.
///
/// Making a key takes about four times as long as sealing half a kilobyte (on Zen 5, 105 to 123 ns against 24
/// to 30 ns), so keep the key. A `Key` is `Send` and `Sync`: one key serves any number of threads. A key is
/// wiped when it is dropped. Copies that the compiler makes when a key is *moved* by value are not wiped;
/// [`Key::boxed`] and [`Key::rekey`] derive a key in its final place.
///
/// A key must never seal two messages with one nonce. Two such messages give away the XOR of their texts and
/// the hash key, with which anybody can forge.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Key {
    pub(crate) material: Material,
    pub(crate) row: &'static Row,
    /// Holds nothing. Padding in its place would keep what the stack held before, and nobody would wipe that.
    _spare: [usize; SPARE],
}

/// Words that fill the line of `row`.
const SPARE: usize = 64 / size_of::<usize>() - 1;

impl Key {
    /// Makes a key of 16, 24 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    ///
    /// ```
    /// let key = fastgcm::Key::new(b"sixteen bytes...")?;
    /// assert!(fastgcm::Key::new(b"seventeen bytes..").is_err());
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[inline]
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        check(key)?;
        Ok(Self::derive(key, Backend::best()))
    }

    /// Makes an AES-128 key for the best back end of this machine. It cannot fail.
    #[inline]
    pub fn aes128(key: &[u8; 16]) -> Self {
        Self::derive(key, Backend::best())
    }

    /// Makes an AES-192 key for the best back end of this machine. It cannot fail.
    #[inline]
    pub fn aes192(key: &[u8; 24]) -> Self {
        Self::derive(key, Backend::best())
    }

    /// Makes an AES-256 key for the best back end of this machine. It cannot fail.
    #[inline]
    pub fn aes256(key: &[u8; 32]) -> Self {
        Self::derive(key, Backend::best())
    }

    #[inline(always)]
    pub(crate) fn derive_in<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8],
        row: &'static Row,
    ) -> &'a mut Self {
        made_in!(
            place,
            Key { material: |place| row.derive_in(place, key, None), row: row, _spare: [0; SPARE] }
        )
    }

    #[inline(always)]
    pub(crate) fn keyed(&self) -> Keyed<'_> {
        (self.row.steps(), &self.material)
    }

    /// A constructor that can fail still copies the key once out of its `Result`, in 30 ns: of all ways that
    /// were tried, this one leaves the fewest copies to LLVM. [`aes128`](Self::aes128), `aes192` and `aes256`
    /// cannot fail, so they make no such copy. LLVM may still move their result to the caller's variable, and
    /// has been seen to do so (2,152 bytes). `boxed` and `rekey` move nothing.
    #[inline(always)]
    pub(crate) fn derive(key: &[u8], row: &'static Row) -> Self {
        Self { material: row.derive(key, None), row, _spare: [0; SPARE] }
    }

    /// A key for `one` message with these numbers of bytes of AAD and text. The caller must not seal or open
    /// any other message with it.
    #[inline(always)]
    pub(crate) fn for_one(key: &[u8], row: &'static Row, one: Option<(usize, usize)>) -> Self {
        Self { material: row.derive(key, one), row, _spare: [0; SPARE] }
    }

    /// A key of which only the round keys are used, derived in its final place.
    pub(crate) fn for_aes_in<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8],
        row: &'static Row,
    ) -> &'a mut Self {
        made_in!(
            place,
            Key { material: |place| row.derive_in(place, key, Some((0, 0))), row: row, _spare: [0; SPARE] }
        )
    }

    /// A key of which only the round keys are used.
    pub(crate) fn for_aes(key: &[u8], row: &'static Row) -> Self {
        Self::for_one(key, row, Some((0, 0)))
    }
}

pub(crate) fn check(key: &[u8]) -> Result<(), Error> {
    if matches!(key.len(), 16 | 24 | 32) { Ok(()) } else { Err(Error::InvalidLength) }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.row.wipe(&mut self.material);
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    /// Writes the length and the back end, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(AES-{}, {})", 8 * self.key_len(), self.backend())
    }
}

const _: () = assert!(size_of::<Key>() <= 1728);
