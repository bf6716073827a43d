//! What this library is: its back ends, its version, its texts, and its self-test.

use crate::{fastgcm_key, fastgcm_status::*, key::key_of, status};
use fastgcm::{Backend, approved::self_test_of};
use std::{
    ffi::{c_char, c_int},
    ptr,
};

/// Returns the name of back end number `index` among the back ends that this machine can run, best first; NULL behind the last. The string
/// is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_backend(index: usize) -> *const c_char {
    Backend::available().nth(index).map_or(ptr::null(), |backend| backend.c_name().as_ptr())
}

/// Returns the name of the back end that a key uses, or NULL if the key is NULL. The string is constant.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_backend(key: *const fastgcm_key) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { key_of(key) }.map_or(ptr::null(), |key| key.backend().c_name().as_ptr())
}

/// Returns the version of this library, such as "0.1.0". The string is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the meaning of a status, in English. The string is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_text(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"done",
        1 => c"the message is not authentic",
        2 => c"a key, nonce, tag or buffer has an invalid length: a key has 16, 24 or 32 bytes, a nonce 12 or another number but 0, a tag 4, 8 or 12 to 16; of a root key these are 32, 24, and 16 or 48",
        3 => c"a text, AAD or nonce is longer than AES-GCM allows",
        4 => c"this machine cannot run that back end, or there is no such scheme",
        5 => c"a message in pieces is out of order, or has another key",
        6 => c"a pointer is NULL",
        7 => c"buffers overlap",
        8 => c"the memory for a key or a message is too small, or not aligned",
        9 => c"there is no memory",
        10 => c"the self-test failed",
        11 => c"a fault of this library",
        _ => c"an unknown status",
    };
    text.as_ptr()
}

/// Seals and opens known answers, and opens a forgery, on each back end of this machine, in less than a millisecond. Returns `FASTGCM_OK`
/// or `FASTGCM_SELFTEST`.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_selftest() -> c_int {
    status(|| if all_are_right(|backend, key_len| self_test_of(backend, key_len) == Ok(())) { Ok(()) } else { Err(FASTGCM_SELFTEST) })
}

/// Returns whether each back end of this machine gives the known answers for each length of keys. (The function is public for a test that
/// makes an answer wrong.)
#[doc(hidden)]
pub fn all_are_right(is_right: impl Fn(Backend, usize) -> bool) -> bool {
    Backend::available().all(|backend| [16, 24, 32].into_iter().all(|key_len| is_right(backend, key_len)))
}
