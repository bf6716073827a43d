//! The input of a run: a named file, a pipe, or standard input.

use crate::{
    failure::{Code, Failure, named, say},
    progress::Progress,
};
use std::{
    env, fmt,
    fs::{File, Metadata},
    io::{self, IsTerminal, Read, Seek, SeekFrom},
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
    time::SystemTime,
};
use zeroize::Zeroizing;

/// An open input.
pub(crate) struct Input {
    file: File,
    name: String,
    metadata: Metadata,
    /// The bytes from our start to the end, of a regular file.
    pub(crate) len: Option<u64>,
    is_stdin: bool,
}

/// A file, whatever names it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let is_stdin = is_dash(path);
        let name = if is_stdin { "standard input".into() } else { path.display().to_string() };
        Self::start(path, &name, is_stdin).map_err(|error| Failure::io(&name, error))
    }

    fn start(path: &Path, name: &str, is_stdin: bool) -> io::Result<Self> {
        let mut file = if is_stdin { standard(io::stdin())? } else { File::open(path)? };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory, and only a file can be read"));
        }
        let len = if metadata.is_file() { Some(metadata.len().saturating_sub(file.stream_position()?)) } else { None };
        Ok(Self { file, name: name.into(), metadata, len, is_stdin })
    }

    /// Returns which file it is.
    pub(crate) fn identity(&self) -> Identity {
        Identity::of(&self.metadata)
    }

    /// Returns whether the input can be read at any place, so that its end can be verified first.
    pub(crate) fn is_seekable(&self) -> bool {
        self.len.is_some() && !self.is_stdin
    }

    /// Returns whether the input is a device, such as a disk.
    pub(crate) fn is_device(&self) -> bool {
        let kind = self.metadata.file_type();
        kind.is_block_device() || kind.is_char_device()
    }

    /// Returns when a regular file was modified.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.metadata.modified().ok().filter(|_| self.metadata.is_file())
    }

    /// Returns this file from its start once more. Only one of the two is read at a time.
    pub(crate) fn again(&self) -> Result<Self, Failure> {
        let start = || {
            let mut file = self.file.try_clone()?;
            file.rewind()?;
            Ok(Self { file, name: self.name.clone(), metadata: self.metadata.clone(), ..*self })
        };
        start().map_err(|error| Failure::io(self, error))
    }

    /// Fails unless the path leads to that file, unchanged since it was opened.
    pub(crate) fn check_place(&self, path: &Path) -> Result<(), Failure> {
        let is_same = |now: &Metadata| Identity::of(now) == self.identity() && is_unchanged(&self.metadata, now);
        match std::fs::metadata(path) {
            Ok(now) if is_same(&now) => Ok(()),
            Ok(_) => Err(Failure::io(self, changed())),
            Err(error) => Err(Failure::io(self, error)),
        }
    }

    /// Returns the input for reading from start to end. A regular file must keep its length and its time of modification meanwhile.
    /// Otherwise its end is an error and not an end, so that nobody takes a mixture of two states of a file for one of them.
    pub(crate) fn watch(self, progress: Progress) -> Watched {
        Watched { input: self, progress, read: 0 }
    }

    /// Returns the input for reading at any place.
    pub(crate) fn seek(self, progress: Progress) -> Seekable {
        Seekable { input: self, progress }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// Returns whether the path means standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns standard input or output as a plain file, without std's buffers.
///
/// Where one of them was closed, Rust opens /dev/null for reading and writing. A shell's redirection opens it for one of the two. This
/// difference tells them apart: a closed one must not look like an empty file or a text that was written.
pub(crate) fn standard(stream: impl AsFd) -> io::Result<File> {
    let file = File::from(stream.as_fd().try_clone_to_owned()?);
    let metadata = file.metadata()?;
    let both_ways = rustix::fs::fcntl_getfl(&file)?.contains(rustix::fs::OFlags::RDWR);
    if metadata.file_type().is_char_device() && both_ways && !file.is_terminal() && Identity::of(&metadata) == null()? {
        return Err(io::Error::other("is closed"));
    }
    Ok(file)
}

fn null() -> io::Result<Identity> {
    Ok(Identity::of(&std::fs::metadata("/dev/null")?))
}

/// Returns a path from an environment variable. No message shows it: it may be a secret that somebody has put there.
pub(crate) fn by_environment(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Reads everything, or the first `limit` bytes, into one buffer that is wiped: a growing `Vec` leaves copies.
pub(crate) fn read_at_most(mut file: impl Read, limit: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(vec![0; limit]);
    let mut len = 0;
    loop {
        match file.read(&mut content[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(len);
    Ok(content)
}

/// An input that is read to its end.
pub(crate) struct Watched {
    input: Input,
    progress: Progress,
    read: u64,
}

impl Watched {
    fn check(&self) -> io::Result<()> {
        let Some(len) = self.input.len else { return Ok(()) };
        let now = self.input.file.metadata()?;
        if self.read == len && is_unchanged(&self.input.metadata, &now) { Ok(()) } else { Err(changed()) }
    }
}

/// Returns whether the file has kept its length and its time of modification.
fn is_unchanged(before: &Metadata, now: &Metadata) -> bool {
    let facts = |of: &Metadata| (of.len(), of.mtime(), of.mtime_nsec());
    facts(before) == facts(now)
}

fn changed() -> io::Error {
    io::Error::other("changed while it was read")
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let name = named(&self.input.name);
        let read = self.input.file.read(buffer).map_err(&name)?;
        self.read += read as u64;
        self.progress.advance(read);
        if read == 0 {
            self.check().map_err(&name)?;
        } else if self.input.len.is_some_and(|len| self.read > len) {
            return Err(name(changed()));
        }
        Ok(read)
    }
}

/// An input that is read at any place.
pub(crate) struct Seekable {
    input: Input,
    progress: Progress,
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.file.read(buffer).map_err(named(&self.input.name))?;
        self.progress.advance(read);
        Ok(read)
    }
}

impl Seekable {
    /// Returns where the next bytes are that the file system has, from this place on. Reading goes on anywhere.
    #[cfg(target_os = "linux")]
    pub(crate) fn seek_data(&self, at: u64) -> rustix::io::Result<u64> {
        rustix::fs::seek(&self.input.file, rustix::fs::SeekFrom::Data(at))
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.input.file.seek(to).map_err(named(&self.input.name))
    }
}

/// Standard input can be only one of the two.
pub(crate) fn refuse_two_dashes(file: &Path, key: Option<&Path>) -> Result<(), Failure> {
    if is_dash(file) && key.is_some_and(is_dash) {
        return Err(Failure::usage("key and file cannot both come from standard input: name one of them"));
    }
    Ok(())
}

/// Does the work of a run for each file. A failure is reported at once, and the next files still have their turn. The exit code is then
/// that of a file that is not authentic, if there is one, or else that of the first failure.
pub(crate) fn each(files: &[PathBuf], done: &str, quiet: bool, mut work: impl FnMut(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    if let [file] = files {
        return work(file);
    }
    if files.iter().any(|file| is_dash(file)) {
        return Err(Failure::usage("standard input is no file among several: take it by itself"));
    }
    let (mut code, mut failed) = (None, 0);
    for file in files {
        match work(file) {
            Ok(()) => {}
            Err(failure) if failure.is_last() => return Err(failure),
            Err(failure) => {
                code = code.filter(|_| failure.code() != Code::Unauthentic).or(Some(failure.code()));
                failed += 1;
                failure.report();
            }
        }
    }
    match code {
        Some(code) => Err(Failure::new(code, format_args!("{done} {} of {} files", files.len() - failed, files.len()))),
        None if quiet => Ok(()),
        None => {
            say(&format!("{:<8} {} files\n", format!("{done}:"), files.len()));
            Ok(())
        }
    }
}

/// An option that is for one file only.
pub(crate) fn refuse_several(files: &[PathBuf], option: &str, is_used: bool) -> Result<(), Failure> {
    if is_used && files.len() > 1 {
        return Err(Failure::usage(format_args!("{option} is for one file, and there are {}", files.len())));
    }
    Ok(())
}

/// Nothing may be read from and written to the same file.
pub(crate) fn refuse_same(input: &Input, output: Option<Identity>) -> Result<(), Failure> {
    if output == Some(input.identity()) && input.metadata.is_file() {
        return Err(Failure::new(Code::Usage, format_args!("{input} is both input and output")));
    }
    Ok(())
}
