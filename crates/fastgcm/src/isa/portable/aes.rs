//! AES on bit planes (Käsper and Schwabe). A state is eight words: word i holds bit i of every byte of its
//! blocks, four blocks for each 64 bits. So one AND works on all S-boxes at once, and the S-box is a circuit
//! (Boyar and Peralta, 2011: 113 gates, depth 27), not a table that a neighbour could watch in the cache. The
//! byte of row r, column c and block b is at bit `16r + 4c + b` of its lane.
//!
//! **ShiftRows is left out** (fixslicing; Adomnicai and Peyrin, 2020). Bytes stay where they are, so after k
//! rounds column c of row r is found k·r columns further on. SubBytes is not affected; MixColumns looks for
//! the next row k columns aside; round keys are moved beforehand, when the key is made; and at the end
//! everything is moved back at once.

use super::word::Word;
use crate::Block;

/// Eight bit planes.
pub(super) type Planes<W> = [W; 8];

/// Round keys in the form that [`encrypt`] uses, two planes to a block: one form for words of any width.
pub(crate) type SlicedKey = [Block; 4];

/// Replaces the standard's round keys by keys in the form that [`encrypt`] uses: four at a time, as if they
/// were four blocks.
pub(super) fn round_keys(keys: &mut [SlicedKey]) {
    let last = keys.len() - 1;
    for (i, keys) in keys.chunks_mut(4).enumerate() {
        let four = slice::<4>(core::array::from_fn(|k| keys[k.min(keys.len() - 1)][0]));
        for (k, sliced) in keys.iter_mut().enumerate() {
            // The bits of this key, for all four blocks.
            let mut planes = four.map(|w| (w >> k & 0x1111_1111_1111_1111) * 0xf);
            // The key is moved back by one ShiftRows for each one left out, which is a move forward by three.
            // (Before the last key they are all made good.)
            for _ in 0..if 4 * i + k < last { k } else { 0 } {
                planes = shift_rows::<_, 3>(planes);
            }
            *sliced = core::array::from_fn(|i| planes[2 * i] as Block | (planes[2 * i + 1] as Block) << 64);
        }
    }
}

/// Encrypts as many blocks as eight words hold.
pub(super) fn encrypt<W: Word>(keys: &[SlicedKey], blocks: W::Blocks) -> W::Blocks {
    let key = |round: usize| -> Planes<W> {
        core::array::from_fn(|i| W::splat((keys[round][i / 2] >> (64 * (i % 2))) as u64))
    };
    let rounds = keys.len() - 1;
    let mut x = W::interleave(blocks);
    transpose(&mut x);
    x = add(x, key(0));
    // The number of ShiftRows left out in a round, including that of the round. The S-box, most of the code,
    // is here once and inlined: as a call, with planes and keys through memory, AES took 430 ns for four
    // blocks, not 355.
    for round in 1..=rounds {
        x = sub_bytes(x);
        if round < rounds {
            x = match round % 4 {
                0 => mix_columns::<W, 0>(x),
                1 => mix_columns::<W, 1>(x),
                2 => mix_columns::<W, 2>(x),
                _ => mix_columns::<W, 3>(x),
            };
        } else if rounds % 4 == 2 {
            x = shift_rows::<W, 2>(x); // 10 or 14 of them; 12 change nothing
        }
        x = add(x, key(round));
    }
    transpose(&mut x);
    W::blocks(x)
}

/// Runs a whole round, with ShiftRows. (This function and the next are outlined: our tests spell out hundreds
/// of rounds.)
#[inline(never)]
pub(super) fn round(x: Planes<u64>, key: Planes<u64>) -> Planes<u64> {
    add(mix_columns::<u64, 0>(sub_bytes(shift_rows::<u64, 1>(x))), key)
}

#[inline(never)]
pub(super) fn last_round(x: Planes<u64>, key: Planes<u64>) -> Planes<u64> {
    add(shift_rows::<u64, 1>(sub_bytes(x)), key)
}

#[inline(always)]
fn add<W: Word>(x: Planes<W>, y: Planes<W>) -> Planes<W> {
    core::array::from_fn(|i| x[i] ^ y[i])
}

/// Runs ShiftRows `K` times: row r, 16 bits of every lane, moves by K·r columns of 4 bits.
#[inline(always)]
fn shift_rows<W: Word, const K: u32>(x: Planes<W>) -> Planes<W> {
    let row = |w: W, r: u32| {
        let (bits, by) = (0xffff << (16 * r), 4 * (K * r % 4));
        let from_below = bits >> by & bits;
        w.down(by) & W::splat(from_below) | w.up(16 - by) & W::splat(bits & !from_below)
    };
    x.map(|w| row(w, 0) | row(w, 1) | row(w, 2) | row(w, 3))
}

