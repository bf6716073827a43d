//! GHASH over many blocks with fewer reductions: Y = Σ blockᵢ·H^(n-i), and any part of that sum can wait to be reduced.
//!
//! | | reductions | lanes added | of which paper |
//! |---|---|---|---|
//! | [`packed`], N = 1, 2, 4, ..., 48 | one for N blocks | as often | Jankowski and Laurent, 2010, section 2.3 |
//! | [`deferred`] | one for V vectors | once, at the end | Intel 2023, section 3, figure 9; the library does this |
//!
//! With vectors of one block the two are the same.

use crate::{
    arm64_2019::tail::{Masked, Tail},
    multiply::step,
};
use fastgcm::internals::{Isa, Multiply, fold, load, times_x};

/// The powers of H in the layout of a multiplication, highest first.
#[derive(Clone, Debug)]
pub(crate) struct Powers {
    first: [u8; 16 * MOST],
    second: [u8; 16 * MOST],
    /// Entry n: the sum that zeros times H^1 ..= H^n leave (see `Multiply::constant`).
    constants: [u128; MOST + 1],
}

/// The largest number of powers.
pub(crate) const MOST: usize = 48;

impl Powers {
    /// Powers before they are computed.
    pub(crate) const NONE: Self = Self { first: [0; 16 * MOST], second: [0; 16 * MOST], constants: [0; MOST + 1] };

    /// Makes H^1 ..= H^count. `h` is AES(0), its bytes in memory order.
    #[inline(always)]
    pub(crate) fn new<S: Isa, M: Multiply<S>>(s: S, h: u128, count: usize) -> Self {
        let mut new = Self::NONE;
        new.fill::<S, M>(s, h, count);
        new
    }

    /// Computes the powers in place, one after the other.
    #[inline(always)]
    pub(crate) fn fill<S: Isa, M: Multiply<S>>(&mut self, s: S, h: u128, count: usize) {
        let h = s.splat(times_x(h.swap_bytes()));
        let entry = M::table(s, h, fold(s, h));
        let mut power = h;
        for n in 1..=count {
            let (first, second) = M::table(s, power, fold(s, power));
            let at = 16 * (MOST - n);
            self.first[at..][..16].copy_from_slice(&lane(s, first).to_le_bytes());
            self.second[at..][..16].copy_from_slice(&lane(s, second).to_le_bytes());
            self.constants[n] = self.constants[n - 1] ^ lane(s, M::constant(s, first, second));
            power = step::<S, M>(s, power, entry);
        }
    }

    /// Returns the sum that zeros times H^n ..= H^1 leave.
    #[inline(always)]
    pub(crate) fn constants(&self, n: usize) -> u128 {
        self.constants[n]
    }

    /// Returns the entries of H^n, H^(n-1) ... H^1, as bytes.
    #[inline(always)]
    pub(crate) fn from(&self, n: usize) -> (&[u8], &[u8]) {
        let at = 16 * (MOST - n);
        (&self.first[at..], &self.second[at..])
    }

    /// Returns H^n in every lane.
    #[inline(always)]
    fn splat<S: Isa>(&self, s: S, n: usize) -> (S::V, S::V) {
        let (first, second) = self.from(n);
        let block = |bytes: &[u8]| bytes.first_chunk().map_or(0, |block| u128::from_le_bytes(*block));
        (s.splat(block(first)), s.splat(block(second)))
    }

    fn constant(&self, n: usize) -> u128 {
        self.constants[n] ^ self.constants[n - 1]
    }
}

/// Returns the first lane. (All are added, and only the first is not zero.)
#[inline(always)]
fn lane<S: Isa>(s: S, v: S::V) -> u128 {
    s.fold(s.keep_first(v, 16))
}

/// Multiplies blocks by the powers down to H^1, with the hash of what came before in the first of them, and perhaps one block more, mirrored, as
/// the last: their sum, reduced, lane by lane.
#[inline(always)]
pub(crate) fn group<S: Isa, M: Multiply<S>, T: Tail>(s: S, powers: &Powers, hash: S::V, data: &[u8], last: Option<u128>) -> S::V {
    let n = data.len().div_ceil(16) + last.is_some() as usize;
    let (first, second) = powers.from(n);
    let vector = 16 * S::BLOCKS;
    let (mut sum, mut before) = (M::zero(s), hash);
    /// (No closure: one that is not inlined would be compiled without the features of the row.)
    macro_rules! meet {
        ($blocks:expr, $first:expr, $second:expr) => {
            let blocks = s.xor($blocks, before);
            before = s.splat(0);
            sum = M::add(s, sum, M::product(s, M::ready(s, blocks, load(s, $first), load(s, $second))));
        };
    }
    let whole = data.len() / vector * vector;
    for ((data, first), second) in data[..whole].chunks_exact(vector).zip(first.chunks_exact(vector)).zip(second.chunks_exact(vector)) {
        meet!(s.byte_swap(load(s, data)), first, second);
    }
    if whole < data.len() {
        let end = 16 * data.len().div_ceil(16);
        meet!(s.byte_swap(T::load(s, data, whole)), &first[whole..end], &second[whole..end]);
    }
    if let Some(last) = last {
        let at = 16 * (n - 1);
        meet!(s.first(last), &first[at..at + 16], &second[at..at + 16]);
    }
    let _ = before; // it has been added
    M::reduce(s, sum, s.first(powers.constants[n]))
}

/// Hashes packed: `n` blocks meet H^n ..= H^1, and are reduced together. `hash` is that of what came before, mirrored, and so is the result. A
/// last part of fewer blocks meets lower powers; its last block is filled up with zeros.
#[inline(always)]
pub(crate) fn packed<S: Isa, M: Multiply<S>>(s: S, powers: &Powers, n: usize, hash: u128, data: &[u8]) -> u128 {
    let mut hash = s.first(hash);
    for (i, data) in data.chunks(16 * n).enumerate() {
        // The lanes of the previous group are added in the first block of this one.
        let before = if S::BLOCKS == 1 || i == 0 { hash } else { s.first(s.fold(hash)) };
        hash = group::<S, M, Masked>(s, powers, before, data, None);
    }
    s.fold(hash)
}

/// Hashes lane-deferred: the V = `vectors` vectors of a turn meet H^VB, H^(V-1)B ... H^B (B blocks a vector) in every lane, so that each lane
/// has a chain of its own from turn to turn.
/// The lanes are added once, behind the last block, having met H^B ..= H^1 there.
#[inline(always)]
pub(crate) fn deferred<S: Isa, M: Multiply<S>>(s: S, powers: &Powers, vectors: usize, hash: u128, mut data: &[u8]) -> u128 {
    let vector = 16 * S::BLOCKS;
    let mut hash = s.first(hash);
    let constant = (1..=vectors).fold(0, |sum, i| sum ^ powers.constant(i * S::BLOCKS));
    // While that leaves a block for each lane.
    while data.len() >= vectors * vector + vector {
        let (turn, rest) = data.split_at(vectors * vector);
        data = rest;
        let (mut sum, mut before) = (M::zero(s), hash);
        for (i, data) in turn.chunks_exact(vector).enumerate() {
            let blocks = s.xor(s.byte_swap(load(s, data)), before);
            before = s.splat(0);
            let (first, second) = powers.splat(s, (vectors - i) * S::BLOCKS);
            sum = M::add(s, sum, M::product(s, M::ready(s, blocks, first, second)));
        }
        hash = M::reduce(s, sum, s.splat(constant));
    }
    if !data.is_empty() {
        hash = group::<S, M, Masked>(s, powers, hash, data, None);
    }
    s.fold(hash)
}
