//! Random messages of each length: what others seal is what we seal, byte for byte, on each back end, and we open it.

#[path = "../../tests/support/suite.rs"]
mod suite;

use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use cmac::{Cmac, Mac};
use fastgcm::{AesGcmSiv, Backend, KcXaes256Gcm, Key, RootKey, Scheme, Tag, Xaes256Gcm, draft::Dndk};
use suite::Random;
use xaes_256_gcm::{
    Xaes256Gcm as Theirs,
    aead::{Aead, KeyInit, Payload},
};

/// Lengths of texts.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=600).chain([1000, 1024, 4095, 4096, 10_000, 65_537])
}

#[test]
fn xaes_256_gcm() {
    let (mut random, mut done) = (Random(1), 0);
    for length in lengths() {
        let (key, nonce): ([u8; 32], [u8; 24]) = (random.array(), random.array());
        let (aad, text) = (random.bytes(length % 70), random.bytes(length));
        let expected = Theirs::new(&key.into()).encrypt(&nonce.into(), Payload { msg: &text, aad: &aad }).unwrap();
        for backend in Backend::available() {
            let ours = Xaes256Gcm::with_backend(&key, backend).unwrap();
            assert_eq!(ours.seal_vec(&nonce, &aad, &text).unwrap(), expected, "{backend}, {length}");
            assert_eq!(ours.open_vec(&nonce, &aad, &expected).unwrap(), text, "{backend}, {length}");
        }
        done += 1;
    }
    assert_eq!(done, 607);
}

#[test]
fn aes_gcm_siv() {
    let (mut random, mut done) = (Random(2), 0);
    for length in lengths() {
        for size in [16, 32] {
            let (key, nonce): (_, [u8; 12]) = (random.bytes(size), random.array());
            let (aad, text) = (random.bytes(length % 70), random.bytes(length));
            let payload = Payload { msg: &text, aad: &aad };
            let expected = if size == 16 {
                Aes128GcmSiv::new_from_slice(&key).unwrap().encrypt(&nonce.into(), payload)
            } else {
                Aes256GcmSiv::new_from_slice(&key).unwrap().encrypt(&nonce.into(), payload)
            };
            let expected = expected.unwrap();
            for backend in Backend::available() {
                let ours = AesGcmSiv::with_backend(&key, backend).unwrap();
                let mut found = text.clone();
                let tag = ours.seal(&nonce, &aad, &mut found).unwrap();
                assert!(found == expected[..length] && tag.0 == expected[length..], "{backend}, {length}");
                ours.open(&nonce, &aad, &mut found, &Tag(tag.0)).unwrap();
                assert_eq!(found, text, "{backend}, {length}");
            }
            done += 1;
        }
    }
    assert_eq!(done, 2 * 607);
}

/// The commitment of KC-XAES-256-GCM is a CMAC, twice, of "XCMT", the nonce, 00 01 00 and a number (IACR ePrint 2025/758).
#[test]
fn kc_xaes_256_gcm() {
    let (mut random, mut done) = (Random(3), 0);
    for length in lengths() {
        let (key, nonce): ([u8; 32], [u8; 24]) = (random.array(), random.array());
        let (aad, text) = (random.bytes(length % 70), random.bytes(length));
        let mut expected = Theirs::new(&key.into()).encrypt(&nonce.into(), Payload { msg: &text, aad: &aad }).unwrap();
        for number in [1, 2] {
            let mac = Cmac::<aes::Aes256>::new_from_slice(&key).unwrap();
            let mac = mac.chain_update(b"XCMT").chain_update(nonce).chain_update([0, 1, 0, number]);
            expected.extend(mac.finalize().into_bytes());
        }
        for backend in Backend::available() {
            let ours = KcXaes256Gcm::with_backend(&key, backend).unwrap();
            assert_eq!(ours.seal_vec(&nonce, &aad, &text).unwrap(), expected, "{backend}, {length}");
            assert_eq!(ours.open_vec(&nonce, &aad, &expected).unwrap(), text, "{backend}, {length}");
        }
        done += 1;
    }
    assert_eq!(done, 607);
}

/// DNDK-GCM by somebody else's derivation, and AES-256-GCM under its key.
#[test]
fn dndk_gcm() {
    fn check<S: Scheme>(root: &[u8; 32], nonce: &S::Nonce, [aad, text]: [&[u8]; 2]) {
        let commits = size_of::<S::Tag>() > 16;
        let derived = nonce_extension::dndk_derive(root, nonce.as_ref(), commits.into());
        let mut expected = Key::aes256(&derived.key).seal_vec(derived.iv, aad, text).unwrap();
        expected.extend(derived.key_commitment.into_iter().flatten());
        for backend in Backend::available() {
            let ours = RootKey::<S>::with_backend(root, backend).unwrap();
            assert_eq!(ours.seal_vec(nonce, aad, text).unwrap(), expected, "{ours:?}, {}", text.len());
            assert_eq!(ours.open_vec(nonce, aad, &expected).unwrap(), text, "{ours:?}, {}", text.len());
        }
    }
    let (mut random, mut done) = (Random(4), 0);
    for length in lengths() {
        let (root, nonce): ([u8; 32], [u8; 24]) = (random.array(), random.array());
        let (aad, text, short) = (random.bytes(length % 70), random.bytes(length), nonce.first_chunk().unwrap());
        check::<Dndk<24, true>>(&root, &nonce, [&aad, &text]);
        check::<Dndk<24, false>>(&root, &nonce, [&aad, &text]);
        check::<Dndk<12, true>>(&root, short, [&aad, &text]);
        check::<Dndk<12, false>>(&root, short, [&aad, &text]);
        done += 4;
    }
    assert_eq!(done, 4 * 607);
}
