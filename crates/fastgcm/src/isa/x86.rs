//! x86-64: one page of one-line operations for each width.

use super::{Isa, Vectors, rarely};
use crate::Block;
use core::arch::{asm, x86_64::*};

const REVERSED: Block = 0x00010203_04050607_08090a0b_0c0d0e0f;

/// An operation on registers.
macro_rules! registers {
    ($($code:tt)*) => {
        // SAFETY: the caller has a token, which exists only where the features are enabled, or has promised
        // the features. No memory is touched.
        unsafe { $($code)* }
    };
}
#[allow(unused_imports)] // `bits` has it
pub(super) use registers;

/// An operation of `Vectors` on memory.
macro_rules! memory {
    ($($code:tt)*) => {
        // SAFETY: the features are enabled, as for `registers`. The caller of each operation of `Vectors` has
        // promised the bytes that it loads or stores. (A prefetch takes any address.)
        unsafe { $($code)* }
    };
}

/// Generates a token and its `Isa` from the intrinsics' own names.
macro_rules! isa {
    ($(#[$doc:meta])* $token:ident, $v:ty, blocks $blocks:literal, many_registers $many_registers:literal, features $features:literal, register $reg:ident,
     load $load:ident, store $store:ident, load_first $load_first:path, load_block $load_block:path, store_first $store_first:path,
     $(four $four:ident,)? splat $splat:path, first $first:path, put_last $put_last:path, keep_first $keep_first:path, fold $fold:path, soon $soon:path, lane $lane:ident :: $lane_fn:ident,
     xor $xor:ident, xor3 $xor3:path, shuffle8 $shuffle8:ident, shuffle32 $shuffle32:ident, low $low:ident, high $high:ident,
     clmul $clmul:ident, add32 $add32:ident, aesenc $aesenc:ident, aesenclast $aesenclast:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $token(());

        impl $token {
            /// Returns the token, which is the proof.
            /// # Safety
            /// * The processor has these features: a caller has them enabled.
            #[target_feature(enable = $features)]
            pub(crate) fn here() -> Self {
                Self(())
            }
        }

        impl Vectors for $token {
            type V = $v;
            const BLOCKS: usize = $blocks;
            const MANY_REGISTERS: bool = $many_registers;
            #[inline(always)] unsafe fn load(self, src: *const u8) -> $v { memory! { $load(src.cast()) } }
            #[inline(always)] unsafe fn store(self, dst: *mut u8, v: $v) { memory! { $store(dst.cast(), v) } }
            #[inline(always)] fn prefetch(self, src: *const u8) { memory! { _mm_prefetch::<_MM_HINT_T0>(src.cast()) } }
            #[inline(always)] unsafe fn load_first(self, src: *const u8, n: usize) -> $v { memory! { $load_first(src, n) } }
            #[inline(always)] unsafe fn load_block(self, src: *const u8, n: usize) -> $v { memory! { $load_block(src, n) } }
            #[inline(always)] unsafe fn store_first(self, dst: *mut u8, n: usize, v: $v) { memory! { $store_first(dst, n, v) } }
            #[inline(always)] unsafe fn load_key(self, src: *const u8) -> Block { memory! { load_key(src) } }
            #[inline(always)] fn splat(self, block: Block) -> $v { registers! { $splat(vector(block)) } }
            #[inline(always)] fn splat_masked(self, v: $v, mask: Block) -> $v { registers! { $splat(_mm_and_si128($lane::$lane_fn::<false>(v), vector(mask))) } }
            #[inline(always)] fn splat_nonce(self, first: u32, rest: u64) -> $v { registers! { $splat(xmm::nonce(first, rest)) } }
            #[inline(always)] fn splat_words(self, words: [u64; 2]) -> $v { registers! { $splat(block_of(words)) } }
            #[inline(always)] fn first(self, block: Block) -> $v { registers! { $first(vector(block)) } }
            #[inline(always)] fn put_last(self, v: $v, block: Block) -> $v { registers! { $put_last(v, vector(block)) } }
            #[inline(always)] fn lanes_from(self, a: $v, b: $v, n: usize) -> $v { registers! { $lane::lanes_from(a, b, n) } }
            #[inline(always)] fn keep_first(self, v: $v, n: usize) -> $v { registers! { $keep_first(v, n) } }
            #[inline(always)] fn fold(self, v: $v) -> Block { registers! { block($fold(v)) } }
            $(#[inline(always)] fn lanes(self, vectors: [$v; 4]) -> $v { registers! { $four::lanes(vectors) } }
            #[inline(always)] fn transpose(self, vectors: [$v; 4]) -> [$v; 4] { registers! { $four::transpose(vectors) } })?
            #[inline(always)] fn fold_with<const LAST: bool>(self, v: $v, other: $v) -> Block {
                registers! { block(_mm_xor_si128($soon(v), $lane::$lane_fn::<LAST>(other))) }
            }
            #[inline(always)] fn xor(self, a: $v, b: $v) -> $v { registers! { $xor(a, b) } }
            #[inline(always)] fn xor3(self, a: $v, b: $v, c: $v) -> $v { registers! { $xor3(a, b, c) } }
            #[inline(always)] fn byte_swap(self, v: $v) -> $v { registers! { $shuffle8(v, $splat(vector(REVERSED))) } }
            #[inline(always)] fn swap_halves(self, v: $v) -> $v { registers! { $shuffle32::<0x4e>(v) } }
            #[inline(always)] fn low_halves(self, a: $v, b: $v) -> $v { registers! { $low(a, b) } }
            #[inline(always)] fn high_halves(self, a: $v, b: $v) -> $v { registers! { $high(a, b) } }
            #[inline(always)] fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: $v, b: $v) -> $v {
                registers! {
                    match (A_HIGH, B_HIGH) {
                        (false, false) => $clmul::<0x00>(a, b),
                        (true, false) => $clmul::<0x01>(a, b),
                        (false, true) => $clmul::<0x10>(a, b),
                        (true, true) => $clmul::<0x11>(a, b),
                    }
                }
            }
            #[inline(always)] fn add32(self, v: $v, n: $v) -> $v { registers! { $add32(v, n) } }
            #[inline(always)] fn pin(self, v: &mut $v) {
                /// # Safety
                /// * The processor has these features.
                #[inline]
                #[target_feature(enable = $features)]
                fn pin(v: &mut $v) {
                    registers! { asm!("/*{0}*/", inout($reg) *v, options(nostack, preserves_flags)) }
                }
                registers! { pin(v) }
            }
        }

        impl Isa for $token {
            type State = $v;
            #[inline(always)] fn whiten(self, x: $v, key0: $v) -> $v { self.xor(x, key0) }
            #[inline(always)] fn state(self, v: $v) -> $v { v }
            #[inline(always)] fn vector(self, x: $v) -> $v { x }
            #[inline(always)] fn round(self, x: &mut $v, key: &$v) { *x = registers! { $aesenc(*x, *key) } }
            #[inline(always)] fn last_round(self, x: $v, _prev: $v, last: $v, data: $v) -> $v { registers! { $aesenclast(x, $xor(last, data)) } }
            #[inline(always)] fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block { registers! { next_words::<ROTATE>(four, last, rcon) } }
            #[inline(always)] fn pin_state(self, x: &mut $v) { self.pin(x) }
            #[inline(always)] fn unset(self) -> $v {
                /// # Safety
                /// * The processor has these features.
                #[inline]
                #[target_feature(enable = $features)]
                fn unset() -> $v {
                    let v;
                    registers! { asm!("/*{0}*/", out($reg) v, options(nomem, nostack, preserves_flags)) }
                    v
                }
                registers! { unset() }
            }
        }
    };
}

