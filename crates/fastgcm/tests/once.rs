//! `seal_once` and `open_once`: what a key and its verbs do, in one call.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{Backend, Error, Nonce, Tag, open_once, seal_once};
use suite::{Random, full, passed, quick};

const KEYS: [usize; 3] = [16, 24, 32];

/// Every length around what a tail takes beside its text, of AAD; and more, that is hashed first.
fn aads() -> Vec<usize> {
    (0..=70).step_by(step()).chain([16, 48, 64, 100, 300]).collect()
}

/// Of texts every length around a vector, and around as many blocks as few powers are for; then turns, with each number of blocks behind them.
fn texts() -> Vec<usize> {
    let vectors = (16..=128).step_by(16); // steps of seven leave out what is whole
    (0..=280).step_by(step()).chain(vectors).chain((512..1100).step_by(16 * step())).chain([560, 561, 1420, 4096]).collect()
}

/// Quickly: every seventh length.
fn step() -> usize {
    if quick() { 7 } else { 1 }
}

/// One message: sealed, opened, and refused with a bit that is wrong.
struct Message {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    random: Random,
}

impl Message {
    fn new(lengths: [usize; 4], seed: u64) -> Self {
        let mut random = Random(seed);
        let [key, nonce, aad, text] = lengths.map(|n| random.bytes(n));
        Self { key, nonce, aad, text, random }
    }

    fn check(&mut self, backend: Backend, calls: &mut Tally) {
        let Self { key: bytes, nonce, aad, text, random } = self;
        let what = format!("{backend}, key {}, nonce {}, AAD {}, text {}", bytes.len(), nonce.len(), aad.len(), text.len());
        let nonce = Nonce::any(nonce).unwrap();
        let key = key(bytes, backend);
        let (mut sealed, mut found) = (text.clone(), text.clone());
        let mut tag = key.seal(nonce, aad, &mut sealed).unwrap();

        let found_tag = backend.seal_once(bytes, nonce, aad, &mut found).unwrap();
        assert!((&found, found_tag.0) == (&sealed, tag.0), "sealed: {what}");
        backend.open_once(bytes, nonce, aad, &mut found, &tag).unwrap();
        assert!(found == *text, "opened: {what}");

        let mut aad = aad.clone();
        let mut parts: Vec<&mut [u8]> = vec![&mut tag.0, &mut aad, &mut sealed];
        parts.retain(|part| !part.is_empty());
        let part = random.below(parts.len());
        let byte = random.below(parts[part].len());
        parts[part][byte] ^= 1 << random.below(8);
        assert_eq!(backend.open_once(bytes, nonce, &aad, &mut sealed, &tag), Err(Error::Unauthentic), "forged: {what}");
        assert!(sealed.iter().all(|&byte| byte == 0), "forged: {what}");
        calls.add(&key, 3);
    }
}

/// Each length of AAD with each of text; keys take turns, and with `FASTGCM_FULL` each of them meets all.
#[test]
fn f01_every_length_of_aad_and_text() {
    let mut calls = Tally::default();
    let (aads, texts) = (aads(), texts());
    let lengths = aads.iter().flat_map(|&aad| texts.iter().map(move |&text| (aad, text))).enumerate();
    let keys = |turn: usize| if full() { 0..KEYS.len() } else { turn % 3..turn % 3 + 1 };
    let all = lengths.flat_map(|(turn, pair)| KEYS[keys(turn)].iter().map(move |&key| (key, pair)));
    for (seed, (key, (aad, text))) in all.enumerate() {
        let mut message = Message::new([key, 12, aad, text], seed as u64);
        backends().into_iter().for_each(|backend| message.check(backend, &mut calls));
    }
    calls.passed("once::every_length_of_aad_and_text", keys(0).len() * aads.len() * texts.len() * 3);
}

/// A nonce of another length is hashed, in as many blocks as it has.
#[test]
fn nonces_of_other_lengths() {
    const NONCES: [usize; 9] = [1, 8, 11, 13, 16, 17, 60, 128, 700];
    const AADS: [usize; 5] = [0, 13, 48, 49, 100];
    const TEXTS: [usize; 8] = [0, 1, 16, 64, 65, 200, 512, 1420];
    let mut calls = Tally::default();
    let nonces = NONCES.iter().flat_map(|&nonce| AADS.map(|aad| (nonce, aad)));
    let all = nonces.flat_map(|(nonce, aad)| TEXTS.map(|text| [KEYS[(nonce + aad + text) % 3], nonce, aad, text]));
    for (seed, lengths) in all.enumerate() {
        let mut message = Message::new(lengths, seed as u64);
        backends().into_iter().for_each(|backend| message.check(backend, &mut calls));
    }
    calls.passed("once::nonces_of_other_lengths", NONCES.len() * AADS.len() * TEXTS.len() * 3);
}

/// A key of any other length is refused, and the text is as it was: where it would be short, and where not.
#[test]
fn f03_keys_of_other_lengths() {
    let mut calls = Tally::default();
    for (backend, text) in backends().into_iter().flat_map(|backend| [20, 500].map(|text| (backend, text))) {
        for length in (0..=64).filter(|length| !KEYS.contains(length)) {
            let (bytes, mut text) = (vec![1; length], vec![2; text]);
            assert_eq!(
                backend.seal_once(&bytes, [3; 12], b"aad", &mut text).err(),
                Some(Error::InvalidLength),
                "{backend}, {length} bytes"
            );
            assert_eq!(backend.open_once(&bytes, [3; 12], b"aad", &mut text, &Tag([4; 16])), Err(Error::InvalidLength));
            assert!(text.iter().all(|&byte| byte == 2), "{backend}, {length} bytes");
            calls.add(&key(&[0; 16], backend), 2);
        }
    }
    calls.passed("once::f03_keys_of_other_lengths", 2 * 62 * 2);
}

/// The functions take the best back end. One that this machine cannot run is refused, and the text is as it was.
#[test]
fn back_ends() {
    let mut done = 0;
    for text in [0, 20, 64, 65, 500] {
        let (text, mut a, mut b) = (vec![2; text], vec![2; text], vec![2; text]);
        let tag = seal_once(&[1; 24], [3; 12], b"aad", &mut a).unwrap();
        assert_eq!(tag.0, Backend::detect().seal_once(&[1; 24], [3; 12], b"aad", &mut b).unwrap().0);
        assert_eq!(a, b);
        open_once(&[1; 24], [3; 12], b"aad", &mut a, &tag).unwrap();
        assert_eq!(a, text);
        assert_eq!(open_once(&[1; 24], [3; 12], b"", &mut b, &tag), Err(Error::Unauthentic));
        assert!(b.iter().all(|&byte| byte == 0));
        assert_eq!(seal_once(&[1; 23], [3; 12], b"aad", &mut a).err(), Some(Error::InvalidLength));
        assert_eq!(open_once(&[1; 23], [3; 12], b"aad", &mut a, &tag), Err(Error::InvalidLength));
        assert_eq!(a, text);
        done += 1;
    }
    for backend in Backend::ALL {
        let mut text = [2; 20];
        let sealed = backend.seal_once(&[1; 16], [3; 12], b"aad", &mut text);
        if !backend.is_available() {
            assert_eq!(sealed.err(), Some(Error::Unavailable));
            assert_eq!(backend.open_once(&[1; 16], [3; 12], b"aad", &mut text, &Tag([4; 16])), Err(Error::Unavailable));
        }
        assert_eq!(text == [2; 20], !backend.is_available(), "{backend}");
        done += 1;
    }
    passed("once::back_ends", done, 5 + Backend::ALL.len());
}
