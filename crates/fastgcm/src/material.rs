//! What is derived from the bytes of a key.

use crate::{
    aes::Schedule,
    inout::{Kept, Plain, Storage},
};

/// AES round keys, and what the engine of a row makes of the key besides: the engine's own type
/// ([`Engine::Tables`](crate::engine::Engine::Tables)), or, where the row is not known, room for any.
pub(crate) type Material<T = Storage> = Kept<Schedule, T>;

impl<T: Plain> Material<T> {
    pub(crate) const ZERO: Self = Self { schedule: Schedule::ZERO, tables: T::ZERO };
}
