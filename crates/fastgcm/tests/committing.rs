//! Schemes that derive a key for each message, and commit to their root key or not: vectors, random messages beside the model, forgeries, and a message that
//! opens under two keys.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
#[cfg(feature = "draft")]
use fastgcm::draft::{DndkGcm12, DndkGcm24, KcDndkGcm12, KcDndkGcm24};
use fastgcm::{Backend, CommittingTag, Error, KcXaes256Gcm, RootKey, Scheme, Tag, Xaes256Gcm};
#[cfg(feature = "draft")]
use fastgcm_model::dndk;
use fastgcm_model::{Model, multiply_blocks, xaes};
use suite::{Random, emulated, full, hex};

#[cfg(feature = "draft")]
const ROOT: [u8; 32] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// 0, 1, 2 ...
fn counting<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| i as u8)
}

/// The draft's vectors (draft-gueron-cfrg-dndkgcm-04, appendix A). Those with a commitment are computed: by the model here, and once by another program.
#[cfg(feature = "draft")]
#[test]
fn vectors_of_the_draft() {
    fn check<S: Scheme>(backend: Backend, nonce: &S::Nonce, sealed: &str) {
        let key = RootKey::<S>::with_backend(&ROOT, backend).unwrap();
        let (aad, text) = (hex("0100000011"), hex("11000001"));
        assert_eq!(key.seal_vec(nonce, &aad, &text).unwrap(), hex(sealed), "{key:?}");
        assert_eq!(key.open_vec(nonce, &aad, &hex(sealed)).unwrap(), text, "{key:?}");
    }
    let mut done = Tally::default();
    for backend in backends() {
        check::<fastgcm::draft::Dndk<24, false>>(backend, &counting(), "7f6e39ccb61df0a502c167164e99fa23b7d12b9d");
        check::<fastgcm::draft::Dndk<12, false>>(backend, &counting(), "b95cf25839e74511d997eaafd0f567d13758305b");
        check::<fastgcm::draft::Dndk<24, true>>(
            backend,
            &counting(),
            "8eee8a4b8a1c8d0ceb7e07e3c834cafe75aa001f2baf00efd298de13055c9a6c39e05aee571583384357635e144fa21444239968",
        );
        check::<fastgcm::draft::Dndk<12, true>>(
            backend,
            &counting(),
            "1915d0bd187b392eeb9b231a57a852db20e02201675fb3ec6d0e56002333c2504d1b70db47c3713775999c9600bedcfda76f8d8c",
        );
        done.add(&key(&[0; 32], backend), 4);
    }
    done.passed("committing::vectors_of_the_draft", 4);
}

/// KC-XAES-256-GCM has no published vectors. These are its specification's formula by this library, by the model, and by a CMAC of somebody else's
/// (`interop/tests/peers.rs`).
#[test]
fn known_answers_of_kc_xaes() {
    let mut done = Tally::default();
    for backend in backends() {
        for (byte, aad, sealed) in KC_XAES {
            let key = KcXaes256Gcm::with_backend(&[byte; 32], backend).unwrap();
            let found = key.seal_vec(b"ABCDEFGHIJKLMNOPQRSTUVWX", aad.as_bytes(), b"XAES-256-GCM").unwrap();
            assert_eq!(found, hex(sealed), "{key:?}");
            // Key, ciphertext and tag are those of XAES-256-GCM.
            let plain = Xaes256Gcm::with_backend(&[byte; 32], backend).unwrap();
            assert_eq!(found[..28], plain.seal_vec(b"ABCDEFGHIJKLMNOPQRSTUVWX", aad.as_bytes(), b"XAES-256-GCM").unwrap());
        }
        done.add(&key(&[0; 32], backend), KC_XAES.len());
    }
    done.passed("committing::known_answers_of_kc_xaes", KC_XAES.len());
}

