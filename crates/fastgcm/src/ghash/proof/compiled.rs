//! What the compiler made of the multiplications: every pair of single bits, linearity, and messages of unit
//! blocks with hash keys of our choice.

use super::{
    super::{
        multiply::{Multiply, fold},
        powers::{Powers, times_x},
    },
    tests::passed,
};
use crate::{
    Block,
    aes::Material,
    inout::{InOut, TURN, Table},
    isa::Vectors,
    nonce::{Kind, Nonce},
    row::{self, Backend},
    running::Running,
};
use std::{vec, vec::Vec};

/// Returns two products of `x` and `h`, in every lane: by the multiplication of one row on numbers, and by
/// that of its short messages with these tables. Tests call it through the row, where the row's features are
/// enabled.
#[inline(always)]
pub(crate) fn products<S: Vectors, M: Multiply<S>>(s: S, _: M, x: Block, h: Block) -> [[Block; 4]; 2] {
    #[inline(always)]
    fn product<S: Vectors, M: Multiply<S>>(s: S, x: Block, (first, second): (S::V, S::V)) -> [Block; 4] {
        let sum = M::product(s, M::ready(s, s.splat(x), first, second));
        let mut lanes = Table::<4>::ZERO;
        lanes.store(s, 0, M::reduce(s, sum, M::constant(s, first, second)));
        [0, 1, 2, 3].map(|i| lanes.get(i))
    }
    let b = s.splat(times_x(h));
    let table = M::table(s, b, fold(s, b));
    [product::<S, M>(s, x, table), product::<S, M::Short>(s, x, table)]
}

/// Fills in the powers of `h` instead of those of AES(0).
#[inline(always)]
pub(crate) fn fill<S: Vectors, M: Multiply<S>>(s: S, _: M, material: &mut Material<Powers>, h: Block) {
    Powers::fill::<S, M>(&mut crate::inout::Unwritten::of(&mut material.tables), s, s.splat(h), usize::MAX);
}

/// Returns the rows that this machine can run, or the rows that `FASTGCM_ONLY` names.
fn rows() -> Vec<&'static row::Row> {
    let only = std::env::var("FASTGCM_ONLY").ok();
    let wanted = |backend: &Backend| {
        only.as_ref().is_none_or(|only| only.split(',').any(|name| name == backend.name()))
    };
    Backend::available().filter(wanted).map(|backend| backend.row().unwrap()).collect()
}

/// Returns whether a row takes microseconds for a case, and so gets fewer cases.
fn slow(row: &row::Row) -> bool {
    matches!(
        row.backend,
        Backend::Portable | Backend::VpaesSsse3 | Backend::VpaesNeon | Backend::VpaesSimd128
    )
}

/// Returns X • Y of SP 800-38D, section 6.3, on numbers whose highest bit is the block's first.
fn standard_product(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        z ^= v * (x >> (127 - i) & 1);
        v = (v >> 1) ^ ((0xe1 << 120) * (v & 1));
    }
    z
}

/// Returns the row's product, and checks that all lanes are equal.
#[allow(unsafe_code)]
fn product(row: &row::Row, x: Block, h: Block) -> Block {
    // SAFETY: `rows` lists what this machine can run.
    let [lanes, short] = unsafe { (row.proof.products)(x, h) };
    assert_eq!(short, lanes, "{}: short messages multiply {x:032x} and {h:032x} otherwise", row.backend);
    let blocks = lanes.iter().take_while(|lane| **lane == lanes[0]).count();
    debug_assert!(lanes[blocks..].iter().all(|lane| *lane == 0));
    lanes[0]
}

#[test]
fn f17_every_pair_of_bits() {
    for row in rows() {
        let mut pairs = 0;
        for (i, j) in (0..128).flat_map(|i| (0..128).map(move |j| (i, j))) {
            assert_eq!(
                product(row, 1 << i, 1 << j),
                standard_product(1 << i, 1 << j),
                "{}: bits {i} and {j}",
                row.backend
            );
            pairs += 1;
        }
        passed(&std::format!("ghash_proof::every_pair_of_bits/{}", row.backend), pairs, 16_384);
    }
}

/// F17: f(a + b, c) = f(a, c) + f(b, c), and this holds in the other argument too. With 2,000,000 triples a
/// function that is wrong on one input in 100,000 passes with probability e^-20.
#[test]
fn f17_linear_in_both_arguments() {
    for row in rows() {
        let quick = std::env::var_os("FASTGCM_QUICK").is_some();
        let full = if std::env::var_os("FASTGCM_FULL").is_some() { 10 } else { 1 };
        let triples = full * if slow(row) || quick { 20_000 } else { 2_000_000 };
        let seed = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |since| since.as_nanos() as u64 | 1);
        let mut numbers = Numbers::new(seed);
        let mut tried = 0;
        while tried < triples {
            let [a, b, c] = [0; 3].map(|_| numbers.next());
            let f = |x, h| product(row, x, h);
            assert_eq!(f(a ^ b, c), f(a, c) ^ f(b, c), "{}: first argument, seed {seed}", row.backend);
            assert_eq!(f(c, a ^ b), f(c, a) ^ f(c, b), "{}: second argument, seed {seed}", row.backend);
            tried += 1;
        }
        passed(&std::format!("ghash_proof::linear_in_both_arguments/{}", row.backend), tried, triples);
    }
}

