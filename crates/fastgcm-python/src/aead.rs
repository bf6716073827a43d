//! Whole messages: `AESGCM`, as in pyca/cryptography.

use crate::{
    batch,
    buffers::{
        Place, Source, Target, aside, detached, new_bytes, of_length, or_empty, random_bytes, text_len, whole_or_apart, within_limits,
    },
    errors, memory,
    threads::Threads,
};
use fastgcm::{
    Error, Key, Nonce, TAG_LEN, Tag,
    hazmat::{Pieces, combine, open_part},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use rayon::prelude::*;

/// AES-GCM with a key of 128, 192 or 256 bits.
///
/// >>> from fastgcm import AESGCM
/// >>> key = AESGCM.generate_key(bit_length=256)
/// >>> aesgcm = AESGCM(key)
/// >>> sealed = aesgcm.encrypt(b"nonce, once!", b"a secret", b"to: everyone")
/// >>> aesgcm.decrypt(b"nonce, once!", sealed, b"to: everyone")
/// b'a secret'
#[pyclass(frozen, module = "fastgcm", name = "AESGCM")]
#[derive(Debug)]
pub(crate) struct AesGcm {
    /// The key is in a box, because Python's objects are aligned to 16 bytes only.
    pub(crate) key: Box<Key>,
}

#[pymethods]
impl AesGcm {
    #[new]
    fn new(key: Source<'_>) -> PyResult<Self> {
        Ok(Self { key: self::key(&key)? })
    }

    /// Returns a random key of 128, 192 or 256 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        generate_key(py, bit_length)
    }

    /// Encrypts `data`. Returns the ciphertext with the tag of 16 bytes behind it. From 4 MiB on, `threads` share the work.
    #[pyo3(signature = (nonce, data, associated_data, *, threads=Threads::ONE), text_signature = "($self, nonce, data, associated_data, *, threads=1)")]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut copy = [0; 128];
        let (nonce, aad) = (any_nonce(&nonce, &mut copy)?, or_empty(associated_data.as_ref()));
        within_limits(py, data.len())?;
        new_bytes(py, data.len() + TAG_LEN, |sealed| {
            detached(py, data.len() + aad.len(), || self.seal(nonce, aad, Some(data.bytes()), sealed, threads))
                .map_err(|e| errors::of(py, e))
        })
    }

    /// Encrypts `data` to `buf`, which is 16 bytes longer. Returns the length of `buf`.
    #[pyo3(signature = (nonce, data, associated_data, buf, *, threads=Threads::ONE), text_signature = "($self, nonce, data, associated_data, buf, *, threads=1)")]
    fn encrypt_into(
        &self,
        py: Python<'_>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        mut buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        let mut copy = [0; 128];
        let (nonce, aad) = (any_nonce(&nonce, &mut copy)?, or_empty(associated_data.as_ref()));
        within_limits(py, data.len())?;
        let len = of_length(&buf, data.len() + TAG_LEN)?;
        let aad = &*aside(&buf, aad)?;
        let place = whole_or_apart(&buf, &data)?;
        // SAFETY: `data` is apart from it or no longer read, and so is the associated data; the nonce has been read.
        let sealed = unsafe { buf.bytes() };
        let text = (place != Place::Same).then(|| data.bytes());
        detached(py, len + aad.len(), || self.seal(nonce, aad, text, sealed, threads)).map_err(|e| errors::of(py, e))?;
        Ok(len)
    }

    /// Decrypts `data`, which holds ciphertext and tag. Raises `InvalidTag` if anything differs from what was sealed.
    #[pyo3(signature = (nonce, data, associated_data, *, threads=Threads::ONE), text_signature = "($self, nonce, data, associated_data, *, threads=1)")]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut copy = [0; 128];
        let (nonce, aad) = (any_nonce(&nonce, &mut copy)?, or_empty(associated_data.as_ref()));
        let len = text_len(py, &data, TAG_LEN)?;
        new_bytes(py, len, |text| {
            detached(py, len + aad.len(), || self.open(nonce, aad, &data, text, threads)).map_err(|e| errors::of(py, e))
        })
    }

    /// Decrypts `data`, which holds ciphertext and tag, to `buf`, which is 16 bytes shorter. Returns the length of `buf`. If it raises
    /// `InvalidTag`, `buf` is all zero.
    #[pyo3(signature = (nonce, data, associated_data, buf, *, threads=Threads::ONE), text_signature = "($self, nonce, data, associated_data, buf, *, threads=1)")]
    fn decrypt_into(
        &self,
        py: Python<'_>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        mut buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        let mut copy = [0; 128];
        let (nonce, aad) = (any_nonce(&nonce, &mut copy)?, or_empty(associated_data.as_ref()));
        let len = of_length(&buf, text_len(py, &data, TAG_LEN)?)?;
        let aad = &*aside(&buf, aad)?;
        whole_or_apart(&buf, &data)?;
        // SAFETY: what is read is apart from it, or is read before the same bytes are written.
        let text = unsafe { buf.bytes() };
        detached(py, len + aad.len(), || self.open(nonce, aad, &data, text, threads)).map_err(|e| errors::of(py, e))?;
        Ok(len)
    }

    /// Encrypts many messages in one call. Each nonce has 12 bytes and differs from all others.
    ///
    /// `datas` is a list (or tuple) of messages; the result is then a list of as many `bytes`, ciphertext and tag. Or it is one buffer of
    /// records of equal length (such as a NumPy array); the result is then one `bytes` of records that are 16 bytes longer. `nonces` is a
    /// list, or one buffer with one nonce behind the other. `aads` is a list, or one buffer for all messages, or None.
    ///
    /// >>> import os
    /// >>> from fastgcm import AESGCM
    /// >>> aesgcm = AESGCM(bytes(16))
    /// >>> nonces = os.urandom(3 * 12)
    /// >>> sealed = aesgcm.seal_batch(nonces, [b"one", b"two", b"three"], b"for all")
    /// >>> aesgcm.open_batch(nonces, sealed, b"for all")
    /// [b'one', b'two', b'three']
    #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
    fn seal_batch<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: &Bound<'py, PyAny>,
        aads: Option<&Bound<'py, PyAny>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        batch::run::<true, 12, 16, Key>(&self.key, nonces, datas, aads, threads)
    }

    /// Decrypts messages that `seal_batch` has returned. Raises `InvalidTag` if any message differs from what was sealed: its note says
    /// which message is the first, and no text comes out.
    #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
    fn open_batch<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: &Bound<'py, PyAny>,
        aads: Option<&Bound<'py, PyAny>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        batch::run::<false, 12, 16, Key>(&self.key, nonces, datas, aads, threads)
    }

    /// Does `seal_batch` of one buffer of records of equal length, and writes to `buf`, which has 16 more bytes for each record. Returns
    /// the length of `buf`.
    #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
    fn seal_batch_into<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: Source<'_>,
        aads: Option<&Bound<'py, PyAny>>,
        buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        batch::run_into::<true, 12, 16, Key>(&self.key, nonces, &datas, aads, buf, threads)
    }

    /// Does `open_batch` of one buffer of records of equal length, and writes to `buf`, which has 16 fewer bytes for each record. Returns
    /// the length of `buf`. If it raises `InvalidTag`, `buf` is all zero.
    #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
    fn open_batch_into<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: Source<'_>,
        aads: Option<&Bound<'py, PyAny>>,
        buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        batch::run_into::<false, 12, 16, Key>(&self.key, nonces, &datas, aads, buf, threads)
    }
}

