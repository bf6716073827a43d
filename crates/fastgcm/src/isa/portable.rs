//! Machines without instructions for AES or carry-less multiplication: bit-sliced AES and integer
//! multiplication, in constant time, without tables and without branches on data. The code uses [words](word)
//! of 64 bits, or two words side by side where every processor of the target has such vectors.
//!
//! **AES** is in [`aes`].
//!
//! **Carry-less multiplication** from integer multiplication (Pornin): keep every fourth bit of both factors.
//! The carries of their product then fall in the three zeros above each bit, as long as no more than 15 ones
//! are added; every fourth of 32 bits is eight bits. Three such products make one of 64 bits (Karatsuba).
//!
//! This assumes that the CPU multiplies in constant time, as all 64-bit CPUs known to us do (Cortex-M3 does
//! not).

mod aes;
mod word;

use super::{Isa, Order, Sliced, Vectors, Widest};
use crate::Block;
use aes::{Planes, slice, sub_bytes, unslice};
pub(crate) use word::Word;

/// `N` lanes, 1 to 4: the table uses as many lanes as a word has, and for AES the blocks of [`Sliced`]. Our
/// tests use all numbers of lanes, `MANY_REGISTERS` or not as other back ends are, so that the paths of those
/// back ends run on any machine. `X` is the S-box of the key schedule.
#[derive(Clone, Copy)]
pub(crate) struct Portable<const N: usize, const MANY_REGISTERS: bool = false, X = Circuit>(pub(super) X);

/// A way to the S-box of AES.
pub(crate) trait SBox: Copy + 'static {
    /// See [`Isa::next_words`].
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block;
}

/// The S-box of [`aes`], a circuit.
#[derive(Clone, Copy)]
pub(crate) struct Circuit;

impl SBox for Circuit {
    #[inline(never)]
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
        // Planes of four bytes: every eighth bit.
        const EIGHTH: u64 = 0x0101_0101;
        let word = (last >> 96) as u64;
        let planes = sub_bytes(core::array::from_fn(|i| word >> i & EIGHTH));
        let mut word = (0..8).fold(0, |sum, i| sum | (planes[i] & EIGHTH) << i) as u32;
        if ROTATE {
            word = word.rotate_right(8);
        }
        let mut sums = four;
        sums ^= sums << 32;
        sums ^= sums << 64;
        sums ^ Block::from(word ^ rcon as u32).wrapping_mul(0x1_00000001_00000001_00000001)
    }
}

impl<const N: usize, const MANY_REGISTERS: bool> Portable<N, MANY_REGISTERS> {
    /// Returns the token; there is nothing to prove.
    pub(crate) fn here() -> Self {
        const { assert!(N >= 1 && N <= 4) }
        Self(Circuit)
    }
}

impl<const N: usize, const MANY_REGISTERS: bool, X: SBox> Vectors for Portable<N, MANY_REGISTERS, X> {
    type V = [Block; N];
    const BLOCKS: usize = N;
    const MANY_REGISTERS: bool = MANY_REGISTERS;

    unsafe fn load(self, src: *const u8) -> Self::V {
        // SAFETY: the caller's promise; an array of bytes has no alignment.
        unsafe { src.cast::<[[u8; 16]; N]>().read() }.map(Block::from_le_bytes)
    }
    unsafe fn store(self, dst: *mut u8, v: Self::V) {
        // SAFETY: the caller's promise.
        unsafe { dst.cast::<[[u8; 16]; N]>().write(v.map(Block::to_le_bytes)) }
    }
    #[inline]
    unsafe fn load_first(self, src: *const u8, n: usize) -> Self::V {
        if n == 16 * N {
            // SAFETY: the caller's promise. (This avoids a call of `memcpy`, as does the code below.)
            return unsafe { self.load(src) };
        }
        let mut bytes = [[0; 16]; N];
        // SAFETY: the caller's promise for `src`, and n <= 16 N.
        unsafe { src.copy_to_nonoverlapping(bytes.as_mut_ptr().cast(), n) };
        bytes.map(Block::from_le_bytes)
    }
    #[inline]
    unsafe fn store_first(self, dst: *mut u8, n: usize, v: Self::V) {
        if n == 16 * N {
            // SAFETY: the caller's promise.
            return unsafe { self.store(dst, v) };
        }
        let bytes = v.map(Block::to_le_bytes);
        // SAFETY: the caller's promise.
        unsafe { dst.copy_from_nonoverlapping(bytes.as_ptr().cast(), n) };
    }

