//! `fastgcm._fastgcm`: the extension module behind the Python package `fastgcm`.

mod aead;
mod batch;
mod buffers;
mod chunks;
mod errors;
mod memory;
mod naming;
mod nonces;
mod others;
mod parts;
mod pieces;
mod streams;
mod threads;

use fastgcm::Backend;
use pyo3::{exceptions::PyImportError, ffi, prelude::*, types::PyDict};
use std::{
    env,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
};

/// Returns the back end for which keys are made: the one that the environment variable `FASTGCM_BACKEND` names, if this machine can run it,
/// or else the best. A program with more rights than the user who started it ignores the variable.
fn backend() -> Backend {
    static CHOSEN: OnceLock<Backend> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        // SAFETY: the call reads what the kernel told this process.
        #[cfg(target_os = "linux")]
        let looks = unsafe { libc::getauxval(libc::AT_SECURE) } == 0;
        #[cfg(not(target_os = "linux"))]
        let looks = false;
        let named = looks.then(|| env::var("FASTGCM_BACKEND").ok()).flatten().and_then(|name| name.parse::<Backend>().ok());
        named.filter(|backend| backend.is_available()).unwrap_or_else(Backend::detect)
    })
}

/// Returns what this machine runs: `backend` is the name of the back end in use, `available` lists all that the processor can run, best
/// first.
#[pyfunction]
fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let cpu = PyDict::new(py);
    cpu.set_item("backend", backend().name())?;
    cpu.set_item("available", Backend::available().map(Backend::name).collect::<Vec<_>>())?;
    Ok(cpu)
}

/// Python's objects are aligned to 16 bytes: a value that needs more is in a box.
macro_rules! aligned {
    ($($class:ty),+ $(,)?) => { const _: () = { $(assert!(align_of::<$class>() <= 16);)+ }; };
}

aligned!(
    aead::AesGcm,
    chunks::CobblestoneChunks,
    nonces::CounterNonces,
    nonces::RandomNonces,
    nonces::SealingKey,
    nonces::XorNonces,
    others::AesGcmSivClass,
    others::KcXaes,
    others::Xaes,
    parts::PartHash,
    parts::Plan,
    pieces::Sealer,
    pieces::UnverifiedOpener,
    streams::Cobblestone128Decryptor,
    streams::Cobblestone128Encryptor,
);

/// The Python objects that this module keeps, including its classes, belong to the first interpreter that imports it. In another
/// interpreter the module would raise exceptions of the first one, which nobody catches there.
fn one_interpreter() -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(NONE);
    const NONE: i64 = -1;
    // SAFETY: this thread is attached to an interpreter.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(NONE, this, SeqCst, SeqCst) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "fastgcm is in use by another interpreter of this process, and serves only one. Under mod_wsgi, `WSGIApplicationGroup %{GLOBAL}` runs an \
             application in the main interpreter.",
        )),
        _ => Ok(()),
    }
}

// A function, which checks the interpreter before anything else: the exports of `#[pymodule_export]` would run before that.
#[pymodule(gil_used = false)]
fn _fastgcm(module: &Bound<'_, PyModule>) -> PyResult<()> {
    one_interpreter()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<aead::AesGcm>()?;
    module.add_class::<chunks::CobblestoneChunks>()?;
    module.add_class::<nonces::CounterNonces>()?;
    module.add_class::<nonces::RandomNonces>()?;
    module.add_class::<nonces::SealingKey>()?;
    module.add_class::<nonces::XorNonces>()?;
    nonces::hear_of_forks()?;
    module.add_class::<others::AesGcmSivClass>()?;
    module.add_class::<others::KcXaes>()?;
    module.add_class::<others::Xaes>()?;
    module.add_class::<parts::PartHash>()?;
    module.add_class::<parts::Plan>()?;
    module.add_class::<pieces::Sealer>()?;
    module.add_class::<pieces::UnverifiedOpener>()?;
    module.add_class::<streams::Cobblestone128Decryptor>()?;
    module.add_class::<streams::Cobblestone128Encryptor>()?;
    module.add_class::<streams::Cobblestone256Decryptor>()?;
    module.add_class::<streams::Cobblestone256Encryptor>()?;
    module.add_function(wrap_pyfunction!(cpu, module)?)?;
    module.add_function(wrap_pyfunction!(naming::in_place, module)?)?;
    module.add_function(wrap_pyfunction!(nonces::forked, module)?)?;
    module.add_function(wrap_pyfunction!(naming::place, module)?)?;
    module.add_function(wrap_pyfunction!(naming::publish, module)?)?;
    module.add_function(wrap_pyfunction!(parts::combine, module)?)?;
    module.add_function(wrap_pyfunction!(parts::hash_part, module)?)?;
    module.add_function(wrap_pyfunction!(parts::open_part, module)?)?;
    module.add_function(wrap_pyfunction!(parts::open_part_into, module)?)?;
    module.add_function(wrap_pyfunction!(parts::seal_part, module)?)?;
    module.add_function(wrap_pyfunction!(parts::seal_part_into, module)?)
}