/// One block a vector: the intrinsics are equal, and the compiler encodes them as the features allow.
macro_rules! xmm_isa {
    ($(#[$doc:meta])* $token:ident, $features:literal) => {
        isa! {
            $(#[$doc])* $token, __m128i, blocks 1, many_registers false, features $features, register xmm_reg,
            load _mm_loadu_si128, store _mm_storeu_si128, load_first xmm::load_first, load_block xmm::load_first, store_first xmm::store_first,
            splat xmm::same, first xmm::same, put_last xmm::put_last, keep_first xmm::keep_first, fold xmm::same, soon xmm::same, lane xmm::lane,
            xor _mm_xor_si128, xor3 xmm::xor3, shuffle8 _mm_shuffle_epi8, shuffle32 _mm_shuffle_epi32,
            low _mm_unpacklo_epi64, high _mm_unpackhi_epi64,
            clmul _mm_clmulepi64_si128, add32 _mm_add_epi32, aesenc _mm_aesenc_si128, aesenclast _mm_aesenclast_si128
        }
    };
}

xmm_isa! {
    /// AES-NI and PCLMULQDQ, legacy encoding.
    AesSse, "aes,pclmulqdq,ssse3,sse4.1"
}

xmm_isa! {
    /// AES-NI and PCLMULQDQ, three-operand encoding.
    AesAvx, "aes,pclmulqdq,ssse3,sse4.1,avx"
}

isa! {
    /// VAES and VPCLMULQDQ with AVX2, two blocks a vector.
    Vaes256, __m256i, blocks 2, many_registers false, features "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq", register ymm_reg,
    load _mm256_loadu_si256, store _mm256_storeu_si256, load_first ymm::load_first, load_block ymm::load_block, store_first ymm::store_first,
    splat _mm256_broadcastsi128_si256, first _mm256_zextsi128_si256, put_last ymm::put_last, keep_first ymm::keep_first, fold ymm::fold, soon ymm::fold, lane ymm::lane,
    xor _mm256_xor_si256, xor3 ymm::xor3, shuffle8 _mm256_shuffle_epi8, shuffle32 _mm256_shuffle_epi32,
    low _mm256_unpacklo_epi64, high _mm256_unpackhi_epi64,
    clmul _mm256_clmulepi64_epi128, add32 _mm256_add_epi32, aesenc _mm256_aesenc_epi128, aesenclast _mm256_aesenclast_epi128
}

isa! {
    /// VAES and VPCLMULQDQ with AVX-512, four blocks a vector. Never `avx512dq`: rust-lang/rust#158622.
    Vaes512, __m512i, blocks 4, many_registers true, features "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi", register zmm_reg,
    load _mm512_loadu_si512, store _mm512_storeu_si512, load_first zmm::load_first, load_block zmm::load_block, store_first zmm::store_first,
    four zmm, splat _mm512_broadcast_i32x4, first _mm512_zextsi128_si512, put_last zmm::put_last, keep_first zmm::keep_first, fold zmm::fold, soon zmm::fold_soon, lane zmm::lane,
    xor _mm512_xor_si512, xor3 _mm512_ternarylogic_epi64::<0x96>, shuffle8 _mm512_shuffle_epi8, shuffle32 _mm512_shuffle_epi32,
    low _mm512_unpacklo_epi64, high _mm512_unpackhi_epi64,
    clmul _mm512_clmulepi64_epi128, add32 _mm512_add_epi32, aesenc _mm512_aesenc_epi128, aesenclast _mm512_aesenclast_epi128
}

#[inline(always)]
fn vector(block: Block) -> __m128i {
    // SAFETY: both are 16 plain bytes.
    unsafe { core::mem::transmute(block) }
}

#[inline(always)]
fn block(v: __m128i) -> Block {
    // SAFETY: both are 16 plain bytes.
    unsafe { core::mem::transmute(v) }
}

/// Goes through a vector register, which the optimiser does not see. Otherwise it would move a number of 128
/// bits through two general registers and store it in two pieces, and a load of both pieces would wait until
/// they have left the store buffer. (The first message of a fresh key on Zen 5: 30 ns.)
/// # Safety
/// Sixteen bytes are readable.
#[inline(always)]
unsafe fn load_key(src: *const u8) -> Block {
    // SAFETY: the caller's promise.
    let mut v = unsafe { _mm_loadu_si128(src.cast()) };
    // SAFETY: the template has no instruction.
    unsafe { asm!("/*{0}*/", inout(xmm_reg) v, options(nomem, nostack, preserves_flags)) };
    block(v)
}

/// Joins two words. The optimiser does not see where they come from: it would load both at once.
#[inline(always)]
fn block_of([mut low, high]: [u64; 2]) -> __m128i {
    // SAFETY: the template has no instruction.
    unsafe { asm!("/*{0}*/", inout(reg) low, options(pure, nomem, nostack, preserves_flags)) };
    vector(Block::from(low) | Block::from(high) << 64)
}

/// Joins two words. The optimiser does not see how: it would load both words at once, or store each by
/// itself.
#[inline(always)]
pub(crate) fn joined(low: u32, high: u32) -> u64 {
    let mut both = u64::from(high);
    // SAFETY: two instructions, on registers of their own.
    unsafe {
        asm!("shl {0}, 32", "or {0}, {1}", inout(reg) both, in(reg) u64::from(low), options(pure, nomem, nostack))
    }
    both
}

/// # Safety
/// The processor has AES-NI and SSSE3.
#[inline(always)]
unsafe fn next_words<const ROTATE: bool>(four: Block, last: Block, rcon: u8) -> Block {
    let word = if ROTATE { 0x0c0f0e0d } else { 0x0f0e0d0c };
    // SAFETY: the caller's promise. In a state of four equal columns ShiftRows does nothing, so the last
    // round of AES is the S-box and an XOR.
    unsafe {
        let t = _mm_aesenclast_si128(
            _mm_shuffle_epi8(vector(last), _mm_set1_epi32(word)),
            _mm_set1_epi32(rcon as i32),
        );
        let mut sums = vector(four);
        sums = _mm_xor_si128(sums, _mm_slli_si128::<4>(sums));
        sums = _mm_xor_si128(sums, _mm_slli_si128::<8>(sums));
        block(_mm_xor_si128(sums, t))
    }
}

/// What AVX-512 does with a mask, in 16-byte registers: overlapping scalar accesses, never a call of
/// `memcpy`. The branches depend only on lengths.
mod xmm {
    use super::*;

    /// Ones, then zeros: a window of these bytes is the mask of the first n bytes.
    #[repr(C, align(64))]
    struct Ones([u8; 64]);
    const ONES: &Ones = &Ones({
        let mut ones = [0; 64];
        let mut i = 0;
        while i < 32 {
            ones[i] = 0xff;
            i += 1;
        }
        ones
    });

    #[inline(always)]
    pub(super) fn mask(n: usize) -> *const u8 {
        ONES.0.as_ptr().wrapping_add(32 - n.min(32))
    }

    /// Takes four instructions; a number of 128 bits would first be put together in general registers, by
    /// eight.
    /// # Safety
    /// * The processor has SSSE3 and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn nonce(first: u32, rest: u64) -> __m128i {
        registers! { _mm_xor_si128(_mm_cvtsi32_si128(first as i32), _mm_slli_si128::<4>(_mm_cvtsi64_si128(rest as i64))) }
    }

    /// # Safety
    /// * None: it is unsafe as the operation of that name on wider vectors is.
    #[inline(always)]
    pub(super) unsafe fn same(v: __m128i) -> __m128i {
        v
    }

    /// # Safety
    /// * None: it is unsafe as the operation of that name on wider vectors is.
    #[inline(always)]
    pub(super) unsafe fn lane<const LAST: bool>(v: __m128i) -> __m128i {
        v
    }

    /// # Safety
    /// * None: it is unsafe as the operation of that name on wider vectors is.
    #[inline(always)]
    pub(super) unsafe fn lanes_from(a: __m128i, b: __m128i, n: usize) -> __m128i {
        if n == 0 { a } else { b }
    }

    /// # Safety
    /// * None: it is unsafe as the operation of that name on wider vectors is.
    #[inline(always)]
    pub(super) unsafe fn put_last(_: __m128i, b: __m128i) -> __m128i {
        b
    }

    /// # Safety
    /// * The processor has SSSE3 and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn xor3(a: __m128i, b: __m128i, c: __m128i) -> __m128i {
        registers! { _mm_xor_si128(_mm_xor_si128(a, b), c) }
    }

    /// # Safety
    /// * The processor has SSSE3 and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn keep_first(v: __m128i, n: usize) -> __m128i {
        // SAFETY: `mask` leaves at least 32 of the 64 bytes of `ONES`, and this loads 16.
        unsafe { _mm_and_si128(v, _mm_loadu_si128(mask(n).cast())) }
    }

    /// # Safety
    /// * `n <= 16` bytes are readable at `src`.
    /// * The processor has SSSE3 and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn load_first(src: *const u8, n: usize) -> __m128i {
        debug_assert!(n <= 16);
        // SAFETY: the caller has promised `n` bytes. Each branch reads inside them: two overlapping words, or
        // single bytes.
        unsafe {
            if n >= 16 {
                _mm_loadu_si128(src.cast())
            } else if n >= 8 {
                let (low, high) =
                    (src.cast::<u64>().read_unaligned(), src.add(n - 8).cast::<u64>().read_unaligned());
                _mm_set_epi64x(((high >> 8) >> (8 * (15 - n))) as i64, low as i64)
            } else if n >= 4 {
                let (low, high) =
                    (src.cast::<u32>().read_unaligned(), src.add(n - 4).cast::<u32>().read_unaligned());
                _mm_cvtsi64_si128((low as u64 | (high as u64) << (8 * (n - 4))) as i64)
            } else if n > 0 {
                let (first, middle, last) = (*src as u64, *src.add(n / 2) as u64, *src.add(n - 1) as u64);
                _mm_cvtsi64_si128((first | middle << (8 * (n / 2)) | last << (8 * (n - 1))) as i64)
            } else {
                _mm_setzero_si128()
            }
        }
    }

    /// # Safety
    /// * `n <= 16` bytes are writable at `dst`.
    /// * The processor has SSSE3 and SSE4.1.
    #[inline(always)]
    pub(super) unsafe fn store_first(dst: *mut u8, n: usize, v: __m128i) {
        debug_assert!(n <= 16);
        // SAFETY: the caller has promised `n` bytes. Each branch writes inside them, as `load_first` reads.
        unsafe {
            if n >= 16 {
                return _mm_storeu_si128(dst.cast(), v);
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
}

mod ymm {
    use super::*;

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn lane<const LAST: bool>(v: __m256i) -> __m128i {
        registers! { if LAST { _mm256_extracti128_si256::<1>(v) } else { _mm256_castsi256_si128(v) } }
    }

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn lanes_from(a: __m256i, b: __m256i, n: usize) -> __m256i {
        match n {
            0 => a,
            1 => registers! { _mm256_permute2x128_si256::<0x21>(a, b) },
            _ => b,
        }
    }

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn put_last(v: __m256i, b: __m128i) -> __m256i {
        registers! { _mm256_inserti128_si256::<1>(v, b) }
    }

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn fold(v: __m256i) -> __m128i {
        registers! { _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)) }
    }

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        registers! { _mm256_xor_si256(_mm256_xor_si256(a, b), c) }
    }

    /// # Safety
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn keep_first(v: __m256i, n: usize) -> __m256i {
        // SAFETY: `mask` leaves at least 32 of the 64 bytes of `ONES`, and this loads 32.
        unsafe { _mm256_and_si256(v, _mm256_loadu_si256(xmm::mask(n).cast())) }
    }

    /// # Safety
    /// * `n <= 16` bytes are readable at `src`.
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn load_block(src: *const u8, n: usize) -> __m256i {
        debug_assert!(n <= 16);
        // SAFETY: the caller's promise of `n` bytes is passed on.
        unsafe { _mm256_zextsi128_si256(xmm::load_first(src, n)) }
    }

    /// # Safety
    /// * `n <= 32` bytes are readable at `src`.
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn load_first(src: *const u8, n: usize) -> __m256i {
        debug_assert!(n <= 32);
        // SAFETY: the caller has promised `n` bytes. A branch reads 32, or 16 and the rest, only where there
        // are so many.
        unsafe {
            if n >= 32 {
                _mm256_loadu_si256(src.cast())
            } else if n >= 16 {
                _mm256_inserti128_si256::<1>(
                    _mm256_castsi128_si256(_mm_loadu_si128(src.cast())),
                    xmm::load_first(src.add(16), n - 16),
                )
            } else {
                load_block(src, n)
            }
        }
    }

    /// # Safety
    /// * `n <= 32` bytes are writable at `dst`.
    /// * The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn store_first(dst: *mut u8, n: usize, v: __m256i) {
        debug_assert!(n <= 32);
        // SAFETY: the caller has promised `n` bytes. A branch writes 32, or 16 and the rest, only where there
        // are so many.
        unsafe {
            if n >= 32 {
                _mm256_storeu_si256(dst.cast(), v);
            } else if n >= 16 {
                _mm_storeu_si128(dst.cast(), _mm256_castsi256_si128(v));
                xmm::store_first(dst.add(16), n - 16, _mm256_extracti128_si256::<1>(v));
            } else {
                xmm::store_first(dst, n, _mm256_castsi256_si128(v));
            }
        }
    }
}

