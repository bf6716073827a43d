//! Every public verb, and what it leaves in every buffer: after success, after a forgery, after a wrong length.

use fastgcm::{AnyTag, Backend, Error, Key, Nonce, ShortTag, Tag};
use fastgcm_model::{Block, Model, multiply_blocks};

/// A way to seal and to open. `seal` gives ciphertext and tag; `open` gives the text, or why not and what the output holds.
struct Verbs {
    name: &'static str,
    seal: fn(&Key, Nonce<'_>, &[u8], &[u8]) -> Result<Vec<u8>, Error>,
    open: fn(&Key, Nonce<'_>, &[u8], &[u8]) -> Result<Vec<u8>, (Error, Vec<u8>)>,
}

/// What a buffer holds before it is written.
const STALE: u8 = 0xee;

const VERBS: [Verbs; 6] = [
    Verbs {
        name: "seal, open",
        seal: |key, nonce, aad, text| {
            let mut text = text.to_vec();
            let tag = key.seal(nonce, aad, &mut text)?;
            Ok([&text, tag.as_ref()].concat())
        },
        open: |key, nonce, aad, sealed| {
            let (mut text, tag) = split(sealed);
            key.open(nonce, aad, &mut text, &tag).map_or_else(|e| Err((e, text.clone())), |()| Ok(text.clone()))
        },
    },
    Verbs {
        name: "seal, open_verified_first",
        seal: |key, nonce, aad, text| VERBS[0].seal(key, nonce, aad, text),
        open: |key, nonce, aad, sealed| {
            let (mut text, tag) = split(sealed);
            key.open_verified_first(nonce, aad, &mut text, &tag).map_or_else(|e| Err((e, text.clone())), |()| Ok(text.clone()))
        },
    },
    Verbs {
        name: "seal_appended, open_appended",
        seal: |key, nonce, aad, text| {
            let mut buffer = [text, &[STALE; 16]].concat();
            key.seal_appended(nonce, aad, &mut buffer).map(|()| buffer)
        },
        open: |key, nonce, aad, sealed| {
            let mut buffer = sealed.to_vec();
            let opened = key.open_appended(nonce, aad, &mut buffer).map(|text| text.to_vec());
            opened.map_err(|e| (e, split(&buffer).0))
        },
    },
    Verbs {
        name: "seal_detached_to, open_detached_to",
        seal: |key, nonce, aad, text| {
            let mut ciphertext = vec![STALE; text.len()];
            let tag = key.seal_detached_to(nonce, aad, text, &mut ciphertext)?;
            Ok([&ciphertext, tag.as_ref()].concat())
        },
        open: |key, nonce, aad, sealed| {
            let (ciphertext, tag) = split(sealed);
            let mut text = vec![STALE; ciphertext.len()];
            key.open_detached_to(nonce, aad, &ciphertext, &mut text, &tag).map_or_else(|e| Err((e, text.clone())), |()| Ok(text.clone()))
        },
    },
    Verbs {
        name: "seal_to, open_to",
        seal: |key, nonce, aad, text| {
            let mut sealed = vec![STALE; text.len() + 16];
            key.seal_to(nonce, aad, text, &mut sealed).map(|()| sealed)
        },
        open: |key, nonce, aad, sealed| {
            let mut text = vec![STALE; sealed.len() - 16];
            key.open_to(nonce, aad, sealed, &mut text).map_or_else(|e| Err((e, text.clone())), |()| Ok(text.clone()))
        },
    },
    Verbs {
        name: "seal_vec, open_vec",
        seal: |key, nonce, aad, text| key.seal_vec(nonce, aad, text),
        open: |key, nonce, aad, sealed| key.open_vec(nonce, aad, sealed).map_err(|e| (e, vec![0; sealed.len() - 16])),
    },
];

impl Verbs {
    fn seal(&self, key: &Key, nonce: Nonce<'_>, aad: &[u8], text: &[u8]) -> Result<Vec<u8>, Error> {
        (self.seal)(key, nonce, aad, text)
    }

    /// Opens what is no message: that must be an error, and the output must hold no plaintext.
    fn refuse(&self, key: &Key, nonce: Nonce<'_>, aad: &[u8], forged: &[u8]) {
        let (error, output) = (self.open)(key, nonce, aad, forged).expect_err(self.name);
        assert_eq!(error, Error::Unauthentic, "{}", self.name);
        let untouched = self.name.ends_with("verified_first");
        assert_eq!(output, if untouched { split(forged).0 } else { vec![0; forged.len() - 16] }, "{} by {key:?}", self.name);
    }
}

/// F1: no plaintext is left after a forgery of any part. And every pair of verbs agrees with the model.
#[test]
fn f01_no_plaintext_after_a_forgery() {
    let (mut sealed_messages, mut forgeries) = (0, 0);
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
                    sealed_messages += 1;
                    for place in [0, length / 2, length, length + 15] {
                        let mut forged = expected.clone();
                        forged[place] ^= 0x80;
                        verbs.refuse(&key, any(nonce), &aad, &forged);
                    }
                    verbs.refuse(&key, any(nonce), &aad[1..], &expected);
                    verbs.refuse(&key, any(&other_nonce), &aad, &expected);
                    forgeries += 6;
                }
            }
        }
    }
    let keys = 3 * Backend::available().count();
    passed("api::every_verb", sealed_messages, keys * 10 * 3 * 6);
    passed("api::f01_no_plaintext_after_a_forgery", forgeries, keys * 10 * 3 * 6 * 6);
}

