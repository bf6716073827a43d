//! A message of one piece, done in one call, though OpenSSL's interface has three: AAD waits for the text, and the tag is made with the
//! text. In pieces a message of 64 bytes takes four times as long, and one of 1 KiB a fifth more. If the message goes on nevertheless, it
//! starts again in pieces.

use crate::{abi::Failure, key::Keyed, shared::room};
use fastgcm::{Error, Key, Tag, hazmat::Pieces};
use std::{mem::MaybeUninit, ptr, slice};

/// The most bytes of AAD: IPsec, SRTP and QUIC have more than 16. AAD in smaller pieces is hashed when this much has arrived.
const AAD: usize = 256;
/// The bytes of text for which a context has room.
const TEXT: usize = 64;
/// The most bytes of text: as many as a packet has. (Its ciphertext is kept, which takes longer the more there is.)
const LONG: usize = 1536;

/// Room for more than [`TEXT`] bytes, with the layout of a key: a thread keeps the memory of its last key (see `allocator`).
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Long([MaybeUninit<u8>; size_of::<Key>()]);
const _: () = assert!(size_of::<Long>() == size_of::<Key>() && align_of::<Long>() == align_of::<Key>() && LONG <= size_of::<Key>());

/// Returns such room, uninitialised.
fn long() -> Result<Box<Long>, Failure> {
    // SAFETY: all of it may be uninitialized.
    Ok(unsafe { room::<Long>()?.assume_init() })
}

/// A message with a nonce of 12 bytes, as long as it is one piece of text behind a little AAD. If more comes, it goes on in pieces.
pub(crate) struct Short {
    pub(crate) nonce: [u8; 12],
    aad: [u8; AAD],
    /// The pending bytes of AAD of a message in pieces.
    aad_length: usize,
    /// True if AAD may still come.
    aad_waits: bool,
    /// The ciphertext, for a message that goes on, if it fits.
    text: [u8; TEXT],
    /// The ciphertext of a longer message.
    pub(crate) long: Option<Box<Long>>,
    text_length: usize,
    /// The most bytes of text of this context: [`TEXT`] once a longer text has gone on.
    most: usize,
    /// The tag, if there is text.
    tag: [u8; 16],
}

impl Short {
    pub(crate) const NONE: Self = Self {
        nonce: [0; 12],
        aad: [0; AAD],
        aad_length: 0,
        aad_waits: true,
        text: [0; TEXT],
        long: None,
        text_length: 0,
        most: LONG,
        tag: [0; 16],
    };

    /// Returns a copy of the long text. (There is almost never a long text, so the code that copies one is out
    /// of the way: a copy of a context takes 8 ns.)
    #[inline(always)]
    pub(crate) fn duplicate_long(&self) -> Result<Option<Box<Long>>, Failure> {
        #[cold]
        fn copy(from: &Long) -> Result<Option<Box<Long>>, Failure> {
            let mut to = long()?;
            *to = *from;
            Ok(Some(to))
        }
        if let Some(long) = &self.long { copy(long) } else { Ok(None) }
    }

    pub(crate) fn begin(&mut self, nonce: [u8; 12]) {
        (self.nonce, self.aad_length, self.aad_waits, self.text_length, self.long) = (nonce, 0, true, 0, None);
    }

    /// Keeps a piece of AAD. Returns `false` if it is too long, or comes after text.
    #[inline]
    pub(crate) fn aad(&mut self, piece: &[u8]) -> bool {
        let Some(room) = self.aad[self.aad_length..].get_mut(..piece.len()).filter(|_| self.aad_waits) else { return false };
        room.copy_from_slice(piece);
        self.aad_length += piece.len();
        true
    }

    /// Returns whether a text of this length can be the whole text.
    #[inline]
    pub(crate) fn takes(&self, length: usize) -> bool {
        self.text_length == 0 && length <= self.most
    }

    /// Seals or opens the whole text, whose length it `takes`, in place. The text is made ready only when nothing can fail any more: a
    /// later failure would leave a plaintext where a ciphertext is expected.
    #[inline]
    pub(crate) fn text<'t>(
        &mut self,
        key: &mut Keyed,
        length: usize,
        text: impl FnOnce() -> &'t mut [u8],
        seals: bool,
    ) -> Result<(), Failure> {
        if length > TEXT && self.long.is_none() {
            self.long = Some(long()?);
        }
        let (key, text) = (key.ready()?, text());
        if !seals {
            self.keep(text);
        }
        self.tag = key.whole(self.nonce, &self.aad[..self.aad_length], text, seals)?.0;
        if seals {
            self.keep(text);
        }
        (self.text_length, self.aad_waits) = (text.len(), false);
        Ok(())
    }

    /// Keeps the ciphertext.
    #[inline]
    fn keep(&mut self, text: &[u8]) {
        if let Some(room) = self.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
        } else if let Some(Long(room)) = self.long.as_deref_mut() {
            let room = &mut room[..text.len()];
            // SAFETY: as many bytes are there as are copied, and nobody else has them.
            unsafe { ptr::copy_nonoverlapping(text.as_ptr(), room.as_mut_ptr().cast(), text.len()) }
        }
    }

    /// Returns the ciphertext that is kept.
    fn kept(&mut self) -> &mut [u8] {
        match &mut self.long {
            // SAFETY: `keep` has written so many bytes there.
            Some(long) if self.text_length > TEXT => unsafe { slice::from_raw_parts_mut(long.0.as_mut_ptr().cast(), self.text_length) },
            _ => &mut self.text[..self.text_length],
        }
    }

    /// Returns the tag of the message so far.
    #[inline]
    pub(crate) fn finish(&mut self, key: &mut Keyed, seals: bool) -> Result<Tag, Failure> {
        if self.text_length == 0 {
            return key.ready()?.whole(self.nonce, &self.aad[..self.aad_length], &mut [], seals);
        }
        let tag = Tag(self.tag);
        self.wipe_tag();
        self.long = None;
        Ok(tag)
    }

    /// Notes that text comes, and no more AAD.
    #[inline]
    pub(crate) fn aad_ends(&mut self) {
        self.aad_waits = false;
    }

    /// Does the AAD that has been waiting in pieces.
    #[inline]
    pub(crate) fn aad_goes_on(&mut self, key: &Key, pieces: &mut Pieces) -> Result<(), Error> {
        if self.aad_length > 0 {
            pieces.aad(key, &self.aad[..self.aad_length])?;
            self.aad_length = 0;
        }
        Ok(())
    }

    /// Does the message so far in pieces.
    #[inline]
    pub(crate) fn go_on<'a>(&mut self, key: &Key, pieces: &'a mut Pieces) -> Result<&'a mut Pieces, Error> {
        self.aad_goes_on(key, pieces)?;
        if self.text_length != 0 {
            // Opened text is of no use here: it is wiped.
            let text = self.kept();
            pieces.open(key, text)?;
            text.fill(0);
            zeroize::optimization_barrier(text);
            if self.long.take().is_some() {
                self.most = TEXT;
            }
            self.wipe_tag();
        }
        Ok(pieces)
    }

    /// Wipes the tag of a message that goes on or is refused: nobody may see it.
    fn wipe_tag(&mut self) {
        self.tag = [0; 16];
        zeroize::optimization_barrier(&self.tag);
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        self.wipe_tag();
    }
}
