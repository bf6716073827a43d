//! Any machine: only the stack, wiped by a function that takes as much of it as the entry had, and overwrites
//! it.

use core::{hint::black_box, mem::MaybeUninit};

/// Returns a place in the frame of the function into which this call is inlined.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let here = MaybeUninit::<u8>::uninit();
    black_box(here.as_ptr()) as usize
}

/// Wipes the stack from `lowest` up to here, and some more.
#[inline(never)]
pub(super) fn wipe(lowest: usize) {
    match stack_pointer().saturating_sub(lowest) {
        0..=1024 => overwrite::<1024>(),
        1025..=4096 => overwrite::<4096>(),
        4097..=16_384 => overwrite::<16_384>(),
        _ => overwrite::<65_536>(),
    }
}

/// Overwrites `BYTES` bytes, and whatever this function's own frame takes.
#[inline(never)]
fn overwrite<const BYTES: usize>() {
    black_box(&mut [0_u8; BYTES]);
}
