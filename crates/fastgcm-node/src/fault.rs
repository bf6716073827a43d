//! The reasons for refusing a call, as numbers: `lib/errors.js` makes errors of them.

/// The reasons. `lib/errors.js` has the names in this order.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    NotBytes = 1,
    Shared,
    Detached,
    Length,
    Overlap,
    Unauthentic,
    TooLong,
    Exhausted,
    Gone,
    NoEntropy,
    SameNonce,
    NotNumber,
    WrongKey,
    Cut,
    OutOfRange,
    NotList,
    NoMemory,
    Internal,
    OutOfOrder,
    NotObject,
    Busy,
    /// A call of the operating system failed: its number of the error is the row.
    System,
    Stranger,
}

/// The argument that is wrong. `lib/errors.js` has the names in this order.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Name {
    None,
    Key,
    Nonce,
    Data,
    Aad,
    Out,
    Tag,
    Fixed,
    Start,
    Used,
    Context,
    Header,
    First,
    Nonces,
    Datas,
    Aads,
    Path,
    Iv,
    Number,
    Confidentiality,
    Blocks,
    Sealers,
}

/// A refusal.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    kind: Kind,
    name: Name,
    /// The number of the message in a batch, or of the chunk in a file, plus one.
    row: u64,
}

impl Fault {
    pub(crate) fn of(kind: Kind, name: Name) -> Self {
        Self { kind, name, row: 0 }
    }

    pub(crate) fn row(self, row: u64) -> Self {
        Self { row: row + 1, ..self }
    }

    pub(crate) fn number(self) -> f64 {
        (self.kind as u64 + 32 * self.name as u64 + 1024 * self.row) as f64
    }
}

impl From<Kind> for Fault {
    fn from(kind: Kind) -> Self {
        Self::of(kind, Name::None)
    }
}

impl From<fastgcm::Error> for Fault {
    fn from(error: fastgcm::Error) -> Self {
        use fastgcm::Error;
        match error {
            Error::Unauthentic => Kind::Unauthentic,
            Error::InvalidLength => Kind::Length,
            Error::TooLong => Kind::TooLong,
            Error::Exhausted => Kind::Exhausted,
            Error::NoEntropy => Kind::NoEntropy,
            Error::OutOfOrder => Kind::OutOfOrder,
            _ => Kind::Internal,
        }
        .into()
    }
}

impl From<fastgcm_file::Error> for Fault {
    fn from(error: fastgcm_file::Error) -> Self {
        use fastgcm_file::Error;
        match error {
            Error::KeyLength => Self::of(Kind::Length, Name::Key),
            Error::WrongKey => Kind::WrongKey.into(),
            Error::Truncated => Kind::Cut.into(),
            Error::Chunk(number) => Self::from(Kind::Unauthentic).row(number),
            Error::TooLong => Kind::TooLong.into(),
            Error::OutOfRange => Kind::OutOfRange.into(),
            Error::Io(_) => Kind::NoEntropy.into(),
            _ => Kind::Internal.into(),
        }
    }
}
