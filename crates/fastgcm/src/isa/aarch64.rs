//! AArch64 with the Cryptographic Extension: one block a vector, and the page of operations that the
//! algorithm uses.
//!
//! Arm's AES round is two instructions, AESE (add a key, shift rows, substitute bytes) and AESMC (mix
//! columns). The key comes *before* the round, so `whiten` does nothing, and no round needs an XOR. Cores
//! fuse the pair only if the two instructions are adjacent; `cargo xtask cross` reads the disassembly and
//! fails if a pair is split.
//!
//! **Where the techniques come from.** Ard Biesheuvel rewrote Linux's AES-GCM for deep pipelines (ThunderX2,
//! Linux 5.10). These are his techniques by name, and what this library does with each:
//! * *GHASH aggregation*, one reduction for four blocks: here one for eight, and in the tail one for all
//!   blocks with the tag's block (`gcm::tail`).
//! * *CTR and GHASH interleaved*: `gcm::turn` (`rounds`), eight states in two groups of four
//!   (`MANY_REGISTERS`), with a hash step between the groups. Interleaving 4x or 5x, as he did, leaves
//!   registers free for the round keys, but gains nothing else: `lab/asm/arm.py` has models count cycles.
//! * *Blocks filled from right to left*, so that the last block meets H^1 and fewer blocks need only the
//!   lower powers: here the blocks stay where they are and the *powers* are read from right to left
//!   (`ghash::powers`), with zeros behind H^1.
//! * *The whole keystream generated and the surplus dropped*: here a step of four vectors, and a tail of one
//!   to four (`plan::Class`); bytes behind the text are masked off (`keep_first`) and meet a power of zero.
//! * *Overlapping loads and a permute table*: [`load_first`] and [`store_first`], two overlapping accesses
//!   combined by a shift. His code reads 16 bytes that end where the text ends, and so needs 16 bytes of
//!   text, or a copy. These functions read no byte outside the text, even of one byte at either end of a
//!   page, and pay for that with two branches on the length.
//! * *The tag folded into the one call*: J0 is one more state of the tail, and the lengths are one more block
//!   of its sum.
//!
//! He wins 9 to 38 % on ThunderX2, but in his own table Cortex-A72 *loses* 4 to 5 % at 4 KiB (A53 1 to 2 %):
//! there the old code, two blocks at a time, already gave the pipeline all that it could use. Only a
//! Cortex-A72 can tell whether eight blocks lose more; none was at hand.

// Intrinsics melt into the entry, which has the features; rustc from 1.96 on warns because it looks only at
// the operation.
#![allow(unknown_lints, inline_always_mismatching_target_features)]

use super::{Isa, Vectors};
use crate::Block;
use core::{
    arch::{aarch64::*, asm},
    mem::transmute,
};

