//! The border to JavaScript: arguments of a call, bytes of its buffers, and objects that JavaScript holds.
//! With `background`, the only module that calls Node-API: all `unsafe` of a call stands in these two.
//!
//! A call has its thread to itself: until it returns, nobody runs JavaScript, so nobody can change, move or
//! free the memory of a buffer. Memory that several threads share (`SharedArrayBuffer`) is refused. Two
//! buffers of one call may lie over each other: see [`Bytes::place`].

use crate::{
    VERBS,
    fault::{Fault, Kind, Name},
};
use napi_sys as sys;
use std::{
    cell::{Cell, Ref, RefCell, RefMut},
    ffi::{c_char, c_void},
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};
use zeroize::Zeroize;

/// What JavaScript gets: `undefined`, or a value.
pub(crate) struct Value(pub(crate) sys::napi_value);

impl Value {
    pub(crate) const UNDEFINED: Self = Self(ptr::null_mut());
}

/// A function that JavaScript calls. A fault comes out as a number.
pub(crate) type Verb = fn(&Call) -> Result<Value, Fault>;

/// The most arguments of a call.
const MOST: usize = 6;

/// A call: where it comes from, and its arguments. What was left out is `undefined`.
pub(crate) struct Call {
    pub(crate) env: sys::napi_env,
    arguments: [sys::napi_value; MOST],
    /// Whether it has made an object.
    has_made: Cell<bool>,
}

/// Calls the verb whose number the function has.
unsafe extern "C" fn enter(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut call = Call { env, arguments: [ptr::null_mut(); MOST], has_made: Cell::new(false) };
    let (mut count, mut number) = (MOST, ptr::null_mut());
    // SAFETY: Node-API writes as many arguments as there is room for, and what `register` gave it.
    let got = unsafe { sys::napi_get_cb_info(env, info, &mut count, call.arguments.as_mut_ptr(), ptr::null_mut(), &mut number) };
    let verb = VERBS.get(number as usize).filter(|_| got == sys::Status::napi_ok);
    let work = || verb.map_or_else(|| Err(Kind::Internal.into()), |(_, verb)| verb(&call));
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Kind::Internal.into()));
    if call.has_made.get() {
        overwrite_stack();
    }
    match done {
        Ok(value) => value.0,
        Err(fault) => call.number(fault.number()).0,
    }
}

/// Zeros where functions that have returned had their variables: a key that is not made where it stays leaves
/// copies there, on its way.
#[inline(never)]
fn overwrite_stack() {
    let mut room = [1_u8; 16384];
    room.zeroize();
}

/// Node calls this when a thread loads the library.
#[unsafe(no_mangle)]
unsafe extern "C" fn napi_register_module_v1(env: sys::napi_env, exports: sys::napi_value) -> sys::napi_value {
    for (number, (name, _)) in VERBS.iter().enumerate() {
        let mut function = ptr::null_mut();
        let length = name.count_bytes() as isize;
        // SAFETY: a name that ends with zero, a function of the right kind, and the number that it reads.
        unsafe {
            sys::napi_create_function(env, name.as_ptr(), length, Some(enter), number as *mut c_void, &mut function);
            sys::napi_set_named_property(env, exports, name.as_ptr(), function);
        }
    }
    exports
}

/// The version of Node-API that this library is written for: 8, but with finalizers that Node calls when the collector finds an object
/// (`NAPI_VERSION_EXPERIMENTAL`; Node 18.20 and 20.10 are the first that do). With 8, Node calls them when the event loop turns: 400,000 keys of
/// one loop took 1,453 MB and kept their secrets, where they take 65 MB now (Node 20.20). An older Node, and Deno, wait for the turn in either case.
/// Such a finalizer must not call what may run the collector: see [`finalize`].
#[unsafe(no_mangle)]
extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    i32::MAX
}

