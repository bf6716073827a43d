//! A short message in one go, though OpenSSL's interface has it in three: AAD waits for the text, and the tag is made with the text. In pieces a
//! message of 64 bytes takes four times as long.

use crate::{key::Keyed, object::Failure};
use fastgcm::{Error, Key, Tag, hazmat::Pieces};

/// The most bytes of AAD and of text.
const AAD: usize = 16;
const TEXT: usize = 64;

/// A message with a nonce of 12 bytes, as long as it is one piece of text behind a little AAD. If more comes, it goes on in pieces.
#[derive(Clone)]
pub(crate) struct Short {
    pub(crate) nonce: [u8; 12],
    aad: [u8; AAD],
    aad_length: usize,
    /// The ciphertext, for a message that goes on.
    text: [u8; TEXT],
    text_length: usize,
    /// The tag, if there is text.
    tag: [u8; 16],
}

impl Short {
    pub(crate) const NONE: Self = Self { nonce: [0; 12], aad: [0; AAD], aad_length: 0, text: [0; TEXT], text_length: 0, tag: [0; 16] };

    pub(crate) fn begin(&mut self, nonce: [u8; 12]) {
        (self.nonce, self.aad_length, self.text_length) = (nonce, 0, 0);
    }

    /// Keeps a piece of AAD. `false` if it is too long, or comes behind text.
    #[inline]
    pub(crate) fn aad(&mut self, piece: &[u8]) -> bool {
        let Some(room) = self.aad[self.aad_length..].get_mut(..piece.len()).filter(|_| self.text_length == 0) else { return false };
        room.copy_from_slice(piece);
        self.aad_length += piece.len();
        true
    }

    /// Whether text of that length can be all text.
    #[inline]
    pub(crate) fn takes(&self, length: usize) -> bool {
        self.text_length == 0 && length <= TEXT
    }

    /// Seals or opens all text, of a length that it `takes`, in place.
    #[inline]
    pub(crate) fn text(&mut self, key: &mut Keyed, text: &mut [u8], seals: bool) -> Result<(), Failure> {
        if !seals {
            self.text[..text.len()].copy_from_slice(text);
        }
        self.tag = key.whole(self.nonce, &self.aad[..self.aad_length], text, seals)?.0;
        if seals {
            self.text[..text.len()].copy_from_slice(text);
        }
        self.text_length = text.len();
        Ok(())
    }

    /// The tag of what there has been.
    #[inline]
    pub(crate) fn finish(&mut self, key: &mut Keyed, seals: bool) -> Result<Tag, Failure> {
        if self.text_length == 0 {
            return key.whole(self.nonce, &self.aad[..self.aad_length], &mut [], seals);
        }
        let tag = Tag(self.tag);
        self.wipe_tag();
        Ok(tag)
    }

    /// Does in pieces what there has been.
    #[inline]
    pub(crate) fn go_on<'a>(&mut self, key: &Key, pieces: &'a mut Pieces) -> Result<&'a mut Pieces, Error> {
        pieces.aad(key, &self.aad[..self.aad_length])?;
        if self.text_length != 0 {
            // What is opened is of no use: it is wiped.
            let text = &mut self.text[..self.text_length];
            pieces.open(key, text)?;
            text.fill(0);
            zeroize::optimization_barrier(&self.text);
            self.wipe_tag();
        }
        Ok(pieces)
    }

    /// The tag of a message that goes on, or is refused, is nobody's business.
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
