//! What a run writes, and how it loses nothing.
//!
//! A new file has no name while it is written (`O_TMPFILE`). When all of it is on the disk, it is linked into its place, which fails if
//! another file has appeared there meanwhile, and the directory is synced. So under its name there is nothing or everything, and whatever
//! stops the program, even SIGKILL, leaves nothing behind.
//!
//! Where the file system has no unnamed files (some network and FUSE file systems), the file has a random name until then; a signal leaves
//! that file behind. To replace a file (`--force`), the new file is linked to a random name, and renamed over the old one: for an instant
//! both exist. The new file takes over the old file's mode, owner, group and attributes ([`attributes`]).

mod attributes;

use crate::{
    failure::{Code, Failure, named},
    input::{Identity, is_dash, standard},
};
use rustix::{
    fs::{Advice, AtFlags, CWD, Mode, OFlags, RenameFlags},
    io::{Errno, retry_on_intr},
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, IsTerminal, Seek, Write},
    num::NonZero,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            ffi::OsStrExt,
            fs::{FileTypeExt, PermissionsExt},
        },
    },
    path::Path,
    time::SystemTime,
};

/// Where the output will go. Nothing has been written yet.
pub(crate) enum Target {
    Stream(Stream),
    /// A place in a directory.
    Place(Place),
}

/// An output that is being written.
pub(crate) enum Output {
    Stream(Stream),
    New(NewFile),
}

/// Standard output, a named pipe or a device: written as data arrive.
pub(crate) struct Stream {
    file: File,
    name: String,
    /// Whether to refuse bytes that a terminal would obey. Holds the last byte written.
    text_only: Option<u8>,
    /// Whether something has been written.
    has_given: bool,
}

/// A name in an open directory.
pub(crate) struct Place {
    directory: OwnedFd,
    name: OsString,
    /// The whole path, for messages.
    path: String,
    /// Whether to replace an existing file.
    force: bool,
    /// The mode of a new file, before the umask.
    mode: Mode,
    /// The existing file, if there is one.
    existing: Option<Identity>,
    /// Advice for the user if a file exists, or appears meanwhile.
    advice: &'static str,
}

/// A file that has no name yet. If it is dropped, it is gone.
pub(crate) struct NewFile {
    place: Place,
    file: File,
    /// Its temporary name, if it has one.
    temporary: Option<OsString>,
    /// The bytes so far, and up to where the kernel was told to write them to the disk.
    written: u64,
    started: u64,
}

