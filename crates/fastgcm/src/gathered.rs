//! Functions that seal or open one message whose AAD and text lie in several buffers. The caller need not
//! join the buffers first.
//!
//! | | to one buffer | to several buffers | in place |
//! |---|---|---|---|
//! | seal | [`seal_gathered`](Key::seal_gathered) | [`seal_scattered`](Key::seal_scattered) | [`seal_chunks`](Key::seal_chunks) |
//! | open | [`open_gathered`](Key::open_gathered) | [`open_scattered`](Key::open_scattered) | [`open_chunks`](Key::open_chunks) |
//! | open, verified first | [`open_gathered_verified_first`](Key::open_gathered_verified_first) | | |
//!
//! If there is one output buffer, a function copies a text of less than 16 KiB to its place and encrypts it
//! there. It reads a longer text in the caller's buffers, and copies only runs of up to 512 bytes that begin
//! in one chunk and end in another.
//!
//! `text` is a list of chunks of any lengths. `extra` is text that a protocol puts behind them (such as the
//! type of a TLS 1.3 record); it may be empty.

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
    /// Encrypts the chunks of `text`, and `extra` behind them, to `ciphertext`, which is exactly as long as
    /// all of these together. Returns the tag.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `ciphertext` has another length, or
    /// [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does. `ciphertext` is untouched.
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

    /// Encrypts the chunks of `text`, and `extra` behind them, to the buffers of `ciphertext`, which together
    /// are exactly as long. Returns the tag.
    ///
    /// # Errors
    /// Fails like [`seal_gathered`](Self::seal_gathered).
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

    /// Encrypts one text that lies in `chunks` in place. Returns the tag.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) as [`seal`](Self::seal) does. All chunks are untouched.
    #[inline(always)]
    pub fn seal_chunks<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[&[u8]],
        chunks: &mut [&mut [u8]],
    ) -> Result<Tag, Error> {
        self.in_place(nonce.into(), aad, chunks, true, Tag::of)
    }

    /// Decrypts the chunks of `ciphertext` to `text`, which is exactly as long as all chunks together.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; `text` is then all zero.
    /// Returns `InvalidLength` or `TooLong` as [`seal_gathered`](Self::seal_gathered) does; `text` is
    /// untouched.
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

    /// Decrypts the chunks of `ciphertext` to the buffers of `text`, which together are exactly as long.
    ///
    /// # Errors
    /// Fails like [`open_gathered`](Self::open_gathered). What that function does to `text` happens to all
    /// buffers of `text`.
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

    /// Decrypts one ciphertext that lies in `chunks` in place.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) as [`open`](Self::open) does; all chunks are then zero.
    /// Returns `TooLong` as [`seal_chunks`](Self::seal_chunks) does; all chunks are untouched.
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

    /// Does what [`open_gathered`](Self::open_gathered) does, but in two passes: the function verifies the
    /// tag before it writes anything.
    ///
    /// # Errors
    /// Fails like [`open_gathered`](Self::open_gathered). `text` is untouched in every case.
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

    // The functions above differ from these only in the nonce, which must become numbers before a call. As an
    // array the nonce is stored as eight bytes and four, and a load that spans two stores waits until both
    // have left the store buffer (`Nonce96::new`; 512 bytes of four chunks took 38.8 ns, and now take 36.5,
    // on Zen 5). Inlining saves 6 and 3 % for 300 and 1420 bytes of four chunks.

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

    /// Begins a message after all lengths have been checked.
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

    /// Encrypts or decrypts from a list to one buffer, in pieces that begin and end with a turn: text that
    /// lies across two chunks is first copied to its place. Returns what `then` makes of the tag.
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

    /// Encrypts or decrypts from one list to another. Returns what `then` makes of the tag.
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

    /// Encrypts or decrypts in place. Returns what `then` makes of the tag.
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

/// The longest text for one buffer, in bytes, that is copied to its place and encrypted there.
const COPIED: usize = (16 << 10) - 1;

/// The most bytes of AAD in several pieces that are joined.
const AAD: usize = 128;

/// Returns the AAD in one piece if it is short or already in one piece.
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
/// Returns `InvalidLength` unless `to` has room for all of the text and no more, and then writes nothing.
#[inline(always)]
fn copy(chunks: &[&[u8]], extra: &[u8], to: &mut [u8]) -> Result<(), Error> {
    // The chunks may be one and the same slice, so their sum may exceed the size of any buffer.
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

/// Returns the sum of the lengths. The chunks may be one and the same slice, so the sum may exceed any
/// memory.
#[inline]
fn total(mut lengths: impl Iterator<Item = usize>) -> Result<usize, Error> {
    lengths.try_fold(0, usize::checked_add).ok_or(Error::TooLong)
}

/// Pairs what is read with what is written, and cuts both wherever a chunk of either ends.
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

/// Takes one branch, on the verdict, which the caller learns anyway.
fn verdict(wrong: bool, text: &mut [&mut [u8]]) -> Result<(), Error> {
    if wrong {
        text.iter_mut().for_each(|chunk| wipe(chunk));
        return Err(Error::Unauthentic);
    }
    Ok(())
}
