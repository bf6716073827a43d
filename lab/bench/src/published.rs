//! What rivals have been measured at elsewhere. A rival that is more than a tenth slower here *beside the other rivals* is not being measured
//! at its best: its ratio would flatter fastgcm, so the run is invalid. That everybody is slower (a lower clock, a busy machine) is no fault
//! of a run, whose results are ratios.

use fastgcm_measure::Results;
use std::collections::BTreeMap;

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
/// GHz): this program's own runs of that month; those of ipsec-mb below 4 KiB on Zen 4 are of a later run, in which its arguments no longer waited for stores ([`aead_plugin::Message`]). None is above 1 MiB: there, memory decides, and
/// memory has a clock of its own.
const FIGURES: &[Figure] = &[
    zen5("vaes-avx512 AES-128 open, AAD 12", "ipsec-mb", 65536, 2193.2),
    zen5("vaes-avx512 AES-128 open, AAD 12", "openssl-4.0", 1 << 20, 35053.0),
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
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 16, 26.0),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 64, 30.0),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 256, 40.0),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "ipsec-mb", 1420, 129.9),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "aws-lc", 64, 83.7),
    zen4("vaes-avx512 AES-128 seal, AAD 12", "aws-lc", 4096, 442.5),
    zen4("vaes-avx512 AES-128 open, AAD 12", "boringssl", 65536, 4897.0),
    zen4("vaes-avx512 AES-256 seal, AAD 12", "boringssl", 16384, 1521.5),
    zen4("vaes-avx2 AES-128 seal, AAD 12", "boringssl", 16, 80.7),
    zen4("vaes-avx2 AES-128 open, AAD 12", "boringssl", 16384, 1543.9),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 16, 26.4),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 1024, 217.8),
    zen4("aesni-avx AES-128 seal, AAD 12", "ipsec-mb", 16384, 3126.6),
    zen4("aesni-sse AES-128 seal, AAD 12", "ipsec-mb", 1024, 196.1),
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
    /// How many times as long as published the rivals take here.
    pace: f64,
    too_slow: Vec<String>,
}

/// Compares the best times of the rivals with what is published for this processor.
pub(crate) fn compare(results: &Results) -> Compared {
    let mut found = Vec::new();
    for figure in FIGURES.iter().filter(|figure| figure.processor.iter().all(|part| results.machine.processor.contains(part))) {
        let cases =
            results.cases.iter().filter(|measured| measured.case.group == figure.group && measured.case.bytes == Some(figure.bytes));
        found.extend(cases.filter_map(|measured| measured.by(figure.rival)).map(|own| (figure, own.best_ns)));
    }
    let ratios: Vec<(&str, f64)> = found.iter().map(|(figure, now)| (figure.rival, now / figure.best_ns)).collect();
    let pace = pace(&ratios);
    let slow = found.iter().zip(&ratios).filter(|(_, (_, ratio))| too_slow(*ratio, pace));
    let line = |(figure, now): &(&Figure, f64), ratio: f64| {
        let Figure { group, rival, bytes, best_ns, .. } = figure;
        let beside = ratio / pace;
        format!("{rival}, {group}, {bytes} bytes: {now:.0} ns, published {best_ns:.0} ns ({ratio:.2}, {beside:.2} beside the others)")
    };
    Compared { figures: found.len(), pace, too_slow: slow.map(|(found, (_, ratio))| line(found, *ratio)).collect() }
}

/// How many times as long as published everything takes in this run: the middle one of the rivals, each taken at the middle one of its
/// figures, so that a rival with many figures is one rival. Of two in the middle the faster, so that of two rivals the slower is found.
fn pace(ratios: &[(&str, f64)]) -> f64 {
    let mut rivals: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (rival, ratio) in ratios {
        rivals.entry(rival).or_default().push(*ratio);
    }
    middle(rivals.into_values().map(middle).collect())
}

/// The lower of the two if there are two; not a number if there is none.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// Whether that figure was missed, where all rivals together take `pace` times as long as published.
fn too_slow(ratio: f64, pace: f64) -> bool {
    ratio > TOLERANCE * pace
}

impl Compared {
    /// No rival was too slow beside the others; or nothing is known of this processor.
    pub(crate) fn valid(&self) -> bool {
        self.too_slow.is_empty()
    }

    /// For the reader.
    pub(crate) fn lines(&self) -> Vec<String> {
        let pace = self.pace;
        let head = match (self.figures, self.too_slow.len()) {
            (0, _) => "no figure for this processor: nobody has said how fast the rivals should be here".into(),
            (figures, 0) => format!(
                "VALID: no rival slower beside the others than published, {figures} figures for this processor; all take {pace:.2} times as long"
            ),
            (figures, slow) => format!(
                "INVALID: {slow} of {figures} published figures for this processor missed by more than a tenth, though all take {pace:.2} times as long"
            ),
        };
        [head].into_iter().chain(self.too_slow.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rivals of one processor's figures, and how often each has one.
    fn rivals(processor: &str) -> Vec<&'static str> {
        FIGURES.iter().filter(|figure| figure.processor[1].contains(processor)).map(|figure| figure.rival).collect()
    }

    /// Which figures a run misses that takes `pace` times as long as published, and one rival `held` times as long beside the others.
    fn missed(rivals: &[&'static str], pace_of_all: f64, rival: &str, held: f64) -> Vec<&'static str> {
        // Figures of one rival are apart by 6 % in such a run.
        let spread = [1.0, 0.97, 1.03];
        let ratio =
            |(number, name): (usize, &&'static str)| (*name, pace_of_all * spread[number % 3] * if *name == rival { held } else { 1.0 });
        let ratios: Vec<_> = rivals.iter().enumerate().map(ratio).collect();
        let pace = pace(&ratios);
        ratios.into_iter().filter(|(_, ratio)| too_slow(*ratio, pace)).map(|(name, _)| name).collect()
    }

    /// A clock of 0.8 or 1.25 of the published one is no fault; one rival 1.2 times too slow beside the others is, whichever it is (on Zen 5
    /// more than half of all figures are ipsec-mb's), and no other rival is blamed. A rival that has become faster is no fault of the others.
    #[test]
    fn beside_the_others() {
        let mut runs = 0;
        for rivals in [rivals("family 26"), rivals("family 25")] {
            for pace in [1.0, 1.0 / 0.8, 0.8] {
                assert_eq!(missed(&rivals, pace, "", 1.0), [""; 0]);
                for held in ["ipsec-mb", "aws-lc", "boringssl", if rivals.contains(&"openssl-3.6") { "openssl-3.6" } else { "openssl-4.0" }]
                {
                    let own: Vec<_> = rivals.iter().copied().filter(|name| *name == held).collect();
                    assert!(!own.is_empty());
                    assert_eq!(missed(&rivals, pace, held, 1.2), own, "{held} at {pace}");
                    assert_eq!(missed(&rivals, pace, held, 0.8), [""; 0], "{held} at {pace}");
                    runs += 2;
                }
                runs += 1;
            }
        }
        // Of two rivals the slower is missed; of one, a figure beside its others.
        assert_eq!(missed(&["a", "b"], 2.0, "a", 1.2), ["a"]);
        assert_eq!(missed(&["a", "b"], 2.0, "b", 1.2), ["b"]);
        assert!(too_slow(1.2, pace(&[("a", 1.0), ("a", 1.2), ("a", 1.0)])));
        assert!(pace(&[]).is_nan());
        assert!(runs > 0);
    }
}
