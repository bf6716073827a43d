//! The key that files are sealed with. Each file has keys of its own, derived from it ([`cipher`](crate::cipher)).

use crate::{Error, Format};
use fastgcm::Backend;
use std::fmt;
use zeroize::Zeroizing;

/// The key of one person or one purpose, for any number of files. Wiped when it is dropped.
///
/// It must be uniformly random: it goes into the derivation as it is, so a password is no key.
///
/// ```
/// use fastgcm_file::{Format, Key};
/// let key = Key::generate(Format::default())?;
/// assert_eq!(key.as_bytes().len(), 32);
/// assert!(Key::new(Format::Cobblestone128, key.as_bytes()).is_err()); // takes 16
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
#[derive(Clone)]
pub struct Key {
    bytes: Zeroizing<[u8; MAX_KEY_LEN]>,
    format: Format,
    backend: Backend,
}

/// Bytes of the longest key.
pub(crate) const MAX_KEY_LEN: usize = 32;

impl Key {
    /// A random key, from the operating system.
    ///
    /// # Errors
    /// [`Io`](Error::Io) if it has no random bytes to give.
    pub fn generate(format: Format) -> Result<Self, Error> {
        let mut key = Self::zero(format);
        random(&mut key.bytes[..format.key_len()])?;
        Ok(key)
    }

    /// The key of these bytes.
    ///
    /// # Errors
    /// [`KeyLength`](Error::KeyLength) unless there are [`Format::key_len`] of them.
    pub fn new(format: Format, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != format.key_len() {
            return Err(Error::KeyLength);
        }
        let mut key = Self::zero(format);
        key.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(key)
    }

    /// The same key, for that back end of the AES-GCM library instead of the best one of this machine. The files are the same.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run it.
    pub fn with_backend(mut self, backend: Backend) -> Result<Self, Error> {
        if !backend.is_available() {
            return Err(Error::Unavailable);
        }
        self.backend = backend;
        Ok(self)
    }

    /// The bytes: secret. Whoever copies them wipes the copy.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.format.key_len()]
    }

    /// The format that it is for.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The back end that it uses.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    fn zero(format: Format) -> Self {
        Self { bytes: Zeroizing::new([0; MAX_KEY_LEN]), format, backend: Backend::detect() }
    }
}

impl fmt::Debug for Key {
    /// The format and the back end; nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {})", self.format, self.backend)
    }
}

/// Random bytes from the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Io(error.into()))
}
