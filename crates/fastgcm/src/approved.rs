//! The approved profile: it seals only as SP 800-38D approves. **fastgcm is not validated** (FIPS 140): the
//! profile helps a user who must keep to approved modes, but no certificate covers it.
//!
//! [`ApprovedKey`] is all that a program needs. It differs from [`Key`] as follows:
//!
//! * It seals under nonces that the library makes: counted (section 8.2.1 of the standard) or drawn at random
//!   (section 8.2.2). No function takes a nonce for sealing, and the nonces run out before one repeats.
//! * Its tags have 16 bytes. It opens messages with tags of 12 bytes or more, under the sender's nonce.
//! * The first key on a back end must wait until the back end has passed [`self_test`].
//!
//! ```
//! use fastgcm::{approved::ApprovedKey, nonces::CounterNonces};
//!
//! let mut key = ApprovedKey::new(&[7; 32], CounterNonces::new(*b"left"))?;
//! let mut text = *b"to be sealed";
//! let (nonce, tag) = key.seal(b"header", &mut text)?; // send nonce, text and tag
//! key.open(&nonce, b"header", &mut text, &tag)?;
//! assert_eq!(&text, b"to be sealed");
//! # Ok::<(), fastgcm::Error>(())
//! ```

use crate::{
    AnyTag, Backend, Error, Key, Nonce, Tag,
    nonces::{Nonces, SealingKey},
    tag::sealed::Sealed,
};
use core::sync::atomic::{AtomicU32, Ordering};

/// A key of AES-GCM that seals as the standard approves it.
#[derive(Debug)]
pub struct ApprovedKey<N>(SealingKey<N>);

