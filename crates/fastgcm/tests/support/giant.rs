//! Gigabytes that take no memory: addresses of which all show the same few pages, again and again.

#![allow(dead_code)] // no test file needs all of it

use std::{io, ptr, slice};

/// Bytes that exist. What is written to one of them is read from all that show it, so a reader that follows a writer closely reads what was written there.
pub(crate) const WINDOW: usize = 2 << 20;

/// A range of addresses.
pub(crate) struct Giant {
    start: *mut u8,
    length: usize,
}

impl Giant {
    /// At least so many bytes, of which the first `WINDOW` are `content`, and so is each later window.
    pub(crate) fn new(bytes: usize, content: &[u8]) -> Self {
        let length = bytes.next_multiple_of(WINDOW);
        // SAFETY: a new file without a name, and new addresses, which this value owns.
        unsafe {
            let file = libc::memfd_create(c"giant".as_ptr(), 0);
            assert!(file >= 0 && libc::ftruncate(file, WINDOW as _) == 0, "{}", io::Error::last_os_error());
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "{}", io::Error::last_os_error());
            let start = start.cast::<u8>();
            for at in (0..length).step_by(WINDOW) {
                let (flags, rights) = (libc::MAP_SHARED | libc::MAP_FIXED, libc::PROT_READ | libc::PROT_WRITE);
                let shown = libc::mmap(start.add(at).cast(), WINDOW, rights, flags, file, 0);
                assert_ne!(shown, libc::MAP_FAILED, "{}", io::Error::last_os_error());
            }
            libc::close(file);
            slice::from_raw_parts_mut(start, WINDOW)[..content.len()].copy_from_slice(content);
            Self { start, length }
        }
    }

    pub(crate) fn at(&self) -> *mut u8 {
        self.start
    }

    /// The bytes that exist.
    pub(crate) fn window(&self) -> &[u8] {
        // SAFETY: nobody writes meanwhile.
        unsafe { slice::from_raw_parts(self.start, WINDOW) }
    }
}

impl Drop for Giant {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}
