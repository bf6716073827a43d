//! Programs of anybody: how they are compiled and started, and what is told of their calls.

pub mod concrete;
pub mod planted;
pub mod table;
pub mod target;
