//! The calls for Java before 25, by JNI. Memory is an array and a place in it, or null and an address. Arrays are held with
//! `GetPrimitiveArrayCritical`: garbage collection waits, and Java cuts messages so that it does not wait for long.

use crate::calls::*;
use fastgcm::{Key, hazmat::Pieces};
use jni_sys::{JNI_ABORT, JNI_FALSE, JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jobject};
use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

/// A function of the virtual machine, which has all of those that JNI 1.4 has.
macro_rules! java {
    ($env:expr, $name:ident $(, $argument:expr)*) => {
        (**$env).$name.unwrap_unchecked()($env $(, $argument)*)
    };
}

/// An array that is held until this value is dropped, or memory elsewhere.
struct Held {
    env: *mut JNIEnv,
    array: jbyteArray,
    start: *mut u8,
    /// `JNI_ABORT` if the array is only read.
    mode: jint,
}

impl Held {
    /// # Safety
    /// `array` is an array of bytes or null, and while it is held no function of Java is called but those that hold and release.
    unsafe fn new(env: *mut JNIEnv, array: jbyteArray, mode: jint) -> Option<Self> {
        let mut held = Self { env, array: ptr::null_mut(), start: ptr::null_mut(), mode };
        if !array.is_null() {
            // SAFETY: the caller's promise.
            held.start = unsafe { java!(env, GetPrimitiveArrayCritical, array, ptr::null_mut()) }.cast();
            if held.start.is_null() {
                return None;
            }
            held.array = array;
        }
        Some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.array.is_null() {
            // SAFETY: held since `new`.
            unsafe { java!(self.env, ReleasePrimitiveArrayCritical, self.array, self.start.cast(), self.mode) };
        }
    }
}

/// Memory in Java's terms: an array and a place in it, or null, an address, and the end of the memory there.
#[derive(Clone, Copy)]
struct Place {
    array: jbyteArray,
    at: jlong,
    end: jlong,
}

impl Place {
    /// Returns all of an array.
    ///
    /// # Safety
    /// As for `both`: no array is held.
    #[inline(always)]
    unsafe fn all(env: *mut JNIEnv, array: jbyteArray) -> Self {
        // SAFETY: the caller's promise.
        let end = if array.is_null() { 0 } else { unsafe { java!(env, GetArrayLength, array) }.into() };
        Self { array, at: 0, end }
    }

    /// Returns where it begins, if `size` bytes from there on are within the memory. Java has checked that; a fault in that check must not
    /// become one of the virtual machine. (Java passes the end of an array, from the array itself: asking for it here takes 8 ns for each.)
    #[inline(always)]
    fn inside(self, size: jlong) -> Option<usize> {
        let nowhere = self.array.is_null() && self.at == 0 && size > 0;
        let fits = size >= 0 && self.at >= 0 && self.at <= self.end && size <= self.end - self.at;
        if fits && !nowhere { usize::try_from(self.at).ok() } else { None }
    }
}

/// Calls `call` with where the first `size` bytes of an array begin, and with their number. They are only read.
///
/// # Safety
/// As for `Held::new`, but that no array is held yet.
unsafe fn reading<T>(env: *mut JNIEnv, array: jbyteArray, size: jint, failed: T, call: impl FnOnce(*const u8, usize) -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe {
        match Place::all(env, array).inside(size.into()).and_then(|_| Held::new(env, array, JNI_ABORT)) {
            Some(held) => call(held.start, size as usize),
            None => failed,
        }
    }
}

/// Calls `call` with where an array begins (null is nowhere) and with a place in it, from which so many bytes are written.
///
/// # Safety
/// As for `both`.
unsafe fn writing(env: *mut JNIEnv, to: Place, size: jlong, call: impl FnOnce(*mut u8, usize) -> jint) -> jint {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(at) = to.inside(size) else { return FAULT };
        Held::new(env, to.array, 0).map_or(FAULT, |held| call(held.start, at))
    }
}

/// Calls `call` with where these begin and with the places in them. One is read and one is written, so many bytes each. An array that is
/// both is held once.
///
/// # Safety
/// As for `Held::new`, but that no array is held yet.
#[inline(always)]
unsafe fn both(
    env: *mut JNIEnv,
    (from, reads): (Place, jlong),
    (to, writes): (Place, jlong),
    call: impl FnOnce(*const u8, usize, *mut u8, usize) -> jint,
) -> jint {
    // SAFETY: the caller's promise.
    unsafe {
        let (Some(from_at), Some(to_at)) = (from.inside(reads), to.inside(writes)) else { return FAULT };
        let same = !from.array.is_null() && java!(env, IsSameObject, from.array, to.array) != JNI_FALSE;
        let Some(target) = Held::new(env, to.array, 0) else { return FAULT };
        if same {
            return call(target.start, from_at, target.start, to_at);
        }
        Held::new(env, from.array, JNI_ABORT).map_or(FAULT, |source| call(source.start, from_at, target.start, to_at))
    }
}

