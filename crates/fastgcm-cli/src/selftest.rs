//! `fastgcm selftest`: this binary, on this machine, gives the right answers.
//!
//! Three kinds of checks, on every back end that is available: **known answers** from the specification of GCM (McGrew and Viega,
//! test cases 4, 5, 10 and 16) and from files that pyca/cryptography sealed; **agreement**: every back end seals messages of many
//! lengths, and whole files, to the same bytes as the portable one, which shares neither AES nor multiplication with the others, and
//! opens what it sealed; **refusal**: a message with one bit changed is not opened, and leaves zeros.

use crate::{
    acvp, cli,
    failure::{Code, Failure},
    print,
};
use fastgcm::{Nonce, Tag};
use fastgcm_file::{Backend, Format, Key};
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

/// All checks of one back end: how many there were.
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

    /// Messages of many lengths, with AAD of many lengths.
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

    /// A file that other software sealed.
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

    /// Whole files on two threads, to the portable back end and from it.
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

/// Bytes without a pattern that AES-GCM could share: the high bytes of a linear congruential sequence.
fn pattern(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(len)
    .collect()
}

/// Bytes of the longest message that is checked: more than one carry of the counter's second byte.
const LONGEST: usize = 70_000;

/// A test case of the specification. Key, plaintext and AAD are the same in all of them.
struct KnownAnswer {
    key_len: usize,
    nonce: &'static [u8],
    ciphertext: [u8; 60],
    tag: [u8; 16],
}

const KEY: [u8; 32] = [
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08, 0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65,
    0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
];

const PLAINTEXT: [u8; 60] = [
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34,
    0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31, 0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24,
    0x49, 0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39,
];

const AAD: [u8; 20] =
    [0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2];

const NONCE: [u8; 12] = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];

const KNOWN_ANSWERS: &[KnownAnswer] = &[
    // Test case 4: AES-128.
    KnownAnswer {
        key_len: 16,
        nonce: &NONCE,
        ciphertext: [
            0x42, 0x83, 0x1e, 0xc2, 0x21, 0x77, 0x74, 0x24, 0x4b, 0x72, 0x21, 0xb7, 0x84, 0xd0, 0xd4, 0x9c, 0xe3, 0xaa, 0x21, 0x2f, 0x2c,
            0x02, 0xa4, 0xe0, 0x35, 0xc1, 0x7e, 0x23, 0x29, 0xac, 0xa1, 0x2e, 0x21, 0xd5, 0x14, 0xb2, 0x54, 0x66, 0x93, 0x1c, 0x7d, 0x8f,
            0x6a, 0x5a, 0xac, 0x84, 0xaa, 0x05, 0x1b, 0xa3, 0x0b, 0x39, 0x6a, 0x0a, 0xac, 0x97, 0x3d, 0x58, 0xe0, 0x91,
        ],
        tag: [0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb, 0x94, 0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47],
    },
    // Test case 5: AES-128, a nonce of 8 bytes.
    KnownAnswer {
        key_len: 16,
        nonce: NONCE.split_at(8).0,
        ciphertext: [
            0x61, 0x35, 0x3b, 0x4c, 0x28, 0x06, 0x93, 0x4a, 0x77, 0x7f, 0xf5, 0x1f, 0xa2, 0x2a, 0x47, 0x55, 0x69, 0x9b, 0x2a, 0x71, 0x4f,
            0xcd, 0xc6, 0xf8, 0x37, 0x66, 0xe5, 0xf9, 0x7b, 0x6c, 0x74, 0x23, 0x73, 0x80, 0x69, 0x00, 0xe4, 0x9f, 0x24, 0xb2, 0x2b, 0x09,
            0x75, 0x44, 0xd4, 0x89, 0x6b, 0x42, 0x49, 0x89, 0xb5, 0xe1, 0xeb, 0xac, 0x0f, 0x07, 0xc2, 0x3f, 0x45, 0x98,
        ],
        tag: [0x36, 0x12, 0xd2, 0xe7, 0x9e, 0x3b, 0x07, 0x85, 0x56, 0x1b, 0xe1, 0x4a, 0xac, 0xa2, 0xfc, 0xcb],
    },
    // Test case 10: AES-192.
    KnownAnswer {
        key_len: 24,
        nonce: &NONCE,
        ciphertext: [
            0x39, 0x80, 0xca, 0x0b, 0x3c, 0x00, 0xe8, 0x41, 0xeb, 0x06, 0xfa, 0xc4, 0x87, 0x2a, 0x27, 0x57, 0x85, 0x9e, 0x1c, 0xea, 0xa6,
            0xef, 0xd9, 0x84, 0x62, 0x85, 0x93, 0xb4, 0x0c, 0xa1, 0xe1, 0x9c, 0x7d, 0x77, 0x3d, 0x00, 0xc1, 0x44, 0xc5, 0x25, 0xac, 0x61,
            0x9d, 0x18, 0xc8, 0x4a, 0x3f, 0x47, 0x18, 0xe2, 0x44, 0x8b, 0x2f, 0xe3, 0x24, 0xd9, 0xcc, 0xda, 0x27, 0x10,
        ],
        tag: [0x25, 0x19, 0x49, 0x8e, 0x80, 0xf1, 0x47, 0x8f, 0x37, 0xba, 0x55, 0xbd, 0x6d, 0x27, 0x61, 0x8c],
    },
    // Test case 16: AES-256.
    KnownAnswer {
        key_len: 32,
        nonce: &NONCE,
        ciphertext: [
            0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07, 0xf4, 0x7f, 0x37, 0xa3, 0x2a, 0x84, 0x42, 0x7d, 0x64, 0x3a, 0x8c, 0xdc, 0xbf,
            0xe5, 0xc0, 0xc9, 0x75, 0x98, 0xa2, 0xbd, 0x25, 0x55, 0xd1, 0xaa, 0x8c, 0xb0, 0x8e, 0x48, 0x59, 0x0d, 0xbb, 0x3d, 0xa7, 0xb0,
            0x8b, 0x10, 0x56, 0x82, 0x88, 0x38, 0xc5, 0xf6, 0x1e, 0x63, 0x93, 0xba, 0x7a, 0x0a, 0xbc, 0xc9, 0xf6, 0x62,
        ],
        tag: [0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68, 0xcd, 0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b],
    },
];

