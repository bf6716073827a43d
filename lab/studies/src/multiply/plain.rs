//! GHASH's multiplication without an instruction for it: a bit at a time, and four bits at a time by a table.
//!
//! Blocks are numbers whose highest bit is the block's first (`u128::from_be_bytes`), the coefficient of x^0.

/// Times x: a shift to the right, and P back in if a bit fell out. The mask is all ones or all zeros: no branch.
const fn times_x(v: u128) -> u128 {
    (v >> 1) ^ ((0xe1 << 120) & (v & 1).wrapping_neg())
}

/// A bit of `x` at a time, as Solaris did it before 2010: "a simple C implementation of carryless multiply without lookup tables".
pub fn bit_serial(x: u128, h: u128) -> u128 {
    let (mut z, mut v) = (0, h);
    for i in (0..128).rev() {
        z ^= v & (x >> i & 1).wrapping_neg();
        v = times_x(v);
    }
    z
}

/// Shoup's method with 4 bits: the 16 multiples of H by polynomials of degree 3, made once for a key. For comparison only.
///
/// **Not in constant time**: the table is indexed by secret values, which a neighbour can watch in the cache. So it is never in the
/// library.
#[derive(Clone, Debug)]
pub struct FourBitTable {
    multiples: [u128; 16],
    /// What four bits that fall out put back in.
    reductions: [u128; 16],
}

impl FourBitTable {
    /// For one hash key.
    pub fn new(h: u128) -> Self {
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

    /// `x·H`.
    pub fn times(&self, x: u128) -> u128 {
        (0..32).fold(0u128, |z, i| {
            let z = (z >> 4) ^ self.reductions[(z & 15) as usize];
            z ^ self.multiples[(x >> (4 * i) & 15) as usize]
        })
    }
}

/// GHASH of whole blocks, by any multiplication of this page.
pub fn ghash(data: &[u8], times_h: impl Fn(u128) -> u128) -> u128 {
    data.as_chunks().0.iter().fold(0, |y, block| times_h(y ^ u128::from_be_bytes(*block)))
}
