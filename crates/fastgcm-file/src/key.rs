//! The key that seals files. Each file has its own keys, which are derived from this key ([`cipher`](crate::cipher)).

use crate::{Error, Format};
use fastgcm::Backend;
use hkdf::Hkdf;
use sha2::Sha512;
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The key of one person or one purpose, for any number of files. A key is wiped when it is dropped.
///
/// A key must be uniformly random, because the derivation uses its bytes unchanged. So a password cannot be a key.
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

/// The length of the longest key in bytes.
pub(crate) const MAX_KEY_LEN: usize = 32;

impl Key {
    /// Makes a random key from bytes of the operating system.
    ///
    /// # Errors
    /// Returns [`Io`](Error::Io) if the operating system has no random bytes.
    pub fn generate(format: Format) -> Result<Self, Error> {
        let mut key = Self::zero(format);
        random(&mut key.bytes[..format.key_len()])?;
        Ok(key)
    }

    /// Makes a key from `bytes`.
    ///
    /// # Errors
    /// Returns [`KeyLength`](Error::KeyLength) unless `bytes` has [`Format::key_len`] bytes.
    pub fn new(format: Format, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != format.key_len() {
            return Err(Error::KeyLength);
        }
        let mut key = Self::zero(format);
        key.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(key)
    }

    /// Returns this key for another back end of the AES-GCM library, in place of the best one of this machine. Sealed files do not depend
    /// on the back end.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run the back end.
    pub fn with_backend(mut self, backend: Backend) -> Result<Self, Error> {
        if !backend.is_available() {
            return Err(Error::Unavailable);
        }
        self.backend = backend;
        Ok(self)
    }

    /// Returns the bytes of the key, which are secret. A caller that copies them must wipe the copy.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.format.key_len()]
    }

    /// Returns eight bytes of a hash of the key, such as `3f2a-91c0-77de-1b04`, so that people can tell one key from another. They reveal
    /// nothing about a random key, so they are not secret.
    ///
    /// # Errors
    /// The function returns no error today.
    ///
    /// ```
    /// use fastgcm_file::{Format, Key};
    /// let key = Key::new(Format::Cobblestone256, &[7; 32])?;
    /// assert_eq!(key.fingerprint()?, "e263-c23f-42e2-8964");
    /// # Ok::<(), fastgcm_file::Error>(())
    /// ```
    pub fn fingerprint(&self) -> Result<String, Error> {
        let mut bytes = [0; 8];
        // No key of a file is derived from these words: the derivation of every file's keys begins with other words.
        expand(self, &[b"fastgcm fingerprint@v1+", self.format.aead().as_bytes()], &mut bytes)?;
        overwrite_stack();
        let groups = [0, 2, 4, 6].map(|at| format!("{:02x}{:02x}", bytes[at], bytes[at + 1]));
        Ok(groups.join("-"))
    }

    /// Returns the format of the files that the key seals.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    fn zero(format: Format) -> Self {
        Self { bytes: Zeroizing::new([0; MAX_KEY_LEN]), format, backend: Backend::detect() }
    }
}

impl fmt::Debug for Key {
    /// Writes the format and the back end, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {})", self.format, self.backend)
    }
}

/// Fills `bytes` with random bytes from the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Io(error.into()))
}

/// Runs HKDF-Expand. This is a function of its own, because the crates `hkdf` and `sha2` leave parts of their results on the stack: see
/// [`overwrite_stack`].
#[inline(never)]
pub(crate) fn expand(key: &Key, info: &[&[u8]], okm: &mut [u8]) -> Result<(), Error> {
    // The crate `hkdf` requires a pseudorandom key of at least the hash's 64 bytes. HMAC pads any key with zeros to the hash's block of 128
    // bytes (RFC 2104), so the zeros that we add here change nothing.
    let mut padded = Zeroizing::new([0; 64]);
    padded[..key.as_bytes().len()].copy_from_slice(key.as_bytes());
    let hkdf = Hkdf::<Sha512>::from_prk(&*padded).map_err(|_| Error::KeyLength)?;
    hkdf.expand_multi_info(info, okm).map_err(|_| Error::KeyLength)
}

/// Writes zeros where functions that have returned had their variables.
#[inline(never)]
pub(crate) fn overwrite_stack() {
    let mut room = [1_u8; 8192];
    room.zeroize();
}