/// F2: each bit of the tag counts, in 64 messages.
#[test]
fn f02_every_bit_of_the_tag_counts() {
    let mut flips = 0;
    for key in each_backend(&[9; 32]) {
        for i in 0..64 {
            let (text, nonce) = (bytes(3 * i, 6), bytes(12, i as u64));
            let nonce = Nonce::any(&nonce).unwrap();
            let mut sealed = key.seal_vec(nonce, b"aad", &text).unwrap();
            for bit in 8 * text.len()..8 * sealed.len() {
                sealed[bit / 8] ^= 1 << (bit % 8);
                VERBS.iter().for_each(|verbs| verbs.refuse(&key, nonce, b"aad", &sealed));
                sealed[bit / 8] ^= 1 << (bit % 8);
                flips += 1;
            }
            assert_eq!(key.open_vec(nonce, b"aad", &sealed).unwrap(), text, "the forgeries were flips of a true message");
        }
    }
    passed("api::f02_every_bit_of_the_tag_counts", flips, Backend::available().count() * 64 * 128);
}

/// F2: of all tags of 0 to 32 bytes that begin as the right one, or are the beginning of it, the one of 16 is accepted.
#[test]
fn f02_every_other_length_of_tag_is_refused() {
    let mut refused = 0;
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
                // With a buffer for the text that was sealed, and with one for what is in front of the last 16 bytes, if there are 16.
                let mut out = vec![STALE; length];
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(Error::InvalidLength));
                assert_eq!(out, vec![STALE; length]);
                let mut out = vec![STALE; sealed.len().saturating_sub(16)];
                let error = if sealed.len() < 16 { Error::InvalidLength } else { Error::Unauthentic };
                assert_eq!(key.open_to([1; 12], b"aad", sealed, &mut out), Err(error));
                assert_eq!(out, vec![0; out.len()]);
                refused += 4;
            }
            assert_eq!(key.open_vec([1; 12], b"aad", &longest[..length + 16]).unwrap(), text);
        }
    }
    passed("api::f02_every_other_length_of_tag_is_refused", refused, Backend::available().count() * 4 * 32 * 4);
}