impl AesGcm {
    /// Seals `text`, or the text that is already in `sealed`, to `sealed`.
    fn seal(&self, nonce: Nonce<'_>, aad: &[u8], text: Option<&[u8]>, sealed: &mut [u8], threads: Threads) -> Result<(), Error> {
        let Some(pool) = threads.for_message(sealed.len()) else {
            return match text {
                Some(text) => self.key.seal_to(nonce, aad, text, sealed),
                None => self.key.seal_appended(nonce, aad, sealed),
            };
        };
        let (ciphertext, place) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(Error::InvalidLength)?;
        *place = pool
            .install(|| match text {
                Some(text) => self.key.parallel().seal_detached_to(nonce, aad, text, ciphertext),
                None => self.key.parallel().seal(nonce, aad, ciphertext),
            })?
            .0;
        Ok(())
    }

    /// Opens a message. Of data that another thread may change, each byte is read once, to where the text will be: so exactly the verified
    /// bytes come out.
    fn open(&self, nonce: Nonce<'_>, aad: &[u8], data: &Source<'_>, text: &mut [u8], threads: Threads) -> Result<(), Error> {
        let (mut tag, len) = (Tag([0; TAG_LEN]), text.len());
        data.read(len, &mut tag.0);
        if let Some(data) = data.fixed() {
            return match threads.for_message(len) {
                Some(pool) => pool.install(|| self.key.parallel().open_detached_to(nonce, aad, &data[..len], text, &tag)),
                None => self.key.open_to(nonce, aad, data, text),
            };
        }
        if len <= PIECE {
            data.read(0, text);
            return self.key.open(nonce, aad, text, &tag);
        }
        let mut parts = Vec::new();
        let pool = threads.for_batch(len).filter(|_| parts.try_reserve_exact(len.div_ceil(PIECE)).is_ok());
        let Some(pool) = pool else {
            let mut pieces = Pieces::new(&self.key, nonce);
            pieces.aad(&self.key, aad)?;
            for (at, text) in (0..).step_by(PIECE).zip(text.chunks_mut(PIECE)) {
                data.read(at, text);
                pieces.open(&self.key, text)?;
            }
            return pieces.verify(&self.key, &tag.0).inspect_err(|_| text.fill(0));
        };
        parts.resize(len.div_ceil(PIECE), Err(Error::Incomplete));
        pool.install(|| {
            text.par_chunks_mut(PIECE).zip(&mut parts).enumerate().for_each(|(number, (text, part))| {
                data.read(number * PIECE, text);
                *part = open_part(&self.key, nonce, (number * PIECE) as u64, text);
            });
        });
        let refused = parts.iter().find_map(|part| part.as_ref().err().copied());
        let found = refused.map_or_else(|| combine(&self.key, nonce, aad, parts.iter().flatten()), Err);
        let verdict = found.and_then(|found| if found == tag { Ok(()) } else { Err(Error::Unauthentic) });
        verdict.inspect_err(|_| text.fill(0))
    }
}

