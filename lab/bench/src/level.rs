//! Processor levels: implementations are compared with what others do with the *same* instructions. A level is named like fastgcm's
//! back end for it.

use aead_plugin::IA32CAP;
use std::arch::is_x86_feature_detected as has;

/// A level, and the bits of `OPENSSL_ia32cap` that are cleared to get down to it.
struct Level {
    name: &'static str,
    /// This machine has its instructions.
    here: fn() -> bool,
    /// CPUID leaf 1: EDX, and ECX shifted by 32.
    clear_1: u64,
    /// CPUID leaf 7: EBX, and ECX shifted by 32.
    clear_7: u64,
}

/// From the highest down.
const LEVELS: [Level; 6] = [
    Level {
        name: "vaes-avx512",
        here: || has!("vaes") && has!("vpclmulqdq") && has!("avx512bw") && has!("avx512vl"),
        clear_1: 0,
        clear_7: 0,
    },
    Level { name: "vaes-avx2", here: || has!("vaes") && has!("vpclmulqdq") && has!("avx2"), clear_1: 0, clear_7: AVX512 },
    Level { name: "aesni-avx", here: || has!("aes") && has!("pclmulqdq") && has!("avx"), clear_1: 0, clear_7: AVX512 | VAES },
    Level { name: "aesni-sse", here: || has!("aes") && has!("pclmulqdq"), clear_1: AVX, clear_7: AVX512 | VAES | AVX2 },
    // Other vector instructions stay: without AES, rivals permute bytes with SSSE3.
    Level { name: "vpaes-ssse3", here: || has!("ssse3"), clear_1: AES, clear_7: AVX512 | VAES },
    // Where there is no SSSE3 either, and nothing that came after it.
    Level { name: "portable", here: || true, clear_1: AES | SSSE3 | AVX, clear_7: AVX512 | VAES | AVX2 },
];

/// AVX-512 F, DQ, IFMA, CD, BW and VL: bits 16, 17, 21, 28, 30 and 31 of EBX.
const AVX512: u64 = 1 << 16 | 1 << 17 | 1 << 21 | 1 << 28 | 1 << 30 | 1 << 31;
/// VAES and VPCLMULQDQ: bits 9 and 10 of ECX.
const VAES: u64 = (1 << 9 | 1 << 10) << 32;
/// Bit 5 of EBX.
const AVX2: u64 = 1 << 5;
/// AES and PCLMULQDQ: bits 25 and 1 of ECX.
const AES: u64 = (1 << 25 | 1 << 1) << 32;
/// SSSE3, SSE4.1 and SSE4.2: bits 9, 19 and 20 of ECX.
const SSSE3: u64 = (1 << 9 | 1 << 19 | 1 << 20) << 32;
/// Bit 28 of ECX, and FMA and XOP, which imply it: bits 12 and 11.
const AVX: u64 = (1 << 28 | 1 << 12 | 1 << 11) << 32;

/// The highest level of this machine: what an implementation that chooses by itself is compared at. `portable` without AES instructions.
pub(crate) fn native() -> &'static str {
    here().next().map_or("portable", |level| level.name)
}

/// The levels of this machine, the highest first.
pub(crate) fn names() -> Vec<&'static str> {
    here().map(|level| level.name).collect()
}

/// The level of one of fastgcm's back ends.
pub(crate) fn of_backend(name: &str) -> &str {
    LEVELS.iter().map(|level| level.name).find(|level| name.starts_with(level)).unwrap_or("portable")
}

/// A level at which a rival is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Variant {
    /// As in the rival's own list.
    pub(crate) level: String,
    /// What `start` is told; nothing for what the rival chooses by itself.
    pub(crate) told: Option<String>,
    /// `NAME=VALUE` of the environment, before it is loaded.
    pub(crate) setting: Option<(String, String)>,
}

/// The levels of this machine at which a rival is measured, from the lines of its table. The first is what it chooses by itself.
pub(crate) fn variants(lines: &str) -> Vec<Variant> {
    let native = Variant { level: native().into(), ..Variant::default() };
    if lines == IA32CAP {
        let masked = |level: &Level| Variant {
            level: level.name.into(),
            told: None,
            setting: Some((IA32CAP.into(), format!("~{:#x}:~{:#x}", level.clear_1, level.clear_7))),
        };
        return [native].into_iter().chain(here().skip(1).map(masked)).collect();
    }
    let here = lines.lines().filter(|line| names().contains(&of_backend(line)));
    let found: Vec<_> =
        here.enumerate().map(|(at, line)| Variant { level: line.into(), told: (at > 0).then(|| line.into()), setting: None }).collect();
    if lines.is_empty() { vec![native] } else { found }
}

fn here() -> impl Iterator<Item = &'static Level> {
    LEVELS.iter().filter(|level| (level.here)())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rival chooses its first level by itself, is told each other, and has none that this machine has not.
    #[test]
    fn levels_of_a_rival() {
        let told = |lines: &str| variants(lines).into_iter().map(|variant| (variant.level, variant.told)).collect::<Vec<_>>();
        assert_eq!(told(""), [(native().to_owned(), None)]);
        assert_eq!(told("portable"), [("portable".to_owned(), None)]);
        let all = names();
        let here = all.iter().enumerate().map(|(at, name)| ((*name).to_owned(), (at > 0).then(|| (*name).to_owned()))).collect::<Vec<_>>();
        assert_eq!(told(&LEVELS.map(|level| level.name).join("\n")), here);
        let masked = variants(IA32CAP);
        assert_eq!(masked.iter().map(|variant| &*variant.level).collect::<Vec<_>>(), all);
        assert!(masked.iter().enumerate().all(|(at, variant)| variant.told.is_none() && variant.setting.is_some() == (at > 0)));
    }
}
