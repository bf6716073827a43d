//! The counter's wrap, on every back end.

use crate::{
    bytes, each_backend,
    suite::{full, quick},
    support::Tally,
    wrap::Nonces,
};
use fastgcm::{Key, Nonce};
use fastgcm_model::{Block, Model};

/// F4: the counter is 32 bits and wraps; the other 96 bits of the block stay. Only a nonce that has not 12 bytes gets near the wrap, by
/// chance. Here it is chosen.
#[test]
fn f04_counter_wraps_modulo_2_32() {
    let key = [0x4b; 32];
    let model = Model::new(&key);
    let keys: Vec<Key> = each_backend(&key).collect();
    let nonces = Nonces::of(&model);
    let text = bytes(2112, 9);
    let (mut messages, mut expected) = (Tally::default(), 0);
    // Every third k, with `FASTGCM_FULL` each. Every length meets every 11th of these, and every k every 11th length. Quickly every
    // seventh k; on an emulated processor, where the model takes long, also a fifteenth of the lengths.
    let step = match (quick(), full()) {
        (true, _) => 7,
        (_, true) => 1,
        _ => 3,
    };
    let stride = if std::env::var_os("FASTGCM_EMULATED").is_some() { 165 } else { 11 };
    for k in (0..=130u32).step_by(step) {
        let mut j0: Block = bytes(16, u64::from(k)).try_into().unwrap();
        j0[12..].copy_from_slice(&(u32::MAX - k).to_be_bytes());
        let nonce = nonces.leading_to(&j0);
        // 2113 = 192·11 + 1 = 12·165 + 133 lengths, so the first of every eleven k meets one more.
        expected += if stride == 165 { 13 } else { 192 + usize::from(k % 11 == 0) };
        for length in (k as usize % 11..=text.len()).step_by(stride) {
            let (ciphertext, tag) = model.seal_from_j0(&j0, b"aad", &text[..length]);
            for key in &keys {
                let mut buffer = text[..length].to_vec();
                let found = key.seal(Nonce::any(&nonce).unwrap(), b"aad", &mut buffer).unwrap();
                assert_eq!((&buffer, found.0), (&ciphertext, tag), "{key:?}, {k} blocks before the wrap, {length} bytes");
                key.open(Nonce::any(&nonce).unwrap(), b"aad", &mut buffer, &found).unwrap();
                assert_eq!(buffer, text[..length]);
                messages.add(key, 1);
            }
        }
    }
    messages.passed("api::f04_counter_wraps_modulo_2_32", expected);
}
