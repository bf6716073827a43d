//! Records of TLS 1.3 (RFC 8446, section 5.2) and TLS 1.2 (RFC 5288, section 3).
//!
//! ```text
//! 1.3   type 1 │ version 2 │ length 2 │ content, type 1, zeros (padding) │ tag 16
//! 1.2   type 1 │ version 2 │ length 2 │ nonce 8 │ content                │ tag 16
//!                                               └ encrypted ─────────────┘
//! ```
//! A sealer and an opener serve one direction of a connection under one key. They count their records: the sequence number is part of the
//! nonce, never repeats, and ends with [`Exhausted`](Error::Exhausted). A record that does not open ends a connection; the sequence number
//! stays where it was.

use crate::{Error, Salt};
use fastgcm::{Backend, Key, Tag, nonces::XorNonces};

/// The length of a record's header in bytes.
pub const HEADER: usize = 5;
/// The length of a tag in bytes.
pub const TAG: usize = 16;
/// The most bytes of content in a record (RFC 8446, section 5.1; RFC 5246, section 6.2.1).
pub const MOST_CONTENT: usize = 1 << 14;
/// The bytes that TLS 1.2 puts between header and content: the explicit part of the nonce.
pub const EXPLICIT: usize = 8;
/// The number of full-size records that one key should seal at most, before a key update (RFC 8446, section 5.5: 2^24.5).
pub const CONFIDENTIALITY_LIMIT: u64 = 23_726_566;

/// The outer type of a record of TLS 1.3.
const APPLICATION_DATA: u8 = 23;
/// The version in each record.
const VERSION: [u8; 2] = [3, 3];

/// The version of TLS, and the part of the nonce that it keeps with the key.
#[derive(Debug)]
enum Iv {
    /// TLS 1.3: `write_iv`, XOR the sequence number.
    Tls13(Salt<12>),
    /// TLS 1.2: the salt, `write_IV`, before the sequence number.
    Tls12(Salt<4>),
}

/// One direction of a connection.
#[derive(Debug)]
struct Direction {
    key: Key,
    iv: Iv,
    /// The sequence number of the next record, or `None` when the sequence numbers are used up.
    next: Option<u64>,
}

impl Direction {
    fn new(key: &[u8], iv: &[u8], backend: Backend) -> Result<Self, Error> {
        let iv = match (<[u8; 12]>::try_from(iv), <[u8; 4]>::try_from(iv)) {
            (Ok(iv), _) => Iv::Tls13(Salt(iv)),
            (_, Ok(salt)) => Iv::Tls12(Salt(salt)),
            _ => return Err(Error::InvalidLength),
        };
        Ok(Self { key: crate::key(key, backend)?, iv, next: Some(0) })
    }

    /// Returns the number of bytes before the text.
    fn ahead(&self) -> usize {
        match self.iv {
            Iv::Tls13(_) => HEADER,
            Iv::Tls12(_) => HEADER + EXPLICIT,
        }
    }

    #[inline]
    fn advance(&mut self, now: u64) {
        self.next = now.checked_add(1);
    }
}

/// Returns the nonce of TLS 1.2: salt and explicit part.
#[inline]
fn salted(salt: [u8; 4], explicit: [u8; EXPLICIT]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..4].copy_from_slice(&salt);
    nonce[4..].copy_from_slice(&explicit);
    nonce
}

/// Returns the AAD of TLS 1.2: sequence number, type, version, length of the content (RFC 5246, section 6.2.3.3).
#[inline]
fn aad12(number: u64, content_type: u8, length: usize) -> [u8; 13] {
    let mut aad = [0; 13];
    aad[..8].copy_from_slice(&number.to_be_bytes());
    aad[8] = content_type;
    aad[9..11].copy_from_slice(&VERSION);
    aad[11..].copy_from_slice(&(length as u16).to_be_bytes());
    aad
}

/// Seals records.
///
/// ```
/// use fastgcm_protocols::tls::{HEADER, Opener, Sealer, TAG};
///
/// let (mut sealer, mut opener) = (Sealer::tls13(&[7; 32], &[1; 12])?, Opener::tls13(&[7; 32], &[1; 12])?);
/// let mut record = [0; HEADER + 6 + 1 + TAG];
/// sealer.seal_gathered(23, &[b"two ", b"of"], &mut record)?;
/// assert_eq!(opener.open(&mut record)?, (23, &mut b"two of"[..].to_vec()[..]));
/// # Ok::<(), fastgcm_protocols::Error>(())
/// ```
#[derive(Debug)]
pub struct Sealer(Direction);

