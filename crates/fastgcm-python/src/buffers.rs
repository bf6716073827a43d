//! Memory of Python's objects: what is read, what is written, and new `bytes`.
//!
//! `bytes` never change. Another thread may change any other object that has a buffer while a call reads it: [`Source::fixed`] says which
//! kind a source is.

use crate::{errors, memory};
use fastgcm::Error;
use pyo3::{
    PyErr,
    exceptions::{PyBufferError, PyMemoryError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyBytes, PyString},
};
use std::{
    borrow::Cow,
    ffi::{CStr, c_int},
    ptr, slice,
};

/// Bytes that a call reads, from any object with a contiguous buffer.
pub(crate) enum Source<'a> {
    /// The bytes of a `bytes` object.
    Fixed(&'a [u8]),
    Shared(View),
}

impl<'a> Source<'a> {
    /// Returns the bytes. Unless they are [fixed](Self::fixed), they may change at any time.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Shared(view) if view.len() == 0 => &[],
            // SAFETY: the object keeps the memory where it is, and as long as it is, while the view lives. What another thread writes there meanwhile
            // is a race that Python leaves to its users.
            Self::Shared(view) => unsafe { slice::from_raw_parts(view.start(), view.len()) },
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fixed(bytes) => bytes.len(),
            Self::Shared(view) => view.len(),
        }
    }

    /// Returns the bytes, if nobody can change them.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&'a [u8]> {
        if let Self::Fixed(bytes) = self { Some(bytes) } else { None }
    }

    /// Reads as many bytes as `copy` has, once, from `at` on. Another thread or the caller may write to them meanwhile.
    pub(crate) fn read(&self, at: usize, copy: &mut [u8]) {
        assert!(at <= self.len() && copy.len() <= self.len() - at);
        let start = match self {
            Self::Fixed(bytes) => bytes.as_ptr(),
            Self::Shared(view) => view.start(),
        };
        // SAFETY: within the buffer (above); `copy` is the caller's own, and may be this buffer.
        unsafe { ptr::copy(start.wrapping_add(at), copy.as_mut_ptr(), copy.len()) };
    }
}

/// Bytes of an argument that may be left out or `None`.
pub(crate) fn or_empty<'s>(source: Option<&'s Source<'_>>) -> &'s [u8] {
    source.map_or(&[], Source::bytes)
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source<'a> {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<&[u8]>() {
            Ok(bytes) => Ok(Self::Fixed(bytes)),
            Err(_) => View::of(object, ffi::PyBUF_ND).map(Self::Shared),
        }
    }
}

/// Memory of an object that a call writes.
pub(crate) struct Target(View);

impl Target {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The memory.
    ///
    /// # Safety
    /// No other slice of this memory is used while this one lives: see [`place`](Self::place).
    pub(crate) unsafe fn bytes(&mut self) -> &mut [u8] {
        if self.len() == 0 {
            return &mut [];
        }
        // SAFETY: the object's memory stays while the view lives, and it said that it may be written; nothing else refers to it (the caller).
        unsafe { slice::from_raw_parts_mut(self.0.start(), self.len()) }
    }

    /// Returns where these bytes lie relative to the memory that is written.
    pub(crate) fn place(&self, bytes: &[u8]) -> Place {
        let (here, there) = (self.0.start() as usize, bytes.as_ptr() as usize);
        if bytes.is_empty() || self.len() == 0 || here + self.len() <= there || there + bytes.len() <= here {
            Place::Apart
        } else if here == there {
            Place::Same
        } else {
            Place::Overlapping
        }
    }
}

/// The relative position of two buffers.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// They have no byte in common.
    Apart,
    /// They begin with the same byte.
    Same,
    /// They overlap in any other way.
    Overlapping,
}

impl<'py> FromPyObject<'_, 'py> for Target {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        View::of(object, ffi::PyBUF_ND | ffi::PyBUF_WRITABLE).map(Self)
    }
}

/// A buffer of an object, which must neither move nor change its length while this lives. On the heap, because an exporter may keep its address.
pub(crate) struct View(Box<ffi::Py_buffer>);

// SAFETY: the owner of the memory takes calls from any thread that is attached to the interpreter, and `drop` attaches.
unsafe impl Send for View {}
// SAFETY: as for `Send`; a shared view is only read.
unsafe impl Sync for View {}

