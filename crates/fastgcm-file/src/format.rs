//! The format in numbers: which bytes of a sealed file belong to which bytes of its text.
//!
//! ```text
//! sealed:  salt 24 | commitment 32 | chunk 0: 16384 + tag 16 | chunk 1: 16384 + tag 16 | ... | last: 0..=16383 + tag 16
//! ```
//! The last chunk is always shorter than the others, and may be empty. That is how a reader recognises the end, so a file that was cut at a
//! chunk's border is as broken as a file that was cut within a chunk. Hence each length of text has exactly one length of sealed file, and
//! most other lengths can be refused without a key ([`text_len`]).

use crate::Error;
use core::fmt;
use std::{ops::Range, str::FromStr};

/// The length of the header in bytes: salt and commitment.
pub const HEADER_LEN: usize = SALT_LEN + COMMITMENT_LEN;
/// The length of the salt in bytes. The salt is random for every file.
pub const SALT_LEN: usize = 24;
/// The length in bytes of the commitment to key and context.
pub const COMMITMENT_LEN: usize = 32;
/// The bytes of text in each chunk except the last.
pub const CHUNK_LEN: usize = 16384;
/// The length in bytes of the tag behind each chunk.
pub const TAG_LEN: usize = 16;
/// The length in bytes of a sealed chunk, except the last.
pub const SEALED_CHUNK_LEN: usize = CHUNK_LEN + TAG_LEN;
/// The number of chunks in the longest file that the specification allows.
pub const MAX_CHUNKS: u64 = 1 << 38;
/// The length in bytes of the longest text, 4 PiB - 1: its last chunk is not full.
pub const MAX_TEXT_LEN: u64 = MAX_CHUNKS * CHUNK_LEN as u64 - 1;

/// The AES variant that seals a file. The file does not name it, so the opener must know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// AES-256-GCM under a key of 32 bytes.
    #[default]
    Cobblestone256,
    /// AES-128-GCM under a key of 16 bytes.
    Cobblestone128,
}

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Cobblestone256, Self::Cobblestone128];

    /// Returns the length in bytes of a key of this format.
    pub const fn key_len(self) -> usize {
        match self {
            Self::Cobblestone256 => 32,
            Self::Cobblestone128 => 16,
        }
    }

    /// Returns the format whose keys have `len` bytes.
    pub fn of_key_len(len: usize) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.key_len() == len)
    }

    /// Returns the name, which [`FromStr`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cobblestone256 => "cobblestone-256",
            Self::Cobblestone128 => "cobblestone-128",
        }
    }

    /// Returns the AEAD's name in IANA's registry, which goes into the key derivation.
    pub(crate) const fn aead(self) -> &'static str {
        match self {
            Self::Cobblestone256 => "AEAD_AES_256_GCM",
            Self::Cobblestone128 => "AEAD_AES_128_GCM",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    /// Returns the format of that name.
    ///
    /// # Errors
    /// Returns [`UnknownFormat`](Error::UnknownFormat) if no format has that name.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|format| format.name() == name).ok_or(Error::UnknownFormat)
    }
}

/// Returns the length of the sealed file for `text_len` bytes of text.
///
/// # Errors
/// Returns [`TooLong`](Error::TooLong) beyond [`MAX_TEXT_LEN`].
///
/// ```
/// use fastgcm_file::sealed_len;
/// assert_eq!(sealed_len(0)?, 56 + 16);
/// assert_eq!(sealed_len(16384)?, 56 + 16384 + 16 + 16); // a full chunk and an empty one
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub fn sealed_len(text_len: u64) -> Result<u64, Error> {
    let tags = chunks(text_len)? * TAG_LEN as u64;
    Ok(HEADER_LEN as u64 + text_len + tags)
}

/// Returns the number of chunks for `text_len` bytes of text, which is at least one.
///
/// # Errors
/// Returns [`TooLong`](Error::TooLong) beyond [`MAX_TEXT_LEN`].
pub fn chunks(text_len: u64) -> Result<u64, Error> {
    if text_len > MAX_TEXT_LEN { Err(Error::TooLong) } else { Ok(text_len / CHUNK_LEN as u64 + 1) }
}

