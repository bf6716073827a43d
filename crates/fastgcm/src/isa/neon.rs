//! AArch64 without instructions for AES: a Raspberry Pi 4, set-top boxes, and other cores whose maker left
//! the Cryptographic Extension out. [`permute`] is what is made of these operations.

#![allow(unknown_lints, inline_always_mismatching_target_features)] // as in `aarch64.rs`

use super::{
    Order, Portable, Sliced,
    nibbles::{self, Bytes, Lookups, Permutes},
    permute::{self, Register, permuting},
    portable::SBox,
};
use crate::Block;
use core::arch::aarch64::*;

permuting! {
    /// The proof that the processor can permute bytes.
    NeonTables, Bytes16, "neon"
}

#[derive(Clone, Copy)]
struct Bytes16(uint8x16_t);

// SAFETY (of every block below): this file is compiled only where every processor has NEON.
#[allow(clippy::undocumented_unsafe_blocks, unused_unsafe)]
impl Bytes for Bytes16 {
    #[inline(always)]
    fn zero() -> Self {
        Self(unsafe { vdupq_n_u8(0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(unsafe { veorq_u8(self.0, other.0) })
    }
    #[inline(always)]
    fn nibbles(self) -> [Self; 2] {
        unsafe { [Self(vshrq_n_u8::<4>(self.0)), Self(vandq_u8(self.0, vdupq_n_u8(15)))] }
    }
    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        Self(unsafe { vqtbl1q_u8(self.0, index.0) })
    }
    #[inline(always)]
    fn along(low: Self, high: Self) -> (Self, Self) {
        unsafe { (Self(vextq_u8::<15>(vdupq_n_u8(0), low.0)), Self(vextq_u8::<15>(low.0, high.0))) }
    }
    #[inline(always)]
    fn bits_along<const N: u32>(self) -> (Self, Self) {
        unsafe {
            (Self(vshlq_u8(self.0, vdupq_n_s8(-(N as i8)))), Self(vshlq_u8(self.0, vdupq_n_s8(8 - N as i8))))
        }
    }
    #[inline(always)]
    fn riffle(self, other: Self) -> [Self; 2] {
        unsafe { [Self(vzip1q_u8(self.0, other.0)), Self(vzip2q_u8(self.0, other.0))] }
    }
}

#[allow(clippy::undocumented_unsafe_blocks, unused_unsafe)]
impl Register for Bytes16 {
    #[inline(always)]
    fn of(bytes: &[u8; 16]) -> Self {
        Self(unsafe { vld1q_u8(bytes.as_ptr()) })
    }
    #[inline(always)]
    fn one_more(self) -> Self {
        Self(unsafe {
            vreinterpretq_u8_u32(vaddq_u32(
                vreinterpretq_u32_u8(self.0),
                vsetq_lane_u32::<0>(1, vdupq_n_u32(0)),
            ))
        })
    }
}

impl From<Block> for Bytes16 {
    #[inline(always)]
    fn from(block: Block) -> Self {
        // SAFETY: both are 16 plain bytes.
        Self(unsafe { core::mem::transmute::<Block, uint8x16_t>(block) })
    }
}

impl From<Bytes16> for Block {
    #[inline(always)]
    fn from(v: Bytes16) -> Self {
        // SAFETY: both are 16 plain bytes.
        unsafe { core::mem::transmute::<uint8x16_t, Block>(v.0) }
    }
}
