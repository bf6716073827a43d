//! Parts of one GCM message that threads, processes or machines seal separately.

use crate::{
    aead::AesGcm,
    buffers::{Source, Target, bytes_of, detached, new_bytes, of_length, or_empty, whole_or_apart},
    errors, memory,
    threads::held,
};
use fastgcm::{
    Error,
    hazmat::{self, PartHash as Hash},
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::sync::Mutex;

/// What one part adds to the tag of its message: where the part lies, and the hash of its ciphertext. **It is as secret as the key**: it
/// must travel between machines encrypted, and must never get into a log.
#[pyclass(frozen, from_py_object, module = "fastgcm.hazmat")]
#[derive(Clone)]
pub(crate) struct PartHash(Hash);

#[pymethods]
impl PartHash {
    /// Returns 32 bytes for another machine: offset, length, hash. They are secret.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &self.0.to_bytes())
    }

    /// Restores a hash from these 32 bytes.
    #[staticmethod]
    fn from_bytes(data: Source<'_>) -> PyResult<Self> {
        let bytes = data.bytes().try_into().map_err(|_| PyValueError::new_err("a PartHash has 32 bytes"))?;
        Hash::from_bytes(bytes).map(Self).map_err(|_| PyValueError::new_err("no part of a message lies there"))
    }

    /// Where the part begins in the text, in bytes.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset()
    }

    /// The length of the part in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.0.length()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn of(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::InvalidLength => PyValueError::new_err("a part begins at a multiple of 16 bytes"),
        error => errors::of(py, error),
    }
}

fn nonce96(nonce: &Source<'_>) -> PyResult<[u8; 12]> {
    nonce.bytes().try_into().map_err(|_| PyValueError::new_err("Nonce must be 12 bytes long"))
}

/// Reads the part to `text`, once, and seals or opens it there.
fn crypt(
    py: Python<'_>,
    aesgcm: &AesGcm,
    nonce: [u8; 12],
    offset: u64,
    data: &Source<'_>,
    seal: bool,
    text: &mut [u8],
) -> PyResult<PartHash> {
    if !offset.is_multiple_of(16) {
        return Err(of(py, Error::InvalidLength));
    }
    if offset.checked_add(data.len() as u64).is_none_or(|end| end > fastgcm::limits::TEXT) {
        return Err(of(py, Error::TooLong));
    }
    let work = || {
        data.read(0, text);
        let part = if seal { hazmat::seal_part } else { hazmat::open_part };
        part(&aesgcm.key, nonce, offset, text)
    };
    detached(py, data.len(), work).map(PartHash).map_err(|e| of(py, e))
}

type Part<'py> = (Bound<'py, PyBytes>, PartHash);

fn part<'py>(py: Python<'py>, aesgcm: &AesGcm, nonce: &Source<'_>, offset: u64, data: &Source<'_>, seal: bool) -> PyResult<Part<'py>> {
    let (nonce, mut hash) = (nonce96(nonce)?, None);
    let bytes = new_bytes(py, data.len(), |text| {
        hash = Some(crypt(py, aesgcm, nonce, offset, data, seal, text)?);
        Ok(())
    })?;
    hash.map(|hash| (bytes, hash)).ok_or_else(|| of(py, Error::Incomplete))
}

fn part_into(
    py: Python<'_>,
    aesgcm: &AesGcm,
    nonce: &Source<'_>,
    offset: u64,
    data: &Source<'_>,
    seal: bool,
    mut buf: Target,
) -> PyResult<PartHash> {
    let nonce = nonce96(nonce)?;
    of_length(&buf, data.len())?;
    whole_or_apart(&buf, data)?;
    // SAFETY: the data are apart from it, or are read before the same bytes are written; the nonce has been read.
    crypt(py, aesgcm, nonce, offset, data, seal, unsafe { buf.bytes() })
}

/// Encrypts one part of a message, the part that begins at byte `offset` of the text. Every part except the last has a multiple of 16
/// bytes. Returns the ciphertext and its `PartHash`. **A part that is sealed twice must have the same text each time**: a `Plan` enforces
/// this.
#[pyfunction]
pub(crate) fn seal_part<'py>(py: Python<'py>, aesgcm: &AesGcm, nonce: Source<'_>, offset: u64, data: Source<'_>) -> PyResult<Part<'py>> {
    part(py, aesgcm, &nonce, offset, &data, true)
}

/// Does what `seal_part` does, and writes to `buf`, which is as long as `data` and may be `data` itself.
#[pyfunction]
pub(crate) fn seal_part_into(
    py: Python<'_>,
    aesgcm: &AesGcm,
    nonce: Source<'_>,
    offset: u64,
    data: Source<'_>,
    buf: Target,
) -> PyResult<PartHash> {
    part_into(py, aesgcm, &nonce, offset, &data, true, buf)
}

/// Decrypts one part of a message. **Nobody has verified the text** before `combine` has returned the message's tag.
#[pyfunction]
pub(crate) fn open_part<'py>(py: Python<'py>, aesgcm: &AesGcm, nonce: Source<'_>, offset: u64, data: Source<'_>) -> PyResult<Part<'py>> {
    part(py, aesgcm, &nonce, offset, &data, false)
}