/// Returns how many bytes of text and tag are read, and how many are written.
fn sizes(size: jint, tag: jint, seals: jboolean) -> (jlong, jlong) {
    let (text, all) = (jlong::from(size), jlong::from(size) + jlong::from(tag.max(0)));
    if size < 0 || tag < 0 {
        (-1, -1)
    } else if seals != JNI_FALSE {
        (text, all)
    } else {
        (all, text)
    }
}

/// Calls `call` with a copy of the nonce and the AAD behind it, which takes less time than holding the array.
///
/// # Safety
/// As for `both`.
#[inline(always)]
unsafe fn copied(env: *mut JNIEnv, head: jbyteArray, nonce: jint, aad: jint, call: impl FnOnce(*const u8) -> jint) -> jint {
    let size = jlong::from(nonce) + jlong::from(aad);
    // SAFETY: the caller's promise.
    let fits = nonce >= 0 && aad >= 0 && !head.is_null() && unsafe { Place::all(env, head) }.inside(size).is_some();
    let (mut few, mut many) = ([0u8; 64], Vec::<u8>::new());
    let copy = if !fits {
        return FAULT;
    } else if size as usize <= few.len() {
        few.as_mut_ptr()
    } else if many.try_reserve_exact(size as usize).is_ok() {
        many.as_mut_ptr()
    } else {
        return FAULT;
    };
    // SAFETY: the caller's promise; the copy has room for as many, and the array has them.
    unsafe { java!(env, GetByteArrayRegion, head, 0, size as jint, copy.cast()) };
    call(copy)
}

/// The places of the two fields of a buffer that say whether its memory may vanish: `segment` is not null if an arena owns the memory, `fd`
/// not if it is a mapped file. Java has no method for that before 22. A place is null if this Java has no such field; then all memory is
/// taken to be such.
static SEGMENT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static MAPPED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// # Safety
/// Java calls it, in a thread without an exception.
unsafe fn find_fields(env: *mut JNIEnv) {
    for (place, class, field, kind) in [
        (&SEGMENT, c"java/nio/Buffer", c"segment", c"Ljava/lang/foreign/MemorySegment;"),
        (&SEGMENT, c"java/nio/Buffer", c"segment", c"Ljdk/internal/access/foreign/MemorySegmentProxy;"),
        (&MAPPED, c"java/nio/MappedByteBuffer", c"fd", c"Ljava/io/FileDescriptor;"),
    ] {
        // SAFETY: the caller's promise.
        unsafe {
            let class = java!(env, FindClass, class.as_ptr());
            if !class.is_null() && place.load(Relaxed).is_null() {
                place.store(java!(env, GetFieldID, class, field.as_ptr(), kind.as_ptr()).cast(), Relaxed);
            }
            java!(env, ExceptionClear); // of a field that is not there
        }
    }
}

/// Functions of the class `io.github.fastgcm.Native`.
macro_rules! native {
    ($(fn $name:ident($env:ident $(, $argument:ident: $type:ident)*) -> $result:tt $body:block)+) => {
        /// A hash (FNV) of the names and types of all of these.
        const FINGERPRINT: jint = {
            let text = concat!($(stringify!($name), "(", $(stringify!($type), ",",)* ")", stringify!($result), ";"),+).as_bytes();
            let (mut hash, mut at) = (0x811c_9dc5u32, 0);
            while at < text.len() {
                hash = (hash ^ text[at] as u32).wrapping_mul(0x0100_0193);
                at += 1;
            }
            hash as jint
        };
        $(
        /// Does what its namesake in `calls` does.
        ///
        /// # Safety
        /// Java calls it, with what it has checked.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe)] // one has no need of it
        pub unsafe extern "system" fn $name($env: *mut JNIEnv, _: jclass $(, $argument: $type)*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    )+};
}

/// Returns a number that differs where the functions differ: the classes of Java refuse the library of another jar.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_java_fingerprint() -> c_int {
    FINGERPRINT
}

