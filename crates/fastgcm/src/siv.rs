//! AES-GCM-SIV (RFC 8452): for nonces that may repeat in spite of all care.
//!
//! The tag is made first, of the whole message, and is the counter from which the text is encrypted. So a nonce that comes twice tells only whether two
//! messages are equal. The price is a second pass over the text, and keys that are derived for each nonce.
//!
//! POLYVAL is GHASH with the bytes of each block turned round and H multiplied by x (RFC 8452, appendix A). That is how GHASH stands in registers
//! here anyway ([`ghash`](crate::ghash)): so its blocks are taken as they are, and H is divided by x beforehand, for the tables multiply it again.

use crate::{Backend, Block, Error, Key, Tag, gcm::lengths, inout::InOut, isa::Frame, key::check, seal::verdict, tag::tags_differ};
use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A key of AES-GCM-SIV: AEAD_AES_128_GCM_SIV or AEAD_AES_256_GCM_SIV.
///
/// A nonce of 12 bytes should come once, and may be drawn at random for 2^32 messages; if it comes again, nothing is lost but whether two messages with
/// the same nonce are equal. (RFC 8452, section 9, has the bounds.) The key is wiped when it is dropped; what the compiler copied when it was *moved*
/// is not.
///
/// ```
/// # use fastgcm::AesGcmSiv;
/// let key = AesGcmSiv::aes256(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(&[1; 12], b"header", &mut text)?;
/// key.open(&[1; 12], b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
#[derive(Clone)]
pub struct AesGcmSiv {
    /// The key-generating key: of this only the round keys are used.
    key: Key,
}

impl AesGcmSiv {
    /// The longest text and the longest AAD, in bytes (RFC 8452, section 6).
    pub const LIMIT: u64 = 1 << 36;

    /// A key of 16 or 32 bytes for the best back end of this machine.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect())
    }

    /// AES-128: cannot fail.
    #[inline]
    pub fn aes128(key: &[u8; 16]) -> Self {
        Self { key: Key::for_one(key, Backend::best(), 1) }
    }

    /// AES-256: cannot fail.
    #[inline]
    pub fn aes256(key: &[u8; 32]) -> Self {
        Self { key: Key::for_one(key, Backend::best(), 1) }
    }

    /// For one back end.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run it, else as for [`new`](Self::new).
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        let kernels = backend.kernels()?;
        check(key)?;
        if key.len() == 24 { Err(Error::InvalidLength) } else { Ok(Self { key: Key::for_one(key, kernels, 1) }) }
    }

    /// AES-192, **which RFC 8452 does not have**: the same with a longer key, as OpenSSL's AES-192-GCM-SIV.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run the back end.
    #[cfg(feature = "hazmat")]
    pub fn aes192_with_backend(key: &[u8; 24], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: Key::for_one(key, backend.kernels()?, 1) })
    }

    /// The back end that it uses.
    pub fn backend(&self) -> Backend {
        self.key.backend()
    }

    /// Encrypts `text` in place and returns its tag.
    ///
    /// # Errors
    /// [`TooLong`](Error::TooLong), with `text` untouched, if it or `aad` has more than [`LIMIT`](Self::LIMIT) bytes.
    pub fn seal(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        within_limits(aad, text)?;
        Ok(Tag::of(Frame::wiped_after_all(|| {
            let message = self.derive(nonce, aad.len(), text.len());
            let tag = message.tag(nonce, aad, text);
            message.crypt(tag, text);
            tag
        })))
    }

    /// Decrypts `text` in place, and verifies it then.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if anything is not as it was sealed: `text` is all zero then. `TooLong` as for [`seal`](Self::seal): `text` is
    /// untouched.
    pub fn open(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        within_limits(aad, text)?;
        let wrong = Frame::wiped_after_all(|| {
            let message = self.derive(nonce, aad.len(), text.len());
            message.crypt(Block::from_le_bytes(tag.0), text);
            tags_differ(message.tag(nonce, aad, text), tag)
        });
        verdict(wrong, text)
    }

    /// The keys of a message (RFC 8452, section 4): the first halves of AES of the nonce with a number before it make the key of POLYVAL, then that of AES.
    fn derive(&self, nonce: &[u8; 12], aad: usize, text: usize) -> Message {
        let Key { kernels, material, .. } = &self.key;
        let length = self.key.key_len();
        let mut first = [0; 16];
        first[4..].copy_from_slice(nonce);
        let mut blocks = [[0; 16]; 6];
        let used = &mut blocks.as_flattened_mut()[..2 * (16 + length)];
        kernels.ctr_straight(material, Block::from_le_bytes(first), InOut::in_place(used));
        let mut halves = [[0; 8]; 6];
        for (half, block) in halves.iter_mut().zip(&blocks) {
            half.copy_from_slice(&block[..8]);
        }
        let keys = halves.as_flattened();
        let h = Block::from_le_bytes(keys.first_chunk().copied().unwrap_or_default());
        let highest = aad.max(text).div_ceil(16).max(1);
        let message = Message(Key::with_h(&keys[16..16 + length], kernels, highest, by_x(h).swap_bytes()));
        blocks.zeroize();
        halves.zeroize();
        message
    }
}

