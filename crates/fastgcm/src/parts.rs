//! One message whose text threads or machines seal in parts, and the tag that combines the hashes of the
//! parts.
//!
//! GHASH is a polynomial in the hash key H (SP 800-38D, section 6.4). So the hash of a part with n blocks
//! behind it counts H^n times in the hash of the whole, and parts can be hashed separately. CTR can begin at
//! any block anyway (section 6.5).

#[cfg(all(feature = "hazmat", feature = "alloc"))]
use crate::tag::differ;
use crate::{
    Block, Error, Key, Nonce, Tag,
    gcm::lengths,
    ghash::Power,
    inout::{Hash, InOut},
    isa::Frame,
    limits,
    running::Running,
};
#[cfg(all(feature = "hazmat", feature = "alloc"))]
use alloc::collections::BTreeMap;
use core::fmt;
#[cfg(all(feature = "hazmat", feature = "alloc"))]
use core::ops::Range;
use zeroize::Zeroize;

/// What one part of a message adds to the tag: GHASH of its ciphertext alone, and where the part lies.
///
/// **A part's hash is as secret as the key.** With the hash and the ciphertext anybody can compute the hash
/// key and forge messages. Encrypt the hash when it travels between machines, and keep it out of logs. A
/// `PartHash` is wiped when it is dropped.
#[derive(Clone)]
pub struct PartHash {
    /// Where the part begins in the text, in bytes.
    offset: u64,
    length: u64,
    hash: Block,
}

#[cfg(feature = "hazmat")]
impl PartHash {
    /// The length in bytes of what [`to_bytes`](Self::to_bytes) returns.
    pub const LEN: usize = 32;

    /// Returns where the part begins in the text, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns how many bytes of text the part has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the form that travels to another machine: offset and length as big-endian numbers of 8 bytes,
    /// then the 16 bytes of GHASH in the order of SP 800-38D. These bytes are secret.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.offset.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.length.to_be_bytes());
        bytes[16..].copy_from_slice(&self.hash.to_le_bytes());
        bytes
    }

    /// Restores a part's hash from these bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if no part can lie there: the offset is not a multiple
    /// of 16, or the end is beyond [`limits::TEXT`].
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let (numbers, hash) = bytes.split_at(16);
        let numbers = u128::from_be_bytes(numbers.try_into().unwrap_or_default());
        let (offset, length) = ((numbers >> 64) as u64, numbers as u64);
        if !offset.is_multiple_of(16) || offset.checked_add(length).is_none_or(|end| end > limits::TEXT) {
            return Err(Error::InvalidLength);
        }
        Ok(Self { offset, length, hash: Block::from_le_bytes(hash.try_into().unwrap_or_default()) })
    }

    #[cfg(all(feature = "hazmat", feature = "alloc"))]
    fn is(&self, other: &Self) -> bool {
        (self.offset, self.length) == (other.offset, other.length) && !differ(self.hash, other.hash, 16)
    }
}

impl fmt::Debug for PartHash {
    /// Writes where the part lies, and nothing of its hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartHash({}..{})", self.offset, self.offset + self.length)
    }
}

impl Drop for PartHash {
    fn drop(&mut self) {
        self.hash.zeroize();
    }
}

/// Encrypts or decrypts the part that begins at byte `offset`.
pub(crate) fn crypt(
    key: &Key,
    nonce: Nonce<'_>,
    offset: u64,
    text: InOut<'_>,
    seal: bool,
) -> Result<PartHash, Error> {
    hashed(key, nonce, offset, text.len(), |running| running.text(&key.material, text, seal))
}

fn hashed(
    key: &Key,
    nonce: Nonce<'_>,
    offset: u64,
    length: usize,
    part: impl FnOnce(&mut Running) -> Result<(), Error>,
) -> Result<PartHash, Error> {
    if !offset.is_multiple_of(16) {
        return Err(Error::InvalidLength);
    }
    let hash = Frame::try_wiped_after_all(|| {
        let mut running = Running::at(key.keyed(), nonce, offset);
        part(&mut running)?;
        Ok(running.hash_of_part(&key.material))
    })?;
    Ok(PartHash { offset, length: length as u64, hash })
}

/// Encrypts one part of a message in place: the part that begins at byte `offset` of the text, a multiple of
/// 16. Every part except the last has a length that is a multiple of 16 bytes. [`combine`] makes the tag of
/// all parts.
///
/// **One nonce, one text.** A part that is sealed twice, for example after a failure, must have the same text
/// each time. Two texts at one place of one message give away each other and the hash key. A [`Plan`]
/// enforces this rule.
///
/// # Errors
/// Returns [`InvalidLength`](Error::InvalidLength) if `offset` is not a multiple of 16, or
/// [`TooLong`](Error::TooLong) if the part ends beyond [`limits::TEXT`] bytes. `text` is untouched.
#[cfg(feature = "hazmat")]
pub fn seal_part<'n>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    offset: u64,
    text: &mut [u8],
) -> Result<PartHash, Error> {
    crypt(key, nonce.into(), offset, InOut::in_place(text), true)
}

