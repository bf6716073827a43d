//! AES-GCM-SIV, XAES-256-GCM and KC-XAES-256-GCM, with the interface of `AESGCM`.

use crate::{
    batch,
    buffers::{Source, Target, aside, detached, new_bytes, of_length, or_empty, random_bytes, text_len, whole_or_apart, within_limits},
    errors, memory,
    threads::Threads,
};
use fastgcm::{AesGcmSiv, Error, KcXaes256Gcm, RootKey, Xaes256Gcm};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

/// The four methods of a class whose field `0` has `seal` and `open` in place, with nonces and tags of this many bytes.
macro_rules! whole_messages {
    ($class:ident, $nonce:literal, $tag:literal, $wrong:literal, { $($more:item)* }) => {
        #[pymethods]
        impl $class {
            $($more)*

            #[doc = concat!("Encrypts `data`. Returns the ciphertext and, behind it, the tag of ", $tag, " bytes.")]
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
                new_bytes(py, data.len() + $tag, |sealed| self.seal(py, nonce, aad, &data, sealed))
            }

            #[doc = concat!("Encrypts `data` to `buf`, which has ", $tag, " bytes more. Returns the length of `buf`.")]
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
                let len = of_length(&buf, data.len() + $tag)?;
                let aad = &*aside(&buf, aad)?;
                whole_or_apart(&buf, &data)?;
                // SAFETY: the data are apart from it, or are read before the same bytes are written; the nonce has been read.
                self.seal(py, nonce, aad, &data, unsafe { buf.bytes() })?;
                Ok(len)
            }

            /// Decrypts `data`, which holds ciphertext and tag. Raises `InvalidTag` if anything differs from what was sealed.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Source<'_>,
                data: Source<'_>,
                associated_data: Option<Source<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let (nonce, aad) = (Self::nonce(&nonce)?, or_empty(associated_data.as_ref()));
                new_bytes(py, text_len(py, &data, $tag)?, |text| self.open(py, nonce, aad, &data, 0, text))
            }

            #[doc = concat!("Decrypts `data`, ciphertext and tag, to `buf`, which has ", $tag, " bytes less. Returns the length of `buf`.")]
            /// If it raises `InvalidTag`, `buf` is all zero.
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
                let len = of_length(&buf, text_len(py, &data, $tag)?)?;
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
                // A text that is too long must not stay there in plain form.
                let found = detached(py, data.len() + aad.len(), work).inspect_err(|_| text.fill(0)).map_err(|e| errors::of(py, e))?;
                tag.copy_from_slice(found.as_ref());
                Ok(())
            }

            /// Opens the message in `data` from byte `at` on.
            fn open(
                &self,
                py: Python<'_>,
                nonce: [u8; $nonce],
                aad: &[u8],
                data: &Source<'_>,
                at: usize,
                text: &mut [u8],
            ) -> PyResult<()> {
                let mut tag = [0; $tag];
                data.read(at + text.len(), &mut tag);
                let tag = tag.into();
                // The data are read once, to where they are opened: exactly these bytes are verified, whatever another thread changes
                // meanwhile.
                let work = || {
                    data.read(at, text);
                    self.0.open(&nonce, aad, text, &tag)
                };
                detached(py, data.len() + aad.len(), work).map_err(|e| errors::of(py, e))
            }
        }
    };
}

/// AES-GCM-SIV (RFC 8452) with a key of 128 or 256 bits: a repeated nonce tells only whether two of its messages are equal.
///
/// >>> from fastgcm import AESGCMSIV
/// >>> siv = AESGCMSIV(AESGCMSIV.generate_key(bit_length=256))
/// >>> siv.decrypt(bytes(12), siv.encrypt(bytes(12), b"a secret", None), None)
/// b'a secret'
#[pyclass(frozen, module = "fastgcm", name = "AESGCMSIV")]
pub(crate) struct AesGcmSivClass(Box<AesGcmSiv>);

whole_messages!(AesGcmSivClass, 12, 16, "Nonce must be 12 bytes long", {
    #[new]
    fn new(key: Source<'_>) -> PyResult<Self> {
        let wrong = if key.len() == 24 {
            "AES-GCM-SIV key must be 128 or 256 bits (RFC 8452)."
        } else {
            "AES-GCM-SIV key must be 128, 192 or 256 bits."
        };
        memory::boxed(|place| AesGcmSiv::init_in_place(place, key.bytes(), crate::backend()), || PyValueError::new_err(wrong)).map(Self)
    }

    /// Returns a random key of 128 or 256 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        match bit_length {
            128 | 256 => random_bytes(py, bit_length / 8),
            _ => Err(PyValueError::new_err("bit_length must be 128 or 256")),
        }
    }
});

/// The length in bytes of a nonce of the two classes below.
const NONCE: usize = 24;

