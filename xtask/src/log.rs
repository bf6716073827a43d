//! What the suites of a run printed: shown, kept, and held against what was to be expected.

use crate::package::show;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// What the suites printed.
pub(crate) struct Log {
    lines: Vec<String>,
    allowed_skips: Vec<String>,
    /// Shows nothing until it is appended to another.
    quiet: bool,
}

impl Log {
    pub(crate) fn new(root: &Path) -> Result<Self, String> {
        let allowed = fs::read_to_string(root.join(".ci/allowed-skips")).map_err(|e| format!(".ci/allowed-skips: {e}"))?;
        let is_rule = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let rules = allowed.lines().filter(is_rule).map(|line| line.split("  ").next().unwrap_or(line).trim().to_owned());
        Ok(Self { lines: Vec::new(), allowed_skips: rules.collect(), quiet: false })
    }

    /// Of what runs beside something else.
    pub(crate) fn quiet(root: &Path) -> Result<Self, String> {
        Ok(Self { quiet: true, ..Self::new(root)? })
    }

    /// What follows belongs to that check.
    pub(crate) fn section(&mut self, name: &str) {
        self.say(format!("== {name}"));
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

    fn say(&mut self, line: String) {
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
                && !self.allowed_skips.iter().any(|allowed| skip.starts_with(allowed.as_str()))
            {
                skipped.push(skip.to_owned());
            }
            self.say(line);
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("{}: {status}", show(command)));
        }
        if skipped.is_empty() { Ok(()) } else { Err(format!("skipped, and not in .ci/allowed-skips: {}", skipped.join("; "))) }
    }

    /// Each of these began some line (or followed what the harness had begun).
    pub(crate) fn expect(&self, suites: &[impl AsRef<str>]) -> Result<(), String> {
        let ran = |suite: &str| self.lines.iter().any(|line| line.contains(suite));
        match suites.iter().map(AsRef::as_ref).find(|suite| !ran(suite)) {
            None => Ok(()),
            Some(missing) => Err(format!("this suite did not run: {missing}")),
        }
    }

    /// The lines `NAME ok COUNT`, each once, in the order in which they came.
    pub(crate) fn suites(&self) -> Vec<&str> {
        let mut suites: Vec<&str> = Vec::new();
        for line in &self.lines {
            // The harness may have begun the line.
            let said = line.rsplit(" ... ").next().unwrap_or(line);
            let is_suite =
                said.split_once(" ok ").is_some_and(|(name, count)| !name.contains(' ') && count.starts_with(|c: char| c.is_ascii_digit()));
            if is_suite && !suites.contains(&said) {
                suites.push(said);
            }
        }
        suites
    }
}
