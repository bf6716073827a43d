//! Which back ends a suite is put to, and keys of theirs.
#![allow(dead_code)] // no test file needs all of it

use fastgcm::{Backend, Key};

/// All that this machine can run; with `FASTGCM_ONLY=vaes-avx512,vaes-avx2` those of them. An emulated processor is slow, and is there
/// for the sake of these two.
pub(crate) fn backends() -> Vec<Backend> {
    let Ok(only) = std::env::var("FASTGCM_ONLY") else { return Backend::available().collect() };
    let named: Vec<Backend> = only.split(',').map(|name| name.parse().expect("FASTGCM_ONLY names back ends")).collect();
    assert!(named.iter().all(|backend| backend.is_available()), "FASTGCM_ONLY: this machine cannot run {named:?}");
    named
}

/// A key of that back end. Every suite makes its keys here, because it prints the name of the back end that it asked for: the key says itself
/// which one it got.
pub(crate) fn key(bytes: &[u8], backend: Backend) -> Key {
    let key = Key::with_backend(bytes, backend).unwrap();
    assert_eq!(key.backend(), backend, "the back end of a key");
    key
}

/// The same on the heap.
#[cfg(feature = "alloc")]
pub(crate) fn boxed(bytes: &[u8], backend: Backend) -> Box<Key> {
    let key = Key::boxed_with_backend(bytes, backend).unwrap();
    assert_eq!(key.backend(), backend, "the back end of a key on the heap");
    key
}
