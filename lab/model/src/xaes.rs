//! XAES-256-GCM (C2SP) over the model: a derived key, and AES-256-GCM under it.

use crate::{Block, Model};

/// The ciphertext and the tag.
pub fn seal(key: &[u8; 32], nonce: &[u8; 24], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
    Model::new(&derive(key, nonce)).seal(&nonce[12..], aad, plaintext)
}

/// The key of the message: CMAC (SP 800-38B) of one block for each half, of a counter, "X", a zero and the first half of the nonce.
pub fn derive(key: &[u8; 32], nonce: &[u8; 24]) -> [u8; 32] {
    let model = Model::new(key);
    let l = u128::from_be_bytes(model.cipher(&[0; 16]));
    let k1 = if l >> 127 == 1 { l << 1 ^ 0x87 } else { l << 1 };
    let mut derived = [0; 32];
    for (i, half) in derived.chunks_mut(16).enumerate() {
        let mut block = [0, i as u8 + 1, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        block[4..].copy_from_slice(&nonce[..12]);
        half.copy_from_slice(&model.cipher(&(u128::from_be_bytes(block) ^ k1).to_be_bytes()));
    }
    derived
}