native! {
    fn Java_io_github_fastgcm_Native_start(env, name: jbyteArray, size: jint) -> jint {
        find_fields(env);
        reading(env, name, size, 0, |name, size| fastgcm_java_start(name, size))
    }

    fn Java_io_github_fastgcm_Native_backend(env, name: jbyteArray, size: jint) -> jint {
        writing(env, Place::all(env, name), size.into(), |name, _| fastgcm_java_backend(name, size as usize))
    }

    fn Java_io_github_fastgcm_Native_address(env, buffer: jobject) -> jlong {
        let has = |field: &AtomicPtr<c_void>| {
            let field = field.load(Relaxed);
            field.is_null() || !java!(env, GetObjectField, buffer, field.cast()).is_null()
        };
        let address = java!(env, GetDirectBufferAddress, buffer) as jlong;
        if has(&SEGMENT) || has(&MAPPED) { -address } else { address }
    }

    fn Java_io_github_fastgcm_Native_fingerprint(_env) -> jint {
        fastgcm_java_fingerprint()
    }

    fn Java_io_github_fastgcm_Native_key(env, bytes: jbyteArray, size: jint) -> jlong {
        reading(env, bytes, size, 0, |bytes, size| fastgcm_java_key(bytes, size) as jlong)
    }

    fn Java_io_github_fastgcm_Native_freeKey(_env, key: jlong) -> () {
        fastgcm_java_key_free(key as *mut Key);
    }

    fn Java_io_github_fastgcm_Native_derive(env, root: jbyteArray, nonce: jbyteArray, made: jbyteArray, commits: jboolean) -> jint {
        for (array, size) in [(root, 32), (nonce, 24), (made, 64)] {
            if Place::all(env, array).inside(size).is_none() {
                return FAULT;
            }
        }
        let done = Held::new(env, root, JNI_ABORT).and_then(|root| {
            let nonce = Held::new(env, nonce, JNI_ABORT)?;
            let made = Held::new(env, made, 0)?;
            Some(fastgcm_java_derive(root.start, nonce.start, made.start, commits as c_int))
        });
        done.unwrap_or(FAULT)
    }

    fn Java_io_github_fastgcm_Native_messageAt(
        env, key: jlong, head: jbyteArray, nonce: jint, aad: jint, from: jbyteArray, from_at: jlong, from_end: jlong, size: jint,
        to: jbyteArray, to_at: jlong, to_end: jlong, tag: jint, seals: jboolean
    ) -> jint {
        let (reads, writes) = sizes(size, tag, seals);
        let (from, to) = (Place { array: from, at: from_at, end: from_end }, Place { array: to, at: to_at, end: to_end });
        copied(env, head, nonce, aad, |head| both(env, (from, reads), (to, writes), |from, from_at, to, to_at| {
            fastgcm_java_message(
                key as *const Key, head, nonce as usize, aad as usize, from, from_at, size as usize, to, to_at, tag as usize, seals as c_int
            )
        }))
    }

    fn Java_io_github_fastgcm_Native_onceAt(
        env, key: jbyteArray, key_size: jint, head: jbyteArray, nonce: jint, aad: jint, from: jbyteArray, from_at: jlong, from_end: jlong,
        size: jint, to: jbyteArray, to_at: jlong, to_end: jlong, tag: jint, seals: jboolean
    ) -> jint {
        let (reads, writes) = sizes(size, tag, seals);
        let (from, to) = (Place { array: from, at: from_at, end: from_end }, Place { array: to, at: to_at, end: to_end });
        if Place::all(env, key).inside(key_size.into()).is_none() {
            return FAULT;
        }
        copied(env, head, nonce, aad, |head| both(env, (from, reads), (to, writes), |from, from_at, to, to_at| {
            // There is no copy of the key, which would have to be wiped.
            Held::new(env, key, JNI_ABORT).map_or(FAULT, |key| fastgcm_java_once(
                key.start, key_size as usize, head, nonce as usize, aad as usize, from, from_at, size as usize, to, to_at, tag as usize, seals as c_int
            ))
        }))
    }

    fn Java_io_github_fastgcm_Native_pieces(env, key: jlong, nonce: jbyteArray, size: jint) -> jlong {
        reading(env, nonce, size, 0, |nonce, size| fastgcm_java_pieces(key as *const Key, nonce, size) as jlong)
    }

    fn Java_io_github_fastgcm_Native_freePieces(_env, pieces: jlong) -> () {
        fastgcm_java_pieces_free(pieces as *mut Pieces);
    }

    fn Java_io_github_fastgcm_Native_aad(env, pieces: jlong, key: jlong, aad: jbyteArray, aad_at: jint, size: jint) -> jint {
        // This is `both` with nothing to write: the array is only read, but not from its beginning.
        let (from, to) = (Place { at: aad_at.into(), ..Place::all(env, aad) }, Place { array: ptr::null_mut(), at: 0, end: 0 });
        both(env, (from, size.into()), (to, 0), |aad, aad_at, _, _| {
            fastgcm_java_aad(pieces as *mut Pieces, key as *const Key, aad, aad_at, size as usize)
        })
    }

    fn Java_io_github_fastgcm_Native_textAt(
        env, pieces: jlong, key: jlong, from: jbyteArray, from_at: jlong, from_end: jlong, size: jint,
        to: jbyteArray, to_at: jlong, to_end: jlong, seals: jboolean
    ) -> jint {
        let (from, to) = (Place { array: from, at: from_at, end: from_end }, Place { array: to, at: to_at, end: to_end });
        both(env, (from, size.into()), (to, size.into()), |from, from_at, to, to_at| {
            fastgcm_java_text(pieces as *mut Pieces, key as *const Key, from, from_at, size as usize, to, to_at, seals as c_int)
        })
    }

    fn Java_io_github_fastgcm_Native_endAt(
        env, pieces: jlong, key: jlong, tag: jbyteArray, tag_at: jlong, tag_end: jlong, size: jint, seals: jboolean
    ) -> jint {
        writing(env, Place { array: tag, at: tag_at, end: tag_end }, size.into(), |tag, tag_at| {
            fastgcm_java_end(pieces as *mut Pieces, key as *const Key, tag, tag_at, size as usize, seals as c_int)
        })
    }
}
