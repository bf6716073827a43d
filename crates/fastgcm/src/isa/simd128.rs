//! WebAssembly with vectors of 128 bits, which a module is compiled for (`-C target-feature=+simd128`).
//! [`permute`] is what is made of these operations. An engine makes of `i8x16.swizzle` what its processor
//! has: on x86 PSHUFB behind an addition that saturates, on AArch64 TBL.

#![allow(unused_unsafe)] // every function of a module has the features that the module is compiled for

use super::{
    Order, Portable, Sliced,
    nibbles::{self, Bytes, Lookups, Permutes},
    permute::{self, Register, permuting},
    portable::SBox,
};
use crate::Block;
use core::arch::wasm32::*;

permuting! {
    /// The proof that the module is compiled for vectors.
    Simd128, Bytes16, "simd128"
}

#[derive(Clone, Copy)]
struct Bytes16(v128);

impl Bytes for Bytes16 {
    #[inline(always)]
    fn zero() -> Self {
        Self(u8x16_splat(0))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(v128_xor(self.0, other.0))
    }
    /// An engine on x86 has shifts of bytes only in several steps, and of words in one.
    #[inline(always)]
    fn nibbles(self) -> [Self; 2] {
        let low = u8x16_splat(15);
        [Self(v128_and(u16x8_shr(self.0, 4), low)), Self(v128_and(self.0, low))]
    }
    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        Self(i8x16_swizzle(self.0, index.0))
    }
    #[inline(always)]
    fn along(low: Self, high: Self) -> (Self, Self) {
        let along = |low, high| {
            Self(i8x16_shuffle::<15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(low, high))
        };
        (along(u8x16_splat(0), low.0), along(low.0, high.0))
    }
    #[inline(always)]
    fn bits_along<const N: u32>(self) -> (Self, Self) {
        let here = 0xff_u8 >> N;
        (
            Self(v128_and(u16x8_shr(self.0, N), u8x16_splat(here))),
            Self(v128_and(u16x8_shl(self.0, 8 - N), u8x16_splat(!here))),
        )
    }
    #[inline(always)]
    fn riffle(self, other: Self) -> [Self; 2] {
        let (a, b) = (self.0, other.0);
        [
            Self(i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b)),
            Self(i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b)),
        ]
    }
}

impl Register for Bytes16 {
    #[inline(always)]
    fn of(bytes: &[u8; 16]) -> Self {
        // SAFETY: sixteen bytes, wherever they are.
        Self(unsafe { v128_load(bytes.as_ptr().cast()) })
    }
    #[inline(always)]
    fn one_more(self) -> Self {
        Self(i32x4_add(self.0, i32x4(1, 0, 0, 0)))
    }
}

impl From<Block> for Bytes16 {
    #[inline(always)]
    fn from(block: Block) -> Self {
        Self(u64x2(block as u64, (block >> 64) as u64))
    }
}

impl From<Bytes16> for Block {
    #[inline(always)]
    fn from(v: Bytes16) -> Self {
        Block::from(u64x2_extract_lane::<0>(v.0)) | Block::from(u64x2_extract_lane::<1>(v.0)) << 64
    }
}
