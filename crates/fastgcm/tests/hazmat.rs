//! What feature `hazmat` adds beside tags: AES of blocks, and CTR. (Opening in pieces is in `pieces`.)
#![cfg(feature = "hazmat")]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{
    Backend, Error, Nonce,
    hazmat::{self, Pieces},
};
use fastgcm_model::Model;
use suite::{Random, hex};

/// FIPS 197, appendices B and C: key, block, and what becomes of it.
const EXAMPLES: [(&str, &str, &str); 4] = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f1011121314151617", "00112233445566778899aabbccddeeff", "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
];

#[test]
fn aes_of_blocks() {
    let mut blocks = Tally::default();
    for backend in backends() {
        for (bytes, input, output) in EXAMPLES {
            let (key, mut block) = (key(&hex(bytes), backend), hex(input).try_into().unwrap());
            hazmat::aes_block(&key, &mut block);
            assert_eq!(block[..], hex(output), "{key:?}");
            blocks.add(&key, 1);
        }
        for length in [16, 24, 32] {
            let mut random = Random(length);
            let bytes = random.bytes(length as usize);
            let (key, model) = (key(&bytes, backend), Model::new(&bytes));
            for n in 0..20 {
                let before: Vec<[u8; 16]> = (0..n).map(|_| random.bytes(16).try_into().unwrap()).collect();
                let mut after = before.clone();
                hazmat::aes_blocks(&key, &mut after);
                let expected: Vec<_> = before.iter().map(|block| model.cipher(block)).collect();
                assert_eq!(after, expected, "{key:?}, {n} blocks");
                blocks.add(&key, n);
            }
        }
    }
    blocks.passed("hazmat::aes_of_blocks", 4 + 3 * 190);
}

/// What `open_unverified` and its like for one message give: the text and the tag that were sealed, of any lengths, and the tag of what was not.
#[test]
fn whole_messages_unverified() {
    let mut messages = Tally::default();
    for backend in backends() {
        for length in [16, 24, 32] {
            let mut random = Random(length);
            let bytes = random.bytes(length as usize);
            let key = key(&bytes, backend);
            for n in (0..70).chain([127, 128, 129, 1000, 20_000]) {
                let (nonce, aad, text): ([u8; 12], _, _) = (random.bytes(12).try_into().unwrap(), random.bytes(n % 40), random.bytes(n));
                let mut sealed = text.clone();
                let tag = key.seal(nonce, &aad, &mut sealed).unwrap();
                let mut opened = sealed.clone();
                assert_eq!(hazmat::open_unverified(&key, nonce, &aad, &mut opened).unwrap().0, tag.0, "{key:?}, {n} bytes");
                assert_eq!(opened, text, "{key:?}, {n} bytes");
                assert_eq!(hazmat::open_once_unverified(backend, &bytes, nonce, &aad, &mut sealed).unwrap().0, tag.0, "{key:?}, {n} bytes");
                assert_eq!(sealed, text, "{key:?}, {n} bytes");
                assert_ne!(hazmat::open_unverified(&key, nonce, b"other", &mut sealed).unwrap().0, tag.0, "{key:?}, {n} bytes");
                messages.add(&key, 1);
            }
        }
        let mut text = *b"text";
        assert_eq!(hazmat::open_once_unverified(backend, &[0; 17], [0; 12], b"", &mut text).unwrap_err(), Error::InvalidLength);
        assert_eq!(&text, b"text");
    }
    messages.passed("hazmat::whole_messages_unverified", 3 * 75);
}

/// CTR of every length to several turns; counters that wrap modulo 2^32, in every block of these.
#[test]
fn f04_ctr() {
    let mut texts = Tally::default();
    let bytes = Random(3).bytes(32);
    for (i, model) in [16, 24, 32].map(|length| Model::new(&bytes[..length])).iter().enumerate() {
        let keys: Vec<_> = backends().into_iter().map(|backend| key(&bytes[..16 + 8 * i], backend)).collect();
        let lengths = (0..=300).chain([511, 512, 513, 1100, 3000]);
        for length in lengths {
            let mut random = Random(length as u64);
            let (text, mut counter): (_, [u8; 16]) = (random.bytes(length), random.bytes(16).try_into().unwrap());
            if length % 2 == 1 {
                counter[12..].copy_from_slice(&(u32::MAX - random.below(1 + length / 16) as u32).to_be_bytes());
            }
            let expected = model.gctr(&counter, &text);
            for key in &keys {
                let mut found = text.clone();
                hazmat::ctr(key, &counter, &mut found);
                assert_eq!(found, expected, "{key:?}, {length} bytes from {counter:02x?}");
                texts.add(key, 1);
            }
        }
    }
    texts.passed("hazmat::f04_ctr", 3 * (301 + 5));
}

