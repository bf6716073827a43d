//! Whole messages: `AESGCM`, as in pyca/cryptography.

use crate::{
    buffers::{Place, Source, Target, detached, new_bytes, or_empty, random_bytes},
    errors,
};
use fastgcm::{Error, Key, Nonce, TAG_LEN, hazmat::Pieces};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::{borrow::Cow, sync::Arc};

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
    pub(crate) key: Arc<Key>,
}

#[pymethods]
impl AesGcm {
    #[new]
    fn new(key: Source<'_>) -> PyResult<Self> {
        let key = Key::shared_with_backend(key.bytes(), fastgcm::Backend::detect());
        let key = key.map_err(|_| PyValueError::new_err("AESGCM key must be 128, 192, or 256 bits."))?;
        Ok(Self { key })
    }

    /// A random key of 128, 192 or 256 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        generate_key(py, bit_length)
    }

    /// Encrypts `data`. Returns the ciphertext and, behind it, the tag of 16 bytes.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, aad) = (any_nonce(&nonce)?, or_empty(associated_data.as_ref()));
        within_limits(py, data.len())?;
        new_bytes(py, data.len() + TAG_LEN, |sealed| {
            detached(py, data.len() + aad.len(), || self.key.seal_to(nonce, aad, data.bytes(), sealed)).map_err(|e| errors::of(py, e))
        })
    }

    /// Encrypts `data` to `buf`, which has 16 bytes more. Returns the length of `buf`.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn encrypt_into(
        &self,
        py: Python<'_>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        mut buf: Target,
    ) -> PyResult<usize> {
        let (nonce, aad) = (any_nonce(&nonce)?, or_empty(associated_data.as_ref()));
        within_limits(py, data.len())?;
        let len = of_length(&buf, data.len() + TAG_LEN)?;
        let aad = &*aside(&buf, aad);
        let place = whole_or_apart(&buf, &data)?;
        // SAFETY: `data` is apart from it or no longer read, and so is the associated data; the nonce has been read.
        let sealed = unsafe { buf.bytes() };
        let work = || match place {
            Place::Same => self.key.seal_appended(nonce, aad, sealed),
            _ => self.key.seal_to(nonce, aad, data.bytes(), sealed),
        };
        detached(py, len + aad.len(), work).map_err(|e| errors::of(py, e))?;
        Ok(len)
    }

    /// Decrypts `data`, ciphertext and tag. Raises `InvalidTag` if anything is not as it was sealed.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, aad) = (any_nonce(&nonce)?, or_empty(associated_data.as_ref()));
        let len = text_len(py, &data)?;
        new_bytes(py, len, |text| detached(py, len + aad.len(), || self.open(nonce, aad, &data, text)).map_err(|e| errors::of(py, e)))
    }

    /// Decrypts `data`, ciphertext and tag, to `buf`, which has 16 bytes less. Returns the length of `buf`. If it raises `InvalidTag`, `buf` is all
    /// zero.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn decrypt_into(
        &self,
        py: Python<'_>,
        nonce: Source<'_>,
        data: Source<'_>,
        associated_data: Option<Source<'_>>,
        mut buf: Target,
    ) -> PyResult<usize> {
        let (nonce, aad) = (any_nonce(&nonce)?, or_empty(associated_data.as_ref()));
        let len = of_length(&buf, text_len(py, &data)?)?;
        let aad = &*aside(&buf, aad);
        whole_or_apart(&buf, &data)?;
        // SAFETY: what is read is apart from it, or is read before the same bytes are written.
        let text = unsafe { buf.bytes() };
        detached(py, len + aad.len(), || self.open(nonce, aad, &data, text)).map_err(|e| errors::of(py, e))?;
        Ok(len)
    }
}

impl AesGcm {
    /// Opens a message. Of what another thread may change, each byte is read once: what comes out is what was verified.
    fn open(&self, nonce: Nonce<'_>, aad: &[u8], data: &Source<'_>, text: &mut [u8]) -> Result<(), Error> {
        if let Some(data) = data.fixed() {
            return self.key.open_to(nonce, aad, data, text);
        }
        let mut copy = vec![0; data.len().min(PIECE)];
        if data.len() <= PIECE {
            data.read(0, &mut copy);
            return self.key.open_to(nonce, aad, &copy, text);
        }
        let (mut pieces, mut tag) = (Pieces::new(&self.key, nonce), [0; TAG_LEN]);
        data.read(text.len(), &mut tag);
        pieces.aad(&self.key, aad)?;
        for (at, text) in (0..).step_by(PIECE).zip(text.chunks_mut(PIECE)) {
            let copy = &mut copy[..text.len()];
            data.read(at, copy);
            pieces.open_to(&self.key, copy, text)?;
        }
        pieces.verify(&self.key, &tag).inspect_err(|_| text.fill(0))
    }
}

/// Bytes that are copied at a time, out of the reach of other threads: they stay in the cache.
const PIECE: usize = 1 << 16;

/// A random key of that many bits.
pub(crate) fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
    match bit_length {
        128 | 192 | 256 => random_bytes(py, bit_length / 8),
        _ => Err(PyValueError::new_err("bit_length must be 128, 192, or 256")),
    }
}

/// The nonces that pyca/cryptography takes.
fn any_nonce<'n>(nonce: &'n Source<'_>) -> PyResult<Nonce<'n>> {
    let nonce = Some(nonce.bytes()).filter(|nonce| (8..=128).contains(&nonce.len())).and_then(|nonce| Nonce::any(nonce).ok());
    nonce.ok_or_else(|| PyValueError::new_err("Nonce must be between 8 and 128 bytes"))
}

/// Before memory for the result is asked for.
fn within_limits(py: Python<'_>, text_len: usize) -> PyResult<()> {
    if text_len as u64 > fastgcm::limits::TEXT { Err(errors::of(py, Error::TooLong)) } else { Ok(()) }
}

/// Bytes of text in a sealed message.
fn text_len(py: Python<'_>, sealed: &Source<'_>) -> PyResult<usize> {
    let len = sealed.len().checked_sub(TAG_LEN).ok_or_else(|| errors::of(py, Error::Unauthentic))?;
    within_limits(py, len).map(|()| len)
}

/// The length of `buf`, which must be this one.
fn of_length(buf: &Target, len: usize) -> PyResult<usize> {
    if buf.len() == len { Ok(len) } else { Err(PyValueError::new_err(format!("buffer must be {len} bytes"))) }
}

/// How `data` lies beside `buf`.
fn whole_or_apart(buf: &Target, data: &Source<'_>) -> PyResult<Place> {
    match buf.place(data.bytes()) {
        Place::Overlapping => Err(PyValueError::new_err("data and buffer overlap, and do not begin with the same byte")),
        place => Ok(place),
    }
}

/// The associated data, in another place if it is written in this one.
fn aside<'a>(buf: &Target, aad: &'a [u8]) -> Cow<'a, [u8]> {
    if buf.place(aad) == Place::Apart { Cow::Borrowed(aad) } else { Cow::Owned(aad.to_vec()) }
}
