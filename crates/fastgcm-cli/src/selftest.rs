//! `fastgcm selftest`: this binary, on this machine, gives the right answers.
//!
//! There are three kinds of checks, on every available back end. **Known answers** come from the specification of GCM (McGrew and Viega,
//! test cases 4, 5, 10 and 16) and from files that pyca/cryptography sealed. **Agreement**: every back end seals messages of many lengths,
//! and whole files, to the bytes of the portable back end, which shares neither AES nor multiplication with the others, and opens what it
//! sealed. **Refusal**: a message with one changed bit is not opened, and leaves zeros.

use crate::{
    acvp, cli,
    failure::{Code, Failure},
    print,
};
use fastgcm::{Nonce, Tag};
use fastgcm_file::{Backend, Format, Key};
use hex_literal::hex;
use std::num::NonZero;

/// Checks all back ends of this machine.
pub(crate) fn run(args: &cli::Selftest) -> Result<(), Failure> {
    if let (Some(prompt), Some(expected)) = (&args.acvp, &args.expected) {
        return acvp::run(prompt, expected, args.quiet);
    }
    let mut report = String::new();
    let mut total = 0;
    for backend in Backend::available() {
        let checks = check(backend, KNOWN_ANSWERS)?;
        total += checks;
        report += &format!("{backend:<13}  {checks} checks ok\n");
    }
    report += &format!("selftest ok {total}\n");
    if args.quiet { Ok(()) } else { print(report) }
}

/// Runs all checks of one back end. Returns how many there were.
fn check(backend: Backend, known_answers: &[KnownAnswer]) -> Result<u64, Failure> {
    let mut checks = Checks { backend, done: 0 };
    for answer in known_answers {
        checks.known_answer(answer)?;
    }
    for key_len in [16, 24, 32] {
        checks.messages(key_len)?;
    }
    for &format in Format::ALL {
        checks.known_file(format)?;
        checks.files(format)?;
    }
    Ok(checks.done)
}

struct Checks {
    backend: Backend,
    done: u64,
}

impl Checks {
    fn known_answer(&mut self, answer: &KnownAnswer) -> Result<(), Failure> {
        let key = self.key(&KEY[..answer.key_len], self.backend)?;
        let nonce = Nonce::any(answer.nonce).map_err(|error| self.wrong(error))?;
        let mut text = PLAINTEXT;
        let tag = key.seal(nonce, &AAD, &mut text).map_err(|error| self.wrong(error))?;
        self.expect(text == answer.ciphertext && tag.0 == answer.tag, "known answer, seal")?;
        let opened = key.open(nonce, &AAD, &mut text, &Tag(answer.tag));
        self.expect(opened.is_ok() && text == PLAINTEXT, "known answer, open")
    }

    /// Checks messages of many lengths, with AAD of many lengths.
    fn messages(&mut self, key_len: usize) -> Result<(), Failure> {
        let keys = (self.key(&KEY[..key_len], self.backend)?, self.key(&KEY[..key_len], Backend::Portable)?);
        let text = pattern(LONGEST);
        let (mut ours, mut portable, mut opened) = (vec![0; LONGEST + 16], vec![0; LONGEST + 16], vec![0; LONGEST]);
        for len in (0..=600).chain([1023, 1024, 1025, 4095, 4096, 4097, 16384, LONGEST]) {
            let (text, aad) = (&text[..len], &text[..len % 37]);
            let (ours, portable, opened) = (&mut ours[..len + 16], &mut portable[..len + 16], &mut opened[..len]);
            let nonce = [len as u8; 12];
            let sealed = keys.0.seal_to(nonce, aad, text, ours).and(keys.1.seal_to(nonce, aad, text, portable));
            self.expect(sealed.is_ok() && ours == portable, "seal as the portable back end")?;
            let result = keys.0.open_to(nonce, aad, portable, opened);
            self.expect(result.is_ok() && opened == text, "open what the portable back end sealed")?;
            let bit = len * 7 % (8 * ours.len());
            ours[bit / 8] ^= 1 << (bit % 8);
            let result = keys.0.open_to(nonce, aad, ours, opened);
            self.expect(result.is_err() && opened.iter().all(|byte| *byte == 0), "refuse a changed message")?;
        }
        Ok(())
    }

    /// Checks a file that other software sealed.
    fn known_file(&mut self, format: Format) -> Result<(), Failure> {
        let key = self.file_key(format, &COUNT[..format.key_len()], self.backend)?;
        let sealed = match format {
            Format::Cobblestone128 => FILE_128,
            _ => FILE_256,
        };
        let mut text = Vec::new();
        let opened = fastgcm_file::open(&key, b"self-test", sealed, &mut text, NonZero::<usize>::MIN);
        self.expect(opened.is_ok() && text == b"fastgcm", "open a known file")?;
        let refused = fastgcm_file::open(&key, b"self-test", &sealed[..sealed.len() - 1], &mut text, NonZero::<usize>::MIN);
        self.expect(refused.is_err(), "refuse a truncated file")
    }

