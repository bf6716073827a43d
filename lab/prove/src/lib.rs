//! Proves whole calls of fastgcm from machine code. docs/proof.md says what that means.
//!
//! ```text
//! field    what a bit is: a polynomial at two random points       unknown  inputs, the S-box, sums
//! spec     the standards                                          image    a process right before the call
//! memory   machine   general   vector   the processor
//! calls    what is called, with which arguments                   prove    one call held against the standard
//! plan     which calls                                            table    all of them, on all cores
//! induct   all lengths                                            lines    numbers that are linear in a length
//! forms    semantics against silicon                              lockstep whole calls against silicon
//! checks   what else is run
//! ```
// Most fields are what they are called; what is not is described.
#![allow(missing_docs)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

pub mod calls;
pub mod checks;
pub mod controls;
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
pub mod prove;
pub mod spec;
pub mod table;
pub mod unknown;
mod vector;
