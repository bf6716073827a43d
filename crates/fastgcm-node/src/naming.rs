//! Gives files their names for `lib/files.js`, with the crate `fastgcm-file`. Paths are bytes.

use crate::{
    background,
    fault::{Fault, Kind, Name},
    js::{Call, Value},
};
use fastgcm_file::naming::{self, Place};
use std::{ffi::OsStr, io, os::unix::ffi::OsStrExt, path::PathBuf};

fn path(call: &Call, at: usize) -> Result<PathBuf, Fault> {
    Ok(PathBuf::from(OsStr::from_bytes(call.bytes(at, Name::Path)?.get())))
}

/// `place(path)` returns the path at the end of all links.
pub(crate) fn place(call: &Call) -> Result<Value, Fault> {
    let place = Place::of(&path(call, 0)?)?;
    // A name that is no text would become another name.
    let path = place.path.to_str().ok_or(io::Error::from_raw_os_error(ILSEQ))?;
    Ok(call.text(path))
}

/// `publish(old, new, replace)` returns a promise of `undefined` or of a fault's number.
pub(crate) fn publish(call: &Call) -> Result<Value, Fault> {
    let (old, new, replace) = (path(call, 0)?, path(call, 1)?, call.flag(2));
    background::start(call, None, move || Ok(naming::publish(&old, &new, replace)?))
}

/// An illegal sequence of bytes.
const ILSEQ: i32 = 84;

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error().and_then(|number| u64::try_from(number).ok()) {
            Some(number) => Self::from(Kind::System).row(number),
            None => Kind::Stranger.into(),
        }
    }
}
