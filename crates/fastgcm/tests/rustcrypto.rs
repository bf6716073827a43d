//! RustCrypto's interface against the native one: every length of key, nonce and tag, every way of passing a buffer.
//!
//! (That it takes what was written for `aes-gcm` is checked by `cargo xtask`, with that crate's own tests.)
#![cfg(all(feature = "aead06", feature = "alloc"))]

#[path = "support/suite.rs"]
mod suite;

use fastgcm::{
    Key, Tag,
    rustcrypto::{
        A_MAX, AeadCore, AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, Error, KeyInit, Nonce, P_MAX,
        aead::{
            Aead, Buffer, Payload, TagPosition,
            array::{Array, typenum::Unsigned},
            consts::{U0, U1, U8, U11, U12, U13, U14, U15, U16, U17, U128},
            inout::InOutBuf,
        },
        aes::{Aes128, Aes192, Aes256},
    },
};

#[cfg(feature = "hazmat")]
use fastgcm::rustcrypto::aead::consts::U4;
use suite::{bytes, passed};

/// Around a block, around a turn of the widest back end (512 bytes) and of the narrowest (128), and a few turns.
const LENGTHS: [usize; 16] = [0, 1, 12, 15, 16, 17, 63, 64, 65, 127, 128, 129, 511, 513, 1500, 5000];

#[test]
fn agrees_with_the_native_interface() {
    // Every length of a nonce with a whole tag, and every length of a tag with a nonce of 12 bytes. Where one of them is not usual, keys take turns: each
    // line is compiled by itself.
    let lines: &[fn() -> usize] = &[
        every_length::<AesGcm<Aes128, U12, U16>>,
        every_length::<AesGcm<Aes192, U12, U16>>,
        every_length::<AesGcm<Aes256, U12, U16>>,
        every_length::<AesGcm<Aes128, U1, U16>>,
        every_length::<AesGcm<Aes192, U8, U16>>,
        every_length::<AesGcm<Aes256, U11, U16>>,
        every_length::<AesGcm<Aes128, U13, U16>>,
        every_length::<AesGcm<Aes192, U17, U16>>,
        every_length::<AesGcm<Aes256, U128, U16>>,
        every_length::<AesGcm<Aes256, U12, U15>>,
        every_length::<AesGcm<Aes128, U12, U14>>,
        every_length::<AesGcm<Aes192, U12, U13>>,
        every_length::<AesGcm<Aes256, U12, U12>>,
        #[cfg(feature = "hazmat")]
        every_length::<AesGcm<Aes128, U12, U8>>,
        #[cfg(feature = "hazmat")]
        every_length::<AesGcm<Aes256, U12, U4>>,
    ];
    let messages = lines.iter().map(|every_length| every_length()).sum();
    passed("rustcrypto::agrees", messages, if cfg!(feature = "hazmat") { 15 } else { 13 } * LENGTHS.len());
}

