//! Keys for a back end of the caller's choice, and keys that are derived in their final place: on the heap,
//! shared, or in memory of the caller's.

#[cfg(feature = "alloc")]
use crate::inout::made_boxed;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::inout::made_shared;
use crate::{Backend, Error, Key, key::check};
use core::mem::MaybeUninit;

impl Key {
    /// Makes a key of 16, 24 or 32 bytes for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`. Otherwise fails like
    /// [`new`](Self::new).
    #[inline]
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        let row = backend.row()?;
        check(key)?;
        Ok(Self::derive(key, row))
    }

    /// Makes a key of 16, 24 or 32 bytes on the heap, for the best back end of this machine. The key is
    /// derived in place, so no move ever copies it.
    ///
    /// # Errors
    /// Fails like [`new`](Self::new).
    #[cfg(feature = "alloc")]
    pub fn boxed(key: &[u8]) -> Result<alloc::boxed::Box<Self>, Error> {
        Self::boxed_with_backend(key, Backend::detect())
    }

    /// Makes a key of 16, 24 or 32 bytes on the heap, in place, for the back end `backend`.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend).
    #[cfg(feature = "alloc")]
    pub fn boxed_with_backend(key: &[u8], backend: Backend) -> Result<alloc::boxed::Box<Self>, Error> {
        let row = backend.row()?;
        check(key)?;
        Ok(made_boxed(|place| Self::derive_in(place, key, row)))
    }

    /// Makes a key behind a counted reference, for owners that share the key. The key is derived in place.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend).
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    pub fn shared_with_backend(key: &[u8], backend: Backend) -> Result<alloc::sync::Arc<Self>, Error> {
        let row = backend.row()?;
        check(key)?;
        Ok(made_shared(|place| Self::derive_in(place, key, row)))
    }

    /// Makes a key in memory of the caller's choice. The key is derived in place. The caller must drop the
    /// key before freeing that memory.
    ///
    /// # Errors
    /// Fails like [`with_backend`](Self::with_backend), and then writes nothing.
    pub fn init_in_place<'a>(
        place: &'a mut MaybeUninit<Self>,
        key: &[u8],
        backend: Backend,
    ) -> Result<&'a mut Self, Error> {
        let row = backend.row()?;
        check(key)?;
        Ok(Self::derive_in(place, key, row))
    }

    /// Replaces the key in place with a key of 16, 24 or 32 bytes, and wipes the old one. The new key may
    /// have another length. The back end does not change.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `key` has another number of bytes. The old key then
    /// stays.
    pub fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        check(key)?;
        self.row.rekey(&mut self.material, key);
        Ok(())
    }

    /// Returns the length in bytes of the AES key: 16, 24 or 32.
    pub fn key_len(&self) -> usize {
        4 * (self.material.schedule.rounds() - 6)
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.row.backend
    }
}
