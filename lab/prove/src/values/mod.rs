//! What registers and memory hold.

pub mod field;
pub mod lines;
pub mod unknown;
pub mod word;
