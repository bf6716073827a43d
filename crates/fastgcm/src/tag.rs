//! Tags of 16 bytes, and shorter tags by an explicit type.

#[cfg(doc)]
use crate::Key;
use crate::{Block, Error};
use core::ops::Deref;

/// The length in bytes of a full tag ([`Tag`]).
pub const TAG_LEN: usize = 16;

/// The tag of a message: 16 bytes that only the owner of the key can make.
///
/// A tag dereferences to its bytes: `&*tag` is an array, and `tag.to_vec()`, `tag[..4]` and `tag.iter()` do
/// what they do with an array. [`Tag::from`] makes a tag from an array, [`Tag::try_from`] from a slice.
///
/// `==` compares two tags in constant time: its time does not depend on which bytes differ. (`==` on arrays
/// compares byte by byte, so compare tags, not their bytes.) A program that opens a message does not need
/// `==`: [`Key::open`] takes the tag and compares it.
///
/// ```
/// # use fastgcm::{Key, Tag};
/// let key = Key::aes256(&[7; 32]);
/// let mut message = b"text".to_vec();
/// let tag = key.seal([1; 12], b"", &mut message)?;
/// message.extend_from_slice(&*tag);
/// let (text, tag) = message.split_last_chunk_mut::<16>().unwrap();
/// key.open([1; 12], b"", text, &Tag(*tag))?;
/// # Ok::<(), fastgcm::Error>(())
/// ```
// Aligned, because rustc puts the bytes behind the first byte of a `Result`, and LLVM moves them from there
// in five pieces, which costs 9 % of an ESP packet of 64 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(align(8))]
pub struct Tag(pub [u8; 16]);

/// The first `N` bytes of a tag (SP 800-38D, section 5.2.1.2): 12 to 15, and with feature `hazmat` also 8 and
/// 4.
///
/// A forger's chance grows by a factor of 2^8 for every missing byte.
///
/// **Tags of 8 and 4 bytes are deprecated**: revision 1 of the standard removes them. Until then appendix C
/// limits a key by its longest message (AAD and text, in bytes) and by the number of messages that it opens,
/// right or wrong: with tags of 8 bytes 2^32 messages of 2^11 bytes, 2^26 of 2^15, or 2^17 of 2^21; with tags
/// of 4 bytes 2^22 messages of 2^5 bytes, 2^18 of 2^7, or 2^11 of 2^10. The caller must count them.
///
/// `==` compares in constant time, as for [`Tag`]. A short tag dereferences to its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ShortTag<const N: usize>(pub [u8; N]);

/// The tag of a message of a scheme that commits to its key: 16 bytes as in [`Tag`], then a commitment of 32
/// bytes. Opening compares tag and commitment together, and its error does not say which of them was wrong.
///
/// A committing tag dereferences to its bytes; `==` compares in constant time.
#[derive(Clone, Copy, Debug)]
pub struct CommittingTag(pub [u8; 48]);

/// A tag that [`Key::open`] accepts: `Tag`, or a `ShortTag` of a length that the standard allows. Other
/// crates cannot implement this trait.
pub trait AnyTag: sealed::Sealed {}

impl<T: sealed::Sealed> AnyTag for T {}

pub(crate) mod sealed {
    /// A trait that nobody else can implement or call.
    pub trait Sealed {
        /// The number of bytes.
        const LEN: usize;
        /// Returns the bytes, with zeros behind them.
        fn block(&self) -> crate::Block;
    }

    /// What ends a message of a scheme that derives keys.
    pub trait SchemeTag {
        const LEN: usize;
        fn of(tag: crate::Block, commitment: &[crate::Block]) -> Self;
        /// Returns whether the tag or the commitment differs, in constant time, as one bit for both.
        fn differs(&self, tag: crate::Block, commitment: &[crate::Block]) -> bool;
    }
}
use sealed::SchemeTag;

impl Tag {
    #[inline(always)]
    pub(crate) fn of(tag: Block) -> Self {
        Self(tag.to_le_bytes())
    }

    /// Returns the first `N` bytes, for protocols with shorter tags.
    #[inline]
    pub fn truncate<const N: usize>(&self) -> ShortTag<N>
    where
        ShortTag<N>: AnyTag,
    {
        let mut short = [0; N];
        short.copy_from_slice(&self.0[..N]);
        ShortTag(short)
    }
}

impl sealed::Sealed for Tag {
    const LEN: usize = 16;

    #[inline(always)]
    fn block(&self) -> Block {
        Block::from_le_bytes(self.0)
    }
}