/// `Pieces` gives what `seal` does and opens it, in pieces of any lengths, and goes on from a duplicate; what is out of order is refused.
#[test]
fn pieces() {
    let mut messages = Tally::default();
    for backend in backends() {
        for case in 0..120 {
            let mut random = Random(case);
            let key = key(&random.bytes([16, 24, 32][case as usize % 3]), backend);
            let nonce = random.bytes([12, 12, 8, 60][case as usize % 4]);
            let nonce = || Nonce::any(&nonce).unwrap();
            let [aad, text] = [60, if case % 10 == 0 { 9000 } else { 300 }].map(|most| {
                let length = random.below(most);
                random.bytes(length)
            });
            let mut ciphertext = text.clone();
            let tag = key.seal(nonce(), &aad, &mut ciphertext).unwrap();
            for seal in [true, false] {
                let (from, to) = if seal { (&text, &ciphertext) } else { (&ciphertext, &text) };
                let mut found = from.clone();
                let mut pieces = Pieces::new(&key, nonce());
                let cut = random.below(aad.len() + 1);
                pieces.aad(&key, &aad[..cut]).unwrap();
                pieces.aad(&key, &aad[cut..]).unwrap();
                let mut at = 0;
                loop {
                    let n = random.below(found.len() - at + 1);
                    let (piece, other) = (&mut found[at..at + n], &from[at..at + n]);
                    match (seal, n.is_multiple_of(2)) {
                        (true, true) => pieces.seal(&key, piece),
                        (true, false) => pieces.seal_to(&key, other, piece),
                        (false, true) => pieces.open(&key, piece),
                        (false, false) => pieces.open_to(&key, other, piece),
                    }
                    .unwrap();
                    at += n;
                    assert_eq!(pieces.aad(&key, b""), Err(Error::OutOfOrder));
                    pieces = pieces.duplicate();
                    if at == found.len() {
                        break;
                    }
                }
                assert!(found == *to, "{key:?}, case {case}");
                let (same, short) = (&mut pieces.duplicate(), &tag.0[..[4, 8, 12, 13, 14, 15, 16][case as usize % 7]]);
                assert_eq!(pieces.finish(&key).unwrap().0, tag.0, "{key:?}, case {case}");
                assert!((0..20).filter(|n| !matches!(n, 4 | 8 | 12..=16)).all(|n| same.verify(&key, &[0; 20][..n]).is_err()));
                let mut forged = short.to_vec();
                forged[random.below(short.len())] ^= 1 << random.below(8);
                assert_eq!(same.duplicate().verify(&key, &forged), Err(Error::Unauthentic));
                assert_eq!(same.verify(&key, short), Ok(()));
                assert_eq!(same.verify(&key, short), Err(Error::OutOfOrder));
                assert_eq!(pieces.seal(&key, &mut []).and(pieces.open(&key, &mut [])), Err(Error::OutOfOrder));
                messages.add(&key, 1);
            }
        }
        // A piece that is refused is not taken: AAD goes on behind it.
        let (mine, mut text) = (key(&[1; 16], backend), *b"text");
        let tag = mine.seal([0; 12], b"aad", &mut text).unwrap();
        for seal in [true, false] {
            let (mut pieces, mut written) = (Pieces::new(&mine, [0; 12]), [7; 5]);
            for (i, piece) in [b"a", b"a", b"d"].into_iter().enumerate() {
                pieces.aad(&mine, piece).unwrap();
                let refused =
                    if seal { pieces.seal_to(&mine, b"text", &mut written) } else { pieces.open_to(&mine, b"text", &mut written) };
                assert_eq!((refused, written), (Err(Error::InvalidLength), [7; 5]), "{mine:?}, behind {} pieces of AAD", i + 1);
            }
            let mut piece = if seal { *b"text" } else { text };
            if seal { pieces.seal(&mine, &mut piece) } else { pieces.open(&mine, &mut piece) }.unwrap();
            assert_eq!((piece, pieces.finish(&mine).unwrap()), (if seal { text } else { *b"text" }, tag), "{mine:?}");
            messages.add(&mine, 1);
        }
        let [mine, other] = [backend, Backend::Portable].map(|backend| key(&[1; 16], backend));
        let mut pieces = Pieces::new(&mine, [0; 12]);
        let mut text = *b"untouched";
        let refused = pieces.aad(&other, b"a").and(pieces.seal(&other, &mut text));
        assert_eq!(refused == Err(Error::OutOfOrder) && text == *b"untouched", backend != Backend::Portable);
    }
    messages.passed("hazmat::pieces", 242);
}
