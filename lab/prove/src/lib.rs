//! Proves whole calls of AES-GCM from machine code. lab/prove/README.md and docs/proof.md say what that means.
//!
//! ```text
//! field    what a bit is: a polynomial at two random points       unknown  inputs, the S-box, sums
//! spec     the standards                                          image    a process right before the call
//! memory   machine   general   vector   the processor           arm      that of AArch64
//! calls    what is called, with which arguments                   prove    one call held against the standard
//! target   programs of anybody, compiled                  concrete a call over numbers, by the processor
//! plan     which calls                                            table    all of them, on all cores
//! induct   all lengths                                            lines    numbers that are linear in a length
//! forms    semantics against silicon                              lockstep whole calls against silicon
//! ways     both ways of what must not decide
//! checks   what else is tried                             symbols  names of functions
//! ```
// Most fields are what they are called; what is not is described.
#![allow(missing_docs)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod arm;
pub mod calls;
pub mod checks;
pub mod concrete;
pub mod field;
pub mod forms;
mod general;
pub mod image;
pub mod induct;
pub mod lines;
pub mod lockstep;
pub mod machine;
pub mod memory;
pub mod plan;
pub mod planted;
pub mod prove;
pub mod spec;
pub mod symbols;
pub mod table;
pub mod target;
pub mod unknown;
mod vector;
pub mod ways;