impl Sealer {
    /// Makes a sealer for TLS 1.3 from the `key` and `iv` of a traffic secret.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) unless `key` has 16 or 32 bytes (or 24, for which no suite is registered).
    pub fn tls13(key: &[u8], iv: &[u8; 12]) -> Result<Self, Error> {
        Self::with_backend(key, iv, Backend::detect())
    }

    /// Makes a sealer for TLS 1.2 from `write_key` and `write_IV`. The explicit part of the nonce is the sequence number.
    ///
    /// # Errors
    /// Fails like [`tls13`](Self::tls13).
    pub fn tls12(key: &[u8], salt: &[u8; 4]) -> Result<Self, Error> {
        Self::with_backend(key, salt, Backend::detect())
    }

    /// Makes a sealer for the back end `backend`: for TLS 1.3 if `iv` has 12 bytes, for TLS 1.2 if it has 4.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `iv` or `key` has another number of bytes, or [`Unavailable`](Error::Unavailable)
    /// if this machine cannot run `backend`.
    pub fn with_backend(key: &[u8], iv: &[u8], backend: Backend) -> Result<Self, Error> {
        Direction::new(key, iv, backend).map(Self)
    }

    /// Continues from record `next`, for a connection that is handed over. No sealer may have reached `next` under this key.
    #[must_use]
    pub fn starting_at(mut self, next: u64) -> Self {
        self.0.next = Some(next);
        self
    }

    /// Returns the sequence number of the next record, or `None` when the sequence numbers are used up.
    pub fn position(&self) -> Option<u64> {
        self.0.next
    }

    /// Returns the length of a record with `content` bytes of content (and no padding).
    pub fn record_len(&self, content: usize) -> usize {
        let inner_type = matches!(self.0.iv, Iv::Tls13(_)) as usize;
        content.saturating_add(self.0.ahead() + inner_type + TAG)
    }

    /// Returns the number of bytes before the content.
    pub fn content_at(&self) -> usize {
        self.0.ahead()
    }

    /// Seals `record` in place: `length` bytes of content begin at [`content_at`](Self::content_at), and the function writes everything
    /// around them. In TLS 1.3 the bytes beyond [`record_len`](Self::record_len) become padding; TLS 1.2 has no padding.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `length` is more than [`MOST_CONTENT`], or if `record` is too short or too long
    /// for it; or [`Exhausted`](Error::Exhausted) when the sequence numbers are used up. `record` is untouched.
    #[inline]
    pub fn seal(&mut self, content_type: u8, length: usize, record: &mut [u8]) -> Result<(), Error> {
        let now = self.check(length, record.len())?;
        self.finish(now, content_type, length, record)
    }

    /// Seals a record whose content lies in several chunks. The function copies the content to its place.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal).
    #[inline]
    pub fn seal_gathered(&mut self, content_type: u8, content: &[&[u8]], record: &mut [u8]) -> Result<(), Error> {
        let length = content.iter().try_fold(0_usize, |sum, chunk| sum.checked_add(chunk.len())).ok_or(Error::InvalidLength)?;
        let now = self.check(length, record.len())?;
        let mut at = self.0.ahead();
        for chunk in content {
            record[at..at + chunk.len()].copy_from_slice(chunk);
            at += chunk.len();
        }
        self.finish(now, content_type, length, record)
    }

    /// Returns the sequence number, if the lengths are right.
    #[inline]
    fn check(&self, length: usize, record: usize) -> Result<u64, Error> {
        let needed = self.record_len(length);
        let fits = match self.0.iv {
            // Content, type and padding are at most 2^14 + 1 bytes (RFC 8446, section 5.4).
            Iv::Tls13(_) => (needed..=HEADER + MOST_CONTENT + 1 + TAG).contains(&record),
            Iv::Tls12(_) => record == needed,
        };
        if length > MOST_CONTENT || !fits {
            return Err(Error::InvalidLength);
        }
        self.0.next.ok_or(Error::Exhausted)
    }

