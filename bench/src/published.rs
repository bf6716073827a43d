//! What rivals have been measured at elsewhere. A rival that is more than a tenth slower here, on the same processor, is not being measured
//! at its best: its ratio would flatter fastgcm, so the run is invalid.

use fastgcm_measure::Results;

/// How much slower is too slow: ratios between runs of one machine vary by some 3 %, neighbours add the rest.
const TOLERANCE: f64 = 1.10;

/// A best time of one rival.
struct Figure {
    /// What `Machine::processor` has in it.
    processor: [&'static str; 2],
    /// The group of cases.
    group: &'static str,
    rival: &'static str,
    bytes: u64,
    best_ns: f64,
}

/// Zen 5: one AMD EPYC, November 2026, this program's forerunner, rivals of the same versions. Zen 4 (3.7 GHz) and model 85 (Skylake-SP, 2.5
/// GHz): this program's own runs of that month, BENCHMARKS.md and `results/skylake-sp.md`.
const FIGURES: &[Figure] = &[
    zen5("vaes-avx512 AES-128 open, AAD 12", "ipsec-mb", 65536, 2193.2),
    zen5("vaes-avx512 AES-128 open, AAD 12", "openssl-4.0", 1 << 20, 35053.0),
    zen5("vaes-avx512 AES-128 open, AAD 12", "ipsec-mb", 16 << 20, 642_834.0),
    zen5("vaes-avx2 AES-128 seal, AAD 12", "boringssl", 16, 58.4),
    zen5("vaes-avx2 AES-128 seal, AAD 12", "boringssl", 1024, 132.2),
    zen5("vaes-avx2 AES-128 seal, AAD 12", "boringssl", 16384, 1322.6),
    zen5("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 16, 21.4),
    zen5("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 64, 26.7),
    zen5("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 256, 52.1),
    zen5("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 1024, 168.1),
    zen5("aesni-avx AES-128 seal, AAD 12", "aws-lc", 16, 67.8),
    zen5("aesni-avx AES-128 seal, AAD 12", "aws-lc", 1024, 214.9),
    zen5("aesni-sse AES-128 seal, AAD 12", "ipsec-mb", 1024, 149.1),
    zen5("aesni-sse AES-128 seal, AAD 12", "ipsec-mb", 16384, 2086.4),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 16, 39.0),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 64, 44.0),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 256, 47.6),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 1420, 143.3),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "aws-lc", 64, 83.7),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "aws-lc", 4096, 442.5),
    zen4("vaes-avx512 AES-128 open, AAD 12", "boringssl", 65536, 4897.0),
    zen4("vaes-avx512 AES-256 seal, AAD 12", "boringssl", 16384, 1521.5),
    zen4("vaes-avx2 AES-128 seal, AAD 12", "boringssl", 16, 80.7),
    zen4("vaes-avx2 AES-128 open, AAD 12", "boringssl", 16384, 1543.9),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 16, 42.4),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 1024, 227.9),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 16384, 3126.6),
    zen4("aesni-sse AES-128 seal, AAD 12", "ipsec-mb", 1024, 208.4),
    zen4("aesni-sse AES-128 seal, AAD 12", "ipsec-mb", 16384, 2741.1),
    zen4("vpaes-ssse3 AES-128 open, AAD 12", "openssl-3.6", 4096, 12488.0),
    zen4("portable AES-128 open, AAD 12", "boringssl", 4096, 21572.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 16, 114.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 64, 126.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 1420, 442.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 4096, 1028.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 16384, 3490.0),
    skylake("aesni-avx AES-128 seal, AAD 12", "aws-lc", 1 << 20, 208_482.0),
    skylake("aesni-avx AES-128 open, AAD 12", "aws-lc", 16, 116.0),
    skylake("aesni-avx AES-128 open, AAD 12", "aws-lc", 64, 129.0),
    skylake("aesni-avx AES-128 open, AAD 12", "aws-lc", 4096, 931.0),
    skylake("aesni-avx AES-128 open, AAD 12", "aws-lc", 16384, 3373.0),
];

const fn zen5(group: &'static str, rival: &'static str, bytes: u64, best_ns: f64) -> Figure {
    Figure { processor: ["EPYC", "(family 26, "], group, rival, bytes, best_ns }
}

const fn zen4(group: &'static str, rival: &'static str, bytes: u64, best_ns: f64) -> Figure {
    Figure { processor: ["EPYC", "(family 25, model 17)"], group, rival, bytes, best_ns }
}

const fn skylake(group: &'static str, rival: &'static str, bytes: u64, best_ns: f64) -> Figure {
    Figure { processor: ["2.50GHz", "(family 6, model 85)"], group, rival, bytes, best_ns }
}

/// What the comparison gave.
pub(crate) struct Compared {
    figures: usize,
    too_slow: Vec<String>,
}

/// Compares the best time of each rival with what is published for this processor.
pub(crate) fn compare(results: &Results) -> Compared {
    let mut compared = Compared { figures: 0, too_slow: Vec::new() };
    for figure in FIGURES.iter().filter(|figure| figure.processor.iter().all(|part| results.machine.processor.contains(part))) {
        let cases =
            results.cases.iter().filter(|measured| measured.case.group == figure.group && measured.case.bytes == Some(figure.bytes));
        for own in cases.filter_map(|measured| measured.by(figure.rival)) {
            compared.figures += 1;
            let ratio = own.best_ns / figure.best_ns;
            if ratio > TOLERANCE {
                let Figure { group, rival, bytes, best_ns, .. } = figure;
                let now = own.best_ns;
                compared.too_slow.push(format!("{rival}, {group}, {bytes} bytes: {now:.0} ns, published {best_ns:.0} ns ({ratio:.2})"));
            }
        }
    }
    compared
}

impl Compared {
    /// No rival was too slow; or nothing is known of this processor.
    pub(crate) fn valid(&self) -> bool {
        self.too_slow.is_empty()
    }

    /// For the reader.
    pub(crate) fn lines(&self) -> Vec<String> {
        let head = match (self.figures, self.too_slow.len()) {
            (0, _) => "no figure for this processor: nobody has said how fast the rivals should be here".into(),
            (figures, 0) => format!("VALID: no rival slower than published, {figures} figures for this processor"),
            (figures, slow) => format!("INVALID: {slow} of {figures} published figures for this processor missed by more than a tenth"),
        };
        [head].into_iter().chain(self.too_slow.iter().cloned()).collect()
    }
}