fn every_length<C: KeyInit + AeadInOut + Clone>() -> usize {
    let (key, nonce, aad) = (bytes(C::key_size(), 1), bytes(C::NonceSize::USIZE, 2), bytes(13, 3));
    let cipher = C::new_from_slice(&key).unwrap();
    let native = Key::new(&key).unwrap();
    for length in LENGTHS {
        let text = bytes(length, 4);
        let mut sealed = text.clone();
        let Tag(tag) = native.seal(fastgcm::Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
        let tag = Array::try_from(&tag[..C::TagSize::USIZE]).unwrap();
        one_message(&cipher.clone(), &Array::try_from(&nonce[..]).unwrap(), &aad, &text, &sealed, tag);
    }
    LENGTHS.len()
}

/// In place, from one buffer to another, and with the tag appended to a `Vec`; each in both directions, and with a wrong tag.
fn one_message<C: AeadInOut>(
    cipher: &C,
    nonce: &Array<u8, C::NonceSize>,
    aad: &[u8],
    text: &[u8],
    sealed: &[u8],
    tag: Array<u8, C::TagSize>,
) {
    let mut forged = tag.clone();
    forged[text.len() % C::TagSize::USIZE] ^= 1;

    let mut buffer = text.to_vec();
    assert_eq!(cipher.encrypt_inout_detached(nonce, aad, buffer.as_mut_slice().into()), Ok(tag.clone()));
    assert_eq!(buffer, sealed);
    assert_eq!(cipher.decrypt_inout_detached(nonce, aad, buffer.as_mut_slice().into(), &forged), Err(Error));
    assert_eq!(buffer, sealed, "a wrong tag leaves the ciphertext");
    assert_eq!(cipher.decrypt_inout_detached(nonce, aad, buffer.as_mut_slice().into(), &tag), Ok(()));
    assert_eq!(buffer, text);

    let mut out = vec![0xee; text.len()];
    assert_eq!(cipher.encrypt_inout_detached(nonce, aad, InOutBuf::new(text, &mut out).unwrap()), Ok(tag.clone()));
    assert_eq!(out, sealed);
    let mut out = vec![0xee; text.len()];
    assert_eq!(cipher.decrypt_inout_detached(nonce, aad, InOutBuf::new(sealed, &mut out).unwrap(), &forged), Err(Error));
    assert_eq!(out, vec![0; text.len()], "a wrong tag leaves zeros");
    assert_eq!(cipher.decrypt_inout_detached(nonce, aad, InOutBuf::new(sealed, &mut out).unwrap(), &tag), Ok(()));
    assert_eq!(out, text);

    let appended = [sealed, &tag[..]].concat();
    assert_eq!(cipher.encrypt(nonce, Payload { msg: text, aad }).unwrap(), appended);
    assert_eq!(cipher.decrypt(nonce, Payload { msg: &appended, aad }).unwrap(), text);
    assert_eq!(cipher.decrypt(nonce, Payload { msg: &[sealed, &forged[..]].concat(), aad }), Err(Error));
    assert_eq!(cipher.decrypt(nonce, Payload { msg: &appended, aad: &aad[1..] }), Err(Error));
}

/// A buffer that cannot grow beyond `N` bytes, as `ArrayVec`.
struct Fixed<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> AsRef<[u8]> for Fixed<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl<const N: usize> AsMut<[u8]> for Fixed<N> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl<const N: usize> Buffer for Fixed<N> {
    fn extend_from_slice(&mut self, other: &[u8]) -> Result<(), Error> {
        self.bytes.get_mut(self.length..self.length + other.len()).ok_or(Error)?.copy_from_slice(other);
        self.length += other.len();
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

#[test]
fn buffers_behind_dyn() {
    let cipher = Aes128Gcm::new(&Array([7; 16]));
    let nonce = Array([1; 12]);
    let sealed = cipher.encrypt(&nonce, b"a message".as_slice()).unwrap();
    let mut fixed = Fixed { bytes: [0; 25], length: 9 };
    fixed.as_mut().copy_from_slice(b"a message");
    let buffers: [&mut dyn Buffer; 2] = [&mut b"a message".to_vec(), &mut fixed];
    let mut checked = 0;
    for buffer in buffers {
        cipher.encrypt_in_place(&nonce, b"", buffer).unwrap();
        assert_eq!(buffer.as_ref(), sealed);
        buffer.as_mut()[24] ^= 1;
        assert_eq!(cipher.decrypt_in_place(&nonce, b"", buffer), Err(Error));
        buffer.as_mut()[24] ^= 1;
        assert_eq!(buffer.as_ref(), sealed, "a wrong tag changes nothing");
        cipher.decrypt_in_place(&nonce, b"", buffer).unwrap();
        assert_eq!(buffer.as_ref(), b"a message");
        checked += 1;
    }
    let mut short = Fixed { bytes: [0; 24], length: 9 };
    assert_eq!(cipher.encrypt_in_place(&nonce, b"", &mut short), Err(Error), "no room for the tag");
    passed("rustcrypto::buffers", checked, 2);
}

/// F2: whatever is shorter than a tag is refused, and so is every length but the right one.
#[test]
fn f02_wrong_lengths() {
    let cipher = Aes256Gcm::new(&Array([7; 32]));
    let nonce = Array([1; 12]);
    let sealed = cipher.encrypt(&nonce, b"".as_slice()).unwrap();
    let accepted = (0..=32).filter(|&n| cipher.decrypt(&nonce, &[&sealed[..], &[0; 16]].concat()[..n]).is_ok()).collect::<Vec<_>>();
    assert_eq!(accepted, [16]);
    let keys = |new: fn(&[u8]) -> bool| (0..=64).filter(|&n| new(&vec![0; n])).collect::<Vec<_>>();
    assert_eq!(keys(|key| Aes128Gcm::new_from_slice(key).is_ok()), [16]);
    assert_eq!(keys(|key| AesGcm::<Aes192, U12>::new_from_slice(key).is_ok()), [24]);
    assert_eq!(keys(|key| Aes256Gcm::new_from_slice(key).is_ok()), [32]);
    passed("rustcrypto::f02_wrong_lengths", 33 + 3 * 65, 228);
}

/// F3: a nonce of no bytes is an error in both directions, and the buffer is as it was.
#[test]
fn f03_no_empty_nonce() {
    let cipher = AesGcm::<Aes128, U0>::new(&Array([7; 16]));
    let mut buffer = *b"untouched";
    assert_eq!(cipher.encrypt_inout_detached(&Array([]), b"", buffer.as_mut_slice().into()), Err(Error));
    assert_eq!(cipher.decrypt_inout_detached(&Array([]), b"", buffer.as_mut_slice().into(), &Array([0; 16])), Err(Error));
    assert_eq!(&buffer, b"untouched");
    assert_eq!(cipher.encrypt(&Array([]), buffer.as_slice()), Err(Error));
    passed("rustcrypto::f03_no_empty_nonce", 3, 3);
}

#[test]
fn constants_and_auto_traits() {
    fn is_shared<T: Send + Sync + Clone + zeroize::ZeroizeOnDrop + 'static>(_: &T) {}
    let cipher = Aes256Gcm::new(&Array([0x5a; 32]));
    is_shared(&cipher);
    assert_eq!((A_MAX, P_MAX), ((1 << 61) - 1, (1 << 36) - 32));
    assert_eq!(Aes256Gcm::TAG_POSITION, TagPosition::Postfix);
    assert_eq!(format!("{cipher:?}"), "AesGcm { .. }");
    let nonce: Nonce<U16> = Array([0; 16]);
    let tag: fastgcm::rustcrypto::Tag = Array([0; 16]);
    assert_eq!(nonce, tag);
}

#[cfg(feature = "getrandom")]
#[test]
fn generates_keys_and_nonces() {
    use fastgcm::rustcrypto::aead::{self, Generate};
    let keys: std::collections::HashSet<_> = (0..100).map(|_| aead::Key::<Aes256Gcm>::generate()).collect();
    let nonces: std::collections::HashSet<_> = (0..100).map(|_| aead::Nonce::<Aes256Gcm>::generate()).collect();
    passed("rustcrypto::generates", keys.len() + nonces.len(), 200);
}
