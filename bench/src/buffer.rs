//! Memory that ends with a page behind which nothing may be touched: whoever reads or writes there, if only with bytes masked out, has
//! to pay for it, or dies.

use crate::work::Place;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::{ptr, slice};

/// Of x86-64.
const PAGE: usize = 4096;

/// Pages of its own.
pub(crate) struct Buffer {
    first: *mut u8,
    after_page: usize,
    /// Bytes that may be touched.
    size: usize,
}

impl Buffer {
    /// For so many bytes, at any [`Place`]; the aligned ones begin so many bytes after a multiple of 4096.
    pub(crate) fn new(len: usize, after_page: usize) -> Self {
        let size = (after_page + 1 + len).next_multiple_of(PAGE);
        // SAFETY: new memory, and one page more than is ever used.
        let first: *mut u8 = unsafe {
            let first = mmap_anonymous(ptr::null_mut(), size + PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            let first = first.expect("some pages of memory");
            mprotect(first.byte_add(size), PAGE, MprotectFlags::empty()).expect("the last of them is ours");
            first.cast()
        };
        // SAFETY: what may be touched. No page is left whose first use would fall into a sample.
        unsafe { first.write_bytes(0x77, size) };
        Self { first, after_page, size }
    }

    /// Where so many bytes begin.
    pub(crate) fn at(&self, place: Place, len: usize) -> *mut u8 {
        assert!(self.after_page + 1 + len <= self.size);
        self.first.wrapping_add(match place {
            Place::Aligned => self.after_page,
            Place::Odd => self.after_page + 1,
            Place::PageEnd => self.size - len,
        })
    }

    /// So many bytes at that place.
    pub(crate) fn bytes(&mut self, place: Place, len: usize) -> &mut [u8] {
        // SAFETY: `at` stays inside of what is ours and has been written; borrowed like `self`.
        unsafe { slice::from_raw_parts_mut(self.at(place, len), len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: as `new` mapped it; pointers to it do not outlive it.
        let _ = unsafe { munmap(self.first.cast(), self.size + PAGE) };
    }
}
