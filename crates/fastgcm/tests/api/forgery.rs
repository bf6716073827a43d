//! What is not as it was sealed is refused, and leaves no plaintext.

use crate::{
    bytes, each_backend, referee,
    suite::quick,
    support::{self, Tally},
    verbs::{self, Keys, Message, STALE},
};
use fastgcm::{AnyTag, Error, Key, ShortTag};

/// Lengths of texts: none, parts of a block, blocks, turns.
const TEXTS: &[usize] = &[0, 1, 15, 16, 17, 33, 100, 511, 512, 513, 2000];
/// Nonces of twelve bytes and of others.
const NONCES: [usize; 4] = [12, 16, 1, 60];
const AADS: [usize; 5] = [21, 0, 16, 1, 100];

/// F1: every verb agrees with the model, and refuses what was altered: a bit of the text, of the tag, of AAD, of the nonce or of the key.
#[test]
fn f01_no_plaintext_after_a_forgery() {
    let (mut right, mut forged) = (Tally::default(), Tally::default());
    let (mut expected, mut seed) = (Vec::new(), 0_u64);
    let texts: Vec<usize> = TEXTS.iter().copied().step_by(if quick() { 3 } else { 1 }).collect();
    let verbs = verbs::table();
    for backend in support::backends() {
        let (mut keys, mut counts) = (Keys::new(backend), [0, 0]);
        for verb in verbs.iter().filter(|verb| verb.runs_on(backend)) {
            for (i, (&text, nonce)) in texts.iter().flat_map(|text| NONCES.map(|nonce| (text, nonce))).enumerate() {
                let (key, nonce) = verb.key_and_nonce([16, 24, 32][i % 3], nonce);
                let [key, nonce, aad, text] = [key, nonce, AADS[i % AADS.len()], verb.text(text)].map(|n| {
                    seed += 1;
                    bytes(n, seed)
                });
                let message = referee::message(verb.form, &key, &nonce, &aad, &text);
                verb.run(&mut keys, &message, true);
                right.add(&keys.key, 1);
                counts[0] += 1;
                if !verb.opens() {
                    continue;
                }
                let at = |n: usize| n.saturating_sub(1) / 2;
                let mut forge = |alter: &dyn Fn(&mut Message)| {
                    let mut message = message.clone();
                    alter(&mut message);
                    verb.run(&mut keys, &message, false);
                    forged.add(&keys.key, 1);
                    counts[1] += 1;
                };
                for bit in [0, 8 * verb.tag / 2, 8 * verb.tag - 1] {
                    forge(&|message| message.flip(bit));
                }
                forge(&|message| message.key[at(key.len())] ^= 1);
                forge(&|message| message.nonce[at(nonce.len())] ^= 0x80);
                if !aad.is_empty() {
                    forge(&|message| message.aad[at(aad.len())] ^= 8);
                }
                forge(&|message| message.aad.push(0));
                if !text.is_empty() {
                    for byte in [0, at(text.len()), text.len() - 1] {
                        forge(&|message| message.sealed[byte] ^= 0x10);
                    }
                }
            }
        }
        expected.push((backend, counts));
    }
    let of = |backend, which: usize| expected.iter().find(|(name, _)| *name == backend).unwrap().1[which];
    right.passed_by("api::every_verb", |backend| of(backend, 0));
    forged.passed_by("api::f01_no_plaintext_after_a_forgery", |backend| of(backend, 1));
    // Each verb that runs here did each length with each nonce.
    for backend in support::backends() {
        assert_eq!(of(backend, 0), verbs.iter().filter(|verb| verb.runs_on(backend)).count() * texts.len() * NONCES.len());
    }
}

/// F2: each bit of the tag counts, for every verb that looks at it, in eight messages; quickly in three.
#[test]
fn f02_every_bit_of_the_tag_counts() {
    let mut flips = Tally::default();
    let messages = || (0..8).step_by(if quick() { 3 } else { 1 });
    let verbs = verbs::table();
    let opening = |backend| verbs.iter().filter(move |verb| verb.opens() && verb.runs_on(backend));
    for backend in support::backends() {
        let mut keys = Keys::new(backend);
        for verb in opening(backend) {
            for i in messages() {
                let (key, nonce) = verb.key_and_nonce(32, 12);
                let [key, nonce, text] = [(key, 6), (nonce, 7), (verb.text(25 * i), 8)].map(|(n, seed)| bytes(n, seed + i as u64));
                let mut message = referee::message(verb.form, &key, &nonce, b"aad", &text);
                for bit in 0..8 * verb.tag {
                    message.flip(bit);
                    verb.run(&mut keys, &message, false);
                    message.flip(bit);
                    flips.add(&keys.key, 1);
                }
                verb.run(&mut keys, &message, true);
            }
        }
    }
    flips.passed_by("api::f02_every_bit_of_the_tag_counts", |backend| opening(backend).map(|verb| messages().count() * 8 * verb.tag).sum());
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
                let error = if sealed.len() < 16 { Error::Unauthentic } else { Error::InvalidLength };
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(error));
                assert_eq!(out, vec![STALE; length]);
                let mut out = vec![STALE; sealed.len().saturating_sub(16)];
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(Error::Unauthentic));
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
