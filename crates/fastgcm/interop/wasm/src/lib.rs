//! fastgcm in WebAssembly without an operating system (`wasm32-unknown-unknown`): what `run.mjs` asks in Node and in a browser.

use aes_gcm::{AeadInOut, KeyInit};
use fastgcm::{Backend, Error, Key, Tag, approved};
use std::hint::black_box;

/// Bytes without order.
fn bytes(n: usize, seed: u32) -> Vec<u8> {
    (0..n as u32).map(|i| ((i + seed).wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
}

/// Seals and opens messages with each back end beside RustCrypto's `aes-gcm`: keys of each length, AAD, every length of text up to 300 bytes, and long ones.
/// Returns how many messages were right, or stops the module.
#[unsafe(no_mangle)]
pub extern "C" fn check() -> u32 {
    let mut right = 0;
    for backend in Backend::available() {
        assert_eq!(approved::self_test(backend), Ok(()));
        for text in (0..300).chain([1000, 4095, 8192, 20_011]) {
            let (bytes_of_key, nonce, aad, text) = (bytes(32, 1), [7; 12], bytes(text % 40, 2), bytes(text, 3));
            let key = Key::with_backend(&bytes_of_key, backend).unwrap();
            let (mut ours, mut theirs) = (text.clone(), text.clone());
            let tag = key.seal(nonce, &aad, &mut ours).unwrap();
            let cipher = aes_gcm::Aes256Gcm::new_from_slice(&bytes_of_key).unwrap();
            let their_tag = cipher.encrypt_inout_detached(&nonce.into(), &aad, (&mut theirs[..]).into()).unwrap();
            assert!(ours == theirs && tag.0 == their_tag[..], "{backend}, {} bytes", text.len());
            let mut forged = tag;
            forged.0[text.len() % 16] ^= 1;
            assert_eq!(key.open(nonce, &aad, &mut theirs, &forged), Err(Error::Unauthentic));
            assert!(theirs.iter().all(|byte| *byte == 0));
            assert_eq!(key.open(nonce, &aad, &mut ours, &tag), Ok(()));
            assert!(ours == text);
            right += 1;
        }
    }
    right
}

/// Returns the number of back ends that the module has, best first; `portable` is the last.
#[unsafe(no_mangle)]
pub extern "C" fn back_ends() -> u32 {
    Backend::available().count() as u32
}

/// Seals `len` bytes `times` times with an AES-128 key: with the back end of that number, or behind the last with RustCrypto's `aes-gcm`. Returns a byte of the result.
#[unsafe(no_mangle)]
pub extern "C" fn seal(which: u32, len: u32, times: u32) -> u32 {
    let mut text = bytes(len as usize, 5);
    let mut last = Tag([0; 16]);
    match Backend::available().nth(which as usize) {
        Some(backend) => {
            let key = Key::with_backend(&[7; 16], backend).unwrap();
            for _ in 0..times {
                last = key.seal([1; 12], b"", black_box(&mut text)).unwrap();
            }
        }
        None => {
            let key = aes_gcm::Aes128Gcm::new_from_slice(&[7; 16]).unwrap();
            for _ in 0..times {
                last.0 = key.encrypt_inout_detached(&[1; 12].into(), b"", black_box(&mut text[..]).into()).unwrap().into();
            }
        }
    }
    u32::from(last.0[0])
}