    fn splat(self, block: Block) -> Self::V {
        [block; N]
    }
    fn first(self, block: Block) -> Self::V {
        lanes(|i| if i == 0 { block } else { 0 })
    }
    fn put_last(self, mut v: Self::V, block: Block) -> Self::V {
        v[N - 1] = block;
        v
    }
    fn lanes_from(self, a: Self::V, b: Self::V, n: usize) -> Self::V {
        lanes(|i| if n + i < N { a[n + i] } else { b[n + i - N] })
    }
    #[inline(never)]
    fn keep_first(self, v: Self::V, n: usize) -> Self::V {
        lanes(|i| match n.saturating_sub(16 * i) {
            0 => 0,
            bytes @ 1..16 => v[i] & ((1 << (8 * bytes)) - 1),
            _ => v[i],
        })
    }
    fn fold(self, v: Self::V) -> Block {
        v.iter().fold(0, |sum, lane| sum ^ lane)
    }

    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        lanes(|i| a[i] ^ b[i])
    }
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        lanes(|i| a[i] ^ b[i] ^ c[i])
    }
    fn byte_swap(self, v: Self::V) -> Self::V {
        v.map(Block::swap_bytes)
    }
    fn swap_halves(self, v: Self::V) -> Self::V {
        v.map(|x| x.rotate_left(64))
    }
    fn low_halves(self, a: Self::V, b: Self::V) -> Self::V {
        lanes(|i| a[i] as u64 as Block | b[i] << 64)
    }
    fn high_halves(self, a: Self::V, b: Self::V) -> Self::V {
        lanes(|i| a[i] >> 64 | b[i] >> 64 << 64)
    }
    #[inline(always)]
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: Self::V, b: Self::V) -> Self::V {
        let half = |x: Block, high| if high { (x >> 64) as u64 } else { x as u64 };
        let (a, b) = (a.map(|x| half(x, A_HIGH)), b.map(|x| half(x, B_HIGH)));
        if cfg!(test) { clmul_call(a, b) } else { clmul_lanes(a, b) }
    }
    #[inline(always)]
    fn clmul_by<const A: u32, const B: u32, const C: u32>(self, v: Self::V) -> Self::V {
        v.map(|x| x as u64 as Block).map(|x| x << A ^ x << B ^ x << C)
    }
    fn add32(self, v: Self::V, n: Self::V) -> Self::V {
        const LOW: Block = u32::MAX as Block;
        lanes(|i| v[i] & !LOW | (v[i] as u32).wrapping_add(n[i] as u32) as Block)
    }

    fn pin(self, _: &mut Self::V) {}
}

impl<const N: usize, const MANY_REGISTERS: bool, X: SBox> Isa for Portable<N, MANY_REGISTERS, X> {
    type State = Planes<u64>;

    #[inline(always)]
    fn whiten(self, x: Self::V, key0: Self::V) -> Self::V {
        self.xor(x, key0)
    }
    #[inline(always)]
    fn state(self, v: Self::V) -> Planes<u64> {
        slice(v)
    }
    #[inline(always)]
    fn vector(self, x: Planes<u64>) -> Self::V {
        unslice(x)
    }
    #[inline(always)]
    fn round(self, x: &mut Planes<u64>, key: &Planes<u64>) {
        *x = aes::round(*x, *key)
    }
    #[inline(always)]
    fn last_round(self, x: Planes<u64>, _prev: Planes<u64>, last: Planes<u64>, data: Self::V) -> Self::V {
        self.xor(unslice(aes::last_round(x, last)), data)
    }
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
        self.0.next_words::<ROTATE>(four, last, rcon)
    }

    fn pin_state(self, _: &mut Planes<u64>) {}
}

fn lanes<const N: usize>(lane: impl Fn(usize) -> Block) -> [Block; N] {
    core::array::from_fn(lane)
}

impl Sliced<{ 4 * Widest::LANES }> for Portable<{ Widest::LANES }> {
    type Key = aes::SlicedKey;

