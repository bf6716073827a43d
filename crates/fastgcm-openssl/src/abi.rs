//! OpenSSL's interface to providers (openssl/core.h, openssl/core_dispatch.h of 3.0; later versions only add to it), as far as a cipher
//! needs it.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

/// `OSSL_DISPATCH`: a function with its number. A table ends with number 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Dispatch {
    pub(crate) number: c_int,
    pub(crate) function: *const c_void,
}

// SAFETY: a constant.
unsafe impl Sync for Dispatch {}

impl Dispatch {
    pub(crate) const END: Self = Self { number: 0, function: ptr::null() };
}

/// A table of functions with their numbers.
macro_rules! table {
    ($($number:literal $function:expr,)+) => {
        [$($crate::abi::Dispatch { number: $number, function: $function as *const std::ffi::c_void },)+ $crate::abi::Dispatch::END]
    };
}
pub(crate) use table;

/// `OSSL_ALGORITHM`. A list ends with no names.
#[repr(C)]
pub(crate) struct Algorithm {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

// SAFETY: a constant.
unsafe impl Sync for Algorithm {}

impl Algorithm {
    pub(crate) const END: Self = Self { names: ptr::null(), properties: ptr::null(), functions: ptr::null(), description: ptr::null() };

    pub(crate) const fn new(names: &'static CStr, functions: &'static [Dispatch], description: &'static CStr) -> Self {
        // A program that asks for properties of its own may name a provider there (stunnel: `provider!=fips`), and the default value of
        // `provider` is then ignored. Nobody but us names `x.fastgcm`. (OpenSSL takes new names only with a dot.)
        let properties = c"provider=fastgcm,x.fastgcm=yes".as_ptr();
        Self { names: names.as_ptr(), properties, functions: functions.as_ptr(), description: description.as_ptr() }
    }
}

/// `OSSL_PARAM`: a named value, which is requested or given. A list ends with no name.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Param {
    key: *const c_char,
    kind: c_uint,
    data: *mut c_void,
    size: usize,
    returned: usize,
}

// SAFETY: as a constant, which has no data.
unsafe impl Sync for Param {}

/// The kinds of values.
pub(crate) const INTEGER: c_uint = 1;
pub(crate) const UNSIGNED: c_uint = 2;
pub(crate) const REAL: c_uint = 3;
pub(crate) const UTF8: c_uint = 4;
pub(crate) const OCTETS: c_uint = 5;
pub(crate) const UTF8_PTR: c_uint = 6;
pub(crate) const OCTET_PTR: c_uint = 7;

impl Param {
    pub(crate) const END: Self = Self { key: ptr::null(), kind: 0, data: ptr::null_mut(), size: 0, returned: 0 };

    /// A value that can be requested or given.
    pub(crate) const fn named(key: &'static CStr, kind: c_uint) -> Self {
        Self { key: key.as_ptr(), kind, data: ptr::null_mut(), size: 0, returned: usize::MAX }
    }

    /// Returns the values of a list.
    /// # Safety
    /// It is null, or a list as OpenSSL makes them, which nobody else uses meanwhile.
    pub(crate) unsafe fn list<'a>(first: *mut Self) -> impl Iterator<Item = &'a mut Self> {
        let mut next = first;
        std::iter::from_fn(move || {
            // SAFETY: a list reaches to the value without a name.
            unsafe {
                if next.is_null() || (*next).key.is_null() {
                    return None;
                }
                let this = &mut *next;
                next = next.add(1);
                Some(this)
            }
        })
    }

