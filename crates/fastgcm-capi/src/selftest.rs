//! Known answers.

use crate::{fastgcm_status::*, status};
use fastgcm::{Backend, Error, Key};
use std::ffi::c_int;

/// Seals and opens known answers on each back end of this machine, and a forgery, in less than a millisecond. Returns `FASTGCM_OK` or
/// `FASTGCM_SELFTEST`.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_selftest() -> c_int {
    status(|| if all_are_right(|backend, key, tag| known(backend, key, tag) == Ok(())) { Ok(()) } else { Err(FASTGCM_SELFTEST) })
}

/// Whether each back end of this machine is right about each known answer. (Public for a test, to which one is wrong.)
#[doc(hidden)]
pub fn all_are_right(is_right: impl Fn(Backend, &[u8], &u128) -> bool) -> bool {
    Backend::available().all(|backend| KNOWN.iter().all(|(key, tag)| is_right(backend, key, tag)))
}

/// Keys and tags of test cases 4, 10 and 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega), which share nonce, AAD and text.
const KNOWN: [(&[u8], u128); 3] = [
    (&KEY, 0x5bc94fbc3221a5db94fae95ae7121a47),
    (&KEY_192, 0x2519498e80f1478f37ba55bd6d27618c),
    (&KEY_256, 0x76fc6ece0f4e1768cddf8853bb2d551b),
];
const KEY: [u8; 16] = 0xfeffe9928665731c6d6a8f9467308308u128.to_be_bytes();
const KEY_192: [u8; 24] = twice();
const KEY_256: [u8; 32] = twice();
const NONCE: [u8; 12] = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];
const AAD: [u8; 20] =
    [0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2];
const TEXT: [u8; 60] = {
    let blocks: [u128; 4] = [
        0xd9313225f88406e5a55909c5aff5269a,
        0x86a7a9531534f7da2e4c303d8a318a72,
        0x1c3c0c95956809532fcf0e2449a6b525,
        0xb16aedf5aa0de657ba637b3900000000,
    ];
    let mut text = [0; 60];
    let mut i = 0;
    while i < 60 {
        text[i] = blocks[i / 16].to_be_bytes()[i % 16];
        i += 1;
    }
    text
};

/// The longer keys go on with the shorter one.
const fn twice<const N: usize>() -> [u8; N] {
    let mut key = [0; N];
    let mut i = 0;
    while i < N {
        key[i] = KEY[i % 16];
        i += 1;
    }
    key
}

fn known(backend: Backend, key: &[u8], tag: &u128) -> Result<(), Error> {
    let key = Key::with_backend(key, backend)?;
    let mut text = TEXT;
    let made = key.seal(NONCE, &AAD, &mut text)?;
    if made.0 != tag.to_be_bytes() || text == TEXT {
        return Err(Error::Unauthentic);
    }
    let mut forged = made;
    forged.0[15] ^= 1;
    let refused = key.open(NONCE, &AAD, &mut { text }, &forged);
    key.open(NONCE, &AAD, &mut text, &made)?;
    if refused == Err(Error::Unauthentic) && text == TEXT { Ok(()) } else { Err(Error::Unauthentic) }
}
