//! A file of three chunks, sealed and opened by `dexios-core` (LE31). Its last bytes are those that it had with `aes-gcm` 0.10.3.

use dexios_core::{
    primitives::Algorithm,
    protected::Protected,
    stream::{DecryptionStreams, EncryptionStreams},
};

#[test]
fn a_file_is_what_it_was() {
    let text: Vec<u8> = (0..(2 << 20) + 5000_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    let stream = EncryptionStreams::initialize(Protected::new([7; 32]), &[1; 8], &Algorithm::Aes256Gcm).unwrap();
    stream.encrypt_file(&mut &text[..], &mut sealed, b"header").unwrap();
    assert_eq!(sealed.len(), text.len() + 3 * 16);
    assert_eq!(sealed[sealed.len() - 16..], LAST);
    let stream = DecryptionStreams::initialize(Protected::new([7; 32]), &[1; 8], &Algorithm::Aes256Gcm).unwrap();
    stream.decrypt_file(&mut &sealed[..], &mut opened, b"header").unwrap();
    assert!(opened == text);
    sealed[1 << 20] ^= 1;
    let stream = DecryptionStreams::initialize(Protected::new([7; 32]), &[1; 8], &Algorithm::Aes256Gcm).unwrap();
    assert!(stream.decrypt_file(&mut &sealed[..], &mut Vec::new(), b"header").is_err());
}

const LAST: [u8; 16] = [254, 86, 155, 253, 80, 206, 168, 83, 244, 54, 106, 128, 220, 96, 77, 141];
