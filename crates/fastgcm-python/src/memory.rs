//! Memory that may run out: Python then gets a `MemoryError`, and the process goes on.
//!
//! Memory that grows with the arguments of a call, or that outlives the call, is requested here and may be refused. What other crates
//! allocate on their own (an error of PyO3, a thread of rayon) is small, and Rust ends the process if there is no memory for it. So a
//! reserve stands behind the system's allocator and serves such small requests until there is memory again.

use pyo3::{PyErr, PyResult, exceptions::PyMemoryError};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    hint::black_box,
    mem::MaybeUninit,
    ptr,
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire},
    },
};

/// Returns the error of too little memory.
pub(crate) fn short() -> PyErr {
    PyMemoryError::new_err(()) // needs none itself
}

/// Returns room for a value that outlives the call, never from the reserve.
pub(crate) fn room<T>() -> PyResult<Box<MaybeUninit<T>>> {
    const { assert!(size_of::<T>() > 0) }
    // SAFETY: not of no bytes (above).
    let place: *mut MaybeUninit<T> = unsafe { System.alloc(Layout::new::<T>()) }.cast();
    // SAFETY: new memory of that layout. The allocator below gives it back to the system.
    if place.is_null() { Err(short()) } else { Ok(unsafe { Box::from_raw(place) }) }
}

/// Returns a value on the heap, which `make` makes in its final place: nobody wipes the copy that a move leaves on the stack. If `make` refuses,
/// this returns the error `refused`.
pub(crate) fn boxed<T, E>(
    make: impl FnOnce(&mut MaybeUninit<T>) -> Result<&mut T, E>,
    refused: impl FnOnce() -> PyErr,
) -> PyResult<Box<T>> {
    let mut place = room()?;
    let there = place.as_ptr();
    let made: *const T = make(&mut place).map_err(|_| refused())?;
    assert!(made == there);
    // SAFETY: the value was made there.
    Ok(unsafe { place.assume_init() })
}

/// Returns an error unless the system has this many bytes at the moment, for code that is about to allocate in small pieces.
pub(crate) fn probe(bytes: usize) -> PyResult<()> {
    let layout = Layout::array::<u8>(bytes.max(1)).map_err(|_| short())?;
    // SAFETY: not of no bytes. (The compiler would leave out an allocation that nobody uses.)
    let place = black_box(unsafe { System.alloc(layout) });
    if place.is_null() {
        return Err(short());
    }
    // SAFETY: from the same allocator, with that layout.
    unsafe { System.dealloc(place, layout) };
    Ok(())
}

/// Returns what `make` makes, which outlives the call and allocates up to this many bytes in small pieces: an error rather than the
/// reserve.
pub(crate) fn kept<T>(bytes: usize, make: impl FnOnce() -> T) -> PyResult<T> {
    probe(bytes)?;
    let before = ALLOCATOR.used.load(Acquire);
    let made = make();
    if ALLOCATOR.used.load(Acquire) <= before { Ok(made) } else { Err(short()) }
}

/// Returns whether half of the reserve is gone.
pub(crate) fn is_low() -> bool {
    ALLOCATOR.used.load(Acquire) % ONE > RESERVE as u64 / 2
}

/// Returns a copy.
pub(crate) fn copied<T: Copy>(items: &[T]) -> PyResult<Vec<T>> {
    let mut copy = with_room(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// Returns an empty list with room for `count` items.
pub(crate) fn with_room<T>(count: usize) -> PyResult<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| short())?;
    Ok(list)
}

/// Returns all items, or the first error.
pub(crate) fn collected<T>(items: impl Iterator<Item = PyResult<T>>) -> PyResult<Vec<T>> {
    let mut list = with_room(items.size_hint().0)?;
    for item in items {
        list.try_reserve(1).map_err(|_| short())?;
        list.push(item?);
    }
    Ok(list)
}

/// The system's allocator, and the reserve behind it.
struct WithReserve {
    /// The number of used pieces of the reserve, times `ONE`, plus the number of its used bytes. When no piece is in use, all bytes are free again.
    used: AtomicU64,
    reserve: UnsafeCell<[u8; RESERVE]>,
}

#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve { used: AtomicU64::new(0), reserve: UnsafeCell::new([0; RESERVE]) };

const RESERVE: usize = 1 << 17;
const ONE: u64 = 1 << 32;
/// The largest request that the reserve serves: callers with larger requests can do without.
const SMALL: usize = 1 << 14;

// SAFETY: pieces of the reserve do not overlap, and only their owners use them.
unsafe impl Sync for WithReserve {}

impl WithReserve {
    /// Returns a piece of the reserve, or null.
    fn small(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SMALL {
            return ptr::null_mut();
        }
        let start = self.reserve.get().cast::<u8>();
        let mut place = ptr::null_mut();
        let taken = self.used.fetch_update(AcqRel, Acquire, |used| {
            place = start.wrapping_add((used % ONE) as usize);
            place = place.wrapping_add(place.align_offset(layout.align()));
            let behind = (place as usize - start as usize).checked_add(layout.size())?;
            (behind <= RESERVE).then_some((used / ONE + 1) * ONE + behind as u64)
        });
        if taken.is_ok() { place } else { ptr::null_mut() }
    }

    fn is_mine(&self, place: *mut u8) -> bool {
        (place as usize).wrapping_sub(self.reserve.get() as usize) < RESERVE
    }
}

// SAFETY: the system's allocator, or pieces of the reserve: aligned, within it, and apart from each other.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() { self.small(layout) } else { place }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let place = unsafe { System.alloc_zeroed(layout) };
        if !place.is_null() {
            return place;
        }
        let place = self.small(layout);
        if !place.is_null() {
            // SAFETY: a new piece of as many bytes.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        place
    }

    unsafe fn realloc(&self, before: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.is_mine(before) {
            // SAFETY: the caller's promise; it came from the system.
            let place = unsafe { System.realloc(before, layout, size) };
            if !place.is_null() {
                return place;
            }
        }
        // SAFETY: the caller's promise that the size is one.
        let after = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !after.is_null() {
            // SAFETY: two pieces of memory that are apart, of which both have as many bytes; the caller gives the first one up.
            unsafe {
                after.copy_from_nonoverlapping(before, size.min(layout.size()));
                self.dealloc(before, layout);
            }
        }
        after
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if self.is_mine(place) {
            let given = |used: u64| Some(if used / ONE == 1 { 0 } else { used - ONE });
            let _ = self.used.fetch_update(AcqRel, Acquire, given);
        } else {
            // SAFETY: the caller's promise; it came from the system.
            unsafe { System.dealloc(place, layout) };
        }
    }
}
