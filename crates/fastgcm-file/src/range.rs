//! Reading any bytes of a sealed file without opening the rest.

use crate::{
    CHUNK_LEN, Cipher, Error, Key, TAG_LEN,
    format::{check_range, chunk_start, text_len},
    parallel::{Buffer, End, open_chunks},
    reader::open_header,
};
use std::{
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    num::NonZero,
    ops::Range,
};
use zeroize::Zeroize;

/// Opens ranges of a sealed file.
///
/// [`new`](Self::new) verifies the header and the **last chunk**. So it refuses a truncated or extended file before any range is read, and
/// the length of the text is authentic.
///
/// ```
/// use fastgcm_file::{Format, Key, RangeReader, seal};
/// use std::{io::Cursor, num::NonZero};
///
/// let key = Key::generate(Format::default())?;
/// let mut sealed = Vec::new();
/// seal(&key, b"", &[7; 50_000][..], &mut sealed, NonZero::<usize>::MIN)?;
///
/// let mut file = RangeReader::new(&key, b"", Cursor::new(&sealed))?;
/// assert_eq!(file.len(), 50_000);
/// assert_eq!(file.read(16_380..16_390)?, [7; 10]); // touches two chunks
///
/// sealed.truncate(40_000);
/// assert!(RangeReader::new(&key, b"", Cursor::new(&sealed)).is_err());
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub struct RangeReader<R> {
    source: R,
    cipher: Cipher,
    sealed_len: u64,
    len: u64,
}

impl<R: Read + Seek + Send> RangeReader<R> {
    /// Verifies the header and the last chunk of `source`, whose whole content is the sealed file.
    ///
    /// # Errors
    /// Returns [`WrongKey`](Error::WrongKey), [`Truncated`](Error::Truncated), [`TooLong`](Error::TooLong), [`Chunk`](Error::Chunk) for the
    /// last chunk, or [`Io`](Error::Io) from `source`.
    pub fn new(key: &Key, context: &[u8], mut source: R) -> Result<Self, Error> {
        let sealed_len = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let cipher = open_header(key, context, &mut source)?;
        let len = text_len(sealed_len)?;
        let mut reader = Self { source, cipher, sealed_len, len };
        reader.open_last()?;
        Ok(reader)
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of this range of the text. The function verifies all chunks of the range before it returns.
    ///
    /// # Errors
    /// Returns [`OutOfRange`](Error::OutOfRange) if the range is not within the text, or if there is not enough memory for it;
    /// [`Chunk`](Error::Chunk) or [`Truncated`](Error::Truncated) if a chunk is not authentic; or [`Io`](Error::Io) from the source.
    pub fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        check_range(&range, self.len)?;
        let mut text = Vec::new();
        let len = usize::try_from(range.end - range.start).map_err(|_| Error::OutOfRange)?;
        text.try_reserve_exact(len).map_err(|_| Error::OutOfRange)?;
        self.copy(range, &mut text, NonZero::<usize>::MIN).inspect_err(|_| text.zeroize())?;
        Ok(text)
    }

    /// Verifies all chunks of the range without giving out any text.
    ///
    /// # Errors
    /// Fails like [`read`](Self::read).
    pub fn verify(&mut self, range: Range<u64>, threads: NonZero<usize>) -> Result<(), Error> {
        self.copy(range, io::sink(), threads)
    }

    /// Writes this range of the text to `text`, **each chunk after it was verified**, on threads as [`open`](crate::open) does. If no text
    /// may be released unless all chunks are authentic, and the range is too long for [`read`](Self::read), the caller must call
    /// [`verify`](Self::verify) first.
    ///
    /// # Errors
    /// Fails like [`read`](Self::read), or returns [`Io`](Error::Io) from `text`.
    pub fn copy(&mut self, range: Range<u64>, text: impl Write + Send, threads: NonZero<usize>) -> Result<(), Error> {
        check_range(&range, self.len)?;
        if range.is_empty() {
            return Ok(());
        }
        let first = range.start / CHUNK_LEN as u64;
        let behind = (range.end - 1) / CHUNK_LEN as u64 + 1;
        let end = chunk_start(behind).min(self.sealed_len);
        let kind = if end == self.sealed_len { End::OfFile } else { End::OfRange };
        self.source.seek(SeekFrom::Start(chunk_start(first)))?;
        let sealed = (&mut self.source).take(end - chunk_start(first));
        let mut trim = Trim { text, skip: range.start - first * CHUNK_LEN as u64, left: range.end - range.start };
        open_chunks(&self.cipher, first, kind, sealed, &mut trim, threads)?;
        // The file became shorter while we were reading.
        if trim.left > 0 { Err(Error::Truncated) } else { Ok(()) }
    }

    fn open_last(&mut self) -> Result<(), Error> {
        let number = self.len / CHUNK_LEN as u64;
        let text_len = (self.len % CHUNK_LEN as u64) as usize;
        let (mut sealed, mut text) = (Buffer::new(text_len + TAG_LEN)?, Buffer::new(text_len)?);
        let (sealed, text) = (sealed.first(text_len + TAG_LEN), text.first(text_len));
        self.source.seek(SeekFrom::Start(chunk_start(number)))?;
        self.source.read_exact(sealed).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Truncated,
            _ => error.into(),
        })?;
        self.cipher.open_chunk(number, sealed, text)
    }
}

impl<R> fmt::Debug for RangeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeReader").field("cipher", &self.cipher).field("len", &self.len).finish_non_exhaustive()
    }
}

/// Passes on `left` bytes after the first `skip`.
struct Trim<W> {
    text: W,
    skip: u64,
    left: u64,
}

impl<W: Write> Write for Trim<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.skip.min(bytes.len() as u64);
        let wanted = &bytes[skipped as usize..];
        let wanted = &wanted[..self.left.min(wanted.len() as u64) as usize];
        self.text.write_all(wanted)?;
        self.skip -= skipped;
        self.left -= wanted.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.flush()
    }
}
