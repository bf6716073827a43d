//! Sealed files: what is written, what is read, and what is refused. One program, because linking each file of these tests takes longer than
//! compiling it.

mod interop;
mod long;
mod random;
mod ranges;
mod streams;
mod tampering;
mod threads;
