//! Results as tables: for a spreadsheet, for a program.

use crate::{Measured, Results};
use serde::Serialize;

/// The contenders of these cases, in the order in which they first came.
pub(crate) fn names<'a>(cases: &[&'a Measured]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for measurement in cases.iter().flat_map(|measured| &measured.contenders) {
        if !names.contains(&measurement.contender.as_str()) {
            names.push(&measurement.contender);
        }
    }
    names
}

/// Nanoseconds, GB/s and times faster of one contender in one case, each empty where there is none. `None` if it did not take part.
pub(crate) fn cell(results: &Results, measured: &Measured, contender: &str) -> Option<[String; 3]> {
    let own = measured.by(contender)?;
    let ns = if own.median_ns < 99.95 { format!("{:.1}", own.median_ns) } else { format!("{:.0}", own.median_ns) };
    let throughput = measured.throughput(own).filter(|throughput| *throughput > 0.0);
    let base = results.base(measured).filter(|base| base.contender != contender);
    let two = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    Some([ns, two(throughput), two(base.map(|base| own.times_faster_than(base)))])
}

/// A line of the CSV file.
#[derive(Serialize)]
struct Line<'a> {
    group: &'a str,
    case: &'a str,
    bytes: Option<u64>,
    contender: &'a str,
    best_ns: f64,
    median_ns: f64,
    gb_per_s: Option<f64>,
    base: &'a str,
    times_faster_than_base: f64,
    samples: usize,
    iterations: u64,
}

/// For a spreadsheet: comma-separated values (RFC 4180), a head and then a line for each case and contender.
///
/// # Errors
/// None that a table in memory can meet; they are those of the crate `csv`.
pub fn csv(results: &Results) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for measured in &results.cases {
        let Some(base) = results.base(measured) else { continue };
        for own in &measured.contenders {
            writer.serialize(Line {
                group: &measured.case.group,
                case: &measured.case.name,
                bytes: measured.case.bytes,
                contender: &own.contender,
                best_ns: own.best_ns,
                median_ns: own.median_ns,
                gb_per_s: measured.throughput(own),
                base: &base.contender,
                times_faster_than_base: own.times_faster_than(base),
                samples: own.samples_ns.len(),
                iterations: own.iterations,
            })?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// For a program: everything, with every sample, as `serde` writes [`Results`]; it reads the same again.
///
/// # Errors
/// None that results can meet; they are those of the crate `serde_json`.
pub fn json(results: &Results) -> Result<String, serde_json::Error> {
    serde_json::to_string(results).map(|json| json + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn files() {
        let results = example();
        let table = csv(&results).unwrap();
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), 2 + 3 + 2 + 1);
        assert_eq!(
            records[2].iter().collect::<Vec<_>>(),
            ["seal", "64", "64", "ours", "10.0", "16.0", "4.0", "rival, one", "3.0", "3", "10"]
        );
        assert_eq!(&records[7][6], "");

        let again: Results = serde_json::from_str(&json(&results).unwrap()).unwrap();
        assert_eq!(json(&again).unwrap(), json(&results).unwrap());
    }
}
