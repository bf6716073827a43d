//! Threads that share the work of one call.

use crate::memory;
use pyo3::{exceptions::PyValueError, prelude::*, sync::MutexExt};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    collections::BTreeMap,
    num::NonZero,
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Uses a value that threads share, one thread after the other. `work` must not call Python, nor make an exception: the interpreter might
/// switch to a thread that waits here, and both would wait forever.
pub(crate) fn held<T, R>(shared: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    work(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns what threads share, for this thread alone. While another thread has it, this one waits, and others run. Whoever has it may make
/// an exception, but must not run code of Python's that may use the object once more: this thread would wait for itself. (So buffers of
/// arguments are given back behind it.)
pub(crate) fn alone<'a, T>(py: Python<'_>, shared: &'a Mutex<T>) -> MutexGuard<'a, T> {
    shared.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// The number of threads that may work: the argument `threads`.
#[derive(Clone, Copy)]
pub(crate) struct Threads(NonZero<usize>);

/// The pools of this process, and the pools that it had when it was forked: those no longer have threads, and are never touched again.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

impl Threads {
    pub(crate) const ONE: Self = Self(NonZero::<usize>::MIN);

    /// The largest number that a caller may ask for.
    const MOST: usize = 1024;

    /// The bytes from which threads pay off for one message, as in `fastgcm::parallel`: waking a thread takes tens of microseconds.
    const PAY: usize = 4 << 20;

    /// The bytes from which threads pay off for work that takes longer than one message of that length: a batch, and text that is copied
    /// first.
    const PAY_EARLIER: usize = 2 << 20;

    /// Returns the pool for one message, if there are several threads and enough work for them to pay off.
    #[inline]
    pub(crate) fn for_message(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        if self.0.get() > 1 && bytes >= Self::PAY { self.pool(bytes) } else { None }
    }

    /// Returns the pool for a batch, or for text that is copied first.
    #[inline]
    pub(crate) fn for_batch(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        if self.0.get() > 1 && bytes >= Self::PAY_EARLIER { self.pool(bytes) } else { None }
    }

    pub(crate) fn count(self) -> usize {
        self.0.get()
    }

    /// Returns a pool of as many threads, which is kept for the next call. If there is no memory or there are no threads for it, there is
    /// no pool, and the caller works alone. The function never waits for the lock: the thread that held it in a process before a fork does
    /// not exist in this process.
    fn pool(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        // A thread takes some KiB to start, and noting down a part of a message takes some bytes.
        let room = self.0.get() * (1 << 14) + bytes / 1024;
        let new = || {
            let pool = ThreadPoolBuilder::new().num_threads(self.0.get()).thread_name(|_| "fastgcm".into()).build().ok()?;
            // All of them have begun then: the C library ends a process of which a thread begins when there is no memory for what it has of its own.
            pool.broadcast(|_| ());
            Some(Arc::new(pool))
        };
        let new = || if memory::is_low() { None } else { memory::kept(room, new).ok().flatten() };
        let Ok(mut pools) = POOLS.try_lock() else { return new() };
        let which = (process::id(), self.0.get());
        if let Some(pool) = pools.get(&which) {
            return Some(pool.clone());
        }
        let pool = new()?;
        pools.insert(which, pool.clone());
        Some(pool)
    }
}

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let threads = NonZero::new(object.extract::<usize>()?).filter(|threads| threads.get() <= Self::MOST);
        threads.map(Self).ok_or_else(|| PyValueError::new_err("threads must be 1 to 1024"))
    }
}