/// Does what `open_part` does, and writes to `buf`, which is as long as `data` and may be `data` itself.
#[pyfunction]
pub(crate) fn open_part_into(
    py: Python<'_>,
    aesgcm: &AesGcm,
    nonce: Source<'_>,
    offset: u64,
    data: Source<'_>,
    buf: Target,
) -> PyResult<PartHash> {
    part_into(py, aesgcm, &nonce, offset, &data, false, buf)
}

/// Hashes one part of a ciphertext without decrypting it, so that a message can be verified first.
#[pyfunction]
pub(crate) fn hash_part(py: Python<'_>, aesgcm: &AesGcm, offset: u64, data: Source<'_>) -> PyResult<PartHash> {
    let hash = detached(py, data.len(), || hazmat::hash_part(&aesgcm.key, offset, data.bytes()));
    hash.map(PartHash).map_err(|e| of(py, e))
}

/// Returns the tag, 16 bytes, of a message that was sealed or opened in parts. `parts` must come in the order of the text. Compare tags
/// with `hmac.compare_digest`.
#[pyfunction]
pub(crate) fn combine<'py>(
    py: Python<'py>,
    aesgcm: &AesGcm,
    nonce: Source<'_>,
    associated_data: Option<Source<'_>>,
    parts: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parts: Vec<PartHash> = memory::collected(parts.try_iter()?.map(|part| Ok(part?.extract()?)))?;
    let tag = hazmat::combine(&aesgcm.key, nonce96(&nonce)?, or_empty(associated_data.as_ref()), parts.iter().map(|part| &part.0));
    tag.map_err(|e| of(py, e)).and_then(|tag| bytes_of(py, &tag.0))
}

/// The plan of one message that several workers seal: its parts, and the hash of each sealed part.
///
/// A worker seals its part, sends the `PartHash`, and releases the ciphertext only when the plan has accepted the hash. If a part comes
/// again with a different text, `accept` raises `OtherText`, and that ciphertext must be destroyed.
///
/// >>> from fastgcm import AESGCM
/// >>> from fastgcm.hazmat import Plan, seal_part
/// >>> aesgcm, text = AESGCM(bytes(16)), bytes(100_000)
/// >>> plan = Plan(b"nonce, once!", len(text), 65_536)
/// >>> sealed = []
/// >>> for begin, end in plan.missing():
/// ...     part, part_hash = seal_part(aesgcm, plan.nonce, begin, text[begin:end])    # on another machine
/// ...     plan.accept(part_hash)
/// ...     sealed.append(part)
/// >>> message = b"".join(sealed) + plan.tag(aesgcm, b"aad")
/// >>> aesgcm.decrypt(plan.nonce, message, b"aad") == text
/// True
#[pyclass(frozen, module = "fastgcm.hazmat")]
pub(crate) struct Plan(Mutex<hazmat::Plan>);

#[pymethods]
impl Plan {
    #[new]
    fn new(py: Python<'_>, nonce: Source<'_>, text_length: u64, part_length: u64) -> PyResult<Self> {
        hazmat::Plan::new(nonce96(&nonce)?, text_length, part_length).map(|plan| Self(plan.into())).map_err(|error| match error {
            Error::InvalidLength => PyValueError::new_err("part_length must be a multiple of 16 bytes, and not 0"),
            error => errors::of(py, error),
        })
    }

    #[getter]
    fn nonce<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes_of(py, &held(&self.0, |plan| plan.nonce()))
    }

    /// Returns all parts in order: where each part begins and ends, in bytes.
    fn parts(&self) -> PyResult<Vec<(u64, u64)>> {
        held(&self.0, |plan| memory::collected(plan.parts().map(|range| Ok((range.start, range.end)))))
    }

    /// Returns the parts that have not been accepted yet.
    fn missing(&self) -> PyResult<Vec<(u64, u64)>> {
        held(&self.0, |plan| memory::collected(plan.missing().map(|range| Ok((range.start, range.end)))))
    }

    /// Returns the accepted hashes, in order.
    fn accepted(&self) -> PyResult<Vec<PartHash>> {
        held(&self.0, |plan| memory::collected(plan.accepted().map(|hash| Ok(PartHash(hash.clone())))))
    }

    /// Takes the hash of a part; a hash that was accepted before changes nothing. Raises `OtherText` if the part was accepted before with a
    /// different text, or `ValueError` if the hash is not of a part of this plan.
    fn accept(&self, py: Python<'_>, part: &PartHash) -> PyResult<()> {
        memory::probe(1 << 12)?; // a hash that is kept may take a node of a tree
        held(&self.0, |plan| plan.accept(part.0.clone())).map_err(|error| match error {
            Error::InvalidLength => PyValueError::new_err("it is no part of this plan"),
            error => errors::of(py, error),
        })
    }

    /// Returns the tag of the whole message, 16 bytes. Raises `ValueError` if a part is missing.
    fn tag<'py>(&self, py: Python<'py>, aesgcm: &AesGcm, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        let tag = held(&self.0, |plan| plan.tag(&aesgcm.key, or_empty(associated_data.as_ref())));
        tag.map_err(|e| of(py, e)).and_then(|tag| bytes_of(py, &tag.0))
    }
}
