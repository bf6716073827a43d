//! Functions that seal or open one message whose AAD and text lie in several buffers. The caller need not
//! copy them together first.
//!
//! | | to one buffer | to several | in place |
//! |---|---|---|---|
//! | seal | [`seal_gathered`](Key::seal_gathered) | [`seal_scattered`](Key::seal_scattered) | [`seal_chunks`](Key::seal_chunks) |
//! | open | [`open_gathered`](Key::open_gathered) | [`open_scattered`](Key::open_scattered) | [`open_chunks`](Key::open_chunks) |
//! | open, verified first | [`open_gathered_verified_first`](Key::open_gathered_verified_first) | | |
//!
//! A function copies a text of less than 16 KiB for one buffer to its place and encrypts it there. It reads a
//! longer text where the text lies, but for up to 512 bytes at a time that begin in one chunk and end in
//! another.
//!
//! `text` is a list of chunks of any lengths. `extra` is the text that a protocol puts behind them (the type
//! of a TLS 1.3 record); it may be empty.

use crate::{
    Block, Error, Key, Nonce, Tag,
    inout::{InOut, WAITING},
    isa::Frame,
    limits,
    running::Running,
    seal::{self, wipe},
    tag::{AnyTag, tags_differ},
};

impl Key {
    /// Encrypts the chunks of `text`, and `extra` behind them, to `ciphertext`, which has as many bytes as
    /// all of these together. Returns the tag.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if `ciphertext` has another length,
    /// [`TooLong`](Error::TooLong) as for [`seal`](Self::seal). `ciphertext` is untouched.
    ///
    /// ```
    /// # use fastgcm::Key;
    /// let key = Key::aes256(&[7; 32]);
    /// let mut record = [0; 11];
    /// let tag = key.seal_gathered([0; 12], &[b"head", b"er"], &[b"chunks ", b"of "], b"\x17", &mut record)?;
    /// key.open([0; 12], b"header", &mut record, &tag)?;
    /// assert_eq!(&record, b"chunks of \x17");
    /// # Ok::<(), fastgcm::Error>(())
    /// ```
    #[inline(always)]
    pub fn seal_gathered<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        text: &[&[u8]],
        extra: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal_to_one(nonce.into(), aad, text, extra, ciphertext).map(Tag::of)
    }

    /// Encrypts the chunks of `text`, and `extra` behind them, to the buffers of `ciphertext`, which have as
    /// many bytes together. Returns the tag.
    ///
    /// # Errors
    /// As for [`seal_gathered`](Self::seal_gathered).
    #[inline(always)]
    pub fn seal_scattered<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        text: &[&[u8]],
        extra: &[u8],
        ciphertext: &mut [&mut [u8]],
    ) -> Result<Tag, Error> {
        self.scattered(nonce.into(), aad, text, extra, ciphertext, true, Tag::of)
    }

    /// Encrypts one text, which lies in `chunks`, in place. Returns the tag.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong) as for [`seal`](Self::seal). All chunks are untouched.
    #[inline(always)]
    pub fn seal_chunks<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        chunks: &mut [&mut [u8]],
    ) -> Result<Tag, Error> {
        self.in_place(nonce.into(), aad, chunks, true, Tag::of)
    }

    /// Decrypts the chunks of `ciphertext` to `text`, which has as many bytes as all chunks together.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) as for [`open`](Self::open): `text` is all zero. `InvalidLength`
    /// and `TooLong` as for [`seal_gathered`](Self::seal_gathered): `text` is untouched.
    #[inline(always)]
    pub fn open_gathered<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        ciphertext: &[&[u8]],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        self.open_to_one(nonce.into(), aad, ciphertext, text, tag)
    }

    /// Decrypts the chunks of `ciphertext` to the buffers of `text`, which have as many bytes together.
    ///
    /// # Errors
    /// As for [`open_gathered`](Self::open_gathered), for all buffers of `text`.
    #[inline(always)]
    pub fn open_scattered<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        ciphertext: &[&[u8]],
        text: &mut [&mut [u8]],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let wrong =
            self.scattered(nonce.into(), aad, ciphertext, &[], text, false, |found| tags_differ(found, tag))?;
        verdict(wrong, text)
    }

    /// Decrypts one ciphertext, which lies in `chunks`, in place.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) as for [`open`](Self::open): all chunks are zero. `TooLong` as for
    /// [`seal_chunks`](Self::seal_chunks): all chunks are untouched.
    #[inline(always)]
    pub fn open_chunks<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        chunks: &mut [&mut [u8]],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let wrong = self.in_place(nonce.into(), aad, chunks, false, |found| tags_differ(found, tag))?;
        verdict(wrong, chunks)
    }

    /// Does what [`open_gathered`](Self::open_gathered) does, in two passes: the function writes nothing
    /// before it has verified the tag.
    ///
    /// # Errors
    /// As for [`open_gathered`](Self::open_gathered). `text` is untouched in every case.
    pub fn open_gathered_verified_first<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        ciphertext: &[&[u8]],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let nonce = nonce.into();
        let wrong = Frame::try_wiped_after_all(|| {
            let mut running = self.gather(nonce, aad, ciphertext, &[], &[text])?;
            for chunk in ciphertext {
                running.verify(&self.material, chunk)?;
            }
            Ok(tags_differ(running.finish(&self.material), tag))
        })?;
        if wrong {
            return Err(Error::Unauthentic);
        }
        self.open_gathered(nonce, aad, ciphertext, text, tag)
    }

    // What the functions above are but for the nonce, which must become numbers before a call: as an array it
    // is stored by eight bytes and four, and a load that spans two stores waits until both have left the
    // store buffer (`Nonce96::new`; 512 bytes of four chunks 38.8 ns, now 36.5: Zen 5). Inlined: 300 and 1420
    // bytes of four chunks take 6 and 3 % less.

    #[inline(always)]
    fn seal_to_one(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        text: &[&[u8]],
        extra: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<Block, Error> {
        let mut room = None;
        if ciphertext.len() <= COPIED
            && let Some(aad) = together(aad, &mut room)
        {
            copy(text, extra, ciphertext)?;
            return self.seal_inout(nonce, aad, InOut::in_place(ciphertext));
        }
        self.gathered(nonce, aad, text, extra, ciphertext, true, |tag| tag)
    }

    #[inline(always)]
    fn open_to_one(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        ciphertext: &[&[u8]],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let mut room = None;
        if text.len() <= COPIED
            && let Some(aad) = together(aad, &mut room)
        {
            copy(ciphertext, &[], text)?;
            return self.open(nonce, aad, text, tag);
        }
        let wrong =
            self.gathered(nonce, aad, ciphertext, &[], text, false, |found| tags_differ(found, tag))?;
        seal::verdict(wrong, text)
    }

    /// Begins a message, once all lengths are known to be right.
    fn gather(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        from: &[&[u8]],
        extra: &[u8],
        to: &[&mut [u8]],
    ) -> Result<Running, Error> {
        let text = total(from.iter().chain([&extra]).map(|chunk| chunk.len()))?;
        if total(to.iter().map(|chunk| chunk.len()))? != text {
            return Err(Error::InvalidLength);
        }
        self.begin(nonce, aad, text)
    }

    /// From a list to one buffer, in pieces that begin and end with a turn: what lies between two chunks is
    /// copied to its place first. Returns what `then` makes of the tag.
    #[allow(clippy::too_many_arguments)]
    fn gathered<T>(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        from: &[&[u8]],
        extra: &[u8],
        to: &mut [u8],
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        Frame::try_wiped_after_all(|| {
            let mut running = self.gather(nonce, aad, from, extra, &[&mut *to])?;
            let (mut to, mut chunks, mut chunk) = (to, from.iter().copied().chain([extra]), &[][..]);
            while !to.is_empty() {
                let turns = chunk.len() & !(WAITING - 1);
                let place = to
                    .split_off_mut(..if turns > 0 { turns } else { to.len().min(WAITING) })
                    .unwrap_or_default();
                if let Some(turns) = chunk.split_off(..turns)
                    && let Some(piece) = InOut::copying(turns, place)
                {
                    running.text(&self.material, piece, seal)?;
                    continue;
                }
                let mut empty = &mut *place;
                while !empty.is_empty() {
                    let here = chunk.split_off(..chunk.len().min(empty.len())).unwrap_or_default();
                    empty.split_off_mut(..here.len()).unwrap_or_default().copy_from_slice(here);
                    if chunk.is_empty() {
                        let Some(next) = chunks.next() else { break };
                        chunk = next;
                    }
                }
                running.text(&self.material, InOut::in_place(place), seal)?;
            }
            Ok(then(running.finish(&self.material)))
        })
    }

    /// From one list to another. Returns what `then` makes of the tag.
    #[allow(clippy::too_many_arguments)]
    fn scattered<T>(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        from: &[&[u8]],
        extra: &[u8],
        to: &mut [&mut [u8]],
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        Frame::try_wiped_after_all(|| {
            let mut running = self.gather(nonce, aad, from, extra, to)?;
            for piece in pieces(from.iter().chain([&extra]), to) {
                running.text(&self.material, piece, seal)?;
            }
            Ok(then(running.finish(&self.material)))
        })
    }

    /// Returns what `then` makes of the tag.
    fn in_place<T>(
        &self,
        nonce: Nonce<'_>,
        aad: &[&[u8]],
        chunks: &mut [&mut [u8]],
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        Frame::try_wiped_after_all(|| {
            let length = total(chunks.iter().map(|chunk| chunk.len()))?;
            let mut running = self.begin(nonce, aad, length)?;
            for chunk in chunks {
                running.text(&self.material, InOut::in_place(chunk), seal)?;
            }
            Ok(then(running.finish(&self.material)))
        })
    }

    fn begin(&self, nonce: Nonce<'_>, aad: &[&[u8]], text: usize) -> Result<Running, Error> {
        limits::check(total(aad.iter().map(|piece| piece.len()))?, text)?;
        let mut running = Running::begin(self.keyed(), nonce);
        for piece in aad {
            running.aad(&self.material, piece)?;
        }
        Ok(running)
    }
}

