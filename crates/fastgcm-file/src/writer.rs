//! Sealing as a stream: everything written is sealed chunk by chunk and passed on.

use crate::{CHUNK_LEN, Cipher, Error, Key, SEALED_CHUNK_LEN, TAG_LEN};
use std::{
    fmt,
    io::{self, Write},
};
use zeroize::Zeroizing;

/// Seals the text that is written to it, on one thread, and writes the sealed file to `W`.
///
/// The caller must call [`finish`](Self::finish), which writes the last chunk: every reader refuses a file without the last chunk as
/// truncated. So a caller may simply drop the writer after an error.
///
/// ```
/// use fastgcm_file::{Format, Key, Reader, Writer};
/// use std::io::{Read, Write};
///
/// let key = Key::generate(Format::default())?;
/// let mut writer = Writer::new(&key, b"context", Vec::new())?;
/// writer.write_all(b"any number of bytes")?;
/// let sealed = writer.finish()?;
///
/// let mut text = String::new();
/// Reader::new(&key, b"context", &sealed[..])?.read_to_string(&mut text)?;
/// assert_eq!(text, "any number of bytes");
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub struct Writer<W: Write> {
    inner: W,
    cipher: Cipher,
    pub(crate) number: u64,
    /// Text that does not fill a chunk yet.
    text: Zeroizing<Vec<u8>>,
    sealed: Vec<u8>,
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// Starts a new file and writes its header.
    ///
    /// # Errors
    /// [`Io`](Error::Io) from `inner`, or if the operating system has no random bytes.
    pub fn new(key: &Key, context: &[u8], mut inner: W) -> Result<Self, Error> {
        let (header, cipher) = Cipher::create(key, context)?;
        inner.write_all(&header)?;
        let text = Zeroizing::new(Vec::with_capacity(CHUNK_LEN));
        Ok(Self { inner, cipher, number: 0, text, sealed: vec![0; SEALED_CHUNK_LEN], failed: false })
    }

    /// Seals the rest of the text as the last chunk, flushes `W` and returns it.
    ///
    /// # Errors
    /// Returns [`Io`](Error::Io) from `W`, also if an earlier write failed. The file is then truncated, and every reader refuses it.
    pub fn finish(mut self) -> Result<W, Error> {
        self.pass_on(None)?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    /// Returns the `W` to which the writer writes.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Seals one chunk, `text` or else the collected text, and writes it. If that fails, some of the chunk may have been written, so
    /// nothing later could be right.
    fn pass_on(&mut self, text: Option<&[u8]>) -> Result<(), Error> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed").into());
        }
        self.failed = true;
        let text = text.unwrap_or(&self.text);
        let sealed = &mut self.sealed[..text.len() + TAG_LEN];
        self.cipher.seal_chunk(self.number, text, sealed)?;
        self.inner.write_all(sealed)?;
        self.number += 1;
        self.failed = false;
        Ok(())
    }
}

impl<W: Write> Write for Writer<W> {
    /// Takes all of `text`. A full chunk can never be the last, so it is passed on at once.
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut rest = text;
        while !rest.is_empty() {
            let room = CHUNK_LEN - self.text.len();
            if self.text.is_empty() && rest.len() >= CHUNK_LEN {
                let (chunk, behind) = rest.split_at(CHUNK_LEN);
                self.pass_on(Some(chunk))?;
                rest = behind;
            } else {
                let (head, behind) = rest.split_at(room.min(rest.len()));
                self.text.extend_from_slice(head);
                rest = behind;
                if self.text.len() == CHUNK_LEN {
                    self.pass_on(None)?;
                    self.text.clear();
                }
            }
        }
        Ok(text.len())
    }

    /// Flushes `W`. Text that does not fill a chunk stays here until [`finish`](Writer::finish).
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("cipher", &self.cipher).field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, MAX_CHUNKS, open};
    use std::num::NonZero;

    #[test]
    fn any_pieces_make_the_same_text() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        let text: Vec<u8> = (0..3 * CHUNK_LEN + 5).map(|i| i as u8).collect();
        for piece in [1, 1000, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, text.len()] {
            let mut writer = Writer::new(&key, b"", Vec::new()).unwrap();
            for piece in text.chunks(piece) {
                assert_eq!(writer.write(piece).unwrap(), piece.len());
            }
            let mut opened = Vec::new();
            open(&key, b"", &writer.finish().unwrap()[..], &mut opened, NonZero::<usize>::MIN).unwrap();
            assert!(opened == text, "pieces of {piece}");
        }
    }

    /// Fails once, after this many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 < bytes.len() {
                self.0 = usize::MAX;
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn after_an_error_it_fails_for_good() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        assert!(matches!(Writer::new(&key, b"", Full(55)), Err(Error::Io(_))));
        let mut writer = Writer::new(&key, b"", Full(20_000)).unwrap();
        assert!(writer.write_all(&[0; 2 * CHUNK_LEN]).is_err());
        assert!(writer.write_all(&[0; CHUNK_LEN]).is_err());
        assert!(writer.finish().is_err());
    }

    /// Checks numbers in files of gigabytes that no test seals, up to the longest possible file.
    #[test]
    fn numbers_of_any_size() {
        let key = Key::new(Format::Cobblestone128, &[1; 16]).unwrap();
        for number in [255, (1 << 16) - 1, (1 << 32) - 1, MAX_CHUNKS - 2] {
            let mut writer = Writer::new(&key, b"", Vec::new()).unwrap();
            writer.number = number;
            writer.write_all(&[7; CHUNK_LEN + 3]).unwrap();
            let sealed = writer.finish().unwrap();
            let (header, chunks) = sealed.split_first_chunk().unwrap();
            let cipher = Cipher::of(&key, b"", header).unwrap();
            for (number, sealed) in (number..).zip(chunks.chunks(SEALED_CHUNK_LEN)) {
                let mut text = vec![0; sealed.len() - TAG_LEN];
                cipher.open_chunk(number, sealed, &mut text).unwrap();
                assert!(text.iter().all(|byte| *byte == 7));
            }
        }
        let mut writer = Writer::new(&key, b"", Vec::new()).unwrap();
        writer.number = MAX_CHUNKS - 1;
        writer.write_all(&[7; CHUNK_LEN - 1]).unwrap();
        assert!(matches!(writer.write_all(&[7]).unwrap_err().downcast(), Ok(Error::TooLong)));
        assert!(matches!(writer.finish(), Err(Error::Io(_))));
    }
}
