//! Chunks of one Cobblestone file, by number: for work on many machines.

use crate::{
    buffers::{Source, bytes_of, detached, new_bytes, random_bytes},
    errors, memory,
};
use fastgcm_file::{CHUNK_LEN, Cipher, Error, Format, Header, Key, MAX_CHUNKS, SALT_LEN, SEALED_CHUNK_LEN, TAG_LEN};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::io;

/// Seals and opens ranges of chunks of one Cobblestone file (Cobblestone-256 with a key of 32 bytes, Cobblestone-128 with 16). The file is
/// `header` with all chunks behind it, in their order.
///
/// The caller must ensure two things. A salt, with one key and context, belongs to one file: a chunk that is sealed twice under it must
/// have the same text. And only the last range ends the file.
///
/// >>> import os
/// >>> from fastgcm.hazmat import CobblestoneChunks
/// >>> key, salt = os.urandom(32), CobblestoneChunks.generate_salt()
/// >>> chunks = CobblestoneChunks(key, b"context", salt)         # on each machine
/// >>> second = chunks.seal(2, b"the end", last=True)
/// >>> first = chunks.seal(0, bytes(2 * 16384), last=False)
/// >>> file = chunks.header + first + second
/// >>> chunks.open(2, second, last=True)
/// b'the end'
#[pyclass(frozen, module = "fastgcm.hazmat")]
#[derive(Debug)]
pub(crate) struct CobblestoneChunks {
    header: Header,
    cipher: Cipher,
}

#[pymethods]
impl CobblestoneChunks {
    #[new]
    fn new(py: Python<'_>, key: Source<'_>, context: Source<'_>, salt: Source<'_>) -> PyResult<Self> {
        let format = Format::of_key_len(key.len()).ok_or_else(|| PyValueError::new_err("key must be 16 or 32 bytes."))?;
        let salt: &[u8; SALT_LEN] = salt.bytes().try_into().map_err(|_| PyValueError::new_err("salt must be 24 bytes."))?;
        let make = || key_of(format, key.bytes()).and_then(|key| Cipher::with_salt(&key, context.bytes(), salt));
        let made = memory::kept(1 << 14, make)?;
        let (header, cipher) = made.map_err(|e| of_file(py, e))?;
        Ok(Self { header, cipher })
    }

    /// Returns 24 random bytes.
    #[staticmethod]
    fn generate_salt(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        random_bytes(py, SALT_LEN)
    }

    /// The 56 bytes with which the file begins: salt and commitment.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.header)
    }

    /// Seals `data` as the chunks from number `first` on, 16,384 bytes in each. Only the last range of a file (`last=True`) may have any
    /// length; the other ranges have full chunks. The result begins at byte 56 + 16,400 * `first` of the file.
    #[pyo3(signature = (first, data, *, last))]
    fn seal<'py>(&self, py: Python<'py>, first: u64, data: Source<'_>, last: bool) -> PyResult<Bound<'py, PyBytes>> {
        let tags = numbered(first, data.len(), CHUNK_LEN, last)?;
        new_bytes(py, data.len() + tags * TAG_LEN, |sealed| {
            let work = || {
                let texts = data.bytes().chunks(CHUNK_LEN).chain((data.len().is_multiple_of(CHUNK_LEN) && last).then_some(&[][..]));
                let mut places = texts.zip(sealed.chunks_mut(SEALED_CHUNK_LEN)).zip(first..);
                places.try_for_each(|((text, sealed), number)| self.cipher.seal_chunk(number, text, sealed))
            };
            detached(py, data.len(), work).map_err(|e| of_file(py, e))
        })
    }

    /// Opens the chunks from number `first` on. Raises `InvalidTag` unless each chunk is what was sealed there.
    #[pyo3(signature = (first, data, *, last))]
    fn open<'py>(&self, py: Python<'py>, first: u64, data: Source<'_>, last: bool) -> PyResult<Bound<'py, PyBytes>> {
        let rest = data.len() % SEALED_CHUNK_LEN;
        if if last { rest < TAG_LEN } else { rest != 0 } {
            return Err(errors::invalid_tag(py, ()));
        }
        let tags = numbered(first, data.len(), SEALED_CHUNK_LEN, last)?;
        new_bytes(py, data.len() - tags * TAG_LEN, |text| {
            let mut copy = memory::with_room(SEALED_CHUNK_LEN)?;
            copy.resize(SEALED_CHUNK_LEN, 0);
            let work = || {
                // An empty last chunk has no text, but a tag.
                let mut texts = text.chunks_mut(CHUNK_LEN).chain([&mut [][..]]);
                (0..tags).try_for_each(|i| {
                    let at = i * SEALED_CHUNK_LEN;
                    let sealed = &mut copy[..SEALED_CHUNK_LEN.min(data.len() - at)];
                    data.read(at, sealed);
                    self.cipher.open_chunk(first + i as u64, sealed, texts.next().unwrap_or_default())
                })
            };
            let opened = detached(py, data.len(), work);
            opened.inspect_err(|_| text.fill(0)).map_err(|e| of_file(py, e))
        })
    }
}

/// Makes a key for the back end of this process.
pub(crate) fn key_of(format: Format, key: &[u8]) -> Result<Key, Error> {
    Key::new(format, key)?.with_backend(crate::backend())
}

/// Returns how many chunks of `chunk` bytes `len` bytes are.
fn numbered(first: u64, len: usize, chunk: usize, last: bool) -> PyResult<usize> {
    if !last && !len.is_multiple_of(chunk) {
        return Err(PyValueError::new_err(format!("only the last range of a file may have a length that is no multiple of {chunk} bytes")));
    }
    let chunks = len / chunk + usize::from(last);
    match first.checked_add(chunks as u64) {
        Some(behind) if behind <= MAX_CHUNKS => Ok(chunks),
        _ => Err(PyValueError::new_err("Message exceeds the maximum chunked encryption length (2**38 chunks).")),
    }
}

/// Returns an error of a file as an exception of Python.
pub(crate) fn of_file(py: Python<'_>, error: Error) -> PyErr {
    match error {
        error if error.is_unauthentic() => errors::invalid_tag(py, ()),
        Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => memory::short(),
        Error::Io(error) => error.into(),
        error => PyValueError::new_err(error.to_string()),
    }
}
