//! Gives files their names for `files.py` and `jobs.py`, with the crate `fastgcm-file`.

use fastgcm_file::naming::{self, Place};
use pyo3::{exceptions::PyOSError, prelude::*};
use std::{ffi::OsString, io, path::PathBuf};

/// Returns the path at the end of all links. Raises `PermissionError` if a stranger has put what is there, or one of the links, into a
/// folder that others share.
#[pyfunction]
pub(crate) fn place(py: Python<'_>, path: PathBuf) -> PyResult<OsString> {
    py.detach(|| Place::of(&path)).map(|place| place.path.into_os_string()).map_err(|error| os_error(error, path))
}

/// Gives a complete file that is on the disk its name, and puts the name on the disk. Raises `FileExistsError` if the name is taken, unless
/// `replace` is true.
#[pyfunction]
pub(crate) fn publish(py: Python<'_>, old: PathBuf, new: PathBuf, replace: bool) -> PyResult<()> {
    py.detach(|| naming::publish(&old, &new, replace)).map_err(|error| os_error(error, new))
}

/// Puts the name of a file on the disk, where the file system can do that.
#[pyfunction]
pub(crate) fn in_place(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| naming::sync_name(&path)).map_err(|error| os_error(error, path))
}

/// Returns the error as Python's own functions for files raise it.
fn os_error(error: io::Error, path: PathBuf) -> PyErr {
    const ACCESS: i32 = 13; // EACCES
    let (number, text) = (error.raw_os_error(), error.to_string());
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((number.unwrap_or(ACCESS), text, path.into_os_string()))
}
