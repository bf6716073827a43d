//! What every suite needs: how long it may take, how many cases it has, and bytes to work on.
#![allow(dead_code)] // no test file needs all of it

/// Few cases, by which every planted fault is found: in `cargo test`, which shall take few minutes; and with `FASTGCM_QUICK` on an emulated processor, 200
/// times slower than a real one, whatever else is asked for.
pub(crate) fn quick() -> bool {
    std::env::var_os("FASTGCM_QUICK").is_some() || !gate()
}

/// `FASTGCM_EMULATED`: where a program is interrupted, that takes as long as 4,000 instructions. Fewer steps.
pub(crate) fn emulated() -> bool {
    std::env::var_os("FASTGCM_EMULATED").is_some()
}

/// `FASTGCM_GATE`: what the gate sets where it runs more than `cargo test` does.
pub(crate) fn gate() -> bool {
    std::env::var_os("FASTGCM_GATE").is_some() || full()
}

/// `FASTGCM_FULL`: also what takes minutes.
pub(crate) fn full() -> bool {
    std::env::var_os("FASTGCM_FULL").is_some()
}

/// Fails unless so many cases were checked.
pub(crate) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}

/// Bytes of hexadecimal digits; `-` is none.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits = if digits == "-" { "" } else { digits };
    assert!(digits.is_ascii() && digits.len() % 2 == 0, "not whole bytes: {digits}");
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

/// Deterministic bytes that differ everywhere.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 10_000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Numbers that look random, the same for the same seed (SplitMix64: Steele, Lea and Flood, 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// From 0 to `n - 1`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.fill(&mut bytes);
        bytes
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}
