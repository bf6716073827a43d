//! A message of a batch.

use crate::{Block, Error, Tag, inout::InOut, nonce::Nonce96, tag::tags_differ};

/// A message of a batch: what is sealed or opened, and what came of it ([`Key::seal_batch`](crate::Key::seal_batch)).
///
/// The fields are those of DPDK's `rte_crypto_sym_vec`, one packet beside the other: `iv`, `aad`, source and destination, `digest`, `status`.
#[derive(Debug)]
pub struct Packet<'a> {
    /// The nonce. Each must differ from all others that are used with the key.
    pub nonce: [u8; 12],
    /// What is authenticated and not encrypted.
    pub aad: &'a [u8],
    /// What is read, and where it is written.
    pub text: Text<'a>,
    /// Sealing writes the tag here. Opening reads it here.
    pub tag: Tag,
    /// What came of this packet. It is written by each call.
    pub status: Result<(), Error>,
}

/// The text of a [`Packet`].
#[derive(Debug)]
pub enum Text<'a> {
    /// Read and written in one place.
    InPlace(&'a mut [u8]),
    /// Read from one buffer and written to another of the same length.
    To(&'a [u8], &'a mut [u8]),
}

impl<'a> Packet<'a> {
    /// A packet whose text is sealed or opened in place. `tag` is the tag of a packet that is opened, or anything.
    pub fn in_place(nonce: [u8; 12], aad: &'a [u8], text: &'a mut [u8], tag: Tag) -> Self {
        Self { nonce, aad, text: Text::InPlace(text), tag, status: Ok(()) }
    }

    /// A packet whose text goes from one buffer to another. Of other lengths than one and the same, it will be refused.
    pub fn to(nonce: [u8; 12], aad: &'a [u8], from: &'a [u8], to: &'a mut [u8], tag: Tag) -> Self {
        Self { nonce, aad, text: Text::To(from, to), tag, status: Ok(()) }
    }

    /// Bytes of AAD and of text, if it has one length.
    #[inline(always)]
    pub(crate) fn lengths(&self) -> Option<(usize, usize)> {
        let text = match &self.text {
            Text::InPlace(text) => text.len(),
            Text::To(from, to) if from.len() == to.len() => from.len(),
            Text::To(..) => return None,
        };
        Some((self.aad.len(), text))
    }

    /// The text, if it has one length.
    #[inline(always)]
    pub(crate) fn in_out(&mut self) -> Option<InOut<'_>> {
        match &mut self.text {
            Text::InPlace(text) => Some(InOut::in_place(text)),
            Text::To(from, to) => InOut::copying(from, to),
        }
    }

    /// What is written.
    pub(crate) fn written(&mut self) -> &mut [u8] {
        match &mut self.text {
            Text::InPlace(text) | Text::To(_, text) => text,
        }
    }

    #[inline(always)]
    pub(crate) fn nonce96(&self) -> Nonce96 {
        Nonce96::new(&self.nonce)
    }

    /// Takes the tag that was found: as its own, or to be compared with its own. Returns whether that was wrong.
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
