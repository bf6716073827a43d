//! Exactly the users who may read the replaced file may read the new one. So the new file gets its mode, its access control list, its other
//! attributes, its group and its owner.

use super::{NewFile, Place, link_to};
use crate::failure::{escaped, reason, say};
use rustix::{
    fs::{AtFlags, FileType, Gid, Mode, Uid},
    io::{Errno, retry_on_intr},
};
use std::path::{Path, PathBuf};

impl NewFile {
    /// Gives the new file the attributes of the file that it will replace. We may not be allowed to set owner and group: if the new file
    /// has another group than the old one, that group gets what others get.
    pub(super) fn keep_attributes(&self) -> Result<(), Errno> {
        let Place { at, force: true, .. } = &self.place else { return Ok(()) };
        let old = match retry_on_intr(|| rustix::fs::statat(&at.folder, &at.name, AtFlags::SYMLINK_NOFOLLOW)) {
            Err(Errno::NOENT) => return Ok(()),
            old => old?,
        };
        if FileType::from_raw_mode(old.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        let has_group = retry_on_intr(|| rustix::fs::fchown(&self.file, None, Some(Gid::from_raw(old.st_gid)))).is_ok();
        let others = (old.st_mode & 0o007) << 3;
        let mode = match self.keep_list(has_group) {
            Ok(false) if !has_group => old.st_mode & 0o707 | others,
            Ok(_) => old.st_mode & 0o777,
            // With a list the bits of the group say what the list gives at most, and not what the group has.
            Err(error) => {
                self.warn("its access control list", error);
                old.st_mode & 0o700
            }
        };
        retry_on_intr(|| rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode)))?;
        self.keep_other_attributes();
        // The owner comes last: after that the file may be out of our hands, except for the superuser.
        let _ = retry_on_intr(|| rustix::fs::fchown(&self.file, Some(Uid::from_raw(old.st_uid)), None));
        Ok(())
    }

    /// Takes over the old file's access control list. Returns whether it has one. A list that the new file got from its folder goes.
    fn keep_list(&self, has_group: bool) -> Result<bool, Errno> {
        match self.old_attribute(LIST) {
            Ok(mut list) => {
                if !has_group {
                    group_as_others(&mut list);
                }
                calls::set(&self.file, LIST, &list)?;
                Ok(true)
            }
            Err(calls::NONE | Errno::NOTSUP) => match calls::remove(&self.file, LIST) {
                Ok(()) | Err(calls::NONE | Errno::NOTSUP) => Ok(false),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Takes over what users and marking systems have written to the old file. A capability or a hash belongs to the old bytes, so the new
    /// file does not get it.
    fn keep_other_attributes(&self) {
        let list = |room: &mut [u8]| calls::list(&self.old_path(), room);
        let names = match read(list) {
            Ok(names) => names,
            Err(Errno::NOTSUP) => return,
            Err(error) => return self.warn("its extended attributes", error),
        };
        let kept = |name: &&str| name.starts_with("user.") || name.starts_with("system.") || MARKS.contains(name);
        for name in names.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok()).filter(kept) {
            if name == LIST {
                continue;
            }
            let value = self.old_attribute(name);
            let set = value.and_then(|value| {
                let is_there = read(|room| calls::get(Path::new(&link_to(&self.file)), name, room)).is_ok_and(|there| there == value);
                if is_there { Ok(()) } else { calls::set(&self.file, name, &value) }
            });
            if let Err(error) = set {
                self.warn(&format!("its attribute {}", escaped(name)), error);
            }
        }
    }

    fn old_attribute(&self, name: &str) -> Result<Vec<u8>, Errno> {
        read(|room| calls::get(&self.old_path(), name, room))
    }

    /// Returns the old file, by a path through its open folder.
    fn old_path(&self) -> PathBuf {
        Path::new(&link_to(&self.place.at.folder)).join(&self.place.at.name)
    }

    fn warn(&self, what: &str, error: Errno) {
        let path = escaped(&self.place.path);
        say(&format!("warning: {path}: {what} cannot be kept: {}\n", reason(&error.into())));
    }
}

/// Reads everything that a call has to give. Linux gives 64 KiB at most.
fn read(call: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; 64 << 10];
    let len = call(&mut value)?;
    value.truncate(len);
    Ok(value)
}

/// The calls of Linux. Elsewhere there is nothing to keep but the mode.
#[cfg(target_os = "linux")]
mod calls {
    use rustix::{
        fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr},
        io::{Errno, Result},
    };
    use std::{fs::File, path::Path};

    pub(super) const NONE: Errno = Errno::NODATA;

    pub(super) fn list(path: &Path, room: &mut [u8]) -> Result<usize> {
        listxattr(path, room)
    }
    pub(super) fn get(path: &Path, name: &str, room: &mut [u8]) -> Result<usize> {
        getxattr(path, name, room)
    }
    pub(super) fn set(file: &File, name: &str, value: &[u8]) -> Result<()> {
        fsetxattr(file, name, value, XattrFlags::empty())
    }
    pub(super) fn remove(file: &File, name: &str) -> Result<()> {
        fremovexattr(file, name)
    }
}
#[cfg(not(target_os = "linux"))]
mod calls {
    use rustix::io::{Errno, Result};
    use std::{fs::File, path::Path};

    pub(super) const NONE: Errno = Errno::NOSYS;

    pub(super) fn list(_: &Path, _: &mut [u8]) -> Result<usize> {
        Err(NONE)
    }
    pub(super) fn get(_: &Path, _: &str, _: &mut [u8]) -> Result<usize> {
        Err(NONE)
    }
    pub(super) fn set(_: &File, _: &str, _: &[u8]) -> Result<()> {
        Err(NONE)
    }
    pub(super) fn remove(_: &File, _: &str) -> Result<()> {
        Err(NONE)
    }
}

/// Changes a list of Linux (linux/posix_acl_xattr.h): its entry for the group then gives what its entry for others gives.
fn group_as_others(list: &mut [u8]) {
    let (entries, _) = list.get_mut(4..).unwrap_or_default().as_chunks_mut::<8>();
    let given = entries.iter().find(|entry| entry[..2] == OTHERS).map_or([0; 2], |entry| [entry[2], entry[3]]);
    for entry in entries.iter_mut().filter(|entry| entry[..2] == GROUP) {
        entry[2..4].copy_from_slice(&given);
    }
}

const LIST: &str = "system.posix_acl_access";
const GROUP: [u8; 2] = 0x04_u16.to_le_bytes();
const OTHERS: [u8; 2] = 0x20_u16.to_le_bytes();

/// The marks of SELinux and Smack.
const MARKS: [&str; 2] = ["security.selinux", "security.SMACK64"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_another_gets_what_others_get() {
        let entry = |tag: u8, bits: u8| [tag, 0, bits, 0, 0xff, 0xff, 0xff, 0xff];
        let list = |group| [&[2, 0, 0, 0][..], &entry(1, 6), &entry(2, 6), &entry(4, group), &entry(0x10, 6), &entry(0x20, 4)].concat();
        let mut changed = list(7);
        group_as_others(&mut changed);
        assert_eq!(changed, list(4));
        for mut short in [vec![], vec![2, 0], vec![2, 0, 0, 0, 4]] {
            group_as_others(&mut short);
        }
    }
}
