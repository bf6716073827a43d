use std::{fmt, io};

/// The reason why an object was not written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Object, tag, commitment or data key do not belong together.
    Unauthentic,
    /// A part that was read again has another text, or another length. None of it was sent.
    OtherText,
    /// The object does not have this format; the text says why.
    Metadata(&'static str),
    /// The [`Options`](crate::Options) do not fit; the text says why.
    Options(&'static str),
    /// The text is longer than a message of GCM, the range lies outside the object, or parts are missing.
    Gcm(fastgcm::Error),
    /// The text could not be read.
    Read(io::Error),
    /// An error of the store. `Precondition` says that the object was replaced after the first request.
    Store(object_store::Error),
    /// The body of an answer ended early, or late, on each attempt.
    Body {
        /// The number of requested bytes.
        wanted: u64,
        /// The number of received bytes.
        came: u64,
    },
    /// On each attempt, a task was ended from outside or panicked.
    Lost,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unauthentic => f.write_str("object, tag, commitment or data key do not belong together"),
            Self::OtherText => f.write_str("a part that was read again has another text"),
            Self::Metadata(why) => write!(f, "no object of the S3 Encryption Client, version 4: {why}"),
            Self::Options(why) => f.write_str(why),
            Self::Gcm(error) => error.fmt(f),
            Self::Read(error) => write!(f, "the text: {error}"),
            Self::Store(error) => error.fmt(f),
            Self::Body { wanted, came } => write!(f, "the store was asked for {wanted} bytes, and sent {came}"),
            Self::Lost => f.write_str("a part was lost on each attempt"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Gcm(error) => Some(error),
            Self::Read(error) => Some(error),
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// Returns whether another attempt may succeed: nothing has said no.
    pub(crate) fn passes(&self) -> bool {
        use object_store::Error as Of;
        match self {
            Self::Read(_) | Self::Body { .. } | Self::Lost => true,
            Self::Store(error) => !matches!(
                error,
                Of::NotFound { .. }
                    | Of::InvalidPath { .. }
                    | Of::NotSupported { .. }
                    | Of::AlreadyExists { .. }
                    | Of::Precondition { .. }
                    | Of::NotModified { .. }
                    | Of::NotImplemented { .. }
                    | Of::PermissionDenied { .. }
                    | Of::Unauthenticated { .. }
                    | Of::UnknownConfigurationKey { .. }
            ),
            _ => false,
        }
    }
}

impl From<fastgcm::Error> for Error {
    fn from(error: fastgcm::Error) -> Self {
        match error {
            fastgcm::Error::Unauthentic => Self::Unauthentic,
            fastgcm::Error::OtherText => Self::OtherText,
            error => Self::Gcm(error),
        }
    }
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}
