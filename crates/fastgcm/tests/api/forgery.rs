//! What is not as it was sealed is refused, and leaves no plaintext.

use crate::{STALE, VERBS, bytes, each_backend, keys, support::Tally};
use fastgcm::{AnyTag, Error, Key, Nonce, ShortTag};

/// F1: no plaintext is left after a forgery of any part. And every pair of verbs agrees with the model.
#[test]
fn f01_no_plaintext_after_a_forgery() {
    let (mut sealed_messages, mut forgeries) = (Tally::default(), Tally::default());
    for (key, model) in keys() {
        for length in [0, 1, 15, 16, 17, 100, 511, 512, 513, 2000] {
            for nonce in [bytes(12, 1), bytes(16, 2), bytes(1, 3)] {
                let (text, aad) = (bytes(length, 4), bytes(21, 5));
                let (nonce, other_nonce) = (&nonce[..], [&nonce[..], &[0]].concat());
                let (ciphertext, tag) = model.seal(nonce, &aad, &text);
                let expected = [&ciphertext[..], &tag].concat();
                let any = |nonce| Nonce::any(nonce).unwrap();
                for verbs in &VERBS {
                    assert_eq!(verbs.seal(&key, any(nonce), &aad, &text).as_ref(), Ok(&expected), "{}", verbs.name);
                    assert_eq!((verbs.open)(&key, any(nonce), &aad, &expected).as_ref(), Ok(&text), "{}", verbs.name);
                    sealed_messages.add(&key, 1);
                    for place in [0, length / 2, length, length + 15] {
                        let mut forged = expected.clone();
                        forged[place] ^= 0x80;
                        verbs.refuse(&key, any(nonce), &aad, &forged);
                    }
                    verbs.refuse(&key, any(nonce), &aad[1..], &expected);
                    verbs.refuse(&key, any(&other_nonce), &aad, &expected);
                    forgeries.add(&key, 6);
                }
            }
        }
    }
    sealed_messages.passed("api::every_verb", 3 * 10 * 3 * 8);
    forgeries.passed("api::f01_no_plaintext_after_a_forgery", 3 * 10 * 3 * 8 * 6);
}

/// F2: each bit of the tag counts, in 64 messages.
#[test]
fn f02_every_bit_of_the_tag_counts() {
    let mut flips = Tally::default();
    for key in each_backend(&[9; 32]) {
        for i in 0..64 {
            let (text, nonce) = (bytes(3 * i, 6), bytes(12, i as u64));
            let nonce = Nonce::any(&nonce).unwrap();
            let mut sealed = key.seal_vec(nonce, b"aad", &text).unwrap();
            for bit in 8 * text.len()..8 * sealed.len() {
                sealed[bit / 8] ^= 1 << (bit % 8);
                VERBS.iter().for_each(|verbs| verbs.refuse(&key, nonce, b"aad", &sealed));
                sealed[bit / 8] ^= 1 << (bit % 8);
                flips.add(&key, 1);
            }
            assert_eq!(key.open_vec(nonce, b"aad", &sealed).unwrap(), text, "the forgeries were flips of a true message");
        }
    }
    flips.passed("api::f02_every_bit_of_the_tag_counts", 64 * 128);
}

/// F2: of all tags of 0 to 32 bytes that begin as the right one, or are the beginning of it, the one of 16 is accepted.
#[test]
fn f02_every_other_length_of_tag_is_refused() {
    let mut refused = Tally::default();
    for key in each_backend(&[9; 16]) {
        for length in [0, 1, 20, 300] {
            let text = bytes(length, 7);
            let mut longest = key.seal_vec([1; 12], b"aad", &text).unwrap();
            longest.resize(length + 32, 0);
            for tag in (0..=32).filter(|&tag| tag != 16) {
                let sealed = &longest[..length + tag];
                assert_eq!(key.open_vec([1; 12], b"aad", sealed), Err(Error::Unauthentic));
                let mut buffer = sealed.to_vec();
                assert_eq!(key.open_appended([1; 12], b"aad", &mut buffer).map(|text| text.len()), Err(Error::Unauthentic));
                let mut buffer = [b"head", sealed].concat();
                assert_eq!(key.open_within([1; 12], b"aad", &mut buffer, 4..), Err(Error::Unauthentic));
                if sealed.len() < 16 {
                    assert_eq!(buffer, [b"head", sealed].concat(), "there is no text");
                }
                // With a buffer for the text that was sealed, and with one for what is in front of the last 16 bytes, if there are 16.
                let mut out = vec![STALE; length];
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(Error::InvalidLength));
                assert_eq!(out, vec![STALE; length]);
                let mut out = vec![STALE; sealed.len().saturating_sub(16)];
                let error = if sealed.len() < 16 { Error::InvalidLength } else { Error::Unauthentic };
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(error));
                assert_eq!(out, vec![0; out.len()]);
                refused.add(&key, 5);
            }
            assert_eq!(key.open_vec([1; 12], b"aad", &longest[..length + 16]).unwrap(), text);
        }
    }
    refused.passed("api::f02_every_other_length_of_tag_is_refused", 4 * 32 * 5);
}

/// F2: a shorter tag is a type of its own. It is the beginning of the tag, each of its bits counts, and no more.
#[test]
fn f02_short_tags() {
    let mut flips = Tally::default();
    for key in each_backend(&[9; 24]) {
        flips.add(&key, short_tag::<15>(&key) + short_tag::<14>(&key) + short_tag::<13>(&key) + short_tag::<12>(&key));
        #[cfg(feature = "hazmat")]
        flips.add(&key, short_tag::<8>(&key) + short_tag::<4>(&key));
    }
    let bytes = 15 + 14 + 13 + 12 + if cfg!(feature = "hazmat") { 8 + 4 } else { 0 };
    flips.passed("api::f02_short_tags", 8 * bytes);
}

fn short_tag<const N: usize>(key: &Key) -> usize
where
    ShortTag<N>: AnyTag,
{
    let text = bytes(40, 8);
    let mut sealed = text.clone();
    let whole = key.seal([3; 12], b"aad", &mut sealed).unwrap();
    let tag = whole.truncate::<N>();
    assert_eq!(tag.0[..], whole.0[..N]);
    for bit in 0..8 * N {
        let mut forged = tag;
        forged.0[bit / 8] ^= 1 << (bit % 8);
        let mut buffer = sealed.clone();
        assert_eq!(key.open([3; 12], b"aad", &mut buffer, &forged), Err(Error::Unauthentic));
        assert_eq!(buffer, [0; 40]);
    }
    let mut buffer = sealed.clone();
    key.open_verified_first([3; 12], b"aad", &mut buffer, &tag).unwrap();
    assert_eq!(buffer, text);
    key.open_detached_to([3; 12], b"aad", &sealed, &mut buffer, &tag).unwrap();
    assert_eq!(buffer, text);
    8 * N
}
