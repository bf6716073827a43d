//! The border to JavaScript: arguments of a call, bytes of its buffers, and objects that JavaScript holds. Only this module and
//! `background` call Node-API, so they contain all `unsafe` code of a call.
//!
//! A call has its thread to itself: until it returns, nobody runs JavaScript, so nobody can change, move or free the memory of a buffer.
//! Memory that several threads share (`SharedArrayBuffer`) is refused. Two buffers of one call may overlap: see [`Bytes::place`].

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

/// The result for JavaScript: `undefined`, or a value.
pub(crate) struct Value(pub(crate) sys::napi_value);

impl Value {
    pub(crate) const UNDEFINED: Self = Self(ptr::null_mut());
}

/// A function that JavaScript calls. A fault is returned as a number.
pub(crate) type Verb = fn(&Call) -> Result<Value, Fault>;

/// The most arguments of a call.
const MOST: usize = 6;

/// A call: where it comes from, and its arguments. A missing argument is `undefined`.
pub(crate) struct Call {
    pub(crate) env: sys::napi_env,
    arguments: [sys::napi_value; MOST],
    /// True if the call has made an object.
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

/// Writes zeros where functions that have returned had their variables: a key that is not made in its final place leaves copies there on
/// its way.
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

    /// Returns whether the value is `undefined` or `null`.
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
            // SAFETY: as above.
            if unsafe { sys::napi_get_dataview_info(self.env, value, &mut len, &mut start, &mut buffer, &mut offset) }
                != sys::Status::napi_ok
            {
                buffer = value;
                // SAFETY: as above.
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
            // SAFETY: as above. A detached buffer has no bytes.
            unsafe { sys::napi_is_detached_arraybuffer(self.env, buffer, &mut detached) };
            return if detached { Err(Fault::of(Kind::Detached, name)) } else { Ok(Bytes::EMPTY) };
        }
        Ok(Bytes { start: start.cast(), len, call: PhantomData })
    }

    /// The items of an argument that is a list, or `None` if it is not one.
    ///
    /// Reading an item may run JavaScript (a getter), so all items are read before the bytes of the first.
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

    /// Returns the bytes of each item.
    pub(crate) fn bytes_of_all(&self, items: &[sys::napi_value], name: Name) -> Result<Vec<Bytes<'_>>, Fault> {
        let mut all = with_room(items.len())?;
        for (row, item) in (0..).zip(items) {
            all.push(self.bytes_of(*item, name).map_err(|fault| fault.row(row))?);
        }
        Ok(all)
    }

    pub(crate) fn flag(&self, at: usize) -> bool {
        let mut flag = false;
        // SAFETY: a value of this call; nothing is written if it is not a boolean.
        unsafe { sys::napi_get_value_bool(self.env, self.arguments[at], &mut flag) };
        flag
    }

    /// Returns a whole number that is not negative.
    pub(crate) fn whole(&self, at: usize, name: Name) -> Result<u64, Fault> {
        let mut number = f64::NAN;
        // SAFETY: a value of this call; nothing is written if it is not a number.
        unsafe { sys::napi_get_value_double(self.env, self.arguments[at], &mut number) };
        let (mut big, mut lossless) = (0, false);
        // SAFETY: a value of this call; nothing is written if it is not a bigint.
        unsafe { sys::napi_get_value_bigint_uint64(self.env, self.arguments[at], &mut big, &mut lossless) };
        if lossless {
            return Ok(big);
        }
        let is_whole = number.trunc() == number && (0.0..=9_007_199_254_740_991.0).contains(&number);
        if is_whole { Ok(number as u64) } else { Err(Fault::of(Kind::NotNumber, name)) }
    }

    pub(crate) fn number(&self, number: f64) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: the call makes a value of this call, or leaves `undefined`.
        unsafe { sys::napi_create_double(self.env, number, &mut value) };
        Value(value)
    }

    pub(crate) fn bigint(&self, number: u64) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: the call makes a value of this call, or leaves `undefined`.
        unsafe { sys::napi_create_bigint_uint64(self.env, number, &mut value) };
        Value(value)
    }

    pub(crate) fn text(&self, text: &str) -> Value {
        let mut value = ptr::null_mut();
        // SAFETY: the call makes a value of this call from these bytes, or leaves `undefined`.
        unsafe { sys::napi_create_string_utf8(self.env, text.as_ptr().cast::<c_char>(), text.len() as isize, &mut value) };
        Value(value)
    }

    /// Returns an object that JavaScript holds. The object is dropped when nobody in JavaScript has it any more.
    pub(crate) fn object<T: Object>(&self, object: T) -> Result<Value, Fault> {
        let held = Box::into_raw(Box::new(Held { kind: T::KIND, object: RefCell::new(Some(Box::new(object))) }));
        let mut value = ptr::null_mut();
        // SAFETY: what it points to lives until `finalize` takes it back.
        let made = unsafe { sys::napi_create_external(self.env, held.cast(), Some(finalize::<T>), ptr::null_mut(), &mut value) };
        if made != sys::Status::napi_ok {
            // SAFETY: nobody else has a pointer to it.
            drop(unsafe { Box::from_raw(held) });
            return Err(Kind::Internal.into());
        }
        self.has_made.set(true);
        self.adjust(size_of::<T>() as i64 + T::MORE);
        Ok(Value(value))
    }

    /// Tells the garbage collector about memory that it does not see.
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

    /// Returns the object of that kind, unless it was destroyed. The caller must not call anything that may run JavaScript ([`Self::list`])
    /// while it holds the object: destroying it there would be refused as `Busy`.
    #[inline]
    pub(crate) fn get<T: Object>(&self, at: usize) -> Result<Ref<'_, T>, Fault> {
        let object = self.held::<T>(at)?.object.try_borrow().map_err(|_| Kind::Busy)?;
        Ref::filter_map(object, Option::as_deref).map_err(|_| Kind::Gone.into())
    }

    /// Returns that object for changes.
    pub(crate) fn get_mut<T: Object>(&self, at: usize) -> Result<RefMut<'_, T>, Fault> {
        let object = self.held::<T>(at)?.object.try_borrow_mut().map_err(|_| Kind::Busy)?;
        RefMut::filter_map(object, Option::as_deref_mut).map_err(|_| Kind::Gone.into())
    }

    /// Takes the object away. When the box is dropped, the secrets in it are wiped where they always were.
    pub(crate) fn take<T: Object>(&self, at: usize) -> Result<Option<Box<T>>, Fault> {
        Ok(self.held::<T>(at)?.object.try_borrow_mut().map_err(|_| Kind::Busy)?.take())
    }
}

