//! One message in pieces.

use crate::{
    aead::{AesGcm, any_nonce},
    buffers::{Source, Target, bytes_of, detached, new_bytes, whole_or_apart, within_limits},
    errors, memory,
    threads::alone,
};
use fastgcm::{Error, Key, TAG_LEN, hazmat::Pieces};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::sync::Mutex;

/// A message that has begun; `None` once it has ended.
struct Message {
    aesgcm: Py<AesGcm>,
    /// The message is in a box, because Python's objects are aligned to 16 bytes only.
    pieces: Option<Box<Pieces>>,
}

impl Message {
    fn begin(aesgcm: Py<AesGcm>, nonce: &Source<'_>) -> PyResult<Self> {
        let pieces = Box::write(memory::room()?, Pieces::new(&aesgcm.get().key, any_nonce(nonce, &mut [0; 128])?));
        Ok(Self { aesgcm, pieces: Some(pieces) })
    }

    fn running(&mut self, py: Python<'_>) -> PyResult<(&Key, &mut Pieces)> {
        self.pieces.as_mut().map(|pieces| (&*self.aesgcm.get().key, &mut **pieces)).ok_or_else(|| errors::already_finalized(py))
    }

    fn aad(&mut self, py: Python<'_>, data: &Source<'_>) -> PyResult<()> {
        let (key, pieces) = self.running(py)?;
        match detached(py, data.len(), || pieces.aad(key, data.bytes())) {
            Err(Error::OutOfOrder) => Err(PyValueError::new_err("associated data come before the text")),
            done => done.map_err(|e| errors::of(py, e)),
        }
    }

    fn text(&mut self, py: Python<'_>, data: &Source<'_>, seal: bool, text: &mut [u8]) -> PyResult<()> {
        let (key, pieces) = self.running(py)?;
        within_limits(py, data.len())?;
        let work = || {
            // The data are read once, to where they are changed in place.
            data.read(0, text);
            if seal { pieces.seal(key, text) } else { pieces.open(key, text) }
        };
        // No part of a text that is too long may come out.
        detached(py, data.len(), work).inspect_err(|_| text.fill(0)).map_err(|e| errors::of(py, e))
    }

    fn update<'py>(&mut self, py: Python<'py>, data: &Source<'_>, seal: bool) -> PyResult<Bound<'py, PyBytes>> {
        within_limits(py, data.len())?;
        new_bytes(py, data.len(), |text| self.text(py, data, seal, text))
    }

    fn update_into(&mut self, py: Python<'_>, data: &Source<'_>, seal: bool, buf: &mut Target) -> PyResult<usize> {
        let len = data.len();
        if buf.len() < len {
            return Err(PyValueError::new_err(format!("buffer must be at least {len} bytes")));
        }
        whole_or_apart(buf, data)?;
        // SAFETY: `data` is apart from it, or is read before the same bytes are written.
        let text = unsafe { buf.bytes() };
        self.text(py, data, seal, &mut text[..len])?;
        Ok(len)
    }
}

/// Encrypts one message in pieces of any lengths: first associated data, then text, then the tag. A thread waits while another one uses the
/// object.
///
/// >>> from fastgcm import AESGCM, Sealer
/// >>> aesgcm = AESGCM(bytes(16))
/// >>> sealer = Sealer(aesgcm, b"nonce, once!")
/// >>> sealer.update_aad(b"header")
/// >>> sealed = sealer.update(b"a text in ") + sealer.update(b"two pieces") + sealer.finalize()
/// >>> aesgcm.decrypt(b"nonce, once!", sealed, b"header")
/// b'a text in two pieces'
#[pyclass(frozen, module = "fastgcm")]
pub(crate) struct Sealer(Mutex<Message>);

#[pymethods]
impl Sealer {
    #[new]
    fn new(aesgcm: Py<AesGcm>, nonce: Source<'_>) -> PyResult<Self> {
        Message::begin(aesgcm, &nonce).map(|message| Self(message.into()))
    }

    /// Takes the next piece of associated data.
    fn update_aad(&self, py: Python<'_>, data: Source<'_>) -> PyResult<()> {
        alone(py, &self.0).aad(py, &data)
    }

    /// Encrypts the next piece of text. Returns a ciphertext of that length.
    fn update<'py>(&self, py: Python<'py>, data: Source<'_>) -> PyResult<Bound<'py, PyBytes>> {
        alone(py, &self.0).update(py, &data, true)
    }

    /// Encrypts the next piece of text to the first bytes of `buf`. Returns how many bytes were written.
    fn update_into(&self, py: Python<'_>, data: Source<'_>, mut buf: Target) -> PyResult<usize> {
        alone(py, &self.0).update_into(py, &data, true, &mut buf)
    }

    /// Ends the message. Returns its tag, 16 bytes.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut message = alone(py, &self.0);
        let (key, pieces) = message.running(py)?;
        let tag = pieces.finish(key).map_err(|e| errors::of(py, e))?;
        message.pieces = None;
        bytes_of(py, &tag.0)
    }
}

/// Decrypts one message in pieces, and hands out **text that nobody has verified**. The text must have no effect before `verify` has
/// returned.
#[pyclass(frozen, module = "fastgcm.hazmat")]
pub(crate) struct UnverifiedOpener(Mutex<Message>);

#[pymethods]
impl UnverifiedOpener {
    #[new]
    fn new(aesgcm: Py<AesGcm>, nonce: Source<'_>) -> PyResult<Self> {
        Message::begin(aesgcm, &nonce).map(|message| Self(message.into()))
    }

    /// Takes the next piece of associated data.
    fn update_aad(&self, py: Python<'_>, data: Source<'_>) -> PyResult<()> {
        alone(py, &self.0).aad(py, &data)
    }

    /// Decrypts the next piece of text, which is not verified. Returns a text of that length.
    fn update<'py>(&self, py: Python<'py>, data: Source<'_>) -> PyResult<Bound<'py, PyBytes>> {
        alone(py, &self.0).update(py, &data, false)
    }

    /// Decrypts the next piece of text, which is not verified, to the first bytes of `buf`. Returns how many bytes were written.
    fn update_into(&self, py: Python<'_>, data: Source<'_>, mut buf: Target) -> PyResult<usize> {
        alone(py, &self.0).update_into(py, &data, false, &mut buf)
    }

    /// Ends the message. Raises `InvalidTag` if `tag`, 16 bytes, is not its tag; the caller must then destroy all text.
    fn verify(&self, py: Python<'_>, tag: Source<'_>) -> PyResult<()> {
        if tag.len() != TAG_LEN {
            return Err(PyValueError::new_err("tag must be 16 bytes"));
        }
        let mut message = alone(py, &self.0);
        let (key, pieces) = message.running(py)?;
        let verdict = pieces.verify(key, tag.bytes());
        message.pieces = None;
        verdict.map_err(|e| errors::of(py, e))
    }
}
