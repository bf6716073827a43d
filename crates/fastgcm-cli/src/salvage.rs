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
    let mut buffers = (vec![0; SEALED_CHUNK_LEN], Zeroizing::new(vec![0; CHUNK_LEN]));
    let body = len.saturating_sub(HEADER_LEN as u64);
    let (mut is_whole, mut is_extended) = (false, false);
    for number in 0..body.div_ceil(SEALED_CHUNK_LEN as u64) {
        let (sealed_chunk, text) = &mut buffers;
        let at = HEADER_LEN as u64 + number * SEALED_CHUNK_LEN as u64;
        // Bytes that the disk does not give are lost, like bytes that were changed.
        let read = fill(&mut sealed, at, sealed_chunk).unwrap_or(0);
        let text = &mut text[..read.saturating_sub(TAG_LEN)];
        match cipher.open_chunk(number, &sealed_chunk[..read], text) {
            Ok(()) => {
                saved.write(number, text, &mut output)?;
                is_whole = read < SEALED_CHUNK_LEN;
            }
            Err(Error::Chunk(_) | Error::Truncated) => {}
            Err(error) => return Err(Failure::file(&name, error)),
        }
    }
    let number = saved.end / CHUNK_LEN as u64;
    if !is_whole && let Some(text) = last_chunk(&cipher, &mut sealed, number)? {
        saved.write(number, &text, &mut output)?;
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
    if is_whole && !is_extended && !saved.has_gaps && header == expected {
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
        failure =
            failure.note(format_args!("its end is lost: what came behind byte {}, and how much that was, nobody can tell", saved.end));
    }
    Err(failure)
}

/// Behind what was saved there may be the last chunk, followed by bytes that were added later. A chunk does not state its length: it is the
/// length, of 16,384 possible ones, for which the tag is right.
fn last_chunk(cipher: &Cipher, sealed: &mut Seekable, number: u64) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    let (mut chunk, mut text) = (vec![0; SEALED_CHUNK_LEN], Zeroizing::new(vec![0; CHUNK_LEN]));
    let read = fill(sealed, HEADER_LEN as u64 + number * SEALED_CHUNK_LEN as u64, &mut chunk).unwrap_or(0);
    for len in TAG_LEN..read {
        let text = &mut text[..len - TAG_LEN];
        match cipher.open_chunk(number, &chunk[..len], text) {
            Ok(()) => return Ok(Some(Zeroizing::new(text.to_vec()))),
            Err(Error::Chunk(_)) => {}
            Err(error) => return Err(Failure::file("input", error)),
        }
    }
    Ok(None)
}

const NO_HEADER: &str = "without the 56 bytes that it began with nothing of it can be saved";

/// What has been written.
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
            io::copy(&mut io::repeat(0).take(start - self.end), output).map_err(fail)?;
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
