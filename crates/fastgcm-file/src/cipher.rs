//! The keys of one file, and its chunks: sealed and opened by number, in any order.
//!
//! **Derivation** (C2SP chunked encryption, section "Key derivation"). The user's key is HKDF's pseudorandom key directly, without the
//! extraction step, because it is already uniform:
//! ```text
//! AES key (16 or 32) || base nonce (12) || commitment (32) =
//!     HKDF-Expand-SHA-512(key, "c2sp.org/chunked-encryption@v1+" || AEAD || 0x00 || salt || context)
//! ```
//! GCM lacks a **commitment**: without it somebody could make a file that opens under two keys to two texts. The commitment also tells a
//! wrong key from a damaged file, so it is checked before anything else, in constant time.
//!
//! A chunk's **nonce** is the base nonce XOR its number. So a chunk that is moved to another place or another file is not authentic there,
//! and chunks are independent: threads, ranges and machines may share the work.

use crate::{
    CHUNK_LEN, COMMITMENT_LEN, Error, HEADER_LEN, Key, MAX_CHUNKS, SALT_LEN, TAG_LEN,
    key::{MAX_KEY_LEN, expand, overwrite_stack, random},
};
use fastgcm::nonces::XorNonces;
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The first [`HEADER_LEN`] bytes of a sealed file: salt and commitment.
pub type Header = [u8; HEADER_LEN];

/// Seals and opens the chunks of one file, on any number of threads. A `Cipher` is wiped when it is dropped.
///
/// The type is for protocols and for work on several machines; for files, [`seal`](crate::seal), [`open`](crate::open),
/// [`Writer`](crate::Writer), [`Reader`](crate::Reader) and [`RangeReader`](crate::RangeReader) are simpler. The caller must ensure two
/// things. No number may be sealed twice with different text. The last chunk, and only the last, has fewer than [`CHUNK_LEN`] bytes of
/// text.
///
/// ```
/// use fastgcm_file::{CHUNK_LEN, Cipher, Format, Key, SEALED_CHUNK_LEN};
/// let key = Key::generate(Format::default())?;
/// let (header, cipher) = Cipher::create(&key, b"context")?;
/// let (mut first, mut last) = ([0; SEALED_CHUNK_LEN], [0; 3 + 16]);
/// cipher.seal_chunk(1, b"end", &mut last)?;
/// cipher.seal_chunk(0, &[7; CHUNK_LEN], &mut first)?;
/// let sealed = [&header[..], &first, &last].concat();
///
/// let mut text = Vec::new();
/// fastgcm_file::open(&key, b"context", &sealed[..], &mut text, std::num::NonZero::<usize>::MIN)?;
/// assert_eq!(text.len(), CHUNK_LEN + 3);
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub struct Cipher {
    key: Box<fastgcm::Key>,
    base_nonce: Zeroizing<[u8; NONCE_LEN]>,
}

/// The length of a nonce in bytes.
const NONCE_LEN: usize = 12;

impl Cipher {
    /// Makes the header, with a random salt, and the keys of a new file.
    ///
    /// `context` says what the file is and where it belongs (a path, a name, a version). The file opens only with this context, which is
    /// not stored, is not secret, and may be empty.
    ///
    /// # Errors
    /// Returns [`Io`](Error::Io) if the operating system has no random bytes.
    pub fn create(key: &Key, context: &[u8]) -> Result<(Header, Self), Error> {
        let mut salt = [0; SALT_LEN];
        random(&mut salt)?;
        Self::salted(key, context, &salt)
    }

    /// Derives the keys of the file with this header.
    ///
    /// # Errors
    /// Returns [`WrongKey`](Error::WrongKey) if the commitment in `header` is not that of this key and context.
    pub fn of(key: &Key, context: &[u8], header: &Header) -> Result<Self, Error> {
        let (salt, commitment) = header.split_first_chunk::<SALT_LEN>().ok_or(Error::Truncated)?;
        let (expected, cipher) = Self::derive(key, context, salt)?;
        if bool::from(expected.ct_eq(commitment)) { Ok(cipher) } else { Err(Error::WrongKey) }
    }

    /// Does what [`create`](Self::create) does, with a salt that the caller chose (feature `hazmat`). **A salt that is used twice under one
    /// key and context repeats every nonce of the file**: with two texts, both are lost, and anybody can forge.
    ///
    /// # Errors
    /// The function returns no error today.
    #[cfg(any(feature = "hazmat", test))]
    pub fn with_salt(key: &Key, context: &[u8], salt: &[u8; SALT_LEN]) -> Result<(Header, Self), Error> {
        Self::salted(key, context, salt)
    }

    fn salted(key: &Key, context: &[u8], salt: &[u8; SALT_LEN]) -> Result<(Header, Self), Error> {
        let (commitment, cipher) = Self::derive(key, context, salt)?;
        let mut header = [0; HEADER_LEN];
        header[..SALT_LEN].copy_from_slice(salt);
        header[SALT_LEN..].copy_from_slice(&commitment);
        Ok((header, cipher))
    }