/// Generates a token and its `Isa`.
macro_rules! isa {
    ($(#[$doc:meta])* $token:ident, features $features:literal, xor3 $xor3:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $token(());

        impl $token {
            /// Returns the token, which is the proof. Only a function with these features enabled may call
            /// this function.
            #[target_feature(enable = $features)]
            pub(crate) fn here() -> Self {
                Self(())
            }
        }

        // SAFETY (of every block below): a token exists only where its features are enabled; the caller
        // vouches for the pointers.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Vectors for $token {
            type V = uint8x16_t;
            const BLOCKS: usize = 1;
            const MANY_REGISTERS: bool = true;
            #[inline(always)] unsafe fn load(self, src: *const u8) -> uint8x16_t { unsafe { vld1q_u8(src) } }
            #[inline(always)] unsafe fn store(self, dst: *mut u8, v: uint8x16_t) { unsafe { vst1q_u8(dst, v) } }
            #[inline(always)] unsafe fn load_first(self, src: *const u8, n: usize) -> uint8x16_t { unsafe { load_first(src, n) } }
            #[inline(always)] unsafe fn store_first(self, dst: *mut u8, n: usize, v: uint8x16_t) { unsafe { store_first(dst, n, v) } }
            #[inline(always)] fn splat(self, block: Block) -> uint8x16_t { whole(vector(block)) }
            #[inline(always)] fn first(self, block: Block) -> uint8x16_t { vector(block) }
            #[inline(always)] fn put_last(self, _: uint8x16_t, block: Block) -> uint8x16_t { vector(block) }
            #[inline(always)] fn keep_first(self, v: uint8x16_t, n: usize) -> uint8x16_t {
                unsafe { vandq_u8(v, vcltq_u8(vector(POSITIONS), vdupq_n_u8(n as u8))) }
            }
            #[inline(always)] fn fold(self, v: uint8x16_t) -> Block { block(v) }
            #[inline(always)] fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t { unsafe { veorq_u8(a, b) } }
            #[inline(always)] fn xor3(self, a: uint8x16_t, b: uint8x16_t, c: uint8x16_t) -> uint8x16_t { unsafe { $xor3(a, b, c) } }
            #[inline(always)] fn byte_swap(self, v: uint8x16_t) -> uint8x16_t { reverse(v) }
            #[inline(always)] fn swap_halves(self, v: uint8x16_t) -> uint8x16_t { unsafe { vextq_u8::<8>(v, v) } }
            #[inline(always)] fn low_halves(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                unsafe { vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))) }
            }
            #[inline(always)] fn high_halves(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                unsafe { vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))) }
            }
            /// PMULL takes two low halves, PMULL2 two high ones: for one half of each kind, `a` is swapped,
            /// once for both products that need it.
            #[inline(always)] fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                let a = if A_HIGH == B_HIGH { a } else { self.swap_halves(a) };
                unsafe {
                    let (a, b) = (vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b));
                    vreinterpretq_u8_p128(if B_HIGH {
                        vmull_high_p64(a, b)
                    } else {
                        vmull_p64(vgetq_lane_p64::<0>(a), vgetq_lane_p64::<0>(b))
                    })
                }
            }
            #[inline(always)] fn add32(self, v: uint8x16_t, n: uint8x16_t) -> uint8x16_t {
                unsafe { vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(v), vreinterpretq_u32_u8(n))) }
            }
            #[inline(always)] fn pin(self, v: &mut uint8x16_t) {
                unsafe { asm!("/*{0:v}*/", inout(vreg) *v, options(nostack, preserves_flags)) }
            }
        }

        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Isa for $token {
            type State = uint8x16_t;
            #[inline(always)] fn whiten(self, x: uint8x16_t, _key0: uint8x16_t) -> uint8x16_t { x }
            #[inline(always)] fn state(self, v: uint8x16_t) -> uint8x16_t { v }
            #[inline(always)] fn vector(self, x: uint8x16_t) -> uint8x16_t { x }
            const KEY_FIRST: bool = true;
            #[inline(always)] fn round(self, x: &mut uint8x16_t, key: &uint8x16_t) {
                *x = unsafe { round(*x, *key) }
            }
            #[inline(always)] fn last_round(self, x: uint8x16_t, prev: uint8x16_t, last: uint8x16_t, data: uint8x16_t) -> uint8x16_t {
                self.xor3(unsafe { vaeseq_u8(x, prev) }, last, data)
            }
            #[inline(always)] fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
                unsafe { next_words::<ROTATE>(four, last, rcon) }
            }
            #[inline(always)] fn pin_state(self, x: &mut uint8x16_t) { self.pin(x) }
        }
    };
}

isa! {
    /// AES and PMULL, as every core since Cortex-A53 may have them.
    Neon, features "aes", xor3 eor_eor
}

isa! {
    /// AES and PMULL, with the three-way XOR of SHA3.
    NeonEor3, features "aes,sha3", xor3 veor3q_u8
}

const REVERSED: Block = 0x00010203_04050607_08090a0b_0c0d0e0f;
const POSITIONS: Block = REVERSED.swap_bytes();

#[inline(always)]
fn vector(block: Block) -> uint8x16_t {
    // SAFETY: both are 16 plain bytes.
    unsafe { transmute(block) }
}

#[inline(always)]
fn block(v: uint8x16_t) -> Block {
    // SAFETY: both are 16 plain bytes.
    unsafe { transmute(v) }
}

/// Returns `v`, kept in a vector register. LLVM takes a power of H that comes from memory for two integers,
/// and moves each half to where PMULL uses it.
#[inline(always)]
fn whole(mut v: uint8x16_t) -> uint8x16_t {
    // SAFETY: the template has no instruction.
    unsafe { asm!("/*{0:v}*/", inout(vreg) v, options(pure, nomem, nostack, preserves_flags)) }
    v
}

/// Joins two words. The optimiser does not see how: it would load both words at once, or store each by
/// itself.
#[inline(always)]
pub(crate) fn joined(low: u32, high: u32) -> u64 {
    let (low, mut both) = (u64::from(low), u64::from(high));
    // SAFETY: one instruction, on registers of its own.
    unsafe {
        asm!("orr {0}, {1}, {0}, lsl #32", inout(reg) both, in(reg) low, options(pure, nomem, nostack, preserves_flags))
    }
    both
}