macro_rules! short_tags {
    ($($(#[$when:meta])? $n:literal)+) => { $(
        $(#[$when])?
        impl sealed::Sealed for ShortTag<$n> {
            const LEN: usize = $n;

            #[inline]
            fn block(&self) -> Block {
                let mut bytes = [0; 16];
                bytes[..$n].copy_from_slice(&self.0);
                Block::from_le_bytes(bytes)
            }
        }
    )+ };
}

short_tags! { 15 14 13 12 #[cfg(feature = "hazmat")] 8 #[cfg(feature = "hazmat")] 4 }

impl Deref for Tag {
    type Target = [u8; TAG_LEN];

    #[inline]
    fn deref(&self) -> &[u8; TAG_LEN] {
        &self.0
    }
}

impl<const N: usize> Deref for ShortTag<N> {
    type Target = [u8; N];

    #[inline]
    fn deref(&self) -> &[u8; N] {
        &self.0
    }
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> AsRef<[u8]> for ShortTag<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 16]> for Tag {
    fn from(tag: [u8; 16]) -> Self {
        Self(tag)
    }
}

impl TryFrom<&[u8]> for Tag {
    type Error = Error;

    /// Copies 16 bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    fn try_from(tag: &[u8]) -> Result<Self, Error> {
        tag.try_into().map(Self).map_err(|_| Error::InvalidLength)
    }
}

impl CommittingTag {
    /// Returns block `i`: block 0 is the tag, blocks 1 and 2 are the commitment.
    #[inline(always)]
    fn block(&self, i: usize) -> Block {
        Block::from_le_bytes(self.0.as_chunks().0[i])
    }
}

impl Deref for CommittingTag {
    type Target = [u8; 48];

    #[inline]
    fn deref(&self) -> &[u8; 48] {
        &self.0
    }
}

impl AsRef<[u8]> for CommittingTag {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 48]> for CommittingTag {
    fn from(tag: [u8; 48]) -> Self {
        Self(tag)
    }
}

impl TryFrom<&[u8]> for CommittingTag {
    type Error = Error;

    /// Copies 48 bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    fn try_from(tag: &[u8]) -> Result<Self, Error> {
        tag.try_into().map(Self).map_err(|_| Error::InvalidLength)
    }
}

impl PartialEq for CommittingTag {
    /// Compares all bytes, in constant time.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        !self.differs(other.block(0), &[other.block(1), other.block(2)])
    }
}

impl Eq for CommittingTag {}

impl SchemeTag for Tag {
    const LEN: usize = TAG_LEN;

    #[inline(always)]
    fn of(tag: Block, _: &[Block]) -> Self {
        Self::of(tag)
    }

    #[inline(always)]
    fn differs(&self, tag: Block, _: &[Block]) -> bool {
        tags_differ(tag, self)
    }
}

impl SchemeTag for CommittingTag {
    const LEN: usize = 48;

    #[inline(always)]
    fn of(tag: Block, commitment: &[Block]) -> Self {
        let mut bytes = [0; 48];
        for (bytes, block) in bytes.as_chunks_mut().0.iter_mut().zip([tag, commitment[0], commitment[1]]) {
            *bytes = block.to_le_bytes();
        }
        Self(bytes)
    }

    #[inline(always)]
    fn differs(&self, tag: Block, commitment: &[Block]) -> bool {
        let of = |i, block| self.block(i) ^ block;
        let all = of(0, tag) | of(1, commitment[0]) | of(2, commitment[1]);
        // One word: however the compiler handles 128 bits, the verdict is one bit of this word.
        differ(Block::from(all as u64 | (all >> 64) as u64), 0, 16)
    }
}

impl<const N: usize> TryFrom<&[u8]> for ShortTag<N>
where
    Self: AnyTag,
{
    type Error = Error;

    /// Copies `N` bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    fn try_from(tag: &[u8]) -> Result<Self, Error> {
        tag.try_into().map(Self).map_err(|_| Error::InvalidLength)
    }
}

impl PartialEq for Tag {
    /// Compares all bytes, in constant time.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        !tags_differ(Block::from_le_bytes(self.0), other)
    }
}

impl Eq for Tag {}

impl<const N: usize> PartialEq for ShortTag<N>
where
    Self: AnyTag,
{
    /// Compares all bytes, in constant time.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        !tags_differ(sealed::Sealed::block(self), other)
    }
}

impl<const N: usize> Eq for ShortTag<N> where Self: AnyTag {}

/// Returns whether the two tags differ in their first `T::LEN` bytes, in constant time: the answer is one bit
/// of one word.
#[inline(always)]
pub(crate) fn tags_differ<T: AnyTag>(found: Block, tag: &T) -> bool {
    differ(found, tag.block(), T::LEN)
}

/// Returns whether two tags of `len` bytes differ, in constant time.
#[inline(always)]
pub(crate) fn differ(found: Block, tag: Block, len: usize) -> bool {
    let differ = (found ^ tag) << (8 * (16 - len)) != 0;
    // Only one byte goes through memory. In a register, three bytes of the tag might lie beside the answer
    // and be stored on the stack with it.
    if cfg!(feature = "scrub") { core::hint::black_box(differ) } else { differ }
}
