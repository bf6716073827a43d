//! Two lanes of 64 bits in a register of SSE2, which every x86-64 with vector registers has.
//!
//! rustc does not find these instructions by itself: the circuit of AES on pairs of integers became scalar
//! code, 918 ns for eight blocks. With them it took 365.

use super::portable::Word;
use crate::Block;
use core::{
    arch::x86_64::*,
    ops::{BitAnd, BitOr, BitXor, Not},
};

#[derive(Clone, Copy)]
pub(crate) struct Pair(__m128i);

/// An operator, which is one intrinsic.
macro_rules! operator {
    ($operator:ident $method:ident $intrinsic:ident) => {
        impl $operator for Pair {
            type Output = Pair;
            #[inline(always)]
            fn $method(self, other: Pair) -> Pair {
                // SAFETY: this file is compiled only where every processor has SSE2.
                Pair(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}
operator!(BitAnd bitand _mm_and_si128);
operator!(BitOr bitor _mm_or_si128);
operator!(BitXor bitxor _mm_xor_si128);

impl Not for Pair {
    type Output = Pair;
    #[inline(always)]
    fn not(self) -> Pair {
        self ^ Pair::splat(u64::MAX)
    }
}

// SAFETY (of every block below): SSE2 is there, and touches no memory. Shift counts are known at compile
// time.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Word for Pair {
    const LANES: usize = 2;
    type Blocks = [Block; 8];

    #[inline(always)]
    fn splat(bits: u64) -> Pair {
        Pair(unsafe { _mm_set1_epi64x(bits as i64) })
    }
    #[inline(always)]
    fn from_lanes(lane: impl Fn(usize) -> u64) -> Pair {
        Pair(unsafe { _mm_set_epi64x(lane(1) as i64, lane(0) as i64) })
    }
    #[inline(always)]
    fn lane(self, i: usize) -> u64 {
        unsafe { _mm_cvtsi128_si64(if i == 0 { self.0 } else { _mm_unpackhi_epi64(self.0, self.0) }) as u64 }
    }
    #[inline(always)]
    fn up(self, bits: u32) -> Pair {
        Pair(unsafe { _mm_sll_epi64(self.0, count(bits)) })
    }
    #[inline(always)]
    fn down(self, bits: u32) -> Pair {
        Pair(unsafe { _mm_srl_epi64(self.0, count(bits)) })
    }
    #[inline(always)]
    fn mul32(self, other: Pair) -> Pair {
        Pair(unsafe { _mm_mul_epu32(self.0, other.0) })
    }
    /// Rows are words of 16 bits, which shuffles move; columns rotate inside them.
    #[inline(always)]
    fn below<const ROWS: u32, const COLUMNS: u32>(self) -> Pair {
        const { assert!(ROWS == 1 || ROWS == 2) }
        unsafe {
            let x = if ROWS == 1 {
                _mm_shufflehi_epi16::<0b00_11_10_01>(_mm_shufflelo_epi16::<0b00_11_10_01>(self.0))
            } else {
                _mm_shuffle_epi32::<0b10_11_00_01>(self.0)
            };
            let aside = 4 * COLUMNS;
            Pair(if aside == 0 {
                x
            } else {
                _mm_or_si128(_mm_srl_epi16(x, count(aside)), _mm_sll_epi16(x, count(16 - aside)))
            })
        }
    }

    #[inline(always)]
    fn interleave(blocks: [Block; 8]) -> [Pair; 8] {
        // Columns 0 and 2 byte by byte, then 1 and 3.
        let both = |b: usize| unsafe {
            let block: __m128i = core::mem::transmute(blocks[b]);
            _mm_unpacklo_epi8(block, _mm_unpackhi_epi64(block, block))
        };
        core::array::from_fn(|i| {
            let (x, y) = (both(i % 4), both(i % 4 + 4));
            Pair(unsafe { if i < 4 { _mm_unpacklo_epi64(x, y) } else { _mm_unpackhi_epi64(x, y) } })
        })
    }
    #[inline(always)]
    fn blocks(words: [Pair; 8]) -> [Block; 8] {
        core::array::from_fn(|b| unsafe {
            let (even, odd) = (words[b % 4].0, words[b % 4 + 4].0);
            let both = if b < 4 { _mm_unpacklo_epi64(even, odd) } else { _mm_unpackhi_epi64(even, odd) };
            // The lower bytes of all words of 16 bits are columns 0 and 1; packing does not saturate them.
            let (low, high) = (_mm_and_si128(both, _mm_set1_epi16(0xff)), _mm_srli_epi16::<8>(both));
            core::mem::transmute(_mm_packus_epi16(low, high))
        })
    }
}

/// Returns a count for a shift, which becomes an immediate.
#[inline(always)]
fn count(bits: u32) -> __m128i {
    // SAFETY: as above.
    unsafe { _mm_cvtsi32_si128(bits as i32) }
}
