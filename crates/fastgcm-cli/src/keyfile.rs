//! Key files: 16 or 32 raw bytes, or these bytes as one line of hexadecimal digits; and age files with such bytes in them ([`lock`]).

use crate::{
    cli,
    failure::{Code, Failure, escaped, say},
    input::{Identity, by_environment, is_dash, read_at_most, standard},
    lock,
    output::Target,
    trust::{INSECURE, Others, refuse_others},
};
use fastgcm::approved::self_test;
use fastgcm_file::{Backend, Error, Format, Key};
use std::{
    fmt::Display,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};
use zeroize::Zeroizing;

/// A key, and the file from which it came.
pub(crate) struct KeyFile {
    pub(crate) key: Key,
    /// Its name in messages.
    pub(crate) name: String,
    is_stdin: bool,
    identity: Identity,
}

/// The purpose of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Seal,
    Open,
}

/// The key of a run, which is read when the first file needs it.
pub(crate) struct Wanted<'a> {
    pub(crate) path: Option<&'a Path>,
    /// If there is no format, the key's length tells it.
    pub(crate) format: Option<Format>,
    pub(crate) purpose: Purpose,
    pub(crate) reading: &'a cli::Reading,
    pub(crate) backend: Backend,
    pub(crate) read: Option<KeyFile>,
}

impl Wanted<'_> {
    /// Reads the key, unless it was already read. Without it no file can be sealed or opened.
    pub(crate) fn get(&mut self) -> Result<&KeyFile, Failure> {
        if self.read.is_none() {
            self.read = Some(self.read_now().map_err(Failure::last)?);
        }
        self.read.as_ref().ok_or_else(|| Failure::usage(NO_KEY))
    }

    fn read_now(&self) -> Result<KeyFile, Failure> {
        let (path, name) = match self.path {
            Some(path) if is_dash(path) => (path.to_owned(), "standard input".into()),
            Some(path) => (path.to_owned(), path.display().to_string()),
            None => default_path()?,
        };
        self.test()?;
        let (key, identity) = read(&path, &name, self.format, self.purpose, self.reading)?;
        let key = key.with_backend(self.backend).map_err(|error| Failure::file(&name, error))?;
        Ok(KeyFile { key, name, is_stdin: is_dash(&path), identity })
    }

    /// The approved mode works on a back end that has passed its self-test.
    fn test(&self) -> Result<(), Failure> {
        let tested = if self.reading.approved { self_test(self.backend) } else { Ok(()) };
        tested.map_err(|error| Failure::new(Code::SelfTest, format_args!("{}: {error}. Do not use this machine", self.backend)))
    }
}

/// The key with which a run seals: an existing key, or a new one.
pub(crate) struct SealingKey<'a> {
    pub(crate) wanted: Wanted<'a>,
    /// The output for a new key.
    pub(crate) new: Option<&'a Path>,
    /// A new key, and its place if it was not written yet.
    pub(crate) made: Option<(Key, Option<Target>)>,
}

