//! What is found, what is told of an implementation, and the lines in which one process tells it to another.

use crate::{
    cases::Case,
    peer::{About, Memory},
};

/// What can be wrong. The last two are manners: the standard says nothing of a buffer after a refusal, and
/// callers may know their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Another answer than the standard's.
    Wrong,
    /// Reads or writes beside a buffer, or changes what is only to be read.
    Outside,
    /// Ends the process.
    Crash,
    /// Goes on without end.
    Hangs,
    /// Leaves text of a message that it refused.
    Leaves,
    /// Takes what the standard has not.
    Takes,
    /// Has the key in its memory when it has been freed.
    Keeps,
}

pub(crate) const KINDS: [Kind; 7] = [Kind::Wrong, Kind::Outside, Kind::Crash, Kind::Hangs, Kind::Leaves, Kind::Takes, Kind::Keeps];

/// The smallest question of a family that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) says: String,
    pub(crate) family: String,
    /// Which question of that family.
    pub(crate) number: usize,
    pub(crate) size: usize,
    /// What was put into the environment, besides what the report says.
    pub(crate) settings: Vec<String>,
}

impl Finding {
    pub(crate) fn new(kind: Kind, says: &str, case: &Case) -> Self {
        let says = format!("{says}: {case}");
        Self { kind, says, family: case.family.into(), number: case.number, size: case.size(), settings: Vec::new() }
    }

    /// As one line.
    pub(crate) fn line(&self) -> String {
        let Self { kind, says, family, number, size, .. } = self;
        format!("finding\t{kind:?}\t{family}\t{number}\t{size}\t{says}")
    }
}

/// All about one implementation.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) about: About,
    /// Why it was not asked.
    pub(crate) absent: Option<String>,
    pub(crate) asked: u64,
    pub(crate) counts: [u64; KINDS.len()],
    /// The smallest of each kind and family.
    pub(crate) findings: Vec<Finding>,
    /// It was asked on crippled processors.
    pub(crate) crippled: bool,
    /// As the process that was asked has said it.
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

    /// All of it in lines, which `hear` understands.
    pub(crate) fn lines(&self) -> String {
        let counts = self.counts.map(|count| count.to_string()).join(" ");
        let absent = self.absent.iter().map(|why| format!("absent\t{why}"));
        let own = [self.about_line.clone(), format!("asked\t{}", self.asked), format!("counts\t{counts}")];
        own.into_iter().chain(absent).chain(self.findings.iter().map(Finding::line)).map(|line| line + "\n").collect()
    }

    /// Takes in what was found by the same questions in another environment, if that is no finding without it.
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

/// Takes in a line.
pub(crate) fn hear(line: &str, report: &mut Report) {
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
        ["finding", kind, family, number, size, says] => {
            if let (Some(kind), Ok(number), Ok(size)) =
                (KINDS.iter().find(|known| format!("{known:?}") == kind), number.parse(), size.parse())
            {
                report.add(Finding { kind: *kind, says: says.into(), family: family.into(), number, size, settings: Vec::new() });
            }
        }
        _ => {}
    }
}
