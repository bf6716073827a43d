//! How a run ends when it does not do what it was asked: an exit code, and a message.

use std::{fmt::Display, io, process::ExitCode};

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// `None` where the exit code says it all.
    message: Option<String>,
}

/// The exit codes; 0 is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Reading, writing or anything else of the operating system.
    Io = 1,
    /// The command line, or what it names: also clap's code.
    Usage = 2,
    /// The file is not what was sealed with this key and context.
    Unauthentic = 3,
    /// The key file: its content, its length or who may read it.
    Key = 4,
    /// The output exists.
    Exists = 5,
    /// A back end gave a wrong answer.
    SelfTest = 6,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Display) -> Self {
        Self { code, message: Some(message.to_string()) }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Code::Usage, message)
    }

    /// That nobody reads on is no news to who closed the pipe, so a broken pipe is silent.
    pub(crate) fn io(what: impl Display, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { code: Code::Io, message: None };
        }
        Self::new(Code::Io, format_args!("{what}: {error}"))
    }

    /// An error of the file format. The readers and writers that we pass in name themselves in their errors.
    pub(crate) fn file(input: impl Display, error: fastgcm_file::Error) -> Self {
        use fastgcm_file::Error;
        match error {
            Error::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Self { code: Code::Io, message: None },
            Error::Io(error) => Self::new(Code::Io, error),
            error if error.is_unauthentic() => Self::new(Code::Unauthentic, format_args!("{input}: {error}")),
            Error::KeyLength => Self::new(Code::Key, error),
            Error::TooLong => Self::new(Code::Io, format_args!("{input}: {error}")),
            error => Self::new(Code::Usage, format_args!("{input}: {error}")),
        }
    }

    /// Adds what the user should know besides.
    pub(crate) fn note(mut self, note: impl Display) -> Self {
        self.message = Some(match self.message {
            Some(message) => format!("{message}\nnote: {note}"),
            None => format!("note: {note}"),
        });
        self
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Tells the user. If standard error is closed as well, the exit code remains.
    pub(crate) fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            let _ = io::Write::write_all(&mut io::stderr().lock(), format!("fastgcm: {message}\n").as_bytes());
        }
        ExitCode::from(self.code as u8)
    }
}

/// The same error with the name of the file in front.
pub(crate) fn named(name: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| match error.kind() {
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("{name}: {error}")),
    }
}