impl SealingKey<'_> {
    /// Reads or makes the key, if that was not done yet, and refuses an output that would replace it. Nothing is written.
    pub(crate) fn prepare(&mut self, target: &Target) -> Result<(), Failure> {
        match self.new {
            None => self.wanted.get()?.refuse_same(target),
            Some(path) if self.made.is_none() => {
                self.made = Some(self.make(path, target).map_err(Failure::last)?);
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns the key, if it was read or made.
    pub(crate) fn known(&self) -> Option<&Key> {
        self.made.as_ref().map(|(key, _)| key).or(self.wanted.read.as_ref().map(|file| &file.key))
    }

    /// Returns the key, and whether it has just been written. A new key is on the disk when this returns.
    pub(crate) fn get(&mut self) -> Result<(&Key, bool), Failure> {
        match &mut self.made {
            None => Ok((&self.wanted.get()?.key, false)),
            Some((key, place)) => {
                let place = place.take();
                let is_new = place.is_some();
                if let Some(place) = place {
                    create(place, key).map_err(Failure::last)?;
                }
                Ok((key, is_new))
            }
        }
    }

    /// Returns a new key, and where it will go.
    fn make(&self, path: &Path, target: &Target) -> Result<(Key, Option<Target>), Failure> {
        self.wanted.test()?;
        let place = Target::plan_new(path, false)?;
        if matches!(place, Target::Stream(..)) {
            return Err(Failure::usage(format_args!("{}: a new key needs a file that lasts", path.display())));
        }
        if place.is_same_place(target) {
            return Err(Failure::usage(format_args!("{} is both key and output", path.display())));
        }
        let key = Key::generate(self.wanted.format.unwrap_or_default()).and_then(|key| key.with_backend(self.wanted.backend));
        Ok((key.map_err(|error| Failure::file("key", error))?, Some(place)))
    }

    /// Says which key is new, if it is new.
    pub(crate) fn report(&self, is_new: bool) -> Result<(), Failure> {
        match (self.new, &self.made) {
            (Some(path), Some((key, _))) if is_new => made(path, key),
            _ => Ok(()),
        }
    }

    /// Adds what must be said of a new key when the run fails.
    pub(crate) fn failed(&self, failure: Failure) -> Failure {
        match (self.new, &self.made) {
            (Some(path), Some((_, None))) => failure.note(format_args!("the new key was written to {} and stays there", path.display())),
            _ => failure,
        }
    }
}

impl KeyFile {
    /// An output must not replace the key.
    pub(crate) fn refuse_same(&self, target: &Target) -> Result<(), Failure> {
        if target.identity() == Some(self.identity) && !self.is_stdin {
            return Err(Failure::usage(format_args!("{} is both key and output", self.name)));
        }
        Ok(())
    }

    /// Says why a file does not open, what that says of the key, and what to do.
    pub(crate) fn failure(&self, input: impl Display, error: Error) -> Failure {
        let is_damaged = matches!(error, Error::Chunk(_) | Error::Truncated);
        let failure = self.because(input, error);
        if is_damaged { failure.note(SALVAGE) } else { failure }
    }

    /// Says why a file does not open, and what that says of the key.
    pub(crate) fn because(&self, input: impl Display, error: Error) -> Failure {
        let (is_other, is_right) = (matches!(error, Error::WrongKey), matches!(error, Error::Chunk(_)));
        let (failure, path) = (Failure::file(input, error), &self.name);
        match fingerprint(&self.key) {
            Ok(mark) if is_other => {
                failure.note(format_args!("the key {path} has the fingerprint {mark}: was the file sealed with that one?"))
            }
            Ok(_) if is_right => failure.note(format_args!("the key {path} is the right one: the file is damaged")),
            _ => failure,
        }
    }
}

/// Returns the fingerprint, by which people tell keys apart.
pub(crate) fn fingerprint(key: &Key) -> Result<String, Failure> {
    key.fingerprint().map_err(|error| Failure::file("key", error))
}

/// Says which key is new.
pub(crate) fn made(path: &Path, key: &Key) -> Result<(), Failure> {
    let path = escaped(&if is_dash(path) { "standard output".into() } else { path.display().to_string() });
    say(&format!("new key: {path}, fingerprint {} (without it nobody can open what it seals)\n", fingerprint(key)?));
    Ok(())
}

/// Returns where the default key is kept: a file in the user's configuration folder.
pub(crate) fn in_configuration_folder() -> Option<PathBuf> {
    let folder = by_environment("XDG_CONFIG_HOME").or_else(|| Some(by_environment("HOME")?.join(".config")));
    Some(folder?.join("fastgcm/key"))
}

/// Returns a path for a run that names no key, and its name in messages.
fn default_path() -> Result<(PathBuf, String), Failure> {
    if let Some(path) = by_environment("FASTGCM_KEY_FILE") {
        return Ok((path, "$FASTGCM_KEY_FILE".into()));
    }
    match by_environment("FASTGCM_KEY") {
        // Before there were two variables, this one named a file.
        Some(path) if path.symlink_metadata().is_ok() => return Ok((path, "$FASTGCM_KEY".into())),
        Some(_) => return Err(Failure::usage(NO_FILE)),
        None => {}
    }
    let path = in_configuration_folder().filter(|key| key.symlink_metadata().is_ok());
    path.map(|path| (path, "fastgcm/key in your configuration folder".into())).ok_or_else(|| Failure::usage(NO_KEY))
}

/// Reads the key of a format; without a format, the key's length tells it. `-` is standard input. Also returns which file it is.
fn read(path: &Path, name: &str, format: Option<Format>, purpose: Purpose, reading: &cli::Reading) -> Result<(Key, Identity), Failure> {
    let bad = |why: &dyn Display| Failure::new(Code::Key, format_args!("key {name}: {why}"));
    let file = if is_dash(path) { standard(io::stdin()) } else { File::open(path) }.map_err(|error| Failure::io(name, error))?;
    let metadata = file.metadata().map_err(|error| bad(&error))?;
    if metadata.is_dir() {
        return Err(bad(&"is a directory: name the key file in it"));
    }
    let mut content = read_at_most(&file, LONGEST + 1).map_err(|error| Failure::io(name, error))?;
    let is_locked = lock::is_locked(&content);
    if !is_dash(path) && !reading.insecure_key_file {
        // Others may read a locked key file. A user who could change it could put another key in its place.
        let others = if is_locked { Others::Change } else { Others::Read };
        refuse_others(&format_args!("key {name}"), path, &metadata, others, INSECURE)?;
    }
    if is_locked && reading.approved {
        return Err(bad(&"age has locked it, in ways that NIST does not approve: leave out --approved, or take another key file"));
    }
    if is_locked {
        let rest = read_at_most(file, lock::LONGEST + 1 - content.len()).map_err(|error| Failure::io(name, error))?;
        let all = [&content[..], &rest].concat();
        if all.len() > lock::LONGEST {
            return Err(bad(&lock::TOO_LONG));
        }
        content = lock::unlock(name, &all, LONGEST + 1, reading)?;
    }
    let (key, is_printable) = parse(&content, format).map_err(|why| bad(&why))?;
    if is_printable && !reading.raw_key {
        let why = format!("its {} raw bytes are all printable. {NO_PASSWORD}, or say --raw-key if they are random", content.len());
        match purpose {
            Purpose::Seal => return Err(bad(&why)),
            Purpose::Open => say(&format!("warning: key {}: {why}\n", escaped(name))),
        }
    }
    Ok((key, Identity::of(&metadata)))
}

/// Writes a key to a new file. It is on the disk when this returns.
pub(crate) fn create(target: Target, key: &Key) -> Result<(), Failure> {
    write(target, &line(key))
}

/// Writes a key to a new file, locked if the options say so.
pub(crate) fn create_locked(target: Target, path: &Path, key: &Key, locks: &cli::Locks) -> Result<(), Failure> {
    if locks.are_wanted() { write(target, &lock::lock(&path.display().to_string(), key, locks)?) } else { create(target, key) }
}

fn write(target: Target, content: &[u8]) -> Result<(), Failure> {
    let mut output = target.create()?;
    output.write_all(content).map_err(|error| Failure::io("key", error))?;
    output.commit()
}

/// Returns the key as one line of hexadecimal digits.
pub(crate) fn line(key: &Key) -> Zeroizing<Vec<u8>> {
    let bytes = key.as_bytes();
    let mut line = Zeroizing::new(vec![b'\n'; 2 * bytes.len() + 1]);
    // This cannot fail, because the buffer has room.
    let _ = base16ct::lower::encode(bytes, &mut line);
    line
}

/// Also returns whether these are raw bytes that somebody may have typed. The chance that a random key of 32 bytes looks like that is
/// 10^-13, of 16 bytes 10^-6.
///
/// 32 hexadecimal digits without an end of line could also be 32 raw bytes. They are taken for digits: the chance that a random key looks
/// like digits is 10^-34, and it is far more likely that somebody forgot the end of line.
fn parse(content: &[u8], format: Option<Format>) -> Result<(Key, bool), String> {
    let digits = content.strip_suffix(b"\n").unwrap_or(content);
    let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
    let mut decoded = Zeroizing::new([0; LONGEST / 2]);
    let decoded = match digits.len() {
        32 | 64 => base16ct::mixed::decode(digits, &mut *decoded).ok(),
        _ => None,
    };
    let bytes = decoded.unwrap_or(content);
    let Some(of_len) = Format::of_key_len(bytes.len()) else {
        return Err(format!("not a key: neither 16 nor 32 bytes, nor one line of 32 or 64 hexadecimal digits. {NO_PASSWORD}"));
    };
    let format = format.unwrap_or(of_len);
    let key = Key::new(format, bytes).map_err(|_| {
        format!("it has {} bytes, but {format} takes {}; such a key is for --format {of_len}", bytes.len(), format.key_len())
    })?;
    let is_text = |text: &str| text.chars().all(|letter| !letter.is_control() || letter.is_whitespace());
    Ok((key, decoded.is_none() && str::from_utf8(content).is_ok_and(is_text)))
}

/// 64 digits and an end of line.
const LONGEST: usize = 66;

const SALVAGE: &str = "what can still be verified `fastgcm open --salvage -o OUT` saves";

#[cfg(feature = "age")]
const NO_PASSWORD: &str = "A password is no key: `fastgcm keygen` makes one, and with -p a key file that a passphrase opens";
#[cfg(not(feature = "age"))]
const NO_PASSWORD: &str = "A password is no key: `fastgcm keygen` makes one";

const NO_KEY: &str = "a key is needed: -k KEY, or a key file that FASTGCM_KEY_FILE names, or fastgcm/key in your configuration folder; `fastgcm keygen` makes one";

const NO_FILE: &str =
    "FASTGCM_KEY names no file: where fastgcm shall find the name of a key file, the variable is FASTGCM_KEY_FILE, or say -k KEY";