/// Returns the number of bytes of text in a sealed file of this length, if the file is whole. Only opening the last chunk proves that it is
/// whole.
///
/// # Errors
/// Returns [`Truncated`](Error::Truncated) if no sealed file has that length, or [`TooLong`](Error::TooLong) if the length is greater than
/// that of the longest file.
///
/// ```
/// use fastgcm_file::text_len;
/// assert_eq!(text_len(56 + 16 + 5)?, 5);
/// assert!(text_len(56 + 16384 + 16).is_err()); // a full chunk is never the last
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub fn text_len(sealed_len: u64) -> Result<u64, Error> {
    let body = sealed_len.checked_sub(HEADER_LEN as u64).ok_or(Error::Truncated)?;
    let full = body / SEALED_CHUNK_LEN as u64;
    let last = body % SEALED_CHUNK_LEN as u64;
    if full >= MAX_CHUNKS {
        return Err(Error::TooLong);
    }
    if last < TAG_LEN as u64 {
        return Err(Error::Truncated);
    }
    Ok(full * CHUNK_LEN as u64 + last - TAG_LEN as u64)
}

/// Returns [`OutOfRange`](Error::OutOfRange) unless the range is within a text of `len` bytes.
pub(crate) fn check_range(range: &Range<u64>, len: u64) -> Result<(), Error> {
    if range.start <= range.end && range.end <= len { Ok(()) } else { Err(Error::OutOfRange) }
}

/// Returns where in a sealed file the chunk of this number starts.
pub(crate) const fn chunk_start(number: u64) -> u64 {
    HEADER_LEN as u64 + number * SEALED_CHUNK_LEN as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_length_has_one_sealed_length_and_back() {
        let mut sealed_lengths = std::collections::BTreeSet::new();
        for text in (0..=3 * CHUNK_LEN as u64).chain([MAX_TEXT_LEN - 16384, MAX_TEXT_LEN]) {
            let sealed = sealed_len(text).unwrap();
            assert!(sealed_lengths.insert(sealed));
            assert_eq!(text_len(sealed).unwrap(), text);
        }
        for sealed in 0..chunk_start(3) {
            assert_eq!(text_len(sealed).is_ok(), sealed_lengths.contains(&sealed), "{sealed}");
        }
    }

    #[test]
    fn names_and_lengths_of_keys() {
        assert_eq!(Format::ALL, [Format::Cobblestone256, Format::Cobblestone128]);
        assert_eq!(Format::default(), Format::Cobblestone256);
        for (format, name, key_len) in [(Format::Cobblestone256, "cobblestone-256", 32), (Format::Cobblestone128, "cobblestone-128", 16)] {
            assert_eq!((format.name(), format.key_len()), (name, key_len));
            assert_eq!(format!("{format:>20}|{format}"), format!("{name:>20}|{name}"));
            assert_eq!(name.parse::<Format>().unwrap(), format);
            assert_eq!(Format::of_key_len(key_len), Some(format));
        }
        assert!((0..100).filter(|len| ![16, 32].contains(len)).all(|len| Format::of_key_len(len).is_none()));
        for name in ["", "cobblestone", "Cobblestone-256", "cobblestone-256 ", "cobblestone-1280"] {
            assert!(matches!(name.parse::<Format>(), Err(Error::UnknownFormat)), "{name}");
        }
    }

    #[test]
    fn the_longest() {
        assert_eq!(MAX_TEXT_LEN, (4 << 50) - 1);
        let longest = sealed_len(MAX_TEXT_LEN).unwrap();
        assert_eq!(longest, 56 + MAX_TEXT_LEN + MAX_CHUNKS * 16);
        assert_eq!((chunks(0).unwrap(), chunks(16383).unwrap(), chunks(16384).unwrap()), (1, 1, 2));
        assert_eq!(chunks(MAX_TEXT_LEN).unwrap(), MAX_CHUNKS);
        assert!(matches!(sealed_len(MAX_TEXT_LEN + 1), Err(Error::TooLong)));
        assert!(matches!(chunks(MAX_TEXT_LEN + 1), Err(Error::TooLong)));
        assert!(matches!(text_len(longest - 16384), Err(Error::Truncated)));
        assert_eq!(text_len(longest).unwrap(), MAX_TEXT_LEN);
        assert!(matches!(text_len(longest + 1), Err(Error::TooLong)));
        assert!(matches!(text_len(u64::MAX), Err(Error::TooLong)));
    }
}
