//! The public interface: every verb, and what it leaves in every buffer, after success, after a forgery, after a wrong length.
#![cfg(feature = "alloc")]

mod counter;
mod forgery;
mod keys;
mod lengths;
#[path = "../support/backends.rs"]
mod support;
#[path = "../support/wrap.rs"]
mod wrap;

use fastgcm::{Error, Key, Nonce, Tag};
use fastgcm_model::Model;

/// A way to seal and to open. `seal` gives ciphertext and tag; `open` gives the text, or why not and what the output holds.
struct Verbs {
    name: &'static str,
    seal: Call<Error>,
    open: Call<(Error, Vec<u8>)>,
}

/// Key, nonce, AAD, and text or sealed message.
type Call<E> = fn(&Key, Nonce<'_>, &[u8], &[u8]) -> Result<Vec<u8>, E>;

/// What a buffer holds before it is written.
const STALE: u8 = 0xee;

const VERBS: [Verbs; 8] = [
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
        name: "seal, verify and open_restoring",
        seal: |key, nonce, aad, text| VERBS[0].seal(key, nonce, aad, text),
        open: |key, nonce, aad, sealed| {
            let (mut text, tag) = split(sealed);
            let verified = key.verify(nonce, aad, &text, &tag);
            let opened = key.open_restoring(nonce, aad, &mut text, &tag);
            assert_eq!(verified, opened, "{key:?}");
            opened.map_or_else(|e| Err((e, text.clone())), |()| Ok(text.clone()))
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
        name: "seal_in_place_append_tag, open_within",
        seal: |key, nonce, aad, text| {
            let mut buffer = text.to_vec();
            key.seal_in_place_append_tag(nonce, aad, &mut buffer).map(|()| buffer)
        },
        // Behind up to 40 bytes that something else has: less than the text, as many, and more.
        open: |key, nonce, aad, sealed| {
            let start = sealed.len() % 41;
            let mut buffer = [&vec![STALE; start], sealed].concat();
            let opened = key.open_within(nonce, aad, &mut buffer, start..).map(|text| text.to_vec());
            if let Ok(text) = &opened {
                assert!(buffer.starts_with(text), "the text is where the buffer begins");
            }
            opened.map_err(|e| (e, buffer[..sealed.len() - 16].to_vec()))
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
        let untouched = self.name.ends_with("verified_first") || self.name.ends_with("restoring");
        assert_eq!(output, if untouched { split(forged).0 } else { vec![0; forged.len() - 16] }, "{} by {key:?}", self.name);
    }
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
    support::backends().into_iter().map(move |backend| support::key(key, backend))
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
