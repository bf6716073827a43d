//! Memory that ends, on both sides, with a page that nobody may touch.

use crate::cases::Place;
use std::{fs, io, os::fd::AsRawFd, path::Path, ptr, slice};

/// Of x86-64, and a multiple of every other Linux machine's that counts here.
const PAGE: usize = 4096;
/// Bytes that are watched where no forbidden page is near.
const WATCHED: usize = 64;
/// What they hold.
const CANARY: u8 = 0xc3;

/// Pages of one buffer.
pub(crate) struct Region {
    pub(crate) name: &'static str,
    base: *mut u8,
    size: usize,
    /// Where the buffer is now.
    at: *mut u8,
    len: usize,
    before: usize,
    behind: usize,
    /// Bytes behind it that may be read, although they are not its own.
    pub(crate) spare: usize,
    /// What another process maps, too.
    file: Option<fs::File>,
}

impl Region {
    /// For so many bytes.
    pub(crate) fn new(name: &'static str, most: usize) -> Self {
        let size = (most + 4 * WATCHED).next_multiple_of(PAGE);
        // SAFETY: new memory, and a page more on each side than is ever used.
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

    /// For so many bytes of a file, which another process maps, too: with a page more behind them, until `fence`. Before them there is no such page.
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

    /// The last page of the file goes, and whoever has mapped it may not touch it any more.
    pub(crate) fn fence(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.set_len(self.size as u64))
    }

    /// Bytes from the first to that one.
    pub(crate) fn offset(&self, at: *const u8) -> usize {
        if at.is_null() { 0 } else { at.addr() - self.base.addr() }
    }

    /// Puts a buffer of so many bytes there, with `slack` bytes more behind it that belong to it.
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
        // SAFETY: likewise: bytes on both sides of the buffer.
        unsafe {
            self.at.sub(self.before).write_bytes(CANARY, self.before);
            self.at.add(all).write_bytes(CANARY, self.behind);
        }
        self.at
    }

    /// Puts these bytes there.
    pub(crate) fn put(&mut self, place: Place, bytes: &[u8]) -> *mut u8 {
        let at = self.place(place, bytes.len(), 0);
        self.bytes_mut().copy_from_slice(bytes);
        at
    }

    /// The buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: placed there; what a plug-in does with it is over.
        if self.len == 0 { &[] } else { unsafe { slice::from_raw_parts(self.at, self.len) } }
    }

    /// The buffer.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`.
        if self.len == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(self.at, self.len) } }
    }

    /// What was written beside the buffer.
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

    /// Whether an address is in a page beside the region, and where that is.
    pub(crate) fn beside(&self, address: usize) -> Option<String> {
        let (from, to) = (self.base.addr(), self.base.addr() + self.size);
        if (to..to + PAGE).contains(&address) {
            return Some(format!("{} bytes behind the end of the {}", address - to + 1, self.name));
        }
        (from - PAGE..from).contains(&address).then(|| format!("{} bytes before the {}", from - address, self.name))
    }
}

/// A buffer of each kind.
pub(crate) struct Arena {
    pub(crate) key: Region,
    pub(crate) nonce: Region,
    pub(crate) aad: Region,
    pub(crate) input: Region,
    pub(crate) output: Region,
    pub(crate) tag: Region,
}

impl Arena {
    /// For texts, AAD and nonces of up to so many bytes.
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

    /// Buffers that lie in files of that folder, each by its name, so that a program at the end of a pipe can map them.
    pub(crate) fn shared(&self, folder: &Path) -> io::Result<Self> {
        let region = |of: &Region| Region::shared(of.name, of.size - 4 * WATCHED, folder).map(|made| Region { spare: of.spare, ..made });
        let [key, nonce, aad, input, output, tag] = self.all().map(region);
        Ok(Self { key: key?, nonce: nonce?, aad: aad?, input: input?, output: output?, tag: tag? })
    }

    /// Lets so many bytes behind each buffer of that name be read.
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

    /// Spare bytes may be read, and are behind the buffer all the same: who writes there is told, and a page ends with them.
    #[test]
    fn spare_may_be_read() {
        let mut arena = Arena::new(64, 64, 64);
        arena.spare("NONCE", 4).unwrap();
        assert!(arena.spare("nonces", 4).is_err());
        let at = arena.nonce.place(Place::End, 12, 0);
        // SAFETY: the last bytes of the region's page.
        assert_eq!(unsafe { slice::from_raw_parts(at.add(12), 4) }, [CANARY; 4]);
        assert_eq!(arena.nonce.beside(at.addr() + 15), None);
        assert_eq!(arena.nonce.beside(at.addr() + 16).as_deref(), Some("1 bytes behind the end of the nonce"));
        assert_eq!(arena.nonce.touched(), None);
        // SAFETY: likewise.
        unsafe { at.add(13).write(0) };
        assert_eq!(arena.nonce.touched().as_deref(), Some("writes 2 bytes behind the nonce"));
    }
}
