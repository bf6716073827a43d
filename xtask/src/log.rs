//! What the suites of a run printed: shown, kept, and held against what was to be expected.

use crate::{
    package::show,
    suites::{Skips, Suites, flags, suite},
};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// What the suites printed.
pub(crate) struct Log {
    lines: Vec<String>,
    /// Where the lines of this check begin.
    section: usize,
    skips: Skips,
    /// What the processor has that the check runs on, if it is this one.
    flags: Option<Vec<String>>,
    /// Shows nothing until it is appended to another.
    quiet: bool,
}

impl Log {
    pub(crate) fn new(root: &Path) -> Result<Self, String> {
        Ok(Self { lines: Vec::new(), section: 0, skips: Skips::read(root)?, flags: None, quiet: false })
    }

    /// Of what runs beside something else.
    pub(crate) fn quiet(root: &Path) -> Result<Self, String> {
        Ok(Self { quiet: true, ..Self::new(root)? })
    }

    /// What follows belongs to that check, which runs on this processor or on another one.
    pub(crate) fn begin(&mut self, check: &str, here: bool) -> Result<(), String> {
        self.say(format!("== {check}"));
        self.section = self.lines.len();
        self.flags = if here { Some(flags()?) } else { None };
        Ok(())
    }

    /// Holds what the check printed against the table, in which it may be left out if `held` is false. (It has expected its suites itself.)
    pub(crate) fn compare(&self, suites: &Suites, check: &str, full: bool, held: bool) -> Result<(), String> {
        let here = self.flags.as_deref().map(|flags| (&self.skips, flags));
        let faults = suites.faults(check, full, &self.suites(), here);
        if faults.is_empty() || !held && !suites.knows(check) {
            return Ok(());
        }
        Err(format!(".ci/suites:\n  {}\nIf that is meant: cargo xtask ci --bless '{check}'", faults.join("\n  ")))
    }

    /// What the check printed is right from now on.
    pub(crate) fn bless(&self, suites: &mut Suites, check: &str, full: bool) {
        let here = self.flags.as_deref().map(|flags| (&self.skips, flags));
        suites.bless(check, full, &self.suites(), here);
    }

    /// Shows and keeps what the other one has kept.
    pub(crate) fn append(&mut self, other: Self) {
        other.lines.into_iter().for_each(|line| self.say(line));
    }

    /// All lines, for `cargo xtask matrix`.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(path, self.lines.join("\n") + "\n"))
            .map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Shows a line and keeps it.
    pub(crate) fn say(&mut self, line: String) {
        if !self.quiet {
            println!("{line}");
        }
        self.lines.push(line);
    }

    /// Runs a command to success, shows its output and keeps it. A skip that nobody allowed is a failure.
    pub(crate) fn step(&mut self, command: &mut Command) -> Result<(), String> {
        self.say(format!("+ {}", show(command)));
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", show(command)))?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut skipped = Vec::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|e| e.to_string())?;
            // The harness may have begun the line: `test name ... SKIPPED what: why`.
            if let Some((_, skip)) = line.split_once("SKIPPED ")
                && !self.skips.allow(skip, self.flags.as_deref())
            {
                skipped.push(skip.to_owned());
            }
            self.say(line);
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("{}: {status}", show(command)));
        }
        if skipped.is_empty() {
            return Ok(());
        }
        Err(format!("skipped, and not in .ci/allowed-skips, or here is a processor that has its flags: {}", skipped.join("; ")))
    }

    /// Each of these suites ran: `NAME ok COUNT`.
    pub(crate) fn expect(&self, suites: &[impl AsRef<str>]) -> Result<(), String> {
        let ran = self.suites();
        let missing = suites.iter().map(AsRef::as_ref).find(|expected| suite(expected).is_none_or(|suite| !ran.contains(&suite)));
        missing.map_or(Ok(()), |missing| Err(format!("this suite did not run: {missing}")))
    }

    /// What the suites of this check say, each once, in the order in which they came.
    fn suites(&self) -> Vec<(&str, &str)> {
        self.suites_from(self.section)
    }

    /// Likewise from that line on.
    pub(crate) fn suites_from(&self, line: usize) -> Vec<(&str, &str)> {
        let mut suites = Vec::new();
        for said in self.lines[line..].iter().filter_map(|line| suite(line)) {
            if !suites.contains(&said) {
                suites.push(said);
            }
        }
        suites
    }
}
