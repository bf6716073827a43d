//! Seals the messages that `make_long_known_answers.py` describes with ring, and prints a line for each size of the key that ring has.

use ring::{
    aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey},
    digest::{self, SHA256, digest},
};

/// Messages of every length below this, then around the powers of two.
const SHORT: usize = 4113;

fn main() {
    let lengths: Vec<usize> = (0..SHORT).chain((13..=24).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])).collect();
    let blocks = (lengths[lengths.len() - 1] + 251) / 32 + 1;
    let stream: Vec<u8> = (0..blocks as u64).flat_map(|i| digest(&SHA256, &i.to_le_bytes()).as_ref().to_vec()).collect();
    for algorithm in [&AES_128_GCM, &AES_256_GCM] {
        let (short, all) = digests(algorithm, &lengths, &stream);
        println!("{} 12 {} {}", algorithm.key_len(), hex(&short), hex(&all));
    }
}

/// After the short messages, and after all.
fn digests(algorithm: &'static Algorithm, lengths: &[usize], stream: &[u8]) -> (digest::Digest, digest::Digest) {
    let key = digest(&SHA256, b"key");
    let key = LessSafeKey::new(UnboundKey::new(algorithm, &key.as_ref()[..algorithm.key_len()]).expect("a key of that length"));
    let mut all = digest::Context::new(&SHA256);
    let mut short = None;
    for (i, length) in lengths.iter().enumerate() {
        if i == SHORT {
            short = Some(all.clone().finish());
        }
        let nonce = digest(&SHA256, &[b"nonce", &(i as u32).to_le_bytes()[..]].concat());
        let nonce = Nonce::try_assume_unique_for_key(&nonce.as_ref()[..12]).expect("twelve bytes");
        let mut text = stream[i % 251..][..*length].to_vec();
        key.seal_in_place_append_tag(nonce, Aad::from(&stream[..i % 257]), &mut text).expect("not too long");
        all.update(&text);
    }
    (short.expect("more than the short ones"), all.finish())
}

fn hex(digest: &digest::Digest) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
