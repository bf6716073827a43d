//! The hash of a message from hashes of its parts, made apart: Y = Σ Y_part · H^(blocks behind the part). With it, one message can be hashed by
//! several threads.

use crate::multiply::plain::bit_serial;

/// H^n, by squaring. Numbers here have the block's first bit as their highest (`u128::from_be_bytes`).
pub fn power(h: u128, mut n: usize) -> u128 {
    // x^0, the first bit.
    let (mut power, mut square) = (1 << 127, h);
    while n > 0 {
        if n & 1 == 1 {
            power = bit_serial(power, square);
        }
        square = bit_serial(square, square);
        n >>= 1;
    }
    power
}

/// The hash of all parts one after the other, each given by its hash (from zero) and its number of blocks.
pub fn combine(h: u128, parts: &[(u128, usize)]) -> u128 {
    let hash = parts.iter().copied().reduce(|(hash, _), (part, blocks)| (bit_serial(hash, power(h, blocks)) ^ part, blocks));
    hash.map_or(0, |(hash, _)| hash)
}
