//! Memory between two guard pages.

use crate::cases::Place;
use std::{fs, io, os::fd::AsRawFd, path::Path, ptr, slice};

/// Bytes of a page on x86-64.
const PAGE: usize = 4096;
/// Bytes of canary next to a buffer without a guard page.
const WATCHED: usize = 64;
/// The value of canary bytes.
const CANARY: u8 = 0xc3;

/// The memory pages of one buffer.
pub(crate) struct Region {
    pub(crate) name: &'static str,
    base: *mut u8,
    size: usize,
    /// The current position of the buffer.
    at: *mut u8,
    len: usize,
    before: usize,
    behind: usize,
    /// Bytes after the buffer that may be read, too.
    pub(crate) spare: usize,
    /// The file of this memory, which another process maps, too.
    file: Option<fs::File>,
}

impl Region {
    /// Allocates memory for up to `most` bytes.
    pub(crate) fn new(name: &'static str, most: usize) -> Self {
        let size = (most + 4 * WATCHED).next_multiple_of(PAGE);
        // SAFETY: new memory, with a guard page on each side.
        let base = unsafe {
            let all = libc::mmap(
                ptr::null_mut(),
                size + 2 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            );
            assert!(all != libc::MAP_FAILED, "no memory: {}", io::Error::last_os_error());
            let base = all.byte_add(PAGE);
            assert_eq!(libc::mprotect(base, size, libc::PROT_READ | libc::PROT_WRITE), 0, "{}", io::Error::last_os_error());
            base.cast()
        };
        Self { name, base, size, at: base, len: 0, before: 0, behind: 0, spare: 0, file: None }
    }

    /// Allocates memory in a file that another process maps, too. A further page follows until `fence`; no guard page precedes it.
    fn shared(name: &'static str, most: usize, folder: &Path) -> io::Result<Self> {
        let size = (most + 4 * WATCHED).next_multiple_of(PAGE);
        let file = fs::File::options().create_new(true).read(true).write(true).open(folder.join(name))?;
        file.set_len((size + PAGE) as u64)?;
        // SAFETY: new memory of a file that is ours.
        let base = unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = base.cast();
        Ok(Self { name, base, size, at: base, len: 0, before: 0, behind: 0, spare: 0, file: Some(file) })
    }

    /// Truncates the file's last page, which becomes inaccessible for the other process.
    pub(crate) fn fence(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.set_len(self.size as u64))
    }

    /// Returns the offset of an address in this memory.
    pub(crate) fn offset(&self, at: *const u8) -> usize {
        if at.is_null() { 0 } else { at.addr() - self.base.addr() }
    }

    /// Places a buffer of `len` bytes, with `slack` further bytes that belong to it.
    pub(crate) fn place(&mut self, place: Place, len: usize, slack: usize) -> *mut u8 {
        let all = len + slack;
        assert!(all + 2 * WATCHED + 64 <= self.size, "{}: {all} bytes", self.name);
        let offset;
        (offset, self.before, self.behind) = match place {
            Place::Null if all == 0 => {
                (self.at, self.len, self.before, self.behind) = (ptr::null_mut(), 0, 0, 0);
                return self.at;
            }
            Place::End | Place::Null => (self.size - all - self.spare, WATCHED, self.spare),
            Place::Start if self.file.is_some() => (WATCHED, WATCHED, WATCHED),
            Place::Start => (0, 0, WATCHED),
            Place::Odd(by) => (WATCHED + usize::from(by), WATCHED, WATCHED),
        };
        // SAFETY: inside of the region, by the assertion.
        self.at = unsafe { self.base.add(offset) };
        self.len = all;
        // SAFETY: inside of the region: bytes on both sides of the buffer.
        unsafe {
            self.at.sub(self.before).write_bytes(CANARY, self.before);
            self.at.add(all).write_bytes(CANARY, self.behind);
        }
        self.at
    }

    /// Places a buffer with these bytes.
    pub(crate) fn put(&mut self, place: Place, bytes: &[u8]) -> *mut u8 {
        let at = self.place(place, bytes.len(), 0);
        self.bytes_mut().copy_from_slice(bytes);
        at
    }

    /// Returns the buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `place` put it there, and the plug-in's call has ended.
        if self.len == 0 { &[] } else { unsafe { slice::from_raw_parts(self.at, self.len) } }
    }

    /// Returns the buffer.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`.
        if self.len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(self.at, self.len) } }
    }

    /// Describes out-of-bounds writes to canary bytes.
    pub(crate) fn touched(&self) -> Option<String> {
        // SAFETY: `place` wrote them.
        let (before, behind) = unsafe {
            let side = |at: *const u8, len| if len == 0 { &[] as &[u8] } else { slice::from_raw_parts(at, len) };
            (side(self.at.wrapping_sub(self.before), self.before), side(self.at.wrapping_add(self.len), self.behind))
        };
        let differs = |byte: &u8| *byte != CANARY;
        if let Some(at) = before.iter().position(differs) {
            return Some(format!("writes {} bytes before the {}", before.len() - at, self.name));
        }
        behind.iter().rposition(differs).map(|at| format!("writes {} bytes behind the {}", at + 1, self.name))
    }

    /// Describes an address in a guard page of this region.
    pub(crate) fn guard_page(&self, address: usize) -> Option<String> {
        let (from, to) = (self.base.addr(), self.base.addr() + self.size);
        if (to..to + PAGE).contains(&address) {
            return Some(format!("{} bytes behind the end of the {}", address - to + 1, self.name));
        }
        (from - PAGE..from).contains(&address).then(|| format!("{} bytes before the {}", from - address, self.name))
    }
}

