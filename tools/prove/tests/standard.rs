//! Tests the prover's standards (`spec.rs`) against NIST's answers and `lab/model`, which was written independently from the documents
//! over bytes, and computes its S-box by itself. The prover's is evaluated with all bits as numbers, which are points like any others.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use fastgcm_model as model;
use gcm_prove::{
    spec::{self, Gcm},
    values::{
        field::{Block, Byte, bytes, numbers},
        random::{Random, drawn},
        unknown::Unknown,
    },
};

fn block(of: &[u8]) -> Block {
    bytes(of).try_into().unwrap()
}

fn certain(of: &[Byte]) -> Vec<u8> {
    numbers(of).expect("of numbers come numbers")
}

/// The output text, and the tag.
fn run(key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8], opens: bool) -> (Vec<u8>, Vec<u8>) {
    let mut unknown = Unknown::new(1);
    let given = opens.then(|| block(&[0; 16]));
    let gcm = Gcm::new(&mut unknown, &bytes(key));
    let (other, tag) = gcm.run(&mut unknown, &bytes(nonce), &bytes(aad), &bytes(text), given.as_ref());
    (certain(&other), certain(&tag))
}

fn hexadecimal(word: &str) -> Vec<u8> {
    let digits = if word == "-" { "" } else { word };
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn answers_of_nist() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/cavp_gcm_sample.txt");
    let (mut count, mut refused) = (0, 0);
    for line in std::fs::read_to_string(sample).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let &[verb, key, nonce, aad, plaintext, ciphertext, tag] = &words[..] else { panic!("{line}") };
        let [key, nonce, aad, ciphertext, tag] = [key, nonce, aad, ciphertext, tag].map(hexadecimal);
        count += 1;
        let made = if verb == "encrypt" {
            let (other, made) = run(&key, &nonce, &aad, &hexadecimal(plaintext), false);
            assert_eq!(other, ciphertext, "{line}");
            made
        } else {
            let (other, made) = run(&key, &nonce, &aad, &ciphertext, true);
            if plaintext == "FAIL" {
                assert_ne!(made[..tag.len()], tag, "{line}");
                refused += 1;
                continue;
            }
            assert_eq!(other, hexadecimal(plaintext), "{line}");
            made
        };
        assert_eq!(made[..tag.len()], tag, "{line}");
    }
    assert_eq!((count, refused), (504, 128));
    println!("proof::standard_of_nist ok {count}");
}

/// A wrong entry of the S-box changes a round key.
#[test]
fn each_entry_of_the_s_box() {
    for entry in 0..=255 {
        let key = [entry; 16];
        let keys = spec::expand(&mut Unknown::new(1), &bytes(&key));
        assert_eq!(keys.iter().map(|key| certain(key)).collect::<Vec<_>>(), model::key_expansion(&key), "{entry:#x}");
    }
    println!("proof::s_box ok 256");
}

#[test]
fn another_text() {
    let seed = drawn().unwrap();
    let mut random = Random::new(seed, 0);
    let mut string = |n: usize| -> Vec<u8> { (0..n).map(|_| random.word() as u8).collect() };
    let mut count = 0;
    for n in 0..120 {
        let (key, nonce) = (string([16, 24, 32][n % 3]), string([12, 12, 8, 16, 1, 33, 60][n % 7]));
        let (aad, text) = (string(n * 7 % 50), string(n * n % 300));
        let about = format!("seed {seed}, message {n}");
        let (ciphertext, tag) = model::seal(&key, &nonce, &aad, &text);
        assert_eq!(run(&key, &nonce, &aad, &text, false), (ciphertext.clone(), tag.to_vec()), "{about}");
        assert_eq!(run(&key, &nonce, &aad, &ciphertext, true), (text.clone(), tag.to_vec()), "{about}");
        // The counter's 32 bits wrap.
        let mut unknown = Unknown::new(1);
        let mut j0: [u8; 16] = string(16).try_into().unwrap();
        j0[12..].copy_from_slice(&[0xff, 0xff, 0xff, 0xf0 + n as u8 % 16]);
        let gcm = Gcm::new(&mut unknown, &bytes(&key));
        let first = Gcm::inc32(&mut unknown, &block(&j0), 1);
        let model_key = model::Model::new(&key);
        assert_eq!(certain(&gcm.ctr(&mut unknown, &first, &bytes(&text))), model_key.seal_from_j0(&j0, &[], &text).0, "{about}");
        let certain_pair = |(text, tag): spec::Answer| (certain(&text), certain(&tag));
        // Algorithms based on AES-GCM: RFC 8452, XAES-256-GCM, commitments, DNDK-GCM.
        let nonce: [u8; 12] = string(12).try_into().unwrap();
        let (ciphertext, tag) = model::siv::seal(&key, &nonce, &aad, &text);
        let found = spec::siv(&mut unknown, &bytes(&key), &bytes(&nonce), &bytes(&aad), &bytes(&text), None);
        assert_eq!(certain_pair(found), (ciphertext.clone(), tag.to_vec()), "{about}");
        let found = spec::siv(&mut unknown, &bytes(&key), &bytes(&nonce), &bytes(&aad), &bytes(&ciphertext), Some(&block(&tag)));
        assert_eq!(certain_pair(found), (text.clone(), tag.to_vec()), "{about}");
        let (key, nonce): ([u8; 32], [u8; 24]) = (string(32).try_into().unwrap(), string(24).try_into().unwrap());
        let (ciphertext, tag) = model::xaes::seal(&key, &nonce, &aad, &text);
        let found = spec::xaes(&mut unknown, &bytes(&key), &bytes(&nonce), &bytes(&aad), &bytes(&text), None);
        assert_eq!(certain_pair(found), (ciphertext, tag.to_vec()), "{about}");
        let commitment = spec::xaes_commitment(&mut unknown, &bytes(&key), &bytes(&nonce));
        assert_eq!(certain(&commitment), model::xaes::commitment(&key, &nonce), "{about}");
        let (nonce, commits) = (string(12 + n % 16), n % 2 == 1);
        let (derived, commitment, tail) = model::dndk::derive(&key, &nonce, commits);
        let commitment = if commits { commitment.to_vec() } else { Vec::new() };
        let found = spec::dndk(&mut unknown, &bytes(&key), &bytes(&nonce), commits);
        let found = (certain(&found.0), certain(&found.1), certain(&found.2));
        assert_eq!(found, (derived.to_vec(), commitment, tail.to_vec()), "{about}");
        count += 8;
    }
    println!("proof::another_text ok {count}");
}
