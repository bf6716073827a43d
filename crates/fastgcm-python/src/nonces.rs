//! Nonces that cannot repeat.

use crate::{
    buffers::{Source, new_bytes},
    errors, memory,
    threads::held,
};
use fastgcm::{Error, nonces};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::sync::Mutex;

/// Draws `count` nonces, one behind the other, for `AESGCM.seal_batch`, or none if too few are left. Threads wait for each other.
fn draw_batch<'py, N>(
    py: Python<'py>,
    count: usize,
    nonces: &Mutex<N>,
    has: impl Fn(&N, u64) -> bool,
    mut draw: impl FnMut(&mut N) -> Result<[u8; 12], Error>,
) -> PyResult<Bound<'py, PyBytes>> {
    // This is checked before memory is requested.
    if !held(nonces, |nonces| has(nonces, count as u64)) {
        return Err(errors::of(py, Error::Exhausted));
    }
    let len = count.checked_mul(12).ok_or_else(memory::short)?;
    new_bytes(py, len, |all| {
        let drawn = held(nonces, |nonces| {
            // Another thread may have drawn meanwhile.
            if !has(nonces, count as u64) {
                return Err(Error::Exhausted);
            }
            all.as_chunks_mut().0.iter_mut().try_for_each(|nonce| draw(nonces).map(|drawn| *nonce = drawn))
        });
        drawn.map_err(|e| errors::of(py, e))
    })
}

/// Counters with a fixed field of each length.
macro_rules! counters {
    ($($variant:ident $fixed:literal),+) => {
        enum Counter { $($variant(nonces::CounterNonces<$fixed>)),+ }

        impl Counter {
            fn new(fixed: &[u8], start: u64) -> PyResult<Result<Self, Error>> {
                match fixed.len() {
                    $($fixed => {
                        let fixed = fixed.first_chunk().copied().unwrap_or_default();
                        Ok(nonces::CounterNonces::<$fixed>::starting_at(fixed, start).map(Self::$variant))
                    })+
                    _ => Err(PyValueError::new_err("fixed must be 4 to 11 bytes")),
                }
            }

            fn draw(&mut self) -> Result<[u8; 12], Error> {
                match self { $(Self::$variant(nonces) => nonces.draw()),+ }
            }

            /// Returns whether there are as many.
            fn has(&self, count: u64) -> bool {
                let last = match self { $(Self::$variant(_) => u64::MAX >> (8 * ($fixed - 4))),+ };
                count == 0 || self.position().is_some_and(|next| count - 1 <= last - next)
            }

            fn position(&self) -> Option<u64> {
                match self { $(Self::$variant(nonces) => nonces.position()),+ }
            }
        }
    };
}

counters!(F4 4, F5 5, F6 6, F7 7, F8 8, F9 9, F10 10, F11 11);

/// Nonces of 12 bytes that count (SP 800-38D, section 8.2.1): `fixed`, 4 to 11 bytes, names the sealer, and the rest is a big-endian number
/// that begins at `start`. When the nonces are used up, drawing raises `Exhausted`. No two sealers may share a key and a `fixed`: a process
/// that forks, or is restored from a snapshot, becomes a second sealer.
///
/// >>> from fastgcm import CounterNonces
/// >>> nonces = CounterNonces(b"left")
/// >>> nonces.draw(), nonces.position
/// (b'left\x00\x00\x00\x00\x00\x00\x00\x00', 1)
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct CounterNonces(Mutex<Counter>);

#[pymethods]
impl CounterNonces {
    #[new]
    #[pyo3(signature = (fixed, start=0))]
    fn new(py: Python<'_>, fixed: Source<'_>, start: u64) -> PyResult<Self> {
        Counter::new(fixed.bytes(), start)?.map(|counter| Self(counter.into())).map_err(|e| errors::of(py, e))
    }

    /// Returns the next nonce.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        draw_batch(py, 1, &self.0, Counter::has, Counter::draw)
    }

    /// Returns the next `count` nonces, one behind the other, for `AESGCM.seal_batch`. If too few are left, it raises `Exhausted` and draws
    /// none.
    fn draw_batch<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        draw_batch(py, count, &self.0, Counter::has, Counter::draw)
    }

    /// The number of the next nonce, or None when the nonces are used up.
    #[getter]
    fn position(&self) -> Option<u64> {
        held(&self.0, |nonces| nonces.position())
    }
}

/// Nonces of 12 random bytes, for at most 2^32 messages under one key, counting all sealers together (SP 800-38D, section 8.2.2). `used`
/// nonces have been drawn before. After 2^32 nonces, drawing raises `Exhausted`.
///
/// >>> from fastgcm import RandomNonces
/// >>> nonces = RandomNonces()
/// >>> len(nonces.draw()), len(nonces.draw_batch(1000)), nonces.used
/// (12, 12000, 1001)
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct RandomNonces(Mutex<nonces::RandomNonces>);

#[pymethods]
impl RandomNonces {
    #[new]
    #[pyo3(signature = (used=0))]
    fn new(used: u64) -> Self {
        Self(nonces::RandomNonces::after(used).into())
    }

    /// Returns the next nonce.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        draw_batch(py, 1, &self.0, random_has, nonces::RandomNonces::draw)
    }

    /// Returns the next `count` nonces, one behind the other, for `AESGCM.seal_batch`. If too few are left, it raises `Exhausted` and draws
    /// none.
    fn draw_batch<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        draw_batch(py, count, &self.0, random_has, nonces::RandomNonces::draw)
    }

    /// The number of nonces so far, including `used` of the constructor.
    #[getter]
    fn used(&self) -> u64 {
        held(&self.0, |nonces| nonces.used())
    }
}

/// Returns whether there are as many.
fn random_has(nonces: &nonces::RandomNonces, count: u64) -> bool {
    count <= nonces::RandomNonces::LIMIT.saturating_sub(nonces.used())
}
