//! Proves whole calls of AES-GCM from machine code. tools/prove/README.md and docs/proof.md explain the method.
//!
//! A module uses those above it in this list:
//!
//! ```text
//! values     bits as polynomials at two random points; words; numbers that are linear in a length; unknown values
//! spec       the standards
//! process    a process right before the call, and the names of its functions
//! memory     the process's memory, and later writes
//! machine    the processor: decoder, instructions, branches; in `arm` that of AArch64
//! statement  the calls and their arguments; the plan of calls; the proof of one call
//! induct     proofs of all lengths by induction
//! targets    programs with other libraries, and a table of their calls
//! silicon    comparison of the machine with a processor: each instruction, and whole calls
//! checks     further checks
//! ```
// Fields are documented where their names do not suffice.
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
