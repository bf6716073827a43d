//! XAES-256-GCM: the vectors of its specification, and what it is made of.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{Backend, Error, Xaes256Gcm, open_once};
use sha3::{
    Shake128,
    digest::{ExtendableOutput, Update, XofReader},
};
use suite::{Random, emulated, full, hex, quick};

/// Key byte, AAD, and what "XAES-256-GCM" is sealed to under this nonce (C2SP, XAES-256-GCM, "Test Vectors").
const NONCE: &[u8; 24] = b"ABCDEFGHIJKLMNOPQRSTUVWX";
const VECTORS: [(u8, &str, &str); 2] = [
    (1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
    (3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
];

#[test]
fn vectors_of_the_specification() {
    let mut done = Tally::default();
    for backend in backends() {
        for (byte, aad, sealed) in VECTORS {
            let xaes = Xaes256Gcm::with_backend(&[byte; 32], backend).unwrap();
            assert_eq!(xaes.backend(), backend);
            let found = xaes.seal_vec(NONCE, aad.as_bytes(), b"XAES-256-GCM").unwrap();
            assert_eq!(found, hex(sealed), "{backend}");
            assert_eq!(xaes.open_vec(NONCE, aad.as_bytes(), &found).unwrap(), b"XAES-256-GCM");
            done.add(&key(&[0; 32], backend), 2);
        }
    }
    done.passed("xaes::vectors_of_the_specification", 4);
}

/// Keys, nonces, texts and AAD from SHAKE128 of nothing; a digest of all that they are sealed to (the same section: 10,000 and 1,000,000 messages).
#[test]
fn accumulated_vectors() {
    let mut done = Tally::default();
    // C2SP's digests; and ours of the first 500, for emulated processors.
    let (fewer, few, many) = (
        (500, "cad29e9f0a913ef58b5f1f3fd4e3749b61ef9c17cd341c20b50254ba701ad4f0"),
        (10_000, "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939"),
        (1_000_000, "2163ae1445985a30b60585ee67daa55674df06901b890593e824b8a7c885ab15"),
    );
    let expected = |backend| {
        // The rows without instructions for AES would take minutes.
        let slow = matches!(backend, Backend::Portable | Backend::VpaesSsse3 | Backend::VpaesNeon | Backend::VpaesSimd128);
        match (emulated(), full() && !slow) {
            (true, _) => fewer,
            (false, true) => many,
            (false, false) => few,
        }
    };
    for backend in backends() {
        let (count, digest) = expected(backend);
        let (mut source, mut sink) = (Shake128::default().finalize_xof(), Shake128::default());
        let mut bytes = |n: usize| {
            let mut bytes = vec![0; n];
            source.read(&mut bytes);
            bytes
        };
        for _ in 0..count {
            let key: [u8; 32] = bytes(32).try_into().unwrap();
            let nonce: [u8; 24] = bytes(24).try_into().unwrap();
            let length = bytes(1)[0].into();
            let mut text = bytes(length);
            let length = bytes(1)[0].into();
            let aad = bytes(length);
            let xaes = Xaes256Gcm::with_backend(&key, backend).unwrap();
            let sealed = xaes.seal_vec(&nonce, &aad, &text).unwrap();
            sink.update(&sealed);
            let tag = fastgcm::Tag(*sealed.last_chunk().unwrap());
            let before = text.clone();
            text.copy_from_slice(&sealed[..before.len()]);
            xaes.open(&nonce, &aad, &mut text, &tag).unwrap();
            assert_eq!(text, before);
        }
        let mut found = [0; 32];
        sink.finalize_xof().read(&mut found);
        assert_eq!(found[..], hex(digest), "{backend}");
        done.add(&key(&[0; 32], backend), count);
    }
    done.passed_by("xaes::accumulated_vectors", |backend| expected(backend).0);
}

/// The derivation, as the standards have it: CMAC (SP 800-38B) of a counter, "X", a zero and half of the nonce, over AES of the model. What it makes
/// opens by `open_once`; what is altered does not open.
#[test]
fn f01_is_a_derived_key() {
    let mut done = Tally::default();
    let mut random = Random(9);
    let cases = if quick() { 20 } else { 300 };
    for case in 0..cases {
        let bytes: [u8; 32] = random.bytes(32).try_into().unwrap();
        let nonce: [u8; 24] = random.bytes(24).try_into().unwrap();
        let derived = fastgcm_model::xaes::derive(&bytes, &nonce);
        let length = random.below(if case % 10 == 0 { 5000 } else { 200 });
        let (text, aad) = (random.bytes(length), random.bytes(case % 40));
        for backend in backends() {
            let xaes = Xaes256Gcm::with_backend(&bytes, backend).unwrap();
            let mut sealed = text.clone();
            let mut tag = xaes.seal(&nonce, &aad, &mut sealed).unwrap();
            let mut opened = sealed.clone();
            open_once(&derived, <[u8; 12]>::try_from(&nonce[12..]).unwrap(), &aad, &mut opened, &tag).unwrap();
            assert_eq!(opened, text, "{backend}");
            // One bit that is wrong: of the tag, of either half of the nonce, of the AAD, of the text.
            let (mut nonce, mut aad, mut forged) = (nonce, aad.clone(), sealed.clone());
            let (first, rest) = nonce.split_at_mut(12);
            let mut parts: Vec<&mut [u8]> = vec![&mut tag.0, first, rest, &mut aad, &mut forged];
            parts.retain(|part| !part.is_empty());
            let part = random.below(parts.len());
            let byte = random.below(parts[part].len());
            parts[part][byte] ^= 1 << random.below(8);
            assert_eq!(xaes.open(&nonce, &aad, &mut forged, &tag), Err(Error::Unauthentic), "{backend}");
            assert!(forged.iter().all(|&byte| byte == 0), "{backend}");
            done.add(&key(&bytes, backend), 2);
        }
    }
    done.passed("xaes::f01_is_a_derived_key", 2 * cases);
}

#[test]
#[cfg(feature = "getrandom")]
fn f13_random_nonces_differ() {
    let xaes = Xaes256Gcm::new(&[1; 32]);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1000 {
        let mut text = *b"text";
        let (nonce, tag) = xaes.seal_random(b"aad", &mut text).unwrap();
        xaes.open(&nonce, b"aad", &mut text, &tag).unwrap();
        assert_eq!(&text, b"text");
        assert!(seen.insert(nonce));
    }
    assert!((0..24).all(|i| seen.iter().map(|nonce| nonce[i]).collect::<std::collections::BTreeSet<_>>().len() > 200));
    suite::passed("xaes::f13_random_nonces_differ", seen.len(), 1000);
}

/// Random nonces stand in front, differ, and each byte of them is drawn.
#[test]
#[cfg(feature = "getrandom")]
fn f13_random_nonces() {
    let key = Xaes256Gcm::new(&[7; 32]);
    let mut nonces = std::collections::BTreeSet::new();
    for length in 0..300 {
        let text = vec![length as u8; length];
        let message = key.seal_random_vec(b"aad", &text).unwrap();
        let (nonce, sealed) = message.split_first_chunk().unwrap();
        assert_eq!(key.seal_vec(nonce, b"aad", &text).unwrap(), sealed);
        assert_eq!(key.open_random_vec(b"aad", &message).unwrap(), text);
        assert_eq!(key.open_random_vec(b"AAD", &message), Err(Error::Unauthentic));
        nonces.insert(*nonce);
    }
    assert!((0..24).all(|i| nonces.iter().map(|nonce| nonce[i]).collect::<std::collections::BTreeSet<_>>().len() > 100));
    assert!((0..40).all(|length| key.open_random_vec(b"", &vec![0; length]) == Err(Error::Unauthentic)));
    suite::passed("xaes::f13_random_nonces", nonces.len(), 300);
}