    pub(crate) fn name(&self) -> &[u8] {
        // SAFETY: a value of a list has a name.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// Returns whether the value has this name: faster than `name`, for a name that each message asks for.
    #[inline(always)]
    pub(crate) fn is(&self, name: &CStr) -> bool {
        // SAFETY: a value of a list has a name, of which nothing is read behind the first byte that differs, or its end.
        name.to_bytes_with_nul().iter().enumerate().all(|(i, byte)| unsafe { *self.key.add(i).cast::<u8>() } == *byte)
    }

    /// Answers with a number in the caller's width. Returns `None` if the number does not fit.
    pub(crate) fn set_number(&mut self, value: u64) -> Option<()> {
        if (self.kind, self.size) != (UNSIGNED, 8) || self.data.is_null() {
            return self.set_any_number(value);
        }
        // SAFETY: so many bytes are writable there.
        unsafe { self.data.cast::<u64>().write_unaligned(value) };
        self.returned = 8;
        Some(())
    }

    #[cold]
    fn set_any_number(&mut self, value: u64) -> Option<()> {
        self.returned = 8; // what it would want
        if self.data.is_null() {
            return matches!(self.kind, INTEGER | UNSIGNED | REAL).then_some(());
        }
        // SAFETY: so many bytes are writable there.
        let bytes = unsafe { bytes_mut(self.data.cast(), self.size) }?;
        match self.kind {
            REAL if value < 1 << 53 => bytes.copy_from_slice((value as f64).to_ne_bytes().get(..bytes.len()).filter(|all| all.len() == 8)?),
            INTEGER | UNSIGNED => {
                let bits = (8 * bytes.len() as u64).checked_sub(u64::from(self.kind == INTEGER))?;
                if bits == 0 || bits < 64 && value >> bits != 0 {
                    return None;
                }
                low_first(bytes).enumerate().for_each(|(i, byte)| *byte = value.unbounded_shr(8 * i as u32) as u8);
            }
            _ => return None,
        }
        self.returned = self.size;
        Some(())
    }

    /// Returns the given number, in the caller's width.
    pub(crate) fn number(&self) -> Option<usize> {
        // SAFETY: so many bytes are readable there.
        let bytes = unsafe { bytes(self.data.cast(), self.size) }?;
        if self.kind == REAL {
            let value = f64::from_ne_bytes(bytes.try_into().ok()?);
            return (value >= 0.0 && value < u64::MAX as f64 && value.fract() == 0.0).then_some(value as usize);
        }
        let mut value = 0u64;
        for (i, byte) in low_first(bytes).enumerate() {
            if i < 8 {
                value |= u64::from(*byte) << (8 * i);
            } else if *byte != 0 {
                return None;
            }
        }
        let negative = self.kind == INTEGER && low_first(bytes).last()? >> 7 == 1;
        if negative || !matches!(self.kind, INTEGER | UNSIGNED) { None } else { value.try_into().ok() }
    }

    /// Answers with a constant string.
    pub(crate) fn set_text(&mut self, text: &'static CStr) -> Option<()> {
        self.returned = text.count_bytes();
        if self.kind != UTF8_PTR {
            return None;
        }
        if !self.data.is_null() {
            // SAFETY: a place for a pointer.
            unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) }
        }
        Some(())
    }

    /// Answers with bytes, or with where they are. Returns `None` if there is no room.
    pub(crate) fn set_bytes(&mut self, bytes: &[u8]) -> Option<()> {
        match self.kind {
            OCTETS if self.data.is_null() => {}
            OCTETS => self.room()?.get_mut(..bytes.len())?.copy_from_slice(bytes),
            // SAFETY: a place for a pointer.
            OCTET_PTR if !self.data.is_null() => unsafe { self.data.cast::<*const u8>().write_unaligned(bytes.as_ptr()) },
            OCTET_PTR => {}
            _ => return None,
        }
        self.returned = bytes.len();
        Some(())
    }

    /// Returns the bytes to be filled, all of which must be filled.
    pub(crate) fn room(&mut self) -> Option<&mut [u8]> {
        if self.kind != OCTETS || self.data.is_null() || self.size > isize::MAX as usize {
            return None;
        }
        self.returned = self.size;
        // SAFETY: so many bytes are writable there.
        Some(unsafe { slice::from_raw_parts_mut(self.data.cast(), self.size) })
    }

    /// Returns how many bytes were requested or given.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the given bytes, which may be none.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: so many bytes are readable there.
        (self.kind == OCTETS).then(|| unsafe { bytes(self.data.cast(), self.size) }).flatten()
    }

    /// Returns where bytes are that come without a length of their own.
    pub(crate) fn octets(&self) -> *const u8 {
        if self.kind == OCTETS { self.data.cast() } else { ptr::null() }
    }

    /// Returns the given string.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        // SAFETY: so many bytes are readable there.
        (self.kind == UTF8).then(|| unsafe { bytes(self.data.cast(), self.size) }).flatten()
    }
}

