//! Proves whole calls of AES-GCM from machine code. lab/prove/README.md and docs/proof.md say what that means.
//!
//! A room uses those above it in this list:
//!
//! ```text
//! values     what a bit is: a polynomial at two random points; words; numbers that are linear in a length; what is not known
//! spec       the standards
//! process    a process right before the call, and names of its functions
//! memory     what it has there, and what is written since
//! machine    the processor: decoder, instructions, what decides; in `arm` that of AArch64
//! statement  what is called, with which arguments; which calls; one of them held against the standard
//! induct     all lengths
//! targets    programs of anybody, and a table of their calls
//! silicon    the machine beside a processor: each instruction, and whole calls
//! checks     what else is tried
//! ```
// Most fields are what they are called; what is not is described.
#![allow(missing_docs)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod checks;
pub mod induct;
pub mod machine;
pub mod memory;
pub mod process {
    pub mod image;
    pub mod processor;
    pub mod qemu;
    pub mod symbols;
}
pub mod silicon {
    pub mod arm;
    pub mod forms;
    pub mod lockstep;
}
pub mod spec;
pub mod statement {
    pub mod calls;
    pub mod plan;
    pub mod prove;
}
pub mod targets {
    pub mod concrete;
    pub mod planted;
    pub mod table;
    pub mod target;
}
pub mod values {
    pub mod field;
    pub mod lines;
    pub mod random;
    pub mod unknown;
    pub mod word;
}
