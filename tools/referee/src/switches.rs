//! Crippled processors: uses an implementation's own switches to remove each feature, and each pair of features.
//!
//! A plug-in names its switches in its first comment. `without: NAME=VALUE ...` are features, each of which is removed by itself and with each
//! other one: values of one variable are joined by a comma. `levels: NAME=VALUE ...` exclude each other. The features of `OPENSSL_ia32cap` are known.

/// Environment variables, as `NAME=VALUE`.
pub(crate) type Settings = Vec<String>;

/// Features of x86-64 that code for AES-GCM queries: the bits of `OPENSSL_ia32cap` (CPUID leaf 1: EDX, and ECX shifted by 32; leaf 7: EBX, and ECX
/// shifted by 32). Dependent features stay, as on no processor but in many virtual machines.
const FEATURES: [(u64, u64); 12] = [
    (1 << (32 + 25), 0),              // AES
    (1 << (32 + 1), 0),               // PCLMULQDQ
    (1 << (32 + 9), 0),               // SSSE3
    (1 << (32 + 28), 0),              // AVX
    (1 << (32 + 22), 0),              // MOVBE
    (0, 1 << 5),                      // AVX2
    (0, 1 << 8),                      // BMI2
    (0, 1 << 16),                     // AVX-512 F
    (0, 1 << 30 | 1 << 31),           // AVX-512 BW and VL
    (0, 1 << 17 | 1 << 21 | 1 << 28), // AVX-512 DQ, IFMA and CD
    (0, 1 << (32 + 9)),               // VAES
    (0, 1 << (32 + 10)),              // VPCLMULQDQ
];

/// Returns the environments for the switches of a first comment, in which `;` stands for a blank.
pub(crate) fn of(without: &str, levels: &str) -> Vec<Settings> {
    let one = |setting: &str| setting.replace(';', " ");
    let features: Vec<&str> = without.split_whitespace().collect();
    let mut all: Vec<Settings> = levels.split_whitespace().map(|level| vec![one(level)]).collect();
    if features == ["OPENSSL_ia32cap"] {
        let cap = |(one, seven)| vec![format!("OPENSSL_ia32cap=~{one:#x}:~{seven:#x}")];
        all.extend(pairs(&FEATURES, |a, b| (a.0 | b.0, a.1 | b.1)).into_iter().map(cap));
        return all;
    }
    let features: Vec<Settings> = features.iter().map(|feature| vec![one(feature)]).collect();
    all.extend(pairs(&features, |a, b| joined(&a[0], &b[0])));
    all
}

/// Returns each feature, and each pair of features.
fn pairs<T: Clone>(features: &[T], both: impl Fn(&T, &T) -> T) -> Vec<T> {
    let two = features.iter().enumerate().flat_map(|(i, a)| features[..i].iter().map(move |b| (b, a)));
    features.iter().cloned().chain(two.map(|(a, b)| both(a, b))).collect()
}

/// Joins two settings. Values of one variable are joined, options of a program by a blank, all others by a comma. `NAME=PREFIX=VALUE` of
/// GLIBC_TUNABLES keeps its prefix once.
fn joined(a: &str, b: &str) -> Settings {
    match (a.split_once('='), b.split_once('=')) {
        (Some((name, first)), Some((other, second))) if name == other => {
            let second = second.strip_prefix("glibc.cpu.hwcaps=").unwrap_or(second);
            let between = if second.starts_with("-X") { ' ' } else { ',' };
            vec![format!("{name}={first}{between}{second}")]
        }
        _ => vec![a.to_owned(), b.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_two() {
        let caps = of("OPENSSL_ia32cap", "");
        assert_eq!(caps.len(), 12 + 66);
        // AES-NI without VAES, as in the fault of BoringSSL; and AES with PCLMULQDQ.
        assert_eq!(caps[0], ["OPENSSL_ia32cap=~0x200000000000000:~0x0"]);
        assert_eq!(caps[12], ["OPENSSL_ia32cap=~0x200000200000000:~0x0"]);
        assert_eq!(of("GODEBUG=cpu.aes=off GODEBUG=cpu.avx=off", "").last().unwrap(), &["GODEBUG=cpu.aes=off,cpu.avx=off"]);
        assert_eq!(of("A=1 B=1", "").last().unwrap(), &["A=1", "B=1"]);
        assert_eq!(of("J=-XX:-UseAES J=-XX:UseAVX=0", "").last().unwrap(), &["J=-XX:-UseAES -XX:UseAVX=0"]);
        assert_eq!(of("", "J=-XX:+A;-XX:-B"), [["J=-XX:+A -XX:-B"]]);
        let tunables = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS";
        assert_eq!(of(tunables, "").last().unwrap(), &["GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-ERMS"]);
        assert_eq!(of("", "L=1 L=2"), [["L=1"], ["L=2"]]);
    }
}