    /// Seals the chunk `number` to `sealed`, which is 16 bytes longer than `text`.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) from chunk [`MAX_CHUNKS`] on, or [`OutOfRange`](Error::OutOfRange) if `text` is longer than a
    /// chunk or `sealed` has another length. `sealed` is untouched.
    #[inline]
    pub fn seal_chunk(&self, number: u64, text: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        if text.len() > CHUNK_LEN || sealed.len() != text.len() + TAG_LEN {
            return Err(Error::OutOfRange);
        }
        self.key.seal_to(self.nonce(number, text.len())?, b"", text, sealed).map_err(|_| Error::OutOfRange)
    }

    /// Opens the chunk `number` to `text`, which is 16 bytes shorter than `sealed`.
    ///
    /// # Errors
    /// Returns [`Chunk`](Error::Chunk) if the chunk is not authentic; `text` is then all zero. Returns [`Truncated`](Error::Truncated) if
    /// `sealed` is shorter than a tag, or `TooLong` and `OutOfRange` as [`seal_chunk`](Self::seal_chunk) does; `text` is untouched.
    #[inline]
    pub fn open_chunk(&self, number: u64, sealed: &[u8], text: &mut [u8]) -> Result<(), Error> {
        let len = sealed.len().checked_sub(TAG_LEN).ok_or(Error::Truncated)?;
        if len > CHUNK_LEN || text.len() != len {
            return Err(Error::OutOfRange);
        }
        self.key.open_to(self.nonce(number, len)?, b"", sealed, text).map_err(|_| Error::Chunk(number))
    }

    /// Returns the base nonce XOR the number, in big-endian order. The last possible chunk is not full.
    #[inline]
    fn nonce(&self, number: u64, text_len: usize) -> Result<[u8; NONCE_LEN], Error> {
        if number >= MAX_CHUNKS || (number == MAX_CHUNKS - 1 && text_len == CHUNK_LEN) {
            return Err(Error::TooLong);
        }
        Ok(XorNonces::at(*self.base_nonce, number))
    }

    fn derive(key: &Key, context: &[u8], salt: &[u8; SALT_LEN]) -> Result<([u8; COMMITMENT_LEN], Self), Error> {
        let mut okm = Zeroizing::new([0; MAX_KEY_LEN + NONCE_LEN + COMMITMENT_LEN]);
        let okm = &mut okm[..key.format().key_len() + NONCE_LEN + COMMITMENT_LEN];
        expand(key, &[b"c2sp.org/chunked-encryption@v1+", key.format().aead().as_bytes(), &[0], salt, context], okm)?;
        overwrite_stack();
        let (aes_key, rest) = okm.split_at(key.format().key_len());
        let (nonce, commitment) = rest.split_at(NONCE_LEN);

        // The key is on the heap, where it is derived: no move ever copies a secret.
        let aes_key = fastgcm::Key::boxed_with_backend(aes_key, key.backend()).map_err(|_| Error::Unavailable)?;
        let mut cipher = Self { key: aes_key, base_nonce: Zeroizing::new([0; NONCE_LEN]) };
        cipher.base_nonce.copy_from_slice(nonce);
        let mut public = [0; COMMITMENT_LEN];
        public.copy_from_slice(commitment);
        Ok((public, cipher))
    }
}

impl fmt::Debug for Cipher {
    /// Writes nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, SEALED_CHUNK_LEN};

