//! Runs one message with many secrets, each between two calls of `marker`. The executed instructions and the accessed memory must not depend
//! on the secrets; `aarch64.rs` compares the traces.
//!
//! ```text
//! secrets WHO VERB,KEY BYTES,TEXT BYTES...
//! ```
//! WHO is a back end, or a control that must be caught: `leaky-index`, `leaky-branch`. Verbs: `new` (makes a key), `seal`, `open`, and `forged`,
//! where the secret is the position of a wrong byte of the tag.

use fastgcm::{Backend, Key, Tag};
use std::{hint::black_box, process::ExitCode};

/// The number of keys and texts for each message.
const SECRETS: usize = 3;
const NONCE: [u8; 12] = [1; 12];
const AAD: [u8; 13] = [2; 13];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    black_box(Backend::detect()); // asks the operating system, once
    let done = arguments.split_first().and_then(|(who, cases)| {
        cases.iter().try_for_each(|case| {
            let mut words = case.split(',');
            let (verb, key, text) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            // All in the same memory, so that addresses of buffers do not differ.
            let (mut key, mut text) = (vec![0; key], vec![0; text]);
            (0..SECRETS).try_for_each(|secret| {
                fill(&mut key, secret);
                fill(&mut text, secret + 1);
                match who.as_str() {
                    "leaky-index" => leaky_index(&key),
                    "leaky-branch" => leaky_branch(&key),
                    _ => run(who.parse().ok()?, verb, secret, &key, &mut text)?,
                }
                Some(())
            })
        })
    });
    if done.is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("secrets: cannot do {arguments:?}");
    ExitCode::FAILURE
}

/// Fills a buffer with zeros, ones, a pattern of bits, or noise.
fn fill(bytes: &mut [u8], secret: usize) {
    let mut noise = secret as u64;
    for byte in bytes {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = [0, 0xff, 0x5a].get(secret).copied().unwrap_or((noise >> 56) as u8);
    }
}

#[inline(never)]
fn run(backend: Backend, verb: &str, secret: usize, key: &[u8], text: &mut [u8]) -> Option<()> {
    if verb == "new" {
        marker();
        let key = Key::with_backend(black_box(key), backend);
        marker();
        return black_box(key).ok().map(drop);
    }
    let key = Key::with_backend(key, backend).ok()?;
    if verb == "seal" {
        marker();
        let tag = key.seal(NONCE, &AAD, text);
        marker();
        return black_box(tag).ok().map(drop);
    }
    let Tag(mut tag) = key.seal(NONCE, &AAD, text).ok()?;
    if verb == "forged" {
        tag[3 * secret % 16] ^= 1 << secret;
    }
    marker();
    let verdict = key.open(NONCE, &AAD, text, &Tag(tag));
    marker();
    (black_box(verdict).is_ok() == (verb == "open")).then_some(())
}

/// Indexes a table by a secret, as AES by table does.
#[inline(never)]
fn leaky_index(key: &[u8]) {
    static TABLE: [u8; 256] = [7; 256];
    let table = black_box(&TABLE); // else the compiler knows what it would read
    marker();
    black_box(table[usize::from(key[0])]);
    marker();
}

/// Branches on a secret, as `==` on tags may do.
#[inline(never)]
fn leaky_branch(key: &[u8]) {
    marker();
    for byte in key {
        if black_box(*byte) != 0 {
            break;
        }
    }
    marker();
}

/// Marks the beginning and the end of a message; `aarch64.rs` finds it by its name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn marker() {
    black_box(());
}
