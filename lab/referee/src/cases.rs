//! What is asked: every case, with the answer of the model.

use fastgcm_model::{Block, Model};
use std::{fmt, rc::Rc};

/// A message and what the standard says of it.
pub(crate) struct Sealed {
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// `REFEREE_AES_GCM` and so on.
    pub(crate) algorithm: u32,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// Its last byte is the last of a page whose next page nobody may touch.
    End,
    /// Its first byte is the first of a page whose page before nobody may touch.
    Start,
    /// So many bytes behind a multiple of 64.
    Odd(u8),
    /// What is empty is at NULL; all else as `End`.
    Null,
}

/// How input and output lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Buffers {
    Two,
    InPlace,
    /// The output so many bytes behind the input (or before it).
    Shifted(i16),
}

/// How a message is given.
#[derive(Clone)]
pub(crate) enum Way {
    Whole,
    Pieces {
        aad: Vec<usize>,
        text: Vec<usize>,
        /// After so many pieces of text the context is copied; both go on, and both answers count.
        copy: Option<usize>,
        /// The context gets its nonce before its key.
        nonce_first: bool,
        /// What the context was used for before.
        again: Again,
    },
    /// Whole, by several threads with one key, which seal and open it, refuse it, and seal another message.
    Threads(Rc<Sealed>),
}

/// What a context was used for before its message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Again {
    No,
    /// Another message, which was broken off after so many bytes.
    BrokenOff(usize),
    /// Another message, to its end, with a wrong tag if it opens.
    Refused,
}

/// What is changed of a message that must be refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Changed {
    Tag(usize),
    /// The same change in two bytes of the tag.
    TagTwice(usize, usize),
    Text(usize),
    Aad(usize),
    Nonce(usize),
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asks {
    Answer,
    /// A bit is another: refused.
    Refusal(Changed),
    /// It is no message of this key's owner as it stands: refused.
    Forgery,
    /// The standard has no nonce, or no tag, of such a length: refused.
    Never,
}

/// One question.
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) of: Rc<Sealed>,
    pub(crate) seals: bool,
    /// Bytes of the tag.
    pub(crate) tag: usize,
    pub(crate) place: Place,
    pub(crate) buffers: Buffers,
    pub(crate) way: Way,
    pub(crate) asks: Asks,
    /// Which of its family it is.
    pub(crate) number: usize,
}

impl Case {
    /// How much has to be read to repeat it.
    pub(crate) fn size(&self) -> usize {
        let pieces = if let Way::Pieces { aad, text, .. } = &self.way { aad.len() + text.len() } else { 0 };
        self.of.text.len() + self.of.aad.len() + self.of.nonce.len() + pieces
    }

    pub(crate) fn whole(&self) -> bool {
        matches!(self.way, Way::Whole)
    }

    /// The nonce, changed if it is to be.
    pub(crate) fn nonce(&self) -> Vec<u8> {
        let mut nonce = self.of.nonce.clone();
        if let Asks::Refusal(Changed::Nonce(bit)) = self.asks {
            flip(&mut nonce, bit);
        }
        nonce
    }

    /// The AAD, changed if it is to be.
    pub(crate) fn aad(&self) -> Vec<u8> {
        let mut aad = self.of.aad.clone();
        if let Asks::Refusal(Changed::Aad(bit)) = self.asks {
            flip(&mut aad, bit);
        }
        aad
    }

    /// What is read: text or ciphertext, changed if it is to be.
    pub(crate) fn input(&self) -> Vec<u8> {
        let mut input = if self.seals { self.of.text.clone() } else { self.of.sealed.clone() };
        if let Asks::Refusal(Changed::Text(bit)) = self.asks {
            flip(&mut input, bit);
        }
        input
    }

    /// The tag of the message, changed if it is to be. Bytes that no tag has are zeros.
    pub(crate) fn tag(&self) -> Vec<u8> {
        let mut tag = self.of.tag.clone();
        tag.resize(self.tag, 0);
        match self.asks {
            Asks::Refusal(Changed::Tag(bit)) => flip(&mut tag, bit),
            Asks::Refusal(Changed::TagTwice(bit, other)) => {
                flip(&mut tag, bit);
                flip(&mut tag, other);
            }
            _ => {}
        }
        tag
    }

    /// What must be written if it is done.
    pub(crate) fn output(&self) -> &[u8] {
        if self.seals { &self.of.sealed } else { &self.of.text }
    }
}

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = &self.of;
        write!(
            f,
            "{}: {}-{} {} {} bytes, nonce {}, AAD {}, tag {}",
            self.family,
            ["AES", "XAES", "SIV", "DNDK", "KC-XAES", "KC-DNDK"][of.algorithm as usize],
            8 * of.key.len(),
            if self.seals { "seal" } else { "open" },
            of.text.len(),
            of.nonce.len(),
            of.aad.len(),
            self.tag
        )?;
        match self.place {
            Place::End => write!(f, ", page ends")?,
            Place::Start => write!(f, ", page starts")?,
            Place::Odd(by) => write!(f, ", 64 n + {by}")?,
            Place::Null => write!(f, ", NULL")?,
        }
        match self.buffers {
            Buffers::Two => {}
            Buffers::InPlace => write!(f, ", in place")?,
            Buffers::Shifted(by) => write!(f, ", output {by} from the input")?,
        }
        if let Way::Threads(_) = self.way {
            write!(f, ", by four threads")?;
        }
        if let Way::Pieces { aad, text, copy, nonce_first, again } = &self.way {
            let list = |pieces: &[usize]| match pieces {
                [first, .., last] if pieces.len() > 8 => format!("{first}+..{}..+{last}", pieces.len()),
                _ => pieces.iter().map(usize::to_string).collect::<Vec<_>>().join("+"),
            };
            write!(f, ", pieces {} | {}", list(aad), list(text))?;
            if let Some(copy) = copy {
                write!(f, ", copied after {copy}")?;
            }
            if *nonce_first {
                write!(f, ", nonce before key")?;
            }
            match again {
                Again::No => {}
                Again::BrokenOff(at) => write!(f, ", after another that was broken off after {at} bytes")?,
                Again::Refused => write!(f, ", after another with a wrong tag")?,
            }
        }
        match self.asks {
            Asks::Answer => {}
            Asks::Refusal(changed) => write!(f, ", changed: {changed:?}")?,
            Asks::Forgery => write!(f, ", a forgery")?,
            Asks::Never => write!(f, ", which the standard has not")?,
        }
        if of.algorithm == 0 && of.sealed.len() >= 16 && of.nonce.len() == 16 {
            let last = |block: Block| u32::from_be_bytes([block[12], block[13], block[14], block[15]]);
            write!(f, ", counter from {:08x}", last(Model::new(&of.key).j0(&of.nonce)))?;
        }
        Ok(())
    }
}
