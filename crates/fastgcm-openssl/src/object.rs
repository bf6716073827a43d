//! Objects to which OpenSSL has pointers: calling, copying and freeing them.

use crate::{
    Provider,
    abi::{Failure, Param, Reason, given, guarded},
    shared::room,
};
use std::{
    ffi::{c_int, c_void},
    mem::MaybeUninit,
    ptr,
};

/// A context of a cipher or of a MAC.
pub(crate) trait Object<'p>: Sized {
    fn provider(&self) -> &'p Provider;

    /// Returns a function that gives a copy of this object's bytes its own owners of memory, after all that can fail is done. (An object that
    /// is made as a value may pass over the stack, where nobody wipes it: so its bytes are copied from place to place.)
    ///
    /// # Safety
    /// The function is called once, with a bitwise copy of this object, of which it drops and reads nothing.
    unsafe fn duplicate(&self) -> Result<impl FnOnce(*mut Self), Failure>;
}

/// The context of a cipher, and the functions that OpenSSL calls for each cipher.
pub(crate) trait Cipher<'p>: Object<'p> {
    /// Makes a context without a key yet; the key will have that many bytes.
    fn new(provider: &'p Provider, key_length: usize) -> Self;
    /// Sets direction, key and nonce, if they are given: a message begins.
    fn init(&mut self, seals: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Failure>;
    fn get(&mut self, param: &mut Param) -> Result<(), Failure>;
    fn set(&mut self, param: &Param) -> Result<(), Failure>;
    /// Does OpenSSL's `update`, or its `cipher`, in which empty input ends the message. Returns how many bytes are written.
    ///
    /// # Safety
    /// `size` bytes are readable at `from`, unless that is null, and `room` bytes are writable at `to`, unless that is null.
    unsafe fn update(&mut self, is_piece: bool, to: *mut u8, room: usize, from: *const u8, size: usize) -> Result<usize, Failure>;
    /// Ends the message.
    fn finish(&mut self) -> Result<(), Failure>;
}

pub(crate) unsafe extern "C" fn new_cipher<T: Cipher<'static>, const BITS: usize>(provider: *mut c_void) -> *mut T {
    // SAFETY: OpenSSL's call.
    unsafe { new(provider, |provider| T::new(provider, BITS / 8)) }
}

pub(crate) unsafe extern "C" fn init<T: Cipher<'static>, const SEALS: bool>(
    context: *mut T,
    key: *const u8,
    key_length: usize,
    iv: *const u8,
    iv_length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        call(context, |context| {
            let (key, iv) = (given(key, key_length, Reason::InvalidKeyLength)?, given(iv, iv_length, Reason::InvalidIvLength)?);
            context.init(SEALS, key, iv)?;
            Param::list(params.cast_mut()).try_for_each(|param| context.set(param))
        })
    }
}

pub(crate) unsafe extern "C" fn update<T: Cipher<'static>, const PIECE: bool>(
    context: *mut T,
    to: *mut u8,
    written: *mut usize,
    room: usize,
    from: *const u8,
    size: usize,
) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        *written = 0;
        call(context, |context| {
            *written = context.update(PIECE, to, room, from, size)?;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn finish<T: Cipher<'static>>(context: *mut T, _: *mut u8, written: *mut usize, _: usize) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe {
        *written = 0;
        call(context, T::finish)
    }
}

pub(crate) unsafe extern "C" fn get<T: Cipher<'static>>(context: *mut T, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours.
    unsafe { call(context, |context| Param::list(params).try_for_each(|param| context.get(param))) }
}

pub(crate) unsafe extern "C" fn set<T: Cipher<'static>>(context: *mut T, params: *const Param) -> c_int {
    // SAFETY: OpenSSL's call, for a context of ours; nothing is written to the parameters.
    unsafe { call(context, |context| Param::list(params.cast_mut()).try_for_each(|param| context.set(param))) }
}

/// Makes an object to which OpenSSL will have a pointer. (`Box::write` makes it in its final place.)
/// # Safety
/// `provider` is ours; OpenSSL frees all objects before it.
pub(crate) unsafe fn new<T: Object<'static>>(provider: *mut c_void, new: impl FnOnce(&'static Provider) -> T) -> *mut T {
    // SAFETY: the caller's promise.
    let provider = unsafe { Provider::at(provider) };
    guarded(ptr::null_mut(), || pointer(provider, room().map(|room| Box::write(room, new(provider)))))
}

/// Returns the pointer for OpenSSL, or null with a reason if there is no object.
#[inline(always)]
fn pointer<T>(provider: &Provider, object: Result<Box<T>, Failure>) -> *mut T {
    object.map_err(|reason| reason.inspect(|reason| provider.errors.raise(*reason))).map_or(ptr::null_mut(), Box::into_raw)
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

/// Frees an object, and wipes all of its memory: where an object is made as a value, a move copies bytes of the stack into places that no field
/// has, such as the room of a message in pieces.
pub(crate) unsafe extern "C" fn free<T: Object<'static>>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: `new` or `duplicate` made it, and nobody uses it any more.
        guarded((), || unsafe {
            let mut room = Box::from_raw(object.cast::<MaybeUninit<T>>());
            room.assume_init_drop();
            room.as_mut_ptr().write_bytes(0, 1);
            zeroize::optimization_barrier(&*room);
        });
    }
}

pub(crate) unsafe extern "C" fn duplicate<T: Object<'static>>(object: *const T) -> *mut T {
    // SAFETY: OpenSSL's call, for an object of ours.
    let object = unsafe { &*object };
    guarded(ptr::null_mut(), || {
        let copy = room::<T>().and_then(|mut room| {
            // SAFETY: the room is for one `T`, of which `own` replaces what has another owner.
            unsafe {
                let own = object.duplicate()?;
                room.as_mut_ptr().copy_from_nonoverlapping(object, 1);
                own(room.as_mut_ptr());
                Ok(room.assume_init())
            }
        });
        pointer(object.provider(), copy)
    })
}
