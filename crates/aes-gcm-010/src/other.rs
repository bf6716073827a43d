//! GCM over a block cipher that does not come from the crate `aes`, or that already has its key. It uses the crates `ghash` and `ctr`, as
//! `aes-gcm` does. None of fastgcm's kernels can run there.

use crate::{Array, BlockCipherEncrypt, CtrCipher};
use aead::{Error, consts::U16};
use aes::cipher::{BlockSizeUser, InnerIvInit, StreamCipher};
use ctr::Ctr32BE;
use fastgcm::Tag;
use ghash::{GHash, universal_hash::UniversalHash};
use zeroize::Zeroize;

type Block = Array<u8, U16>;

#[derive(Clone)]
pub(crate) struct Other<Cipher> {
    cipher: Cipher,
    pub(crate) ghash: GHash,
}

impl<Cipher: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> Other<Cipher> {
    pub(crate) fn new(cipher: Cipher) -> Self {
        let mut hash_key = Block::default();
        cipher.encrypt_block(&mut hash_key);
        let ghash = keyed(&hash_key);
        hash_key.as_mut_slice().zeroize();
        Self { cipher, ghash }
    }
}

impl<Cipher: CtrCipher> Other<Cipher> {
    #[cold]
    #[inline(never)]
    pub(crate) fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Tag {
        let (mut keystream, mask) = self.begin(nonce);
        keystream.apply_keystream(text);
        self.tag(mask, aad, text)
    }

    /// Returns the keystream that opens the text, once the tag is verified. `tag` may be shorter than 16 bytes.
    #[cold]
    #[inline(never)]
    pub(crate) fn verified(&self, nonce: &[u8], aad: &[u8], ciphertext: &[u8], tag: &[u8]) -> Result<Ctr32BE<&Cipher>, Error> {
        let (keystream, mask) = self.begin(nonce);
        let expected = self.tag(mask, aad, ciphertext);
        let mut given = expected.0;
        given[..tag.len()].copy_from_slice(tag);
        if Tag(given) == expected { Ok(keystream) } else { Err(Error) }
    }

    /// Runs SP 800-38D, section 7.1, steps 2 and 3. Returns the keystream of the text, and the block before it, which masks the tag.
    fn begin(&self, nonce: &[u8]) -> (Ctr32BE<&Cipher>, Block) {
        let mut first = Block::default();
        if nonce.len() == 12 {
            first[..12].copy_from_slice(nonce);
            first[15] = 1;
        } else {
            let mut ghash = self.ghash.clone();
            ghash.update_padded(nonce);
            ghash.update(&[lengths(0, nonce.len())]);
            first = ghash.finalize();
        }
        let core = ctr::CtrCore::inner_iv_init(&self.cipher, &first);
        let mut keystream = Ctr32BE::from_core(core);
        let mut mask = Block::default();
        keystream.apply_keystream(&mut mask);
        (keystream, mask)
    }

    fn tag(&self, mask: Block, aad: &[u8], ciphertext: &[u8]) -> Tag {
        let mut ghash = self.ghash.clone();
        ghash.update_padded(aad);
        ghash.update_padded(ciphertext);
        ghash.update(&[lengths(aad.len(), ciphertext.len())]);
        let mut tag: [u8; 16] = ghash.finalize().into();
        tag.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        Tag(tag)
    }
}

pub(crate) fn keyed(hash_key: &Block) -> GHash {
    <GHash as aead::KeyInit>::new(hash_key)
}

/// Returns the last block of GHASH: two lengths in bits.
fn lengths(aad: usize, text: usize) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&(aad as u64 * 8).to_be_bytes());
    block[8..].copy_from_slice(&(text as u64 * 8).to_be_bytes());
    block
}
