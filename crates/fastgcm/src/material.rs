//! What a key derives from its bytes.

use crate::{
    aes::Schedule,
    inout::{Kept, Plain, Storage},
};

/// AES round keys, and what else a row derives from the key: the row's own type (`ghash::Powers`, or the
/// tables of `gcm::software`), or, where the row is not known, room for any of these types.
pub(crate) type Material<T = Storage> = Kept<Schedule, T>;

impl<T: Plain> Material<T> {
    pub(crate) const ZERO: Self = Self { schedule: Schedule::ZERO, tables: T::ZERO };
}
