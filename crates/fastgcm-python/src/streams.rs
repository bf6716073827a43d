//! Cobblestone as streams, with the interface of pyca/cryptography's `cryptography.cobblestone`, and ranges.

use crate::{
    buffers::{Place, Source, Target, detached, new_bytes, random_bytes},
    chunks::{self, of_file},
    errors, memory,
    threads::alone,
};
use fastgcm_file::{CHUNK_LEN, Cipher, Error, Format, HEADER_LEN, Header, Key, MAX_CHUNKS, RangeReader, SEALED_CHUNK_LEN, TAG_LEN};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::{
    io::{self, Cursor, Read, Seek, SeekFrom},
    num::NonZero,
    sync::Mutex,
};
use zeroize::{Zeroize, Zeroizing};

fn key_of(py: Python<'_>, format: Format, key: &Source<'_>) -> PyResult<Key> {
    chunks::key_of(format, key.bytes()).map_err(|error| match error {
        Error::KeyLength => PyValueError::new_err(format!("key must be {} bytes.", format.key_len())),
        error => of_file(py, error),
    })
}

/// Cuts pieces of any length into pieces of `chunk` bytes; the rest waits in `rest`.
struct Chunks {
    cipher: Cipher,
    number: u64,
    rest: Zeroizing<Vec<u8>>,
}

impl Chunks {
    fn new(cipher: Cipher) -> Result<Self, Error> {
        let mut rest = Vec::new();
        rest.try_reserve_exact(SEALED_CHUNK_LEN).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self { cipher, number: 0, rest: Zeroizing::new(rest) })
    }

    /// Returns whether as many more chunks are within the format, with one behind them that ends the file.
    fn check(&self, chunks: usize) -> Result<(), Error> {
        match self.number.checked_add(chunks as u64) {
            Some(end) if end < MAX_CHUNKS => Ok(()),
            _ => Err(Error::TooLong),
        }
    }

    /// Takes `data` from byte `at` on, and converts each full chunk of `from` bytes to `to` bytes of `out`.
    fn update<const SEAL: bool>(&mut self, data: &Source<'_>, mut at: usize, out: &mut [u8]) -> Result<(), Error> {
        let (from, to) = if SEAL { (CHUNK_LEN, SEALED_CHUNK_LEN) } else { (SEALED_CHUNK_LEN, CHUNK_LEN) };
        self.check((self.rest.len() + data.len() - at) / from)?;
        let mut places = out.chunks_exact_mut(to);
        while at < data.len() {
            let (before, take) = (self.rest.len(), (from - self.rest.len()).min(data.len() - at));
            let whole = data.fixed().filter(|_| take == from).map(|data| &data[at..at + from]);
            if whole.is_none() {
                // Data that another thread may change are read once.
                self.rest.resize(before + take, 0);
                data.read(at, &mut self.rest[before..]);
            }
            at += take;
            if before + take == from {
                let (chunk, place) = (whole.unwrap_or(&self.rest), places.next().unwrap_or_default());
                if SEAL { self.cipher.seal_chunk(self.number, chunk, place) } else { self.cipher.open_chunk(self.number, chunk, place) }?;
                self.number += 1;
                self.rest.clear();
            }
        }
        Ok(())
    }
}

