//! One call of the library, cut in what everybody may know of it and what nobody may.

use crate::{allocator::allocating_in, backends::boxed, suite::Random};
#[cfg(feature = "aead06")]
use fastgcm::rustcrypto::{
    AeadInOut, Aes256Gcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use fastgcm::{AesGcmSiv, Backend, Key, Nonce, Packet, Tag, Xaes256Gcm};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verb {
    /// The key is derived, in place.
    Rekey,
    Seal,
    SealAppended,
    /// In a `Vec` that has to grow.
    SealAppendTag,
    SealDetachedTo,
    SealTo,
    SealVec,
    /// In three pieces, AAD and text.
    SealInPieces,
    SealGathered,
    SealChunks,
    Open,
    #[cfg(feature = "hazmat")]
    OpenInPieces,
    OpenGathered,
    OpenChunks,
    OpenGatheredVerifiedFirst,
    OpenVerifiedFirst,
    OpenAppended,
    /// Behind seven bytes of something else.
    OpenWithin,
    OpenDetachedTo,
    OpenTo,
    OpenVec,
    /// Encrypted again, which gives the text back, and once more: then `==` compares the tag.
    CompareTags,
    /// Opened with the first 12 bytes of the tag.
    OpenShort,
    /// Opened with the first 4.
    #[cfg(feature = "hazmat")]
    OpenShortest,
    /// Under a key that is made for the message.
    SealOnce,
    OpenOnce,
    /// Four times, side by side.
    SealBatch,
    OpenBatch,
    /// Other constructions, whose keys are made outside the call.
    SealXaes,
    OpenXaes,
    SealSiv,
    OpenSiv,
    /// RustCrypto's interface, which runs the best back end and no other. After a wrong tag it restores the ciphertext.
    #[cfg(feature = "aead06")]
    CipherSeal,
    #[cfg(feature = "aead06")]
    CipherOpen,
    /// From one buffer to another. After a wrong tag it wipes the text.
    #[cfg(feature = "aead06")]
    CipherSealTo,
    #[cfg(feature = "aead06")]
    CipherOpenTo,
}

use Verb::*;

impl Verb {
    /// All that open a message of this back end.
    pub(crate) fn opening(backend: Backend) -> Vec<Self> {
        let all = [
            Open,
            OpenVerifiedFirst,
            OpenAppended,
            OpenWithin,
            OpenDetachedTo,
            OpenTo,
            OpenVec,
            CompareTags,
            #[cfg(feature = "hazmat")]
            OpenInPieces,
            OpenGathered,
            OpenChunks,
            OpenGatheredVerifiedFirst,
            OpenShort,
            #[cfg(feature = "hazmat")]
            OpenShortest,
            OpenOnce,
            OpenBatch,
            OpenXaes,
            OpenSiv,
            #[cfg(feature = "aead06")]
            CipherOpen,
            #[cfg(feature = "aead06")]
            CipherOpenTo,
        ];
        all.into_iter().filter(|verb| verb.runs_on(backend)).collect()
    }

    /// All that seal.
    pub(crate) fn sealing(backend: Backend) -> Vec<Self> {
        let all = [
            Seal,
            SealAppended,
            SealAppendTag,
            SealDetachedTo,
            SealTo,
            SealVec,
            SealOnce,
            SealBatch,
            SealXaes,
            SealSiv,
            SealInPieces,
            SealGathered,
            SealChunks,
            #[cfg(feature = "aead06")]
            CipherSeal,
            #[cfg(feature = "aead06")]
            CipherSealTo,
        ];
        all.into_iter().filter(|verb| verb.runs_on(backend)).collect()
    }

    fn runs_on(self, backend: Backend) -> bool {
        !self.is_of_rustcrypto() || backend == Backend::detect()
    }

    pub(crate) fn is_of_rustcrypto(self) -> bool {
        match self {
            #[cfg(feature = "aead06")]
            CipherSeal | CipherOpen | CipherSealTo | CipherOpenTo => true,
            _ => false,
        }
    }

    /// More than one message, or more than one key.
    pub(crate) fn is_long(self) -> bool {
        matches!(self, SealBatch | OpenBatch | SealXaes | OpenXaes | SealSiv | OpenSiv)
    }

    fn seals(self) -> bool {
        match self {
            #[cfg(feature = "aead06")]
            CipherSeal | CipherSealTo => true,
            _ => matches!(
                self,
                Seal | SealAppended
                    | SealAppendTag
                    | SealDetachedTo
                    | SealTo
                    | SealVec
                    | SealOnce
                    | SealBatch
                    | SealXaes
                    | SealSiv
                    | SealInPieces
                    | SealGathered
                    | SealChunks
            ),
        }
    }

    /// Bytes of the tag that are looked at.
    pub(crate) fn tag(self) -> usize {
        match self {
            OpenShort => 12,
            #[cfg(feature = "hazmat")]
            OpenShortest => 4,
            _ => 16,
        }
    }

    /// How often it looks at a tag that is right, or wrong.
    pub(crate) fn verdicts(self, right: bool) -> u64 {
        match self {
            Rekey => 0,
            _ if self.seals() => 0,
            // What it has handed out is for the caller to wipe: the answer is a number.
            #[cfg(feature = "hazmat")]
            OpenInPieces => 0,
            OpenBatch => 4,
            CompareTags => 0,
            OpenVerifiedFirst | OpenGatheredVerifiedFirst if right => 2,
            _ => 1,
        }
    }
}

/// All that an observer may know: bytes of each part, and what is done with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Public {
    pub(crate) verb: Verb,
    /// The byte of the tag that is wrong.
    pub(crate) wrong: Option<usize>,
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
    xaes: Box<Xaes256Gcm>,
    siv: Box<AesGcmSiv>,
    #[cfg(feature = "aead06")]
    cipher: Box<Aes256Gcm>,
    pub(crate) key_bytes: [u8; 32],
    pub(crate) nonce: [u8; 60],
    pub(crate) aad: [u8; 200],
    pub(crate) text: Vec<u8>,
    /// Text, or ciphertext, and tag: of the verbs that have both in one buffer, or two buffers.
    pub(crate) sealed: Vec<u8>,
    /// Where a `Vec` is made.
    pub(crate) place: Vec<u8>,
    pub(crate) tag: Tag,
    public: Public,
    pub(crate) verdict: bool,
}

