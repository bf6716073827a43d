//! What is derived from the bytes of a key.

use crate::{
    aes::Schedule,
    inout::{Kept, Plain, Storage},
};

/// AES round keys, and what a row makes of the key besides: its own type (`ghash::Powers`, or the tables of
/// `gcm::software`), or, where the row is not known, room for any.
pub(crate) type Material<T = Storage> = Kept<Schedule, T>;

impl<T: Plain> Material<T> {
    pub(crate) const ZERO: Self = Self { schedule: Schedule::ZERO, tables: T::ZERO };
}