/// F17: the whole GHASH of a message of n blocks, one of which is a single bit, under a hash key of our
/// choice: for every n up to a turn and the longest tail, every place of the block, every bit (on slow rows
/// one bit for each place), through every path.
#[test]
fn f17_messages_of_unit_blocks() {
    for row in rows() {
        let most = (2 * TURN + 2) * if slow(row) { 4 } else { blocks_of(row) };
        let step = if slow(row) || std::env::var_os("FASTGCM_QUICK").is_some() { 127 } else { 1 };
        let mut messages = 0;
        for h in [1 << 127, 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e] {
            let keyed = Keyed::new(row, h, most + 1);
            for n in 1..=most {
                for place in 0..n {
                    for bit in (place % step..128).step_by(step) {
                        keyed.check(n, place, bit);
                        messages += 1;
                    }
                }
            }
        }
        assert!(messages >= most * (most + 1));
    }
}

/// Returns the blocks in a vector of this row.
#[allow(unsafe_code)]
fn blocks_of(row: &row::Row) -> usize {
    // SAFETY: `rows` lists what this machine can run.
    let [lanes, _] = unsafe { (row.proof.products)(1, 1) };
    lanes.iter().filter(|lane| **lane != 0).count()
}

/// A row with a hash key of our choice.
struct Keyed {
    row: &'static row::Row,
    material: Material,
    /// AES of J0.
    mask: Block,
    /// H^0, H^1, ... with the standard's numbering of bits.
    powers: Vec<u128>,
    /// The keystream of the one nonce of all messages here.
    keystream: Vec<u8>,
}

const NONCE: [u8; 12] = [7; 12];

impl Keyed {
    #[allow(unsafe_code)]
    fn new(row: &'static row::Row, h: u128, most: usize) -> Self {
        let mut material = Material::ZERO;
        row.rekey(&mut material, &[0; 16]);
        // SAFETY: `rows` lists what this machine can run.
        unsafe { (row.proof.fill)(&mut material, h.swap_bytes()) };
        let mut powers = vec![1 << 127];
        while powers.len() <= most + 1 {
            powers.push(standard_product(powers[powers.len() - 1], h));
        }
        // GHASH of nothing is zero, but for the lengths block, which is also zero: so the tag is the mask.
        let mask = tag(row, &material, &[]);
        let mut keystream = vec![0; 16 * most];
        let Kind::Public(nonce) = Nonce::from(NONCE).0 else { unreachable!() };
        row.message::<true, _>(&material, nonce, &[], InOut::in_place(&mut keystream), |tag| tag).unwrap();
        Self { row, material, mask, powers, keystream }
    }

    fn check(&self, n: usize, place: usize, bit: usize) {
        let (row, material) = (self.row, &self.material);
        let block = 1u128 << bit;
        let mut ciphertext = vec![0; 16 * n];
        ciphertext[16 * place..][..16].copy_from_slice(&block.to_be_bytes());
        let lengths = 128 * n as u128;
        let hash =
            standard_product(block, self.powers[n - place + 1]) ^ standard_product(lengths, self.powers[1]);
        let want = self.mask ^ hash.swap_bytes();

        let what = || std::format!("{}: {n} blocks, bit {bit} of block {place}", row.backend);
        let Kind::Public(nonce) = Nonce::from(NONCE).0 else { unreachable!() };
        assert_eq!(tag(row, material, &ciphertext), want, "tag, {}", what());
        let mut text: Vec<u8> = ciphertext.iter().zip(&self.keystream).map(|(a, b)| a ^ b).collect();
        assert_eq!(
            row.message::<true, _>(material, nonce, &[], InOut::in_place(&mut text), |tag| tag),
            Ok(want),
            "seal, {}",
            what()
        );
        assert_eq!(
            row.message::<false, _>(material, nonce, &[], InOut::in_place(&mut text), |tag| tag),
            Ok(want),
            "open, {}",
            what()
        );
    }
}

/// Returns the tag of a ciphertext, which is only read.
fn tag(row: &'static row::Row, material: &Material, ciphertext: &[u8]) -> u128 {
    let mut running = Running::begin((row.steps(), material), NONCE.into());
    running.verify(material, ciphertext).unwrap();
    running.finish(material)
}

/// Numbers that look random (xorshift, two steps a number).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn next(&mut self) -> u128 {
        let mut half = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) as u128
        };
        half() << 64 | half()
    }
}
