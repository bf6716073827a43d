//! The limits of SP 800-38D, section 5.2.1.1, in bytes.
//!
//! Every function checks these limits before it writes anything. The number of messages that one key may seal
//! is not a limit of one call, so the caller must count: with random 96-bit nonces a key may seal at most
//! 2^32 messages (section 8.3).

use crate::Error;

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