    #[test]
    fn numbers_and_lengths_have_bounds() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        let (_, cipher) = Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap();
        let mut sealed = [9; SEALED_CHUNK_LEN];
        cipher.seal_chunk(MAX_CHUNKS - 2, &[0; CHUNK_LEN], &mut sealed).unwrap();
        cipher.seal_chunk(MAX_CHUNKS - 1, &[0; CHUNK_LEN - 1], &mut sealed[1..]).unwrap();
        sealed.fill(9);
        assert!(matches!(cipher.seal_chunk(MAX_CHUNKS - 1, &[0; CHUNK_LEN], &mut sealed), Err(Error::TooLong)));
        assert!(matches!(cipher.seal_chunk(MAX_CHUNKS, &[], &mut sealed[..16]), Err(Error::TooLong)));
        assert!(matches!(cipher.seal_chunk(0, &[0; CHUNK_LEN + 1], &mut [0; CHUNK_LEN + 17]), Err(Error::OutOfRange)));
        assert!(matches!(cipher.seal_chunk(0, &[0; 4], &mut sealed[..19]), Err(Error::OutOfRange)));
        assert!(matches!(cipher.seal_chunk(0, &[0; 4], &mut sealed[..21]), Err(Error::OutOfRange)));
        let mut text = [9; CHUNK_LEN + 17];
        assert!(matches!(cipher.open_chunk(0, &[0; 15], &mut []), Err(Error::Truncated)));
        assert!(matches!(cipher.open_chunk(0, &[0; 20], &mut text[..5]), Err(Error::OutOfRange)));
        assert!(matches!(cipher.open_chunk(0, &[0; 20], &mut text[..3]), Err(Error::OutOfRange)));
        for more in 1..=17 {
            // A text longer than a chunk is refused even if it is authentic.
            let mut long = [0; CHUNK_LEN + 17 + TAG_LEN];
            let long = &mut long[..CHUNK_LEN + more + TAG_LEN];
            cipher.key.seal_to(cipher.nonce(0, 0).unwrap(), b"", &[0; CHUNK_LEN + 17][..CHUNK_LEN + more], long).unwrap();
            assert!(matches!(cipher.open_chunk(0, long, &mut text[..CHUNK_LEN + more]), Err(Error::OutOfRange)), "{more}");
        }
        assert!(matches!(cipher.open_chunk(MAX_CHUNKS, &[0; 20], &mut text[..4]), Err(Error::TooLong)));
        assert!(matches!(cipher.open_chunk(MAX_CHUNKS - 1, &[0; SEALED_CHUNK_LEN], &mut text[..CHUNK_LEN]), Err(Error::TooLong)));
        assert_eq!((sealed, text), ([9; SEALED_CHUNK_LEN], [9; CHUNK_LEN + 17]));
    }

    /// A number that lost a bit would repeat a nonce, in files of gigabytes that no test seals.
    #[test]
    fn each_bit_of_a_number_is_one_of_its_nonce() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        let (_, cipher) = Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap();
        let value = |nonce: [u8; NONCE_LEN]| nonce.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let base = value(*cipher.base_nonce);
        for number in (0..64).map(|bit| 1 << bit).take_while(|number| *number < MAX_CHUNKS).chain([0, 3, MAX_CHUNKS - 1]) {
            assert_eq!(value(cipher.nonce(number, 1).unwrap()), base ^ u128::from(number), "{number:x}");
        }
    }

    #[test]
    fn a_chunk_that_is_not_authentic_leaves_zeros() {
        let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
        let (_, cipher) = Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap();
        let (mut sealed, mut text) = ([0; 20], [9; 4]);
        cipher.seal_chunk(5, b"text", &mut sealed).unwrap();
        assert!(matches!(cipher.open_chunk(4, &sealed, &mut text), Err(Error::Chunk(4))));
        assert_eq!(text, [0; 4]);
        cipher.open_chunk(5, &sealed, &mut text).unwrap();
        assert_eq!(&text, b"text");
    }

    /// Uses each back end that this processor can run, and no other in its place. The files are equal.
    #[test]
    fn the_back_end_that_was_asked_for_is_used() {
        let mut files = Vec::new();
        for &backend in fastgcm::Backend::ALL {
            let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
            let key = match (key.with_backend(backend), backend.is_available()) {
                (Ok(key), true) => key,
                (Err(Error::Unavailable), false) => continue,
                (other, _) => panic!("{backend}: {other:?}"),
            };
            let (header, cipher) = Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap();
            let of = Cipher::of(&key, b"", &header).unwrap();
            assert_eq!([key.backend(), cipher.key.backend(), of.key.backend()], [backend; 3]);
            let mut sealed = [0; 20];
            cipher.seal_chunk(5, b"text", &mut sealed).unwrap();
            files.push((header, sealed));
        }
        assert_eq!(files.len(), fastgcm::Backend::available().count());
        assert!(files.iter().all(|file| *file == files[0]));
    }

    #[test]
    fn debug_shows_no_key() {
        let key = Key::new(Format::Cobblestone256, &[0xa5; 32]).unwrap();
        let (mut sealed, backend) = (Vec::new(), key.backend());
        let writer = crate::Writer::new(&key, b"", &mut sealed).unwrap();
        let cipher = format!("Cipher {{ key: Key(AES-256, {backend}), .. }}");
        assert_eq!(format!("{key:?}"), format!("Key(cobblestone-256, {backend})"));
        assert_eq!(format!("{:?}", Cipher::with_salt(&key, b"", &[2; SALT_LEN]).unwrap().1), cipher);
        assert_eq!(format!("{writer:?}"), format!("Writer {{ cipher: {cipher}, number: 0, .. }}"));
        writer.finish().unwrap();
        let reader = crate::Reader::new(&key, b"", &sealed[..]).unwrap();
        assert_eq!(format!("{reader:?}"), format!("Reader {{ cipher: {cipher}, number: 0, .. }}"));
        let reader = crate::RangeReader::new(&key, b"", std::io::Cursor::new(&sealed)).unwrap();
        assert_eq!(format!("{reader:?}"), format!("RangeReader {{ cipher: {cipher}, len: 0, .. }}"));
    }
}
