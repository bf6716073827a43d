//! `fastgcm._fastgcm`: the extension module behind the Python package `fastgcm`.

mod aead;
mod buffers;
mod chunks;
mod errors;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _fastgcm {
    #[pymodule_export]
    use super::{aead::AesGcm, chunks::CobblestoneChunks};
}