impl Call {
    pub(crate) fn new(backend: Backend) -> Self {
        Self {
            key: boxed(&[0; 16], backend),
            xaes: Box::new(Xaes256Gcm::with_backend(&[0; 32], backend).unwrap()),
            siv: Box::new(AesGcmSiv::with_backend(&[0; 16], backend).unwrap()),
            #[cfg(feature = "aead06")]
            cipher: Box::new(Aes256Gcm::new(&Array([0; 32]))),
            key_bytes: [0; 32],
            nonce: [0; 60],
            aad: [0; 200],
            text: vec![0; LONGEST],
            sealed: vec![0; LONGEST + 16],
            place: vec![0; LONGEST + 16],
            tag: Tag([0; 16]),
            public: Public { verb: Seal, wrong: None, key: 16, nonce: 12, aad: 0, text: 0 },
            verdict: false,
        }
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
        if public.verb == Rekey {
            return;
        }
        self.set_key();
        if !public.verb.seals() {
            let nonce = Nonce::any(&self.nonce[..public.nonce]).unwrap();
            let (aad, text) = (&self.aad[..public.aad], &mut self.text[..public.text]);
            self.tag = match public.verb {
                OpenXaes => self.xaes.seal(self.nonce.first_chunk().unwrap(), aad, text).unwrap(),
                OpenSiv => self.siv.seal(self.nonce.first_chunk().unwrap(), aad, text).unwrap(),
                _ => self.key.seal(nonce, aad, text).unwrap(),
            };
        }
        if let Some(byte) = public.wrong {
            self.tag.0[byte] ^= 1;
        }
        self.sealed[..public.text].copy_from_slice(&self.text[..public.text]);
        self.sealed[public.text..][..16].copy_from_slice(&self.tag.0);
    }

