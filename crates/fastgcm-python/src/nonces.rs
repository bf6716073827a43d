//! Nonces that cannot repeat.

use crate::{
    aead,
    buffers::{Source, detached, new_bytes, or_empty, text_len, within_limits},
    errors, memory,
    threads::held,
};
use fastgcm::{Error, Key, NONCE_LEN, TAG_LEN, Tag, limits::Blocks, nonces};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The number of forks of this process and its ancestors. Nonces that count remember the number of the process that they were
/// made in: in a child the counter would go on as it does in the parent.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The handler that the C library calls in a child. A process that was made without its `fork` calls it itself.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

/// Asks the C library to tell of each fork. (Python's own hooks, `os.register_at_fork`, come later: in a child, one that was registered
/// before this module was imported might draw a nonce of the parent's.)
#[cfg(unix)]
pub(crate) fn hear_of_forks() -> PyResult<()> {
    use std::ffi::c_int;
    unsafe extern "C" {
        fn pthread_atfork(prepare: Option<extern "C" fn()>, parent: Option<extern "C" fn()>, child: Option<extern "C" fn()>) -> c_int;
    }
    extern "C" fn child() {
        forked();
    }
    // SAFETY: the function may be called at any time. `child` changes one number, and stays: Python unloads no module.
    if unsafe { pthread_atfork(None, None, Some(child)) } == 0 { Ok(()) } else { Err(memory::short()) }
}

/// There are no forks.
#[cfg(not(unix))]
pub(crate) fn hear_of_forks() -> PyResult<()> {
    Ok(())
}

/// Returns `Exhausted` in a child of the process to which nonces that count belong.
fn in_its_process(py: Python<'_>, forks: &AtomicU64) -> PyResult<()> {
    if forks.load(Relaxed) == FORKS.load(Relaxed) { Ok(()) } else { Err(errors::forked(py)) }
}

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
/// that begins at `start`. When the nonces are used up, drawing raises `Exhausted`. No two sealers may share a key and a `fixed`. In a child
/// that was forked drawing raises `Exhausted`, until `after_fork` gives it a field of its own. Python does not hear of a machine that is
/// restored from a snapshot, and becomes a second sealer, too.
///
/// >>> from fastgcm import CounterNonces
/// >>> nonces = CounterNonces(b"left")
/// >>> nonces.draw(), nonces.position
/// (b'left\x00\x00\x00\x00\x00\x00\x00\x00', 1)
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct CounterNonces {
    own: Mutex<(Fixed, Counter)>,
    forks: AtomicU64,
}

/// A fixed field, with its length in the last byte.
type Fixed = [u8; 12];

/// Reads a fixed field once, and makes its counter.
fn counter(py: Python<'_>, fixed: &Source<'_>, start: u64) -> PyResult<(Fixed, Counter)> {
    let (mut own, len) = ([0; 12], fixed.len().min(12));
    fixed.read(0, &mut own[..len]);
    let counter = Counter::new(&own[..len], start)?.map_err(|e| errors::of(py, e))?;
    own[11] = len as u8;
    Ok((own, counter))
}

#[pymethods]
impl CounterNonces {
    #[new]
    #[pyo3(signature = (fixed, start=0))]
    fn new(py: Python<'_>, fixed: Source<'_>, start: u64) -> PyResult<Self> {
        Ok(Self { own: counter(py, &fixed, start)?.into(), forks: FORKS.load(Relaxed).into() })
    }

