//! x86 that permutes bytes (SSSE3) but has no instruction for AES or carry-less multiplication: all of
//! Intel's processors from 2006 to 2010, the cheaper ones for five more years, and virtual machines that hide
//! AES. Everything is looked up in registers, sixteen bytes at a time (PSHUFB): no lookup touches a cache,
//! and no time depends on the values looked up.
//!
//! **AES** (Hamburg, "Accelerating AES with vector permute instructions", 2009). A register holds one table
//! of sixteen bytes, but the S-box is a function of 256 values. So the field of AES becomes a field over
//! GF(16): x = k + i·θ with θ^2 = aθ + a, two nibbles. With j = i + k,
//! ```text
//!     io = 1/(1/i + a/k) + j        jo = 1/(1/j + a/k) + i
//! ```
//! some algebra gives 1/io = (k + ai)/N and 1/jo = (k + aj)/N, where N = k^2 + aik + ai^2 is the norm of x.
//! Both k/N and i/N are sums of multiples of these, and so is 1/x = (k + i(θ + a))/N. Hence there are five
//! lookups of nibbles, and S(x) is the sum of a lookup by io and a lookup by jo, which may also give the
//! affine map, and twice the S-box for MixColumns. Zero has no inverse: 1/0 is 0x80, which no addition of
//! nibbles brings below 16, and PSHUFB gives 0 for such an index. All four cases (i = 0, k = 0, j = 0, k =
//! ai) come out right, because that is 1/∞.
//!
//! States stay in the basis of the tower between rounds, and ShiftRows is left out as in
//! [`portable`](super::portable): after k rounds column c of row r is found k·r columns further on.
//! MixColumns allows for this, because it permutes bytes anyway. That makes twelve permutations a round.
//!
//! **GHASH** is in [`nibbles`], and everything else comes from [`Portable`].

mod tables;

use super::{
    Order, Portable, Sliced,
    nibbles::{self, Bytes, Lookups, Permutes},
    portable::SBox,
};
use crate::Block;
use core::arch::x86_64::*;
use tables::{A_OVER, DOUBLE_S, INTO_TOWER, INVERSE, LAST, NEXT_ROW, REVERSED, S, SHIFT_ROWS};

/// The proof that the processor can permute bytes.
#[derive(Clone, Copy)]
pub(crate) struct Ssse3(());

impl Portable<2, false, Ssse3> {
    /// # Safety
    /// * The processor has SSSE3: a caller has the feature enabled.
    #[target_feature(enable = "ssse3")]
    pub(crate) fn here() -> Self {
        Self(Ssse3(()))
    }
}

impl SBox for Ssse3 {
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
        // SAFETY: the token exists.
        unsafe { next_words::<ROTATE>(four, last, rcon) }
    }
}

impl Sliced<8> for Portable<2, false, Ssse3> {
    type Key = Block;

    /// The keys include the constant that the S-box adds: MixColumns leaves four equal bytes as they are. All
    /// keys but the last are in the basis of the tower, and moved back by one ShiftRows for each that is left
    /// out.
    fn round_keys(self, keys: &mut [Block]) {
        // SAFETY: the token exists.
        unsafe { round_keys(keys) };
    }

    /// Encrypts two blocks at a time, which hide each other's latency; four at a time are no faster.
    fn encrypt(self, keys: &[Block], blocks: &mut [Block; 8], wanted: usize) {
        // SAFETY: the token exists.
        unsafe { encrypt(keys, &mut blocks[..wanted]) };
    }

    /// Keeps the counter in a register. (Counters stored for `encrypt` took 2 to 3 % longer.)
    fn keystream(self, keys: &[Block], first: Block, order: Order, pads: &mut [Block; 8], wanted: usize) {
        // SAFETY: the token exists.
        unsafe { keystream(keys, first, order, &mut pads[..wanted]) };
    }
}

impl Permutes for Portable<2, false, Ssse3> {
    fn lookups(self, power: Block, to: &mut Lookups<Block>) {
        // SAFETY: the token exists.
        unsafe { lookups(power, to) }
    }

