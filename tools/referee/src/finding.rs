//! Findings and reports of implementations, and the lines in which a process sends them to another.

use crate::{
    cases::Case,
    peer::{About, Memory},
};

/// The kinds of findings. The last ones are about robustness: the standard says nothing of a buffer after a refusal, and callers may know
/// their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The answer differs from the standard's.
    Wrong,
    /// The implementation reads or writes out of bounds, or changes an input.
    Outside,
    /// The process crashes.
    Crash,
    /// The process does not answer.
    Hangs,
    /// A refused message's text remains in the output.
    Leaves,
    /// The implementation accepts lengths that the standard does not allow.
    Takes,
    /// A freed key remains in memory.
    Keeps,
}

pub(crate) const KINDS: [Kind; 7] = [Kind::Wrong, Kind::Outside, Kind::Crash, Kind::Hangs, Kind::Leaves, Kind::Takes, Kind::Keeps];

/// A finding, with the smallest case of a family that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) family: String,
    /// The case's number in its family.
    pub(crate) number: usize,
    pub(crate) size: usize,
    /// Environment variables beyond those that the report names.
    pub(crate) settings: Vec<String>,
}

impl Finding {
    pub(crate) fn new(kind: Kind, message: &str, case: &Case) -> Self {
        let message = format!("{message}: {case}");
        Self { kind, message, family: case.family.into(), number: case.number, size: case.size(), settings: Vec::new() }
    }

    /// Returns the finding as a line.
    pub(crate) fn line(&self) -> String {
        let Self { kind, message, family, number, size, .. } = self;
        format!("finding\t{kind:?}\t{family}\t{number}\t{size}\t{message}")
    }
}

/// The report on an implementation.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) about: About,
    /// The reason if it was not tested.
    pub(crate) absent: Option<String>,
    pub(crate) asked: u64,
    pub(crate) counts: [u64; KINDS.len()],
    /// The smallest finding of each kind and family.
    pub(crate) findings: Vec<Finding>,
    /// True if it was tested on crippled processors.
    pub(crate) crippled: bool,
    /// The line with which the tested process described itself.
    pub(crate) about_line: String,
}

impl Report {
    pub(crate) fn add(&mut self, finding: Finding) {
        match self.findings.iter_mut().find(|known| known.kind == finding.kind && known.family == finding.family) {
            Some(known) if known.size <= finding.size => {}
            Some(known) => *known = finding,
            None => self.findings.push(finding),
        }
    }

    /// Returns the report as lines for [`receive`].
    pub(crate) fn lines(&self) -> String {
        let counts = self.counts.map(|count| count.to_string()).join(" ");
        let absent = self.absent.iter().map(|why| format!("absent\t{why}"));
        let own = [self.about_line.clone(), format!("asked\t{}", self.asked), format!("counts\t{counts}")];
        own.into_iter().chain(absent).chain(self.findings.iter().map(Finding::line)).map(|line| line + "\n").collect()
    }

    /// Adds the findings of another environment that `plain` does not have.
    pub(crate) fn absorb(&mut self, other: Self, settings: &[String], plain: &Self) {
        self.asked += other.asked;
        for finding in other.findings {
            if plain.findings.iter().all(|known| (known.kind, &known.family) != (finding.kind, &finding.family)) {
                self.counts[finding.kind as usize] += 1;
                self.add(Finding { settings: settings.to_vec(), ..finding });
            }
        }
    }
}

/// Adds a line to a report.
pub(crate) fn receive(line: &str, report: &mut Report) {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["absent", why] => report.absent = Some(why.into()),
        ["asked", asked] => report.asked = asked.parse().unwrap_or_default(),
        ["counts", counts] => {
            let counts = counts.split(' ').map(|count| count.parse().unwrap_or_default());
            report.counts.iter_mut().zip(counts).for_each(|(to, count)| *to = count);
        }
        ["about", name, version, offers, keys, tags, least, most, block, algorithm, flags] => {
            let number = |text: &str| text.parse().unwrap_or_default();
            report.about_line = line.into();
            report.about = About {
                name: name.into(),
                version: version.into(),
                offers: number(offers) as u32,
                keys: number(keys) as u32,
                tags: number(tags) as u32,
                nonces: (number(least), number(most)),
                block: number(block),
                whole: flags.contains('w'),
                copy: flags.contains('c'),
                nonce_first: flags.contains('n'),
                again: flags.contains('a'),
                algorithm: number(algorithm) as u32,
                memory: match () {
                    () if flags.contains('m') => Memory::Mapped,
                    () if flags.contains('i') => Memory::Its,
                    () => Memory::Ours,
                },
            };
        }
        ["finding", kind, family, number, size, message] => {
            if let (Some(kind), Ok(number), Ok(size)) =
                (KINDS.iter().find(|known| format!("{known:?}") == kind), number.parse(), size.parse())
            {
                report.add(Finding { kind: *kind, message: message.into(), family: family.into(), number, size, settings: Vec::new() });
            }
        }
        _ => {}
    }
}