impl<N: Nonces> ApprovedKey<N> {
    /// Makes a key of 16, 24 or 32 bytes for the best back end of this machine. The back end must first pass
    /// [`self_test`], once in each process.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes, or
    /// [`SelfTest`](Error::SelfTest) if the back end has failed its self-test.
    pub fn new(key: &[u8], nonces: N) -> Result<Self, Error> {
        Self::with_backend(key, nonces, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`. Otherwise fails like
    /// [`new`](Self::new).
    pub fn with_backend(key: &[u8], nonces: N, backend: Backend) -> Result<Self, Error> {
        tested(backend, self_test)?;
        SealingKey::with_backend(key, nonces, backend).map(Self)
    }

    /// Encrypts `text` in place. Returns the nonce, which travels with the message, and the tag.
    ///
    /// # Errors
    /// Fails like [`SealingKey::seal`]; `text` is untouched, and no nonce is used.
    pub fn seal(&mut self, aad: &[u8], text: &mut [u8]) -> Result<([u8; 12], Tag), Error> {
        self.0.seal(aad, text)
    }

    /// Encrypts `text` to a new vector, which holds nonce, ciphertext and tag: 28 bytes more than the text.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal).
    #[cfg(feature = "alloc")]
    pub fn seal_vec(&mut self, aad: &[u8], text: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        self.0.seal_vec(aad, text)
    }

    /// Decrypts `text` in place, with the sender's nonce and a tag of 12 to 16 bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for a shorter tag; `text` is untouched. Otherwise
    /// fails like [`Key::open`](crate::Key::open).
    pub fn open<'n, T: AnyTag>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &T,
    ) -> Result<(), Error> {
        if <T as Sealed>::LEN < 12 {
            return Err(Error::InvalidLength);
        }
        self.0.open(nonce, aad, text, tag)
    }

    /// Decrypts `message`, which holds a nonce of 12 bytes, ciphertext and tag, to a new vector.
    ///
    /// # Errors
    /// Fails like [`SealingKey::open_vec`].
    #[cfg(feature = "alloc")]
    pub fn open_vec(&self, aad: &[u8], message: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        self.0.open_vec(aad, message)
    }

    /// Returns the back end that the key uses.
    pub fn backend(&self) -> Backend {
        self.0.backend()
    }
}

/// Seals and opens known answers with each size of key, both a short message and a long one, and checks that
/// a forgery is refused. The test takes up to 20 microseconds, or up to 75 without instructions for AES (Zen
/// 5).
///
/// # Errors
/// Returns [`SelfTest`](Error::SelfTest) if any answer is wrong, or [`Unavailable`](Error::Unavailable) if
/// this machine cannot run the back end.
pub fn self_test(backend: Backend) -> Result<(), Error> {
    [16, 24, 32].into_iter().try_for_each(|key_len| self_test_of(backend, key_len))
}

/// Runs [`self_test`] with keys of `key_len` bytes only: for `libfastgcm`, whose tests look at what its own
/// self-test asks.
#[doc(hidden)]
pub fn self_test_of(backend: Backend, key_len: usize) -> Result<(), Error> {
    answers(key_len, &Key::with_backend(&KEY.map(u128::to_be_bytes).as_flattened()[..key_len], backend)?)
}

/// Asks a key of `key_len` bytes for the known answers.
fn answers(key_len: usize, key: &impl Messages) -> Result<(), Error> {
    ANSWERS.iter().filter(|answer| answer.key == key_len).try_for_each(|answer| answer.check(key))
}

/// What the self-test asks of a key. (Tests have keys that answer wrongly.)
trait Messages {
    fn seal(&self, text: &mut [u8]) -> Result<Tag, Error>;
    fn open(&self, text: &mut [u8], tag: &Tag) -> Result<(), Error>;
}

impl Messages for Key {
    fn seal(&self, text: &mut [u8]) -> Result<Tag, Error> {
        Key::seal(self, NONCE, &AAD, text)
    }

    fn open(&self, text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        Key::open(self, NONCE, &AAD, text, tag)
    }
}

/// Runs `test` once for each back end, and remembers only a right answer.
fn tested(backend: Backend, test: impl Fn(Backend) -> Result<(), Error>) -> Result<(), Error> {
    static PASSED: AtomicU32 = AtomicU32::new(0);
    let bit = 1 << backend as u32;
    if PASSED.load(Ordering::Relaxed) & bit == 0 {
        test(backend)?;
        PASSED.fetch_or(bit, Ordering::Relaxed);
    }
    Ok(())
}

/// A message, and the tag that it must have.
struct Answer {
    key: usize,
    text: usize,
    tag: u128,
}

/// The first three are test cases 4, 10 and 16 of "The Galois/Counter Mode of Operation" (McGrew and Viega).
/// They share the key (repeated to its length), nonce, AAD and text. The last three are OpenSSL's.
const ANSWERS: [Answer; 6] = [
    Answer { key: 16, text: 60, tag: 0x5bc94fbc3221a5db94fae95ae7121a47 },
    Answer { key: 24, text: 60, tag: 0x2519498e80f1478f37ba55bd6d27618c },
    Answer { key: 32, text: 60, tag: 0x76fc6ece0f4e1768cddf8853bb2d551b },
    Answer { key: 16, text: LONG, tag: 0x684d7f0171ca2edc55c0316e206627bf },
    Answer { key: 24, text: LONG, tag: 0xb9525782a79bac71f5c92e389ffced9f },
    Answer { key: 32, text: LONG, tag: 0x8c7b7f9b2f02381be5807566b2554976 },
];
const KEY: [u128; 2] = [0xfeffe9928665731c6d6a8f9467308308; 2];
const NONCE: [u8; 12] = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];
const AAD: [u8; 20] = [
    0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab,
    0xad, 0xda, 0xd2,
];
const SHORT: [u128; 4] = [
    0xd9313225f88406e5a55909c5aff5269a,
    0x86a7a9531534f7da2e4c303d8a318a72,
    0x1c3c0c95956809532fcf0e2449a6b525,
    0xb16aedf5aa0de657ba637b3900000000,
];
/// The length of the long text in bytes: several turns, and an end behind them.
const LONG: usize = 1500;

impl Answer {
    fn check(&self, key: &impl Messages) -> Result<(), Error> {
        let mut plain: [u8; LONG] = core::array::from_fn(|i| (7 * i + 3) as u8);
        if self.text < LONG {
            plain[..self.text].copy_from_slice(&SHORT.map(u128::to_be_bytes).as_flattened()[..self.text]);
        }
        let (plain, tag, mut text) = (&plain[..self.text], Tag(self.tag.to_be_bytes()), plain);
        let text = &mut text[..self.text];
        let is_sealed = key.seal(text)? == tag && text != plain;
        let opened = key.open(text, &tag).is_ok() && text == plain;
        let mut forged = tag;
        forged.0[self.text % 16] ^= 1;
        let refused = key.open(text, &forged) == Err(Error::Unauthentic);
        let is_right = is_sealed && opened && refused && text.iter().all(|byte| *byte == 0);
        if is_right { Ok(()) } else { Err(Error::SelfTest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that answers one question wrongly, of texts of one length.
    struct Wrong(Key, usize, Answering);

    /// Seals, or opens under a tag.
    type Answering = fn(&Key, &mut [u8], Option<&Tag>) -> Result<Tag, Error>;

    impl Messages for Wrong {
        fn seal(&self, text: &mut [u8]) -> Result<Tag, Error> {
            if text.len() == self.1 { self.2(&self.0, text, None) } else { Messages::seal(&self.0, text) }
        }

        fn open(&self, text: &mut [u8], tag: &Tag) -> Result<(), Error> {
            if text.len() == self.1 {
                self.2(&self.0, text, Some(tag)).map(drop)
            } else {
                Messages::open(&self.0, text, tag)
            }
        }
    }

    fn right(key: &Key, text: &mut [u8], tag: Option<&Tag>) -> Result<Tag, Error> {
        match tag {
            None => Messages::seal(key, text),
            Some(tag) => Messages::open(key, text, tag).map(|()| *tag),
        }
    }

    /// The self-test notices a wrong answer to each of its questions, with each length of key and of text.
    #[test]
    fn each_question_can_be_failed() {
        let wrong: [Answering; 7] = [
            |key, text, tag| {
                right(key, text, tag).map(|mut tag| {
                    tag.0[0] ^= 0x80;
                    tag
                })
            },
            |key, text, tag| {
                right(key, text, tag).map(|mut tag| {
                    tag.0[15] ^= 1;
                    tag
                })
            },
            |key, text, tag| right(key, text, tag).inspect(|_| text[0] ^= 1),
            |key, text, tag| right(key, text, tag).inspect(|_| *text.last_mut().unwrap() ^= 1),
            |key, text, tag| {
                right(key, text, tag)
                    .and_then(|made| if tag.is_some() { Err(Error::Unauthentic) } else { Ok(made) })
            },
            |key, text, tag| right(key, text, tag).or(Ok(Tag([0; 16]))),
            |key, text, tag| right(key, text, tag).inspect_err(|_| *text.last_mut().unwrap() = 1),
        ];
        for key_len in [16, 24, 32] {
            let key = || Key::new(&KEY.map(u128::to_be_bytes).as_flattened()[..key_len]).unwrap();
            for text in [60, LONG] {
                for (i, wrong) in wrong.iter().enumerate() {
                    let found = answers(key_len, &Wrong(key(), text, *wrong));
                    assert_eq!(found, Err(Error::SelfTest), "answer {i}, key {key_len}, text {text}");
                }
            }
            assert_eq!(answers(key_len, &Wrong(key(), 60, right)), Ok(()));
        }
    }

    /// Keys of a back end are refused until its own test has passed, and then it is not asked again.
    #[test]
    fn a_failed_self_test_refuses_keys() {
        // No other test asks for these.
        let mut others = Backend::ALL.iter().copied().filter(|backend| !backend.is_available());
        let (one, other) = (others.next().unwrap(), others.next().unwrap());
        for _ in 0..2 {
            assert_eq!(tested(one, |_| Err(Error::SelfTest)), Err(Error::SelfTest));
        }
        assert_eq!(tested(one, |backend| if backend == one { Ok(()) } else { Err(Error::SelfTest) }), Ok(()));
        assert_eq!(tested(one, |_| Err(Error::SelfTest)), Ok(()), "it is asked once");
        assert_eq!(tested(other, |_| Err(Error::SelfTest)), Err(Error::SelfTest), "each back end by itself");
    }

    #[test]
    fn every_back_end_passes() {
        Backend::available().for_each(|backend| assert_eq!(self_test(backend), Ok(()), "{backend}"));
    }

    /// The profile accepts the tags that the standard's revision will accept.
    #[cfg(feature = "hazmat")]
    #[test]
    fn short_tags_are_refused_untouched() {
        let mut key = ApprovedKey::new(&[7; 32], crate::nonces::CounterNonces::new([0; 4])).unwrap();
        let mut text = *b"text";
        let (nonce, tag) = key.seal(b"aad", &mut text).unwrap();
        let sealed = text;
        assert_eq!(key.open(nonce, b"aad", &mut text, &tag.truncate::<8>()), Err(Error::InvalidLength));
        assert_eq!(text, sealed);
        assert_eq!(key.open(nonce, b"aad", &mut text, &tag.truncate::<12>()), Ok(()));
        assert_eq!(&text, b"text");
    }
}