mod zmm {
    use super::*;

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    unsafe fn mask(n: usize) -> u64 {
        registers! { _bzhi_u64(!0, n as u32) }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn lane<const LAST: bool>(v: __m512i) -> __m128i {
        registers! { if LAST { _mm512_extracti32x4_epi32::<3>(v) } else { _mm512_castsi512_si128(v) } }
    }

    /// The positions of halves of lanes.
    const HALVES: &[u64; 16] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn lanes_from(a: __m512i, b: __m512i, n: usize) -> __m512i {
        // SAFETY: `HALVES` has 16 numbers, and this loads eight from number 8 or an earlier one on.
        unsafe {
            _mm512_permutex2var_epi64(
                a,
                _mm512_loadu_si512(HALVES.as_ptr().wrapping_add(2 * n.min(4)).cast()),
                b,
            )
        }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn lanes([a, b, c, d]: [__m512i; 4]) -> __m512i {
        registers! {
            let ab = _mm256_set_m128i(_mm512_castsi512_si128(b), _mm512_castsi512_si128(a));
            let cd = _mm256_set_m128i(_mm512_castsi512_si128(d), _mm512_castsi512_si128(c));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(ab), cd)
        }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        registers! {
            // Lanes 0 and 2, and lanes 1 and 3, of two vectors.
            let (ab, cd) = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d));
            let (ab_odd, cd_odd) = (_mm512_shuffle_i64x2::<0xdd>(a, b), _mm512_shuffle_i64x2::<0xdd>(c, d));
            [
                _mm512_shuffle_i64x2::<0x88>(ab, cd),
                _mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd),
                _mm512_shuffle_i64x2::<0xdd>(ab, cd),
                _mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd),
            ]
        }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn put_last(v: __m512i, b: __m128i) -> __m512i {
        registers! { _mm512_inserti32x4::<3>(v, b) }
    }

    /// Does what [`fold`] does with one more instruction, but one step fewer to wait for: a tag waits for it,
    /// a turn does not (opening in turns took 2 % more with it on Zen 5).
    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn fold_soon(v: __m512i) -> __m128i {
        registers! {
            let (a, b) = (_mm512_castsi512_si128(v), _mm512_extracti32x4_epi32::<1>(v));
            let (c, d) = (_mm512_extracti32x4_epi32::<2>(v), _mm512_extracti32x4_epi32::<3>(v));
            _mm_xor_si128(_mm_ternarylogic_epi64::<0x96>(a, b, c), d)
        }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn fold(v: __m512i) -> __m128i {
        registers! {
            let halves = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v));
            _mm_xor_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves))
        }
    }

    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn keep_first(v: __m512i, n: usize) -> __m512i {
        registers! { _mm512_maskz_mov_epi8(mask(n), v) }
    }

    /// Bytes that count up: with a number added to each byte, they move a vector by that many bytes.
    #[repr(C, align(64))]
    struct Bytes([u8; 64]);
    const BYTES: &Bytes = &Bytes({
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = i as u8;
            i += 1;
        }
        bytes
    });

    /// Returns a vector whose byte i is byte i + by, modulo 64, of `v`.
    /// # Safety
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    unsafe fn moved(v: __m512i, by: usize) -> __m512i {
        // SAFETY: `BYTES` has 64 bytes at an address that is a multiple of 64.
        unsafe {
            _mm512_permutexvar_epi8(
                _mm512_add_epi8(_mm512_load_si512(BYTES.0.as_ptr().cast()), _mm512_set1_epi8(by as i8)),
                v,
            )
        }
    }

    /// Returns whether the bytes that a mask leaves out may lie on a page that holds none of the first `n`. A
    /// masked access never faults there. But if nobody may touch that page, or nobody has touched it yet, the
    /// processor finds that out in microcode: 55 to 110 ns a load on Zen 4 and 5, 300 ns a store. The branch
    /// depends on an address and a length, which are public.
    #[inline(always)]
    fn crosses<const WIDTH: usize>(at: *const u8, n: usize) -> bool {
        let crosses = n == 0 || at as usize % PAGE > PAGE - WIDTH;
        if crosses {
            rarely();
        }
        crosses
    }

    /// The size of a page: no processor with these instructions has smaller pages.
    const PAGE: usize = 4096;

    /// # Safety
    /// * `n <= 16` bytes are readable at `src`.
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn load_block(src: *const u8, n: usize) -> __m512i {
        debug_assert!(n <= 16);
        // SAFETY: the caller has promised `n` bytes, at most 16. The mask admits no others.
        unsafe {
            if !crosses::<16>(src, n) {
                _mm512_zextsi128_si512(_mm_maskz_loadu_epi8(mask(n) as u16, src.cast()))
            } else {
                load_last(src, n)
            }
        }
    }

    /// A block has an instruction of its own. For a processor that looks for recent stores a masked access
    /// counts as 64 bytes: a tag that was just written behind the block, or ciphertext beside it, made the
    /// next message wait (14 ns instead of 8 on Zen 5).
    /// # Safety
    /// * `n <= 64` bytes are readable at `src`.
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn load_first(src: *const u8, n: usize) -> __m512i {
        debug_assert!(n <= 64);
        // SAFETY: the caller has promised `n` bytes. The mask admits no others; 16 bytes are loaded whole
        // where there are 16.
        unsafe {
            let bytes = mask(n);
            if n == 16 {
                _mm512_zextsi128_si512(_mm_loadu_si128(src.cast()))
            } else if !crosses::<64>(src, n) {
                _mm512_maskz_loadu_epi8(bytes, src.cast())
            } else {
                load_last(src, n)
            }
        }
    }

    /// Loads where a page ends: the vector that ends with the last byte. The bytes that its mask leaves out
    /// are before the first byte, on the last byte's page.
    /// # Safety
    /// * `n <= 64` bytes are readable at `src`.
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    unsafe fn load_last(src: *const u8, n: usize) -> __m512i {
        debug_assert!(n <= 64);
        if n == 0 {
            return registers! { _mm512_setzero_si512() };
        }
        let ahead = 64 - n;
        // SAFETY: the caller has promised `n` bytes. The mask admits the last `n` of 64, which are those.
        unsafe { moved(_mm512_maskz_loadu_epi8(!0 << ahead, src.sub(ahead).cast()), ahead) }
    }

    /// # Safety
    /// * `n <= 64` bytes are writable at `dst`.
    /// * The processor has AVX-512 F, BW, VL and VBMI, and BMI2.
    #[inline(always)]
    pub(super) unsafe fn store_first(dst: *mut u8, n: usize, v: __m512i) {
        debug_assert!(n <= 64);
        // SAFETY: the caller has promised `n` bytes. Each mask admits these bytes only; 16 are stored whole
        // where there are 16.
        unsafe {
            let bytes = mask(n);
            if n == 16 {
                _mm_storeu_si128(dst.cast(), _mm512_castsi512_si128(v));
            } else if !crosses::<64>(dst, n) {
                _mm512_mask_storeu_epi8(dst.cast(), bytes, v);
            } else if n > 0 {
                let ahead = 64 - n;
                _mm512_mask_storeu_epi8(dst.sub(ahead).cast(), !0 << ahead, moved(v, n));
            }
        }
    }
}