/// Encrypts `text`, one part of a message, to `ciphertext`, which has the same length as `text`. See
/// [`seal_part`].
///
/// # Errors
/// Returns `InvalidLength` also if the lengths differ. Otherwise fails like [`seal_part`]. `ciphertext` is
/// untouched.
#[cfg(feature = "hazmat")]
pub fn seal_part_to<'n>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    offset: u64,
    text: &[u8],
    ciphertext: &mut [u8],
) -> Result<PartHash, Error> {
    crypt(key, nonce.into(), offset, InOut::copying(text, ciphertext).ok_or(Error::InvalidLength)?, true)
}

/// Decrypts one part of a message in place. **Nobody has verified the text** before [`combine`] has returned
/// the message's tag; until then the text must have no effect.
///
/// # Errors
/// Fails like [`seal_part`].
#[cfg(feature = "hazmat")]
pub fn open_part<'n>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    offset: u64,
    text: &mut [u8],
) -> Result<PartHash, Error> {
    crypt(key, nonce.into(), offset, InOut::in_place(text), false)
}

/// Hashes one part of a ciphertext without decrypting it, so that a message can be verified first, part by
/// part.
///
/// # Errors
/// Fails like [`seal_part`].
#[cfg(feature = "hazmat")]
pub fn hash_part(key: &Key, offset: u64, ciphertext: &[u8]) -> Result<PartHash, Error> {
    hashed(key, Nonce::from([0; 12]), offset, ciphertext.len(), |running| {
        running.verify(&key.material, ciphertext)
    })
}

/// Returns the tag of a message that was sealed or opened in parts. `parts` must come in the order of the
/// text. Any machine and any back end may have hashed them. To verify a message, compare the tag with `==`,
/// which takes constant time.
///
/// # Errors
/// Returns [`Incomplete`](Error::Incomplete) unless the parts form one text: the first begins at 0, and each
/// other part begins where the previous one ends. Returns [`TooLong`](Error::TooLong) if `aad` has more than
/// [`limits::AAD`] bytes, or the text more than [`limits::TEXT`].
pub fn combine<'n, 'p>(
    key: &Key,
    nonce: impl Into<Nonce<'n>>,
    aad: &[u8],
    parts: impl IntoIterator<Item = &'p PartHash>,
) -> Result<Tag, Error> {
    limits::check(aad.len(), 0)?;
    let (steps, material) = key.keyed();
    Frame::try_wiped_after_all(|| {
        let start = steps.start(material, nonce.into());
        let mut hash = Hash::ZERO;
        steps.hash(material, &mut hash, aad, |()| ());
        let h = steps.aes(material, 0, |h| h);
        let (mut text, mut sum) = (0u64, hash.get().swap_bytes());
        let mut power = (0, Power::of(h, 0));
        for part in parts {
            if part.offset != text {
                return Err(Error::Incomplete);
            }
            text += part.length;
            let blocks = part.length.div_ceil(16);
            if blocks != power.0 {
                power = (blocks, Power::of(h, blocks));
            }
            sum = power.1.times(sum) ^ part.hash;
        }
        limits::check(0, text as usize)?;
        hash.set(sum.swap_bytes());
        let tag = steps.finish(material, &hash, lengths(aad.len() as u64, text), Some(&start), Tag::of);
        hash.zeroize();
        Ok(tag)
    })
}

