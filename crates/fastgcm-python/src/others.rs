//! AES-GCM-SIV and XAES-256-GCM, with the interface of `AESGCM`.

use crate::{
    batch,
    buffers::{Source, Target, aside, detached, new_bytes, of_length, or_empty, random_bytes, text_len, whole_or_apart, within_limits},
    errors, memory,
    threads::Threads,
};
use fastgcm::{AesGcmSiv, Error, TAG_LEN, Tag, Xaes256Gcm};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

/// The four calls of a class whose `0` has `seal` and `open` in place, with nonces of that many bytes.
macro_rules! whole_messages {
    ($class:ident, $nonce:literal, $wrong:literal, { $($more:item)* }) => {
        #[pymethods]
        impl $class {
            $($more)*

            /// Encrypts `data`. Returns the ciphertext and, behind it, the tag of 16 bytes.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Source<'_>,
                data: Source<'_>,
                associated_data: Option<Source<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let (nonce, aad) = (Self::nonce(&nonce)?, or_empty(associated_data.as_ref()));
                within_limits(py, data.len())?;
                new_bytes(py, data.len() + TAG_LEN, |sealed| self.seal(py, nonce, aad, &data, sealed))
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
                let (nonce, aad) = (Self::nonce(&nonce)?, or_empty(associated_data.as_ref()));
                within_limits(py, data.len())?;
                let len = of_length(&buf, data.len() + TAG_LEN)?;
                let aad = &*aside(&buf, aad)?;
                whole_or_apart(&buf, &data)?;
                // SAFETY: the data are apart from it, or are read before the same bytes are written; the nonce has been read.
                self.seal(py, nonce, aad, &data, unsafe { buf.bytes() })?;
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
                let (nonce, aad) = (Self::nonce(&nonce)?, or_empty(associated_data.as_ref()));
                new_bytes(py, text_len(py, &data)?, |text| self.open(py, nonce, aad, &data, 0, text))
            }

            /// Decrypts `data`, ciphertext and tag, to `buf`, which has 16 bytes less. Returns the length of `buf`. If it raises `InvalidTag`, `buf`
            /// is all zero.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn decrypt_into(
                &self,
                py: Python<'_>,
                nonce: Source<'_>,
                data: Source<'_>,
                associated_data: Option<Source<'_>>,
                mut buf: Target,
            ) -> PyResult<usize> {
                let (nonce, aad) = (Self::nonce(&nonce)?, or_empty(associated_data.as_ref()));
                let len = of_length(&buf, text_len(py, &data)?)?;
                let aad = &*aside(&buf, aad)?;
                whole_or_apart(&buf, &data)?;
                // SAFETY: as in `encrypt_into`.
                self.open(py, nonce, aad, &data, 0, unsafe { buf.bytes() })?;
                Ok(len)
            }
        }

        impl $class {
            fn nonce(nonce: &Source<'_>) -> PyResult<[u8; $nonce]> {
                nonce.bytes().try_into().map_err(|_| PyValueError::new_err($wrong))
            }

            fn seal(&self, py: Python<'_>, nonce: [u8; $nonce], aad: &[u8], data: &Source<'_>, sealed: &mut [u8]) -> PyResult<()> {
                let (text, tag) = sealed.split_at_mut(data.len());
                let work = || {
                    data.read(0, text);
                    self.0.seal(&nonce, aad, text)
                };
                // What is too long must not lie there as text.
                let found = detached(py, data.len() + aad.len(), work).inspect_err(|_| text.fill(0)).map_err(|e| errors::of(py, e))?;
                tag.copy_from_slice(&found.0);
                Ok(())
            }

            /// Opens what lies in `data` from byte `at` on.
            fn open(
                &self,
                py: Python<'_>,
                nonce: [u8; $nonce],
                aad: &[u8],
                data: &Source<'_>,
                at: usize,
                text: &mut [u8],
            ) -> PyResult<()> {
                let mut tag = Tag([0; TAG_LEN]);
                data.read(at + text.len(), &mut tag.0);
                // Read once, to where it is opened: what another thread may change meanwhile is not what is verified.
                let work = || {
                    data.read(at, text);
                    self.0.open(&nonce, aad, text, &tag)
                };
                detached(py, data.len() + aad.len(), work).map_err(|e| errors::of(py, e))
            }
        }
    };
}

/// AES-GCM-SIV (RFC 8452) with a key of 128 or 256 bits: a nonce that comes twice tells only whether two messages are equal.
///
/// >>> from fastgcm import AESGCMSIV
/// >>> siv = AESGCMSIV(AESGCMSIV.generate_key(bit_length=256))
/// >>> siv.decrypt(bytes(12), siv.encrypt(bytes(12), b"a secret", None), None)
/// b'a secret'
#[pyclass(frozen, module = "fastgcm", name = "AESGCMSIV")]
pub(crate) struct AesGcmSivClass(Box<AesGcmSiv>);

