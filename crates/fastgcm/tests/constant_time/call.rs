//! One call of the library, cut in what everybody may know of it and what nobody may.

use crate::suite::Random;
use fastgcm::{Backend, Key, Nonce, Tag};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verb {
    /// The key is derived, in place.
    Rekey,
    Seal,
    SealTo,
    Open,
    OpenVerifiedFirst,
    /// Opened with a tag that is wrong in this byte.
    OpenForged(usize),
}

/// All that an observer may know: bytes of each part, and what is done with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public {
    pub(crate) verb: Verb,
    pub(crate) key: usize,
    pub(crate) nonce: usize,
    pub(crate) aad: usize,
    pub(crate) text: usize,
}

/// The longest text.
pub(crate) const LONGEST: usize = 140_000;

/// Buffers that stay where they are, whatever is put into them: their addresses are part of a trace.
pub(crate) struct Call {
    pub(crate) key: Box<Key>,
    pub(crate) key_bytes: [u8; 32],
    pub(crate) nonce: [u8; 60],
    pub(crate) aad: [u8; 64],
    pub(crate) text: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) tag: Tag,
    public: Public,
    pub(crate) verdict: bool,
}

impl Call {
    pub(crate) fn new(backend: Backend) -> Self {
        let key = Key::boxed_with_backend(&[0; 16], backend).unwrap();
        let (text, sealed) = (vec![0; LONGEST], vec![0; LONGEST + 16]);
        let public = Public { verb: Verb::Seal, key: 16, nonce: 12, aad: 0, text: 0 };
        Self { key, key_bytes: [0; 32], nonce: [0; 60], aad: [0; 64], text, sealed, tag: Tag([0; 16]), public, verdict: false }
    }

    /// Fills all buffers with secrets of that number, and leaves nothing to do but the call itself.
    pub(crate) fn prepare(&mut self, public: Public, secret: u64) {
        self.public = public;
        let Self { key_bytes, nonce, aad, text, .. } = self;
        let mut random = Random(secret);
        for buffer in [&mut key_bytes[..], nonce, aad, &mut text[..public.text]] {
            match secret {
                0 => buffer.fill(0),
                1 => buffer.fill(0xff),
                _ => random.fill(buffer),
            }
        }
        if public.nonce == 12 {
            self.nonce.fill(0x5a);
        }
        if public.verb == Verb::Rekey {
            return;
        }
        self.key.rekey(&self.key_bytes[..public.key]).unwrap();
        if matches!(public.verb, Verb::Open | Verb::OpenVerifiedFirst | Verb::OpenForged(_)) {
            let nonce = Nonce::any(&self.nonce[..public.nonce]).unwrap();
            self.tag = self.key.seal(nonce, &self.aad[..public.aad], &mut self.text[..public.text]).unwrap();
        }
        if let Verb::OpenForged(byte) = public.verb {
            self.tag.0[byte] ^= 1;
        }
    }

    /// The call itself; its verdict is in `verdict`.
    #[inline(never)]
    pub(crate) extern "sysv64" fn perform(&mut self) {
        let Self { key, nonce, aad, text, sealed, tag, public, .. } = self;
        let (aad, text) = (&aad[..public.aad], &mut text[..public.text]);
        let nonce = Nonce::any(&nonce[..public.nonce]).unwrap();
        self.verdict = match public.verb {
            Verb::Rekey => key.rekey(&self.key_bytes[..public.key]).is_ok(),
            Verb::Seal => key.seal(nonce, aad, text).map(|new| *tag = new).is_ok(),
            Verb::SealTo => key.seal_to(nonce, aad, text, &mut sealed[..public.text + 16]).is_ok(),
            Verb::Open | Verb::OpenForged(_) => key.open(nonce, aad, text, tag).is_ok(),
            Verb::OpenVerifiedFirst => key.open_verified_first(nonce, aad, text, tag).is_ok(),
        };
    }
}
