//! The output of a run, written so that no data is lost.
//!
//! A new file has no name while it is written (`O_TMPFILE`). When all of it is on the disk, it is linked into its place, which fails if
//! another file has appeared there meanwhile, and the directory is synced. So under its name there is nothing or everything, and whatever
//! stops the program, even SIGKILL, leaves nothing behind.
//!
//! Where the file system has no unnamed files (some network and FUSE file systems), the file has a random name until then; a signal leaves
//! that file behind. How it gets its own name there, [`fastgcm_file::naming`] says. To replace a file (`--force`), the new file is linked to a random name, and renamed over the old one: for an instant
//! both exist. The new file takes over the old file's mode, owner, group and attributes ([`attributes`]).

mod attributes;

use crate::{
    failure::{Code, Failure, named},
    input::{Identity, is_dash, standard},
};
use fastgcm_file::naming::{self, STRANGER, give_name, refuse_stranger};
use rustix::{
    fs::{Advice, AtFlags, CWD, Mode, OFlags},
    io::{Errno, retry_on_intr},
};
use std::{
    ffi::OsString,
    fs::File,
    io::{self, IsTerminal, Read, Seek, Write},
    num::NonZero,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{FileTypeExt, PermissionsExt},
        },
    },
    path::Path,
    time::SystemTime,
};

/// The target of the output, before anything is written.
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
    /// The last byte written, if control characters are refused.
    text_only: Option<u8>,
    /// True if something has been written.
    has_given: bool,
}

/// A name in an open directory.
pub(crate) struct Place {
    at: naming::Place,
    /// The path that the user gave, for messages.
    path: String,
    /// True if an existing file may be replaced.
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
    /// Plans an output by the existing file. `-` is standard output. A new file gets this mode, which is [`PRIVATE`] or [`BY_UMASK`].
    pub(crate) fn plan(path: &Path, force: bool, mode: Mode) -> Result<Self, Failure> {
        if is_dash(path) {
            let name = "standard output";
            let file = standard(io::stdout()).map_err(|error| Failure::io(name, error))?;
            return Ok(Self::Stream(Stream::new(file, name.into())));
        }
        let shown = path.display().to_string();
        let io = |error| Failure::io(&shown, error);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Place(Place::new(path, force, mode, None)?)),
            Err(error) => return Err(io(error)),
            Ok(_) => {}
        }
        // A link stays: the plan is about what is at its end.
        let end = path.metadata().map_err(|_| exists(&shown, "is a symbolic link to nothing: name another file"))?;
        let kind = end.file_type();
        if kind.is_dir() {
            return Err(exists(shown, "is a directory: name a file in it"));
        }
        if kind.is_fifo() || kind.is_char_device() {
            return Ok(Self::Stream(Stream::open(path)?));
        }
        if !kind.is_file() {
            return Err(exists(shown, "exists and is not a regular file: name another file"));
        }
        Ok(Self::Place(Place::new(path, force, mode, Some(Identity::of(&end)))?))
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
        let directory = |place: &Place| rustix::fs::fstat(&place.at.folder).map(|stat| (stat.st_dev, stat.st_ino)).ok();
        one.at.name == two.at.name && directory(one).is_some() && directory(one) == directory(two)
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
}

impl Stream {
    fn new(file: File, name: String) -> Self {
        Self { file, name, text_only: None, has_given: false }
    }

