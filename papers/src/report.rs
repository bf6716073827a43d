//! Writes the tables of a source as Markdown, and compares them with the page.

use anyhow::{Context, Result, ensure};
use fastgcm_measure::Machine;

/// The tables of one source.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    /// The tables, in the order of the source.
    pub(crate) tables: Vec<Table>,
}

/// A table with its notes.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    /// The rows, each beginning with its name.
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    pub(crate) cells: Cells,
}

/// The kind of a table's cells, except those that quote the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// Times or ratios of times, which differ from run to run.
    Timed,
    /// Counts that depend on the compiler and the library's version: they are within a tenth of the page's.
    Compiled,
    /// Counts that depend only on the source of a variant: they equal the page's.
    Counted,
}

impl Table {
    /// Makes a table without rows.
    pub(crate) fn new(title: impl Into<String>, cells: Cells, head: impl IntoIterator<Item = impl ToString>) -> Self {
        let head = head.into_iter().map(|cell| cell.to_string()).collect();
        Self { title: title.into(), head, rows: Vec::new(), notes: Vec::new(), cells }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = impl ToString>) {
        self.rows.push([name.into()].into_iter().chain(cells.into_iter().map(|cell| cell.to_string())).collect());
    }

    /// Times are printed, and do not stand in the page: nanoseconds, a cell is "best / middle".
    pub(crate) fn is_times(&self) -> bool {
        self.title.starts_with("Times")
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

impl Report {
    /// Makes a report without tables.
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, tables: Vec::new() }
    }

    /// Returns the machine and these tables as on the page.
    pub(crate) fn markdown(&self, is_wanted: impl Fn(&Table) -> bool) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = self.machine.lines().into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("; ") + ".\n";
        for table in self.tables.iter().filter(|table| is_wanted(table)) {
            let rule = format!("|---|{}\n", "---:|".repeat(table.head.len() - 1));
            text += &format!("\n**{}**\n\n{}{rule}", table.title, line(&table.head));
            table.rows.iter().for_each(|row| text += &line(row));
            text += if table.notes.is_empty() { "" } else { "\n" };
            table.notes.iter().for_each(|note| text += &format!("* {note}\n"));
        }
        text
    }

    /// Compares the quoted and counted cells with the page, and the `compiled` ones if the program is a release build, as for the page. Returns
    /// the number of compared cells. A table that the page lacks is of another processor.
    pub(crate) fn compare(&self, page: &str, compiled: bool) -> Result<usize> {
        let mut compared = 0;
        for table in &self.tables {
            let Some((_, rest)) = page.split_once(&format!("**{}**\n", table.title)) else { continue };
            let lines = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
            let there: Vec<Vec<&str>> = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
            for row in &table.rows {
                let on_page = there.iter().find(|there| there[0] == row[0]);
                for (at, cell) in row.iter().enumerate().skip(1) {
                    let quoted = [&row[0], &table.head[at]].iter().any(|name| name.starts_with("paper") || name.starts_with("post"));
                    let part = match table.cells {
                        _ if quoted => 0.0,
                        Cells::Counted => 0.0,
                        Cells::Compiled if compiled && on_page.is_some() => 0.1, // another processor has other rows
                        Cells::Compiled | Cells::Timed => continue,
                    };
                    let place = || format!("{}, row {}, column {}", table.title, row[0], table.head[at]);
                    let there = on_page.and_then(|row| row.get(at)).with_context(|| format!("{}: the page has no such cell", place()))?;
                    let near = match (cell.parse::<f64>(), there.parse::<f64>()) {
                        (Ok(here), Ok(there)) => (here - there).abs() <= part * here.max(there),
                        _ => cell == there,
                    };
                    ensure!(near, "{}: the page has {there}, found {cell}", place());
                    compared += 1;
                }
            }
        }
        Ok(compared)
    }
}
