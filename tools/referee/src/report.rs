//! Prints the table and the findings.

use crate::{
    finding::{Finding, KINDS, Kind},
    pages::{Results, command, question_lines},
    prepare,
};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the table, the findings, and the plug-ins that could not be tested.
pub(crate) fn table(results: &Results<'_>) -> String {
    let (reports, cases) = (results.reports, results.cases);
    let heads: Vec<&str> = KINDS.iter().map(|kind| kind.column()).collect();
    let mut out = format!("| implementation | asked | {} | memory | not offered | date | command |\n", heads.join(" | "));
    out += &format!("|---|---:|{}---|---|---|---|\n", "---:|".repeat(KINDS.len()));
    let date = today();
    for (path, report) in reports.iter().filter(|(_, report)| report.absent.is_none()) {
        let counts: Vec<String> = report.counts.iter().map(|count| if *count == 0 { "-".into() } else { count.to_string() }).collect();
        let about = &report.about;
        let (counts, memory, lacks) = (counts.join(" | "), about.memory.words(), about.lacks());
        let crippled = if report.crippled { " --crippled" } else { "" };
        let command = format!("referee run {}{crippled} '{}'", results.arguments, short(path).display());
        let _ = write!(out, "| {} ({}) | {} | {counts} | {memory} | {lacks} |", about.name, about.version, report.asked);
        let _ = writeln!(out, " {date} | `{command}` |");
    }
    let _ = writeln!(out, "\nOf {} questions, each was asked what it offers.", cases.len());
    for (path, report) in reports {
        if let Some(why) = &report.absent {
            let name = path.file_name().unwrap_or_default();
            let _ = writeln!(out, "SKIPPED {}: {why}", name.display());
        }
    }
    for (path, report) in reports.iter().filter(|(_, report)| !report.findings.is_empty()) {
        let _ = writeln!(out, "\n{} ({}):", report.about.name, report.about.version);
        for kind in KINDS {
            for finding in report.findings.iter().filter(|finding| finding.kind == kind) {
                let _ = writeln!(out, "  {kind:?}: {}\n    {}", finding.message, command(finding, &short(path), results.arguments));
            }
        }
    }
    for (_, report) in reports {
        let refuses = |finding: &Finding| finding.kind != Kind::Wrong || finding.message.starts_with("refuses what is right");
        if report.counts[0] > 1000 && report.findings.iter().all(refuses) {
            let _ = writeln!(out, "\n{} refuses nearly everything: are the functions of its plug-in filled in?", report.about.name);
        }
    }
    // A run of a single case prints the case.
    if let [case] = cases {
        let _ = writeln!(out, "\n{case}");
        for (name, hex) in question_lines(case) {
            let _ = writeln!(out, "{name}: {hex}");
        }
    }
    out
}

/// Returns the name of a plug-in for the command line.
fn short(path: &Path) -> PathBuf {
    let root = prepare::home().aead.join("../../crates").canonicalize().unwrap_or_default();
    let below = path.strip_prefix(prepare::home().aead.join("libraries")).map(Path::to_owned);
    below.or_else(|_| path.strip_prefix(root).map(|path| Path::new("crates").join(path))).unwrap_or_else(|_| path.to_owned())
}

/// Returns the date in UTC as YYYY-MM-DD.
fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}

/// Returns the table and the findings for a file, with the arguments and the processor.
pub(crate) fn page(table: &str, how: &str) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let of = |line: &str| line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned());
        cpu.lines().find_map(of).unwrap_or_default()
    };
    let processor = ["vendor_id", "cpu family", "model"].map(field).join(" ");
    format!(
        "What implementations of AES-GCM answered\n\nWritten by `referee run {how} --write FILE` (docs/referee.md). \
         Processor: {processor}.\n\n{}\n",
        table.trim()
    )
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    /// Returns the first cells of a table's rows, without text in parentheses.
    fn names<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let cells = lines.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        cells.map(|cell| cell.split(" (").next().unwrap_or_default()).filter(|name| *name != "implementation").collect()
    }

    /// docs/referee.md names each implementation with a finding, and no other.
    #[test]
    fn page_tells_what_was_found() {
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(home.join("../../docs/referee.md")).unwrap();
        let (_, found) = page.split_once("## What was found").unwrap();
        let (found, _) = found.split_once("\n## ").unwrap();
        let results = fs::read_to_string(home.join("results/zen5.txt")).unwrap();
        // Counts stand between the second cell and the last.
        let counted = |line: &&str| {
            let cells: Vec<&str> = line.split(" | ").collect();
            line.starts_with("| ") && cells.len() == 13 && cells[2..9].iter().any(|cell| *cell != "-")
        };
        let (documented, found) = (names(found.lines()), names(results.lines().filter(counted)));
        assert_eq!(documented, found);
        assert!(results.lines().filter(|line| line.ends_with(" |") && !counted(line)).count() > 10);
    }
}
