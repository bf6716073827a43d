//! AES (FIPS 197): the key schedule. The rounds are operations of the [`Isa`](crate::isa::Isa), and where
//! they are run is the business of [`gcm`](crate::gcm).

mod schedule;

pub(crate) use schedule::{KeySize, Schedule, WOVEN, expand_in_loops};