/// The methods of a class whose field `0` is a `RootKey` with nonces of 24 bytes, and tags of this many bytes.
macro_rules! root_keys {
    ($class:ident, $tag:literal, $wrong:literal) => {
        whole_messages!($class, 24, $tag, "Nonce must be 24 bytes long", {
            #[new]
            fn new(key: Source<'_>) -> PyResult<Self> {
                let wrong = || PyValueError::new_err($wrong);
                let key = key.bytes().try_into().map_err(|_| wrong())?;
                memory::boxed(|place| RootKey::init_in_place(place, key, crate::backend()), wrong).map(Self)
            }

            /// Returns a random key of 256 bits.
            #[staticmethod]
            fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
                random_bytes(py, 32)
            }

            /// Encrypts `data` under a nonce from the operating system. Returns the nonce (24 bytes), the ciphertext and the tag, one behind the other.
            #[pyo3(signature = (data, associated_data=None))]
            fn seal_random<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
                within_limits(py, data.len())?;
                new_bytes(py, NONCE + data.len() + $tag, |all| {
                    let (nonce, sealed) = all.split_first_chunk_mut().ok_or_else(|| errors::of(py, Error::InvalidLength))?;
                    getrandom::fill(nonce).map_err(std::io::Error::from)?;
                    self.seal(py, *nonce, or_empty(associated_data.as_ref()), &data, sealed)
                })
            }

            /// Decrypts a message that `seal_random` has returned. Raises `InvalidTag` if anything differs from what was sealed.
            #[pyo3(signature = (data, associated_data=None))]
            fn open_random<'py>(&self, py: Python<'py>, data: Source<'_>, associated_data: Option<Source<'_>>) -> PyResult<Bound<'py, PyBytes>> {
                let len = text_len(py, &data, NONCE + $tag)?;
                let mut nonce = [0; NONCE];
                data.read(0, &mut nonce);
                new_bytes(py, len, |text| self.open(py, nonce, or_empty(associated_data.as_ref()), &data, NONCE, text))
            }

            /// Encrypts many messages in one call, as `AESGCM.seal_batch` does, with nonces of 24 bytes.
            #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
            fn seal_batch<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                datas: &Bound<'py, PyAny>,
                aads: Option<&Bound<'py, PyAny>>,
                threads: Threads,
            ) -> PyResult<Bound<'py, PyAny>> {
                batch::run::<true, NONCE, $tag, _>(&*self.0, nonces, datas, aads, threads)
            }

            /// Decrypts messages that `seal_batch` has returned, as `AESGCM.open_batch` does.
            #[pyo3(signature = (nonces, datas, aads=None, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads=None, *, threads=1)")]
            fn open_batch<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                datas: &Bound<'py, PyAny>,
                aads: Option<&Bound<'py, PyAny>>,
                threads: Threads,
            ) -> PyResult<Bound<'py, PyAny>> {
                batch::run::<false, NONCE, $tag, _>(&*self.0, nonces, datas, aads, threads)
            }

            /// Does what `AESGCM.seal_batch_into` does, with nonces of 24 bytes: seals one buffer of records of equal length to `buf`.
            #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
            fn seal_batch_into<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                datas: Source<'_>,
                aads: Option<&Bound<'py, PyAny>>,
                buf: Target,
                threads: Threads,
            ) -> PyResult<usize> {
                batch::run_into::<true, NONCE, $tag, _>(&*self.0, nonces, &datas, aads, buf, threads)
            }

            /// Does what `AESGCM.open_batch_into` does, with nonces of 24 bytes: opens one buffer of records of equal length to `buf`.
            #[pyo3(signature = (nonces, datas, aads, buf, *, threads=Threads::ONE), text_signature = "($self, nonces, datas, aads, buf, *, threads=1)")]
            fn open_batch_into<'py>(
                &self,
                nonces: &Bound<'py, PyAny>,
                datas: Source<'_>,
                aads: Option<&Bound<'py, PyAny>>,
                buf: Target,
                threads: Threads,
            ) -> PyResult<usize> {
                batch::run_into::<false, NONCE, $tag, _>(&*self.0, nonces, &datas, aads, buf, threads)
            }
        });
    };
}

/// XAES-256-GCM (C2SP): AES-256-GCM with nonces of 24 bytes, which may be drawn at random for as many messages as anybody needs.
/// `seal_random` draws them.
///
/// >>> import os
/// >>> from fastgcm import XAES256GCM
/// >>> xaes = XAES256GCM(XAES256GCM.generate_key())
/// >>> xaes.open_random(xaes.seal_random(b"a secret"))
/// b'a secret'
/// >>> nonces = os.urandom(2 * 24)
/// >>> xaes.open_batch(nonces, xaes.seal_batch(nonces, [b"one", b"two"], b"for all"), b"for all")
/// [b'one', b'two']
#[pyclass(frozen, module = "fastgcm", name = "XAES256GCM")]
pub(crate) struct Xaes(Box<Xaes256Gcm>);

root_keys!(Xaes, 16, "XAES-256-GCM key must be 256 bits.");

/// KC-XAES-256-GCM (IACR ePrint 2025/758): `XAES256GCM` with a commitment of 32 bytes to the key. Nobody can make a message that opens
/// under two keys, even with both keys at hand. The tag has 48 bytes: the tag of XAES-256-GCM, then the commitment. A key is for one
/// scheme: do not use its bytes with another class.
///
/// >>> from fastgcm import KCXAES256GCM
/// >>> committing = KCXAES256GCM(KCXAES256GCM.generate_key())
/// >>> committing.open_random(committing.seal_random(b"a secret"))
/// b'a secret'
/// >>> len(committing.encrypt(bytes(24), b"a secret", None)) - len(b"a secret")
/// 48
#[pyclass(frozen, module = "fastgcm", name = "KCXAES256GCM")]
pub(crate) struct KcXaes(Box<KcXaes256Gcm>);

root_keys!(KcXaes, 48, "KC-XAES-256-GCM key must be 256 bits.");
