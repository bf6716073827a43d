//! AES-GCM-SIV, RFC 8452, over the model of AES and GHASH.

use crate::{Block, Model, ghash};

/// The keys of a message: derive_keys (section 4).
#[derive(Clone, Debug)]
pub struct Derived {
    authentication: Block,
    encryption: Model,
}

/// AEAD_AES_128_GCM_SIV or AEAD_AES_256_GCM_SIV for one message (and, which the RFC does not have, AES-192 after the same pattern): the ciphertext and
/// the tag.
///
/// # Panics
/// As [`Model::new`].
pub fn seal(key: &[u8], nonce: &[u8; 12], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
    Derived::new(key, nonce).seal(nonce, aad, plaintext)
}

impl Derived {
    /// Derives the keys of the messages with this nonce.
    ///
    /// # Panics
    /// As [`Model::new`].
    pub fn new(key: &[u8], nonce: &[u8; 12]) -> Self {
        let model = Model::new(key);
        let halves = |from: u32, to: u32| -> Vec<u8> {
            let block = |i: u32| {
                let mut input = [0; 16];
                input[..4].copy_from_slice(&i.to_le_bytes());
                input[4..].copy_from_slice(nonce);
                model.cipher(&input)
            };
            (from..to).flat_map(|i| block(i)[..8].to_vec()).collect()
        };
        let mut authentication = [0; 16];
        authentication.copy_from_slice(&halves(0, 2));
        Self { authentication, encryption: Model::new(&halves(2, 2 + key.len() as u32 / 8)) }
    }

    /// Section 3 by appendix A: GHASH of blocks whose bytes are turned round, with H turned round and multiplied by x.
    fn polyval(&self, data: &[u8]) -> Block {
        let turned = |mut block: Block| {
            block.reverse();
            block
        };
        let h = u128::from_be_bytes(turned(self.authentication));
        let h = h >> 1 ^ if h & 1 == 1 { 0xe1 << 120 } else { 0 };
        let blocks: Vec<u8> = data.chunks(16).flat_map(|block| block.iter().rev()).copied().collect();
        turned(ghash(&h.to_be_bytes(), &blocks))
    }

    /// AES_CTR (section 4): the first four bytes of the block count, little-endian.
    fn ctr(&self, first: &Block, text: &[u8]) -> Vec<u8> {
        let mut block = *first;
        let mut output = Vec::new();
        for part in text.chunks(16) {
            output.extend(part.iter().zip(self.encryption.cipher(&block)).map(|(a, b)| a ^ b));
            let counter = u32::from_le_bytes([block[0], block[1], block[2], block[3]]).wrapping_add(1);
            block[..4].copy_from_slice(&counter.to_le_bytes());
        }
        output
    }

    /// Encrypt (section 4): the ciphertext and the tag. `nonce` is the one that the keys were derived with.
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
        let mut data = Vec::new();
        for part in [aad, plaintext] {
            data.extend(part);
            data.resize(data.len().next_multiple_of(16), 0);
        }
        data.extend((aad.len() as u64 * 8).to_le_bytes());
        data.extend((plaintext.len() as u64 * 8).to_le_bytes());
        let mut sum = self.polyval(&data);
        sum.iter_mut().zip(nonce).for_each(|(a, b)| *a ^= b);
        sum[15] &= 0x7f;
        let tag = self.encryption.cipher(&sum);
        let mut first = tag;
        first[15] |= 0x80;
        (self.ctr(&first, plaintext), tag)
    }
}