    fn round_keys(self, keys: &mut [Self::Key]) {
        aes::round_keys(keys);
    }
    /// Encrypts all of them at once.
    #[inline(never)]
    fn encrypt(self, keys: &[Self::Key], blocks: &mut [Block; 4 * Widest::LANES], _: usize) {
        *blocks = aes::encrypt::<Widest>(keys, *blocks);
    }
    #[inline(never)]
    fn keystream(
        self,
        keys: &[Self::Key],
        first: Block,
        order: Order,
        pads: &mut [Block; 4 * Widest::LANES],
        _: usize,
    ) {
        const LOW: Block = u32::MAX as Block;
        let block = |i: usize| first & !LOW | (first as u32).wrapping_add(i as u32) as Block;
        *pads =
            core::array::from_fn(|i| if order == Order::Swapped { block(i).swap_bytes() } else { block(i) });
        self.encrypt(keys, pads, pads.len());
    }
}

/// Returns the products of 64 bits, lane by lane.
#[inline(always)]
fn clmul_lanes<const N: usize>(a: [u64; N], b: [u64; N]) -> [Block; N] {
    let mut products = [0; N];
    for first in (0..N).step_by(Widest::LANES) {
        let lanes = |v: [u64; N]| Widest::from_lanes(|i| if first + i < N { v[first + i] } else { 0 });
        let (low, high) = clmul(lanes(a), lanes(b));
        for i in 0..Widest::LANES.min(N - first) {
            products[first + i] = low.lane(i) as Block | (high.lane(i) as Block) << 64;
        }
    }
    products
}

/// [`clmul_lanes`] as a call, because our tests spell out hundreds of products.
#[inline(never)]
fn clmul_call<const N: usize>(a: [u64; N], b: [u64; N]) -> [Block; N] {
    clmul_lanes(a, b)
}

/// Returns the carry-less product of two polynomials of 64 bits, lane by lane: its lower and its upper half,
/// by Karatsuba.
#[inline(always)]
fn clmul<W: Word>(a: W, b: W) -> (W, W) {
    let (a1, b1) = (a.down(32), b.down(32));
    let (low, high) = (clmul32(a, b), clmul32(a1, b1));
    let middle = clmul32(a ^ a1, b ^ b1) ^ low ^ high;
    (low ^ middle.up(32), high ^ middle.down(32))
}

/// Returns the product of the lower 32 bits. Class k of the product, bits k, k + 4, ..., is the sum of the
/// four products of classes i and j of the factors with i + j = k modulo 4.
#[inline(always)]
fn clmul32<W: Word>(a: W, b: W) -> W {
    const CLASS: u64 = 0x1111_1111_1111_1111;
    let class = |x: W, k: usize| x & W::splat(CLASS << k);
    let x: [W; 4] = core::array::from_fn(|i| class(a, i));
    let y: [W; 4] = core::array::from_fn(|i| class(b, i));
    let product = |i: usize, j: usize| x[i].mul32(y[j % 4]);
    let sum = |k: usize| class(product(0, k) ^ product(1, k + 3) ^ product(2, k + 2) ^ product(3, k + 1), k);
    sum(0) | sum(1) | sum(2) | sum(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every pair of single bits, and the worst case for carries, all ones, in words of each width.
    #[test]
    fn clmul_is_carry_less() {
        let slow =
            |a: u64, b: u64| (0..64).fold(0, |sum, i| sum ^ (((b as u128) << i) * (a >> i & 1) as u128));
        let check = |a: u64, b: u64| {
            let (low, high) = clmul(a, b);
            assert_eq!(low as u128 | (high as u128) << 64, slow(a, b), "{a:x} {b:x}");
            assert_eq!(
                clmul_lanes([a, b, a], [b, b, !a]),
                [slow(a, b), slow(b, b), slow(a, !a)],
                "{a:x} {b:x}"
            );
        };
        for i in 0..64 {
            for j in 0..64 {
                check(1 << i, 1 << j);
            }
        }
        let (mut a, mut b) = (u64::MAX, u64::MAX);
        for _ in 0..10_000 {
            check(a, b);
            (a, b) = (b, (a ^ b.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | a & a >> 1);
        }
    }

    #[test]
    fn clmul_by_is_clmul() {
        let s = Portable::<2>::here();
        let v = [0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, u128::MAX];
        assert_eq!(s.clmul_by::<63, 8, 0>(v), s.clmul::<false, false>(v, s.splat(1 << 63 | 1 << 8 | 1)));
    }
}
