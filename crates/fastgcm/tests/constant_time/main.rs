//! Constant time, looked at from two sides.
//!
//! * [`traces`]: every instruction of a call is stopped at, and the addresses of all instructions and of all memory that they touch are
//!   held against those of the same call with other secrets. It shows what the compiler made of the code, on any back end.
//! * [`undefined`]: under valgrind secrets are marked as undefined memory, and no branch and no address may come of them. (The method is
//!   Adam Langley's ctgrind, 2010.) It needs one run, not a sample of secrets; but valgrind knows no VAES and no AVX-512.
//!
//! What is secret: key, text, AAD, and a nonce unless it has 12 bytes. What is public: lengths, a nonce of 12 bytes, the verdict.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "../support/allocator.rs"]
mod allocator;
#[path = "../support/backends.rs"]
mod backends;
mod call;
#[path = "../support/suite.rs"]
mod suite;
mod trace;
mod traces;
mod undefined;
#[path = "../support/verbs.rs"]
mod verbs;
