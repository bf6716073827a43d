//! `fastgcm._fastgcm`: the extension module behind the Python package `fastgcm`.

mod aead;
mod batch;
mod buffers;
mod chunks;
mod errors;
mod nonces;
mod others;
mod parts;
mod pieces;
mod streams;
mod threads;

use pyo3::{prelude::*, types::PyDict};

/// What this machine runs: `backend` is the name of the one in use, `available` those that the processor could run, best first.
#[pyfunction]
fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let cpu = PyDict::new(py);
    cpu.set_item("backend", fastgcm::Backend::detect().name())?;
    cpu.set_item("available", fastgcm::Backend::available().map(fastgcm::Backend::name).collect::<Vec<_>>())?;
    Ok(cpu)
}

/// Python's objects lie at multiples of 16 bytes: what asks for more is in a box.
macro_rules! aligned {
    ($($class:ty),+ $(,)?) => { const _: () = { $(assert!(align_of::<$class>() <= 16);)+ }; };
}

aligned!(
    aead::AesGcm,
    chunks::CobblestoneChunks,
    nonces::CounterNonces,
    nonces::RandomNonces,
    others::AesGcmSivClass,
    others::Xaes,
    parts::PartHash,
    parts::Plan,
    pieces::Sealer,
    pieces::UnverifiedOpener,
    streams::Cobblestone128Decryptor,
    streams::Cobblestone128Encryptor,
);

#[pymodule(gil_used = false)]
mod _fastgcm {
    #[pymodule_export]
    use super::{
        aead::AesGcm,
        chunks::CobblestoneChunks,
        cpu,
        nonces::{CounterNonces, RandomNonces},
        others::{AesGcmSivClass, Xaes},
        parts::{PartHash, Plan, combine, hash_part, open_part, open_part_into, seal_part, seal_part_into},
        pieces::{Sealer, UnverifiedOpener},
        streams::{Cobblestone128Decryptor, Cobblestone128Encryptor, Cobblestone256Decryptor, Cobblestone256Encryptor},
    };
}