/// The buffers of a message.
pub(crate) struct Arena {
    pub(crate) key: Region,
    pub(crate) nonce: Region,
    pub(crate) aad: Region,
    pub(crate) input: Region,
    pub(crate) output: Region,
    pub(crate) tag: Region,
}

impl Arena {
    /// Allocates buffers for texts, AAD and nonces of up to these lengths.
    pub(crate) fn new(text: usize, aad: usize, nonce: usize) -> Self {
        Self {
            key: Region::new("key", 64),
            nonce: Region::new("nonce", nonce),
            aad: Region::new("AAD", aad),
            input: Region::new("input", text + 512),
            output: Region::new("output", text + 512),
            tag: Region::new("tag", 64),
        }
    }

    /// Allocates buffers in files of this folder, which a program at the end of a pipe can map.
    pub(crate) fn shared(&self, folder: &Path) -> io::Result<Self> {
        let region = |of: &Region| Region::shared(of.name, of.size - 4 * WATCHED, folder).map(|made| Region { spare: of.spare, ..made });
        let [key, nonce, aad, input, output, tag] = self.all().map(region);
        Ok(Self { key: key?, nonce: nonce?, aad: aad?, input: input?, output: output?, tag: tag? })
    }

    /// Allows reading this many bytes after the named buffer.
    pub(crate) fn spare(&mut self, name: &str, bytes: usize) -> Result<(), String> {
        let mut all = [&mut self.key, &mut self.nonce, &mut self.aad, &mut self.input, &mut self.output, &mut self.tag];
        let region = all.iter_mut().find(|region| region.name.eq_ignore_ascii_case(name));
        region.ok_or("there are key, nonce, AAD, input, output and tag")?.spare = bytes.min(WATCHED);
        Ok(())
    }

    pub(crate) fn all(&self) -> [&Region; 6] {
        [&self.key, &self.nonce, &self.aad, &self.input, &self.output, &self.tag]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spare bytes may be read but not written, and a page ends with them.
    #[test]
    fn spare_may_be_read() {
        let mut arena = Arena::new(64, 64, 64);
        arena.spare("NONCE", 4).unwrap();
        assert!(arena.spare("nonces", 4).is_err());
        let at = arena.nonce.place(Place::End, 12, 0);
        // SAFETY: the last bytes of the region's page.
        assert_eq!(unsafe { slice::from_raw_parts(at.add(12), 4) }, [CANARY; 4]);
        assert_eq!(arena.nonce.guard_page(at.addr() + 15), None);
        assert_eq!(arena.nonce.guard_page(at.addr() + 16).as_deref(), Some("1 bytes behind the end of the nonce"));
        assert_eq!(arena.nonce.touched(), None);
        // SAFETY: a spare byte of the region.
        unsafe { at.add(13).write(0) };
        assert_eq!(arena.nonce.touched().as_deref(), Some("writes 2 bytes behind the nonce"));
    }
}
