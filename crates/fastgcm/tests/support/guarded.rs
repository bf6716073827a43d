//! Memory between pages that may not be touched.
#![allow(dead_code)] // no test file needs all of it

use fastgcm::Tag;
use std::{io, ops::Range, ptr, slice};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// The buffer begins where the first guard ends.
    Low,
    /// The buffer ends where the second guard begins.
    High,
}

pub(crate) const SIDES: [Side; 2] = [Side::Low, Side::High];

/// Memory between two pages that may not be touched.
pub(crate) struct Guarded {
    start: *mut u8,
    length: usize,
    page: usize,
}

impl Guarded {
    /// For buffers of up to so many bytes.
    pub(crate) fn new(longest: usize) -> Self {
        // SAFETY: only asks.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let length = longest.next_multiple_of(page);
        // SAFETY: a new mapping, at an address of the system's choice, that nobody may touch.
        let guard =
            unsafe { libc::mmap(ptr::null_mut(), length + 2 * page, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        assert_ne!(guard, libc::MAP_FAILED, "{}", io::Error::last_os_error());
        let start = guard.cast::<u8>().wrapping_add(page);
        // SAFETY: inside that mapping; its first and its last page stay as they are.
        let answer = unsafe { libc::mprotect(start.cast(), length, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(answer, 0, "{}", io::Error::last_os_error());
        Self { start, length, page }
    }

    /// The two pages.
    pub(crate) fn guards(&self) -> [Range<u64>; 2] {
        let page = self.page as u64;
        [self.start as u64 - page, self.start as u64 + self.length as u64].map(|start| start..start + page)
    }

    /// A copy of `bytes` at one of the guards.
    pub(crate) fn put(&mut self, side: Side, bytes: &[u8]) -> &mut [u8] {
        assert!(bytes.len() <= self.length);
        let skip = match side {
            Side::Low => 0,
            Side::High => self.length - bytes.len(),
        };
        // SAFETY: between the guards, and borrowed as long as `self` is.
        let buffer = unsafe { slice::from_raw_parts_mut(self.start.add(skip), bytes.len()) };
        buffer.copy_from_slice(bytes);
        buffer
    }

    pub(crate) fn put_tag(&mut self, side: Side, tag: Tag) -> &mut Tag {
        const { assert!(size_of::<Tag>() == 16 && align_of::<Tag>() <= 16) } // its place begins or ends with a page
        let place = self.put(side, &tag.0).as_mut_ptr().cast::<Tag>();
        // SAFETY: sixteen bytes of ours, and a tag is nothing else.
        unsafe {
            place.write(tag);
            &mut *place
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: our mapping, guards and all; nobody borrows it any more.
        unsafe { libc::munmap(self.start.wrapping_sub(self.page).cast(), self.length + 2 * self.page) };
    }
}
