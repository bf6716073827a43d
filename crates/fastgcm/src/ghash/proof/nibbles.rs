//! The proof for rows that look up nibbles: the same code over bytes of symbols.

use super::{
    super::pairs::Nibbles,
    Fault, Provable,
    polynomial::{Polynomial, add, input, standard_product, zero},
    symbolic::{self, V, planted},
};
use crate::isa::nibbles::{Bytes, lookups, multiply};
use std::{string::String, vec::Vec};

impl Provable for Nibbles {
    /// Proves one block, and two blocks with independent powers.
    fn prove(self, fault: Fault) -> Result<usize, String> {
        symbolic::begin_with(fault);
        // The blocks as numbers, and in the order of memory.
        let blocks = [0, 1, 2, 3].map(input);
        let [x, y, h, g] = blocks.each_ref().map(|block| reversed(block));
        let products = [(&blocks[0], &blocks[2]), (&blocks[1], &blocks[3])]
            .map(|(block, power)| standard_product(block, power));
        let mut tables = [[[V::zero(); 2]; 16]; 2];
        lookups(h, &mut tables[0]);
        lookups(g, &mut tables[1]);
        let [h, g] = &tables;
        for (what, got, want) in [
            ("one block", multiply([x], [h]), products[0].clone()),
            ("two blocks", multiply([x, y], [h, g]), add(&products[0], &products[1])),
            ("a block beside none", multiply([V::zero(), y], [h, g]), products[1].clone()),
        ] {
            if got.lane() != reversed(&want).lane() || symbolic::not_linear() {
                return Err(what.into());
            }
        }
        Ok(3)
    }
}

fn reversed(lane: &[Polynomial]) -> V {
    V::new(lane.chunks(8).rev().collect::<Vec<_>>().concat())
}

/// Returns bits `from` of each byte, at `to`, with zeros elsewhere.
fn moved(v: V, bits: impl Fn(usize) -> Option<usize>) -> V {
    let lane = v.lane();
    V::new(
        (0..128).map(|i| bits(i % 8).map_or(Polynomial::ZERO, |bit| lane[i / 8 * 8 + bit].clone())).collect(),
    )
}

impl Bytes for V {
    fn zero() -> Self {
        V::new(zero())
    }
    fn xor(self, other: Self) -> Self {
        V::new(add(&self.lane(), &other.lane()))
    }
    fn nibbles(self) -> [Self; 2] {
        let nibbles = [4, 0].map(|from| moved(self, |to| (to < 4).then_some(to + from)));
        if planted(Fault::OtherNibble) { [nibbles[1], nibbles[0]] } else { nibbles }
    }
    /// The results for single bits determine a linear function of a nibble. Each table must be seen to be
    /// linear.
    fn lookup(self, index: Self) -> Self {
        let (table, index) = (self.lane(), index.lane());
        let row = |n: usize| &table[8 * n..][..8];
        let sum = |n: usize, bit: usize| {
            (0..4).filter(|k| n >> k & 1 == 1).fold(Polynomial::ZERO, |sum, k| sum.add(&row(1 << k)[bit]))
        };
        let linear = (0..16).all(|n| (0..8).all(|bit| row(n)[bit] == sum(n, bit)));
        let below_16 = index.chunks(8).all(|byte| byte[4..].iter().all(Polynomial::is_zero));
        if !linear || !below_16 {
            symbolic::note_not_linear();
        }
        V::new(
            (0..128)
                .map(|i| {
                    let mut monomials = Vec::new();
                    for k in 0..4 {
                        index[i / 8 * 8 + k].product_into(&row(1 << k)[i % 8], &mut monomials);
                    }
                    Polynomial::sum(monomials)
                })
                .collect(),
        )
    }
    fn along(low: Self, high: Self) -> (Self, Self) {
        let (low, high) = (low.lane(), high.lane());
        let nothing = [const { Polynomial::ZERO }; 8];
        let carried = if planted(Fault::CarryLost) { &nothing } else { &low[120..] };
        (V::new([&nothing, &low[..120]].concat()), V::new([carried, &high[..120]].concat()))
    }
    fn bits_along<const N: u32>(self) -> (Self, Self) {
        let n = N as usize;
        let out = moved(self, |to| (to + n >= 8).then(|| to + n - 8));
        (
            moved(self, |to| (to + n < 8).then_some(to + n)),
            if planted(Fault::OutLost) { V::zero() } else { out },
        )
    }
    fn riffle(self, other: Self) -> [Self; 2] {
        let (a, b) = (self.lane(), other.lane());
        let (a, b) = if planted(Fault::OtherTurns) { (b, a) } else { (a, b) };
        let both: Vec<Polynomial> = a.chunks(8).zip(b.chunks(8)).flat_map(|(a, b)| [a, b].concat()).collect();
        [V::new(both[..128].to_vec()), V::new(both[128..].to_vec())]
    }
}
