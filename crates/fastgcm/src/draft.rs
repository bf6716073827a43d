//! Schemes that are Internet-Drafts. **Messages that they seal may not open under a later draft**, nor under
//! a later version of this library. A scheme leaves this module when it becomes an RFC. The module needs the
//! library's feature `draft`.
//!
//! DNDK-GCM (draft-gueron-cfrg-dndkgcm, "Double Nonce Derive Key AES-GCM") derives a key for each nonce by
//! XORs of AES blocks, a key-derivation function without CMAC, and takes nonces of 24 bytes or of 12. One
//! root key may be used with both lengths, because the length is part of what is encrypted.
//!
//! ```
//! # use fastgcm::draft::KcDndkGcm24;
//! let key = KcDndkGcm24::new(&[7; 32]);
//! let mut text = *b"to be sealed";
//! let tag = key.seal(b"a nonce of 24 bytes.....", b"header", &mut text)?;
//! key.open(b"a nonce of 24 bytes.....", b"header", &mut text, &tag)?;
//! assert_eq!(&text, b"to be sealed");
//! # Ok::<(), fastgcm::Error>(())
//! ```

use crate::{
    Block, CommittingTag, Tag,
    gcm::SIDE_BY_SIDE,
    inout::Table,
    root::{RootKey, Scheme, sealed::Derives},
};

/// A key of DNDK-GCM with nonces of 24 bytes, which may be drawn at random, and no commitment to the key.
pub type DndkGcm24 = RootKey<Dndk<24, false>>;
/// A key of DNDK-GCM with nonces of 12 bytes, which should be counted, and no commitment to the key.
pub type DndkGcm12 = RootKey<Dndk<12, false>>;
/// A key of DNDK-GCM with nonces of 24 bytes, which may be drawn at random, and a commitment of 32 bytes.
pub type KcDndkGcm24 = RootKey<Dndk<24, true>>;
/// A key of DNDK-GCM with nonces of 12 bytes, which should be counted, and a commitment of 32 bytes.
pub type KcDndkGcm12 = RootKey<Dndk<12, true>>;

/// DNDK-GCM with nonces of `N` bytes, with or without a commitment.
#[derive(Debug)]
pub enum Dndk<const N: usize, const COMMITS: bool> {}

macro_rules! schemes {
    ($($n:literal $commits:literal $tag:ty, $name:literal;)+) => {$(
        impl Scheme for Dndk<$n, $commits> {
            type Nonce = [u8; $n];
            type Tag = $tag;
        }

        #[allow(private_bounds, private_interfaces)] // nobody else can name the trait
        impl Derives for Dndk<$n, $commits> {
            const NAME: &'static str = $name;

            fn subkey(_: impl Fn(Block) -> Block) -> Block {
                0
            }

            #[inline(always)]
            fn derive(
                aes: impl Fn(&mut Table<SIDE_BY_SIDE>, usize),
                _: Block,
                nonce: &[u8; $n],
                blocks: &mut Table<SIDE_BY_SIDE>,
            ) -> [u8; 12] {
                derive::<$commits>(aes, nonce, blocks)
            }
        }
    )+};
}
schemes! {
    24 false Tag, "DndkGcm24";
    12 false Tag, "DndkGcm12";
    24 true CommittingTag, "KcDndkGcm24";
    12 true CommittingTag, "KcDndkGcm12";
}

/// The nonce, padded with zeros to 27 bytes, is a head of 15 bytes and a tail of 12, which is the nonce of
/// the message (section "DNDK-GCM" of the draft). Block i is the head and a byte that encodes whether there
/// is a commitment, how long the nonce is, and i. Block 0 masks all other blocks.
#[inline(always)]
fn derive<const COMMITS: bool>(
    aes: impl Fn(&mut Table<SIDE_BY_SIDE>, usize),
    nonce: &[u8],
    blocks: &mut Table<SIDE_BY_SIDE>,
) -> [u8; 12] {
    let mut padded = [0; 27];
    padded[..nonce.len()].copy_from_slice(nonce);
    let configuration = 128 * u8::from(COMMITS) + 8 * (nonce.len() as u8 - 12);
    let mut head = [0; 16];
    head[..15].copy_from_slice(&padded[..15]);
    head[15] = configuration;
    let head = Block::from_le_bytes(head);
    let wanted = if COMMITS { 5 } else { 3 };
    (0..wanted).for_each(|i| blocks.set(i, head ^ (i as Block) << 120));
    aes(blocks, wanted);
    let mask = blocks.get(0);
    (1..wanted).for_each(|i| blocks.set(i - 1, blocks.get(i) ^ mask));
    *padded.last_chunk().unwrap()
}
