//! The same calls for Java before 25, by JNI. Memory is an array and a place in it, or null and an address. Arrays are held with
//! `GetPrimitiveArrayCritical`: garbage collection waits, and Java cuts messages so that it does not wait for long.

use crate::calls::*;
use fastgcm::{Key, hazmat::Pieces};
use jni_sys::{JNI_ABORT, JNI_FALSE, JNIEnv, jboolean, jbyteArray, jclass, jint, jlong, jobject};
use std::{ffi::c_int, ptr};

/// A function of the virtual machine, which has all of those that JNI 1.4 has.
macro_rules! java {
    ($env:expr, $name:ident $(, $argument:expr)*) => {
        (**$env).$name.unwrap_unchecked()($env $(, $argument)*)
    };
}

/// An array that is held until this is dropped, or memory elsewhere.
struct Held {
    env: *mut JNIEnv,
    array: jbyteArray,
    start: *mut u8,
    /// `JNI_ABORT` if it is only read.
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

/// What `call` makes of where that begins, which is only read.
///
/// # Safety
/// As for `Held::new`.
unsafe fn reading<T>(env: *mut JNIEnv, from: jbyteArray, failed: T, call: impl FnOnce(*const u8) -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe { Held::new(env, from, JNI_ABORT) }.map_or(failed, |held| call(held.start))
}

/// What `call` makes of where that begins, which is written.
///
/// # Safety
/// As for `Held::new`.
unsafe fn writing(env: *mut JNIEnv, to: jbyteArray, call: impl FnOnce(*mut u8) -> jint) -> jint {
    // SAFETY: the caller's promise.
    unsafe { Held::new(env, to, 0) }.map_or(FAULT, |held| call(held.start))
}

/// What `call` makes of where these begin, of which one is read, and one written. An array that is both is held once.
///
/// # Safety
/// As for `Held::new`, but that no array is held yet.
#[inline(always)]
unsafe fn both(env: *mut JNIEnv, from: jbyteArray, to: jbyteArray, call: impl FnOnce(*const u8, *mut u8) -> jint) -> jint {
    // SAFETY: the caller's promise.
    unsafe {
        let same = !from.is_null() && java!(env, IsSameObject, from, to) != JNI_FALSE;
        let Some(target) = Held::new(env, to, 0) else { return FAULT };
        if same {
            return call(target.start, target.start);
        }
        reading(env, from, FAULT, |from| call(from, target.start))
    }
}

/// What `call` makes of a copy of the first `size` bytes of an array, which takes less time than to hold it.
///
/// # Safety
/// As for `both`.
#[inline(always)]
unsafe fn copied(env: *mut JNIEnv, array: jbyteArray, size: jint, call: impl FnOnce(*const u8) -> jint) -> jint {
    let (mut few, mut many) = ([0u8; 64], Vec::<u8>::new());
    let copy = if size as usize <= few.len() {
        few.as_mut_ptr()
    } else if many.try_reserve_exact(size as usize).is_ok() {
        many.as_mut_ptr()
    } else {
        return FAULT;
    };
    // SAFETY: the caller's promise; the copy has room for as many.
    unsafe { java!(env, GetByteArrayRegion, array, 0, size, copy.cast()) };
    call(copy)
}

/// Functions of the class `io.github.fastgcm.Native`.
macro_rules! native {
    ($(fn $name:ident($env:ident $(, $argument:ident: $type:ty)*) -> $result:ty $body:block)+) => {$(
        /// As its namesake in `calls`.
        ///
        /// # Safety
        /// Java calls it, with what it has checked.
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn $name($env: *mut JNIEnv, _: jclass $(, $argument: $type)*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    )+};
}

native! {
    fn Java_io_github_fastgcm_Native_start(env, name: jbyteArray, size: jint) -> jint {
        reading(env, name, 0, |name| fastgcm_java_start(name, size as usize))
    }

    fn Java_io_github_fastgcm_Native_backend(env, name: jbyteArray, size: jint) -> jint {
        writing(env, name, |name| fastgcm_java_backend(name, size as usize))
    }

    fn Java_io_github_fastgcm_Native_address(env, buffer: jobject) -> jlong {
        java!(env, GetDirectBufferAddress, buffer) as jlong
    }

    fn Java_io_github_fastgcm_Native_key(env, bytes: jbyteArray, size: jint) -> jlong {
        reading(env, bytes, 0, |bytes| fastgcm_java_key(bytes, size as usize) as jlong)
    }

    fn Java_io_github_fastgcm_Native_freeKey(_env, key: jlong) -> () {
        fastgcm_java_key_free(key as *mut Key);
    }

    fn Java_io_github_fastgcm_Native_message(
        env, key: jlong, head: jbyteArray, nonce: jint, aad: jint, from: jbyteArray, from_at: jlong, size: jint,
        to: jbyteArray, to_at: jlong, tag: jint, seals: jboolean
    ) -> jint {
        copied(env, head, nonce + aad, |head| both(env, from, to, |from, to| {
            fastgcm_java_message(
                key as *const Key, head, nonce as usize, aad as usize, from, from_at as usize, size as usize, to, to_at as usize, tag as usize, seals as c_int
            )
        }))
    }

    fn Java_io_github_fastgcm_Native_once(
        env, key: jbyteArray, key_size: jint, head: jbyteArray, nonce: jint, aad: jint, from: jbyteArray, from_at: jlong, size: jint,
        to: jbyteArray, to_at: jlong, tag: jint, seals: jboolean
    ) -> jint {
        // No copy of the key, which would have to be wiped.
        copied(env, head, nonce + aad, |head| both(env, from, to, |from, to| reading(env, key, FAULT, |key| {
            fastgcm_java_once(
                key, key_size as usize, head, nonce as usize, aad as usize, from, from_at as usize, size as usize, to, to_at as usize, tag as usize, seals as c_int
            )
        })))
    }

    fn Java_io_github_fastgcm_Native_pieces(env, key: jlong, nonce: jbyteArray, size: jint) -> jlong {
        reading(env, nonce, 0, |nonce| fastgcm_java_pieces(key as *const Key, nonce, size as usize) as jlong)
    }

    fn Java_io_github_fastgcm_Native_freePieces(_env, pieces: jlong) -> () {
        fastgcm_java_pieces_free(pieces as *mut Pieces);
    }

    fn Java_io_github_fastgcm_Native_aad(env, pieces: jlong, key: jlong, aad: jbyteArray, aad_at: jlong, size: jint) -> jint {
        reading(env, aad, FAULT, |aad| fastgcm_java_aad(pieces as *mut Pieces, key as *const Key, aad, aad_at as usize, size as usize))
    }

    fn Java_io_github_fastgcm_Native_text(
        env, pieces: jlong, key: jlong, from: jbyteArray, from_at: jlong, size: jint, to: jbyteArray, to_at: jlong, seals: jboolean
    ) -> jint {
        both(env, from, to, |from, to| {
            fastgcm_java_text(pieces as *mut Pieces, key as *const Key, from, from_at as usize, size as usize, to, to_at as usize, seals as c_int)
        })
    }

    fn Java_io_github_fastgcm_Native_end(env, pieces: jlong, key: jlong, tag: jbyteArray, tag_at: jlong, size: jint, seals: jboolean) -> jint {
        writing(env, tag, |tag| {
            fastgcm_java_end(pieces as *mut Pieces, key as *const Key, tag, tag_at as usize, size as usize, seals as c_int)
        })
    }

    fn Java_io_github_fastgcm_Native_zero(env, to: jbyteArray, to_at: jlong, size: jint) -> () {
        writing(env, to, |to| {
            fastgcm_java_zero(to, to_at as usize, size as usize);
            0
        });
    }
}
