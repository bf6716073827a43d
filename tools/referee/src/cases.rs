//! The test cases, each with the model's answer.

use fastgcm_model::{Block, Model};
use std::{fmt, rc::Rc};

/// A message with its ciphertext and tag by the standard.
pub(crate) struct Sealed {
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// The algorithm: `REFEREE_AES_GCM` and so on.
    pub(crate) algorithm: u32,
}

/// The position of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// The buffer ends with its page, before a guard page.
    End,
    /// The buffer begins with its page, after a guard page.
    Start,
    /// The buffer begins this many bytes after a multiple of 64.
    Odd(u8),
    /// An empty buffer is NULL; any other is placed like `End`.
    Null,
}

/// The position of the output relative to the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Buffers {
    Two,
    InPlace,
    /// The output begins this many bytes after the input (or before it).
    Shifted(i16),
}

/// The way of calling an implementation.
#[derive(Clone)]
pub(crate) enum Mode {
    Whole,
    Pieces {
        aad: Vec<usize>,
        text: Vec<usize>,
        /// After this many pieces of text the context is copied; both continue, and both answers are checked.
        copy: Option<usize>,
        /// The context receives its nonce before its key.
        nonce_first: bool,
        /// The earlier use of the context.
        again: Before,
    },
    /// Several threads with one key seal and open the message, refuse it, and seal another message.
    Threads(Rc<Sealed>),
}

/// The earlier use of a context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Before {
    No,
    /// Another message, aborted after this many bytes.
    Aborted(usize),
    /// Another complete message, with a wrong tag if it is opened.
    Refused,
}

/// The change of a message that must be refused. Numbers are bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Changed {
    Tag(usize),
    /// Two bits of the tag, whose differences cancel out in a XOR of bytes.
    TagTwice(usize, usize),
    Text(usize),
    Aad(usize),
    Nonce(usize),
}

/// The expected outcome.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expected {
    Answer,
    /// Refusal of a message in which this bit was changed.
    Refusal(Changed),
    /// Refusal of a published forgery.
    Forgery,
    /// Refusal of a length of nonce or tag that the standard does not allow.
    Never,
}

/// A test case.
pub(crate) struct Case {
    pub(crate) family: &'static str,
    pub(crate) of: Rc<Sealed>,
    pub(crate) seals: bool,
    /// The length of the tag.
    pub(crate) tag: usize,
    pub(crate) place: Place,
    pub(crate) buffers: Buffers,
    pub(crate) mode: Mode,
    pub(crate) expected: Expected,
    /// The number within its family.
    pub(crate) number: usize,
}

impl Case {
    /// Returns its size, by which the smallest case of a finding is chosen.
    pub(crate) fn size(&self) -> usize {
        let pieces = if let Mode::Pieces { aad, text, .. } = &self.mode { aad.len() + text.len() } else { 0 };
        self.of.text.len() + self.of.aad.len() + self.of.nonce.len() + pieces
    }

    pub(crate) fn whole(&self) -> bool {
        matches!(self.mode, Mode::Whole)
    }

    /// Returns the nonce, with the change if it is in the nonce.
    pub(crate) fn nonce(&self) -> Vec<u8> {
        let mut nonce = self.of.nonce.clone();
        if let Expected::Refusal(Changed::Nonce(bit)) = self.expected {
            flip(&mut nonce, bit);
        }
        nonce
    }

    /// Returns the AAD, with the change if it is in the AAD.
    pub(crate) fn aad(&self) -> Vec<u8> {
        let mut aad = self.of.aad.clone();
        if let Expected::Refusal(Changed::Aad(bit)) = self.expected {
            flip(&mut aad, bit);
        }
        aad
    }

    /// Returns the text or ciphertext, with the change if it is there.
    pub(crate) fn input(&self) -> Vec<u8> {
        let mut input = if self.seals { self.of.text.clone() } else { self.of.sealed.clone() };
        if let Expected::Refusal(Changed::Text(bit)) = self.expected {
            flip(&mut input, bit);
        }
        input
    }

    /// Returns the tag, with the change if it is there. Bytes beyond the longest tag are zeros.
    pub(crate) fn tag(&self) -> Vec<u8> {
        let mut tag = self.of.tag.clone();
        tag.resize(self.tag, 0);
        match self.expected {
            Expected::Refusal(Changed::Tag(bit)) => flip(&mut tag, bit),
            Expected::Refusal(Changed::TagTwice(bit, other)) => {
                flip(&mut tag, bit);
                flip(&mut tag, other);
            }
            _ => {}
        }
        tag
    }

    /// Returns the correct output.
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
        if let Mode::Threads(_) = self.mode {
            write!(f, ", by four threads")?;
        }
        if let Mode::Pieces { aad, text, copy, nonce_first, again } = &self.mode {
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
                Before::No => {}
                Before::Aborted(at) => write!(f, ", after another that was broken off after {at} bytes")?,
                Before::Refused => write!(f, ", after another with a wrong tag")?,
            }
        }
        match self.expected {
            Expected::Answer => {}
            Expected::Refusal(changed) => write!(f, ", changed: {changed:?}")?,
            Expected::Forgery => write!(f, ", a forgery")?,
            Expected::Never => write!(f, ", which the standard has not")?,
        }
        if of.algorithm == 0 && of.sealed.len() >= 16 && of.nonce.len() == 16 {
            let last = |block: Block| u32::from_be_bytes([block[12], block[13], block[14], block[15]]);
            write!(f, ", counter from {:08x}", last(Model::new(&of.key).j0(&of.nonce)))?;
        }
        Ok(())
    }
}
