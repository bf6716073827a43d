//! The failures of a run: exit codes and messages.

use std::{fmt::Display, io, ops::RangeInclusive, process::ExitCode};

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    /// `None` where the exit code says everything.
    message: Option<String>,
    /// Further notes for the user, one line each.
    notes: Vec<String>,
    /// True if the run's other files would fail, too.
    is_last: bool,
}

/// The exit codes; 0 is done. [`Code::MEANINGS`] says what each means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Io = 1,
    /// Also clap's code.
    Usage = 2,
    Unauthentic = 3,
    Key = 4,
    Exists = 5,
    SelfTest = 6,
    Provider = 7,
}

impl Code {
    /// All exit codes, for `--help`, for the manual and, by a test, for README.md.
    pub(crate) const MEANINGS: [(u8, &str); 8] = [
        (0, "done"),
        (Self::Io as u8, "reading or writing failed (without a message if the reader of a pipe has gone)"),
        (Self::Usage as u8, "the command line asks for something that cannot be done"),
        (Self::Unauthentic as u8, "not authentic: no sealed file, changed, truncated, another key or another context"),
        (Self::Key as u8, "bad key file: not a key, of the other length, locked for others, or others may read it"),
        (Self::Exists as u8, "the output exists"),
        (Self::SelfTest as u8, "the self-test failed, or answers differ: do not use this machine"),
        (Self::Provider as u8, "doctor: the OpenSSL provider would not be used, or should not be"),
    ];
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Display) -> Self {
        Self { code, message: Some(message.to_string()), notes: Vec::new(), is_last: false }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Code::Usage, message)
    }

    /// A closed pipe is no news to the program that closed it, so a broken pipe is silent.
    pub(crate) fn io(what: impl Display, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent();
        }
        Self::new(Code::Io, format_args!("{what}: {}", reason(&error)))
    }

    /// Makes the failure of an error of the file format. The readers and writers that we pass in name themselves in their errors.
    pub(crate) fn file(input: impl Display, error: fastgcm_file::Error) -> Self {
        use fastgcm_file::Error;
        match error {
            Error::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Self::silent(),
            Error::Io(error) => Self::new(Code::Io, error),
            Error::Truncated => Self::new(Code::Unauthentic, format_args!("{input}: truncated, or no sealed file")),
            error if error.is_unauthentic() => Self::new(Code::Unauthentic, format_args!("{input}: {error}")),
            Error::KeyLength => Self::new(Code::Key, error),
            Error::TooLong => Self::new(Code::Io, format_args!("{input}: {error}")),
            error => Self::new(Code::Usage, format_args!("{input}: {error}")),
        }
    }

    fn silent() -> Self {
        Self { code: Code::Io, message: None, notes: Vec::new(), is_last: true }
    }

    /// Adds what the user should also know.
    pub(crate) fn note(mut self, note: impl Display) -> Self {
        self.notes.push(note.to_string());
        self
    }

    /// Adds a note where it is of use.
    #[cfg(feature = "age")]
    pub(crate) fn note_if(self, is_of_use: bool, note: impl Display) -> Self {
        if is_of_use { self.note(note) } else { self }
    }

    /// Ends the run, whatever other files there are.
    pub(crate) fn last(self) -> Self {
        Self { is_last: true, ..self }
    }

    pub(crate) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Returns the message, without the notes.
    pub(crate) fn message(&self) -> &str {
        self.message.as_deref().unwrap_or_default()
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Tells the user. If standard error is also closed, the exit code remains.
    pub(crate) fn report(self) -> ExitCode {
        let message = self.message.map(|message| format!("fastgcm: {}\n", escaped(&message)));
        let notes = self.notes.iter().map(|note| format!("note: {}\n", escaped(note)));
        let text: String = message.into_iter().chain(notes).collect();
        say(&text);
        ExitCode::from(self.code as u8)
    }
}

/// Returns a text that others have written, such as the name of a file or of a process, in a form fit to be shown: a terminal would obey
/// control characters, and a line feed, a mark of writing direction or an invisible letter would make one message look like another.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            letter if FORMAT.iter().any(|letters| letters.contains(&letter)) => shown.extend(letter.escape_unicode()),
            letter if letter.is_control() => shown.extend(letter.escape_default()),
            letter => shown.push(letter),
        }
    }
    shown
}

/// Unicode's format characters (Cf), and its separators of lines and paragraphs. open.html asks its browser for these characters too.
const FORMAT: [RangeInclusive<char>; 21] = [
    '\u{ad}'..='\u{ad}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{2064}',
    '\u{2066}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0001}'..='\u{e0001}',
    '\u{e0020}'..='\u{e007f}',
];

/// Returns what the operating system says, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let reason = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    number.and_then(|number| reason.strip_suffix(&number).map(str::to_owned)).unwrap_or(reason)
}

/// Returns a function that puts the name of the file before an error.
pub(crate) fn named(name: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| match error.kind() {
        io::ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("{name}: {}", reason(&error))),
    }
}

/// Writes to standard error. If nobody reads that, the exit code remains.
pub(crate) fn say(text: &str) {
    let _ = io::Write::write_all(&mut io::stderr().lock(), text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped() {
        assert_eq!(escaped("a\x1b[31m\r\n\u{9b}\u{202e}\x7f"), "a\\u{1b}[31m\\r\\n\\u{9b}\\u{202e}\\u{7f}");
        assert_eq!(escaped("\u{61c}\u{200b}\u{ad}\u{feff}\u{e0041}"), "\\u{61c}\\u{200b}\\u{ad}\\u{feff}\\u{e0041}");
        for plain in ["naïve 'quoted' \\ name.txt", "e\u{301}", "日本", ""] {
            assert_eq!(escaped(plain), plain);
        }
    }
}