/// `2a + 3a' + a'' + a'''` is `2t + a' + t''` with `t = a + a'`, where each prime is the next row of the
/// column, `K` columns aside.
#[inline(always)]
fn mix_columns<W: Word, const K: u32>(a: Planes<W>) -> Planes<W> {
    let next = a.map(W::below::<1, K>);
    let t = add(a, next);
    let double = |i: usize| match i {
        0 => t[7],
        1 | 3 | 4 => t[i - 1] ^ t[7],
        _ => t[i - 1],
    };
    core::array::from_fn(|i| {
        double(i) ^ next[i] ^ if K.is_multiple_of(2) { t[i].below::<2, 0>() } else { t[i].below::<2, 2>() }
    })
}

/// Converts up to four blocks to bit planes. (It is a call: the code is needed wherever a round key is used.)
#[inline(never)]
pub(super) fn slice<const N: usize>(v: [Block; N]) -> Planes<u64> {
    let mut planes = u64::interleave(core::array::from_fn(|b| if b < N { v[b] } else { 0 }));
    transpose(&mut planes);
    planes
}

/// Converts bit planes back to blocks.
#[inline(never)]
pub(super) fn unslice<const N: usize>(mut planes: Planes<u64>) -> [Block; N] {
    transpose(&mut planes);
    let blocks = u64::blocks(planes);
    core::array::from_fn(|b| blocks[b])
}

/// Transposes, for each k, byte k of the eight words, an 8 x 8 matrix of bits.
#[inline(always)]
fn transpose<W: Word>(w: &mut Planes<W>) {
    let mut swap = |low: u64, distance: usize| {
        for i in 0..8 {
            if i & distance == 0 {
                let t = (w[i].down(distance as u32) ^ w[i + distance]) & W::splat(low);
                w[i] = w[i] ^ t.up(distance as u32);
                w[i + distance] = w[i + distance] ^ t;
            }
        }
    };
    swap(0x5555_5555_5555_5555, 1);
    swap(0x3333_3333_3333_3333, 2);
    swap(0x0f0f_0f0f_0f0f_0f0f, 4);
}

/// Computes the S-box of every byte: the circuit of Boyar and Peralta, "A depth-16 circuit for the AES S-box"
/// (2011), figures 5 to 8 with their names; `x7` there is the lowest bit.
#[rustfmt::skip]
#[inline(always)]
pub(super) fn sub_bytes<W: Word>([x7, x6, x5, x4, x3, x2, x1, x0]: Planes<W>) -> Planes<W> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares all 256 values with inversion and the affine map of FIPS 197, section 5.1.1.
    #[test]
    fn s_box_is_that_of_fips_197() {
        let times = |a: u8, b: u8| {
            (0..8).fold((0u8, a), |(sum, a), i| (sum ^ (a * (b >> i & 1)), (a << 1) ^ (0x1b * (a >> 7)))).0
        };
        for x in 0..=255u8 {
            let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
            let want = [0, 1, 2, 3, 4].map(|n| inverse.rotate_left(n)).iter().fold(0x63, |a, b| a ^ b);
            let planes: Planes<u64> = core::array::from_fn(|i| if x >> i & 1 == 1 { u64::MAX } else { 0 });
            let got = sub_bytes(planes);
            for (i, plane) in got.iter().enumerate() {
                assert_eq!(*plane, if want >> i & 1 == 1 { u64::MAX } else { 0 }, "{x:02x} bit {i}");
            }
        }
    }

    #[test]
    fn planes_and_back() {
        let v = [1, 2, 3, 4].map(|i: u128| i * 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
        assert_eq!(unslice::<4>(slice(v)), v);
    }

    /// Words of both widths give equal results: a machine with pairs does not use the other width.
    #[test]
    fn words_of_any_width_agree() {
        use crate::isa::Widest;
        assert_eq!((u64::from_lanes(|i| [5][i]).lane(0), Widest::from_lanes(|_| 5).lane(0)), (5, 5));
        for rounds in [10, 12, 14] {
            let mut keys = [[0; 4]; 15];
            keys.iter_mut().zip(3..).for_each(|(key, i)| key[0] = Block::wrapping_pow(i, 97));
            round_keys(&mut keys[..=rounds]);
            let blocks = |i: usize| (i as Block + 7).wrapping_pow(89);
            let wide = encrypt::<Widest>(&keys[..=rounds], core::array::from_fn(blocks));
            for (i, four) in wide.chunks(4).enumerate() {
                assert_eq!(
                    four,
                    encrypt::<u64>(&keys[..=rounds], core::array::from_fn(|b| blocks(4 * i + b)))
                );
            }
        }
    }
}
