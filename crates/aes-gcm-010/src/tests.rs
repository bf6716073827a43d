use super::*;
use aead::consts::U12;

/// Keys of AES itself are ours, at each length, and do not go the way of another block cipher.
#[test]
fn keys_of_aes_are_ours() {
    let ours = [
        matches!(Aes128Gcm::new(&Default::default()).inner, Inner::Ours(_)),
        matches!(AesGcm::<aes::Aes192, U12>::new(&Default::default()).inner, Inner::Ours(_)),
        matches!(Aes256Gcm::new(&Default::default()).inner, Inner::Ours(_)),
    ];
    assert_eq!(ours, [true; 3]);
}
