//! Processor levels: implementations are compared with those that use the *same* instructions. A level has the name of fastgcm's back end.

use aead_plugin::IA32CAP;
use std::arch::is_x86_feature_detected as has;

/// A level, and the bits of `OPENSSL_ia32cap` that are cleared to get down to it.
struct Level {
    name: &'static str,
    /// Returns true if this machine has the instructions.
    available: fn() -> bool,
    /// Bits of CPUID leaf 1: EDX, and ECX shifted by 32.
    clear_1: u64,
    /// Bits of CPUID leaf 7: EBX, and ECX shifted by 32.
    clear_7: u64,
}

/// The levels, the highest first.
const LEVELS: [Level; 6] = [
    Level {
        name: "vaes-avx512",
        available: || has!("vaes") && has!("vpclmulqdq") && has!("avx512bw") && has!("avx512vl"),
        clear_1: 0,
        clear_7: 0,
    },
    Level { name: "vaes-avx2", available: || has!("vaes") && has!("vpclmulqdq") && has!("avx2"), clear_1: 0, clear_7: AVX512 },
    Level { name: "aesni-avx", available: || has!("aes") && has!("pclmulqdq") && has!("avx"), clear_1: 0, clear_7: AVX512 | VAES },
    Level { name: "aesni-sse", available: || has!("aes") && has!("pclmulqdq"), clear_1: AVX, clear_7: AVX512 | VAES | AVX2 },
    // Other vector instructions stay, because rivals without AES permute bytes with SSSE3.
    Level { name: "vpaes-ssse3", available: || has!("ssse3"), clear_1: AES, clear_7: AVX512 | VAES },
    // Without SSSE3 and all later instructions.
    Level { name: "portable", available: || true, clear_1: AES | SSSE3 | AVX, clear_7: AVX512 | VAES | AVX2 },
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

/// Returns the highest level of this machine, at which an implementation that chooses by itself is compared.
pub(crate) fn native() -> &'static str {
    available().next().map_or("portable", |level| level.name)
}

/// Returns the names of this machine's levels, the highest first.
pub(crate) fn names() -> Vec<&'static str> {
    available().map(|level| level.name).collect()
}

/// Returns the level of a back end of fastgcm.
pub(crate) fn of_backend(name: &str) -> &str {
    LEVELS.iter().map(|level| level.name).find(|level| name.starts_with(level)).unwrap_or("portable")
}

/// A level at which a rival is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Variant {
    /// The name in the rival's own list.
    pub(crate) level: String,
    /// The argument of the plug-in's `start`, or `None` to let the rival choose.
    pub(crate) argument: Option<String>,
    /// An environment variable and its value while the rival is loaded.
    pub(crate) variable: Option<(String, String)>,
}

/// Returns the levels of this machine at which a rival is measured, from the lines of its table. The rival chooses the first by itself.
pub(crate) fn variants(lines: &str) -> Vec<Variant> {
    let native = Variant { level: native().into(), ..Variant::default() };
    if lines == IA32CAP {
        let masked = |level: &Level| Variant {
            level: level.name.into(),
            argument: None,
            variable: Some((IA32CAP.into(), format!("~{:#x}:~{:#x}", level.clear_1, level.clear_7))),
        };
        return [native].into_iter().chain(available().skip(1).map(masked)).collect();
    }
    let here = lines.lines().filter(|line| names().contains(&of_backend(line)));
    let found: Vec<_> = here
        .enumerate()
        .map(|(at, line)| Variant { level: line.into(), argument: (at > 0).then(|| line.into()), variable: None })
        .collect();
    if lines.is_empty() { vec![native] } else { found }
}

fn available() -> impl Iterator<Item = &'static Level> {
    LEVELS.iter().filter(|level| (level.available)())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rival chooses its first level by itself, is given the name of each other one, and has no level that this machine lacks.
    #[test]
    fn levels_of_a_rival() {
        let listed = |lines: &str| variants(lines).into_iter().map(|variant| (variant.level, variant.argument)).collect::<Vec<_>>();
        assert_eq!(listed(""), [(native().to_owned(), None)]);
        assert_eq!(listed("portable"), [("portable".to_owned(), None)]);
        let all = names();
        let here = all.iter().enumerate().map(|(at, name)| ((*name).to_owned(), (at > 0).then(|| (*name).to_owned()))).collect::<Vec<_>>();
        assert_eq!(listed(&LEVELS.map(|level| level.name).join("\n")), here);
        let masked = variants(IA32CAP);
        assert_eq!(masked.iter().map(|variant| &*variant.level).collect::<Vec<_>>(), all);
        assert!(masked.iter().enumerate().all(|(at, variant)| variant.argument.is_none() && variant.variable.is_some() == (at > 0)));
    }
}
