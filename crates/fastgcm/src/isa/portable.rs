//! No instruction set at all: bit-sliced AES and integer multiplication, in constant time. No table, no branch on data.
//!
//! **AES** on bit planes (Käsper and Schwabe). A state is up to four blocks as eight words: word i holds bit i of all 64 bytes. So
//! one AND works on 64 S-boxes at once, and the S-box is a circuit (Boyar and Peralta, 2011: 113 gates, depth 27), not a
//! table that a neighbour could watch in the cache. The byte of row r, column c and block b is at bit `16r + 4c + b`.
//!
//! **ShiftRows is left out** (fixslicing; Adomnicai and Peyrin, 2020). Bytes stay where they are, so after k rounds column c of row r
//! is found k·r columns further on. SubBytes does not mind; MixColumns looks for the next row k columns aside; round keys are moved
//! beforehand, when the key is made; and at the end all is moved back at once.
//!
//! **Carry-less multiplication** from integer multiplication (Pornin): keep every fourth bit of both factors, and the carries of
//! their product fall in the three zeros above each bit, as long as no more than 15 ones are counted. In the lower half of a product of 64
//! bits only the highest bit of a class counts sixteen, and its carry leaves the word.
//!
//! This assumes that the CPU multiplies in constant time, as all 64-bit ones known to us do (Cortex-M3 does not).

use super::{Isa, Sliced};
use crate::Block;

/// `N` lanes, 1 to 4: the table uses one, and for AES what is [`Sliced`]. Our tests use all, `ROOMY` or not as other back ends are, so
/// that the paths of those run on any machine.
#[derive(Clone, Copy)]
pub(crate) struct Portable<const N: usize, const ROOMY: bool = false>(());

impl<const N: usize, const ROOMY: bool> Portable<N, ROOMY> {
    /// Nothing to prove.
    pub(crate) fn here() -> Self {
        const { assert!(N >= 1 && N <= 4) }
        Self(())
    }
}

/// Eight bit planes.
type Planes = [u64; 8];

impl<const N: usize, const ROOMY: bool> Isa for Portable<N, ROOMY> {
    type V = [Block; N];
    type State = Planes;
    const BLOCKS: usize = N;
    const ROOMY: bool = ROOMY;
    const FACE_PAYS: usize = 1 << 14;

    unsafe fn load(self, src: *const u8) -> Self::V {
        // SAFETY: the caller's promise; an array of bytes has no alignment.
        unsafe { src.cast::<[[u8; 16]; N]>().read() }.map(Block::from_le_bytes)
    }
    unsafe fn store(self, dst: *mut u8, v: Self::V) {
        // SAFETY: likewise.
        unsafe { dst.cast::<[[u8; 16]; N]>().write(v.map(Block::to_le_bytes)) }
    }
    #[inline]
    unsafe fn load_first(self, src: *const u8, n: usize) -> Self::V {
        if n == 16 * N {
            // SAFETY: the caller's promise. (Not a call to `memcpy`, nor below.)
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
        // SAFETY: likewise for `dst`.
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
        #[inline(never)]
        fn call(a: u64, b: u64) -> u128 {
            clmul(a, b)
        }
        let half = |x: Block, high| if high { (x >> 64) as u64 } else { x as u64 };
        if N == 1 && !cfg!(test) {
            [clmul(half(a[0], A_HIGH), half(b[0], B_HIGH)); N] // in line: a reduction's constant has three bits
        } else {
            lanes(|i| call(half(a[i], A_HIGH), half(b[i], B_HIGH)))
        }
    }
    fn add32(self, v: Self::V, n: Self::V) -> Self::V {
        const LOW: Block = u32::MAX as Block;
        lanes(|i| v[i] & !LOW | (v[i] as u32).wrapping_add(n[i] as u32) as Block)
    }

    #[cfg(feature = "internals")]
    fn shift_left<const BITS: u32>(self, v: Self::V) -> Self::V {
        lanes(|i| ((v[i] as u64) << BITS) as Block | (v[i] >> 64) << (64 + BITS))
    }
    #[cfg(feature = "internals")]
    fn shift_right<const BITS: u32>(self, v: Self::V) -> Self::V {
        lanes(|i| (v[i] as u64 >> BITS) as Block | v[i] >> (64 + BITS) << 64)
    }
    #[cfg(feature = "internals")]
    fn up_word(self, v: Self::V) -> Self::V {
        v.map(|x| x << 32)
    }
    #[cfg(feature = "internals")]
    fn down_word(self, v: Self::V) -> Self::V {
        v.map(|x| x >> 32)
    }

    #[inline(always)]
    fn whiten(self, x: Self::V, key0: Self::V) -> Self::V {
        self.xor(x, key0)
    }
    #[inline(always)]
    fn state(self, v: Self::V) -> Planes {
        slice(v)
    }
    #[inline(always)]
    fn leave(self, x: Planes) -> Self::V {
        unslice(x)
    }
    #[inline(always)]
    fn round(self, x: Planes, _prev: Planes, next: Planes) -> Planes {
        round(x, next)
    }
    #[inline(always)]
    fn last_round(self, x: Planes, _prev: Planes, last: Planes, data: Self::V) -> Self::V {
        self.xor(unslice(last_round(x, last)), data)
    }
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

    fn pin(self, _: &mut Self::V) {}
    fn pin_state(self, _: &mut Planes) {}
}

fn lanes<const N: usize>(lane: impl Fn(usize) -> Block) -> [Block; N] {
    core::array::from_fn(lane)
}

impl Sliced for Portable<1> {
    fn round_key(self, key: Block, round: usize, rounds: usize) -> [Block; 4] {
        let mut planes = slice([key; 4]);
        if round < rounds {
            // Back by one ShiftRows for each that is left out: forth by as many as make four.
            for _ in 0..(4 - round % 4) % 4 {
                planes = shift_rows(planes);
            }
        }
        lanes(|i| planes[2 * i] as Block | (planes[2 * i + 1] as Block) << 64)
    }