/// Bytes up to which text for one buffer is copied to its place and encrypted there.
const COPIED: usize = (16 << 10) - 1;

/// Bytes of AAD, of several pieces, that are put together.
const AAD: usize = 128;

/// AAD in one piece, if it is in one or short.
#[inline]
fn together<'a>(aad: &[&'a [u8]], room: &'a mut Option<[u8; AAD]>) -> Option<&'a [u8]> {
    match aad {
        [] => Some(&[]),
        [all] => Some(all),
        pieces => {
            let (room, mut length) = (room.insert([0; AAD]), 0_usize);
            for piece in pieces {
                room.get_mut(length..length.checked_add(piece.len())?)?.copy_from_slice(piece);
                length += piece.len();
            }
            Some(&room[..length])
        }
    }
}

/// # Errors
/// `InvalidLength` unless there is room for all of it and no more: nothing is written.
#[inline(always)]
fn copy(chunks: &[&[u8]], extra: &[u8], to: &mut [u8]) -> Result<(), Error> {
    // Chunks may be one and the same: then their sum may be larger than any buffer.
    if chunks.iter().fold(extra.len(), |sum, chunk| sum.saturating_add(chunk.len())) != to.len() {
        return Err(Error::InvalidLength);
    }
    let mut to = to;
    for chunk in chunks {
        to.split_off_mut(..chunk.len()).ok_or(Error::InvalidLength)?.copy_from_slice(chunk);
    }
    if !extra.is_empty() {
        to.copy_from_slice(extra);
    }
    Ok(())
}

