//! `fastgcm open --salvage`: what can be saved of a damaged file.
//!
//! Each chunk has its own tag and number, so a whole chunk can be verified although other chunks cannot. The written bytes are authentic in
//! their places, and only zeros are written in place of lost bytes.

use crate::{
    failure::{Code, Failure, escaped, say},
    input::{Input, Seekable},
    keyfile::KeyFile,
    output::Output,
    progress::Progress,
};
use fastgcm_file::{CHUNK_LEN, Cipher, Error, HEADER_LEN, SALT_LEN, SEALED_CHUNK_LEN, TAG_LEN};
#[cfg(target_os = "linux")]
use rustix::io::Errno;
use std::io::{self, Read, Seek, SeekFrom, Write};
use zeroize::Zeroizing;

/// Writes what verifies to `output`. Fails if not all of the file does.
pub(crate) fn run(key: &KeyFile, context: &[u8], input: Input, quiet: bool, mut output: Output) -> Result<(), Failure> {
    let name = input.to_string();
    let shown = escaped(&name);
    let len = input.len.unwrap_or(0);
    let mut sealed = input.seek(Progress::new(quiet, Some(len)));
    let io = |error| Failure::io(&name, error);
    let mut header = [0; HEADER_LEN];
    if fill(&mut sealed, 0, &mut header).map_err(io)? < HEADER_LEN {
        return Err(Failure::file(&name, Error::Truncated).note(NO_HEADER));
    }
    // The commitment may be the damaged part. Each chunk also says whether the key is the right one.
    let (salt, _) = header.split_first_chunk::<SALT_LEN>().ok_or_else(|| Failure::file(&name, Error::Truncated))?;
    let (expected, cipher) = Cipher::with_salt(&key.key, context, salt).map_err(|error| Failure::file(&name, error))?;

    let mut saved = Saved::default();
    let mut chunks = Chunks::new(cipher, sealed);
    let (mut is_whole, mut is_extended, mut is_moved) = (false, false, false);
    // How far chunks are from their places, how many in a row were not found, and how often they were looked for elsewhere.
    let (mut number, mut shift, mut failed, mut hunts) = (0, 0, 0, 0);
    while let Some(at) = chunks.place(number, shift).filter(|at| *at < len) {
        // Where some bytes are missing and some too many, chunks are at their own places again.
        let found = chunks.open_at(number, at).map(|text| (text, shift));
        let found = found.or_else(|| chunks.open_at(number, chunks.place(number, 0).filter(|_| shift != 0)?).map(|text| (text, 0)));
        if let Some((text, at_shift)) = found {
            saved.write(number, &chunks.text[..text], &mut output)?;
            (is_whole, shift, failed, number) = (text < CHUNK_LEN, at_shift, 0, number + 1);
            continue;
        }
        failed += 1;
        if failed == 2 && hunts < HUNTS {
            hunts += 1;
            if let Some((moved, by)) = chunks.hunt(number, at, shift) {
                let what = if by < 0 { "too few" } else { "too many" };
                let start = moved * CHUNK_LEN as u64;
                say(&format!("note: before byte {start} of its text the file has {} bytes {what}\n", by.unsigned_abs()));
                (number, shift, failed, is_moved) = (moved, by, 0, true);
                continue;
            }
        }
        match chunks.data_behind(at) {
            Some(data) => number += (data.saturating_sub(at) / SEALED_CHUNK_LEN as u64).max(1),
            None => break,
        }
    }
    let number = saved.end / CHUNK_LEN as u64;
    if !is_whole && let Some(text) = chunks.last(number, shift) {
        saved.write(number, &chunks.text[..text], &mut output)?;
        is_whole = true;
        is_extended = true;
    }
    if saved.chunks == 0 {
        let none = if header == expected { Error::Truncated } else { Error::WrongKey };
        return Err(key.because(&name, none).note("nothing of it can be verified, and so nothing was written"));
    }
    output.commit()?;
    if !quiet {
        say(&format!("salvaged: {shown}: {} bytes are authentic\n", saved.bytes));
    }
    if is_whole && !is_extended && !saved.has_gaps && !is_moved && header == expected {
        return Ok(());
    }
    let mut failure = Failure::new(Code::Unauthentic, format_args!("{name}: not all of it can be verified"));
    if header != expected {
        failure = failure.note("its header was changed: that the chunks belong to one file only their tags say");
    }
    if is_extended {
        failure = failure.note(format_args!("its text ends with byte {}: what is behind that in the file is not part of it", saved.end));
    }
    if !is_whole {
        let end = saved.end;
        let nobody = format!("what came behind byte {end}, and how much that was, nobody can tell");
        let stands = format!(
            "its end is lost, or bytes are missing or were added behind byte {end}: what stands there in the file cannot be verified"
        );
        let is_more = chunks.place(number, shift).is_some_and(|at| at < len);
        failure = failure.note(if is_more { stands } else { format!("its end is lost: {nobody}") });
    }
    Err(failure)
}

/// The chunks of a file, wherever they are.
struct Chunks {
    cipher: Cipher,
    sealed: Seekable,
    /// A chunk as it is in the file, and the text of the last one that was opened.
    chunk: Vec<u8>,
    text: Zeroizing<Vec<u8>>,
}

impl Chunks {
    fn new(cipher: Cipher, sealed: Seekable) -> Self {
        Self { cipher, sealed, chunk: vec![0; SEALED_CHUNK_LEN], text: Zeroizing::new(vec![0; CHUNK_LEN]) }
    }