impl View {
    fn of(object: Borrowed<'_, '_, PyAny>, flags: c_int) -> PyResult<Self> {
        let py = object.py();
        let get = |flags| {
            let mut view = Box::write(memory::room()?, ffi::Py_buffer::new());
            // SAFETY: a live object and a fresh view.
            let got = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, flags) } == 0;
            // An object says in these three ways that it has no such buffer. Any other exception must reach the caller.
            if !got && let Some(error) = PyErr::take(py).filter(|error| !says_no(py, error)) {
                return Err(error);
            }
            Ok(got.then(|| Self(view)).filter(|view| view.0.len >= 0 && !view.has_objects()))
        };
        if let Some(view) = get(flags | ffi::PyBUF_FORMAT)? {
            return Ok(view);
        }
        // These are pyca/cryptography's messages.
        Err(match get(ffi::PyBUF_FULL_RO)? {
            Some(view) if flags & ffi::PyBUF_WRITABLE != 0 && view.0.readonly != 0 => PyTypeError::new_err("Buffer is not writable."),
            Some(_) => PyBufferError::new_err("Buffer is not contiguous."),
            None => {
                let hint = if object.is_instance_of::<PyString>() { "\nDid you mean to pass a bytestring instead?" } else { "" };
                PyTypeError::new_err(format!("Cannot convert \"{}\" instance to a buffer.{hint}", object.get_type()))
            }
        })
    }

    /// Returns whether items, or fields of them, are references to objects (`O` in the syntax of PEP 3118, where names are between colons).
    /// As text these references would be addresses of this process, and decrypted text in their place would crash it.
    fn has_objects(&self) -> bool {
        if self.0.format.is_null() {
            return false;
        }
        // SAFETY: the exporter keeps it as long as the view.
        let format = unsafe { CStr::from_ptr(self.0.format) }.to_bytes();
        format.split(|&byte| byte == b':').step_by(2).any(|types| types.contains(&b'O'))
    }

    fn len(&self) -> usize {
        self.0.len as usize // not negative: `of` has looked
    }

    fn start(&self) -> *mut u8 {
        self.0.buf.cast()
    }
}

fn says_no(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyBufferError>(py) || error.is_instance_of::<PyValueError>(py)
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: it was acquired, and is released once.
        Python::attach(|_| unsafe { ffi::PyBuffer_Release(&mut *self.0) });
    }
}

/// The number of bytes from which a call lets other threads run meanwhile. Below it, handing the interpreter over costs more than it gains.
const DETACHED: usize = 1 << 15;

/// Does the work, and lets other Python threads run meanwhile if there is much to do.
#[inline]
pub(crate) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes < DETACHED { work() } else { py.detach(work) }
}

/// Returns new `bytes` of this length, all of which `write` writes. If `write` fails, nobody has seen them.
#[inline]
pub(crate) fn new_bytes<'py>(py: Python<'py>, len: usize, write: impl FnOnce(&mut [u8]) -> PyResult<()>) -> PyResult<Bound<'py, PyBytes>> {
    let (bytes, memory) = unwritten(py, len)?;
    // SAFETY: the object is ours alone.
    write(unsafe { slice::from_raw_parts_mut(memory, len) })?;
    Ok(bytes)
}

/// Returns new `bytes` with this content. (`PyBytes::new` panics if there is not enough memory.)
pub(crate) fn bytes_of<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(py, content.len(), |bytes| {
        bytes.copy_from_slice(content);
        Ok(())
    })
}

/// Returns new `bytes` of this length, and where they are. The caller must write all of them before giving them out: zeros first would be
/// one more pass over memory.
#[inline]
pub(crate) fn unwritten(py: Python<'_>, len: usize) -> PyResult<(Bound<'_, PyBytes>, *mut u8)> {
    let size = isize::try_from(len).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: a new object, or an exception. What its memory holds is Python's affair: to us it is bytes, which are written before they are read.
    let bytes: Bound<'_, PyBytes> =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), size))?.cast_into_unchecked() };
    // SAFETY: it is a `bytes`. This pointer may be written through; that of `as_bytes` may not.
    let memory = unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) };
    Ok((bytes, memory.cast()))
}

/// Returns `len` random bytes from the operating system.
pub(crate) fn random_bytes(py: Python<'_>, len: usize) -> PyResult<Bound<'_, PyBytes>> {
    new_bytes(py, len, |bytes| Ok(getrandom::fill(bytes).map_err(std::io::Error::from)?))
}

/// Checks the limits before memory for the result is requested.
pub(crate) fn within_limits(py: Python<'_>, text_len: usize) -> PyResult<()> {
    if text_len as u64 > fastgcm::limits::TEXT { Err(errors::of(py, Error::TooLong)) } else { Ok(()) }
}

/// Returns the length of the text in a sealed message, which has a tag of `tag` bytes, or a nonce and a tag of that many bytes together.
pub(crate) fn text_len(py: Python<'_>, sealed: &Source<'_>, tag: usize) -> PyResult<usize> {
    let len = sealed.len().checked_sub(tag).ok_or_else(|| errors::of(py, Error::Unauthentic))?;
    within_limits(py, len).map(|()| len)
}

/// Returns the length of `buf`, which must be `len`.
pub(crate) fn of_length(buf: &Target, len: usize) -> PyResult<usize> {
    if buf.len() == len { Ok(len) } else { Err(PyValueError::new_err(format!("buffer must be {len} bytes"))) }
}

/// Returns how `data` lies relative to `buf`.
pub(crate) fn whole_or_apart(buf: &Target, data: &Source<'_>) -> PyResult<Place> {
    match buf.place(data.bytes()) {
        Place::Overlapping => Err(PyValueError::new_err("data and buffer overlap, and do not begin with the same byte")),
        place => Ok(place),
    }
}

/// Returns the associated data, copied if the call writes to their place.
pub(crate) fn aside<'a>(buf: &Target, aad: &'a [u8]) -> PyResult<Cow<'a, [u8]>> {
    Ok(if buf.place(aad) == Place::Apart { Cow::Borrowed(aad) } else { Cow::Owned(memory::copied(aad)?) })
}