/// Returns where the result of `update_into` goes: the first `len` bytes of `buf`. Data that also lie there are copied.
fn into_buffer(
    data: &Source<'_>,
    buf: &mut Target,
    len: usize,
    update: impl FnOnce(&Source<'_>, &mut [u8]) -> PyResult<()>,
) -> PyResult<usize> {
    if buf.len() < len {
        return Err(PyValueError::new_err(format!("buffer must be at least {len} bytes")));
    }
    let copy = if buf.place(data.bytes()) == Place::Apart { None } else { Some(Zeroizing::new(memory::copied(data.bytes())?)) };
    let copy = copy.as_ref().map(|copy| Source::Fixed(copy));
    let data = copy.as_ref().unwrap_or(data);
    // SAFETY: what is read lies elsewhere.
    let out = unsafe { buf.bytes() };
    update(data, &mut out[..len])?;
    Ok(len)
}

/// The memory that a cipher and a chunk take.
const ROOM: usize = 1 << 16;

/// Encrypts one message; `None` once it has ended.
struct Encryptor {
    header: Option<Header>,
    chunks: Option<Chunks>,
}

impl Encryptor {
    fn new(py: Python<'_>, format: Format, key: &Source<'_>, context: &Source<'_>) -> PyResult<Self> {
        let key = key_of(py, format, key)?;
        let make = || Cipher::create(&key, context.bytes()).and_then(|(header, cipher)| Ok((header, Chunks::new(cipher)?)));
        let made = memory::kept(ROOM, make)?;
        let (header, chunks) = made.map_err(|e| of_file(py, e))?;
        Ok(Self { header: Some(header), chunks: Some(chunks) })
    }

    fn out_len(&self, py: Python<'_>, data: usize) -> PyResult<usize> {
        let chunks = self.chunks.as_ref().ok_or_else(|| errors::already_finalized(py))?;
        Ok(self.header.map_or(0, |header| header.len()) + (chunks.rest.len() + data) / CHUNK_LEN * SEALED_CHUNK_LEN)
    }

    fn update(&mut self, py: Python<'_>, data: &Source<'_>, out: &mut [u8]) -> PyResult<()> {
        let chunks = self.chunks.as_mut().ok_or_else(|| errors::already_finalized(py))?;
        let out = put_header(&self.header, out);
        detached(py, data.len(), || chunks.update::<true>(data, 0, out)).map_err(|e| of_file(py, e))?;
        self.header = None;
        Ok(())
    }

    fn finalize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let chunks = self.chunks.take().ok_or_else(|| errors::already_finalized(py))?;
        let header = self.header.take();
        new_bytes(py, header.map_or(0, |header| header.len()) + chunks.rest.len() + TAG_LEN, |out| {
            let out = put_header(&header, out);
            chunks.cipher.seal_chunk(chunks.number, &chunks.rest, out).map_err(|e| of_file(py, e))
        })
    }
}

/// Writes the header, unless it was already written. Returns the space behind it.
fn put_header<'o>(header: &Option<Header>, out: &'o mut [u8]) -> &'o mut [u8] {
    match header {
        Some(header) => {
            let (place, behind) = out.split_at_mut(HEADER_LEN);
            place.copy_from_slice(header);
            behind
        }
        None => out,
    }
}

/// Decrypts one message, or ranges of messages.
struct Decryptor {
    key: Key,
    context: Vec<u8>,
    state: Mutex<State>,
}

enum State {
    /// The bytes of the header that have arrived.
    Header(Vec<u8>),
    Body(Chunks),
    /// The message has ended, or was refused.
    Ended,
}

impl Decryptor {
    fn new(py: Python<'_>, format: Format, key: &Source<'_>, context: &Source<'_>) -> PyResult<Self> {
        let key = key_of(py, format, key)?;
        let (context, header) = memory::kept(ROOM, || Ok::<_, PyErr>((memory::copied(context.bytes())?, memory::with_room(HEADER_LEN)?)))??;
        Ok(Self { key, context, state: State::Header(header).into() })
    }

