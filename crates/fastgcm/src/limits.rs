//! The limits of SP 800-38D, section 5.2.1.1, in bytes.
//!
//! Every function checks these limits before it writes anything. How much one key may seal is not a limit of
//! one call, so somebody must count: messages with random 96-bit nonces, of which a key may seal at most 2^32
//! (section 8.3), and blocks ([`Blocks`]). A [`nonces::SealingKey`](crate::nonces::SealingKey) counts both.

use crate::Error;
use core::fmt;

/// The longest text, in bytes: 2^39 - 256 bits. So the 32-bit counter of a 96-bit nonce never returns to the
/// block that masks the tag.
pub const TEXT: u64 = (1 << 36) - 32;
/// The longest AAD, in bytes: the whole bytes of 2^64 - 1 bits.
pub const AAD: u64 = (1 << 61) - 1;
/// The longest nonce, in bytes: the whole bytes of 2^64 - 1 bits.
pub const NONCE: u64 = (1 << 61) - 1;

/// Returns `TooLong` unless both lengths are within the limits.
#[inline]
pub(crate) fn check(aad: usize, text: usize) -> Result<(), Error> {
    if aad as u64 > AAD || text as u64 > TEXT { Err(Error::TooLong) } else { Ok(()) }
}

/// Returns `InvalidLength` if a nonce is empty, or `TooLong` if it exceeds the limit.
#[inline]
pub(crate) fn check_nonce(nonce: usize) -> Result<(), Error> {
    match nonce as u64 {
        0 => Err(Error::InvalidLength),
        1..=NONCE => Ok(()),
        _ => Err(Error::TooLong),
    }
}

/// How many blocks of 16 bytes a key may serve, and how many it has served: the arithmetic of the bounds that
/// are proved for AES-GCM (draft-irtf-cfrg-aead-limits, section 5.1), without rounding.
///
/// [`SealingKey`](crate::nonces::SealingKey) and [`OpeningKey`](crate::nonces::OpeningKey) each keep one.
/// Whoever seals with a [`Key`](crate::Key) can keep one beside it:
///
/// ```
/// use fastgcm::{Error, limits::Blocks};
///
/// let mut blocks = Blocks::confidentiality(60);        // an attacker's advantage stays below 2^-60
/// assert_eq!(blocks.left(), 24_296_003_999 - 1);       // the root of 2^(129 - 60), less one
/// blocks.take(Blocks::sealed(1 << 14))?;               // before a message of 16 KiB is sealed
/// assert_eq!(blocks.used(), 1024 + 1);
///
/// let mut tenth = Blocks::confidentiality(60).after(2_429_600_398, 10); // one of ten sealers, restarted
/// assert_eq!((tenth.take(1), tenth.take(1)), (Ok(()), Err(Error::Exhausted)));
/// assert_eq!(Blocks::integrity(57).left(), 1 << 70);
/// assert_eq!(Blocks::refused(20, 1 << 14), 2 + 1024 + 1);
/// # Ok::<(), Error>(())
/// ```
pub struct Blocks {
    /// All that the key may serve, whoever uses it.
    most: u128,
    /// The part of it that is this one's. (Divided when it is made: a division takes longer than a message.)
    share: u128,
    used: u128,
}

impl Blocks {
    /// The exponent of a [`SealingKey`](crate::nonces::SealingKey) that was given none.
    pub const CONFIDENTIALITY: u32 = 32;
    /// The exponent of an [`OpeningKey`](crate::nonces::OpeningKey) that was given none.
    pub const INTEGRITY: u32 = 57;

