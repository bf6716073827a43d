//! Keys.

use crate::{
    fastgcm_key,
    fastgcm_status::{self, *},
    memory::{free, on_heap, place, read, wipe},
    status,
};
use fastgcm::{Backend, Key};
use std::{
    ffi::{CStr, c_char, c_int},
    mem::MaybeUninit,
    ptr,
};

/// # Safety
/// `key` is null, or a key that was made.
pub(crate) unsafe fn key_of<'a>(key: *const fastgcm_key) -> Result<&'a Key, fastgcm_status> {
    // SAFETY: the caller's promise.
    unsafe { key.as_ref() }.map(|key| &key.0).ok_or(FASTGCM_NULL)
}

/// Returns the back end of that name, or the best if there is no name.
/// # Safety
/// `name` is null, or a string.
pub(crate) unsafe fn backend_of(name: *const c_char) -> Result<Backend, fastgcm_status> {
    if name.is_null() {
        return Ok(Backend::detect());
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| FASTGCM_UNAVAILABLE)?;
    name.parse().map_err(|_| FASTGCM_UNAVAILABLE)
}

/// Returns how many bytes of memory a key needs.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_key_size() -> usize {
    size_of::<fastgcm_key>()
}

/// Returns the alignment of a key: its address must be a multiple of this number.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_key_align() -> usize {
    align_of::<fastgcm_key>()
}

/// Makes a key in the caller's memory, which has `place_size` bytes. `fastgcm_key_wipe` ends the key.
///
/// `key` has `key_size` bytes: 16, 24 or 32. They are only read. `backend` is NULL for the machine's best back end, or the name of a back
/// end (`fastgcm_backend`).
///
/// If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH`, `FASTGCM_UNAVAILABLE` or `FASTGCM_NULL`, nothing is written, and
/// there is no key.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_init(
    key_place: *mut fastgcm_key,
    place_size: usize,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    status(|| {
        let place = place(key_place, place_size)?;
        if key_size > 32 {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        // SAFETY: the caller's promise.
        let (key, backend) = unsafe { (read(key, key_size, 32)?, backend_of(backend)?) };
        // SAFETY: a `fastgcm_key` is a `Key`, and nothing else.
        let place = unsafe { &mut *ptr::from_mut(place).cast::<MaybeUninit<Key>>() };
        Key::init_in_place(place, key, backend)?;
        Ok(())
    })
}

const _: () = assert!(size_of::<fastgcm_key>() == size_of::<Key>() && align_of::<fastgcm_key>() == align_of::<Key>());

/// Wipes a key that `fastgcm_key_init` has made. The key has then ended, and its memory may be used for something else. NULL is allowed.
///
/// **No call may use a key that has ended**, and no output may overlap a key. A call under a `fastgcm_key` notices neither, because looking
/// would cost every short message time: it would seal under a key that everybody knows. (Calls under a root key notice both.)
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_wipe(key: *mut fastgcm_key) {
    // SAFETY: the caller's promise.
    unsafe { wipe(key) }
}

/// Makes a key on the heap: `*key_made` is the key, or NULL if the call fails. `fastgcm_key_free` ends the key.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_new(
    key_made: *mut *mut fastgcm_key,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { on_heap(key_made, |place, size| fastgcm_key_init(place, size, key, key_size, backend)) }
}

/// Wipes a key that `fastgcm_key_new` has made, and frees its memory. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_free(key: *mut fastgcm_key) {
    // SAFETY: the caller's promise: `fastgcm_key_new` has made it.
    unsafe { free(key) }
}
