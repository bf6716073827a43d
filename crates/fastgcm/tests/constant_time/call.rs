//! One call of the library, cut in what everybody may know of it and what nobody may.

use crate::{
    suite::Random,
    verbs::{Job, Keys, Verb, heap},
};
use fastgcm::{Backend, Tag};

/// All that an observer may know: bytes of each part, and what is done with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public {
    pub(crate) verb: &'static Verb,
    /// The byte of the tag that is wrong.
    pub(crate) wrong: Option<usize>,
    pub(crate) key: usize,
    pub(crate) nonce: usize,
    pub(crate) aad: usize,
    pub(crate) text: usize,
}

impl Public {
    /// As near to these lengths as the verb can come.
    pub(crate) fn new(verb: &'static Verb, [key, nonce, aad, text]: [usize; 4]) -> Self {
        let (key, nonce) = verb.key_and_nonce(key, nonce);
        Self { verb, wrong: None, key, nonce, aad, text: verb.text(text) }
    }

    /// A nonce of another length than 12 bytes makes a counter that is as secret as H; other constructions have secrets of their own.
    fn nonce_is_public(&self) -> bool {
        matches!(self.nonce, 12 | 24)
    }
}

/// The longest text.
pub(crate) const LONGEST: usize = 140_000;

/// Buffers that stay where they are, whatever is put into them: their addresses are part of a trace.
pub(crate) struct Call {
    pub(crate) keys: Keys,
    pub(crate) key_bytes: [u8; 32],
    pub(crate) nonce: [u8; 60],
    pub(crate) aad: [u8; 300],
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
    /// Where a `Vec` is made.
    pub(crate) heap: Vec<u8>,
    pub(crate) tag: Tag,
    pub(crate) commitment: [u8; 32],
    pub(crate) public: Public,
    pub(crate) verdict: bool,
    /// Whether nonces of all lengths, and AAD, are what everybody knows.
    pub(crate) only_keys_and_texts: bool,
}

impl Call {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            keys: Keys::new(backend),
            key_bytes: [0; 32],
            nonce: [0; 60],
            aad: [0; 300],
            from: vec![0; LONGEST + 48],
            to: vec![0; LONGEST + 48],
            heap: vec![0; heap(LONGEST)],
            tag: Tag([0; 16]),
            commitment: [0; 32],
            public: Public::new(crate::verbs::named("Key::seal"), [16, 12, 0, 0]),
            verdict: false,
            only_keys_and_texts: false,
        }
    }

    /// Fills all buffers with secrets of that number, and leaves nothing to do but the call itself.
    pub(crate) fn prepare(&mut self, public: Public, secret: u64) {
        self.public = public;
        let Self { key_bytes, nonce, aad, from, .. } = self;
        let mut random = Random(secret);
        for buffer in [&mut key_bytes[..], nonce, aad, &mut from[..public.text]] {
            match secret {
                0 => buffer.fill(0),
                1 => buffer.fill(0xff),
                _ => random.fill(buffer),
            }
        }
        if public.nonce_is_public() || self.only_keys_and_texts {
            self.nonce.fill(0x5a);
        }
        if self.only_keys_and_texts {
            self.aad.fill(0xa5);
        }
        self.set_keys();
        let Public { verb, text, .. } = public;
        (self.tag, self.commitment) = (Tag([0; 16]), [0; 32]);
        if verb.opens() {
            let (nonce, aad) = (&self.nonce[..public.nonce], &self.aad[..public.aad]);
            let (tag, commitment) = self.keys.seal(verb.form, nonce, aad, &mut self.from[..text]);
            self.tag = tag;
            self.commitment[..commitment.len()].copy_from_slice(&commitment);
        }
        if let Some(byte) = public.wrong {
            let byte = if byte < 16 { &mut self.tag.0[byte] } else { &mut self.commitment[byte - 16] };
            *byte ^= 1;
        }
        self.put_tag();
    }

    /// Puts the tag behind the text too.
    fn put_tag(&mut self) {
        let end = &mut self.from[self.public.text..];
        end[..16].copy_from_slice(&self.tag.0);
        end[16..48].copy_from_slice(&self.commitment);
        self.to[..self.public.text + 48].copy_from_slice(&self.from[..self.public.text + 48]);
    }

    /// The keys of these bytes, where they stay.
    pub(crate) fn set_keys(&mut self) {
        self.keys.set(self.public.verb, &self.key_bytes[..self.public.key]);
    }

    /// Has it open a message with a tag that has nothing of the right one.
    #[allow(dead_code)] // one of the two that share this file
    pub(crate) fn forge(&mut self) {
        (self.tag, self.commitment) = (Tag([0x77; 16]), [0x77; 32]);
        self.put_tag();
    }

    /// Lets `then` mark what is secret.
    #[allow(dead_code)]
    pub(crate) fn secrets(&mut self, mut then: impl FnMut(&mut [u8])) {
        let public = self.public;
        then(&mut self.key_bytes);
        then(&mut self.aad);
        then(&mut self.from[..public.text + 48]);
        then(&mut self.to[..public.text + 48]);
        then(&mut self.tag.0);
        then(&mut self.commitment);
        if !public.nonce_is_public() {
            then(&mut self.nonce);
        }
    }

    /// The call itself; its verdict is in `verdict`.
    #[inline(never)]
    pub(crate) extern "sysv64" fn perform(&mut self) {
        let Self { keys, key_bytes, nonce, aad, from, to, heap, tag, commitment, public, verdict, .. } = self;
        let lengths = public.verb.lengths(public.text);
        let mut job = Job {
            keys,
            key_bytes: &key_bytes[..public.key],
            nonce: &nonce[..public.nonce],
            aad: &aad[..public.aad],
            from: &from[..lengths.0],
            to: &mut to[..lengths.1],
            tag,
            commitment: &mut commitment[..public.verb.behind() - 16],
            heap,
        };
        *verdict = (public.verb.call)(&mut job).is_ok();
    }
}
