//! The key: everything that its messages need, derived once and wiped on drop.

#[cfg(feature = "alloc")]
use crate::inout::made_boxed;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::inout::made_shared;
use crate::{Backend, Error, backend::Kernels, inout::made_in, material::Material, running::Keyed};
use core::{fmt, mem::MaybeUninit};
use zeroize::ZeroizeOnDrop;

/// An AES-GCM key of 128, 192 or 256 bits, ready for use: AES round keys and powers of the hash key H.
///
/// Making a key takes about four times as long as sealing half a kilobyte (Zen 5: 105 to 123 ns, and 24 to 30 ns), so keep it. It is
/// `Send` and `Sync`: one key serves any number of threads. A key is wiped when it is dropped. Copies that the compiler makes when a key is *moved* by value are not
/// wiped; [`Key::boxed`] and [`Key::rekey`] derive a key where it stays.
///
/// A key must never seal two messages with the same nonce. Two such messages give away the XOR of their texts, and the hash key, with
/// which anybody can forge.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Key {
    pub(crate) material: Material,
    pub(crate) kernels: &'static Kernels,
    /// Nothing; but padding would keep what the stack held before, which nobody wipes.
    _spare: [usize; SPARE],
}

/// Words that fill `kernels` up to a line.
const SPARE: usize = 64 / size_of::<usize>() - 1;

impl Key {
    /// Makes a key of 16, 24 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
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

    /// Makes an AES-128 key for the best back end of this machine. Cannot fail.
    #[inline]
    pub fn aes128(key: &[u8; 16]) -> Self {
        Self::derive(key, Backend::best())
    }

    /// Makes an AES-192 key for the best back end of this machine. Cannot fail.
    #[inline]
    pub fn aes192(key: &[u8; 24]) -> Self {
        Self::derive(key, Backend::best())
    }

    /// Makes an AES-256 key for the best back end of this machine. Cannot fail.
    #[inline]
    pub fn aes256(key: &[u8; 32]) -> Self {
        Self::derive(key, Backend::best())
    }

    /// Makes a key of 16, 24 or 32 bytes for the back end `backend`.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`, else as [`new`](Self::new).
    #[inline]
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        let kernels = backend.kernels()?;
        check(key)?;
        Ok(Self::derive(key, kernels))
    }

    /// Makes a key of 16, 24 or 32 bytes on the heap, for the best back end of this machine. The key is derived in place, so no move
    /// ever copies it.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "alloc")]
    pub fn boxed(key: &[u8]) -> Result<alloc::boxed::Box<Self>, Error> {
        Self::boxed_with_backend(key, Backend::detect())
    }

    /// Makes a key of 16, 24 or 32 bytes on the heap, in place, for the back end `backend`.
    ///
    /// # Errors
    /// As [`with_backend`](Self::with_backend).
    #[cfg(feature = "alloc")]
    pub fn boxed_with_backend(key: &[u8], backend: Backend) -> Result<alloc::boxed::Box<Self>, Error> {
        let kernels = backend.kernels()?;
        check(key)?;
        Ok(made_boxed(|place| Self::derive_in(place, key, kernels)))
    }

    /// The same behind a counted reference, derived in place: for owners that share it.
    ///
    /// # Errors
    /// As [`with_backend`](Self::with_backend).
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    pub fn shared_with_backend(key: &[u8], backend: Backend) -> Result<alloc::sync::Arc<Self>, Error> {
        let kernels = backend.kernels()?;
        check(key)?;
        Ok(made_shared(|place| Self::derive_in(place, key, kernels)))
    }

    /// The same in memory of the caller's choice, derived in place. Who gives that memory back drops the key first.
    ///
    /// # Errors
    /// As [`with_backend`](Self::with_backend): nothing is written.
    pub fn init_in_place<'a>(place: &'a mut MaybeUninit<Self>, key: &[u8], backend: Backend) -> Result<&'a mut Self, Error> {
        let kernels = backend.kernels()?;
        check(key)?;
        Ok(Self::derive_in(place, key, kernels))
    }

    /// Replaces the key in place by one of 16, 24 or 32 bytes, and wipes the old one. The new key may have another length. The back end
    /// stays the same.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if `key` has another number of bytes. The old key stays.
    pub fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        check(key)?;
        self.kernels.expand(&mut self.material, key);
        Ok(())
    }

    #[inline(always)]
    fn derive_in<'a>(place: &'a mut MaybeUninit<Self>, key: &[u8], kernels: &'static Kernels) -> &'a mut Self {
        made_in!(place, Key { material: |place| kernels.derive_in(place, key, None), kernels: kernels, _spare: [0; SPARE] })
    }

    #[inline(always)]
    pub(crate) fn keyed(&self) -> Keyed<'_> {
        (self.kernels.steps(), &self.material)
    }

    /// Returns the length in bytes of the AES key: 16, 24 or 32.
    pub fn key_len(&self) -> usize {
        4 * (self.material.schedule.rounds() - 6)
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.kernels.backend
    }

    /// What remains is one copy out of the `Result` of a constructor that can fail, 30 ns: of all ways that were tried, this leaves the
    /// fewest to LLVM. [`aes128`](Self::aes128) and its like are without; so are `boxed` and `rekey`.
    #[inline(always)]
    fn derive(key: &[u8], kernels: &'static Kernels) -> Self {
        Self { material: kernels.derive(key, None), kernels, _spare: [0; SPARE] }
    }

    /// The same for `one` message of so many bytes of AAD and text: whoever has it must not seal or open any other.
    #[inline(always)]
    pub(crate) fn for_one(key: &[u8], kernels: &'static Kernels, one: Option<(usize, usize)>) -> Self {
        Self { material: kernels.derive(key, one), kernels, _spare: [0; SPARE] }
    }

    /// The same for who asks for its round keys alone.
    pub(crate) fn for_aes(key: &[u8], kernels: &'static Kernels) -> Self {
        Self::for_one(key, kernels, Some((0, 0)))
    }
}

pub(crate) fn check(key: &[u8]) -> Result<(), Error> {
    if matches!(key.len(), 16 | 24 | 32) { Ok(()) } else { Err(Error::InvalidLength) }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.kernels.wipe(&mut self.material);
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    /// The length and the back end; nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(AES-{}, {})", 8 * self.key_len(), self.backend())
    }
}

const _: () = assert!(size_of::<Key>() <= 4096);
