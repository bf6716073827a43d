//! A message of a batch.

use crate::{Block, Error, Tag, inout::InOut, nonce::Nonce96, tag::tags_differ};
use core::fmt;

/// The fewest packets that go side by side: one for each lane of the widest vector.
pub(crate) const TOGETHER: usize = 4;

/// A message of a batch: what is sealed or opened, and the result
/// ([`Key::seal_batch`](crate::Key::seal_batch)).
///
/// The fields are those of DPDK's `rte_crypto_sym_vec`, which has an array for each: `iv`, `aad`, source and
/// destination, `digest`, `status`.
#[derive(Debug)]
pub struct Packet<'a> {
    /// The nonce, which must be unique for every message under one key.
    pub nonce: [u8; 12],
    /// Data that is authenticated and not encrypted.
    pub aad: &'a [u8],
    /// The text that is read, and where it is written.
    pub text: Text<'a>,
    /// Sealing writes the tag here. Opening reads it here.
    pub tag: Tag,
    /// The result of the last call for this packet.
    pub status: Result<(), Error>,
}

/// The text of a [`Packet`].
pub enum Text<'a> {
    /// The text is read and written in one place.
    InPlace(&'a mut [u8]),
    /// The text is read from the first buffer and written to the second, which has the same length.
    To(&'a [u8], &'a mut [u8]),
}

impl fmt::Debug for Text<'_> {
    /// Writes where the text lies and its length in bytes, and nothing of the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, n) = match self {
            Self::InPlace(text) => ("InPlace", text.len()),
            Self::To(text, _) => ("To", text.len()),
        };
        f.debug_tuple(name).field(&format_args!("{n} bytes")).finish()
    }
}

impl Text<'_> {
    /// Returns the length of the text, if its two buffers have one length.
    #[inline(always)]
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::InPlace(text) => Some(text.len()),
            Self::To(from, to) => (from.len() == to.len()).then_some(from.len()),
        }
    }

    #[inline(always)]
    pub(crate) fn in_out(&mut self) -> Option<InOut<'_>> {
        match self {
            Self::InPlace(text) => Some(InOut::in_place(text)),
            Self::To(from, to) => InOut::copying(from, to),
        }
    }
}

impl<'a> Packet<'a> {
    /// Makes a packet whose text is sealed or opened in place. `tag` is the tag of a packet to be opened, or
    /// any value for a packet to be sealed.
    #[inline]
    pub fn in_place(nonce: [u8; 12], aad: &'a [u8], text: &'a mut [u8], tag: Tag) -> Self {
        Self { nonce: Nonce96::new(&nonce).to_array(), aad, text: Text::InPlace(text), tag, status: Ok(()) }
    }

    /// Makes a packet whose text goes from one buffer to another. Sealing and opening refuse it if the two
    /// buffers have different lengths.
    #[inline]
    pub fn to(nonce: [u8; 12], aad: &'a [u8], from: &'a [u8], to: &'a mut [u8], tag: Tag) -> Self {
        Self { nonce: Nonce96::new(&nonce).to_array(), aad, text: Text::To(from, to), tag, status: Ok(()) }
    }

    /// Returns how many bytes of text are written.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        match &self.text {
            Text::InPlace(text) | Text::To(_, text) => text.len(),
        }
    }

    /// Returns the numbers of bytes of AAD and of text, if the text has one length.
    #[inline(always)]
    pub(crate) fn lengths(&self) -> Option<(usize, usize)> {
        Some((self.aad.len(), self.text.len()?))
    }

    /// Returns the text, if it has one length.
    #[inline(always)]
    pub(crate) fn in_out(&mut self) -> Option<InOut<'_>> {
        self.text.in_out()
    }

    /// Returns the buffer that is written.
    pub(crate) fn written(&mut self) -> &mut [u8] {
        match &mut self.text {
            Text::InPlace(text) | Text::To(_, text) => text,
        }
    }

    #[inline(always)]
    pub(crate) fn nonce96(&self) -> Nonce96 {
        Nonce96::new(&self.nonce)
    }

    /// Stores the tag that was found, or compares it with the packet's own tag. Returns whether the packet's
    /// tag was wrong.
    #[inline(always)]
    pub(crate) fn conclude<const SEAL: bool>(&mut self, found: Block) -> bool {
        if SEAL {
            self.tag = Tag::of(found);
        }
        let wrong = !SEAL && tags_differ(found, &self.tag);
        self.status = if wrong { Err(Error::Unauthentic) } else { Ok(()) };
        wrong
    }
}
