//! How a run ends when it does not do what it was asked: an exit code, and a message.

use std::{fmt::Display, io, process::ExitCode};

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// `None` where the exit code says it all.
    message: Option<String>,
}

/// The exit codes, which are those of `fastgcm`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    Io = 1,
    /// Also clap's code.
    Usage = 2,
    Exists = 5,
    /// Answers differ.
    SelfTest = 6,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Display) -> Self {
        Self { code, message: Some(message.to_string()) }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Code::Usage, message)
    }

    /// That nobody reads on is no news to who closed the pipe.
    pub(crate) fn io(what: impl Display, error: &io::Error) -> Self {
        let is_news = error.kind() != io::ErrorKind::BrokenPipe;
        Self { code: Code::Io, message: is_news.then(|| format!("{what}: {error}")) }
    }

    /// Tells the user.
    pub(crate) fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            let _ = io::Write::write_all(&mut io::stderr(), format!("fastgcm-study: {}\n", shown(&message)).as_bytes());
        }
        ExitCode::from(self.code as u8)
    }
}

/// A text that may hold names of files, fit to be shown: a terminal would obey control characters.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(|letter| if "'\"\\".contains(letter) { letter.to_string() } else { letter.escape_debug().to_string() }).collect()
}
