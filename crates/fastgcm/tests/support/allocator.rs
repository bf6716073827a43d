//! Where a call allocates: for a while, in a place of the test's choice. There it can be looked at when it has been given back, and it has the
//! same address each time.

#![allow(dead_code)] // no test file needs all of it

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr,
};

thread_local! {
    /// What is left of this thread's place.
    static LEFT: Cell<*mut [u8]> = const { Cell::new(ptr::slice_from_raw_parts_mut(ptr::null_mut(), 0)) };
    /// All of it.
    static PLACE: Cell<*mut [u8]> = const { Cell::new(ptr::slice_from_raw_parts_mut(ptr::null_mut(), 0)) };
}

struct Chosen;

#[global_allocator]
static ALLOCATOR: Chosen = Chosen;

// SAFETY (of every block below): what the caller promises is what the system's allocator is promised; a place is memory that its owner lends
// for that time, of which each allocation takes the next part.
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe impl GlobalAlloc for Chosen {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let left = LEFT.get();
        if left.cast::<u8>().is_null() {
            return unsafe { System.alloc(layout) };
        }
        let (start, skip) = (left.cast::<u8>(), left.cast::<u8>().align_offset(layout.align()));
        let taken = skip + layout.size();
        if taken > left.len() {
            return ptr::null_mut();
        }
        LEFT.set(ptr::slice_from_raw_parts_mut(start.wrapping_add(taken), left.len() - taken));
        start.wrapping_add(skip)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let place = PLACE.get();
        let offset = (at as usize).wrapping_sub(place.cast::<u8>() as usize);
        if offset >= place.len() {
            unsafe { System.dealloc(at, layout) }
        }
    }
}

/// Does this; what it allocates is taken from `place`, and must not outlive it.
#[inline(always)]
pub(crate) fn allocating_in<T>(place: &mut [u8], work: impl FnOnce() -> T) -> T {
    PLACE.set(place);
    LEFT.set(place);
    let result = work();
    LEFT.set(ptr::slice_from_raw_parts_mut(ptr::null_mut(), 0));
    result
}

/// Does this meanwhile, which allocates where everybody does.
pub(crate) fn allocating_elsewhere(work: impl FnOnce()) {
    let left = LEFT.replace(ptr::slice_from_raw_parts_mut(ptr::null_mut(), 0));
    work();
    LEFT.set(left);
}
