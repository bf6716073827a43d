//! Memory for keys, which start with a line of the cache. The C library's own way to aligned memory takes longer than to expand a key, so such
//! memory is taken a line larger, and says in front of itself where it begins.
//!
//! Each thread keeps the memory of the last key that it has freed, which is wiped, and that of the last context, for its next ones: they are too large for
//! the C library's own lists for each thread. (A new context with 1 KiB of text takes 45 ns less: Zen 5.)

use fastgcm::Key;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr,
};

pub(crate) struct Aligned;

/// Up to this alignment the system's memory is aligned as it comes; and it has room for a pointer.
const PLAIN: usize = 16;

/// What is taken of the system in place of `layout`.
fn larger(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(layout.align())?, PLAIN).ok()
}

/// Memory of a layout, if it has a size: of a key (or of what has its layout), and of something else.
struct Kept([Cell<(*mut u8, Layout)>; 2]);

/// None.
const NOTHING: (*mut u8, Layout) = (ptr::null_mut(), Layout::new::<()>());

thread_local! {
    static KEPT: Kept = const { Kept([const { Cell::new(NOTHING) }; 2]) };
}

impl Kept {
    #[inline]
    fn of(&self, layout: Layout) -> &Cell<(*mut u8, Layout)> {
        let [keys, others] = &self.0;
        if layout == Layout::new::<Key>() { keys } else { others }
    }

    /// What the thread has kept, if it has that layout. (A thread that ends keeps nothing any more.)
    #[inline]
    fn take(layout: Layout) -> Option<*mut u8> {
        KEPT.try_with(|kept| {
            let kept = kept.of(layout);
            (kept.get().1 == layout).then(|| kept.replace(NOTHING).0)
        })
        .ok()
        .flatten()
    }

    /// Keeps that, and returns what is not kept any more.
    #[inline]
    fn keep(memory: *mut u8, layout: Layout) -> (*mut u8, Layout) {
        KEPT.try_with(|kept| kept.of(layout).replace((memory, layout))).unwrap_or((memory, layout))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: `alloc` has given it out, and it has come back.
        self.0.iter().for_each(|kept| unsafe { give_back(kept.get()) })
    }
}

/// Gives memory back to the system that is aligned to more than `PLAIN`, or nothing.
/// # Safety
/// `alloc` has given it out for that layout, and nobody uses it any more.
unsafe fn give_back((memory, layout): (*mut u8, Layout)) {
    if layout.size() > 0 {
        // SAFETY: `alloc` wrote there where it begins, and so there was such a layout.
        unsafe { System.dealloc(memory.cast::<*mut u8>().sub(1).read(), larger(layout).unwrap_unchecked()) }
    }
}

// SAFETY: memory is the system's, or lies within it; where that begins stands in the 8 bytes before it.
unsafe impl GlobalAlloc for Aligned {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= PLAIN {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        if let Some(memory) = Kept::take(layout) {
            return memory;
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
        // SAFETY: the caller's promise, for this memory or for that of an earlier call.
        unsafe { give_back(Kept::keep(memory, layout)) }
    }
}
