//! Tables 4 to 10 of Ozturk, Kantecki and Yap, "Advanced Encryption Standard Galois Counter Mode - Optimized GHASH Function" (Intel, 2023),
//! each as the few lines that it is. First plain (bit i of a number is the coefficient of x^i), then mirrored (bit 127 - i is).
//!
//! Digits have 64 bits; digit 0 is the lowest. `P = x^128 + Q`.

/// x^7 + x^2 + x + 1, which is x^128 modulo P.
const Q: u64 = 0x87;
/// Q' of tables 9 and 10: Q without its lowest bit, mirrored.
const Q_MIRRORED: u64 = (Q >> 1).reverse_bits();

/// GFMUL64: the carry-less product of two digits.
pub(crate) fn gfmul64(x: u64, y: u64) -> u128 {
    (0..64).fold(0, |z, i| z ^ (((x as u128) << i) * ((y >> i) & 1) as u128))
}

/// A number as two digits, and a product as four.
fn digits(v: u128) -> [u64; 2] {
    [v as u64, (v >> 64) as u64]
}
fn product(a: u128, b: u128) -> [u64; 4] {
    let ([a0, a1], [b0, b1]) = (digits(a), digits(b));
    let (low, middle, high) = (gfmul64(a0, b0), gfmul64(a0, b1) ^ gfmul64(a1, b0), gfmul64(a1, b1));
    let ([c0, c1], [m0, m1], [c2, c3]) = (digits(low), digits(middle), digits(high));
    [c0, c1 ^ m0, c2 ^ m1, c3]
}
fn number([low, high]: [u64; 2]) -> u128 {
    low as u128 | (high as u128) << 64
}

/// Table 4: A·B, then modulo P. Here by long division, a bit at a time: the reference for the others.
pub(crate) fn table_4(a: u128, b: u128) -> u128 {
    let [c0, c1, c2, c3] = product(a, b);
    let bits = [c3, c2, c1, c0].into_iter().flat_map(|digit| (0..64).rev().map(move |i| digit >> i & 1));
    // What has been read so far, times x, plus the next bit.
    bits.fold(0, |rest: u128, bit| (rest << 1) ^ ((rest >> 127) * Q as u128) ^ bit as u128)
}

/// Table 5: two folding steps, each by one multiplication with Q.
pub(crate) fn table_5(a: u128, b: u128) -> u128 {
    let [c0, c1, c2, c3] = product(a, b);
    // C[3]·x^192 = C[3]·Q·x^64
    let [f0, f1] = digits(gfmul64(c3, Q));
    let [y0, y1, y2] = [c0, c1 ^ f0, c2 ^ f1];
    number([y0, y1]) ^ gfmul64(y2, Q)
}

/// Table 6: with K = B\[1\]·Q, A\[1\]·B\[1\]·x^128 is A\[1\]·K: the first folding step is in the key.
pub(crate) fn table_6(a: u128, b: u128) -> u128 {
    let ([a0, a1], [b0, b1]) = (digits(a), digits(b));
    let [k0, k1] = digits(gfmul64(b1, Q));
    fold_once(gfmul64(a0, b0) ^ gfmul64(a1, k0), gfmul64(a0, b1) ^ gfmul64(a1, b0) ^ gfmul64(a1, k1))
}

/// Tables 7 and 8: with K = B\[1\]·Q + B\[0\]·x^64, one multiplication less. "Our final optimized algorithm".
pub(crate) fn table_8(a: u128, b: u128) -> u128 {
    let ([a0, a1], [b0, b1]) = (digits(a), digits(b));
    let [k0, k1] = digits(gfmul64(b1, Q) ^ (b0 as u128) << 64);
    fold_once(gfmul64(a0, b0) ^ gfmul64(a1, k0), gfmul64(a0, b1) ^ gfmul64(a1, k1))
}

/// Step 2 of tables 6 to 8: `low + high·x^64` has three digits, the third is folded.
fn fold_once(low: u128, high: u128) -> u128 {
    let ([y0, l1], [h0, y2]) = (digits(low), digits(high));
    number([y0, l1 ^ h0]) ^ gfmul64(y2, Q)
}

/// Table 9: the same two foldings from the other end. A product of mirrored numbers is one bit short, so C' is the mirror of C·x, and the
/// result that of A·B·x. A key that is stored times x^-1 makes up for it. (In the library's words "times x": there, a register is read
/// as a polynomial the other way round.)
pub(crate) fn table_9(a: u128, b: u128) -> u128 {
    let [c0, c1, c2, c3] = product(a, b);
    let [f0, f1] = digits(gfmul64(c0, Q_MIRRORED));
    let [y0, y1, y2] = [c1 ^ f0, c2 ^ f1 ^ c0, c3];
    gfmul64(y0, Q_MIRRORED) ^ number([y1, y2 ^ y0])
}

/// Table 10: the key-folded K', mirrored, as the library has it (`ghash::multiply::KeyFolded`): K' = fold(B').
pub(crate) fn table_10(a: u128, b: u128) -> u128 {
    let ([a0, a1], [b0, b1]) = (digits(a), digits(b));
    let [k0, k1] = digits(gfmul64(b0, Q_MIRRORED) ^ b.rotate_left(64));
    let (low, high) = (gfmul64(a0, k0) ^ gfmul64(a1, b0), gfmul64(a0, k1) ^ gfmul64(a1, b1));
    let ([y0, l1], [h0, y2]) = (digits(low), digits(high));
    gfmul64(y0, Q_MIRRORED) ^ number([l1 ^ h0, y2 ^ y0])
}
