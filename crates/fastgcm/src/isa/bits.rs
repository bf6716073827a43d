//! Shifts, for variants in `fastgcm-papers`: no row of the table needs them. A variant without a shift
//! instruction multiplies by a power of x.

use super::{Portable, Vectors, item_on, portable::SBox};
use crate::Block;

pub trait Bits: Vectors {
    /// Shifts each half left by `N` bits, 0 < N < 64.
    #[inline(always)]
    fn shift_left<const N: u32>(self, v: Self::V) -> Self::V {
        let power = self.splat(1 << N);
        self.low_halves(self.clmul::<false, false>(v, power), self.clmul::<true, false>(v, power))
    }
    /// Shifts each half right by `N` bits, 0 < N < 64.
    #[inline(always)]
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V {
        let power = self.splat(1 << (64 - N));
        self.high_halves(self.clmul::<false, false>(v, power), self.clmul::<true, false>(v, power))
    }
    /// Shifts each lane by four bytes to the higher ones; zeros come in.
    #[inline(always)]
    fn up_word(self, v: Self::V) -> Self::V {
        self.xor(self.shift_left::<32>(v), self.low_halves(self.splat(0), self.shift_right::<32>(v)))
    }
    /// Shifts each lane by four bytes to the lower ones; zeros come in.
    #[inline(always)]
    fn down_word(self, v: Self::V) -> Self::V {
        self.xor(self.shift_right::<32>(v), self.high_halves(self.shift_left::<32>(v), self.splat(0)))
    }
}

impl<const N: usize, const MANY_REGISTERS: bool, X: SBox> Bits for Portable<N, MANY_REGISTERS, X> {
    fn shift_left<const BITS: u32>(self, v: Self::V) -> Self::V {
        v.map(|x| ((x as u64) << BITS) as Block | (x >> 64) << (64 + BITS))
    }
    fn shift_right<const BITS: u32>(self, v: Self::V) -> Self::V {
        v.map(|x| (x as u64 >> BITS) as Block | x >> (64 + BITS) << 64)
    }
    fn up_word(self, v: Self::V) -> Self::V {
        v.map(|x| x << 32)
    }
    fn down_word(self, v: Self::V) -> Self::V {
        v.map(|x| x >> 32)
    }
}

/// The shifts of a token of x86, by its intrinsics.
macro_rules! bits {
    ($($token:ident $sll:ident $srl:ident $bslli:ident $bsrli:ident;)+) => {$(
        impl Bits for crate::isa::$token {
            #[inline(always)]
            fn shift_left<const N: u32>(self, v: Self::V) -> Self::V {
                registers! { $sll(v, _mm_cvtsi32_si128(N as i32)) }
            }
            #[inline(always)]
            fn shift_right<const N: u32>(self, v: Self::V) -> Self::V {
                registers! { $srl(v, _mm_cvtsi32_si128(N as i32)) }
            }
            #[inline(always)]
            fn up_word(self, v: Self::V) -> Self::V {
                registers! { $bslli::<4>(v) }
            }
            #[inline(always)]
            fn down_word(self, v: Self::V) -> Self::V {
                registers! { $bsrli::<4>(v) }
            }
        }
    )+};
}

item_on! { x86 =>
    mod x86 {
        use super::{super::x86::registers, Bits};
        use core::arch::x86_64::*;

        bits! {
            AesSse _mm_sll_epi64 _mm_srl_epi64 _mm_bslli_si128 _mm_bsrli_si128;
            AesAvx _mm_sll_epi64 _mm_srl_epi64 _mm_bslli_si128 _mm_bsrli_si128;
            Vaes256 _mm256_sll_epi64 _mm256_srl_epi64 _mm256_bslli_epi128 _mm256_bsrli_epi128;
            Vaes512 _mm512_sll_epi64 _mm512_srl_epi64 _mm512_bslli_epi128 _mm512_bsrli_epi128;
        }
    }
}
item_on! { arm => impl Bits for super::Neon {} }
item_on! { arm => impl Bits for super::NeonEor3 {} }
item_on! { riscv => impl Bits for super::Zvkned {} }
