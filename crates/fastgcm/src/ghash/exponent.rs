//! H^n for any n, and a product by it, which combine the hashes of parts.
//!
//! A message has a handful of these products, not one for each block. So they are computed with integers, in
//! one way on every machine.

use super::{multiply::Factor, powers::times_x};
use crate::{
    Block,
    isa::{Portable, Vectors, wiped_after},
};
use zeroize::Zeroize;

/// A power of H, times x and mirrored, in the form in which tables of powers hold it. It is as secret as the
/// key.
pub(crate) struct Power(Block);

impl Power {
    /// Returns H^n; `h` is H in the standard's byte order. The function squares and multiplies: its time
    /// depends on `n`, which is a public length.
    #[inline(always)]
    pub(crate) fn of(h: Block, n: u64) -> Self {
        wiped_after!(frame, {
            frame.enter_calls();
            let mut h = times_x(h.swap_bytes());
            let mut power = ONE;
            for bit in (0..u64::BITS - n.leading_zeros()).rev() {
                power = product(power, power);
                if n >> bit & 1 == 1 {
                    power = product(power, h);
                }
            }
            h.zeroize();
            Self(power)
        })
    }

    /// Returns `block`·H^n, both in the standard's byte order.
    #[inline(always)]
    pub(crate) fn times(&self, block: Block) -> Block {
        wiped_after!(frame, {
            frame.enter_calls();
            product(self.0, block.swap_bytes()).swap_bytes()
        })
    }
}

impl Drop for Power {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// H^0, times x and mirrored.
const ONE: Block = 0xc2 << 120 | 1;

/// Returns `a·b·x^-128`.
#[inline(never)]
fn product(a: Block, b: Block) -> Block {
    let s = Portable::<1>::here();
    s.fold(Factor::new(s, s.splat(a)).times(s, s.splat(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the powers with the standard's own multiplication, bit by bit (SP 800-38D, section 6.3), and
    /// with each other.
    #[test]
    fn powers_are_products() {
        let h = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.swap_bytes();
        let mut expected = 0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128;
        let block = expected.swap_bytes();
        for n in 0..300 {
            assert_eq!(Power::of(h, n).times(block).swap_bytes(), expected, "H^{n}");
            expected = by_bits(expected, h.swap_bytes());
        }
        for (m, n) in [(1, u32::MAX as u64), (1 << 31, 1 << 31), (0xdead_beef, 0x1234_5678)] {
            assert_eq!(Power::of(h, m + n).times(block), Power::of(h, m).times(Power::of(h, n).times(block)));
        }
    }

    /// The first bit of the block is the highest of the number.
    fn by_bits(x: u128, y: u128) -> u128 {
        let (mut z, mut v) = (0, y);
        for i in (0..128).rev() {
            z ^= if x >> i & 1 == 1 { v } else { 0 };
            v = v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
        }
        z
    }
}
