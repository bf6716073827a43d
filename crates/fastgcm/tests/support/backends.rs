//! Which back ends a suite is put to, keys of theirs, and what each of them has done.
#![allow(dead_code)] // no test file needs all of it

use fastgcm::{Backend, Key};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    thread,
};

/// All that this machine can run; with `FASTGCM_ONLY=vaes-avx512,vaes-avx2` those of them. An emulated processor is slow, and is there
/// for the sake of these two.
pub(crate) fn backends() -> Vec<Backend> {
    let Ok(only) = std::env::var("FASTGCM_ONLY") else { return Backend::available().collect() };
    let named: Vec<Backend> = only.split(',').map(|name| name.parse().expect("FASTGCM_ONLY names back ends")).collect();
    assert!(named.iter().all(|backend| backend.is_available()), "FASTGCM_ONLY: this machine cannot run {named:?}");
    named
}

/// Does this for each back end, as many at a time as there are processors: most of a trace is the kernel's time.
pub(crate) fn for_each_backend(trace: impl Fn(Backend) + Sync) {
    let waiting = Mutex::new(backends().into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| std::iter::from_fn(next).for_each(&trace));
        }
    });
}

/// A key of that back end. Every suite makes its keys here, because it prints the name of the back end that it asked for: the key says itself
/// which one it got.
pub(crate) fn key(bytes: &[u8], backend: Backend) -> Key {
    let key = Key::with_backend(bytes, backend).unwrap();
    assert_eq!(key.backend(), backend, "the back end of a key");
    key
}

/// A key on the heap.
#[cfg(feature = "alloc")]
pub(crate) fn boxed(bytes: &[u8], backend: Backend) -> Box<Key> {
    let key = Key::boxed_with_backend(bytes, backend).unwrap();
    assert_eq!(key.backend(), backend, "the back end of a key on the heap");
    key
}

/// Cases, by the back end that they were put to.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    /// Cases of a key: of the back end that it has, whichever was asked for.
    pub(crate) fn add(&mut self, key: &Key, cases: usize) {
        *self.0.entry(key.backend().name()).or_default() += cases;
    }

    /// Fails unless there were so many cases for each of [`backends`] and none for another.
    pub(crate) fn passed(self, name: &str, each: usize) {
        self.passed_by(name, |_| each);
    }

    /// Checks how many cases there were, of back ends that do not all have as many.
    pub(crate) fn passed_by(self, name: &str, cases: impl Fn(Backend) -> usize) {
        let expected = backends().into_iter().map(|backend| (backend.name(), cases(backend))).collect();
        assert_eq!(self.0, expected, "{name}");
    }
}
