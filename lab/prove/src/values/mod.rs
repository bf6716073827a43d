//! What registers and memory hold.

pub mod field;
pub mod lines;
pub mod random;
pub mod unknown;
pub mod word;
