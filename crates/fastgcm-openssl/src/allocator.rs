//! Memory for keys, which start with a line of the cache. The C library's own way to aligned memory takes longer than to expand a key, so such
//! memory is taken a line larger, and says in front of itself where it begins.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
};

pub(crate) struct Aligned;

/// Up to this alignment the system's memory is aligned as it comes; and it has room for a pointer.
const PLAIN: usize = 16;

/// What is taken of the system in place of `layout`.
fn larger(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(layout.align())?, PLAIN).ok()
}

// SAFETY: memory is the system's, or lies within it; where that begins stands in the 8 bytes before it.
unsafe impl GlobalAlloc for Aligned {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= PLAIN {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        let Some(larger) = larger(layout) else { return ptr::null_mut() };
        // SAFETY: it has a size. Its start is a multiple of 16, so that at least 16 bytes lie between it and the next multiple of the alignment.
        unsafe {
            let begin = System.alloc(larger);
            if begin.is_null() {
                return begin;
            }
            let memory = begin.add(layout.align() - begin.addr() % layout.align());
            memory.cast::<*mut u8>().sub(1).write(begin);
            memory
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if layout.align() <= PLAIN {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(memory, layout) };
        }
        // SAFETY: `alloc` wrote there where it begins, and so there was such a layout.
        unsafe { System.dealloc(memory.cast::<*mut u8>().sub(1).read(), larger(layout).unwrap_unchecked()) }
    }
}
