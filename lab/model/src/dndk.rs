//! DNDK-GCM (draft-gueron-cfrg-dndkgcm) over the model: a derived key, a commitment, and AES-256-GCM under the key.

use crate::{Block, Model};

/// The ciphertext and the tag, under a nonce of 12 to 27 bytes.
pub fn seal(key: &[u8; 32], nonce: &[u8], commits: bool, aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
    let (derived, _, tail) = derive(key, nonce, commits);
    Model::new(&derived).seal(&tail, aad, plaintext)
}

/// The key of the message, the commitment (which a scheme without one does not send), and the nonce of the message.
pub fn derive(key: &[u8; 32], nonce: &[u8], commits: bool) -> ([u8; 32], [u8; 32], [u8; 12]) {
    let model = Model::new(key);
    let mut padded = [0; 27];
    padded[..nonce.len()].copy_from_slice(nonce);
    let configuration = 128 * u8::from(commits) + 8 * (nonce.len() as u8 - 12);
    let x = |i: u8| {
        let mut block = [0; 16];
        block[..15].copy_from_slice(&padded[..15]);
        block[15] = configuration + i;
        u128::from_be_bytes(model.cipher(&block))
    };
    let halves = |i, j| [(x(i) ^ x(0)).to_be_bytes(), (x(j) ^ x(0)).to_be_bytes()].concat().try_into().unwrap();
    (halves(1, 2), halves(3, 4), padded[15..].try_into().unwrap())
}