whole_messages!(AesGcmSivClass, 12, "Nonce must be 12 bytes long", {
    #[new]
    fn new(key: Source<'_>) -> PyResult<Self> {
        let wrong = if key.len() == 24 {
            "AES-GCM-SIV key must be 128 or 256 bits (RFC 8452)."
        } else {
            "AES-GCM-SIV key must be 128, 192 or 256 bits."
        };
        let key = AesGcmSiv::with_backend(key.bytes(), crate::backend());
        let place = memory::room()?;
        key.map(|key| Self(Box::write(place, key))).map_err(|_| PyValueError::new_err(wrong))
    }

    /// A random key of 128 or 256 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        match bit_length {
            128 | 256 => random_bytes(py, bit_length / 8),
            _ => Err(PyValueError::new_err("bit_length must be 128 or 256")),
        }
    }
});

/// XAES-256-GCM (C2SP): AES-256-GCM with nonces of 24 bytes, which may be drawn at random for as many messages as anybody has. `seal_random` does so.
///
/// >>> from fastgcm import XAES256GCM
/// >>> xaes = XAES256GCM(XAES256GCM.generate_key())
/// >>> xaes.open_random(xaes.seal_random(b"a secret"))
/// b'a secret'
#[pyclass(frozen, module = "fastgcm", name = "XAES256GCM")]
pub(crate) struct Xaes(Box<Xaes256Gcm>);

whole_messages!(Xaes, 24, "Nonce must be 24 bytes long", {
    #[new]
    fn new(key: Source<'_>) -> PyResult<Self> {
        let wrong = || PyValueError::new_err("XAES-256-GCM key must be 256 bits.");
        let key = Xaes256Gcm::with_backend(key.bytes().try_into().map_err(|_| wrong())?, crate::backend());
        let place = memory::room()?;
        key.map(|key| Self(Box::write(place, key))).map_err(|_| wrong())
    }

    /// A random key of 256 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        random_bytes(py, 32)
    }

    /// Encrypts `data` under a nonce from the operating system. Returns the nonce (24 bytes), the ciphertext and the tag, one behind the other.
    #[pyo3(signature = (data, associated_data=None))]
    fn seal_random<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        within_limits(py, data.len())?;
        new_bytes(py, NONCE + data.len() + TAG_LEN, |all| {
            let (nonce, sealed) = all.split_first_chunk_mut().ok_or_else(|| errors::of(py, Error::InvalidLength))?;
            getrandom::fill(nonce).map_err(std::io::Error::from)?;
            self.seal(py, *nonce, or_empty(associated_data.as_ref()), &data, sealed)
        })
    }

    /// Decrypts what `seal_random` has returned. Raises `InvalidTag` if anything is not as it was sealed.
    #[pyo3(signature = (data, associated_data=None))]
    fn open_random<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        let len = data.len().checked_sub(NONCE + TAG_LEN).ok_or_else(|| errors::of(py, Error::Unauthentic))?;
        within_limits(py, len)?;
        let mut nonce = [0; NONCE];
        data.read(0, &mut nonce);
        new_bytes(py, len, |text| self.open(py, nonce, or_empty(associated_data.as_ref()), &data, NONCE, text))
    }

    /// Encrypts many messages in one call: as `AESGCM.seal_batch`, with nonces of 24 bytes.
    ///
    /// >>> import os
    /// >>> from fastgcm import XAES256GCM
    /// >>> xaes, nonces = XAES256GCM(bytes(32)), os.urandom(2 * 24)
    /// >>> xaes.open_batch(nonces, xaes.seal_batch(nonces, [b"one", b"two"], b"for all"), b"for all")
    /// [b'one', b'two']
    #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
    fn seal_batch<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: &Bound<'py, PyAny>,
        aads: Option<&Bound<'py, PyAny>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        batch::run::<true, NONCE, Xaes256Gcm>(&self.0, nonces, datas, aads, threads)
    }

    /// Decrypts what `seal_batch` returns, as `AESGCM.open_batch` does.
    #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
    fn open_batch<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: &Bound<'py, PyAny>,
        aads: Option<&Bound<'py, PyAny>>,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        batch::run::<false, NONCE, Xaes256Gcm>(&self.0, nonces, datas, aads, threads)
    }

    /// `seal_batch` of one buffer of records of equal length to `buf`, as `AESGCM.seal_batch_into` does.
    #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
    fn seal_batch_into<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: Source<'_>,
        aads: Option<&Bound<'py, PyAny>>,
        buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        batch::run_into::<true, NONCE, Xaes256Gcm>(&self.0, nonces, &datas, aads, buf, threads)
    }

    /// `open_batch` of one buffer of records of equal length to `buf`, as `AESGCM.open_batch_into` does.
    #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
    fn open_batch_into<'py>(
        &self,
        nonces: &Bound<'py, PyAny>,
        datas: Source<'_>,
        aads: Option<&Bound<'py, PyAny>>,
        buf: Target,
        threads: Threads,
    ) -> PyResult<usize> {
        batch::run_into::<false, NONCE, Xaes256Gcm>(&self.0, nonces, &datas, aads, buf, threads)
    }
});

/// Bytes of a nonce of XAES-256-GCM.
const NONCE: usize = 24;