    /// Opens a named pipe or a device. A named pipe that a stranger has put into a folder that others share is refused as every other file
    /// there is: first by its name, so that nobody waits for its reader, and then as it is open.
    fn open(path: &Path) -> Result<Self, Failure> {
        let place = Place::at(path)?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = retry_on_intr(|| rustix::fs::openat(&place.folder, &place.name, flags, Mode::empty())).map_err(io::Error::from);
        let file = file.and_then(|file| refuse_stranger(&place.folder, &file).map(|()| File::from(file)));
        let file = file.map_err(|error| not_there(path, error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(exists(path.display(), EXISTS));
        }
        Ok(Self::new(file, path.display().to_string()))
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
        Ok(Self { at: Self::at(path)?, path: path.display().to_string(), force, mode, existing, advice: EXISTS })
    }

    /// Finds out where the path leads.
    fn at(path: &Path) -> Result<naming::Place, Failure> {
        // The library takes `folder` as the name in `folder/` and `folder/.`.
        if !path.file_name().is_some_and(|name| path.as_os_str().as_bytes().ends_with(name.as_bytes())) {
            return Err(Failure::usage(format_args!("{}: this names a directory: name a file in it", path.display())));
        }
        naming::Place::of(path).map_err(|error| not_there(path, error))
    }
}

impl NewFile {
    /// Creates the file without a name if the file system allows that, otherwise with a random name.
    pub(crate) fn create(place: Place) -> Result<Self, Failure> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            match retry_on_intr(|| rustix::fs::openat(&place.at.folder, ".", flags, place.mode)) {
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
        match retry_on_intr(|| rustix::fs::openat(&place.at.folder, &temporary, flags, place.mode)) {
            Ok(file) => Ok(Self { place, file: file.into(), temporary: Some(temporary), written: 0, started: 0 }),
            Err(error) => Err(Failure::io(&place.path, error.into())),
        }
    }

    /// Syncs the file, gives it its name, and syncs the directory.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        self.keep_attributes().map_err(|error| Failure::io(&self.place.path, error.into()))?;
        self.file.sync_all().map_err(|error| Failure::io(&self.place.path, error))?;
        self.give_name().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.place.path, self.place.advice),
            _ => Failure::io(&self.place.path, error),
        })?;
        self.place.at.sync().map_err(|error| {
            let failure = Failure::io(&self.place.path, error);
            failure.note("the file is complete and in its place, but may not survive a power failure now")
        })
    }

    fn give_name(&mut self) -> io::Result<()> {
        let Place { at: naming::Place { folder, name, .. }, force, .. } = &self.place;
        let link = |to| retry_on_intr(|| rustix::fs::linkat(CWD, link_to(&self.file), folder, to, AtFlags::SYMLINK_FOLLOW));
        if self.temporary.is_none() {
            if !force {
                return Ok(link(name)?);
            }
            let temporary = random_name()?;
            link(&temporary)?;
            self.temporary = Some(temporary);
        }
        if let Some(temporary) = &self.temporary {
            give_name(folder, temporary.as_ref(), name.as_ref(), *force)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for NewFile {
    /// Removes the random name, if there is one: no other file can have had it.
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = rustix::fs::unlinkat(&self.place.at.folder, temporary, AtFlags::empty());
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

    /// Writes so many zeros. A file gets a hole.
    pub(crate) fn write_zeros(&mut self, len: u64) -> io::Result<()> {
        match self {
            Self::Stream(_) => io::copy(&mut io::repeat(0).take(len), self).map(drop),
            Self::New(new) => {
                let end = new.written + len;
                let hole = new.file.set_len(end).and_then(|()| new.file.seek(io::SeekFrom::Start(end)));
                hole.map_err(named(&new.place.path))?;
                new.written = end;
                Ok(())
            }
        }
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

/// The mode of keys and opened texts: for the owner only.
pub(crate) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The mode of results and sealed files, which need no secrecy: by the umask.
pub(crate) const BY_UMASK: Mode = PRIVATE.union(Mode::RGRP).union(Mode::WGRP).union(Mode::ROTH).union(Mode::WOTH);

/// The advice about a terminal.
pub(crate) const NOT_HERE: &str = "redirect it (> FILE), name a file with -o, or say -o - to have it on the terminal all the same";

const EXISTS: &str = "exists: replace it with --force, or name another file with -o";

const KEY_EXISTS: &str = "exists, and a key is never replaced: name another file, or use that key with -k";

/// Returns the failure of a path that leads to no place for an output.
fn not_there(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            exists(path.display(), &format!("{STRANGER}: name another file"))
        }
        io::ErrorKind::IsADirectory => exists(path.display(), "is a directory: name a file in it"),
        _ => Failure::io(path.display(), error),
    }
}

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
