//! The caller's memory: what is read, what is written, and whether they overlap.

use crate::{
    fastgcm_status::{self, *},
    status,
};
use fastgcm::limits::TEXT;
use std::{
    ffi::c_int,
    mem::MaybeUninit,
    ptr, slice,
    sync::atomic::{Ordering::SeqCst, compiler_fence},
};

/// Returns the caller's bytes, of which there must be at most `most`.
/// # Safety
/// This many bytes are readable there, if the pointer is not null.
pub(crate) unsafe fn read<'a>(data: *const u8, size: usize, most: u64) -> Result<&'a [u8], fastgcm_status> {
    match (data.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(FASTGCM_NULL),
        _ if is_beyond(size, most) => Err(FASTGCM_TOO_LONG),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(data, size) }),
    }
}

/// Returns whether a size is beyond a limit, or beyond what any memory has. Each size of a caller is checked here before anything is added
/// to it.
fn is_beyond(size: usize, most: u64) -> bool {
    size > isize::MAX as usize || size as u64 > most
}

/// The caller's output memory. It is not a slice yet, because it may overlap the input.
#[derive(Clone, Copy)]
pub(crate) struct Output(pub(crate) *mut u8, pub(crate) usize);

impl Output {
    pub(crate) fn new(data: *mut u8, size: usize) -> Result<Self, fastgcm_status> {
        match (data.is_null(), size) {
            (_, 0) => Ok(Self(ptr::dangling_mut(), 0)),
            (true, _) => Err(FASTGCM_NULL),
            _ if is_beyond(size, TEXT) => Err(FASTGCM_TOO_LONG),
            _ => Ok(Self(data, size)),
        }
    }

    /// Returns an error if the output overlaps these bytes.
    #[inline(always)]
    pub(crate) fn apart(self, bytes: &[u8]) -> Result<Self, fastgcm_status> {
        let (mine, other) = (Stretch::new(self.0, self.1), Stretch::new(bytes.as_ptr(), bytes.len()));
        let overlaps = !mine.surely_apart(other) && self.1 > 0 && !bytes.is_empty();
        if overlaps { Err(FASTGCM_OVERLAP) } else { Ok(self) }
    }

    /// Returns an error if the output overlaps this object.
    pub(crate) fn apart_from<T>(self, object: &T) -> Result<Self, fastgcm_status> {
        let (mine, other) = (Stretch::new(self.0, self.1), Stretch::new(ptr::from_ref(object).cast(), size_of::<T>()));
        if mine.surely_apart(other) || self.1 == 0 { Ok(self) } else { Err(FASTGCM_OVERLAP) }
    }

    /// Returns where the output for `from` goes, if the two are the same bytes or do not overlap.
    pub(crate) fn place(self, from: &[u8]) -> Result<Place<'_>, fastgcm_status> {
        if ptr::eq(self.0, from.as_ptr()) || from.is_empty() {
            return Ok(Place::Same);
        }
        self.apart(from).map(|_| Place::Apart(from))
    }

    /// # Safety
    /// This many bytes are writable there, and no slice of them is used any more.
    pub(crate) unsafe fn slice<'a>(self) -> &'a mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.0, self.1) }
    }
}

pub(crate) enum Place<'a> {
    Same,
    Apart(&'a [u8]),
}

/// Bytes of memory, not more than `isize::MAX`: their beginning and their end.
#[derive(Clone, Copy)]
pub(crate) struct Stretch(usize, usize);

impl Stretch {
    #[inline(always)]
    pub(crate) fn new(at: *const u8, size: usize) -> Self {
        Self(at.addr(), at.addr().wrapping_add(size))
    }

    /// Returns whether the two surely do not overlap. (It returns `false` also for some that do not: empty ones within another.)
    ///
    /// This takes one comparison, or two. Without the fences LLVM makes both and joins them in five instructions, and each instruction of a
    /// call takes 0.06 ns: the time of short messages depends on how many instructions the processor has in flight (Zen 5).
    #[inline(always)]
    pub(crate) fn surely_apart(self, other: Self) -> bool {
        compiler_fence(SeqCst);
        if other.0 >= self.1 {
            return true;
        }
        compiler_fence(SeqCst);
        other.1 <= self.0
    }
}

/// Returns memory for a `T`.
pub(crate) fn place<'a, T>(memory: *mut T, size: usize) -> Result<&'a mut MaybeUninit<T>, fastgcm_status> {
    if memory.is_null() {
        return Err(FASTGCM_NULL);
    }
    if size < size_of::<T>() || !memory.is_aligned() {
        return Err(FASTGCM_PLACE);
    }
    // SAFETY: it is the caller's memory, and as large and aligned as required.
    Ok(unsafe { &mut *memory.cast() })
}

/// Allocates memory on the heap for a `T`, which `init` makes there unless it fails.
/// # Safety
/// `made` is null or writable, and `init` makes a `T` if it returns `FASTGCM_OK`.
pub(crate) unsafe fn on_heap<T>(made: *mut *mut T, init: impl FnOnce(*mut T, usize) -> c_int) -> c_int {
    if made.is_null() {
        return FASTGCM_NULL as c_int;
    }
    let layout = std::alloc::Layout::new::<T>();
    // SAFETY: a `T` has a size; the caller promises the rest.
    unsafe {
        *made = ptr::null_mut();
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return FASTGCM_NO_MEMORY as c_int;
        }
        let done = init(place, layout.size());
        if done == FASTGCM_OK as c_int {
            *made = place;
        } else {
            std::alloc::dealloc(place.cast(), layout);
        }
        done
    }
}

/// Ends a value in the caller's memory, if there is one: the value wipes itself.
/// # Safety
/// The value lies there, and nobody uses it any more; or the pointer is null.
pub(crate) unsafe fn wipe<T>(ended: *mut T) {
    if !ended.is_null() {
        status(|| {
            // SAFETY: the caller's promise.
            unsafe { ptr::drop_in_place(ended) };
            Ok(())
        });
    }
}

/// Ends the value that [`on_heap`] has made, if it has made one, and frees its memory.
/// # Safety
/// Nobody uses the value any more; or the pointer is null.
pub(crate) unsafe fn free<T>(ended: *mut T) {
    if !ended.is_null() {
        status(|| {
            // SAFETY: the caller's promise: `on_heap` has allocated it as a `Box` would.
            drop(unsafe { Box::from_raw(ended) });
            Ok(())
        });
    }
}