    #[inline]
    fn finish(&mut self, now: u64, content_type: u8, length: usize, record: &mut [u8]) -> Result<(), Error> {
        let (header, body) = record.split_first_chunk_mut::<HEADER>().ok_or(Error::InvalidLength)?;
        let [high, low] = (body.len() as u16).to_be_bytes();
        let outer_type = if matches!(self.0.iv, Iv::Tls13(_)) { APPLICATION_DATA } else { content_type };
        *header = [outer_type, VERSION[0], VERSION[1], high, low];
        let (body, tag) = body.split_last_chunk_mut::<TAG>().ok_or(Error::InvalidLength)?;
        self.0.advance(now);
        *tag = match &self.0.iv {
            Iv::Tls13(iv) => {
                body[length] = content_type;
                body[length + 1..].fill(0);
                self.0.key.seal(XorNonces::at(iv.0, now), &*header, body)?.0
            }
            Iv::Tls12(salt) => {
                let (explicit, content) = body.split_first_chunk_mut::<EXPLICIT>().ok_or(Error::InvalidLength)?;
                *explicit = now.to_be_bytes();
                self.0.key.seal(salted(salt.0, *explicit), &aad12(now, content_type, content.len()), content)?.0
            }
        };
        Ok(())
    }
}

/// Opens records, in the order in which they were sealed.
#[derive(Debug)]
pub struct Opener(Direction);

impl Opener {
    /// Makes an opener for TLS 1.3, as [`Sealer::tls13`] makes a sealer.
    ///
    /// # Errors
    /// Fails like [`Sealer::tls13`].
    pub fn tls13(key: &[u8], iv: &[u8; 12]) -> Result<Self, Error> {
        Self::with_backend(key, iv, Backend::detect())
    }

    /// Makes an opener for TLS 1.2, as [`Sealer::tls12`] makes a sealer.
    ///
    /// # Errors
    /// Fails like [`Sealer::tls12`].
    pub fn tls12(key: &[u8], salt: &[u8; 4]) -> Result<Self, Error> {
        Self::with_backend(key, salt, Backend::detect())
    }

    /// Makes an opener for the back end `backend`, as [`Sealer::with_backend`] makes a sealer.
    ///
    /// # Errors
    /// Fails like [`Sealer::with_backend`].
    pub fn with_backend(key: &[u8], iv: &[u8], backend: Backend) -> Result<Self, Error> {
        Direction::new(key, iv, backend).map(Self)
    }

    /// Continues from record `next`, for a connection that is handed over. No sealer may have reached `next` under this key.
    #[must_use]
    pub fn starting_at(mut self, next: u64) -> Self {
        self.0.next = Some(next);
        self
    }

    /// Returns the sequence number of the next record, or `None` when the sequence numbers are used up.
    pub fn position(&self) -> Option<u64> {
        self.0.next
    }

    /// Opens one whole `record` in place. Returns the type of its content, and the content.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the record is not what was sealed; its text is then all zero. Returns
    /// [`Malformed`](Error::Malformed) if its header is not that of such a record or states another length (the record is untouched), or if
    /// there is no type inside (its text is all zero). Returns [`Exhausted`](Error::Exhausted) when the sequence numbers are used up.
    #[inline]
    pub fn open<'r>(&mut self, record: &'r mut [u8]) -> Result<(u8, &'r mut [u8]), Error> {
        let now = self.0.next.ok_or(Error::Exhausted)?;
        let (header, body) = record.split_first_chunk_mut::<HEADER>().ok_or(Error::Malformed)?;
        let [content_type, major, minor, high, low] = *header;
        if VERSION != [major, minor] || usize::from(u16::from_be_bytes([high, low])) != body.len() {
            return Err(Error::Malformed);
        }
        let (body, tag) = body.split_last_chunk_mut::<TAG>().ok_or(Error::Malformed)?;
        let tag = Tag(*tag);
        match &self.0.iv {
            Iv::Tls13(iv) => {
                if content_type != APPLICATION_DATA || body.len() > MOST_CONTENT + 1 {
                    return Err(Error::Malformed);
                }
                self.0.key.open(XorNonces::at(iv.0, now), &*header, body, &tag)?;
                self.0.advance(now);
                // The last byte that is not zero.
                match body.iter().rposition(|&byte| byte != 0) {
                    Some(end) => {
                        let (content, inner) = body.split_at_mut(end);
                        Ok((inner[0], content))
                    }
                    None => Err(Error::Malformed),
                }
            }
            Iv::Tls12(salt) => {
                let (explicit, content) = body.split_first_chunk_mut::<EXPLICIT>().ok_or(Error::Malformed)?;
                if content.len() > MOST_CONTENT {
                    return Err(Error::Malformed);
                }
                self.0.key.open(salted(salt.0, *explicit), &aad12(now, content_type, content.len()), content, &tag)?;
                self.0.advance(now);
                Ok((content_type, content))
            }
        }
    }
}