    fn range<'py>(&self, source: &Bound<'py, PyAny>, offset: u64, length: u64) -> PyResult<Bound<'py, PyBytes>> {
        match Source::extract(source.as_borrowed()) {
            // `RangeReader` reads the data once, to memory of its own.
            Ok(bytes) => self.range_of(source.py(), Cursor::new(bytes.bytes()), offset, length),
            Err(_) if source.hasattr("seek")? && source.hasattr("read")? => {
                self.range_of(source.py(), File(source.clone().unbind()), offset, length)
            }
            Err(error) => Err(error),
        }
    }

    fn range_of<'py>(&self, py: Python<'py>, source: impl Read + Seek + Send, offset: u64, length: u64) -> PyResult<Bound<'py, PyBytes>> {
        memory::probe(ROOM)?;
        let end = offset.checked_add(length).ok_or_else(|| of_file(py, Error::OutOfRange))?;
        let mut reader = py.detach(|| RangeReader::new(&self.key, &self.context, source)).map_err(|e| of_file(py, e))?;
        if end > reader.len() {
            return Err(of_file(py, Error::OutOfRange));
        }
        new_bytes(py, length as usize, |text| {
            let opened = py.detach(|| reader.copy(offset..end, &mut *text, NonZero::<usize>::MIN));
            opened.inspect_err(|_| text.zeroize()).map_err(|e| of_file(py, e))
        })
    }
}

impl State {
    fn out_len(&self, py: Python<'_>, data: usize) -> PyResult<usize> {
        let body = match self {
            Self::Header(header) => data.saturating_sub(HEADER_LEN - header.len()),
            Self::Body(chunks) => chunks.rest.len() + data,
            Self::Ended => return Err(errors::already_finalized(py)),
        };
        Ok(body / SEALED_CHUNK_LEN * CHUNK_LEN)
    }

    fn update(&mut self, of: &Decryptor, py: Python<'_>, data: &Source<'_>, out: &mut [u8]) -> PyResult<()> {
        let done = detached(py, data.len(), || self.take(of, data, out));
        done.map_err(|error| {
            out.zeroize();
            *self = Self::Ended;
            of_file(py, error)
        })
    }

    fn take(&mut self, of: &Decryptor, data: &Source<'_>, out: &mut [u8]) -> Result<(), Error> {
        let mut at = 0;
        if let Self::Header(header) = self {
            let before = header.len();
            at = (HEADER_LEN - before).min(data.len());
            header.resize(before + at, 0);
            data.read(0, &mut header[before..]);
            if let Ok(header) = header[..].try_into() {
                let make = || Cipher::of(&of.key, &of.context, header).and_then(Chunks::new);
                let chunks = memory::kept(ROOM, make).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
                *self = Self::Body(chunks?);
            }
        }
        match self {
            Self::Body(chunks) => chunks.update::<false>(data, at, out),
            _ => Ok(()),
        }
    }

    fn finalize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match std::mem::replace(self, Self::Ended) {
            Self::Ended => Err(errors::already_finalized(py)),
            Self::Header(_) => Err(errors::invalid_tag(py, ())),
            Self::Body(chunks) => {
                let len = chunks.rest.len().checked_sub(TAG_LEN).ok_or_else(|| errors::invalid_tag(py, ()))?;
                new_bytes(py, len, |text| chunks.cipher.open_chunk(chunks.number, &chunks.rest, text).map_err(|e| of_file(py, e)))
            }
        }
    }
}

/// A file of Python: an object with `seek` and `read`.
struct File(Py<PyAny>);

impl Read for File {
    fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.call_method1(py, "read", (place.len(),))?;
            let bytes = read.bind(py).extract::<&[u8]>()?;
            let place = place.get_mut(..bytes.len()).ok_or_else(|| PyValueError::new_err("read returned too much"))?;
            place.copy_from_slice(bytes);
            Ok(bytes.len())
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => (i128::from(at), 0),
            SeekFrom::Current(by) => (i128::from(by), 1),
            SeekFrom::End(by) => (i128::from(by), 2),
        };
        Python::attach(|py| self.0.call_method1(py, "seek", to)?.extract(py)).map_err(|error: PyErr| io::Error::other(error))
    }
}