impl Call {
    /// The bytes of an argument: a typed array, a `DataView` or an `ArrayBuffer`.
    #[inline]
    pub(crate) fn bytes(&self, at: usize, name: Name) -> Result<Bytes<'_>, Fault> {
        self.bytes_of(self.arguments[at], name)
    }

    pub(crate) fn argument(&self, at: usize) -> sys::napi_value {
        self.arguments[at]
    }

    /// The bytes of an argument that may be left out.
    #[inline]
    pub(crate) fn optional(&self, at: usize, name: Name) -> Result<Option<Bytes<'_>>, Fault> {
        match self.bytes(at, name) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) if self.is_missing(self.arguments[at]) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    pub(crate) fn is_left_out(&self, at: usize) -> bool {
        self.is_missing(self.arguments[at])
    }

    /// Whether it is `undefined` or `null`.
    fn is_missing(&self, value: sys::napi_value) -> bool {
        let mut kind = sys::ValueType::napi_object;
        // SAFETY: a value of this call.
        unsafe { sys::napi_typeof(self.env, value, &mut kind) };
        kind == sys::ValueType::napi_undefined || kind == sys::ValueType::napi_null
    }

    #[inline]
    fn bytes_of(&self, value: sys::napi_value, name: Name) -> Result<Bytes<'_>, Fault> {
        let (mut kind, mut count, mut start) = (0, 0, ptr::null_mut());
        let (mut buffer, mut offset) = (ptr::null_mut(), 0);
        // SAFETY: a value of this call, and room for what is said of it.
        let got = unsafe { sys::napi_get_typedarray_info(self.env, value, &mut kind, &mut count, &mut start, &mut buffer, &mut offset) };
        let len = if got == sys::Status::napi_ok {
            count * size_of_item(kind).ok_or(Fault::of(Kind::NotBytes, name))?
        } else {
            let mut len = 0;
            // SAFETY: likewise.
            if unsafe { sys::napi_get_dataview_info(self.env, value, &mut len, &mut start, &mut buffer, &mut offset) }
                != sys::Status::napi_ok
            {
                buffer = value;
                // SAFETY: likewise.
                if unsafe { sys::napi_get_arraybuffer_info(self.env, value, &mut start, &mut len) } != sys::Status::napi_ok {
                    return Err(Fault::of(Kind::NotBytes, name));
                }
            }
            len
        };
        // Bun takes an `ArrayBuffer` for a view, and names no buffer of it.
        let buffer = if buffer.is_null() { value } else { buffer };
        let mut owned = false;
        // SAFETY: a value of this call. (A `SharedArrayBuffer` is no `ArrayBuffer`.)
        unsafe { sys::napi_is_arraybuffer(self.env, buffer, &mut owned) };
        if !owned {
            return Err(Fault::of(Kind::Shared, name));
        }
        if len == 0 || start.is_null() {
            let mut detached = false;
            // SAFETY: likewise. What is detached has no bytes.
            unsafe { sys::napi_is_detached_arraybuffer(self.env, buffer, &mut detached) };
            return if detached { Err(Fault::of(Kind::Detached, name)) } else { Ok(Bytes::EMPTY) };
        }
        Ok(Bytes { start: start.cast(), len, call: PhantomData })
    }

    /// The items of an argument that is a list, or `None` if it is not one.
    ///
    /// Reading an item may run JavaScript (a getter), so all are read before the bytes of the first.
    pub(crate) fn list(&self, at: usize) -> Result<Option<Vec<sys::napi_value>>, Fault> {
        let (list, mut is_list, mut count) = (self.arguments[at], false, 0);
        // SAFETY: a value of this call.
        unsafe { sys::napi_is_array(self.env, list, &mut is_list) };
        if !is_list {
            return Ok(None);
        }
        // SAFETY: a list.
        unsafe { sys::napi_get_array_length(self.env, list, &mut count) };
        let mut items = with_room(count as usize)?;
        for at in 0..count {
            let mut item = ptr::null_mut();
            // SAFETY: a list. What throws leaves an exception, which JavaScript sees when this call returns.
            if unsafe { sys::napi_get_element(self.env, list, at, &mut item) } != sys::Status::napi_ok {
                return Err(Kind::NotList.into());
            }
            items.push(item);
        }
        Ok(Some(items))
    }

    /// The bytes of each item.
    pub(crate) fn bytes_of_all(&self, items: &[sys::napi_value], name: Name) -> Result<Vec<Bytes<'_>>, Fault> {
        let mut all = with_room(items.len())?;
        for (row, item) in (0..).zip(items) {
            all.push(self.bytes_of(*item, name).map_err(|fault| fault.row(row))?);
        }
        Ok(all)
    }

    pub(crate) fn flag(&self, at: usize) -> bool {
        let mut flag = false;
        // SAFETY: a value of this call; of what is no boolean nothing is written.
        unsafe { sys::napi_get_value_bool(self.env, self.arguments[at], &mut flag) };
        flag
    }

    /// A whole number that is not negative.
    pub(crate) fn whole(&self, at: usize, name: Name) -> Result<u64, Fault> {
        let mut number = f64::NAN;
        // SAFETY: a value of this call; of what is no number nothing is written.
        unsafe { sys::napi_get_value_double(self.env, self.arguments[at], &mut number) };
        let (mut big, mut lossless) = (0, false);
        // SAFETY: likewise, of what is no bigint.
        unsafe { sys::napi_get_value_bigint_uint64(self.env, self.arguments[at], &mut big, &mut lossless) };
        if lossless {
            return Ok(big);
        }
        let is_whole = number.trunc() == number && (0.0..=9_007_199_254_740_991.0).contains(&number);
        if is_whole { Ok(number as u64) } else { Err(Fault::of(Kind::NotNumber, name)) }
    }

    pub(crate) fn number(&self, number: f64) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: it makes a value of this call, or leaves `undefined`.
        unsafe { sys::napi_create_double(self.env, number, &mut value) };
        Value(value)
    }

    pub(crate) fn bigint(&self, number: u64) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: likewise.
        unsafe { sys::napi_create_bigint_uint64(self.env, number, &mut value) };
        Value(value)
    }

    pub(crate) fn text(&self, text: &str) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: likewise, of that many bytes.
        unsafe { sys::napi_create_string_utf8(self.env, text.as_ptr().cast::<c_char>(), text.len() as isize, &mut value) };
        Value(value)
    }

    /// An object that JavaScript holds, and that is dropped when nobody there has it any more.
    pub(crate) fn object<T: Object>(&self, object: T) -> Result<Value, Fault> {
        let held = Box::into_raw(Box::new(Held { kind: T::KIND, object: RefCell::new(Some(Box::new(object))) }));
        let mut value = ptr::null_mut();
        // SAFETY: what it points to lives until `finalize` takes it back.
        let made = unsafe { sys::napi_create_external(self.env, held.cast(), Some(finalize::<T>), ptr::null_mut(), &mut value) };
        if made != sys::Status::napi_ok {
            // SAFETY: nobody else has got it.
            drop(unsafe { Box::from_raw(held) });
            return Err(Kind::Internal.into());
        }
        self.has_made.set(true);
        self.adjust(size_of::<T>() as i64 + T::MORE);
        Ok(Value(value))
    }

    /// Tells the garbage collector what it does not see.
    fn adjust(&self, bytes: i64) {
        let mut total = 0;
        // SAFETY: it only counts.
        unsafe { sys::napi_adjust_external_memory(self.env, bytes, &mut total) };
    }

    #[inline]
    fn held<T: Object>(&self, at: usize) -> Result<&Held<T>, Fault> {
        let mut held = ptr::null_mut();
        // SAFETY: a value of this call.
        let got = unsafe { sys::napi_get_value_external(self.env, self.arguments[at], &mut held) };
        if got != sys::Status::napi_ok || held.is_null() {
            return Err(Kind::NotObject.into());
        }
        // SAFETY: `object` made it (the functions of this module are called by `lib/`, which keeps what they
        // return to itself). Each begins with its kind; it lives at least as long as this call, whose
        // argument it is.
        unsafe { if (*held.cast::<Start>()).kind == T::KIND { Ok(&*held.cast::<Held<T>>()) } else { Err(Kind::NotObject.into()) } }
    }

    /// An object of that kind, if it was not destroyed. Whoever holds it must call nothing that may run JavaScript ([`Self::list`]): what that
    /// destroys would be refused as `Busy`.
    #[inline]
    pub(crate) fn get<T: Object>(&self, at: usize) -> Result<Ref<'_, T>, Fault> {
        let object = self.held::<T>(at)?.object.try_borrow().map_err(|_| Kind::Busy)?;
        Ref::filter_map(object, Option::as_deref).map_err(|_| Kind::Gone.into())
    }

    /// Returns that object, to change it.
    pub(crate) fn get_mut<T: Object>(&self, at: usize) -> Result<RefMut<'_, T>, Fault> {
        let object = self.held::<T>(at)?.object.try_borrow_mut().map_err(|_| Kind::Busy)?;
        RefMut::filter_map(object, Option::as_deref_mut).map_err(|_| Kind::Gone.into())
    }

    /// Takes the object away. When it is dropped, where it has always been, what is secret in it is wiped.
    pub(crate) fn take<T: Object>(&self, at: usize) -> Result<Option<Box<T>>, Fault> {
        Ok(self.held::<T>(at)?.object.try_borrow_mut().map_err(|_| Kind::Busy)?.take())
    }
}

