//! Random messages of each length: what others seal is what we seal, byte for byte, on each back end, and we open it.

#[path = "../../tests/support/suite.rs"]
mod suite;

use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use fastgcm::{AesGcmSiv, Backend, Tag, Xaes256Gcm};
use suite::Random;
use xaes_256_gcm::{
    Xaes256Gcm as Theirs,
    aead::{Aead, KeyInit, Payload},
};

/// Lengths of texts.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=600).chain([1000, 1024, 4095, 4096, 10_000, 65_537])
}

fn passed(name: &str, each: usize) {
    Backend::available().for_each(|backend| println!("peers::{name}/{backend} ok {each}"));
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
    passed("xaes_256_gcm", done);
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
    passed("aes_gcm_siv", done);
}
