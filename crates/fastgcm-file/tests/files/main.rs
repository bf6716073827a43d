//! Sealed files: what is written, what is read, and what is refused. One program, because linking each file of these tests takes longer than
//! compiling it.

mod interop;
mod long;
mod random;
mod ranges;
mod streams;
mod tampering;
mod threads;
#[cfg(target_pointer_width = "64")]
mod walk;

/// Text of that length.
fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}
