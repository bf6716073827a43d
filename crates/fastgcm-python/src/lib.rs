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

use fastgcm::Backend;
use pyo3::{prelude::*, types::PyDict};
use std::{env, sync::OnceLock};

/// What keys are made for: what the variable `FASTGCM_BACKEND` of the environment names, if this machine can run it, or the best that there is. A
/// program with more rights than who started it does not look there.
fn backend() -> Backend {
    static CHOSEN: OnceLock<Backend> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        // SAFETY: it reads what the kernel told this process.
        #[cfg(target_os = "linux")]
        let looks = unsafe { libc::getauxval(libc::AT_SECURE) } == 0;
        #[cfg(not(target_os = "linux"))]
        let looks = false;
        let named = looks.then(|| env::var("FASTGCM_BACKEND").ok()).flatten().and_then(|name| name.parse::<Backend>().ok());
        named.filter(|backend| backend.is_available()).unwrap_or_else(Backend::detect)
    })
}

/// What this machine runs: `backend` is the name of the one in use, `available` those that the processor could run, best first.
#[pyfunction]
fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let cpu = PyDict::new(py);
    cpu.set_item("backend", backend().name())?;
    cpu.set_item("available", Backend::available().map(Backend::name).collect::<Vec<_>>())?;
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
