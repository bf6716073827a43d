//! `fastgcm keygen` and `fastgcm share`

use crate::{
    cli,
    failure::{Failure, escaped, say},
    keyfile::{self, Purpose, Wanted},
    output::Target,
};
use fastgcm_file::{Backend, Key};
use std::{fs::DirBuilder, os::unix::fs::DirBuilderExt, path::Path};

/// Makes a key, and prints its fingerprint.
pub(crate) fn run(args: &cli::Keygen) -> Result<(), Failure> {
    let path = args.output.as_deref().unwrap_or("-".as_ref());
    make_folder(path)?;
    let target = Target::plan_new(path, args.locks.are_wanted())?;
    let key = Key::generate(args.format).map_err(|error| Failure::file("key", error))?;
    keyfile::create_locked(target, path, &key, &args.locks)?;
    keyfile::made(path, &key)
}

/// Writes a key file for somebody else.
pub(crate) fn share(args: &cli::Share) -> Result<(), Failure> {
    if !args.locks.are_wanted() {
        #[cfg(feature = "age")]
        return Err(Failure::usage("for whom? Say -r RECIPIENT, --for LIST, or -p for a passphrase"));
        #[cfg(not(feature = "age"))]
        return Err(Failure::usage(cli::WITHOUT_AGE));
    }
    if args.reading.approved {
        return Err(Failure::usage("age locks key files in ways that NIST does not approve: --approved shares none"));
    }
    let path: &Path = args.output.as_deref().unwrap_or("-".as_ref());
    let target = Target::plan_new(path, true)?;
    let (backend, purpose) = (Backend::detect(), Purpose::Open);
    let mut wanted = Wanted { path: args.key.as_deref(), format: None, purpose, reading: &args.reading, backend, read: None };
    let file = wanted.get()?;
    keyfile::create_locked(target, path, &file.key, &args.locks)?;
    let (name, mark) = (escaped(&file.name), keyfile::fingerprint(&file.key)?);
    say(&format!("shared:  {name}, fingerprint {mark}\n"));
    Ok(())
}

/// Makes the folder of the default key if it does not exist, for the user only. Nobody has such a folder before the first key.
fn make_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|_| keyfile::in_configuration_folder().as_deref() == Some(path));
    let Some(folder) = folder.filter(|folder| folder.symlink_metadata().is_err()) else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Failure::io(folder.display(), error))
}
