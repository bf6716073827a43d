//! The system's OpenSSL, `libcrypto.so.3`. How it is called: `plugin::openssl`.
//!
//! A library is loaded once a process, however often it is asked for; so that each level has one of its own, a copy of the file is loaded.
//!
//! without: OPENSSL_ia32cap

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use plugin::openssl::Calls;
use std::{ffi::c_void, fs, path::PathBuf, ptr};

plugin::export_openssl!("openssl-system", calls());

fn calls() -> Result<Calls, String> {
    let text = |error: libloading::Error| format!("{error} (Debian: libssl3)");
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let copy = folder.path().join("libcrypto.so.3");
    // SAFETY: OpenSSL's symbols, by their names; the library stays open.
    unsafe {
        // The linker knows where it is: it is asked for any symbol, and told by which file that came.
        let found = Library::open(Some("libcrypto.so.3"), RTLD_NOW | RTLD_LOCAL).map_err(text)?;
        let path = file(found.get::<*const c_void>(b"OpenSSL_version").map_err(text)?.into_raw())?;
        fs::copy(&path, &copy).map_err(|error| format!("{}: {error}", path.display()))?;
        let library = Library::open(Some(&copy), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND).map_err(text);
        drop(folder);
        let library = Box::leak(Box::new(library?));
        Calls::found(|name| library.get::<*const c_void>(name.as_bytes()).ok().map(|symbol| symbol.into_raw().cast_const()))
    }
}

/// Of dlfcn.h, for Linux: its own symbols come before those that others have loaded.
const RTLD_DEEPBIND: i32 = 8;

/// `Dl_info` of dlfcn.h.
#[repr(C)]
struct Info {
    file: *const std::ffi::c_char,
    base: *mut c_void,
    symbol: *const std::ffi::c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut Info) -> i32;
}

/// The file that a symbol came from.
fn file(symbol: *const c_void) -> Result<PathBuf, String> {
    let mut info = Info { file: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), address: ptr::null_mut() };
    // SAFETY: `info` has the layout that dlfcn.h says; the name is a string.
    unsafe {
        if dladdr(symbol, &mut info) == 0 || info.file.is_null() {
            return Err("nobody knows where it was loaded from".into());
        }
        Ok(std::ffi::CStr::from_ptr(info.file).to_string_lossy().into_owned().into())
    }
}
