//! What is drawn: every salt and every new key, each byte of it; and without random bytes nothing is sealed.

#[cfg(target_os = "linux")]
#[path = "../../../fastgcm/tests/support/no_random.rs"]
mod no_random;

use fastgcm_file::{Cipher, Format, Key, SALT_LEN, Writer, seal};
use std::{collections::BTreeSet, num::NonZero};

/// In 64 draws a byte takes about 56 values. Fewer than 30 would be a miracle.
fn assert_drawn(what: &str, draw: impl Fn() -> Vec<u8>) {
    let draws: Vec<Vec<u8>> = (0..64).map(|_| draw()).collect();
    for at in 0..draws[0].len() {
        let values: BTreeSet<u8> = draws.iter().map(|draw| draw[at]).collect();
        assert!(values.len() >= 30, "{what}: byte {at} takes {} values", values.len());
    }
}

#[test]
fn each_byte_of_salts_and_keys_is_drawn() {
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    assert_drawn("Cipher", || Cipher::create(&key, b"").unwrap().0[..SALT_LEN].to_vec());
    assert_drawn("Writer", || Writer::new(&key, b"", Vec::new()).unwrap().finish().unwrap());
    assert_drawn("seal", || {
        let mut sealed = Vec::new();
        seal(&key, b"", &b"the same text"[..], &mut sealed, NonZero::<usize>::MIN).unwrap();
        sealed
    });
    for format in Format::ALL {
        assert_drawn(format.name(), || Key::generate(*format).unwrap().as_bytes().to_vec());
    }
}

/// In a thread that the system gives no random bytes.
#[cfg(target_os = "linux")]
#[test]
fn without_random_bytes_nothing_is_sealed() {
    use fastgcm_file::Error;
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    let refused = || {
        let io = |error: Error| matches!(error, Error::Io(error) if error.raw_os_error() == Some(libc::EIO));
        let mut written = Vec::new();
        assert!(io(Key::generate(Format::Cobblestone256).unwrap_err()));
        assert!(io(Cipher::create(&key, b"").map(drop).unwrap_err()));
        assert!(io(Writer::new(&key, b"", &mut written).map(drop).unwrap_err()));
        assert!(io(seal(&key, b"", &b"text"[..], &mut written, NonZero::<usize>::MIN).unwrap_err()));
        assert!(written.is_empty());
    };
    match no_random::without_random_bytes(refused) {
        Some(()) => println!("without_random_bytes_nothing_is_sealed ok 4"),
        None => println!("SKIPPED without_random_bytes_nothing_is_sealed: the system call cannot be made to fail"),
    }
}
