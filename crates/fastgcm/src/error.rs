//! The errors of this crate, in one small enum.

use core::fmt;

/// The reason why a call failed. Each function names the variants that it returns.
///
/// An error reveals nothing of a secret, except the one bit that [`Unauthentic`](Error::Unauthentic) is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The message, its AAD, its nonce or its tag is not what the owner of the key sealed. The error does not
    /// say which, and the output holds no plaintext.
    Unauthentic,
    /// A key, nonce, tag or buffer has a length that the function does not accept. Nothing was written.
    InvalidLength,
    /// A text, AAD or nonce is longer than SP 800-38D allows ([`limits`](crate::limits)). Nothing was
    /// written.
    TooLong,
    /// This processor cannot run the requested back end.
    Unavailable,
    /// The nonces of a key ([`nonces`](crate::nonces)), or the blocks that the key may seal, or refuse
    /// ([`Blocks`](crate::limits::Blocks)), are used up, so the program needs another key. Nothing was read or
    /// written.
    Exhausted,
    /// The operating system gave no random bytes. Nothing was read or written.
    NoEntropy,
    /// A message in pieces got AAD after text, something after its end, or a key of another back end. Nothing
    /// was read or written.
    OutOfOrder,
    /// The parts of a message do not form one whole text (`hazmat::combine`).
    Incomplete,
    /// A part of a message was sealed before with a different text (`hazmat::Plan`). Its ciphertext must be
    /// destroyed.
    OtherText,
    /// A back end gave a wrong answer in a self-test ([`approved`](crate::approved)). Nothing was read or
    /// written.
    SelfTest,
    /// The closure of `Parallel::watch` stopped the message.
    Stopped,
}

impl Error {
    /// Returns the name of the error, and its text.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Unauthentic => ("Unauthentic", "the message is not authentic"),
            Self::InvalidLength => (
                "InvalidLength",
                "a key, nonce, tag or buffer has an invalid length: a key has 16, 24 or 32 bytes, a nonce 12 or another number but 0, a tag 16, \
                 and an output as many as what goes into it",
            ),
            Self::TooLong => ("TooLong", "a text, AAD or nonce is longer than AES-GCM allows"),
            Self::Unavailable => ("Unavailable", "this processor cannot run that back end"),
            Self::Exhausted => {
                ("Exhausted", "the nonces of this key, or the blocks that it may serve, are used up")
            }
            Self::NoEntropy => ("NoEntropy", "the operating system gives no random bytes"),
            Self::OutOfOrder => ("OutOfOrder", "a message in pieces is out of order, or has another key"),
            Self::Incomplete => ("Incomplete", "parts of the message are missing, or overlap"),
            Self::OtherText => ("OtherText", "this part of the message was sealed before, with another text"),
            Self::SelfTest => ("SelfTest", "a back end gave a wrong answer in its self-test"),
            Self::Stopped => ("Stopped", "the message was stopped"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl fmt::Debug for Error {
    /// Writes the name and the text: a program prints them if its `main` returns an error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = self.words();
        write!(f, "{name}: {text}")
    }
}

impl core::error::Error for Error {}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    /// The error travels inside the `io::Error`; `downcast` returns it. Its kind is `InvalidData` for
    /// [`Unauthentic`](Error::Unauthentic), `Unsupported` for [`Unavailable`](Error::Unavailable),
    /// `InvalidInput` for lengths, and `Other` for the rest.
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error {
            Error::Unauthentic => ErrorKind::InvalidData,
            Error::InvalidLength | Error::TooLong | Error::Incomplete => ErrorKind::InvalidInput,
            Error::Unavailable => ErrorKind::Unsupported,
            Error::Exhausted
            | Error::NoEntropy
            | Error::OutOfOrder
            | Error::OtherText
            | Error::SelfTest
            | Error::Stopped => ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
