//! XAES-256-GCM (C2SP), without and with a commitment: AES-256-GCM with nonces of 192 bits, which may be
//! drawn at random for as many messages as anybody needs.
//!
//! The root key and the first twelve bytes of the nonce yield the key of the message, in two blocks of AES,
//! as KDF in counter mode with CMAC (SP 800-108r1, section 4.1) prescribes. The rest of the nonce becomes the
//! nonce of AES-256-GCM. KC-XAES-256-GCM (Kampanakis and others, "Blockcipher-Based Key Commitment for
//! Nonce-Derived Schemes", IACR ePrint 2025/758) adds two CMACs of the nonce, by which a message names its
//! root key.

use crate::{
    Block, CommittingTag, Tag,
    gcm::SIDE_BY_SIDE,
    inout::Table,
    nonce::Nonce96,
    root::{RootKey, Scheme, sealed::Derives},
};
use zeroize::Zeroize;

/// A key of XAES-256-GCM: <https://c2sp.org/XAES-256-GCM>.
///
/// Its nonces have 24 bytes. `seal_random` and `seal_random_vec` (feature `getrandom`) draw them. The chance
/// that two of 2^80 such random nonces are equal is the chance that two of 2^32 of AES-GCM's are. A nonce
/// must still be unique for every message.
///
/// The scheme does not commit to its key: somebody who knows two keys can make a message that opens under
/// both. [`KcXaes256Gcm`] prevents this with 32 more bytes in each message.
///
/// ```
/// # use fastgcm::Xaes256Gcm;
/// let key = Xaes256Gcm::new(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(b"a nonce of 24 bytes.....", b"header", &mut text)?;
/// key.open(b"a nonce of 24 bytes.....", b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub type Xaes256Gcm = RootKey<Xaes>;

/// A key of KC-XAES-256-GCM: [`Xaes256Gcm`] with a commitment of 32 bytes to the key (IACR ePrint 2025/758).
///
/// A message has the key and the ciphertext that XAES-256-GCM would give it. Its tag has 48 bytes: the tag,
/// then the commitment. Nobody can make a message that opens under two keys, even with both keys at hand: that
/// takes some 2^128 calls of AES. The commitment binds key and nonce, not the AAD; `docs/nonces.md` in the
/// repository says what to do if the context must be bound, too.
///
/// ```
/// # use fastgcm::KcXaes256Gcm;
/// let key = KcXaes256Gcm::new(&[7; 32]);
/// let mut text = *b"to be sealed";
/// let tag = key.seal(b"a nonce of 24 bytes.....", b"header", &mut text)?;
/// key.open(b"a nonce of 24 bytes.....", b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"to be sealed");
/// # Ok::<(), fastgcm::Error>(())
/// ```
pub type KcXaes256Gcm = RootKey<KcXaes>;

/// The scheme of [`Xaes256Gcm`].
#[derive(Debug)]
pub enum Xaes {}

/// The scheme of [`KcXaes256Gcm`].
#[derive(Debug)]
pub enum KcXaes {}

impl Scheme for Xaes {
    type Nonce = [u8; 24];
    type Tag = Tag;
}

impl Scheme for KcXaes {
    type Nonce = [u8; 24];
    type Tag = CommittingTag;
}

#[allow(private_bounds, private_interfaces)] // nobody else can name the trait
impl Derives for Xaes {
    const NAME: &'static str = "Xaes256Gcm";

    /// The first subkey of CMAC, K1 (SP 800-38B, section 6.1).
    #[inline(always)]
    fn subkey(aes: impl Fn(Block) -> Block) -> Block {
        let l = Block::from_be_bytes(aes(0).to_le_bytes());
        // There is no branch on the key: the mask is all ones or all zeros.
        (l << 1 ^ ((l as i128 >> 127) as Block & 0x87)).swap_bytes()
    }

    #[inline(always)]
    fn derive(
        aes: impl Fn(&mut Table<SIDE_BY_SIDE>, usize),
        k1: Block,
        nonce: &[u8; 24],
        blocks: &mut Table<SIDE_BY_SIDE>,
    ) -> [u8; 12] {
        let (first, rest) = halves(nonce);
        key_blocks(first, k1, blocks);
        aes(blocks, 2);
        rest.to_array()
    }
}

#[allow(private_bounds, private_interfaces)] // nobody else can name the trait
impl Derives for KcXaes {
    const NAME: &'static str = "KcXaes256Gcm";

    #[inline(always)]
    fn subkey(aes: impl Fn(Block) -> Block) -> Block {
        Xaes::subkey(aes)
    }

    /// The commitment is two CMACs of two blocks each (ePrint 2025/758, section 3). The first block is "XCMT"
    /// and the first half of the nonce; the second is the second half, 00 01 00, and the number of the CMAC.
    #[inline(always)]
    fn derive(
        aes: impl Fn(&mut Table<SIDE_BY_SIDE>, usize),
        k1: Block,
        nonce: &[u8; 24],
        blocks: &mut Table<SIDE_BY_SIDE>,
    ) -> [u8; 12] {
        let (first, rest) = halves(nonce);
        key_blocks(first, k1, blocks);
        blocks.set(2, behind(first, Block::from(u32::from_le_bytes(*b"XCMT"))));
        aes(blocks, 3);
        let x = blocks.get(2) ^ k1;
        let mut ends = Table::ZERO;
        (0..2).for_each(|i| ends.set(i, x ^ rest.with_counter(0x0001_0001 + i as u32)));
        aes(&mut ends, 2);
        (0..2).for_each(|i| blocks.set(2 + i, ends.get(i)));
        ends.zeroize();
        rest.to_array()
    }
}

/// The two halves of a nonce.
#[inline(always)]
fn halves(nonce: &[u8; 24]) -> (Nonce96, Nonce96) {
    (Nonce96::new(nonce.first_chunk().unwrap()), Nonce96::new(nonce.last_chunk().unwrap()))
}

/// Puts half a nonce behind four bytes.
#[inline(always)]
fn behind(half: Nonce96, four: Block) -> Block {
    half.with_counter(0) << 32 | four
}

/// Prepares the CMAC of one block for each half of a key, before AES: a counter of 16 bits, the label "X", a
/// zero, and the first half of the nonce (section "Overview" of XAES-256-GCM's specification).
#[inline(always)]
fn key_blocks(first: Nonce96, k1: Block, blocks: &mut Table<SIDE_BY_SIDE>) {
    let block = behind(first, Block::from(b'X') << 16) ^ k1;
    blocks.set(0, block ^ 1 << 8);
    blocks.set(1, block ^ 2 << 8);
}
