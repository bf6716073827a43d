//! The errors of sealed files.

use std::{fmt, io};

/// The reason why a file was not sealed or opened.
///
/// The traits of [`std::io`] return this error inside an [`io::Error`]; `downcast` takes it out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A key does not have the length of its format: 32 bytes for Cobblestone-256, 16 for Cobblestone-128.
    KeyLength,
    /// No format has that name.
    UnknownFormat,
    /// This processor cannot run the requested back end.
    Unavailable,
    /// The commitment in the header is not that of this key and context. The key, the context or the format is wrong, the header was
    /// changed, or the file is not a sealed file at all. Nothing was decrypted.
    WrongKey,
    /// The sealed file ends too early: within the header, within a tag, or without the short chunk that ends each file.
    Truncated,
    /// The chunk of this number is not what was sealed there: it was changed, cut or moved, or something follows it.
    Chunk(u64),
    /// The text has more than [`MAX_TEXT_LEN`](crate::MAX_TEXT_LEN) bytes.
    TooLong,
    /// A range is not within the text, or a buffer does not have the length that a chunk needs. Nothing was written.
    OutOfRange,
    /// Reading, writing, or asking the operating system for random bytes failed.
    Io(io::Error),
}

impl Error {
    /// Returns whether the file is not, or no longer, the file that the owner of this key sealed in this context.
    pub const fn is_unauthentic(&self) -> bool {
        matches!(self, Self::WrongKey | Self::Truncated | Self::Chunk(_))
    }

    /// Returns a copy of this error, for a reader that must fail again on each further call.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::KeyLength => Self::KeyLength,
            Self::UnknownFormat => Self::UnknownFormat,
            Self::Unavailable => Self::Unavailable,
            Self::WrongKey => Self::WrongKey,
            Self::Truncated => Self::Truncated,
            Self::Chunk(number) => Self::Chunk(*number),
            Self::TooLong => Self::TooLong,
            Self::OutOfRange => Self::OutOfRange,
            Self::Io(error) => Self::Io(error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength => {
                f.write_str("the key has not the length of its format (32 bytes for Cobblestone-256, 16 for Cobblestone-128)")
            }
            Self::UnknownFormat => f.write_str("there is no such format"),
            Self::Unavailable => f.write_str("this processor cannot run that back end"),
            Self::WrongKey => f.write_str("wrong key or context, or not a sealed file, or its header was changed"),
            Self::Truncated => f.write_str("the sealed file is truncated"),
            Self::Chunk(number) => write!(f, "chunk {number} is not authentic: the sealed file was changed or truncated"),
            Self::TooLong => f.write_str("the text is longer than the format allows (4 PiB - 1)"),
            Self::OutOfRange => f.write_str("the range is not within the text"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io(error) = self { Some(error) } else { None }
    }
}

impl From<io::Error> for Error {
    /// Unwraps an `io::Error` that carries one of our errors.
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Io)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error {
            Error::Io(error) => return error,
            Error::KeyLength | Error::UnknownFormat | Error::OutOfRange => io::ErrorKind::InvalidInput,
            Error::Unavailable => io::ErrorKind::Unsupported,
            Error::Truncated => io::ErrorKind::UnexpectedEof,
            Error::WrongKey | Error::Chunk(_) => io::ErrorKind::InvalidData,
            Error::TooLong => io::ErrorKind::FileTooLarge,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    /// Checks the kind of each error for [`std::io`], whether it says that the file is not authentic, and its text.
    #[test]
    fn each_through_the_traits_of_io_and_back() {
        use io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput, StorageFull, UnexpectedEof, Unsupported};
        let os = || io::Error::from_raw_os_error(28); // on Unix: no space left on device
        let cases = [
            (Error::KeyLength, InvalidInput, false, "not the length of its format"),
            (Error::UnknownFormat, InvalidInput, false, "no such format"),
            (Error::Unavailable, Unsupported, false, "cannot run that back end"),
            (Error::WrongKey, InvalidData, true, "wrong key or context"),
            (Error::Truncated, UnexpectedEof, true, "truncated"),
            (Error::Chunk(u64::MAX), InvalidData, true, "chunk 18446744073709551615 is not authentic"),
            (Error::TooLong, FileTooLarge, false, "longer than the format allows (4 PiB - 1)"),
            (Error::OutOfRange, InvalidInput, false, "not within the text"),
            (Error::Io(StorageFull.into()), StorageFull, false, &io::Error::from(StorageFull).to_string()),
            (Error::Io(os()), os().kind(), false, &os().to_string()),
        ];
        for (error, kind, unauthentic, says) in cases {
            assert_eq!((error.is_unauthentic(), error.source().is_some()), (unauthentic, matches!(error, Error::Io(_))), "{error}");
            assert!(error.to_string().contains(says), "{error}");
            let shown = format!("{error:?} {error}");
            let again = error.again();
            assert_eq!(format!("{again:?} {again}"), shown);
            let through = io::Error::from(error);
            assert_eq!(through.kind(), kind, "{shown}");
            let back = Error::from(through);
            assert_eq!(format!("{back:?} {back}"), shown);
        }
    }
}