/// One TBL. (As an intrinsic it became REV64 and EXT, because its indices are known; with them in a register
/// it is one instruction less for each block.)
#[inline(always)]
fn reverse(v: uint8x16_t) -> uint8x16_t {
    let reversed;
    // SAFETY: no memory; every AArch64 that this page is compiled for has NEON.
    unsafe {
        asm!("tbl {out:v}.16b, {{ {v:v}.16b }}, {by:v}.16b", out = lateout(vreg) reversed, v = in(vreg) v, by = in(vreg) vector(REVERSED),
            options(pure, nomem, nostack, preserves_flags));
    }
    reversed
}

#[inline(always)]
unsafe fn eor_eor(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t) -> uint8x16_t {
    // SAFETY: every AArch64 that this page is compiled for has NEON.
    unsafe { veorq_u8(veorq_u8(a, b), c) }
}

/// Runs a round. With intrinsics the scheduler sometimes put another instruction between the two (8 pairs of
/// 1,105 in the code that sealed long messages).
/// # Safety
/// The processor has AES.
#[inline(always)]
unsafe fn round(mut x: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("aese {x:v}.16b, {key:v}.16b", "aesmc {x:v}.16b, {x:v}.16b", x = inout(vreg) x, key = in(vreg) key,
            options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// # Safety
/// The processor has AES.
#[inline(always)]
unsafe fn next_words<const ROTATE: bool>(four: Block, last: Block, rcon: u8) -> Block {
    // SAFETY: the caller's promise. In a state of four equal columns ShiftRows does nothing, so AESE with a
    // key of zeros is the S-box.
    unsafe {
        let zero = vdupq_n_u8(0);
        let words = vreinterpretq_u8_u32(vdupq_n_u32((last >> 96) as u32));
        let word = vgetq_lane_u32::<0>(vreinterpretq_u32_u8(vaeseq_u8(words, zero)));
        let t = if ROTATE { word.rotate_right(8) } else { word } ^ rcon as u32;
        let mut sums = vector(four);
        sums = veorq_u8(sums, vextq_u8::<12>(zero, sums));
        sums = veorq_u8(sums, vextq_u8::<8>(zero, sums));
        block(veorq_u8(sums, vreinterpretq_u8_u32(vdupq_n_u32(t))))
    }
}

/// Makes two overlapping loads of the largest power of two that fits, and shifts the second into its place:
/// no byte before or behind is touched, so nothing can go wrong at the end of a page. The branches depend
/// only on lengths.
/// # Safety
/// `n <= 16` bytes are readable.
#[inline(always)]
unsafe fn load_first(src: *const u8, n: usize) -> uint8x16_t {
    // SAFETY: the caller's promise; each branch reads inside the first n bytes.
    unsafe {
        if n >= 16 {
            vld1q_u8(src)
        } else if n >= 8 {
            let (low, high) =
                (src.cast::<u64>().read_unaligned(), src.add(n - 8).cast::<u64>().read_unaligned());
            vector(low as Block | (((high >> 8) >> (8 * (15 - n))) as Block) << 64)
        } else if n >= 4 {
            let (low, high) =
                (src.cast::<u32>().read_unaligned(), src.add(n - 4).cast::<u32>().read_unaligned());
            vector((low as u64 | (high as u64) << (8 * (n - 4))) as Block)
        } else if n > 0 {
            let (first, middle, last) = (*src as u64, *src.add(n / 2) as u64, *src.add(n - 1) as u64);
            vector((first | middle << (8 * (n / 2)) | last << (8 * (n - 1))) as Block)
        } else {
            vector(0)
        }
    }
}

/// # Safety
/// `n <= 16` bytes are writable.
#[inline(always)]
unsafe fn store_first(dst: *mut u8, n: usize, v: uint8x16_t) {
    // SAFETY: the caller's promise; each branch writes inside the first n bytes.
    unsafe {
        if n >= 16 {
            return vst1q_u8(dst, v);
        }
        let bits = block(v);
        if n >= 8 {
            dst.cast::<u64>().write_unaligned(bits as u64);
            dst.add(n - 8).cast::<u64>().write_unaligned((bits >> (8 * (n - 8))) as u64);
        } else if n >= 4 {
            dst.cast::<u32>().write_unaligned(bits as u32);
            dst.add(n - 4).cast::<u32>().write_unaligned((bits as u64 >> (8 * (n - 4))) as u32);
        } else if n > 0 {
            *dst = bits as u8;
            *dst.add(n / 2) = (bits as u32 >> (8 * (n / 2))) as u8;
            *dst.add(n - 1) = (bits as u32 >> (8 * (n - 1))) as u8;
        }
    }
}
