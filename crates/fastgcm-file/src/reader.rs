//! Opening as a stream: a chunk is verified before any of its bytes are given out.

use crate::{CHUNK_LEN, Cipher, Error, HEADER_LEN, Key, SEALED_CHUNK_LEN, TAG_LEN};
use std::{
    fmt,
    io::{self, BufRead, Read},
};
use zeroize::Zeroizing;

/// Opens a sealed file that it reads from `R`, on one thread.
///
/// Every byte that a `Reader` gives out belongs to a verified chunk. **The reader knows only at the end that the file is whole**: until
/// `read` has returned 0, the caller has a prefix. If the file is not authentic, the [`io::Error`] contains an [`Error`], and each further
/// call returns that error again. The reader does not remember errors of `R` itself, so a caller can repeat a read that was interrupted.
///
/// See [`Writer`](crate::Writer) for an example.
pub struct Reader<R: Read> {
    inner: R,
    cipher: Cipher,
    pub(crate) number: u64,
    sealed: Vec<u8>,
    /// The bytes of the next sealed chunk that have arrived so far.
    have: usize,
    /// One opened chunk, and which of its bytes are still to be given out.
    text: Zeroizing<Vec<u8>>,
    start: usize,
    end: usize,
    state: State,
}

enum State {
    Open,
    Ended,
    Failed(Error),
}

impl<R: Read> Reader<R> {
    /// Reads the header and checks that it belongs to this key and context.
    ///
    /// # Errors
    /// Returns [`WrongKey`](Error::WrongKey) if the header does not belong to them, [`Truncated`](Error::Truncated) if the file is
    /// shorter than a header, or [`Io`](Error::Io) from `inner`.
    pub fn new(key: &Key, context: &[u8], mut inner: R) -> Result<Self, Error> {
        let cipher = open_header(key, context, &mut inner)?;
        Ok(Self::behind_header(cipher, inner))
    }

    /// Makes the reader of what stands behind the header of that file.
    pub(crate) fn behind_header(cipher: Cipher, inner: R) -> Self {
        let (sealed, text) = (vec![0; SEALED_CHUNK_LEN], Zeroizing::new(vec![0; CHUNK_LEN]));
        Self { inner, cipher, number: 0, sealed, have: 0, text, start: 0, end: 0, state: State::Open }
    }

    /// Forgets what it has read. `inner` will give the chunk `number` next.
    #[cfg(feature = "tokio")]
    pub(crate) fn restart(&mut self, number: u64) {
        (self.number, self.have, self.start, self.end, self.state) = (number, 0, 0, 0, State::Open);
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the `R` from which the reader reads.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the `R` from which the reader reads. Bytes that were read ahead are lost.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Reads and opens the next chunk.
    fn next_chunk(&mut self) -> io::Result<()> {
        self.have += fill(&mut self.inner, &mut self.sealed[self.have..]).map_err(|(error, read)| {
            self.have += read;
            error
        })?;
        let sealed = &self.sealed[..self.have];
        let text = &mut self.text[..self.have.saturating_sub(TAG_LEN)];
        match self.cipher.open_chunk(self.number, sealed, text) {
            Ok(()) => {
                (self.start, self.end) = (0, text.len());
                self.number += 1;
                if self.have < SEALED_CHUNK_LEN {
                    self.state = State::Ended;
                }
                self.have = 0;
                Ok(())
            }
            Err(error) => {
                self.state = State::Failed(error.again());
                Err(error.into())
            }
        }
    }
}

/// Reads the header, and derives the keys of the file if the header belongs to this key and context.
pub(crate) fn open_header(key: &Key, context: &[u8], input: &mut impl Read) -> Result<Cipher, Error> {
    let mut header = [0; HEADER_LEN];
    let read = fill(input, &mut header).map_err(|(error, _)| error)?;
    if read < HEADER_LEN {
        return Err(Error::Truncated);
    }
    Cipher::of(key, context, &header)
}

/// Reads until `buffer` is full or the input ends, and returns how many bytes came; with an error, how many came before it. An input is
/// broken if it claims to have given more bytes than there was room for.
pub(crate) fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, (io::Error, usize)> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) if read <= buffer.len() - filled => filled += read,
            Ok(_) => return Err((io::Error::other("the input has given more than was asked for"), filled)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((error, filled)),
        }
    }
    Ok(filled)
}

impl<R: Read> BufRead for Reader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end {
            match &self.state {
                State::Open => self.next_chunk()?,
                State::Ended => break,
                State::Failed(error) => return Err(error.again().into()),
            }
        }
        Ok(&self.text[self.start..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.start += amount.min(self.end - self.start);
    }
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("cipher", &self.cipher).field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, MAX_CHUNKS};

    /// Checks numbers in files of gigabytes that no test opens, up to the longest possible file.
    #[test]
    fn numbers_of_any_size() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        let (header, cipher) = Cipher::create(&key, b"").unwrap();
        for number in [255, (1 << 16) - 1, (1 << 32) - 1, MAX_CHUNKS - 2] {
            let (mut first, mut last) = ([0; SEALED_CHUNK_LEN], [0; 3 + TAG_LEN]);
            cipher.seal_chunk(number, &[7; CHUNK_LEN], &mut first).unwrap();
            cipher.seal_chunk(number + 1, &[7; 3], &mut last).unwrap();
            let sealed = [&header[..], &first, &last].concat();
            let mut reader = Reader::new(&key, b"", &sealed[..]).unwrap();
            reader.number = number;
            let mut text = Vec::new();
            reader.read_to_end(&mut text).unwrap();
            assert_eq!(text, [7; CHUNK_LEN + 3]);
        }
    }
}
