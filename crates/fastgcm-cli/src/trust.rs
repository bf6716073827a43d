//! Checks which other users may read or change a file that a run trusts: a key, an identity, a passphrase, a list of recipients. As in ssh's
//! checks of its own files, the file's owner and the folders that lead to the file also count: a user who can change a folder can replace the file.

use crate::failure::{Code, Failure};
use std::{
    fmt::Display,
    fs::Metadata,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

/// The access that other users must not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// Reading or changing, for a secret.
    Read,
    /// Changing.
    Change,
}

/// The option that makes a run accept such a file, where there is an option.
pub(crate) const INSECURE: Option<&str> = Some("--insecure-key-file");

/// Refuses a file that others can get at. `metadata` belongs to the open file, `name` is its name in messages.
pub(crate) fn refuse_others(
    name: &dyn Display,
    path: &Path,
    metadata: &Metadata,
    others: Others,
    option: Option<&str>,
) -> Result<(), Failure> {
    let refused = |why: String, advice: &str| {
        let or = option.map(|option| format!(", or say {option}")).unwrap_or_default();
        Err(Failure::new(Code::Key, format_args!("{name}: {why}: {advice}{or}")))
    };
    let mode = metadata.permissions().mode() & 0o777;
    let bits = if others == Others::Read { 0o077 } else { 0o022 };
    if mode & bits != 0 {
        return refused(format!("others may read it or change it (its mode is {mode:04o})"), "chmod 600 it");
    }
    // The contents of a pipe come from the program that opened it, and a file without a name has no folder.
    if !metadata.is_file() || metadata.nlink() == 0 {
        return Ok(());
    }
    let trusted = owners();
    if !trusted.contains(&metadata.uid()) {
        return refused(format!("it belongs to another user ({}), who can change it", metadata.uid()), "take a copy of your own");
    }
    let path = path.canonicalize().map_err(|error| Failure::io(name, error))?;
    for folder in path.ancestors().skip(1) {
        let metadata = folder.metadata().map_err(|error| Failure::io(folder.display(), error))?;
        let (mode, folder) = (metadata.permissions().mode() & 0o7777, folder.display());
        if !trusted.contains(&metadata.uid()) {
            let why = format!("another user ({}), whose folder {folder} is, can put another file in its place", metadata.uid());
            return refused(why, "take a copy in a folder of your own");
        }
        if others_may_change(mode, &metadata) {
            let why = format!("others may put another file in its place: they may write to the folder {folder} (its mode is {mode:04o})");
            return refused(why, "chmod go-w that folder");
        }
    }
    Ok(())
}

/// Returns whose files a run accepts: the user's, the superuser's, and those of the owner of the root folder. (In a container the superuser
/// of the machine may have another number.)
fn owners() -> Vec<u32> {
    let root = Path::new("/").metadata().map(|root| root.uid());
    [rustix::process::geteuid().as_raw(), 0].into_iter().chain(root).collect()
}

/// Returns whether others may replace what is in a folder. In a folder with the sticky bit, such as /tmp, they may not. Where systems make
/// such groups, a group with the user's own number has nobody else in it.
fn others_may_change(mode: u32, folder: &Metadata) -> bool {
    let is_own_group = folder.gid() == folder.uid() && folder.uid() != 0;
    let bits = if is_own_group { 0o002 } else { 0o022 };
    mode & bits != 0 && mode & 0o1000 == 0
}
