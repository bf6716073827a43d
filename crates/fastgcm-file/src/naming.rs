//! Gives a file its name: when it is complete, and in place of another file only on request.
//!
//! The program `fastgcm` and the packages for Python and Node write a file under a name of their own, or without a name, and then call this
//! module. Three questions are answered here: where a path leads and whether that place can be trusted ([`Place::of`]); how a file gets its
//! name on file systems that lack one call or another ([`give_name`]); and when that name is on the disk ([`Place::sync`]).

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, Stat},
    io::{Errno, retry_on_intr},
};
use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

/// The place of a file, existing or new: a name in an open folder.
#[derive(Debug)]
pub struct Place {
    /// The folder. Where nobody may list it, its descriptor only finds names in it (`O_PATH`).
    pub folder: OwnedFd,
    /// The name in the folder.
    pub name: OsString,
    /// Folder and name as a path from the root of the file system.
    pub path: PathBuf,
}

/// The message of the error of [`Place::of`] and [`refuse_stranger`]. Its kind is [`io::ErrorKind::PermissionDenied`], and it has no number of
/// the operating system.
pub const STRANGER: &str = "belongs to another user, in a folder in which others may make files";

impl Place {
    /// Returns the place to which a path leads, through all symbolic links at its end. Nothing need be there.
    ///
    /// What is there, and each of these links, must not be a stranger's: see [`refuse_stranger`]. (Links in the folders that lead there are
    /// the kernel's business.) A link of `/proc/self/fd` to a pipe leads to no other name, and so is the place itself.
    ///
    /// # Errors
    /// Those of the operating system; [`STRANGER`]; and [`io::ErrorKind::IsADirectory`] if the path ends with no name.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut path = std::path::absolute(path)?;
        for _ in 0..LINKS {
            let name = path.file_name().filter(|name| path.as_os_str().as_bytes().ends_with(name.as_bytes()));
            let Some(name) = name.map(OsStr::to_owned) else { return Err(Errno::ISDIR.into()) };
            let parent = path.parent().unwrap_or(Path::new("/"));
            let folder = open_folder(parent)?;
            let stat = match retry_on_intr(|| rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)) {
                Err(Errno::NOENT) => return Ok(Self { folder, name, path }),
                stat => stat?,
            };
            refuse(&rustix::fs::fstat(&folder)?, &stat)?;
            if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink() {
                return Ok(Self { folder, name, path });
            }
            let next = rustix::fs::readlinkat(&folder, &name, Vec::new())?;
            let next = parent.join(OsString::from_vec(next.into_bytes()));
            let leads = retry_on_intr(|| rustix::fs::statat(&folder, &name, AtFlags::empty())).is_ok();
            if leads && next.symlink_metadata().is_err() {
                return Ok(Self { folder, name, path });
            }
            path = next;
        }
        Err(Errno::LOOP.into())
    }

    /// Puts the names in the folder on the disk. Where that cannot be done, there is nothing to wait for: some file systems cannot sync a
    /// folder, and a folder that nobody may list cannot be opened for it.
    ///
    /// # Errors
    /// Those of the operating system. The file has its name all the same.
    pub fn sync(&self) -> io::Result<()> {
        sync(&self.folder)
    }
}

/// Refuses an open file that a stranger has put into a folder with the sticky bit in which others may make files, such as `/tmp`: it belongs
/// neither to this user nor to the owner of the folder. What is written to it, or through it, may be for the eyes of that stranger. (Linux
/// does so itself for files that it shall create, if `fs.protected_fifos`, `protected_regular` and `protected_symlinks` are set.)
///
/// # Errors
/// [`STRANGER`], and those of the operating system.
pub fn refuse_stranger(folder: impl AsFd, file: impl AsFd) -> io::Result<()> {
    refuse(&rustix::fs::fstat(folder)?, &rustix::fs::fstat(file)?)
}

fn refuse(folder: &Stat, file: &Stat) -> io::Result<()> {
    let is_shared = folder.st_mode & 0o1000 != 0 && folder.st_mode & 0o022 != 0;
    let owners = [rustix::process::geteuid().as_raw(), folder.st_uid];
    if is_shared && !owners.contains(&file.st_uid) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, STRANGER));
    }
    Ok(())
}

