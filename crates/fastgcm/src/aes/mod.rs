//! AES (FIPS 197): the key schedule. The rounds are operations of the [`Isa`](crate::isa::Isa), and
//! [`gcm`](crate::gcm) decides where they run.

mod schedule;

pub(crate) use schedule::{KeySize, Keys, Schedule, WOVEN, expand_in_loops};