/// The two classes of a format.
macro_rules! format_classes {
    ($format:expr, $encryptor:ident, $decryptor:ident, $encryptor_doc:literal, $decryptor_doc:literal) => {
        #[doc = $encryptor_doc]
        #[pyclass(frozen, module = "fastgcm.cobblestone")]
        pub(crate) struct $encryptor(Mutex<Encryptor>);

        #[pymethods]
        impl $encryptor {
            #[new]
            fn new(py: Python<'_>, key: Source<'_>, context: Source<'_>) -> PyResult<Self> {
                Encryptor::new(py, $format, &key, &context).map(|stream| Self(stream.into()))
            }

            /// Returns a random key.
            #[staticmethod]
            fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
                random_bytes(py, $format.key_len())
            }

            /// Takes the next bytes of text. Returns what is sealed now: the header first, then whole chunks.
            fn update<'py>(&self, py: Python<'py>, data: Source<'_>) -> PyResult<Bound<'py, PyBytes>> {
                let mut stream = alone(py, &self.0);
                new_bytes(py, stream.out_len(py, data.len())?, |out| stream.update(py, &data, out))
            }

            /// Does what `update` does, and writes to the first bytes of `buf`. Returns how many bytes were written. If `buf` is too short,
            /// nothing changes.
            fn update_into(&self, py: Python<'_>, data: Source<'_>, mut buf: Target) -> PyResult<usize> {
                let mut stream = alone(py, &self.0);
                let len = stream.out_len(py, data.len())?;
                into_buffer(&data, &mut buf, len, |data, out| stream.update(py, data, out))
            }

            /// Ends the message. Returns its last chunk.
            fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                alone(py, &self.0).finalize(py)
            }
        }

        #[doc = $decryptor_doc]
        #[pyclass(frozen, module = "fastgcm.cobblestone")]
        pub(crate) struct $decryptor(Decryptor);

        #[pymethods]
        impl $decryptor {
            #[new]
            fn new(py: Python<'_>, key: Source<'_>, context: Source<'_>) -> PyResult<Self> {
                Decryptor::new(py, $format, &key, &context).map(Self)
            }

            /// Takes the next bytes of the sealed message. Returns the text of all whole chunks, each of which was verified. Raises
            /// `InvalidTag` if a chunk differs from what was sealed; the object then accepts nothing more.
            fn update<'py>(&self, py: Python<'py>, data: Source<'_>) -> PyResult<Bound<'py, PyBytes>> {
                let mut state = alone(py, &self.0.state);
                new_bytes(py, state.out_len(py, data.len())?, |out| state.update(&self.0, py, &data, out))
            }

            /// Does what `update` does, and writes to the first bytes of `buf`. Returns how many bytes were written. If it raises
            /// `InvalidTag`, they are zero.
            fn update_into(&self, py: Python<'_>, data: Source<'_>, mut buf: Target) -> PyResult<usize> {
                let mut state = alone(py, &self.0.state);
                let len = state.out_len(py, data.len())?;
                into_buffer(&data, &mut buf, len, |data, out| state.update(&self.0, py, data, out))
            }

            /// Ends the message. Returns the text of its last chunk. Raises `InvalidTag` if the message was cut.
            fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                alone(py, &self.0.state).finalize(py)
            }

            /// Returns `length` bytes of text from byte `offset` on, of a whole sealed message: a buffer, or a file with `seek` and `read`.
            /// It reads the chunks of that range, and the last chunk, which shows whether the message was cut. It does not affect what
            /// `update` has begun.
            fn decrypt_range<'py>(&self, source: &Bound<'py, PyAny>, offset: u64, length: u64) -> PyResult<Bound<'py, PyBytes>> {
                self.0.range(source, offset, length)
            }
        }
    };
}

format_classes!(
    Format::Cobblestone128,
    Cobblestone128Encryptor,
    Cobblestone128Decryptor,
    "Seals one message, of any length, as Cobblestone-128 (a key of 16 bytes).",
    "Opens one message of Cobblestone-128 (a key of 16 bytes)."
);
format_classes!(
    Format::Cobblestone256,
    Cobblestone256Encryptor,
    Cobblestone256Decryptor,
    "Seals one message, of any length, as Cobblestone-256 (a key of 32 bytes).",
    "Opens one message of Cobblestone-256 (a key of 32 bytes)."
);
