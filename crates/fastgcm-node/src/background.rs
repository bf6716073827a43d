//! Work in a thread of Node's pool, while JavaScript runs: one message, or a call of the operating system that may take long.
//!
//! All inputs are copied before the call returns, because JavaScript may change or detach its buffers from then on. The output is memory
//! that `lib/aead.js` hands out only when the work is done.

use crate::{
    aead::{Aead, AnyNonce, AnyTag, of_length},
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Value, copied, writable},
};
use napi_sys as sys;
use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

/// The work. It owns its data, or nobody else uses them meanwhile, so it may go to another thread.
type Task = Box<dyn FnOnce() -> Result<(), Fault>>;

struct Work {
    /// The work, or `None` when it has begun.
    task: Option<Task>,
    done: Result<(), Fault>,
    /// A reference that keeps memory, or null.
    kept: sys::napi_ref,
    promise: sys::napi_deferred,
    work: sys::napi_async_work,
}

/// A message that is sealed or opened.
struct Message {
    key: Aead,
    nonce: AnyNonce,
    aad: Vec<u8>,
    /// The tag behind the ciphertext; `None` for a message that is sealed.
    tag: Option<AnyTag>,
    out: *mut u8,
    len: usize,
}

impl Message {
    fn run(&self) -> Result<(), Fault> {
        // SAFETY: the memory is kept, and nobody else uses it until the work is done.
        let out = unsafe { slice::from_raw_parts_mut(self.out, self.len) };
        if let Some(tag) = &self.tag {
            return Ok(self.key.open(self.nonce.get(), &self.aad, None, out, tag)?);
        }
        let (text, tag) = out.split_at_mut(self.len - self.key.tag_len());
        // A text that is too long must not stay there in plain form.
        Ok(self.key.seal(self.nonce.get(), &self.aad, None, text, tag).inspect_err(|_| text.fill(0))?)
    }
}

/// `background(key, seals, nonce, data, aad, out)` returns a promise of `undefined` or of a fault's number.
pub(crate) fn background(call: &Call) -> Result<Value, Fault> {
    let (key, seals) = (call.get::<Aead>(0)?.clone(), call.flag(1));
    let nonce = key.nonce(call.bytes(2, Name::Nonce)?.get())?;
    let (data, aad) = (call.bytes(3, Name::Data)?, call.optional(4, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let text = if seals { data.len() } else { key.text_len(data.len(), 0)? };
    let tag = if seals { None } else { Some(key.tag(&data.get()[text..])?) };
    let bytes = of_length(call.bytes(5, Name::Out)?, if seals { text + key.tag_len() } else { text })?;
    let aad_copy = copied(aad.get())?;
    let (_, out) = writable(bytes, Bytes::EMPTY, &[data, aad])?;
    out[..text].copy_from_slice(&data.get()[..text]);
    let message = Message { key, nonce, aad: aad_copy, tag, out: out.as_mut_ptr(), len: out.len() };
    start(call, Some(call.argument(5)), move || message.run())
}

/// Begins work, and keeps the memory of a value until it is done. Returns a promise of `undefined` or of a fault's number.
pub(crate) fn start(
    call: &Call,
    kept: Option<sys::napi_value>,
    task: impl FnOnce() -> Result<(), Fault> + 'static,
) -> Result<Value, Fault> {
    let none = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let work = Work { task: Some(Box::new(task)), done: Ok(()), kept: none.0, promise: none.1, work: none.2 };
    let work = Box::into_raw(Box::new(work));
    let (name, mut value) = (call.text("fastgcm"), ptr::null_mut());
    // SAFETY: values of this call; `work` lives until `complete` takes it back, which Node calls in this
    // thread.
    let queued = unsafe {
        let ok = |status| if status == sys::Status::napi_ok { Ok(()) } else { Err(Fault::from(Kind::Internal)) };
        kept.map_or(Ok(()), |kept| ok(sys::napi_create_reference(call.env, kept, 1, &mut (*work).kept)))
            .and_then(|()| ok(sys::napi_create_promise(call.env, &mut (*work).promise, &mut value)))
            .and_then(|()| {
                let (run, end) = (Some(execute as _), Some(complete as _));
                ok(sys::napi_create_async_work(call.env, ptr::null_mut(), name.0, run, end, work.cast(), &mut (*work).work))
            })
            .and_then(|()| ok(sys::napi_queue_async_work(call.env, (*work).work)))
    };
    if let Err(fault) = queued {
        // SAFETY: nobody else has a pointer to it.
        drop(unsafe { Box::from_raw(work) });
        return Err(fault);
    }
    Ok(Value(value))
}

unsafe extern "C" fn execute(_: sys::napi_env, work: *mut c_void) {
    // SAFETY: `start` made it, and this thread alone has it now.
    let work = unsafe { &mut *work.cast::<Work>() };
    let task = || work.task.take().map_or_else(|| Err(Kind::Internal.into()), |task| task());
    work.done = catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|_| Err(Kind::Internal.into()));
}

unsafe extern "C" fn complete(env: sys::napi_env, status: sys::napi_status, work: *mut c_void) {
    // SAFETY: `start` made it, and this is called once.
    let work = unsafe { Box::from_raw(work.cast::<Work>()) };
    let done = if status == sys::Status::napi_ok { work.done } else { Err(Kind::Internal.into()) };
    let mut value = ptr::null_mut();
    // SAFETY: Node calls this in the thread of `env`; these are of the same, and end here.
    unsafe {
        match done {
            Ok(()) => sys::napi_get_undefined(env, &mut value),
            Err(fault) => sys::napi_create_double(env, fault.number(), &mut value),
        };
        sys::napi_resolve_deferred(env, work.promise, value);
        if !work.kept.is_null() {
            sys::napi_delete_reference(env, work.kept);
        }
        sys::napi_delete_async_work(env, work.work);
    }
}
