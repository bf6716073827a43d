//! Memory that ends with a guard page. An implementation that reads or writes past its buffer crashes, or is slowed down if the bytes are
//! masked out.

use crate::work::Place;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::{ptr, slice};

/// Bytes of a page of x86-64.
const PAGE: usize = 4096;

/// Memory pages before a guard page.
pub(crate) struct Buffer {
    first: *mut u8,
    after_page: usize,
    /// Accessible bytes.
    size: usize,
}

impl Buffer {
    /// Allocates `len` bytes at any [`Place`]. Aligned ones begin `after_page` bytes after a multiple of 4096.
    pub(crate) fn new(len: usize, after_page: usize) -> Self {
        let size = (after_page + 1 + len).next_multiple_of(PAGE);
        // SAFETY: new memory, with one page more for the guard.
        let first: *mut u8 = unsafe {
            let first = mmap_anonymous(ptr::null_mut(), size + PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            let first = first.expect("memory is available");
            mprotect(first.byte_add(size), PAGE, MprotectFlags::empty()).expect("the last page can be protected");
            first.cast()
        };
        // SAFETY: the accessible pages. Writing them keeps page faults out of the samples.
        unsafe { first.write_bytes(0x77, size) };
        Self { first, after_page, size }
    }

    /// Returns the address of `len` bytes at this place.
    pub(crate) fn at(&self, place: Place, len: usize) -> *mut u8 {
        assert!(self.after_page + 1 + len <= self.size);
        self.first.wrapping_add(match place {
            Place::Aligned => self.after_page,
            Place::Odd => self.after_page + 1,
            Place::PageEnd => self.size - len,
        })
    }

    /// Returns `len` bytes at this place.
    pub(crate) fn bytes(&mut self, place: Place, len: usize) -> &mut [u8] {
        // SAFETY: `at` returns an address inside of this memory, which is initialized; borrowed like `self`.
        unsafe { slice::from_raw_parts_mut(self.at(place, len), len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: as `new` mapped it; pointers to it do not outlive it.
        let _ = unsafe { munmap(self.first.cast(), self.size + PAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Every place has its address, and the page behind the last byte is inaccessible.
    #[test]
    fn places() {
        let mut places = 0;
        for len in [0, 1, 13, 16, 64, 200, 4079, 4080, 4095, 4096, 4097, 20_000] {
            for after_page in [0, 33 * 64] {
                let mut buffer = Buffer::new(len, after_page);
                let [aligned, odd, end] = [Place::Aligned, Place::Odd, Place::PageEnd].map(|place| buffer.at(place, len).addr());
                assert_eq!((aligned % PAGE, odd % PAGE), (after_page % PAGE, after_page % PAGE + 1), "{len} bytes");
                assert_eq!((end + len) % PAGE, 0, "{len} bytes");
                for place in [Place::Aligned, Place::Odd, Place::PageEnd] {
                    buffer.bytes(place, len).fill(places as u8);
                    places += 1;
                }
                let maps = fs::read_to_string("/proc/self/maps").unwrap();
                let behind = maps.lines().find(|line| line.starts_with(&format!("{:x}-", end + len)));
                assert!(behind.is_some_and(|line| line.contains(" ---p ")), "{len} bytes: {behind:?}");
            }
        }
    }
}