/// Makes a key of AES-GCM.
pub(crate) fn key(key: &Source<'_>) -> PyResult<Box<Key>> {
    let wrong = || PyValueError::new_err("AESGCM key must be 128, 192, or 256 bits.");
    memory::boxed(|place| Key::init_in_place(place, key.bytes(), crate::backend()), wrong)
}

/// The number of bytes that are copied at a time: they stay in the cache until they are opened.
const PIECE: usize = 1 << 16;

/// Returns a random key of this many bits.
pub(crate) fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
    match bit_length {
        128 | 192 | 256 => random_bytes(py, bit_length / 8),
        _ => Err(PyValueError::new_err("bit_length must be 128, 192, or 256")),
    }
}

/// Room for the longest nonce that pyca/cryptography takes.
pub(crate) type NonceCopy = [u8; 128];

/// Returns a nonce that pyca/cryptography accepts. A nonce that may change is read once, to `copy` if it does not have 12 bytes, because
/// parts of a message read it again.
pub(crate) fn any_nonce<'n>(nonce: &Source<'n>, copy: &'n mut NonceCopy) -> PyResult<Nonce<'n>> {
    let found = match (nonce.fixed(), nonce.len()) {
        (_, ..8 | 129..) => None,
        (Some(fixed), _) => Nonce::any(fixed).ok(),
        (None, 12) => {
            let mut bytes = [0; 12];
            nonce.read(0, &mut bytes);
            Some(Nonce::from(&bytes))
        }
        (None, len) => {
            let copy = &mut copy[..len];
            nonce.read(0, copy);
            Nonce::any(copy).ok()
        }
    };
    found.ok_or_else(|| PyValueError::new_err("Nonce must be between 8 and 128 bytes"))
}
