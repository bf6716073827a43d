//! The processor that a process detects.

/// A processor by its CPUID: ECX of leaf 1, EBX and ECX of leaf 7, and the registers that the system saves (XGETBV).
#[derive(Clone, Copy, Debug)]
pub struct Processor {
    pub one_c: u32,
    pub seven_b: u32,
    pub seven_c: u32,
    pub saved: u32,
}

impl Processor {
    /// Returns CPUID's EAX, EBX, ECX, EDX, or `None` for leaves that do not describe instructions.
    pub fn cpuid(&self, leaf: u32, below: u32) -> Option<[u32; 4]> {
        let name = |part: &[u8; 4]| u32::from_le_bytes(*part);
        Some(match (leaf, below) {
            (0, _) => [7, name(b"Genu"), name(b"ntel"), name(b"ineI")],
            // The model of a server of 2023, with the features of every 64-bit processor.
            (1, _) => [0x806f8, 0, self.one_c, 0x078b_fbff],
            (7, 0) => [0, self.seven_b, self.seven_c, 0],
            (2..=7 | 0xd, _) => [0; 4],
            // LZCNT, PREFETCHW, and 64 bits.
            (0x8000_0000, _) => [0x8000_0001, 0, 0, 0],
            (0x8000_0001, _) => [0, 0, if self.seven_b == 0 { 1 } else { 0x121 }, 0x2c10_0800],
            _ => return None,
        })
    }
}
