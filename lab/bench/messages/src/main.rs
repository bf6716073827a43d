//! `messages WHO VERB,KEY BYTES,TEXT BYTES...` does that once, between two calls of `marker`, for each argument: `cargo xtask cross --counts`
//! counts the instructions between them. WHO is one of fastgcm's back ends, `ring`, `aws-lc`, or
//! `aws-lc-8x` (as on Neoverse V1 and later); the verbs are `seal` and `open`.
//!
//! For all alike: the key is ready, the text is transformed in place, the nonce has 12 bytes, the AAD 13 (as in TLS 1.2), the tag stands
//! apart, and the same message has gone before, so that nothing is counted that is done only once.

mod aws_lc;

use fastgcm::{Backend, Key};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::{hint::black_box, process::ExitCode};

const NONCE: [u8; 12] = [1; 12];
const AAD: [u8; 13] = [2; 13];

/// A key of one of them.
trait Messages {
    /// Returns the tag.
    fn seal(&self, text: &mut [u8]) -> [u8; 16];
    /// Whether the tag was right.
    fn open(&self, text: &mut [u8], tag: &[u8; 16]) -> bool;
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = arguments.split_first().and_then(|(who, cases)| cases.iter().try_for_each(|case| run(who, case)));
    if done.is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("messages: cannot do {arguments:?}");
    ExitCode::FAILURE
}

fn run(who: &str, case: &str) -> Option<()> {
    let mut words = case.split(',');
    let (verb, key, length) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let key = [7; 32].get(..key)?.to_owned();
    let theirs: Box<dyn Messages> = match who {
        "ring" => {
            let algorithm = if key.len() == 16 { &AES_128_GCM } else { &AES_256_GCM };
            Box::new(LessSafeKey::new(UnboundKey::new(algorithm, &key).ok()?))
        }
        "aws-lc-8x" => {
            aws_lc::on_neoverse_v1();
            Box::new(aws_lc::Key::new(&key)?)
        }
        "aws-lc" => Box::new(aws_lc::Key::new(&key)?),
        _ => Box::new(Key::with_backend(&key, who.parse::<Backend>().ok()?).ok()?),
    };
    let plaintext = vec![3; length];
    let mut text = plaintext.clone();
    let tag = theirs.seal(&mut text); // and all that is done only once
    let ciphertext = text.clone();
    match verb {
        "seal" => {
            text.copy_from_slice(&plaintext);
            marker();
            let again = theirs.seal(&mut text);
            marker();
            (again == tag && text == ciphertext).then_some(())?;
        }
        "open" => {
            theirs.open(&mut text, &tag).then_some(())?;
            text.copy_from_slice(&ciphertext);
            marker();
            let right = theirs.open(&mut text, &tag);
            marker();
            (right && text == plaintext).then_some(())?;
        }
        _ => return None,
    }
    // All of them must have done the same.
    let mut by_fastgcm = plaintext;
    let expected = Key::new(&key).ok()?.seal(NONCE, &AAD, &mut by_fastgcm).ok()?;
    (by_fastgcm == ciphertext && expected.0 == tag).then_some(())
}

impl Messages for Key {
    fn seal(&self, text: &mut [u8]) -> [u8; 16] {
        self.seal(NONCE, &AAD, text).expect("no text is too long here").0
    }

    fn open(&self, text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.open(NONCE, &AAD, text, &fastgcm::Tag(*tag)).is_ok()
    }
}

impl Messages for LessSafeKey {
    fn seal(&self, text: &mut [u8]) -> [u8; 16] {
        let tag = self.seal_in_place_separate_tag(Nonce::assume_unique_for_key(NONCE), Aad::from(AAD), text);
        tag.expect("no text is too long here").as_ref().try_into().expect("16 bytes")
    }

    fn open(&self, text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.open_in_place_separate_tag(Nonce::assume_unique_for_key(NONCE), Aad::from(AAD), (*tag).into(), text, 0..).is_ok()
    }
}

/// Where counting begins and ends, found by its name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn marker() {
    black_box(());
}