/// The plan of a message that several workers seal. The program that hands out the work makes one plan.
///
/// The plan cuts the text into parts that do not overlap, and keeps the hash of each sealed part. This hash
/// is a digest of the part's text that nobody can compute without the key. So when a part is sealed again,
/// after a worker or a connection has failed, [`accept`](Self::accept) notices a different text. A different
/// text would give away the first text and the hash key.
///
/// **Order of work**: a worker seals its part into memory, sends the [`PartHash`] to the plan, and releases
/// the ciphertext only when the plan has accepted the hash. The plan is made for one nonce and one key, and
/// must outlive its workers. A text that is started again without its plan needs a new nonce.
///
/// ```
/// # use fastgcm::{Key, hazmat::{Plan, seal_part}};
/// let key = Key::aes256(&[7; 32]);
/// let mut text = vec![1; 100_000];
/// let mut plan = Plan::new([1; 12], 100_000, 65_536)?;
/// for range in plan.missing().collect::<Vec<_>>() {
///     let part = &mut text[range.start as usize..range.end as usize]; // on another machine
///     plan.accept(seal_part(&key, plan.nonce(), range.start, part)?)?;
/// }
/// let tag = plan.tag(&key, b"aad")?;
/// key.open([1; 12], b"aad", &mut text, &tag)?;
/// # Ok::<(), fastgcm::Error>(())
/// ```
///
/// A plan cannot be cloned: two plans would accept two texts for one part.
///
/// ```compile_fail,E0599
/// let plan = fastgcm::hazmat::Plan::new([1; 12], 16, 16).unwrap();
/// let second = plan.clone();
/// ```
#[cfg(all(feature = "hazmat", feature = "alloc"))]
#[derive(Debug)]
pub struct Plan {
    nonce: [u8; 12],
    text: u64,
    part: u64,
    accepted: BTreeMap<u64, PartHash>,
}

#[cfg(all(feature = "hazmat", feature = "alloc"))]
impl Plan {
    /// Plans a message of `text` bytes with this nonce, in parts of `part` bytes. The last part may be
    /// shorter.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `part` is 0 or not a multiple of 16, or
    /// [`TooLong`](Error::TooLong) if `text` is more than [`limits::TEXT`].
    pub fn new(nonce: [u8; 12], text: u64, part: u64) -> Result<Self, Error> {
        if part == 0 || !part.is_multiple_of(16) {
            return Err(Error::InvalidLength);
        }
        if text > limits::TEXT {
            return Err(Error::TooLong);
        }
        Ok(Self { nonce, text, part, accepted: BTreeMap::new() })
    }

    /// Returns the nonce of the message, which all parts use.
    pub fn nonce(&self) -> [u8; 12] {
        self.nonce
    }

    /// Returns all parts in order: where each part begins and ends in the text, in bytes.
    pub fn parts(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let (text, part) = (self.text, self.part);
        (0..text.div_ceil(part)).map(move |i| i * part..text.min((i + 1) * part))
    }

    /// Returns the parts that have not been accepted yet, in order.
    pub fn missing(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.parts().filter(|range| !self.accepted.contains_key(&range.start))
    }

    /// Returns the accepted hashes, in order. Encrypt them and store them where they survive the plan: a new
    /// plan for the message accepts them.
    pub fn accepted(&self) -> impl Iterator<Item = &PartHash> {
        self.accepted.values()
    }

    /// Takes the hash of a part. A hash that was accepted before is not an error and changes nothing.
    ///
    /// # Errors
    /// Returns [`OtherText`](Error::OtherText) if the part was accepted before with a different text; the
    /// ciphertext must be destroyed. Returns [`InvalidLength`](Error::InvalidLength) if the hash is not of a
    /// part of this plan. In both cases the plan does not change.
    pub fn accept(&mut self, hash: PartHash) -> Result<(), Error> {
        let end = hash.offset.checked_add(self.part).ok_or(Error::InvalidLength)?.min(self.text);
        if !hash.offset.is_multiple_of(self.part)
            || hash.offset >= self.text
            || hash.offset + hash.length != end
        {
            return Err(Error::InvalidLength);
        }
        match self.accepted.get(&hash.offset) {
            Some(before) if !before.is(&hash) => Err(Error::OtherText),
            Some(_) => Ok(()),
            None => {
                self.accepted.insert(hash.offset, hash);
                Ok(())
            }
        }
    }

    /// Encrypts the part that begins at `offset` in place, and accepts it. The function is for a caller that
    /// holds the plan itself.
    ///
    /// # Errors
    /// Fails like [`accept`](Self::accept); `text` is then bit for bit what it was.
    pub fn seal(&mut self, key: &Key, offset: u64, text: &mut [u8]) -> Result<(), Error> {
        let hash = seal_part(key, self.nonce, offset, text)?;
        self.accept(hash).or_else(|refused| open_part(key, self.nonce, offset, text).and(Err(refused)))
    }

    /// Returns the tag of the whole message.
    ///
    /// # Errors
    /// Returns [`Incomplete`](Error::Incomplete) if a part is missing, or [`TooLong`](Error::TooLong) if
    /// `aad` has more than [`limits::AAD`] bytes.
    pub fn tag(&self, key: &Key, aad: &[u8]) -> Result<Tag, Error> {
        if self.accepted.len() as u64 != self.text.div_ceil(self.part) {
            return Err(Error::Incomplete);
        }
        combine(key, self.nonce, aad, self.accepted())
    }
}
