//! Reports results on the terminal and in files.

use fastgcm_measure::{Case, Measured, Measurement, Results};
use std::{fs, io, path::Path};

/// The ratio below which fastgcm counts as behind.
const BEHIND: f64 = 0.99;

/// Prints a table for each group: for each of fastgcm's back ends the best time, the median and the ratio to the fastest rival, then the
/// three fastest rivals. At the end it prints every case in which a rival is ahead.
pub(crate) fn terminal(results: &Results) {
    for (name, value) in results.machine.lines() {
        println!("{name:<10} {value}");
    }
    for (group, cases) in results.groups() {
        println!("\n{group}");
        println!("{:>20} {:>24} {:>10} {:>10} {:>7} {:>6}   rivals by median", "bytes", "", "best ns", "median ns", "GB/s", "times");
        for measured in cases {
            rows(results, measured);
        }
    }
    if let Some(line) = control(results) {
        println!("\n{line}");
    }
    println!("\nRivals ahead of fastgcm (by more than 1 %, median of the ratios within each round):");
    let behind: Vec<String> = results.cases.iter().filter_map(|measured| behind(results, measured)).collect();
    println!("{}", if behind.is_empty() { "none".into() } else { behind.join("\n") });
}

fn rows(results: &Results, measured: &Measured) {
    let rivals = rivals(results, measured);
    let fastest: Vec<String> = rivals.iter().take(3).map(|rival| format!("{} {:.1}", rival.contender, rival.median_ns)).collect();
    for (number, own) in ours(measured).enumerate() {
        let first = number == 0;
        let name = if first { measured.case.name.as_str() } else { "" };
        let contender = own.contender.trim_start_matches("fastgcm ");
        let throughput = throughput(measured, own);
        let times = rivals.first().map_or_else(String::new, |rival| format!("{:.2}", own.times_faster_than(rival)));
        let rivals = if first { fastest.join(", ") } else { String::new() };
        println!("{name:>20} {contender:>24} {:>10.1} {:>10.1} {throughput:>7} {times:>6}   {rivals}", own.best_ns, own.median_ns);
    }
}

fn throughput(measured: &Measured, own: &Measurement) -> String {
    measured.throughput(own).filter(|value| *value > 0.0).map_or_else(String::new, |value| format!("{value:.2}"))
}

/// Returns fastgcm's measurements. The first is the back end that callers get by default.
fn ours(measured: &Measured) -> impl Iterator<Item = &Measurement> {
    measured.contenders.iter().filter(|own| own.contender.starts_with("fastgcm"))
}

/// Returns the rivals' measurements, the fastest first.
fn rivals<'a>(results: &Results, measured: &'a Measured) -> Vec<&'a Measurement> {
    let mut rivals: Vec<_> = measured.contenders.iter().filter(|rival| results.base.contains(&rival.contender)).collect();
    rivals.sort_by(|one, two| one.median_ns.total_cmp(&two.median_ns));
    rivals
}

/// Returns a line with the difference between two copies of fastgcm: smaller differences mean nothing.
fn control(results: &Results) -> Option<String> {
    let of = |measured: &Measured| {
        let again = measured.contenders.iter().find(|own| own.contender.ends_with(" again"))?;
        let times = measured.by(again.contender.trim_end_matches(" again"))?.times_faster_than(again);
        Some((times - 1.0).abs())
    };
    let mut apart: Vec<f64> = results.cases.iter().filter_map(of).collect();
    apart.sort_by(f64::total_cmp);
    let at = |part: usize| apart.get((apart.len() * part / 100).min(apart.len().checked_sub(1)?)).map(|value| value * 100.0);
    let (half, most) = (at(50)?, at(95)?);
    Some(format!(
        "The same code a second time differs by {half:.1} % in the median of {} cases, and by {most:.1} % in one of twenty",
        apart.len()
    ))
}

/// Returns a line if fastgcm's default back end is behind a rival.
fn behind(results: &Results, measured: &Measured) -> Option<String> {
    let (own, rival) = (ours(measured).next()?, *rivals(results, measured).first()?);
    let times = own.times_faster_than(rival);
    let case = &measured.case;
    let line = || {
        format!(
            "  {}, {}: {} {:.1} ns, {} {:.1} ns ({times:.2})",
            case.group, case.name, rival.contender, rival.median_ns, own.contender, own.median_ns
        )
    };
    (times < BEHIND).then(line)
}

/// Writes `results.csv`: a head, and a line for each case and contender.
pub(crate) fn csv(results: &Results, folder: &Path) -> io::Result<()> {
    let mut csv = String::from("group,case,bytes,contender,best_ns,median_ns,base,times_faster_than_base,samples,iterations\n");
    for measured in &results.cases {
        let Some(base) = results.base(measured) else { continue };
        let Case { group, name, bytes } = &measured.case;
        let bytes = bytes.map_or_else(String::new, |bytes| bytes.to_string());
        for own in &measured.contenders {
            let Measurement { contender, iterations, best_ns, median_ns, samples_ns } = own;
            let (base, times, samples) = (&base.contender, own.times_faster_than(base), samples_ns.len());
            csv += &format!(
                "\"{group}\",\"{name}\",{bytes},\"{contender}\",{best_ns},{median_ns},\"{base}\",{times},{samples},{iterations}\n"
            );
        }
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("results.csv"), csv)?;
    println!("\n{}/ has results.csv", folder.display());
    Ok(())
}