/// Gives a file another name, at once and whole. Paths that are relative begin in the folder `from`.
///
/// With `replace` it takes the place of what is there. Without, it does not, on any file system: most can rename a file to a name that must
/// be free; others can link it; where both are refused, an empty new file claims the name, and the renamed file takes the place of that
/// claim. (Whoever ends the process between these two steps leaves the claim.)
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and others of the operating system. The file has its old name then, and no claim stays.
pub fn give_name(from: impl AsFd, old: &Path, new: &Path, replace: bool) -> io::Result<()> {
    let from = from.as_fd();
    let rename = || retry_on_intr(|| rustix::fs::renameat(from, old, from, new));
    if replace {
        return Ok(rename()?);
    }
    #[cfg(target_os = "linux")]
    match retry_on_intr(|| rustix::fs::renameat_with(from, old, from, new, rustix::fs::RenameFlags::NOREPLACE)) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return Ok(renamed?),
    }
    match retry_on_intr(|| rustix::fs::linkat(from, old, from, new, AtFlags::empty())) {
        // That it has two names for an instant is no failure, even if the instant lasts.
        Ok(()) => drop(rustix::fs::unlinkat(from, old, AtFlags::empty())),
        Err(Errno::EXIST) => return Err(Errno::EXIST.into()),
        Err(_) => claim(from, old, new)?,
    }
    Ok(())
}

/// Gives a file another name that must be free, with the two calls that every file system has.
fn claim(from: impl AsFd, old: &Path, new: &Path) -> Result<(), Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let claim = retry_on_intr(|| rustix::fs::openat(&from, new, flags, Mode::RUSR | Mode::WUSR))?;
    let claimed = rustix::fs::fstat(&claim);
    drop(claim); // some servers rename nothing to the name of an open file
    retry_on_intr(|| rustix::fs::renameat(&from, old, &from, new)).inspect_err(|_| {
        let there = rustix::fs::statat(&from, new, AtFlags::SYMLINK_NOFOLLOW);
        if let (Ok(claimed), Ok(there)) = (claimed, there)
            && (claimed.st_dev, claimed.st_ino, 0) == (there.st_dev, there.st_ino, there.st_size)
        {
            let _ = rustix::fs::unlinkat(&from, new, AtFlags::empty());
        }
    })
}

/// Gives a complete file that is on the disk its name, as [`give_name`] does, and puts the name on the disk.
///
/// # Errors
/// Those of [`give_name`]; and of [`Place::sync`], when the file has its name already.
pub fn publish(old: &Path, new: &Path, replace: bool) -> io::Result<()> {
    give_name(CWD, old, new, replace)?;
    sync_name(new)
}

/// Puts the name of a file on the disk, as [`Place::sync`] does.
///
/// # Errors
/// Those of the operating system.
pub fn sync_name(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    sync(&open_folder(path.parent().unwrap_or(Path::new("/")))?)
}

fn sync(folder: &OwnedFd) -> io::Result<()> {
    match retry_on_intr(|| rustix::fs::fsync(folder)) {
        Ok(()) | Err(Errno::INVAL | Errno::BADF | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder, if need be only to find names in it.
fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let open = |flags| retry_on_intr(|| rustix::fs::open(path, flags | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()));
    match open(OFlags::RDONLY) {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => open(OFlags::PATH),
        folder => folder,
    }
}

/// As many links as Linux follows.
const LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Most file systems have other calls, so `claim` is called by itself here.
    #[test]
    fn a_claim_replaces_nothing_and_does_not_stay() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names = || fs::read_dir(dir.path()).unwrap().count();
        fs::write(at("old"), "text").unwrap();
        claim(CWD, &at("old"), &at("new")).unwrap();
        assert_eq!((fs::read(at("new")).unwrap(), names()), (b"text".to_vec(), 1));
        assert_eq!(claim(CWD, &at("old"), &at("other")), Err(Errno::NOENT));
        assert_eq!(names(), 1);
        fs::write(at("old"), "more").unwrap();
        fs::write(at("empty"), "").unwrap();
        std::os::unix::fs::symlink("nothing", at("link")).unwrap();
        for taken in ["new", "empty", "link"] {
            assert_eq!(claim(CWD, &at("old"), &at(taken)), Err(Errno::EXIST));
        }
        assert_eq!((fs::read(at("new")).unwrap(), fs::read(at("old")).unwrap(), names()), (b"text".to_vec(), b"more".to_vec(), 4));
    }
}