/// Returns the bytes of an item of a typed array.
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

/// Returns an empty list with room for `count` items.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, Fault> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Kind::NoMemory)?;
    Ok(list)
}

/// Returns a copy.
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut copy = with_room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A type whose objects JavaScript holds.
pub(crate) trait Object {
    /// A number that differs for each type.
    const KIND: u64;
    /// The bytes that an object has elsewhere.
    const MORE: i64;
}

#[repr(C)]
struct Start {
    kind: u64,
}

#[repr(C)]
struct Held<T> {
    kind: u64,
    /// `None` once the object was destroyed. It is in a box, because a secret that is moved leaves a copy.
    object: RefCell<Option<Box<T>>>,
}

/// It may run in the middle of a collection, so it calls only the counting functions of Node-API.
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

    /// Returns the bytes for reading. Nothing in this call writes there while the slice lives: see [`writable`].
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

/// The relative position of two buffers: they have no byte in common, begin with the same byte, or neither.
#[derive(PartialEq)]
enum Place {
    Apart,
    Same,
    Overlapping,
}

/// Returns the buffer to which a call writes, and its input `data` if that lies elsewhere, or `None` if it works in place. All of `others`
/// must not overlap the buffer.
#[inline]
pub(crate) fn writable<'c>(out: Bytes<'c>, data: Bytes<'c>, others: &[Bytes<'c>]) -> Result<(Option<&'c [u8]>, &'c mut [u8]), Fault> {
    let place = out.place(&data);
    if place == Place::Overlapping || others.iter().any(|other| out.place(other) != Place::Apart) {
        return Err(Fault::of(Kind::Overlap, Name::Out));
    }
    // SAFETY: memory of a buffer, which stays in place during the call. Everything else that the call reads does not overlap it, or is this
    // memory, which is then read only through this slice.
    let out = unsafe { slice::from_raw_parts_mut(out.start, out.len) };
    Ok(((place == Place::Apart).then(|| data.get()), out))
}
