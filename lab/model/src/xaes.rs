//! XAES-256-GCM (C2SP) over the model: a derived key, and AES-256-GCM under it. And the commitment of KC-XAES-256-GCM (IACR ePrint 2025/758).

use crate::{Block, Model};

/// The ciphertext and the tag.
pub fn seal(key: &[u8; 32], nonce: &[u8; 24], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
    Model::new(&derive(key, nonce)).seal(&nonce[12..], aad, plaintext)
}

/// The key of the message: CMAC (SP 800-38B) of one block for each half, of a counter, "X", a zero and the first half of the nonce.
pub fn derive(key: &[u8; 32], nonce: &[u8; 24]) -> [u8; 32] {
    let (model, k1) = (Model::new(key), subkey(key));
    let mut derived = [0; 32];
    for (i, half) in derived.chunks_mut(16).enumerate() {
        let mut block = [0, i as u8 + 1, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        block[4..].copy_from_slice(&nonce[..12]);
        half.copy_from_slice(&model.cipher(&(u128::from_be_bytes(block) ^ k1).to_be_bytes()));
    }
    derived
}

/// The commitment to the key: CMAC of two blocks for each half, of "XCMT", the nonce, 00 01 00 and a number.
pub fn commitment(key: &[u8; 32], nonce: &[u8; 24]) -> [u8; 32] {
    let (model, k1) = (Model::new(key), subkey(key));
    let mut commitment = [0; 32];
    for (i, half) in commitment.chunks_mut(16).enumerate() {
        let message = [&b"XCMT"[..], nonce, &[0, 1, 0, i as u8 + 1]].concat();
        let (first, last) = message.split_at(16);
        let x = u128::from_be_bytes(model.cipher(first.try_into().unwrap()));
        let last = u128::from_be_bytes(last.try_into().unwrap());
        half.copy_from_slice(&model.cipher(&(x ^ last ^ k1).to_be_bytes()));
    }
    commitment
}

/// K1 of CMAC (SP 800-38B, section 6.1).
fn subkey(key: &[u8; 32]) -> u128 {
    let l = u128::from_be_bytes(Model::new(key).cipher(&[0; 16]));
    if l >> 127 == 1 { l << 1 ^ 0x87 } else { l << 1 }
}
