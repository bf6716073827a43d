//! Threads that share the work of one call.

use crate::memory;
use pyo3::{exceptions::PyValueError, prelude::*};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    collections::BTreeMap,
    num::NonZero,
    process,
    sync::{Arc, Mutex, PoisonError},
};

/// Uses what threads share, one after the other. `work` must not call Python, nor make an exception: the interpreter may then go to a thread that waits
/// here, and both would wait for ever.
pub(crate) fn held<T, R>(shared: &Mutex<T>, work: impl FnOnce(&mut T) -> R) -> R {
    work(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// How many threads may work: the argument `threads`.
#[derive(Clone, Copy)]
pub(crate) struct Threads(NonZero<usize>);

/// The pools of this process, and those that it had when it was forked: these have no threads any more, and are never touched again.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

impl Threads {
    pub(crate) const ONE: Self = Self(NonZero::<usize>::MIN);

    /// The most that anybody may ask for.
    const MOST: usize = 1024;

    /// Bytes from which on threads pay for one message, as in `fastgcm::parallel`: it takes tens of microseconds to wake one.
    const PAY: usize = 4 << 20;

    /// Bytes from which on threads pay for what takes longer than a message of as many: a batch, and text that is copied first.
    const PAY_EARLIER: usize = 2 << 20;

    /// The pool for one message, if there are several threads and so much to do that they pay.
    #[inline]
    pub(crate) fn for_message(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        if self.0.get() > 1 && bytes >= Self::PAY { self.pool(bytes) } else { None }
    }

    /// The pool for a batch, or for text that is copied first.
    #[inline]
    pub(crate) fn for_batch(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        if self.0.get() > 1 && bytes >= Self::PAY_EARLIER { self.pool(bytes) } else { None }
    }

    pub(crate) fn count(self) -> usize {
        self.0.get()
    }

    /// A pool of as many threads, which is kept for the next call. Without memory or threads for it, there is none: then the caller works alone. It never
    /// waits for the lock: whoever held it in a process that was forked does not exist in this one.
    fn pool(self, bytes: usize) -> Option<Arc<ThreadPool>> {
        // A thread takes some KiB to begin, and a part of a message some bytes to be noted down.
        let room = self.0.get() * (1 << 14) + bytes / 1024;
        let new = || ThreadPoolBuilder::new().num_threads(self.0.get()).thread_name(|_| "fastgcm".into()).build().map(Arc::new).ok();
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