/// Bytes of an item of a typed array.
fn size_of_item(kind: sys::napi_typedarray_type) -> Option<usize> {
    use sys::TypedarrayType::{
        bigint64_array, biguint64_array, float32_array, float64_array, int8_array, int16_array, int32_array, uint8_array,
        uint8_clamped_array, uint16_array, uint32_array,
    };
    match kind {
        kind if kind == uint8_array || kind == int8_array || kind == uint8_clamped_array => Some(1),
        kind if kind == int16_array || kind == uint16_array => Some(2),
        kind if kind == int32_array || kind == uint32_array || kind == float32_array => Some(4),
        kind if kind == float64_array || kind == bigint64_array || kind == biguint64_array => Some(8),
        _ => None,
    }
}

/// An empty list with room for so many.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, Fault> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Kind::NoMemory)?;
    Ok(list)
}

/// A copy.
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut copy = with_room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// What JavaScript holds objects of.
pub(crate) trait Object {
    /// Another number for each type.
    const KIND: u64;
    /// Bytes that it has elsewhere.
    const MORE: i64;
}

#[repr(C)]
struct Start {
    kind: u64,
}

#[repr(C)]
struct Held<T> {
    kind: u64,
    /// `None` once it was destroyed. In a box, because a secret that is moved leaves a copy.
    object: RefCell<Option<Box<T>>>,
}