    /// Checks whole files on two threads, to the portable back end and from it.
    fn files(&mut self, format: Format) -> Result<(), Failure> {
        let ours = self.file_key(format, &KEY[..format.key_len()], self.backend)?;
        let portable = self.file_key(format, &KEY[..format.key_len()], Backend::Portable)?;
        let threads = NonZero::<usize>::MIN.saturating_add(1);
        for len in [0, 1, 16383, 16384, 16385, 300_000] {
            let text = pattern(len);
            for (sealer, opener) in [(&ours, &portable), (&portable, &ours)] {
                let (mut sealed, mut opened) = (Vec::new(), Vec::new());
                let result = fastgcm_file::seal(sealer, b"", &text[..], &mut sealed, threads)
                    .and_then(|_| fastgcm_file::open(opener, b"", &sealed[..], &mut opened, threads));
                self.expect(result.is_ok() && opened == text, "a file from one back end to another")?;
                let middle = sealed.len() / 2;
                sealed[middle] ^= 1;
                let result = fastgcm_file::open(opener, b"", &sealed[..], Vec::new(), threads);
                self.expect(result.is_err(), "refuse a changed file")?;
            }
        }
        Ok(())
    }

    fn key(&self, bytes: &[u8], backend: Backend) -> Result<fastgcm::Key, Failure> {
        fastgcm::Key::with_backend(bytes, backend).map_err(|error| self.wrong(error))
    }

    fn file_key(&self, format: Format, bytes: &[u8], backend: Backend) -> Result<Key, Failure> {
        Key::new(format, bytes).and_then(|key| key.with_backend(backend)).map_err(|error| self.wrong(error))
    }

    fn expect(&mut self, right: bool, what: &str) -> Result<(), Failure> {
        self.done += 1;
        if right { Ok(()) } else { Err(self.wrong(what)) }
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Failure {
        let Self { backend, done } = self;
        Failure::new(Code::SelfTest, format_args!("SELF-TEST FAILED: back end {backend}, check {done}: {what}. Do not use this machine"))
    }
}

/// Returns bytes without a pattern that AES-GCM could share: the high bytes of a linear congruential sequence.
fn pattern(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(len)
    .collect()
}

/// The length in bytes of the longest checked message: more than one carry of the counter's second byte.
const LONGEST: usize = 70_000;

/// A test case of the specification. All test cases share key, plaintext and AAD.
struct KnownAnswer {
    key_len: usize,
    nonce: &'static [u8],
    ciphertext: [u8; 60],
    tag: [u8; 16],
}

const KEY: [u8; 32] = hex!("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
const PLAINTEXT: [u8; 60] =
    hex!("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
const AAD: [u8; 20] = hex!("feedfacedeadbeeffeedfacedeadbeefabaddad2");
const NONCE: [u8; 12] = hex!("cafebabefacedbaddecaf888");

const KNOWN_ANSWERS: &[KnownAnswer] = &[
    // Test case 4: AES-128.
    KnownAnswer {
        key_len: 16,
        nonce: &NONCE,
        ciphertext: hex!(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
        ),
        tag: hex!("5bc94fbc3221a5db94fae95ae7121a47"),
    },
    // Test case 5: AES-128, a nonce of 8 bytes.
    KnownAnswer {
        key_len: 16,
        nonce: NONCE.split_at(8).0,
        ciphertext: hex!(
            "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598"
        ),
        tag: hex!("3612d2e79e3b0785561be14aaca2fccb"),
    },
    // Test case 10: AES-192.
    KnownAnswer {
        key_len: 24,
        nonce: &NONCE,
        ciphertext: hex!(
            "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710"
        ),
        tag: hex!("2519498e80f1478f37ba55bd6d27618c"),
    },
    // Test case 16: AES-256.
    KnownAnswer {
        key_len: 32,
        nonce: &NONCE,
        ciphertext: hex!(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        ),
        tag: hex!("76fc6ece0f4e1768cddf8853bb2d551b"),
    },
];

/// The key 00 01 02 ...
const COUNT: [u8; 32] = hex!("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");

/// "fastgcm" in context "self-test", sealed by pyca/cryptography 50.0.2 under the first bytes of that key.
const FILE_256: &[u8] = &hex!(
    "831578bf3dcc188d6f2fe668ba3524d08c26928eae0db9c46babe0d7bb1cebac377dabaae18028f71b3218cc3c1984f93b5087d9aef17896acf5cde5"
    "8e8a6497609fd5e82880773e6ed3b8eed3e708"
);

/// "fastgcm" in context "self-test", sealed by pyca/cryptography 50.0.2 under the first bytes of that key.
const FILE_128: &[u8] = &hex!(
    "51c9ae94076707349451d5c7d77f47816f33b3241c7a1b4bea698e16af6bc3c32d4c4d44765e307178762774834e6e32cd7d31287ee56f167b9615b1"
    "d098973e6d54e7c3137810cdbb1f3b8ec06fac"
);

#[cfg(test)]
mod tests {
    use super::*;

    /// The self-test can fail, and says which back end it was.
    #[test]
    fn a_wrong_answer_is_noticed() {
        for backend in Backend::available() {
            for byte in 0..76 {
                let mut answer = KnownAnswer { nonce: &NONCE, ..KNOWN_ANSWERS[3] };
                match byte {
                    0..60 => answer.ciphertext[byte] ^= 1,
                    _ => answer.tag[byte - 60] ^= 1,
                }
                let failure = check(backend, &[answer]).unwrap_err();
                assert_eq!(failure.code(), Code::SelfTest);
                assert!(format!("{failure:?}").contains(backend.name()));
            }
        }
    }
}