    /// Returns the next nonce.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.draw_batch(py, 1)
    }

    /// Returns the next `count` nonces, one behind the other, for `AESGCM.seal_batch`. If too few are left, it raises `Exhausted` and draws
    /// none.
    fn draw_batch<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        in_its_process(py, &self.forks)?;
        draw_batch(py, count, &self.own, |own, count| own.1.has(count), |own| own.1.draw())
    }

    /// Counts from 0 behind another `fixed` of the same length, in a child that was forked. No other process may have that `fixed`: neither
    /// the parent nor another child. Raises `ValueError` if `fixed` is the parent's, or nothing was forked.
    fn after_fork(&self, py: Python<'_>, fixed: Source<'_>) -> PyResult<()> {
        let (another, forks) = (counter(py, &fixed, 0)?, FORKS.load(Relaxed));
        let is_done = held(&self.own, |own| {
            let may = self.forks.load(Relaxed) != forks && another.0[11] == own.0[11] && another.0 != own.0;
            if may {
                *own = another;
                self.forks.store(forks, Relaxed);
            }
            may
        });
        let wrong = || PyValueError::new_err("fixed must be another one of the same length, in a child that was forked");
        is_done.then_some(()).ok_or_else(wrong)
    }

    /// The number of the next nonce, or None when the nonces are used up.
    #[getter]
    fn position(&self) -> Option<u64> {
        held(&self.own, |own| own.1.position())
    }
}

/// Nonces that are a static IV of 12 bytes XOR a number of 64 bits, which begins at `start`: those of TLS 1.3, QUIC and HPKE. When the nonces
/// are used up, and in a child that was forked, drawing raises `Exhausted`. `at` returns the nonce of a number, for the opener.
///
/// >>> from fastgcm import XorNonces
/// >>> nonces = XorNonces(bytes(12), 258)
/// >>> nonces.draw() == XorNonces.at(bytes(12), 258), nonces.position
/// (True, 259)
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct XorNonces {
    nonces: Mutex<nonces::XorNonces>,
    forks: AtomicU64,
}

/// Reads a static IV once.
fn static_iv(iv: &Source<'_>) -> PyResult<[u8; 12]> {
    let mut own = [0; 12];
    if iv.len() != own.len() {
        return Err(PyValueError::new_err("iv must be 12 bytes"));
    }
    iv.read(0, &mut own);
    Ok(own)
}

#[pymethods]
impl XorNonces {
    #[new]
    #[pyo3(signature = (iv, start=0))]
    fn new(iv: Source<'_>, start: u64) -> PyResult<Self> {
        Ok(Self { nonces: nonces::XorNonces::starting_at(static_iv(&iv)?, start).into(), forks: FORKS.load(Relaxed).into() })
    }

    /// Returns the nonce of message `number`.
    #[staticmethod]
    fn at<'py>(py: Python<'py>, iv: Source<'_>, number: u64) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &nonces::XorNonces::at(static_iv(&iv)?, number)))
    }

    /// Returns the next nonce.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.draw_batch(py, 1)
    }

    /// Returns the next `count` nonces, one behind the other, for `AESGCM.seal_batch`. If too few are left, it raises `Exhausted` and draws
    /// none.
    fn draw_batch<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        in_its_process(py, &self.forks)?;
        let has = |nonces: &nonces::XorNonces, count| nonces.position().map_or(count == 0, |next| count <= u64::MAX - next);
        draw_batch(py, count, &self.nonces, has, nonces::XorNonces::draw)
    }

    /// The number of the next message, or None when the nonces are used up.
    #[getter]
    fn position(&self) -> Option<u64> {
        held(&self.nonces, |nonces| nonces.position())
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

/// The nonces of a `SealingKey`.
#[derive(FromPyObject)]
enum Nonces {
    Counter(Py<CounterNonces>),
    Xor(Py<XorNonces>),
    Random(Py<RandomNonces>),
}

impl Nonces {
    /// Returns the next nonce, in the process to which it belongs.
    fn draw(&self) -> Result<[u8; 12], Error> {
        match self {
            Self::Counter(nonces) => held(&nonces.get().own, |own| own.1.draw()),
            Self::Xor(nonces) => held(&nonces.get().nonces, nonces::XorNonces::draw),
            Self::Random(nonces) => held(&nonces.get().0, nonces::RandomNonces::draw),
        }
    }

    fn in_its_process(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::Counter(nonces) => in_its_process(py, &nonces.get().forks),
            Self::Xor(nonces) => in_its_process(py, &nonces.get().forks),
            Self::Random(_) => Ok(()),
        }
    }
}