impl Target {
    /// Looks at what exists. `-` is standard output. A new file gets this mode, which is [`PRIVATE`] or [`BY_UMASK`].
    pub(crate) fn plan(path: &Path, force: bool, mode: Mode) -> Result<Self, Failure> {
        if is_dash(path) {
            let name = "standard output";
            let file = standard(io::stdout()).map_err(|error| Failure::io(name, error))?;
            return Ok(Self::Stream(Stream::new(file, name.into())));
        }
        let shown = path.display().to_string();
        let io = |error| Failure::io(&shown, error);
        let metadata = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Place(Place::new(path, force, mode, None)?)),
            Err(error) => return Err(io(error)),
            Ok(metadata) if metadata.is_symlink() => {
                let nothing = |_| exists(&shown, "is a symbolic link to nothing: name another file");
                let end = path.metadata().map_err(nothing)?;
                if end.is_file() {
                    // The link stays: the plan is about the file at its end.
                    return Self::existing(&path.canonicalize().map_err(nothing)?, &end, force, mode);
                }
                end
            }
            Ok(metadata) => metadata,
        };
        let kind = metadata.file_type();
        if kind.is_fifo() || kind.is_char_device() {
            let file = File::options().write(true).open(path).map_err(io)?;
            return Ok(Self::Stream(Stream::new(file, shown)));
        }
        Self::existing(path, &metadata, force, mode)
    }

    /// Plans where a key goes: always a new file, or a stream. Others may read a locked key.
    pub(crate) fn plan_new(path: &Path, is_locked: bool) -> Result<Self, Failure> {
        let mut target = Self::plan(path, false, PRIVATE)?;
        if let Self::Place(place) = &mut target {
            place.advice = KEY_EXISTS;
        }
        target.refuse_existing()?;
        match &target {
            // The shell made this file for `keygen > key`. Nobody knows who has opened it already, so it is not made private now.
            Self::Stream(Stream { file, name, .. }) => {
                let metadata = file.metadata().map_err(|error| Failure::io(name, error))?;
                let mode = metadata.permissions().mode() & 0o777;
                if metadata.is_file() && mode & 0o077 != 0 && !is_locked {
                    let why = "is a file that others may read or change, which is no place for a key";
                    let advice = "name the key file with -o, which makes it private";
                    return Err(Failure::new(Code::Key, format_args!("{name} {why} (its mode is {mode:04o}): {advice}")));
                }
                Ok(target)
            }
            Self::Place(_) => Ok(target),
        }
    }

    /// Without `--force` an existing file ends the run, before anything is done.
    pub(crate) fn refuse_existing(&self) -> Result<(), Failure> {
        match self {
            Self::Place(place) if place.existing.is_some() && !place.force => Err(exists(&place.path, place.advice)),
            _ => Ok(()),
        }
    }

    /// Returns whether both are one name in one directory.
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        let (Self::Place(one), Self::Place(two)) = (self, other) else { return false };
        let directory = |place: &Place| rustix::fs::fstat(&place.directory).map(|stat| (stat.st_dev, stat.st_ino)).ok();
        one.name == two.name && directory(one).is_some() && directory(one) == directory(two)
    }

    /// Returns which file it would replace or append to, if there is one.
    pub(crate) fn identity(&self) -> Option<Identity> {
        match self {
            Self::Stream(stream) => stream.file.metadata().ok().map(|metadata| Identity::of(&metadata)),
            Self::Place(place) => place.existing,
        }
    }

    /// Returns whether the output appears on a screen, where a progress bar would disturb it.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Self::Stream(stream) if stream.file.is_terminal())
    }

    /// Lets a terminal get nothing but text, as [`Stream::check`] defines it.
    pub(crate) fn text_only(&mut self) {
        if let Self::Stream(stream) = self {
            stream.text_only = stream.file.is_terminal().then_some(0);
        }
    }

    /// Starts to write.
    pub(crate) fn create(self) -> Result<Output, Failure> {
        match self {
            Self::Stream(stream) => Ok(Output::Stream(stream)),
            Self::Place(place) => Ok(Output::New(NewFile::create(place)?)),
        }
    }

    fn existing(path: &Path, metadata: &std::fs::Metadata, force: bool, mode: Mode) -> Result<Self, Failure> {
        let shown = path.display();
        if metadata.is_dir() {
            return Err(exists(shown, "is a directory: name a file in it"));
        }
        if !metadata.is_file() {
            return Err(exists(shown, "exists and is not a regular file: name another file"));
        }
        let place = Place::new(path, force, mode, Some(Identity::of(metadata)))?;
        Ok(Self::Place(place))
    }
}

impl Stream {
    fn new(file: File, name: String) -> Self {
        Self { file, name, text_only: None, has_given: false }
    }