    /// The key of these bytes, where it stays.
    pub(crate) fn set_key(&mut self) {
        self.key.rekey(&self.key_bytes[..self.public.key]).unwrap();
        if matches!(self.public.verb, SealXaes | OpenXaes) {
            *self.xaes = Xaes256Gcm::with_backend(&self.key_bytes, self.key.backend()).unwrap();
        }
        if matches!(self.public.verb, SealSiv | OpenSiv) {
            let length = if self.public.key == 32 { 32 } else { 16 };
            *self.siv = AesGcmSiv::with_backend(&self.key_bytes[..length], self.key.backend()).unwrap();
        }
        #[cfg(feature = "aead06")]
        if self.public.verb.is_of_rustcrypto() {
            *self.cipher = Aes256Gcm::new(&Array(self.key_bytes));
        }
    }

    /// The call itself; its verdict is in `verdict`.
    #[inline(never)]
    pub(crate) extern "sysv64" fn perform(&mut self) {
        let Self { key, nonce, aad, text, sealed, place, tag, public, .. } = self;
        let (aad, text) = (&aad[..public.aad], &mut text[..public.text]);
        let sealed = &mut sealed[..public.text + 16];
        let (nonce96, nonce192) = (*nonce.first_chunk::<12>().unwrap(), *nonce.first_chunk::<24>().unwrap());
        let nonce = Nonce::any(&nonce[..public.nonce]).unwrap();
        let (aads, cuts) = (aad.split_at(aad.len() / 3), (text.len() / 3, text.len() - text.len() / 5));
        let aads = [aads.0, aads.1];
        self.verdict = match public.verb {
            Rekey => key.rekey(&self.key_bytes[..public.key]).is_ok(),
            Seal => key.seal(nonce, aad, text).map(|new| *tag = new).is_ok(),
            SealAppended => key.seal_appended(nonce, aad, sealed).is_ok(),
            SealAppendTag => allocating_in(place, || key.seal_in_place_append_tag(nonce, aad, &mut text.to_vec()).is_ok()),
            SealDetachedTo => key.seal_detached_to(nonce, aad, text, &mut sealed[..public.text]).map(|new| *tag = new).is_ok(),
            SealTo => key.seal_to(nonce, aad, text, sealed).is_ok(),
            SealVec => allocating_in(place, || key.seal_vec(nonce, aad, text).is_ok()),
            SealInPieces => {
                let mut sealer = key.sealer(nonce);
                aads.iter().for_each(|piece| sealer.aad(piece).unwrap());
                let mut sealer = sealer.text();
                in_three(text, cuts).into_iter().for_each(|piece| sealer.seal(piece).unwrap());
                *tag = sealer.finish();
                true
            }
            SealGathered => {
                let (text, extra) = text.split_at(cuts.1);
                let to = &mut sealed[..public.text];
                key.seal_gathered(nonce, &aads, &[&text[..cuts.0], &text[cuts.0..]], extra, to).map(|new| *tag = new).is_ok()
            }
            SealChunks => key.seal_chunks(nonce, &aads, &mut in_three(text, cuts)).map(|new| *tag = new).is_ok(),
            #[cfg(feature = "hazmat")]
            OpenInPieces => {
                let mut opener = fastgcm::hazmat::UnverifiedOpener::new(key, nonce);
                aads.iter().for_each(|piece| opener.aad(piece).unwrap());
                let mut opener = opener.text();
                in_three(text, cuts).into_iter().for_each(|piece| opener.open(piece).unwrap());
                opener.verify(tag).is_ok()
            }
            OpenGathered => key.open_gathered(nonce, &aads, &[&sealed[..cuts.0], &sealed[cuts.0..public.text]], text, tag).is_ok(),
            OpenChunks => key.open_chunks(nonce, &aads, &mut in_three(text, cuts), tag).is_ok(),
            OpenGatheredVerifiedFirst => {
                let chunks = [&sealed[..cuts.0], &sealed[cuts.0..public.text]];
                key.open_gathered_verified_first(nonce, &aads, &chunks, text, tag).is_ok()
            }
            Open => key.open(nonce, aad, text, tag).is_ok(),
            OpenVerifiedFirst => key.open_verified_first(nonce, aad, text, tag).is_ok(),
            OpenAppended => key.open_appended(nonce, aad, sealed).is_ok(),
            OpenWithin => {
                let buffer = &mut place[..7 + sealed.len()];
                buffer[7..].copy_from_slice(sealed);
                key.open_within(nonce, aad, buffer, 7..).is_ok()
            }
            CompareTags => {
                _ = key.seal(nonce, aad, text);
                key.seal(nonce, aad, text).is_ok_and(|right| right == *tag)
            }
            OpenDetachedTo => key.open_detached_to(nonce, aad, &sealed[..public.text], text, tag).is_ok(),
            OpenTo => key.open_to(nonce, aad, sealed, text).is_ok(),
            OpenVec => allocating_in(place, || key.open_vec(nonce, aad, sealed).is_ok()),
            OpenShort => key.open(nonce, aad, text, &tag.truncate::<12>()).is_ok(),
            #[cfg(feature = "hazmat")]
            OpenShortest => key.open(nonce, aad, text, &tag.truncate::<4>()).is_ok(),
            SealOnce => key.backend().seal_once(&self.key_bytes[..public.key], nonce, aad, text).map(|new| *tag = new).is_ok(),
            OpenOnce => key.backend().open_once(&self.key_bytes[..public.key], nonce, aad, text, tag).is_ok(),
            SealBatch => key.seal_batch(&mut four(&self.nonce, aad, text, place, *tag)).is_ok(),
            OpenBatch => key.open_batch(&mut four(&self.nonce, aad, &sealed[..public.text], place, *tag)).is_ok(),
            SealXaes => self.xaes.seal(&nonce192, aad, text).map(|new| *tag = new).is_ok(),
            OpenXaes => self.xaes.open(&nonce192, aad, text, tag).is_ok(),
            SealSiv => self.siv.seal(&nonce96, aad, text).map(|new| *tag = new).is_ok(),
            OpenSiv => self.siv.open(&nonce96, aad, text, tag).is_ok(),
            #[cfg(feature = "aead06")]
            CipherSeal => self.cipher.encrypt_inout_detached(&Array(nonce96), aad, text.into()).map(|new| tag.0 = new.0).is_ok(),
            #[cfg(feature = "aead06")]
            CipherOpen => self.cipher.decrypt_inout_detached(&Array(nonce96), aad, text.into(), &Array(tag.0)).is_ok(),
            #[cfg(feature = "aead06")]
            CipherSealTo => {
                let buffers = InOutBuf::new(text, &mut sealed[..public.text]).unwrap();
                self.cipher.encrypt_inout_detached(&Array(nonce96), aad, buffers).map(|new| tag.0 = new.0).is_ok()
            }
            #[cfg(feature = "aead06")]
            CipherOpenTo => {
                let buffers = InOutBuf::new(&sealed[..public.text], text).unwrap();
                self.cipher.decrypt_inout_detached(&Array(nonce96), aad, buffers, &Array(tag.0)).is_ok()
            }
        };
    }
}

/// A text four times, from one place to four.
fn four<'a>(nonce: &[u8; 60], aad: &'a [u8], from: &'a [u8], to: &'a mut [u8], tag: Tag) -> [Packet<'a>; 4] {
    let (one, to) = to.split_at_mut(from.len());
    let (two, to) = to.split_at_mut(from.len());
    let (three, four) = to.split_at_mut(from.len());
    let nonce = *nonce.first_chunk().unwrap();
    [one, two, three, &mut four[..from.len()]].map(|to| Packet::to(nonce, aad, from, to, tag))
}

/// A text in three pieces, of which the second ends at `second`.
fn in_three(text: &mut [u8], (first, second): (usize, usize)) -> [&mut [u8]; 3] {
    let (rest, three) = text.split_at_mut(second);
    let (one, two) = rest.split_at_mut(first);
    [one, two, three]
}
