//! GMAC as OpenSSL's MACs work (provider-mac(7)): a cipher by name, an IV and a key, in any order, then data and the end.

use crate::{
    Provider,
    abi::{Dispatch, OCTETS, Param, Reason, UNSIGNED, UTF8, bytes, guarded, table},
    cipher::{Context, bytes_mut},
};
use std::{
    ffi::{c_int, c_void},
    ptr,
};

/// A message without text.
pub(crate) struct Mac<'p> {
    provider: &'p Provider,
    /// Of the cipher, once that is named.
    message: Option<Context<'p>>,
}

/// The names that each cipher has, without regard to case.
const NAMES: [(usize, [&[u8]; 3]); 3] = [
    (16, [b"AES-128-GCM", b"id-aes128-GCM", b"2.16.840.1.101.3.4.1.6"]),
    (24, [b"AES-192-GCM", b"id-aes192-GCM", b"2.16.840.1.101.3.4.1.26"]),
    (32, [b"AES-256-GCM", b"id-aes256-GCM", b"2.16.840.1.101.3.4.1.46"]),
];

impl Mac<'_> {
    /// The cipher comes before key and IV, in whatever order they stand.
    ///
    /// # Safety
    /// See [`Param::list`].
    unsafe fn set_all(&mut self, params: *const Param) -> Option<()> {
        // SAFETY: the caller's promise; nothing is written.
        let params = || unsafe { Param::list(params.cast_mut()) };
        for param in params().filter(|param| param.name() == b"cipher") {
            let name = param.text()?;
            let length = NAMES.iter().find(|(_, names)| names.iter().any(|other| name.eq_ignore_ascii_case(other)))?.0;
            self.message = Some(Context::new(self.provider, length));
        }
        for param in params() {
            match param.name() {
                b"key" => self.message.as_mut()?.init(true, Some(param.bytes()?), None).ok()?,
                b"iv" => self.message.as_mut()?.init(true, None, Some(param.bytes()?)).ok()?,
                _ => {}
            }
        }
        Some(())
    }
}

type Pointer = *mut Mac<'static>;

/// Runs a call for a context.
/// # Safety
/// `mac` is one that `new` or `duplicate` has made, which nobody else uses meanwhile.
unsafe fn call<'p>(mac: *mut Mac<'p>, call: impl FnOnce(&mut Mac<'p>) -> Option<()>) -> c_int {
    // SAFETY: the caller's promise.
    guarded(0, || call(unsafe { &mut *mac }).is_some().into())
}

unsafe extern "C" fn new(provider: *mut c_void) -> Pointer {
    // SAFETY: OpenSSL frees all contexts before the provider.
    guarded(ptr::null_mut(), || Box::into_raw(Box::new(Mac { provider: unsafe { Provider::at(provider) }, message: None })))
}

unsafe extern "C" fn free(mac: Pointer) {
    if !mac.is_null() {
        // SAFETY: `new` or `duplicate` made it.
        guarded((), || drop(unsafe { Box::from_raw(mac) }));
    }
}

unsafe extern "C" fn duplicate(mac: Pointer) -> Pointer {
    guarded(ptr::null_mut(), || {
        // SAFETY: OpenSSL's call, for a context of ours.
        let mac = unsafe { &*mac };
        Box::into_raw(Box::new(Mac { provider: mac.provider, message: mac.message.as_ref().map(Context::duplicate) }))
    })
}

unsafe extern "C" fn init(mac: Pointer, key: *const u8, key_length: usize, params: *const Param) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            mac.set_all(params)?;
            let Some(key) = bytes(key, key_length) else { return Some(()) };
            mac.message.as_mut()?.init(true, Some(key), None).map_err(|reason| reason.map(|reason| mac.provider.errors.raise(reason))).ok()
        })
    }
}

unsafe extern "C" fn update(mac: Pointer, data: *const u8, size: usize) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            if size == 0 {
                return Some(());
            }
            mac.message.as_mut()?.aad(bytes(data, size)?).ok()
        })
    }
}

unsafe extern "C" fn finish(mac: Pointer, to: *mut u8, written: *mut usize, room: usize) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            let Some(tag) = bytes_mut(to, room)?.first_chunk_mut::<16>() else {
                mac.provider.errors.raise(Reason::OutputBufferTooSmall);
                return None;
            };
            let message = mac.message.as_mut()?;
            message.finish().ok()?;
            (*tag, *written) = (*message.tag(), 16);
            Some(())
        })
    }
}

unsafe extern "C" fn describe(params: *mut Param) -> c_int {
    guarded(0, || {
        // SAFETY: OpenSSL's call.
        let mut params = unsafe { Param::list(params) };
        params.all(|param| param.name() != b"size" || param.set_number(16).is_some()).into()
    })
}

unsafe extern "C" fn set(mac: Pointer, params: *const Param) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe { call(mac, |mac| mac.set_all(params)) }
}

static DESCRIPTION: [Param; 2] = [Param::named(c"size", UNSIGNED), Param::END];

static SETTABLE: [Param; 5] = [
    Param::named(c"cipher", UTF8),
    Param::named(c"properties", UTF8),
    Param::named(c"key", OCTETS),
    Param::named(c"iv", OCTETS),
    Param::END,
];

unsafe extern "C" fn description(_: *mut c_void) -> *const Param {
    DESCRIPTION.as_ptr()
}

unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

pub(crate) static GMAC: [Dispatch; 11] = table! {
    1 new,
    2 duplicate,
    3 free,
    4 init,
    5 update,
    6 finish,
    7 describe,
    9 set,
    10 description,
    12 settable,
};
