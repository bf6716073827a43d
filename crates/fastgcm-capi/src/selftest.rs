//! Known answers.

use crate::{fastgcm_status::*, status};
use fastgcm::{Backend, approved::self_test_of};
use std::ffi::c_int;

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