/// The sum of lengths. Chunks may be one and the same, so it may be larger than any memory.
#[inline]
fn total(mut lengths: impl Iterator<Item = usize>) -> Result<usize, Error> {
    lengths.try_fold(0, usize::checked_add).ok_or(Error::TooLong)
}

/// What is read beside what is written, cut wherever a chunk of either ends.
fn pieces<'a>(
    from: impl Iterator<Item = &'a &'a [u8]>,
    to: &'a mut [&mut [u8]],
) -> impl Iterator<Item = InOut<'a>> {
    let (mut from, mut to) =
        (from.copied().filter(|chunk| !chunk.is_empty()), to.iter_mut().map(|chunk| &mut **chunk));
    let (mut reading, mut writing): (&[u8], &mut [u8]) = (&[], &mut []);
    core::iter::from_fn(move || {
        if reading.is_empty() {
            reading = from.next()?;
        }
        while writing.is_empty() {
            writing = to.next()?;
        }
        let n = reading.len().min(writing.len());
        let (read, to_be_read) = reading.split_at(n);
        let (written, to_be_written) = core::mem::take(&mut writing).split_at_mut(n);
        (reading, writing) = (to_be_read, to_be_written);
        InOut::copying(read, written)
    })
}

/// One branch, on the verdict, which the caller learns anyway.
fn verdict(wrong: bool, text: &mut [&mut [u8]]) -> Result<(), Error> {
    if wrong {
        text.iter_mut().for_each(|chunk| wipe(chunk));
        return Err(Error::Unauthentic);
    }
    Ok(())
}
