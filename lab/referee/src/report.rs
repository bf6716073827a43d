//! One table, and what was found.

use crate::worker::{KINDS, Report};
use std::{fmt::Write, path::PathBuf};

const HEAD: &str = "\
| implementation | asked | wrong | outside | crashes | hangs | leaves text | takes too much | not offered |
|---|---:|---:|---:|---:|---:|---:|---:|---|
";

/// The table, the findings, and what is not offered.
pub(crate) fn table(reports: &[(PathBuf, Report)], cases: usize) -> String {
    let mut out = String::new();
    out += HEAD;
    for (_, report) in reports.iter().filter(|(_, report)| report.absent.is_none()) {
        let counts: Vec<String> = report
            .counts
            .iter()
            .map(|count| if *count == 0 { "-".into() } else { count.to_string() })
            .collect();
        let about = &report.about;
        let _ = writeln!(
            out,
            "| {} ({}) | {} | {} | {} |",
            about.name,
            about.version,
            report.asked,
            counts.join(" | "),
            about.lacks()
        );
    }
    let _ = writeln!(out, "\nOf {cases} questions, each was asked what it offers.");
    for (path, report) in reports {
        if let Some(why) = &report.absent {
            let _ = writeln!(out, "SKIPPED {}: {why}", path.display());
        }
    }
    // What suites are named by.
    for (_, report) in reports.iter().filter(|(_, report)| report.absent.is_none() && report.counts == [0; 6])
    {
        let name = report.about.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let _ = writeln!(out, "referee::{name} ok {}", report.asked);
    }
    for (_, report) in reports.iter().filter(|(_, report)| !report.findings.is_empty()) {
        let _ = writeln!(out, "\n{} ({}):", report.about.name, report.about.version);
        for kind in KINDS {
            for finding in report.findings.iter().filter(|finding| finding.kind == kind) {
                let _ = writeln!(out, "  {kind:?}: {}", finding.says);
            }
        }
    }
    out
}

/// The table as a page of its own: what was asked, and on which processor.
pub(crate) fn page(table: &str, amount: &str) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let of = |line: &str| {
            line.split_once(':')
                .filter(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        cpu.lines().find_map(of).unwrap_or_default()
    };
    let processor = ["vendor_id", "cpu family", "model"].map(field).join(" ");
    let suites = |line: &&str| !line.starts_with("referee::");
    let lines: Vec<&str> = table.lines().filter(suites).collect();
    format!(
        "# What implementations of AES-GCM answered\n\nWritten by `referee run --amount {amount} --write FILE` (docs/referee.md). Processor: {processor}.\n\n{}\n",
        lines.join("\n")
    )
}