    /// Plain text has no control characters but tabs and ends of lines. Other control characters move the cursor, change a window's title
    /// or answer as if somebody typed; so do U+0080 to U+009F.
    fn check(&self, bytes: &[u8]) -> io::Result<()> {
        let Some(mut last) = self.text_only else { return Ok(()) };
        for &byte in bytes {
            let is_control = byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\n');
            if is_control || last == 0xc2 && (0x80..=0x9f).contains(&byte) {
                let what = "is a terminal, and the text has control characters, which a terminal obeys";
                return Err(io::Error::other(format!("{} {what}: {NOT_HERE}", self.name)));
            }
            last = byte;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check(bytes)?;
        let written = self.file.write(bytes).map_err(named(&self.name))?;
        self.has_given |= written > 0;
        if let (Some(last), Some(&byte)) = (&mut self.text_only, bytes[..written].last()) {
            *last = byte;
        }
        Ok(written)
    }
}

impl Place {
    fn new(path: &Path, force: bool, mode: Mode, existing: Option<Identity>) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        // The library takes `folder` as the name in `folder/` and `folder/.`.
        let name = path.file_name().filter(|name| path.as_os_str().as_bytes().ends_with(name.as_bytes())).map(OsStr::to_owned);
        let Some(name) = name else {
            return Err(Failure::usage(format_args!("{shown}: this names a directory: name a file in it")));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| rustix::fs::open(parent, flags, Mode::empty()))
            .map_err(|error| Failure::io(parent.display(), error.into()))?;
        Ok(Self { directory, name, path: shown, force, mode, existing, advice: EXISTS })
    }
}

impl NewFile {
    /// Creates the file without a name if the file system allows that, otherwise with a random name.
    pub(crate) fn create(place: Place) -> Result<Self, Failure> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            match retry_on_intr(|| rustix::fs::openat(&place.directory, ".", flags, place.mode)) {
                // The file gets its name through /proc; without /proc it needs a name from the start.
                Ok(file) if Path::new(&link_to(&file)).exists() => {
                    return Ok(Self { place, file: file.into(), temporary: None, written: 0, started: 0 });
                }
                Ok(_) | Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
                Err(error) => return Err(Failure::io(&place.path, error.into())),
            }
        }
        Self::create_named(place)
    }

    fn create_named(place: Place) -> Result<Self, Failure> {
        let temporary = random_name().map_err(|error| Failure::io(&place.path, error))?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match retry_on_intr(|| rustix::fs::openat(&place.directory, &temporary, flags, place.mode)) {
            Ok(file) => Ok(Self { place, file: file.into(), temporary: Some(temporary), written: 0, started: 0 }),
            Err(error) => Err(Failure::io(&place.path, error.into())),
        }
    }

    /// Syncs the file, gives it its name, and syncs the directory.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        self.keep_attributes().map_err(|error| Failure::io(&self.place.path, error.into()))?;
        self.file.sync_all().map_err(|error| Failure::io(&self.place.path, error))?;
        self.give_name().map_err(|error| match error {
            Errno::EXIST => exists(&self.place.path, self.place.advice),
            error => Failure::io(&self.place.path, error.into()),
        })?;
        match retry_on_intr(|| rustix::fs::fsync(&self.place.directory)) {
            // Some file systems cannot sync a directory; then there is nothing to wait for.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => {
                let failure = Failure::io(&self.place.path, error.into());
                Err(failure.note("the file is complete and in its place, but may not survive a power failure now"))
            }
        }
    }

    fn give_name(&mut self) -> Result<(), Errno> {
        let Place { directory, name, force, .. } = &self.place;
        if self.temporary.is_none() {
            if !force {
                return retry_on_intr(|| rustix::fs::linkat(CWD, link_to(&self.file), directory, name, AtFlags::SYMLINK_FOLLOW));
            }
            let temporary = random_name().map_err(|_| Errno::IO)?;
            retry_on_intr(|| rustix::fs::linkat(CWD, link_to(&self.file), directory, &temporary, AtFlags::SYMLINK_FOLLOW))?;
            self.temporary = Some(temporary);
        }
        let Some(temporary) = &self.temporary else { return Ok(()) };
        if *force {
            retry_on_intr(|| rustix::fs::renameat(directory, temporary, directory, name))?;
            self.temporary = None;
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        match retry_on_intr(|| rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE)) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            result => {
                if result.is_ok() {
                    self.temporary = None;
                }
                return result;
            }
        }
        // This file system has no such rename. So the file is linked, which also fails if the name is taken. The random name goes when this
        // is dropped.
        retry_on_intr(|| rustix::fs::linkat(directory, temporary, directory, name, AtFlags::empty()))
    }
}

