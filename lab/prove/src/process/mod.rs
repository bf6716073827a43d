//! A process that stands still right before the call.

pub mod image;
pub mod processor;
pub mod qemu;
pub mod symbols;