const KC_XAES: [(u8, &str, &str); 2] = [
    (1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e227104076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3"),
    (
        3,
        "c2sp.org/XAES-256-GCM",
        "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1",
    ),
];

/// What the model seals, and its commitment.
type Sealed = ((Vec<u8>, [u8; 16]), [u8; 32]);

/// A call of each kind is right; with any part altered it is refused, with one error and a wiped buffer.
fn check<S: Scheme>(
    key: &RootKey<S>,
    nonce: &S::Nonce,
    [aad, text]: [&[u8]; 2],
    ((ciphertext, tag), commitment): &Sealed,
    random: &mut Random,
) {
    let expected = [&ciphertext[..], tag, commitment].concat();
    let mut sealed = vec![0; text.len() + size_of::<S::Tag>()];
    key.seal_to(nonce, aad, text, &mut sealed).unwrap();
    assert_eq!(sealed, expected[..sealed.len()], "{key:?}");
    let mut opened = sealed.clone();
    assert_eq!(key.open_appended(nonce, aad, &mut opened).unwrap(), text);
    // What is shorter than a tag is no message, by whatever function.
    let short = &expected[..random.below(size_of::<S::Tag>())];
    assert_eq!(key.open_to(nonce, aad, short, &mut opened).err(), Some(Error::Unauthentic), "{key:?}");
    assert_eq!(key.open_vec(nonce, aad, short).err(), Some(Error::Unauthentic), "{key:?}");
    assert_eq!(key.open_appended(nonce, aad, &mut short.to_vec()).err(), Some(Error::Unauthentic), "{key:?}");

    let (mut nonce, mut aad) = (*nonce, aad.to_vec());
    let (forged, end) = sealed.split_at_mut(text.len());
    let (of_tag, of_commitment) = end.split_at_mut(16);
    let mut parts =
        [of_tag, of_commitment, nonce.as_mut(), &mut aad, &mut *forged].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let part = random.below(parts.len());
    let byte = random.below(parts[part].len());
    parts[part][byte] ^= 1 << random.below(8);
    assert_eq!(key.open_appended(&nonce, &aad, &mut sealed).err(), Some(Error::Unauthentic), "{key:?}, part {part}, byte {byte}");
    assert!(sealed[..text.len()].iter().all(|&byte| byte == 0), "{key:?}");
}

/// F1: random calls of each scheme are those of the model, and forgeries are refused.
#[test]
fn f01_random_calls_agree_with_the_model() {
    let (mut done, schemes) = (Tally::default(), if cfg!(feature = "draft") { 5 } else { 1 });
    let calls = |backend| match (full(), emulated()) {
        (true, false) if backend == Backend::detect() => 1_000_000,
        (_, false) => 500,
        (_, true) => 20,
    };
    for backend in backends() {
        let mut random = Random(11);
        for _ in 0..calls(backend) {
            let (root, nonce): ([u8; 32], [u8; 24]) = (random.array(), random.array());
            let (n, m) = (random.below(40), random.below(70));
            let (aad, text) = (random.bytes(n), random.bytes(m));
            let parts = [&aad[..], &text];
            let key = KcXaes256Gcm::with_backend(&root, backend).unwrap();
            check(&key, &nonce, parts, &(xaes::seal(&root, &nonce, &aad, &text), xaes::commitment(&root, &nonce)), &mut random);
            #[cfg(feature = "draft")]
            {
                let short: &[u8; 12] = nonce.first_chunk().unwrap();
                macro_rules! dndk {
                    ($key:ident, $nonce:expr, $commits:literal) => {
                        let key = $key::with_backend(&root, backend).unwrap();
                        let sealed = dndk::seal(&root, $nonce, $commits, &aad, &text);
                        check(&key, $nonce, parts, &(sealed, dndk::derive(&root, $nonce, $commits).1), &mut random);
                    };
                }
                dndk!(DndkGcm24, &nonce, false);
                dndk!(KcDndkGcm24, &nonce, true);
                dndk!(DndkGcm12, short, false);
                dndk!(KcDndkGcm12, short, true);
            }
        }
        done.add(&key(&[0; 32], backend), schemes * calls(backend));
    }
    done.passed_by("committing::f01_random_calls_agree_with_the_model", |backend| schemes * calls(backend));
}

/// A ciphertext of one block and its tag that open under two keys of AES-GCM with this nonce: c H^2 + L H + AES(J0) is the tag for both H, which is an
/// equation with one unknown, c.
fn under_both(keys: [[u8; 32]; 2], nonce: &[u8; 12]) -> ([u8; 16], [u8; 16]) {
    let add = |a: [u8; 16], b: [u8; 16]| std::array::from_fn(|i| a[i] ^ b[i]);
    let lengths = (128_u128).to_be_bytes();
    let [one, two] = keys.map(|key| {
        let model = Model::new(&key);
        let (h, mask) = (model.h(), model.cipher(&model.j0(nonce)));
        (multiply_blocks(&h, &h), add(multiply_blocks(&lengths, &h), mask))
    });
    let (squares, rest) = (add(one.0, two.0), add(one.1, two.1));
    // 1/x is x to the power 2^128 - 2.
    let mut inverse = squares;
    for _ in 0..126 {
        inverse = multiply_blocks(&multiply_blocks(&inverse, &inverse), &squares);
    }
    let ciphertext = multiply_blocks(&rest, &multiply_blocks(&inverse, &inverse));
    (ciphertext, add(multiply_blocks(&ciphertext, &one.0), one.1))
}

/// Somebody who knows two keys makes a message that opens under both, unless the scheme commits to its key.
#[test]
fn f01_no_message_opens_under_two_keys_that_commit() {
    let mut done = Tally::default();
    let (roots, nonce) = ([[1; 32], [2; 32]], counting::<24>());
    for backend in backends() {
        let refused = Err(Error::Unauthentic);
        // XAES-256-GCM accepts it. With the commitment of either key the other refuses it.
        let (ciphertext, tag) = under_both(roots.map(|root| xaes::derive(&root, &nonce)), nonce.last_chunk().unwrap());
        for root in roots {
            let plain = Xaes256Gcm::with_backend(&root, backend).unwrap();
            assert_eq!(plain.open(&nonce, b"", &mut ciphertext.clone(), &Tag(tag)), Ok(()), "{plain:?}");
            let commits = KcXaes256Gcm::with_backend(&root, backend).unwrap();
            for named in roots {
                let tag = CommittingTag::try_from(&[&tag[..], &xaes::commitment(&named, &nonce)].concat()[..]).unwrap();
                let opened = commits.open(&nonce, b"", &mut ciphertext.clone(), &tag);
                assert_eq!(opened, if named == root { Ok(()) } else { refused }, "{commits:?}");
            }
        }
        // And so does DNDK-GCM. With a commitment it derives other keys.
        #[cfg(feature = "draft")]
        for commits in [false, true] {
            let derived = roots.map(|root| dndk::derive(&root, &nonce, commits));
            let (ciphertext, tag) = under_both(derived.map(|derived| derived.0), &derived[0].2);
            for (i, root) in roots.iter().enumerate() {
                let mut text = ciphertext;
                if !commits {
                    let plain = DndkGcm24::with_backend(root, backend).unwrap();
                    assert_eq!(plain.open(&nonce, b"", &mut text, &Tag(tag)), Ok(()), "{plain:?}");
                    continue;
                }
                let key = KcDndkGcm24::with_backend(root, backend).unwrap();
                for (j, derived) in derived.iter().enumerate() {
                    let tag = CommittingTag::try_from(&[&tag[..], &derived.1].concat()[..]).unwrap();
                    assert_eq!(key.open(&nonce, b"", &mut ciphertext.clone(), &tag), if i == j { Ok(()) } else { refused }, "{key:?}");
                }
            }
        }
        done.add(&key(&[0; 32], backend), 1);
    }
    done.passed("committing::f01_no_message_opens_under_two_keys_that_commit", 1);
}