    fn encrypt(self, keys: &[[Block; 4]], blocks: [Block; 4]) -> [Block; 4] {
        let key = |round: usize| -> Planes { core::array::from_fn(|i| (keys[round][i / 2] >> (64 * (i % 2))) as u64) };
        let rounds = keys.len() - 1;
        let mut x = add(slice(blocks), key(0));
        for round in 1..rounds {
            x = match round % 4 {
                0 => fixed_round::<0>(x, key(round)),
                1 => fixed_round::<1>(x, key(round)),
                2 => fixed_round::<2>(x, key(round)),
                _ => fixed_round::<3>(x, key(round)),
            };
        }
        x = sub_bytes(x);
        for _ in 0..rounds % 4 {
            x = shift_rows(x);
        }
        unslice(add(x, key(rounds)))
    }
}

// ---- AES

/// A whole round, with ShiftRows. (Calls, these two: our tests spell out hundreds of rounds.)
#[inline(never)]
fn round(x: Planes, key: Planes) -> Planes {
    fixed_round::<0>(shift_rows(x), key)
}

#[inline(never)]
fn last_round(x: Planes, key: Planes) -> Planes {
    add(shift_rows(sub_bytes(x)), key)
}

/// A round without ShiftRows, where `K` of them, this one included, have been left out (modulo 4). (In line: as a call, planes and keys
/// through memory, AES took 430 ns for four blocks, not 355.)
#[inline(always)]
fn fixed_round<const K: u32>(x: Planes, key: Planes) -> Planes {
    add(mix_columns::<K>(sub_bytes(x)), key)
}

fn add(x: Planes, y: Planes) -> Planes {
    core::array::from_fn(|i| x[i] ^ y[i])
}

/// Row r, 16 bits of every word, moves by r columns of 4 bits. By masks on the whole word, so that a compiler with vectors takes
/// several words at once.
fn shift_rows(x: Planes) -> Planes {
    x.map(|w| {
        w & 0x0000_0000_0000_ffff
            | (w >> 4 & 0x0000_0000_0fff_0000 | w << 12 & 0x0000_0000_f000_0000)
            | (w >> 8 & 0x0000_00ff_0000_0000 | w << 8 & 0x0000_ff00_0000_0000)
            | (w >> 12 & 0x000f_0000_0000_0000 | w << 4 & 0xfff0_0000_0000_0000)
    })
}

/// `2a + 3a' + a'' + a'''` is `2t + a' + t''` with `t = a + a'`, where each prime is the next row of the column, `K` columns aside.
#[inline(always)]
fn mix_columns<const K: u32>(a: Planes) -> Planes {
    let next = a.map(below::<1, K>);
    let t = add(a, next);
    let double = |i: usize| match i {
        0 => t[7],
        1 | 3 | 4 => t[i - 1] ^ t[7],
        _ => t[i - 1],
    };
    core::array::from_fn(|i| double(i) ^ next[i] ^ if K.is_multiple_of(2) { below::<2, 0>(t[i]) } else { below::<2, 2>(t[i]) })
}

/// The byte `ROWS` rows below and `COLUMNS` aside, both around the corner.
#[inline(always)]
fn below<const ROWS: u32, const COLUMNS: u32>(w: u64) -> u64 {
    let inside = 0x0001_0001_0001_0001 * ((1 << (16 - 4 * COLUMNS)) - 1);
    let aside = 16 * ROWS + 4 * COLUMNS;
    w.rotate_right(aside) & inside | w.rotate_right(aside - 16) & !inside
}

/// Blocks to bit planes. (A call: it stands wherever a round key is used.)
#[inline(never)]
fn slice<const N: usize>(v: [Block; N]) -> Planes {
    // Word 4p + b gets the columns of block b with parity p, interleaved: their byte 2r + c/2 is that of row r, column c.
    let mut planes = [0; 8];
    for (b, block) in v.iter().enumerate() {
        let column = |c: u32| spread((block >> (32 * c)) as u32);
        planes[b] = column(0) | column(2) << 8;
        planes[4 + b] = column(1) | column(3) << 8;
    }
    transpose(&mut planes);
    planes
}

/// Bit planes to blocks.
#[inline(never)]
fn unslice<const N: usize>(mut planes: Planes) -> [Block; N] {
    transpose(&mut planes);
    lanes(|b| {
        let [even, odd] = [planes[b], planes[4 + b]];
        gather(even) as Block | (gather(odd) as Block) << 32 | (gather(even >> 8) as Block) << 64 | (gather(odd >> 8) as Block) << 96
    })
}

/// Four bytes to every other byte of eight.
fn spread(x: u32) -> u64 {
    let x = x as u64;
    let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    (x | x << 8) & 0x00ff_00ff_00ff_00ff
}

/// And back; what lies between is dropped.
fn gather(x: u64) -> u32 {
    let x = x & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}

/// Byte k of the eight words, an 8 x 8 matrix of bits, is transposed, for each k.
fn transpose(w: &mut Planes) {
    let mut swap = |low: u64, distance: usize| {
        for i in 0..8 {
            if i & distance == 0 {
                let t = (w[i] >> distance ^ w[i + distance]) & low;
                w[i] ^= t << distance;
                w[i + distance] ^= t;
            }
        }
    };
    swap(0x5555_5555_5555_5555, 1);
    swap(0x3333_3333_3333_3333, 2);
    swap(0x0f0f_0f0f_0f0f_0f0f, 4);
}

/// The S-box of 64 bytes: the circuit of Boyar and Peralta, "A depth-16 circuit for the AES S-box" (2011), figures 5 to 8 in
/// their names; `x7` there is the lowest bit.
#[rustfmt::skip]
#[inline(always)]
fn sub_bytes([x7, x6, x5, x4, x3, x2, x1, x0]: Planes) -> Planes {
    // Into the basis of the tower field.
    let y14 = x3 ^ x5;   let y13 = x0 ^ x6;   let y9 = x0 ^ x3;    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;    let y1 = t0 ^ x7;    let y4 = y1 ^ x3;    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;    let y5 = y1 ^ x6;    let y3 = y5 ^ y8;    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;   let y20 = t1 ^ x1;   let y6 = y15 ^ x7;   let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;  let y7 = x7 ^ y11;   let y17 = y10 ^ y11; let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;  let y21 = y13 ^ y16; let y18 = x0 ^ y16;
    // Inversion.
    let t2 = y12 & y15;  let t3 = y3 & y6;    let t4 = t3 ^ t2;    let t5 = y4 & x7;
    let t6 = t5 ^ t2;    let t7 = y13 & y16;  let t8 = y5 & y1;    let t9 = t8 ^ t7;
    let t10 = y2 & y7;   let t11 = t10 ^ t7;  let t12 = y9 & y11;  let t13 = y14 & y17;
    let t14 = t13 ^ t12; let t15 = y8 & y10;  let t16 = t15 ^ t12; let t17 = t4 ^ t14;
    let t18 = t6 ^ t16;  let t19 = t9 ^ t14;  let t20 = t11 ^ t16; let t21 = t17 ^ y20;
    let t22 = t18 ^ y19; let t23 = t19 ^ y21; let t24 = t20 ^ y18; let t25 = t21 ^ t22;
    let t26 = t21 & t23; let t27 = t24 ^ t26; let t28 = t25 & t27; let t29 = t28 ^ t22;
    let t30 = t23 ^ t24; let t31 = t22 ^ t26; let t32 = t31 & t30; let t33 = t32 ^ t24;
    let t34 = t23 ^ t33; let t35 = t27 ^ t33; let t36 = t24 & t35; let t37 = t36 ^ t34;
    let t38 = t27 ^ t36; let t39 = t29 & t38; let t40 = t25 ^ t39; let t41 = t40 ^ t37;
    let t42 = t29 ^ t33; let t43 = t29 ^ t40; let t44 = t33 ^ t37; let t45 = t42 ^ t41;
    let z0 = t44 & y15;  let z1 = t37 & y6;   let z2 = t33 & x7;   let z3 = t43 & y16;
    let z4 = t40 & y1;   let z5 = t29 & y7;   let z6 = t42 & y11;  let z7 = t45 & y17;
    let z8 = t41 & y10;  let z9 = t44 & y12;  let z10 = t37 & y3;  let z11 = t33 & y4;
    let z12 = t43 & y13; let z13 = t40 & y5;  let z14 = t29 & y2;  let z15 = t42 & y9;
    let z16 = t45 & y14; let z17 = t41 & y8;
    // Back, and the affine map.
    let t46 = z15 ^ z16; let t47 = z10 ^ z11; let t48 = z5 ^ z13;  let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;  let t51 = z2 ^ z5;   let t52 = z7 ^ z8;   let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;   let t55 = z16 ^ z17; let t56 = z12 ^ t48; let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;  let t59 = z3 ^ t54;  let t60 = t46 ^ t57; let t61 = z14 ^ t57;
    let t62 = t52 ^ t58; let t63 = t49 ^ t58; let t64 = z4 ^ t59;  let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;  let s0 = t59 ^ t63;  let s6 = t56 ^ !t62; let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65; let s3 = t53 ^ t66;  let s4 = t51 ^ t66;  let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;  let s2 = t55 ^ !t67;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

// ---- GHASH

/// The carry-less product of two polynomials of 64 bits. The upper half is the lower one of the factors mirrored.
#[inline(always)]
fn clmul(a: u64, b: u64) -> u128 {
    let (low, high) = (lower_half(a, b), lower_half(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1);
    low as u128 | (high as u128) << 64
}

/// The lower 64 bits of the product. Class k of it, bits k, k + 4, ..., is the sum of the four products of classes i and j of the factors
/// with i + j = k modulo 4.
#[inline(always)]
fn lower_half(a: u64, b: u64) -> u64 {
    const CLASS: u64 = 0x1111_1111_1111_1111;
    let x: [u64; 4] = core::array::from_fn(|i| a & CLASS << i);
    let y: [u64; 4] = core::array::from_fn(|i| b & CLASS << i);
    let product = |i: usize, j: usize| x[i].wrapping_mul(y[j % 4]);
    let class = |k: usize| (product(0, k) ^ product(1, k + 3) ^ product(2, k + 2) ^ product(3, k + 1)) & CLASS << k;
    class(0) | class(1) | class(2) | class(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 256 values, against inversion and the affine map of FIPS 197, section 5.1.1.
    #[test]
    fn s_box_is_that_of_fips_197() {
        let times = |a: u8, b: u8| (0..8).fold((0u8, a), |(sum, a), i| (sum ^ (a * (b >> i & 1)), (a << 1) ^ (0x1b * (a >> 7)))).0;
        for x in 0..=255u8 {
            let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
            let want = [0, 1, 2, 3, 4].map(|n| inverse.rotate_left(n)).iter().fold(0x63, |a, b| a ^ b);
            let planes = core::array::from_fn(|i| if x >> i & 1 == 1 { u64::MAX } else { 0 });
            let got = sub_bytes(planes);
            for (i, plane) in got.iter().enumerate() {
                assert_eq!(*plane, if want >> i & 1 == 1 { u64::MAX } else { 0 }, "{x:02x} bit {i}");
            }
        }
    }

    /// Every pair of single bits, and the worst case for carries: all ones.
    #[test]
    fn clmul_is_carry_less() {
        for i in 0..64 {
            for j in 0..64 {
                assert_eq!(clmul(1 << i, 1 << j), 1 << (i + j));
            }
        }
        let slow = |a: u64, b: u64| (0..64).fold(0, |sum, i| sum ^ (((b as u128) << i) * (a >> i & 1) as u128));
        let (mut a, mut b) = (u64::MAX, u64::MAX);
        for _ in 0..10_000 {
            assert_eq!(clmul(a, b), slow(a, b));
            (a, b) = (b, (a ^ b.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | a & a >> 1);
        }
    }

    #[test]
    fn planes_and_back() {
        let v = [1, 2, 3, 4].map(|i: u128| i * 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
        assert_eq!(unslice::<4>(slice(v)), v);
    }
}
