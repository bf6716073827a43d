//! GHASH without a carry-less multiplication: a bit at a time, four bits at a time by a table, and a message's hash from the hashes of its parts.
//!
//! Blocks are numbers whose highest bit is the block's first (`u128::from_be_bytes`), the coefficient of x^0.

/// Multiplies by x: a shift to the right, and P back in if a bit fell out. The mask is all ones or all zeros: no branch.
const fn times_x(v: u128) -> u128 {
    (v >> 1) ^ ((0xe1 << 120) & (v & 1).wrapping_neg())
}

/// Multiplies a bit of `x` at a time, as Solaris did before 2010: "a simple C implementation of carryless multiply without lookup tables".
pub(crate) fn bit_serial(x: u128, h: u128) -> u128 {
    let (mut z, mut v) = (0, h);
    for i in (0..128).rev() {
        z ^= v & (x >> i & 1).wrapping_neg();
        v = times_x(v);
    }
    z
}

/// Shoup's table with 4 bits: the 16 multiples of H by polynomials of degree 3, made once for a key. It is for comparison only.
///
/// **Not in constant time**: the table is indexed by secret values, which a neighbour can watch in the cache. So it is never in the
/// library.
pub(crate) struct FourBitTable {
    multiples: [u128; 16],
    /// For four bits that fall out, the bits that the reduction adds.
    reductions: [u128; 16],
}

impl FourBitTable {
    /// Makes the table of a hash key.
    pub(crate) fn new(h: u128) -> Self {
        let (mut multiples, mut reductions) = ([0; 16], [0; 16]);
        for i in 0..16 {
            // Bit 3 of the index is the lowest power, like the first bit of a block.
            let mut v = h;
            for bit in (0..4).rev() {
                multiples[i] ^= v * (i as u128 >> bit & 1);
                v = times_x(v);
            }
            reductions[i] = (0..4).fold(i as u128, |v, _| times_x(v));
        }
        Self { multiples, reductions }
    }

    /// Returns `x·H`.
    pub(crate) fn times(&self, x: u128) -> u128 {
        (0..32).fold(0u128, |z, i| {
            let z = (z >> 4) ^ self.reductions[(z & 15) as usize];
            z ^ self.multiples[(x >> (4 * i) & 15) as usize]
        })
    }
}

/// Hashes whole blocks with a multiplication of this module.
pub(crate) fn ghash(data: &[u8], times_h: impl Fn(u128) -> u128) -> u128 {
    data.as_chunks().0.iter().fold(0, |y, block| times_h(y ^ u128::from_be_bytes(*block)))
}

/// Returns H^n, by squaring. Numbers here have the block's first bit as their highest (`u128::from_be_bytes`).
pub(crate) fn power(h: u128, mut n: usize) -> u128 {
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

/// Returns the hash of all parts one after the other, each given by its hash (from zero) and its number of blocks: Y = Σ Y_part · H^(blocks
/// behind the part). So several threads can hash one message.
pub(crate) fn combine(h: u128, parts: &[(u128, usize)]) -> u128 {
    let hash = parts.iter().copied().reduce(|(hash, _), (part, blocks)| (bit_serial(hash, power(h, blocks)) ^ part, blocks));
    hash.map_or(0, |(hash, _)| hash)
}