    /// Returns where a chunk begins that is so far from its place, if that is behind the header.
    fn place(&self, number: u64, shift: i64) -> Option<u64> {
        let place = number.checked_mul(SEALED_CHUNK_LEN as u64)?.checked_add(HEADER_LEN as u64)?;
        place.checked_add_signed(shift).filter(|at| *at >= HEADER_LEN as u64)
    }

    /// Opens a chunk that begins there. Returns the length of its text.
    fn open_at(&mut self, number: u64, at: u64) -> Option<usize> {
        // Bytes that the disk does not give are lost, like bytes that were changed.
        let read = fill(&mut self.sealed, at, &mut self.chunk).unwrap_or(0);
        opened(&self.cipher, number, &self.chunk[..read], &mut self.text)
    }

    /// Behind what was saved there may be the last chunk, followed by bytes that were added later. A chunk does not state its length: it is
    /// the length, of 16,384 possible ones, for which the tag is right.
    fn last(&mut self, number: u64, shift: i64) -> Option<usize> {
        let at = self.place(number, shift)?;
        let read = fill(&mut self.sealed, at, &mut self.chunk).unwrap_or(0);
        (TAG_LEN..read).find_map(|len| opened(&self.cipher, number, &self.chunk[..len], &mut self.text))
    }

    /// Looks for a chunk behind bytes that are missing or were added. Returns its number, and how far it is from its place.
    ///
    /// It may be this chunk or one of its neighbours, within two chunks of where this one should be; or, where whole sectors of a disk are missing,
    /// one of those that come later. Where chunks are looked for anyway, they are not looked for here. This takes a tenth of a second.
    fn hunt(&mut self, number: u64, at: u64, shift: i64) -> Option<(u64, i64)> {
        let chunk = SEALED_CHUNK_LEN as u64;
        let start = at.saturating_sub(2 * chunk).max(HEADER_LEN as u64);
        let mut window = vec![0; 4 * SEALED_CHUNK_LEN];
        let read = fill(&mut self.sealed, start, &mut window).unwrap_or(0);
        let window = &window[..read];
        let near = (number.saturating_sub(1)..=number + 1).map(|number| (number, start, 1));
        let far = (number + 2..).take(FAR).map(|number| (number, start.max(at.saturating_sub(chunk)), SECTOR));
        near.chain(far).find_map(|(number, first, step)| {
            let place = self.place(number, 0)?;
            let first = first + place.wrapping_sub(first) % step;
            (first..=at + chunk).step_by(step as usize).find_map(|begin| {
                let by = begin.wrapping_sub(place) as i64;
                let sealed = window.get((begin - start) as usize..).filter(|_| by != 0 && by != shift)?;
                opened(&self.cipher, number, &sealed[..sealed.len().min(SEALED_CHUNK_LEN)], &mut self.text)?;
                Some((number, by))
            })
        })
    }

    /// Returns where the next bytes are that the file system has, from this place on: what it does not have is zero, and no chunk.
    #[cfg(target_os = "linux")]
    fn data_behind(&self, at: u64) -> Option<u64> {
        match self.sealed.seek_data(at) {
            Err(Errno::NXIO) => None,
            data => Some(data.unwrap_or(at)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    fn data_behind(&self, at: u64) -> Option<u64> {
        Some(at)
    }
}

/// Opens these bytes as a chunk, if that is what they are. Returns the length of its text.
fn opened(cipher: &Cipher, number: u64, sealed: &[u8], text: &mut [u8]) -> Option<usize> {
    let text = text.get_mut(..sealed.len().checked_sub(TAG_LEN)?)?;
    cipher.open_chunk(number, sealed, text).ok().map(|()| text.len())
}

/// The largest number of searches for misplaced chunks.
const HUNTS: u32 = 64;

/// The unit in which disks lose bytes, and how many chunks (32 MiB) of such sectors may be missing.
const SECTOR: u64 = 512;
const FAR: usize = 2048;

const NO_HEADER: &str = "without the 56 bytes that it began with nothing of it can be saved";

/// The state of the output.
#[derive(Default)]
struct Saved {
    chunks: u64,
    /// The authentic bytes, where the text ends so far, and whether some bytes are lost before that.
    bytes: u64,
    end: u64,
    has_gaps: bool,
}

impl Saved {
    /// Writes an authentic chunk to its place, and zeros before it if other chunks are missing there.
    fn write(&mut self, number: u64, text: &[u8], output: &mut Output) -> Result<(), Failure> {
        let start = number * CHUNK_LEN as u64;
        let fail = |error: io::Error| Failure::file("output", error.into());
        if start > self.end {
            // Reported at once: a large file may have millions of these.
            say(&format!("note: bytes {}..{start} are lost: zeros stand for them\n", self.end));
            self.has_gaps = true;
            output.write_zeros(start - self.end).map_err(fail)?;
        }
        output.write_all(text).map_err(fail)?;
        self.end = start + text.len() as u64;
        self.bytes += text.len() as u64;
        self.chunks += 1;
        Ok(())
    }
}

/// Reads from this place until the buffer is full or the file ends. Returns how much that was.
fn fill(sealed: &mut Seekable, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    sealed.seek(SeekFrom::Start(at))?;
    let mut read = 0;
    while read < buffer.len() {
        match sealed.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
