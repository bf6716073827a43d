//! The exceptions that Python gets: the classes of `fastgcm/exceptions.py`, which are pyca/cryptography's own where that is installed. Only
//! one interpreter has this module, so statics may keep its objects.

use pyo3::{
    PyErr,
    exceptions::{PyOverflowError, PyRuntimeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::PyType,
};

/// A class of `fastgcm.exceptions`.
macro_rules! class {
    ($function:ident, $name:literal, $arguments:ty) => {
        pub(crate) fn $function(py: Python<'_>, arguments: $arguments) -> PyErr {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            match CLASS.import(py, "fastgcm.exceptions", $name) {
                Ok(class) => PyErr::from_type(class.clone(), arguments),
                Err(error) => error,
            }
        }
    };
}

class!(invalid_tag, "InvalidTag", ());
class!(finalized, "AlreadyFinalized", (&'static str,));
class!(other_text, "OtherText", (&'static str,));
class!(exhausted, "Exhausted", (&'static str,));

/// Returns the error with pyca/cryptography's message.
pub(crate) fn already_finalized(py: Python<'_>) -> PyErr {
    finalized(py, ("Context was already finalized.",))
}

/// Returns the error of nonces that go on counting in the parent.
pub(crate) fn forked(py: Python<'_>) -> PyErr {
    exhausted(py, ("This process was forked, and these nonces are its parent's.",))
}

/// Returns an error of the library as an exception of Python.
pub(crate) fn of(py: Python<'_>, error: fastgcm::Error) -> PyErr {
    use fastgcm::Error::{Exhausted, Incomplete, InvalidLength, NoEntropy, OtherText, OutOfOrder, TooLong, Unauthentic};
    match error {
        Unauthentic => invalid_tag(py, ()),
        TooLong => PyOverflowError::new_err("Data or associated data too long. Max 2**36 - 32 bytes"),
        Exhausted => exhausted(py, ("The nonces of this key, or the blocks that it may seal, are used up.",)),
        OtherText => other_text(py, ("This part was sealed before, with another text: destroy the ciphertext.",)),
        Incomplete | InvalidLength | OutOfOrder => PyValueError::new_err(error.to_string()),
        NoEntropy => std::io::Error::from(error).into(),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}