/// AES-GCM with nonces that cannot repeat: `CounterNonces`, `XorNonces` or `RandomNonces`. The key counts the blocks of 16 bytes that it
/// seals, and raises `Exhausted` before an attacker's advantage exceeds 2^-`confidentiality`. `blocks` were sealed before, in another run of
/// the program; `sealers` processes share the key, and each may seal an equal share.
///
/// >>> from fastgcm import CounterNonces, SealingKey
/// >>> sealing = SealingKey(bytes(32), CounterNonces(b"left"))
/// >>> sealing.open(sealing.seal(b"a secret", b"header"), b"header"), sealing.blocks_sealed
/// (b'a secret', 2)
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct SealingKey {
    key: Box<Key>,
    nonces: Nonces,
    blocks: Mutex<Blocks>,
}

#[pymethods]
impl SealingKey {
    #[new]
    #[pyo3(signature = (key, nonces, *, confidentiality=Blocks::CONFIDENTIALITY, blocks=0, sealers=1),
        text_signature = "(key, nonces, *, confidentiality=32, blocks=0, sealers=1)")]
    fn new(key: Source<'_>, nonces: Bound<'_, PyAny>, confidentiality: u32, blocks: u64, sealers: u32) -> PyResult<Self> {
        let wrong = |_| PyTypeError::new_err("nonces must be CounterNonces, XorNonces or RandomNonces");
        let nonces = nonces.extract().map_err(wrong)?;
        if sealers == 0 {
            return Err(PyValueError::new_err("sealers must be 1 or more"));
        }
        let blocks = Blocks::confidentiality(confidentiality).after(blocks.into(), sealers);
        Ok(Self { key: aead::key(&key)?, nonces, blocks: blocks.into() })
    }

    /// Encrypts `data`. Returns the nonce (12 bytes), the ciphertext and the tag, one behind the other.
    #[pyo3(signature = (data, associated_data=None))]
    fn seal<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        within_limits(py, data.len())?;
        let (blocks, aad) = (Blocks::sealed(data.len() as u64), or_empty(associated_data.as_ref()));
        new_bytes(py, NONCE_LEN + data.len() + TAG_LEN, |all| {
            self.nonces.in_its_process(py)?;
            let drawn = held(&self.blocks, |all| {
                if blocks > all.left() {
                    return Err(Error::Exhausted);
                }
                let nonce = self.nonces.draw()?;
                all.take(blocks).map(|()| nonce)
            });
            let nonce = drawn.map_err(|e| errors::of(py, e))?;
            let (place, sealed) = all.split_at_mut(NONCE_LEN);
            place.copy_from_slice(&nonce);
            detached(py, data.len() + aad.len(), || self.key.seal_to(nonce, aad, data.bytes(), sealed)).map_err(|e| errors::of(py, e))
        })
    }

    /// Decrypts a message that `seal` has returned, of this key or another object with its bytes. Raises `InvalidTag` if anything differs
    /// from what was sealed.
    #[pyo3(signature = (data, associated_data=None))]
    fn open<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        let (len, aad) = (text_len(py, &data, NONCE_LEN + TAG_LEN)?, or_empty(associated_data.as_ref()));
        let (mut nonce, mut tag) = ([0; NONCE_LEN], Tag([0; TAG_LEN]));
        data.read(0, &mut nonce);
        data.read(NONCE_LEN + len, &mut tag.0);
        new_bytes(py, len, |text| {
            let work = || {
                data.read(NONCE_LEN, text);
                self.key.open(nonce, aad, text, &tag)
            };
            detached(py, len + aad.len(), work).map_err(|e| errors::of(py, e))
        })
    }

    /// How many blocks the key has sealed, including `blocks` of the constructor: what the next run of the program gives there.
    #[getter]
    fn blocks_sealed(&self) -> u128 {
        held(&self.blocks, |blocks| blocks.used())
    }

    /// How many blocks are left.
    #[getter]
    fn blocks_left(&self) -> u128 {
        held(&self.blocks, |blocks| blocks.left())
    }
}