    /// Makes the blocks that a key may seal. With s blocks of text in q messages, an attacker who tells
    /// ciphertext from random bytes has an advantage of at most (s + q + 1)^2 / 2^129, since the key serves
    /// that many blocks of AES, which never repeat. `take` gives [`sealed`](Self::sealed) blocks for as long
    /// as this is at most 2^-`exponent`. From 129 on nothing may be sealed, and 0 counts as 1.
    pub const fn confidentiality(exponent: u32) -> Self {
        // The largest n whose square is at most 2^power. 2^128 is no number of 128 bits; its root is one.
        let n = match 129_u32.saturating_sub(exponent) {
            128.. => 1 << 64,
            power => (1_u128 << power).isqrt(),
        };
        Self { most: n - 1, share: n - 1, used: 0 }
    }

    /// Makes the blocks of refused messages that a key may see. Of v forgeries with at most l blocks of AAD
    /// and text, one succeeds with a chance of at most v (l + 1) / 2^127. `take` gives
    /// [`refused`](Self::refused) blocks for as long as their sum, over all forgeries, is at most
    /// 2^(127 - `exponent`). From 128 on nothing may be opened.
    pub const fn integrity(exponent: u32) -> Self {
        let most = if exponent > 127 { 0 } else { 1 << (127 - exponent) };
        Self { most, share: most, used: 0 }
    }

    /// Adds `blocks` that were used before, in another run of the program, and gives each of `sharers` an
    /// equal share of all blocks. This one has what its share leaves after `blocks`. Zero sharers are one.
    #[must_use]
    pub const fn after(self, blocks: u128, sharers: u32) -> Self {
        let sharers = if sharers == 0 { 1 } else { sharers };
        Self { most: self.most, share: self.most / sharers as u128, used: self.used.saturating_add(blocks) }
    }

    /// Returns what sealing `text` bytes takes: the blocks of the text, a part of one counted whole, and one
    /// for the message. AAD takes none.
    #[inline]
    pub const fn sealed(text: u64) -> u128 {
        text.div_ceil(16) as u128 + 1
    }

    /// Returns what refusing a message takes: the blocks of AAD and text, parts of one counted whole, and one
    /// for the message.
    #[inline]
    pub const fn refused(aad: u64, text: u64) -> u128 {
        aad.div_ceil(16) as u128 + text.div_ceil(16) as u128 + 1
    }

    /// Returns how many blocks are left.
    #[inline]
    pub const fn left(&self) -> u128 {
        self.share.saturating_sub(self.used)
    }

    /// Returns how many blocks were used, including those given to `after`: what a program stores, and gives
    /// to `after` when it starts again.
    #[inline]
    pub const fn used(&self) -> u128 {
        self.used
    }

    /// Takes `blocks`.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if fewer are left; none is taken then.
    #[inline]
    pub const fn take(&mut self, blocks: u128) -> Result<(), Error> {
        match self.has(blocks) {
            Ok(()) => self.used += blocks, // at most `most`
            refused => return refused,
        }
        Ok(())
    }

    /// Returns [`Exhausted`](Error::Exhausted) if fewer than `blocks` are left.
    #[inline]
    pub(crate) const fn has(&self, blocks: u128) -> Result<(), Error> {
        if blocks > self.left() { Err(Error::Exhausted) } else { Ok(()) }
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("used", &self.used).field("left", &self.left()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F5, F6: the limits themselves are allowed, one byte more is not.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn f05_f06_limits_are_exact() {
        assert_eq!(TEXT, 68_719_476_704);
        assert_eq!(AAD, 2_305_843_009_213_693_951);
        assert_eq!(check(AAD as usize, TEXT as usize), Ok(()));
        assert_eq!(check(AAD as usize + 1, 0), Err(Error::TooLong));
        assert_eq!(check(0, TEXT as usize + 1), Err(Error::TooLong));
        assert_eq!(check(usize::MAX, usize::MAX), Err(Error::TooLong));
        assert_eq!(NONCE, 2_305_843_009_213_693_951);
        assert_eq!([1, 12, NONCE as usize].map(check_nonce), [Ok(()); 3]);
        assert_eq!(check_nonce(NONCE as usize + 1), Err(Error::TooLong));
    }
}
