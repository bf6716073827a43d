//! The same program against `aes-gcm` 0.10.3 and against this crate: both return the same, and leave the same in every buffer.
#![cfg(feature = "aes")]

/// What was called, and what it returned or left.
type Entry = (&'static str, Vec<u8>);

/// Around a block, around a turn of the widest back end (512 bytes) and of the narrowest (128), and a few turns.
const LENGTHS: [usize; 16] = [0, 1, 12, 15, 16, 17, 63, 64, 65, 127, 128, 129, 511, 513, 1500, 5000];

mod ours {
    use super::{Entry, LENGTHS, bytes};
    use fastgcm_aes_gcm as subject;
    include!("transcript.rs");
}

mod theirs {
    use super::{Entry, LENGTHS, bytes};
    use aes_gcm as subject;
    include!("transcript.rs");
}

#[test]
fn agrees() {
    let (ours, theirs) = (ours::transcript(), theirs::transcript());
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours.0, theirs.0);
        assert!(ours.1 == theirs.1, "{number}: {}", ours.0);
    }
    assert_eq!(ours.len(), theirs.len());
    passed("aes-gcm-0.10::agrees", ours.len(), (11 * 3 + 2 + 5) * LENGTHS.len() * 8 + 2 + 2 * LENGTHS.len() + 3);
}

/// F3: a nonce of no bytes is an error in both directions, and the buffer is as it was.
#[test]
fn f03_no_empty_nonce() {
    use fastgcm_aes_gcm::{AeadInPlace, AesGcm, Error, KeyInit, Nonce, aead::consts::U0, aes::Aes128};
    let cipher = AesGcm::<Aes128, U0>::new(&[7; 16].into());
    let mut buffer = *b"untouched";
    assert_eq!(cipher.encrypt_in_place_detached(&Nonce::default(), b"", &mut buffer), Err(Error));
    assert_eq!(cipher.decrypt_in_place_detached(&Nonce::default(), b"", &mut buffer, &[0; 16].into()), Err(Error));
    assert_eq!(&buffer, b"untouched");
    passed("aes-gcm-0.10::f03_no_empty_nonce", 2, 2);
}

#[test]
fn what_the_readme_says_is_different() {
    use fastgcm_aes_gcm as ours;
    fn is_wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let cipher = <ours::Aes256Gcm as ours::KeyInit>::new(&[7; 32].into());
    is_wiped(&cipher);
    assert_eq!(format!("{cipher:?}"), "AesGcm { .. }");
    assert_eq!((ours::A_MAX, ours::P_MAX, ours::C_MAX), (aes_gcm::A_MAX, aes_gcm::P_MAX - 32, aes_gcm::C_MAX - 32));
    let sizes = (size_of::<ours::Aes256Gcm>(), size_of::<aes_gcm::Aes256Gcm>());
    assert_eq!((sizes.0 / 128, sizes.1 / 128), (13, 7), "1.7 KB and 1 KB: {sizes:?}");
    passed("aes-gcm-0.10::readme", 6, 6);
}

/// Fails unless so many cases were checked.
fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
