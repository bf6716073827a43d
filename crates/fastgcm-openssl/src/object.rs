//! What OpenSSL has a pointer to: how it is called, copied and freed.

use crate::{
    Provider,
    abi::{Reason, guarded},
};
use std::{
    ffi::{c_int, c_void},
    ptr,
};

/// A context of a cipher or of a MAC.
pub(crate) trait Object<'p>: Sized {
    fn provider(&self) -> &'p Provider;

    /// Another one in the same state.
    fn duplicate(&self) -> Self;
}

/// A failure, with its reason if OpenSSL's own provider gives one. A wrong tag has none: callers take a failure without a reason for that.
pub(crate) type Failure = Option<Reason>;

/// Makes what OpenSSL will have a pointer to. (`Box::write` makes it where it stays.)
/// # Safety
/// `provider` is ours; OpenSSL frees all objects before it.
pub(crate) unsafe fn new<T: Object<'static>>(provider: *mut c_void, new: impl FnOnce(&'static Provider) -> T) -> *mut T {
    // SAFETY: the caller's promise.
    guarded(ptr::null_mut(), || Box::into_raw(Box::write(Box::new_uninit(), new(unsafe { Provider::at(provider) }))))
}

/// Runs a call for an object, and tells OpenSSL why it failed.
/// # Safety
/// `object` is one that `new` or `duplicate` has made, which nobody else uses meanwhile.
#[inline]
pub(crate) unsafe fn call<'p, T: Object<'p>>(object: *mut T, call: impl FnOnce(&mut T) -> Result<(), Failure>) -> c_int {
    guarded(0, || {
        // SAFETY: the caller's promise.
        let object = unsafe { &mut *object };
        match call(object) {
            Ok(()) => 1,
            Err(reason) => {
                reason.inspect(|reason| object.provider().errors.raise(*reason));
                0
            }
        }
    })
}

pub(crate) unsafe extern "C" fn free<T: Object<'static>>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: `new` or `duplicate` made it.
        guarded((), || drop(unsafe { Box::from_raw(object) }));
    }
}

pub(crate) unsafe extern "C" fn duplicate<T: Object<'static>>(object: *const T) -> *mut T {
    // SAFETY: OpenSSL's call, for an object of ours.
    guarded(ptr::null_mut(), || Box::into_raw(Box::write(Box::new_uninit(), unsafe { &*object }.duplicate())))
}