/// F2: a shorter tag is a type of its own. It is the beginning of the tag, each of its bits counts, and no more.
#[test]
fn f02_short_tags() {
    let mut flips = 0;
    for key in each_backend(&[9; 24]) {
        flips += short_tag::<15>(&key) + short_tag::<14>(&key) + short_tag::<13>(&key) + short_tag::<12>(&key);
        #[cfg(feature = "hazmat")]
        (flips += short_tag::<8>(&key) + short_tag::<4>(&key));
    }
    let bytes = 15 + 14 + 13 + 12 + if cfg!(feature = "hazmat") { 8 + 4 } else { 0 };
    passed("api::f02_short_tags", flips, Backend::available().count() * 8 * bytes);
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

/// F3, and the lengths of keys and of buffers: those that are right, of all that were tried; nothing is written for the others.
#[test]
fn f03_wrong_lengths() {
    assert_eq!(Nonce::any(b"").err(), Some(Error::InvalidLength));
    let all = || (0..=64usize).map(|n| vec![0x11; n]);
    let accepted = |verb: &dyn Fn(&[u8]) -> Result<(), Error>| {
        all().filter(|v| verb(v).map_err(|e| assert_eq!(e, Error::InvalidLength)).is_ok()).map(|v| v.len()).collect::<Vec<_>>()
    };
    assert_eq!(accepted(&|key| Key::new(key).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|key| Key::boxed(key).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|key| Key::with_backend(key, Backend::detect()).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|new| Key::aes128(&[1; 16]).rekey(new)), [16, 24, 32]);
    assert_eq!(accepted(&|nonce| Nonce::any(nonce).map(drop)), (1..=64).collect::<Vec<_>>());

    let key = Key::aes128(&[1; 16]);
    let text = [0x22; 20];
    let sealed = key.seal_vec([1; 12], b"", &text).unwrap();
    // Runs `verb` on a buffer of every length; where it refuses, the buffer must be as it was.
    let written = |verb: &dyn Fn(&mut [u8]) -> Result<(), Error>| {
        let verb = |buffer: &[u8]| {
            let mut after = buffer.to_vec();
            verb(&mut after).inspect_err(|_| assert_eq!(after, buffer))
        };
        accepted(&verb)
    };
    assert_eq!(written(&|to| key.seal_detached_to([1; 12], b"", &text, to).map(drop)), [20]);
    assert_eq!(written(&|to| key.seal_to([1; 12], b"", &text, to)), [36]);
    assert_eq!(written(&|to| key.seal_appended([1; 12], b"", to)), (16..=64).collect::<Vec<_>>());
    assert_eq!(written(&|to| key.open_to([1; 12], b"", &sealed, to)), [20]);
    let tag = Tag(*sealed.last_chunk().unwrap());
    assert_eq!(written(&|to| key.open_detached_to([1; 12], b"", &sealed[..20], to, &tag)), [20]);
    passed("api::f03_wrong_lengths", 10 * all().count(), 650);
}

/// F4: the counter is 32 bits and wraps; the other 96 bits of the block stay. Only a nonce that has not 12 bytes gets near the wrap, by
/// chance. Here it is chosen: J0 = (N·H + L)·H for a nonce N of one block and its length L, so N = (J0/H + L)/H.
#[test]
fn f04_counter_wraps_modulo_2_32() {
    let key = [0x4b; 32];
    let model = Model::new(&key);
    let keys: Vec<Key> = each_backend(&key).collect();
    let one_over_h = inverse(model.h());
    let text = bytes(2112, 9);
    let mut messages = 0;
    for k in 0..=130u32 {
        let mut j0: Block = bytes(16, u64::from(k)).try_into().unwrap();
        j0[12..].copy_from_slice(&(u32::MAX - k).to_be_bytes());
        let mut nonce = multiply_blocks(&j0, &one_over_h);
        nonce[15] ^= 128; // L, in bits
        nonce = multiply_blocks(&nonce, &one_over_h);
        assert_eq!(model.j0(&nonce), j0, "the nonce leads where it should");
        // Every length meets every 11th k, and every k every 11th length.
        for length in (k as usize % 11..=text.len()).step_by(11) {
            let (ciphertext, tag) = model.seal_from_j0(&j0, b"aad", &text[..length]);
            for key in &keys {
                let mut buffer = text[..length].to_vec();
                let found = key.seal(Nonce::any(&nonce).unwrap(), b"aad", &mut buffer).unwrap();
                assert_eq!((&buffer, found.0), (&ciphertext, tag), "{key:?}, {k} blocks before the wrap, {length} bytes");
                key.open(Nonce::any(&nonce).unwrap(), b"aad", &mut buffer, &found).unwrap();
                assert_eq!(buffer, text[..length]);
                messages += 1;
            }
        }
    }
    // 2113 lengths, k from 0 to 130: 131 = 11·11 + 10, and 2113 = 192·11 + 1.
    let lengths: usize = (0..=130).map(|k: usize| if k.is_multiple_of(11) { 193 } else { 192 }).sum();
    assert_eq!(lengths, 131 * 192 + 12);
    passed("api::f04_counter_wraps_modulo_2_32", messages, lengths * keys.len());
}

/// 1/x in GF(2^128): x^(2^128 - 2), by squaring.
fn inverse(x: Block) -> Block {
    let (mut power, mut product) = (x, None);
    for _ in 1..128 {
        power = multiply_blocks(&power, &power);
        product = Some(product.map_or(power, |product| multiply_blocks(&product, &power)));
    }
    product.unwrap()
}

fn split(sealed: &[u8]) -> (Vec<u8>, Tag) {
    let (text, tag) = sealed.split_last_chunk().unwrap();
    (text.to_vec(), Tag(*tag))
}

/// A key of each length on each back end, with its model.
fn keys() -> impl Iterator<Item = (Key, Model)> {
    [16, 24, 32].into_iter().flat_map(|n| each_backend(&bytes(n, 10)).map(move |key| (key, Model::new(&bytes(n, 10)))).collect::<Vec<_>>())
}

fn each_backend(key: &[u8]) -> impl Iterator<Item = Key> {
    Backend::available().map(move |backend| Key::with_backend(key, backend).unwrap())
}

/// Says how many cases were checked, and fails unless it was all of them.
fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{name} ok {count}");
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
