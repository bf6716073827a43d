//! Memory for keys, which start with a cache line. The C library's own way to aligned memory takes longer than expanding a key, so such
//! memory is allocated one cache line larger, with its true beginning noted in front of it.
//!
//! Each thread keeps the memory of the last key that it has freed, which is wiped, and of the last context, for its next ones: they are too
//! large for the C library's own per-thread lists. (A new context with 1 KiB of text takes 45 ns less: Zen 5.) Keys of POSIX threads hold
//! what a thread keeps: a `thread_local` would ask for memory where the first context of a thread does, and glibc ends the process if there
//! is none.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
};

pub(crate) struct Aligned;

/// The alignment that the system's memory has anyway; it also has room for a pointer.
const PLAIN: usize = 16;

/// Returns the layout that is requested from the system in place of `layout`.
fn larger(layout: Layout) -> Option<Layout> {
    Layout::from_size_align(layout.size().checked_add(layout.align())?, PLAIN).ok()
}

#[cfg(unix)]
mod kept {
    //! The memory that a thread keeps: of a key (or of something with its layout), and of something else.

    use fastgcm::Key;
    use std::{alloc::Layout, ffi::c_void, ptr, sync::OnceLock};

    /// The two keys of POSIX threads; `None` if the process has no more of them.
    static PLACES: [OnceLock<Option<libc::pthread_key_t>>; 2] = [const { OnceLock::new() }; 2];

    fn place(layout: Layout) -> Option<libc::pthread_key_t> {
        let place = &PLACES[usize::from(layout != Layout::new::<Key>())];
        *place.get_or_init(|| {
            let mut key = 0;
            // SAFETY: the module is never unloaded (build.rs), and so neither is what ends a thread.
            (unsafe { libc::pthread_key_create(&mut key, Some(forget)) } == 0).then_some(key)
        })
    }

    /// Runs when a thread ends.
    unsafe extern "C" fn forget(begin: *mut c_void) {
        // SAFETY: `keep` has put it there, with its layout.
        unsafe { super::give_back(begin.cast(), begin.cast::<Layout>().read()) }
    }

    /// Returns where memory begins that the thread has kept, if it has that layout.
    #[inline]
    pub(super) fn take(layout: Layout) -> Option<*mut u8> {
        let place = place(layout)?;
        // SAFETY: what `keep` has put there, or nothing.
        unsafe {
            let begin = libc::pthread_getspecific(place);
            if begin.is_null() || begin.cast::<Layout>().read() != layout {
                return None;
            }
            (libc::pthread_setspecific(place, ptr::null()) == 0).then_some(begin.cast())
        }
    }

    /// Keeps memory that begins there, and returns memory that is not kept, or not kept any more.
    ///
    /// # Safety
    /// `super::Aligned::alloc` has taken it for that layout, and nobody uses it any more.
    #[inline]
    pub(super) unsafe fn keep(begin: *mut u8, layout: Layout) -> Option<(*mut u8, Layout)> {
        let Some(place) = place(layout) else { return Some((begin, layout)) };
        // SAFETY: the caller's promise, now and for what was kept before.
        unsafe {
            let before = libc::pthread_getspecific(place).cast::<Layout>();
            begin.cast::<Layout>().write(layout);
            if libc::pthread_setspecific(place, begin.cast()) != 0 {
                return Some((begin, layout));
            }
            (!before.is_null()).then(|| (before.cast(), before.read()))
        }
    }
}

#[cfg(not(unix))]
mod kept {
    //! Nothing is kept.

    use std::alloc::Layout;

    pub(super) fn take(_: Layout) -> Option<*mut u8> {
        None
    }

    pub(super) unsafe fn keep(begin: *mut u8, layout: Layout) -> Option<(*mut u8, Layout)> {
        Some((begin, layout))
    }
}

/// Gives memory back to the system.
/// # Safety
/// `Aligned::alloc` has taken it there for that layout, and nobody uses it any more.
unsafe fn give_back(begin: *mut u8, layout: Layout) {
    // SAFETY: so there was such a layout.
    unsafe { System.dealloc(begin, larger(layout).unwrap_unchecked()) }
}

// SAFETY: memory is the system's, or lies within it; the 8 bytes before it say where that begins.
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
            let begin = kept::take(layout).unwrap_or_else(|| System.alloc(larger));
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
        // SAFETY: the caller's promise, for this memory or for that of an earlier call. `alloc` wrote there
        // where it begins.
        unsafe {
            if let Some((begin, layout)) = kept::keep(memory.cast::<*mut u8>().sub(1).read(), layout) {
                give_back(begin, layout);
            }
        }
    }
}
