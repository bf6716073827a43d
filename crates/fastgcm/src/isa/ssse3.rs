//! x86 that permutes bytes (SSSE3) but has no instruction for AES or carry-less multiplication: all of
//! Intel's processors from 2006 to 2010, the cheaper ones for five more years, and virtual machines that hide
//! AES. [`permute`] is what is made of these operations.

use super::{
    Order, Portable, Sliced,
    nibbles::{self, Bytes, Lookups, Permutes},
    permute::{self, Register, permuting},
    portable::SBox,
};
use crate::Block;
use core::arch::x86_64::*;

permuting! {
    /// The proof that the processor can permute bytes.
    Ssse3, Bytes16, "ssse3"
}

#[derive(Clone, Copy)]
struct Bytes16(__m128i);

// SAFETY (of every block below): only the functions above, which have the feature, call these.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Bytes for Bytes16 {
    #[inline(always)]
    fn zero() -> Self {
        Self(unsafe { _mm_setzero_si128() })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }
    #[inline(always)]
    fn nibbles(self) -> [Self; 2] {
        unsafe {
            let low = _mm_set1_epi8(15);
            [Self(_mm_and_si128(_mm_srli_epi16::<4>(self.0), low)), Self(_mm_and_si128(self.0, low))]
        }
    }
    #[inline(always)]
    fn lookup(self, index: Self) -> Self {
        Self(unsafe { _mm_shuffle_epi8(self.0, index.0) })
    }
    #[inline(always)]
    fn along(low: Self, high: Self) -> (Self, Self) {
        unsafe { (Self(_mm_slli_si128::<1>(low.0)), Self(_mm_alignr_epi8::<15>(high.0, low.0))) }
    }
    #[inline(always)]
    fn bits_along<const N: u32>(self) -> (Self, Self) {
        // Shifts work on 16 bits, so half of the moved bits come from the neighbouring byte.
        unsafe {
            let (here, out) = (_mm_srl_epi16(self.0, count(N)), _mm_sll_epi16(self.0, count(8 - N)));
            let here_mask = 0xff >> N;
            (
                Self(_mm_and_si128(here, _mm_set1_epi8(here_mask as i8))),
                Self(_mm_and_si128(out, _mm_set1_epi8(!here_mask as i8))),
            )
        }
    }
    #[inline(always)]
    fn riffle(self, other: Self) -> [Self; 2] {
        unsafe { [Self(_mm_unpacklo_epi8(self.0, other.0)), Self(_mm_unpackhi_epi8(self.0, other.0))] }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Register for Bytes16 {
    #[inline(always)]
    fn of(bytes: &[u8; 16]) -> Self {
        Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }) // sixteen bytes, wherever they are
    }
    #[inline(always)]
    fn one_more(self) -> Self {
        Self(unsafe { _mm_add_epi32(self.0, _mm_cvtsi32_si128(1)) })
    }
}

impl From<Block> for Bytes16 {
    #[inline(always)]
    fn from(block: Block) -> Self {
        // SAFETY: both are 16 plain bytes.
        Self(unsafe { core::mem::transmute::<Block, __m128i>(block) })
    }
}

impl From<Bytes16> for Block {
    #[inline(always)]
    fn from(v: Bytes16) -> Self {
        // SAFETY: both are 16 plain bytes.
        unsafe { core::mem::transmute::<__m128i, Block>(v.0) }
    }
}

/// Returns a count for a shift, which becomes an immediate.
#[inline(always)]
fn count(bits: u32) -> __m128i {
    // SAFETY: SSE2 is there on every x86-64 that this file is compiled for.
    unsafe { _mm_cvtsi32_si128(bits as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, RoundKey, features};
    use std::println;

    fn here() -> Option<Token> {
        features().contain(crate::isa::detect::Features::named("ssse3")).then_some(Portable(Ssse3(())))
    }

    /// Checks all 256 values of the S-box, and all AES of `portable`.
    #[test]
    fn aes_is_that_of_the_circuit() {
        let Some(s) = here() else { return println!("SKIPPED ssse3::aes: no SSSE3") };
        let circuit = Portable::<2>::here();
        for word in (0..=255u32).map(|x| (x * 0x01_01_01_01) ^ 0x00_35_9a_c0) {
            assert_eq!(
                s.next_words::<true>(5, Block::from(word) << 96, 7),
                circuit.next_words::<true>(5, Block::from(word) << 96, 7),
                "{word:08x}"
            );
        }
        for (rounds, order) in [10, 12, 14]
            .into_iter()
            .flat_map(|rounds| [Order::Swapped, Order::Straight].map(|order| (rounds, order)))
        {
            let first = 0x0123_4567_89ab_cdef_0f1e_2d3c_ffff_fffd;
            let mut ours = core::array::from_fn::<_, 15, _>(|i| (i as Block + 3).wrapping_pow(97));
            let mut theirs = ours.map(RoundKey::of);
            s.round_keys(&mut ours[..=rounds]);
            circuit.round_keys(&mut theirs[..=rounds]);
            let mut want = [0; 8];
            circuit.keystream(&theirs[..=rounds], first, order, &mut want, 8);
            for wanted in 0..=8 {
                let mut got = [0; 8];
                s.keystream(&ours[..=rounds], first, order, &mut got, wanted);
                assert_eq!(got[..wanted], want[..wanted], "{rounds} rounds");
            }
        }
    }
}
