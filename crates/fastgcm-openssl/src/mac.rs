//! GMAC in the form of OpenSSL's MACs (provider-mac(7)): a cipher by name, an IV and a key, in any order, then data and the end.

use crate::{
    Provider,
    abi::{Dispatch, Failure, OCTETS, Param, Reason, UNSIGNED, UTF8, bytes, bytes_mut, given, guarded, table},
    cipher::Context,
    object::{self, Cipher, Object, call, duplicate, free},
};
use std::ffi::{c_int, c_void};

/// A message without text.
pub(crate) struct Mac<'p> {
    provider: &'p Provider,
    /// The message of the cipher, once the cipher is named.
    message: Option<Context<'p>>,
}

/// The names of each cipher, whose case does not matter.
const NAMES: [(usize, [&[u8]; 3]); 3] = [
    (16, [b"AES-128-GCM", b"id-aes128-GCM", b"2.16.840.1.101.3.4.1.6"]),
    (24, [b"AES-192-GCM", b"id-aes192-GCM", b"2.16.840.1.101.3.4.1.26"]),
    (32, [b"AES-256-GCM", b"id-aes256-GCM", b"2.16.840.1.101.3.4.1.46"]),
];

impl<'p> Object<'p> for Mac<'p> {
    fn provider(&self) -> &'p Provider {
        self.provider
    }

    unsafe fn duplicate(&self) -> Result<impl FnOnce(*mut Self), Failure> {
        // SAFETY: the caller's promise, for the message.
        let own = self.message.as_ref().map(|message| unsafe { message.duplicate() }).transpose()?;
        // SAFETY: a copy of this object, which has a message if this one has.
        Ok(move |copy: *mut Self| unsafe {
            if let (Some(own), Some(message)) = (own, &mut (*copy).message) {
                own(message);
            }
        })
    }
}

impl<'p> Mac<'p> {
    fn message(&mut self) -> Result<&mut Context<'p>, Failure> {
        self.message.as_mut().ok_or(Some(Reason::MissingCipher))
    }

    /// Sets the cipher before key and IV, whatever their order.
    ///
    /// # Safety
    /// See [`Param::list`].
    unsafe fn set_all(&mut self, params: *const Param) -> Result<(), Failure> {
        // SAFETY: the caller's promise; nothing is written.
        let params = || unsafe { Param::list(params.cast_mut()) };
        for param in params().filter(|param| param.name() == b"cipher") {
            let name = param.text().ok_or(Reason::FailedToGetParameter)?;
            let is_named = |(_, names): &&(usize, [&[u8]; 3])| names.iter().any(|other| name.eq_ignore_ascii_case(other));
            let length = NAMES.iter().find(is_named).ok_or(Reason::InvalidMode)?.0; // as OpenSSL's own says of all but GCM
            self.message = Some(Context::new(self.provider, length));
        }
        for param in params() {
            match param.name() {
                b"key" => self.message()?.init(true, Some(param.bytes().ok_or(Reason::FailedToGetParameter)?), None)?,
                b"iv" => self.message()?.init(true, None, Some(param.bytes().ok_or(Reason::FailedToGetParameter)?))?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns why a message did not go on, even where a cipher would say nothing, as OpenSSL's own MAC does.
fn told(reason: Failure) -> Failure {
    reason.or(Some(Reason::CipherOperationFailed))
}

type Pointer = *mut Mac<'static>;

unsafe extern "C" fn new(provider: *mut c_void) -> Pointer {
    // SAFETY: OpenSSL's call.
    unsafe { object::new(provider, |provider| Mac { provider, message: None }) }
}

unsafe extern "C" fn init(mac: Pointer, key: *const u8, key_length: usize, params: *const Param) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            mac.set_all(params)?;
            let Some(key) = given(key, key_length, Reason::InvalidKeyLength)? else { return Ok(()) };
            mac.message()?.init(true, Some(key), None)
        })
    }
}

unsafe extern "C" fn update(mac: Pointer, data: *const u8, size: usize) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            if size == 0 {
                return Ok(());
            }
            mac.message()?.aad(bytes(data, size).ok_or(None)?).map_err(told)
        })
    }
}

unsafe extern "C" fn finish(mac: Pointer, to: *mut u8, written: *mut usize, room: usize) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(mac, |mac| {
            let tag = bytes_mut(to, room.min(16)).and_then(|to| to.first_chunk_mut::<16>()).ok_or(Reason::OutputBufferTooSmall)?;
            let message = mac.message()?;
            message.finish().map_err(told)?;
            (*tag, *written) = (*message.tag(), 16);
            Ok(())
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
    2 duplicate::<Mac<'static>>,
    3 free::<Mac<'static>>,
    4 init,
    5 update,
    6 finish,
    7 describe,
    9 set,
    10 description,
    12 settable,
};
