//! Random points, and maps with them as keys.

use super::field::{Bit, Byte};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use std::{
    collections::HashMap,
    fs::File,
    hash::{BuildHasherDefault, Hasher},
    io::Read,
};

/// The seed of the random points of a run.
pub type Seed = u128;

/// Draws a seed, which was unknown when the program was compiled.
pub fn drawn() -> Result<Seed, String> {
    let mut seed = [0; 16];
    let mut file = File::open("/dev/urandom").map_err(|e| format!("/dev/urandom: {e}"))?;
    file.read_exact(&mut seed).map_err(|e| format!("/dev/urandom: {e}"))?;
    Ok(Seed::from_le_bytes(seed))
}

/// A generator of random points.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Makes a generator. `stream` makes sequences of one seed independent.
    pub fn new(seed: Seed, stream: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(bytes);
        generator.set_stream(stream);
        Self(generator)
    }

    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns an unknown bit: a variable at its two points, which is neither 0 nor 1 at either.
    pub fn symbol(&mut self) -> Bit {
        let mut point = || loop {
            let n = self.word();
            if n > 1 {
                return n;
            }
        };
        Bit(point(), point())
    }

    pub fn symbols(&mut self) -> Byte {
        std::array::from_fn(|_| self.symbol())
    }

    pub fn string(&mut self, n: usize) -> Vec<Byte> {
        (0..n).map(|_| self.symbols()).collect()
    }
}

/// A map with points as keys, which are random already.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fold>>;

/// A hash function for random words.
#[derive(Default, Clone, Debug)]
pub struct Fold(u64);

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}
