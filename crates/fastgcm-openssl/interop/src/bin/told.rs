//! What the provider says of its back end, and whether the kernel says that this program has more rights than who started it.

use fastgcm_openssl_interop::{OpenSsl, Param, ffi};
use std::{
    ffi::{CStr, c_char},
    ptr,
};

fn main() {
    let mut name: *const c_char = ptr::null();
    let mut list =
        [Param { key: c"fastgcm-backend".as_ptr(), kind: 6, data: ptr::from_mut(&mut name).cast(), size: 0, returned: 0 }, Param::END];
    // SAFETY: a list with room for a pointer, which points to a constant.
    let name = unsafe {
        assert_eq!(ffi::OSSL_PROVIDER_get_params(OpenSsl::get().fastgcm, list.as_mut_ptr()), 1);
        CStr::from_ptr(name)
    };
    // SAFETY: it reads what the kernel told this process.
    println!("secure: {}, back end: {}", unsafe { libc::getauxval(libc::AT_SECURE) }, name.to_string_lossy());
}
