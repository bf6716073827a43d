//! What came out: case by contender, and what follows from it.

use crate::Machine;

/// All that one run measured.
#[derive(Clone, Debug)]
pub struct Results {
    /// On what.
    pub machine: Machine,
    /// Ratios are told against the fastest of these, case by case; against the fastest of all where none of them took part.
    pub base: Vec<String>,
    /// In the order in which they were measured.
    pub cases: Vec<Measured>,
}

/// What is measured: a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Cases that belong together: one table. `AES-128 seal`, for example.
    pub group: String,
    /// The row within the group.
    pub name: String,
    /// How much is processed each time, where there is such a number: then there is a throughput.
    pub bytes: Option<u64>,
}

/// One case, by all contenders.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which.
    pub case: Case,
    /// In the order of their columns. Their samples belong together, round by round.
    pub contenders: Vec<Measurement>,
}

/// One case by one contender. All times are nanoseconds an iteration.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Its name.
    pub contender: String,
    /// Iterations in a sample.
    pub iterations: u64,
    /// The fastest sample: what the code costs when nothing disturbs it. It hides what is slow now and then.
    pub best_ns: f64,
    /// The sample in the middle: what it costs on this machine as it was.
    pub median_ns: f64,
    /// All of them, in the order of rounds.
    pub samples_ns: Vec<f64>,
}

impl Results {
    /// Nothing yet.
    pub fn new(machine: Machine) -> Self {
        Self { machine, base: Vec::new(), cases: Vec::new() }
    }

    /// The groups, in the order in which they came, each with its cases.
    pub fn groups(&self) -> Vec<(&str, Vec<&Measured>)> {
        let mut groups: Vec<(&str, Vec<&Measured>)> = Vec::new();
        for measured in &self.cases {
            match groups.iter_mut().find(|(name, _)| *name == measured.case.group) {
                Some((_, cases)) => cases.push(measured),
                None => groups.push((&measured.case.group, vec![measured])),
            }
        }
        groups
    }

    /// The contender that the others are compared with in that case. `None` if nobody took part.
    pub fn base<'a>(&self, measured: &'a Measured) -> Option<&'a Measurement> {
        let fastest = |named: bool| {
            let contenders = measured.contenders.iter().filter(move |contender| !named || self.base.contains(&contender.contender));
            contenders.min_by(|one, two| one.median_ns.total_cmp(&two.median_ns))
        };
        fastest(true).or_else(|| fastest(false))
    }
}

impl Case {
    /// A case without a number of bytes.
    pub fn new(group: impl Into<String>, name: impl Into<String>) -> Self {
        Self { group: group.into(), name: name.into(), bytes: None }
    }

    /// A case of so many bytes, which is its name, too.
    pub fn of_bytes(group: impl Into<String>, bytes: u64) -> Self {
        Self { group: group.into(), name: bytes.to_string(), bytes: Some(bytes) }
    }
}

impl Measured {
    /// That contender's measurement, if it took part.
    pub fn by(&self, contender: &str) -> Option<&Measurement> {
        self.contenders.iter().find(|measurement| measurement.contender == contender)
    }

    /// Bytes a nanosecond, which is GB/s, of the median. `None` where the case has no bytes.
    pub fn throughput(&self, measurement: &Measurement) -> Option<f64> {
        self.case.bytes.map(|bytes| bytes as f64 / measurement.median_ns)
    }
}

impl Measurement {
    pub(crate) fn new(contender: &str, iterations: u64, samples_ns: Vec<f64>) -> Self {
        let best_ns = samples_ns.iter().copied().fold(f64::INFINITY, f64::min);
        Self { contender: contender.into(), iterations, best_ns, median_ns: median(samples_ns.clone()), samples_ns }
    }

    /// How many times faster than `base` this is: the median of the ratios within each round, in which both ran within microseconds of each
    /// other. (The ratio of the medians would compare a quiet half of the one's samples with a busy half of the other's.)
    pub fn times_faster_than(&self, base: &Self) -> f64 {
        median(base.samples_ns.iter().zip(&self.samples_ns).map(|(base, own)| base / own).collect())
    }

    /// Of samples that were taken at so many places in turn: the low quantile of each place, which is what the code costs there when little
    /// disturbs it.
    pub fn by_place(&self, places: usize) -> Vec<f64> {
        (0..places).map(|place| low(self.samples_ns.iter().skip(place).step_by(places).copied().collect())).collect()
    }
}

/// A value that an eighth of the others are below; not a number if there is none.
fn low(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 8).copied().unwrap_or(f64::NAN)
}

/// The value in the middle, or the mean of the two there; not a number if there is none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (0, 0) => f64::NAN,
        (half, 0) => (values[half - 1] + values[half]) / 2.0,
        (half, _) => values[half],
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two groups, three contenders; one does not take part in everything.
    pub(crate) fn example() -> Results {
        let by = |contender: &str, samples: &[f64]| Measurement::new(contender, 10, samples.to_vec());
        let case = |group: &str, bytes| Case::of_bytes(group, bytes);
        Results {
            machine: Machine::here("test 1.0"),
            base: vec!["rival, one".into(), "rival two".into()],
            cases: vec![
                Measured { case: case("seal", 0), contenders: vec![by("ours", &[10.0, 12.0]), by("rival two", &[20.0, 18.0])] },
                Measured {
                    case: case("seal", 64),
                    contenders: vec![
                        by("ours", &[10.0, 20.0, 16.0]),
                        by("rival, one", &[30.0, 40.0, 64.0]),
                        by("rival two", &[50.0, 20.0, 48.0]),
                    ],
                },
                Measured { case: case("seal", 4096), contenders: vec![by("ours", &[500.0]), by("rival, one", &[450.0])] },
                Measured { case: Case::new("key", "set-up"), contenders: vec![by("ours", &[150.0])] },
            ],
        }
    }

    #[test]
    fn statistics() {
        let results = example();
        let (groups, measured) = (results.groups(), &results.cases[1]);
        assert_eq!(groups.iter().map(|(name, cases)| (*name, cases.len())).collect::<Vec<_>>(), [("seal", 3), ("key", 1)]);
        let [ours, one, two] = ["ours", "rival, one", "rival two"].map(|name| measured.by(name).unwrap());
        assert_eq!((ours.best_ns, ours.median_ns, one.median_ns, two.median_ns), (10.0, 16.0, 40.0, 48.0));
        assert_eq!(measured.throughput(ours), Some(4.0));
        // Rounds: 3, 2 and 4 times; the medians would say 2.5.
        assert_eq!(ours.times_faster_than(one), 3.0);
        assert_eq!(results.base(measured).unwrap().contender, "rival, one");
        assert_eq!(results.base(&results.cases[0]).unwrap().contender, "rival two");
        assert_eq!(results.base(&results.cases[3]).unwrap().contender, "ours");
        assert_eq!(results.cases[3].throughput(&results.cases[3].contenders[0]), None);
        assert_eq!((median(vec![3.0, 1.0, 2.0, 10.0]), median(vec![7.0])), (2.5, 7.0));
        assert!(median(vec![]).is_nan());
        // Two places in turn, of nine samples each: the second lowest of each.
        let placed = Measurement::new("placed", 1, (0..18).map(|i| f64::from(if i % 2 == 0 { 20 - i } else { 50 + i })).collect());
        assert_eq!(placed.by_place(2), [6.0, 53.0]);
        assert_eq!(placed.by_place(1), [8.0]);
    }
}
