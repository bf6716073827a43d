//! Results as tables: for a terminal, for a spreadsheet, for a program.

use crate::{Measured, Results};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde::Serialize;

/// For a terminal: what came out, the machine, then for each group a table, or as many as its cases take to stand side by side. What stands beside a
/// contender's name is the median time in nanoseconds, the throughput in GB/s (10^9 bytes a second), and how many times faster than the base it is.
pub fn text(results: &Results) -> String {
    let mut text = wrapped(&results.summary, "");
    text.extend(results.machine.lines().iter().map(|(name, value)| wrapped(value, &format!("{name:<10} "))));
    for (group, cases) in results.groups() {
        let names = names(&cases);
        let units: Vec<_> = names.iter().map(|name| units(results, &cases, name)).collect();
        let columns: Vec<Vec<String>> = cases
            .iter()
            .map(|measured| {
                let cells: Vec<_> = names.iter().map(|name| cell(results, measured, name).unwrap_or_default()).collect();
                column(&measured.case.name, &units, |number, unit| cells[number][unit].clone())
            })
            .collect();
        let width = |column: &[String]| column.iter().flat_map(|cell| cell.lines()).map(|line| line.chars().count() + 3).max().unwrap_or(0);
        let heads = [column_of_names(&names), column("", &units, |_, unit| UNITS[unit].into())];
        let fixed: usize = heads.iter().map(|column| width(column)).sum();
        text += &format!("\n{group}\n");
        let mut rest = &columns[..];
        while !rest.is_empty() {
            let widths = rest.iter().scan(fixed, |all, column| {
                *all += width(column);
                Some(*all)
            });
            let (these, others) = rest.split_at(widths.take_while(|all| *all <= WIDTH).count().max(1));
            text += &format!("{}\n", side_by_side(&heads, these));
            rest = others;
        }
    }
    text
}

/// Columns of a terminal, which no table needs more of.
pub const WIDTH: usize = 100;

/// A text in lines that fit, behind a name; nothing of an empty one.
pub fn wrapped(text: &str, name: &str) -> String {
    let mut lines = String::new();
    let mut line = name.to_owned();
    for word in text.split_whitespace() {
        if line.len() > name.len() && line.chars().count() + word.chars().count() > WIDTH {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(name.len());
        }
        line += word;
        line.push(' ');
    }
    if text.is_empty() { lines } else { lines + line.trim_end() + "\n" }
}

/// A cell for each contender, below an empty head.
fn column_of_names(names: &[&str]) -> Vec<String> {
    [""].iter().chain(names).map(|name| (*name).to_owned()).collect()
}

/// What the lines of a cell are, as far as anybody in that group has such a line.
const UNITS: [&str; 3] = ["ns", "GB/s", "times"];

/// Which of the lines stand in a contender's cells: those that are not empty in all of them.
fn units(results: &Results, cases: &[&Measured], name: &str) -> Vec<usize> {
    let cells: Vec<_> = cases.iter().filter_map(|measured| cell(results, measured, name)).collect();
    (0..UNITS.len()).filter(|&unit| cells.iter().any(|cell| !cell[unit].is_empty())).collect()
}

/// A column: its head, and a cell of lines for each contender.
fn column(head: &str, units: &[Vec<usize>], line: impl Fn(usize, usize) -> String) -> Vec<String> {
    let cell = |(number, units): (usize, &Vec<usize>)| units.iter().map(|&unit| line(number, unit)).collect::<Vec<_>>().join("\n");
    [head.to_owned()].into_iter().chain(units.iter().enumerate().map(cell)).collect()
}

fn side_by_side(heads: &[Vec<String>; 2], columns: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    let row = |at: usize| heads.iter().chain(columns).map(move |column| column[at].clone());
    table.set_header(row(0));
    for at in 1..heads[0].len() {
        table.add_row(row(at));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

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
    use crate::{Case, Measurement, results::tests::example};

    #[test]
    fn terminal() {
        let results = Results { summary: "It is fast. ".repeat(12), ..example() };
        let text = text(&results);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let below = |start: &str, by: usize| words(text.lines().skip_while(|line| !line.trim_start().starts_with(start)).nth(by).unwrap());
        assert!(text.starts_with("It is fast. It is fast.") && text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(below("features", 0), ["features", "aes", "<avx>"]);
        assert_eq!(below("seal", 1), ["0", "64", "4096"]);
        assert_eq!(
            [below("ours", 0), below("ours", 1), below("ours", 2)].map(|line| line.join(" ")),
            ["ours ns 11.0 16.0 500", "GB/s 4.00 8.19", "times 1.75 3.00 0.90"]
        );
        assert_eq!(
            [below("rival two", 0), below("rival, one", 0)].map(|line| line.join(" ")),
            ["rival two ns 19.0 48.0", "rival, one ns 40.0 450"]
        );
        assert_eq!(below("key", 3).join(" "), "ours ns 150");

        // Twenty sizes and long names stand in several tables, each of which fits, and has all names.
        let contenders =
            |bytes: u64| ["a contender of a rather long name", "b"].map(|name| Measurement::new(name, 1, vec![bytes as f64])).into();
        let cases =
            (0..20).map(|at| Measured { case: Case::of_bytes("many", 1 << (at + 10)), contenders: contenders(1 << (at + 10)) }).collect();
        let many = super::text(&Results { cases, ..example() });
        assert!(many.lines().all(|line| line.chars().count() <= WIDTH), "{many}");
        let sizes = many.lines().filter(|line| line.starts_with("     ") && !line.contains('s')).flat_map(words).collect::<Vec<_>>();
        assert_eq!(sizes, (0..20).map(|at| (1u64 << (at + 10)).to_string()).collect::<Vec<_>>(), "{many}");
        let tables = many.lines().filter(|line| line.contains('─')).count();
        assert!(tables > 1 && many.matches("a contender").count() == tables, "{many}");
    }

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
        assert_eq!(text(&again), text(&results));
    }
}