/// It may run in the middle of a collection: of Node-API it calls only what counts.
unsafe extern "C" fn finalize<T: Object>(env: sys::napi_env, held: *mut c_void, _: *mut c_void) {
    // SAFETY: `object` made it, and this is called once.
    drop(unsafe { Box::from_raw(held.cast::<Held<T>>()) });
    let mut total = 0;
    // SAFETY: it only counts.
    unsafe { sys::napi_adjust_external_memory(env, -(size_of::<T>() as i64 + T::MORE), &mut total) };
}

/// Bytes of a buffer, for the time of a call.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'c> {
    start: *mut u8,
    len: usize,
    call: PhantomData<&'c Call>,
}

impl<'c> Bytes<'c> {
    pub(crate) const EMPTY: Self = Self { start: ptr::dangling_mut(), len: 0, call: PhantomData };

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// To be read. Nothing of the same call writes there while this lives: see [`writable`].
    #[inline]
    pub(crate) fn get(&self) -> &'c [u8] {
        // SAFETY: memory of a buffer, which stays as it is during the call (above).
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }

    #[inline]
    fn place(&self, other: &Self) -> Place {
        let (here, there) = (self.start as usize, other.start as usize);
        if self.len == 0 || other.len == 0 || here + self.len <= there || there + other.len <= here {
            Place::Apart
        } else if here == there {
            Place::Same
        } else {
            Place::Overlapping
        }
    }
}

/// How two buffers lie: they have no byte in common, begin with the same byte, or neither.
#[derive(PartialEq)]
enum Place {
    Apart,
    Same,
    Overlapping,
}

/// What a call writes, to which it reads `data` from elsewhere (the first of the results) or in place
/// (`None`). All of `others` must be apart from it.
#[inline]
pub(crate) fn writable<'c>(out: Bytes<'c>, data: Bytes<'c>, others: &[Bytes<'c>]) -> Result<(Option<&'c [u8]>, &'c mut [u8]), Fault> {
    let place = out.place(&data);
    if place == Place::Overlapping || others.iter().any(|other| out.place(other) != Place::Apart) {
        return Err(Fault::of(Kind::Overlap, Name::Out));
    }
    // SAFETY: memory of a buffer, which stays where it is during the call. What else the call reads is apart
    // from it, or this same memory, which is then read through this slice only.
    let out = unsafe { slice::from_raw_parts_mut(out.start, out.len) };
    Ok(((place == Place::Apart).then(|| data.get()), out))
}
