//! GCM over a block cipher that is not the crate `aes`'s, or that has its key already: by the crates `ghash` and `ctr`, as in `aes-gcm`. None of
//! fastgcm's kernels can run there.

use aead::{Error, consts::U16, generic_array::GenericArray};
use aes::cipher::{BlockCipher, BlockEncrypt, BlockSizeUser, InnerIvInit, KeyInit, StreamCipher};
use ctr::Ctr32BE;
use fastgcm::Tag;
use ghash::{GHash, universal_hash::UniversalHash};
use zeroize::{Zeroize, optimization_barrier};

type Block = GenericArray<u8, U16>;

#[derive(Clone)]
pub(crate) struct Other<Cipher> {
    cipher: Cipher,
    ghash: GHash,
}

impl<Cipher: BlockEncrypt + BlockSizeUser<BlockSize = U16>> Other<Cipher> {
    pub(crate) fn new(cipher: Cipher) -> Self {
        let mut hash_key = Block::default();
        cipher.encrypt_block(&mut hash_key);
        let ghash = GHash::new(&hash_key);
        hash_key.as_mut_slice().zeroize();
        Self { cipher, ghash }
    }
}

/// `ghash` 0.5 wipes nothing here, with its feature `zeroize` neither: it keeps the hash key in a union of `polyval` 0.6.
impl<Cipher> Drop for Other<Cipher> {
    fn drop(&mut self) {
        self.ghash = GHash::new(&Block::default());
        optimization_barrier(&self.ghash);
    }
}

impl<Cipher: BlockCipher + BlockEncrypt + BlockSizeUser<BlockSize = U16>> Other<Cipher> {
    #[cold]
    #[inline(never)]
    pub(crate) fn seal(&self, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Tag {
        let (mut keystream, mask) = self.begin(nonce);
        keystream.apply_keystream(text);
        self.tag(mask, aad, text)
    }

    /// `tag` may be shorter than 16 bytes. The tag is verified first: on an error `text` is untouched.
    #[cold]
    #[inline(never)]
    pub(crate) fn open(&self, nonce: &[u8], aad: &[u8], text: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        let (mut keystream, mask) = self.begin(nonce);
        let expected = self.tag(mask, aad, text);
        let mut given = expected.0;
        given[..tag.len()].copy_from_slice(tag);
        if Tag(given) != expected {
            return Err(Error);
        }
        keystream.apply_keystream(text);
        Ok(())
    }

    /// SP 800-38D, section 7.1, steps 2 and 3: the keystream of the text, and in front of that the block that masks the tag.
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

/// The last block of GHASH: two lengths in bits.
fn lengths(aad: usize, text: usize) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&(aad as u64 * 8).to_be_bytes());
    block[8..].copy_from_slice(&(text as u64 * 8).to_be_bytes());
    block
}