/// Returns the bytes of a number, the lowest byte first.
fn low_first<T>(bytes: impl IntoIterator<IntoIter = impl DoubleEndedIterator<Item = T>>) -> impl Iterator<Item = T> {
    let mut bytes = bytes.into_iter();
    std::iter::from_fn(move || if cfg!(target_endian = "big") { bytes.next_back() } else { bytes.next() })
}

/// Returns a caller's bytes, or `None` if there are none.
/// # Safety
/// `data` is null, or so many bytes are readable there.
pub(crate) unsafe fn bytes<'a>(data: *const u8, size: usize) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    (!data.is_null() && size <= isize::MAX as usize).then(|| unsafe { slice::from_raw_parts(data, size) })
}

/// Returns the bytes of a caller who may give none. More bytes than any memory has are refused with the given reason: they must not pass
/// for none.
/// # Safety
/// `data` is null, or so many bytes are readable there.
pub(crate) unsafe fn given<'a>(data: *const u8, size: usize, reason: Reason) -> Result<Option<&'a [u8]>, Reason> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(data, size) };
    if bytes.is_none() && !data.is_null() { Err(reason) } else { Ok(bytes) }
}

/// Returns a caller's memory, or `None` if there is none.
/// # Safety
/// `data` is null, or so many bytes are readable and writable there, and nobody else uses them meanwhile.
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, size: usize) -> Option<&'a mut [u8]> {
    // SAFETY: the caller's promise.
    (!data.is_null() && size <= isize::MAX as usize).then(|| unsafe { slice::from_raw_parts_mut(data, size) })
}

/// Runs a function that OpenSSL has called. A panic, which would be a fault of ours, ends here as a failure.
pub(crate) fn guarded<T>(failed: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(failed)
}

/// The reasons of failures that callers of OpenSSL's own provider know (openssl/proverr.h).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reason {
    CipherOperationFailed = 102,
    FailedToGetParameter = 103,
    FailedToSetParameter = 104,
    InvalidKeyLength = 105,
    OutputBufferTooSmall = 106,
    InvalidAad = 108,
    InvalidIvLength = 109,
    InvalidTag = 110,
    TagNotSet = 119,
    InvalidMode = 125,
    MissingCipher = 155,
    /// `ERR_R_MALLOC_FAILURE`, which every library of OpenSSL has.
    MallocFailure = 256 | 3 << 18,
}

/// A failure, with its reason if OpenSSL's own provider gives one. A wrong tag has no reason: callers take a failure without a reason for a
/// wrong tag.
pub(crate) type Failure = Option<Reason>;

/// `ERR_LIB_PROV`, in its place in an error code.
const LIBRARY: u32 = 57 << 23;

/// The functions of OpenSSL's core that put an error on the queue.
#[derive(Clone, Copy)]
pub(crate) struct Errors {
    handle: *const c_void,
    new: Option<unsafe extern "C" fn(*const c_void)>,
    set: Option<unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void)>,
}

impl Errors {
    /// # Safety
    /// `functions` is the table that OpenSSL gave with `handle`.
    pub(crate) unsafe fn of(handle: *const c_void, mut functions: *const Dispatch) -> Self {
        let mut errors = Self { handle, new: None, set: None };
        // SAFETY: the table ends with number 0, and its functions have the types that core_dispatch.h says.
        unsafe {
            while !functions.is_null() && (*functions).number != 0 {
                match (*functions).number {
                    5 => errors.new = std::mem::transmute::<*const c_void, Option<_>>((*functions).function),
                    7 => errors.set = std::mem::transmute::<*const c_void, Option<_>>((*functions).function),
                    _ => {}
                }
                functions = functions.add(1);
            }
        }
        errors
    }

    pub(crate) fn raise(&self, reason: Reason) {
        let (Some(new), Some(set)) = (self.new, self.set) else { return };
        // The fourth argument is a `va_list`, which is passed as a pointer, or by a pointer to a copy. Without a format nothing is read
        // there.
        let mut none = [0usize; 8];
        // SAFETY: OpenSSL's own functions, with its own handle.
        unsafe {
            new(self.handle);
            set(self.handle, LIBRARY | reason as u32, ptr::null(), none.as_mut_ptr().cast());
        }
    }
}
