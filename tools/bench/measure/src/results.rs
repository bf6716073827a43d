//! The samples of each case and contender, and statistics of them.

/// A case: a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The group: one table, for example `AES-128 seal`.
    pub group: String,
    /// The row within the group.
    pub name: String,
    /// The processed bytes, for cases with a throughput.
    pub bytes: Option<u64>,
}

/// The measurements of one case.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The case.
    pub case: Case,
    /// The measurements, in the order of columns. Samples of equal index are of one round.
    pub contenders: Vec<Measurement>,
}

/// The measurement of one contender. All times are nanoseconds an iteration.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The contender's name.
    pub contender: String,
    /// The iterations of a sample.
    pub iterations: u64,
    /// The fastest sample: the cost of the code when nothing disturbs it, without what is slow only now and then.
    pub best_ns: f64,
    /// The median of the samples: the cost on this machine under its load.
    pub median_ns: f64,
    /// All samples, in the order of rounds.
    pub samples_ns: Vec<f64>,
}

impl Case {
    /// Makes a case without a number of bytes.
    pub fn new(group: impl Into<String>, name: impl Into<String>) -> Self {
        Self { group: group.into(), name: name.into(), bytes: None }
    }

    /// Makes a case of this many bytes, which are its name, too.
    pub fn of_bytes(group: impl Into<String>, bytes: u64) -> Self {
        Self { group: group.into(), name: bytes.to_string(), bytes: Some(bytes) }
    }
}

impl Measured {
    /// Returns this contender's measurement, if it took part.
    pub fn by(&self, contender: &str) -> Option<&Measurement> {
        self.contenders.iter().find(|measurement| measurement.contender == contender)
    }
}

impl Measurement {
    pub(crate) fn new(contender: &str, iterations: u64, samples_ns: Vec<f64>) -> Self {
        let best_ns = samples_ns.iter().copied().fold(f64::INFINITY, f64::min);
        Self { contender: contender.into(), iterations, best_ns, median_ns: median(samples_ns.clone()), samples_ns }
    }

    /// Returns how many times faster than `base` this is: the median of the ratios within each round, in which both ran within microseconds of
    /// each other. (The ratio of the medians could compare a quiet half of one's samples with a busy half of the other's.)
    pub fn times_faster_than(&self, base: &Self) -> f64 {
        median(base.samples_ns.iter().zip(&self.samples_ns).map(|(base, own)| base / own).collect())
    }

    /// Returns, for samples at this many places in turn, the low quantile of each place: the cost of the code there with little disturbance.
    pub fn by_place(&self, places: usize) -> Vec<f64> {
        (0..places).map(|place| low(self.samples_ns.iter().skip(place).step_by(places).copied().collect())).collect()
    }
}

/// Returns the lowest eighth's quantile, or NaN if there are no values.
fn low(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 8).copied().unwrap_or(f64::NAN)
}

/// Returns the median, or NaN if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (0, 0) => f64::NAN,
        (half, 0) => (values[half - 1] + values[half]) / 2.0,
        (half, _) => values[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics() {
        let by = |contender: &str, samples: &[f64]| Measurement::new(contender, 10, samples.to_vec());
        let contenders = vec![by("ours", &[10.0, 20.0, 16.0]), by("rival", &[30.0, 40.0, 64.0])];
        let measured = Measured { case: Case::of_bytes("seal", 64), contenders };
        let [ours, rival] = ["ours", "rival"].map(|name| measured.by(name).unwrap());
        assert_eq!((ours.best_ns, ours.median_ns, rival.median_ns), (10.0, 16.0, 40.0));
        // The rounds' ratios are 3, 2 and 4; the ratio of the medians is 2.5.
        assert_eq!(ours.times_faster_than(rival), 3.0);
        assert_eq!((median(vec![3.0, 1.0, 2.0, 10.0]), median(vec![7.0])), (2.5, 7.0));
        assert!(median(vec![]).is_nan());
        // Two places of nine samples each in turn: the second lowest of each place.
        let placed = Measurement::new("placed", 1, (0..18).map(|i| f64::from(if i % 2 == 0 { 20 - i } else { 50 + i })).collect());
        assert_eq!(placed.by_place(2), [6.0, 53.0]);
        assert_eq!(placed.by_place(1), [8.0]);
    }
}