    fn hash(self, powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block {
        // SAFETY: the token exists.
        unsafe { ghash(powers, hash, blocks) }
    }
}

// ---- what the compiler makes of it for this instruction set

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn next_words<const ROTATE: bool>(four: Block, last: Block, rcon: u8) -> Block {
    let word = if ROTATE { 0x0c0f_0e0d } else { 0x0f0e_0d0c };
    let (io, jo) = inverse(tower(Register::from(last).lookup(Register(_mm_set1_epi32(word)))));
    let mut sums = Register::from(four).0;
    sums = _mm_xor_si128(sums, _mm_slli_si128::<4>(sums));
    sums = _mm_xor_si128(sums, _mm_slli_si128::<8>(sums));
    look(&LAST, io, jo).xor(Register(_mm_set1_epi32(0x6363_6363 ^ rcon as i32))).xor(Register(sums)).into()
}

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn round_keys(keys: &mut [Block]) {
    if let [first, between @ .., last] = keys {
        *first = tower(Register::from(*first)).into();
        for (i, key) in between.iter_mut().enumerate() {
            *key =
                tower(Register::from(*key ^ ADDED)).lookup(Register::of(&SHIFT_ROWS[3 * (i + 1) % 4])).into();
        }
        *last ^= ADDED;
    }
}

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn encrypt(keys: &[Block], blocks: &mut [Block]) {
    let (pairs, alone) = blocks.as_chunks_mut::<2>();
    for blocks in pairs {
        let x = [Register::from(blocks[0]), Register::from(blocks[1])];
        rounds(keys, x, blocks);
    }
    for block in alone {
        rounds(keys, [Register::from(*block)], core::array::from_mut(block));
    }
}

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn keystream(keys: &[Block], first: Block, order: Order, pads: &mut [Block]) {
    let order = if order == Order::Swapped { &REVERSED } else { &SHIFT_ROWS[0] };
    let mut counter = Register::from(first);
    let (pairs, alone) = pads.as_chunks_mut::<2>();
    for pads in pairs {
        let next = counter.one_more();
        rounds(keys, [counter.lookup(Register::of(order)), next.lookup(Register::of(order))], pads);
        counter = next.one_more();
    }
    for pad in alone {
        rounds(keys, [counter.lookup(Register::of(order))], core::array::from_mut(pad));
        counter = counter.one_more();
    }
}

/// Runs the rounds of `N` blocks side by side. (Here and above there are no closures: one that is not inlined
/// loses the target feature.)
#[inline(always)]
fn rounds<const N: usize>(keys: &[Block], mut x: [Register; N], to: &mut [Block; N]) {
    let [first, between @ .., last] = keys else { return };
    for x in &mut x {
        *x = tower(*x).xor(Register::from(*first));
    }
    for (i, key) in between.iter().enumerate() {
        for x in &mut x {
            *x = round(*x, Register::from(*key), &NEXT_ROW[(i + 1) % 4]);
        }
    }
    for n in 0..N {
        to[n] = last_round(x[n], Register::from(*last), &SHIFT_ROWS[(keys.len() - 1) % 4]).into();
    }
}

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn lookups(power: Block, to: &mut Lookups<Block>) {
    nibbles::lookups(Register::from(power), to);
}

/// # Safety
/// * The processor has SSSE3: a caller has the feature enabled.
#[target_feature(enable = "ssse3")]
fn ghash(powers: &[Lookups<Block>; 2], hash: Block, blocks: &[[u8; 16]]) -> Block {
    let mut hash = Register::from(hash);
    let (pairs, alone) = blocks.as_chunks();
    for [first, last] in pairs {
        hash =
            nibbles::multiply([Register::of(first).xor(hash), Register::of(last)], [&powers[0], &powers[1]]);
    }
    for block in alone {
        hash = nibbles::multiply([Register::of(block).xor(hash)], [&powers[1]]);
    }
    hash.into()
}

// ---- AES

/// The constant that each S-box adds, after the linear map.
const ADDED: Block = 0x63 * (Block::MAX / 0xff);

/// Converts to the basis of the tower: byte i·16 + k for k + iθ.
#[inline(always)]
fn tower(x: Register) -> Register {
    let [i, k] = x.nibbles();
    look(&INTO_TOWER, i, k)
}

/// Returns io and jo of every byte: the indices for all that depends on its inverse.
#[inline(always)]
fn inverse(x: Register) -> (Register, Register) {
    let [i, k] = x.nibbles();
    let j = i.xor(k);
    let inverses = Register::of(&INVERSE);
    let a_over_k = Register::of(&A_OVER).lookup(k);
    let (io, jo) = (inverses.lookup(i).xor(a_over_k), inverses.lookup(j).xor(a_over_k));
    (inverses.lookup(io).xor(j), inverses.lookup(jo).xor(i))
}

/// Returns a sum of two lookups.
#[inline(always)]
fn look(table: &[[u8; 16]; 2], first: Register, second: Register) -> Register {
    Register::of(&table[0]).lookup(first).xor(Register::of(&table[1]).lookup(second))
}

/// Runs SubBytes, MixColumns and AddRoundKey. With s the S-box of a byte, and s1, s2, s3 the S-boxes of the
/// bytes one, two, three rows below, `2·s + 3·s1 + s2 + s3` is `y + y1 + s3` with `y = 2·s + s1`.
#[inline(always)]
fn round(x: Register, key: Register, [one, three]: &[[u8; 16]; 2]) -> Register {
    let (io, jo) = inverse(x);
    let (s, double) = (look(&S, io, jo), look(&DOUBLE_S, io, jo));
    let y = double.xor(s.lookup(Register::of(one)));
    y.xor(y.lookup(Register::of(one))).xor(s.lookup(Register::of(three))).xor(key)
}

#[inline(always)]
fn last_round(x: Register, key: Register, shift_rows: &[u8; 16]) -> Register {
    let (io, jo) = inverse(x);
    look(&LAST, io, jo).lookup(Register::of(shift_rows)).xor(key)
}

// ---- a register

#[derive(Clone, Copy)]
struct Register(__m128i);

impl Register {
    #[inline(always)]
    fn of(table: &[u8; 16]) -> Self {
        // SAFETY: sixteen bytes, wherever they are.
        Self(unsafe { _mm_loadu_si128(table.as_ptr().cast()) })
    }
    /// Returns the next counter, in the lowest four bytes.
    #[inline(always)]
    fn one_more(self) -> Self {
        // SAFETY: SSE2 is there on every x86-64 that this file is compiled for.
        Self(unsafe { _mm_add_epi32(self.0, _mm_cvtsi32_si128(1)) })
    }
}

// SAFETY (of every block below): only the functions above, which have the feature, call these; no memory is
// touched.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Bytes for Register {
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

impl From<Block> for Register {
    #[inline(always)]
    fn from(block: Block) -> Self {
        // SAFETY: both are 16 plain bytes.
        Self(unsafe { core::mem::transmute::<Block, __m128i>(block) })
    }
}

impl From<Register> for Block {
    #[inline(always)]
    fn from(v: Register) -> Self {
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

    fn here() -> Option<Portable<2, false, Ssse3>> {
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