/// H divided by x, in POLYVAL's field: x^128 + x^127 + x^126 + x^121 + 1. No branch on the key: the mask is all ones or all zeros.
fn by_x(h: Block) -> Block {
    let odd = (h & 1).wrapping_neg();
    (h ^ (0xc2 << 120 & odd)) >> 1 | odd << 127
}

/// The keys of a message: round keys, and powers of POLYVAL's H.
struct Message(Key);

impl Message {
    /// The tag (section 4): POLYVAL, XOR the nonce, with the last bit cleared; encrypted.
    fn tag(&self, nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Block {
        let (kernels, material) = self.0.keyed();
        let lengths = lengths(aad.len() as u64, text.len() as u64).rotate_left(64);
        let mut of_nonce = [0; 16];
        of_nonce[..12].copy_from_slice(nonce);
        let sum = kernels.polyval(material, aad, text, lengths) ^ Block::from_le_bytes(of_nonce);
        kernels.aes(material, sum & !LAST)
    }

    /// CTR from the tag on, with the last bit set.
    fn crypt(&self, tag: Block, text: &mut [u8]) {
        let (kernels, material) = self.0.keyed();
        kernels.ctr_straight(material, tag | LAST, InOut::in_place(text));
    }
}

/// The most significant bit of the last byte.
const LAST: Block = 1 << 127;

/// # Errors
/// `TooLong`.
fn within_limits(aad: &[u8], text: &[u8]) -> Result<(), Error> {
    if aad.len().max(text.len()) as u64 > AesGcmSiv::LIMIT { Err(Error::TooLong) } else { Ok(()) }
}

impl ZeroizeOnDrop for AesGcmSiv {}

impl fmt::Debug for AesGcmSiv {
    /// The key's length and back end; nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AesGcmSiv").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::by_x;
    use crate::{Backend, Block, Key, ghash::times_x, inout::InOut};
    use std::vec;

    /// For H with and without each bit.
    #[test]
    fn by_x_is_undone() {
        for h in (0..128).flat_map(|i| [1 << i, !(1 << i)]) {
            assert_eq!(times_x(by_x(h)), h);
        }
    }

    /// F4: the counter wraps wherever it begins, without a carry into the bytes behind it.
    #[test]
    fn f04_straight_counters_wrap() {
        for backend in Backend::available() {
            let key = Key::with_backend(&[7; 32], backend).unwrap();
            let (kernels, material) = key.keyed();
            for before in 0..=70_u32 {
                for length in [1, 16, 33, 64, 200, 511, 512, 1100] {
                    let first = Block::from_le_bytes([0xa5; 16]) >> 32 << 32;
                    let mut text = vec![0; length];
                    kernels.ctr_straight(material, first | Block::from(u32::MAX - before), InOut::in_place(&mut text));
                    for (i, part) in text.chunks(16).enumerate() {
                        let counter = (u32::MAX - before).wrapping_add(i as u32);
                        let expected = kernels.aes(material, first | Block::from(counter)).to_le_bytes();
                        assert_eq!(part, &expected[..part.len()], "{backend}, {before} before the wrap, block {i} of {length} bytes");
                    }
                }
            }
        }
    }
}