/// The key 00 01 02 ...
const COUNT: [u8; 32] = [
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
    0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
];

/// "fastgcm" in context "self-test", sealed by pyca/cryptography 50.0.2 under the first bytes of that key.
const FILE_256: &[u8] = &[
    0x83, 0x15, 0x78, 0xbf, 0x3d, 0xcc, 0x18, 0x8d, 0x6f, 0x2f, 0xe6, 0x68, 0xba, 0x35, 0x24, 0xd0, 0x8c, 0x26, 0x92, 0x8e, 0xae, 0x0d,
    0xb9, 0xc4, 0x6b, 0xab, 0xe0, 0xd7, 0xbb, 0x1c, 0xeb, 0xac, 0x37, 0x7d, 0xab, 0xaa, 0xe1, 0x80, 0x28, 0xf7, 0x1b, 0x32, 0x18, 0xcc,
    0x3c, 0x19, 0x84, 0xf9, 0x3b, 0x50, 0x87, 0xd9, 0xae, 0xf1, 0x78, 0x96, 0xac, 0xf5, 0xcd, 0xe5, 0x8e, 0x8a, 0x64, 0x97, 0x60, 0x9f,
    0xd5, 0xe8, 0x28, 0x80, 0x77, 0x3e, 0x6e, 0xd3, 0xb8, 0xee, 0xd3, 0xe7, 0x08,
];

/// "fastgcm" in context "self-test", sealed by pyca/cryptography 50.0.2 under the first bytes of that key.
const FILE_128: &[u8] = &[
    0x51, 0xc9, 0xae, 0x94, 0x07, 0x67, 0x07, 0x34, 0x94, 0x51, 0xd5, 0xc7, 0xd7, 0x7f, 0x47, 0x81, 0x6f, 0x33, 0xb3, 0x24, 0x1c, 0x7a,
    0x1b, 0x4b, 0xea, 0x69, 0x8e, 0x16, 0xaf, 0x6b, 0xc3, 0xc3, 0x2d, 0x4c, 0x4d, 0x44, 0x76, 0x5e, 0x30, 0x71, 0x78, 0x76, 0x27, 0x74,
    0x83, 0x4e, 0x6e, 0x32, 0xcd, 0x7d, 0x31, 0x28, 0x7e, 0xe5, 0x6f, 0x16, 0x7b, 0x96, 0x15, 0xb1, 0xd0, 0x98, 0x97, 0x3e, 0x6d, 0x54,
    0xe7, 0xc3, 0x13, 0x78, 0x10, 0xcd, 0xbb, 0x1f, 0x3b, 0x8e, 0xc0, 0x6f, 0xac,
];

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