impl Drop for NewFile {
    /// Removes the random name, if there is one: no other file can have had it.
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = rustix::fs::unlinkat(&self.place.directory, temporary, AtFlags::empty());
        }
    }
}

impl Output {
    /// Ends the output after all has been written.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        match self {
            Self::Stream(..) => Ok(()),
            Self::New(file) => file.commit(),
        }
    }

    /// Returns the new file, for reading from its start, as it is on the disk.
    pub(crate) fn read_back(&self) -> io::Result<File> {
        let Self::New(new) = self else { return Err(io::Error::other("a stream cannot be read back")) };
        new.file.sync_all()?;
        // Memory need not keep what is on the disk: this advice makes the kernel read it from there.
        let _ = rustix::fs::fadvise(&new.file, 0, None, Advice::DontNeed);
        let mut file = new.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    /// Gives the file the time of modification of another file.
    pub(crate) fn keep_time(&self, of: &str, time: Option<SystemTime>) -> Result<(), Failure> {
        match (self, time) {
            (Self::New(new), Some(time)) => new.file.set_modified(time).map_err(|error| Failure::io(&new.place.path, error)),
            (Self::New(_), None) => Err(Failure::usage(format_args!("{of} has no time of modification to keep: leave out --keep-time"))),
            (Self::Stream(stream), _) => {
                Err(Failure::usage(format_args!("{} keeps no time of modification: leave out --keep-time", stream.name)))
            }
        }
    }

    /// Returns whether written bytes are out of our hands at once.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(..))
    }

    /// Returns whether something was written that cannot be taken back.
    pub(crate) fn has_given(&self) -> bool {
        matches!(self, Self::Stream(stream) if stream.has_given)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::New(new) => {
                let written = new.file.write(bytes).map_err(named(&new.place.path))?;
                new.written += written as u64;
                new.start_writeback();
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile {
    /// Makes the kernel start writing to the disk, so that the sync at the end has little left to wait for.
    ///
    /// This advice has that effect on pages that are not on the disk yet (mm/fadvise.c); `sync_file_range` would say it more plainly, but
    /// needs `unsafe` here. It is only advice: if it fails, nothing is lost.
    fn start_writeback(&mut self) {
        if let Some(len) = NonZero::new(self.written - self.started).filter(|len| len.get() >= WRITEBACK) {
            let _ = rustix::fs::fadvise(&self.file, self.started, Some(len), Advice::DontNeed);
            self.started = self.written;
        }
    }
}

/// The number of bytes after which writing to the disk is started.
const WRITEBACK: u64 = 8 << 20;

/// For the owner only: keys, and opened texts.
pub(crate) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// As the umask says: sealed files, which need no secrecy, and results.
pub(crate) const BY_UMASK: Mode = PRIVATE.union(Mode::RGRP).union(Mode::WGRP).union(Mode::ROTH).union(Mode::WOTH);

/// What to do about a terminal.
pub(crate) const NOT_HERE: &str = "redirect it (> FILE), name a file with -o, or say -o - to have it on the terminal all the same";

const EXISTS: &str = "exists: replace it with --force, or name another file with -o";

const KEY_EXISTS: &str = "exists, and a key is never replaced: name another file, or use that key with -k";

fn exists(path: impl std::fmt::Display, how: &str) -> Failure {
    Failure::new(Code::Exists, format_args!("{path} {how}"))
}

/// Returns the path of an open file that has no name.
fn link_to(file: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

fn random_name() -> io::Result<OsString> {
    let random = getrandom::u64()?;
    Ok(format!(".fastgcm-{random:016x}.tmp").into())
}

#[cfg(test)]
mod tests;
