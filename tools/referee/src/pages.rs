//! Writes the results as JUnit's XML; each finding has the command that reproduces it.

use crate::{
    cases::{Case, Expected},
    finding::{Finding, Kind, Report},
    peer::Memory,
};
use std::{fmt::Write, path::PathBuf};

/// The results of a run.
pub(crate) struct Results<'a> {
    pub(crate) reports: &'a [(PathBuf, Report)],
    pub(crate) cases: &'a [Case],
    /// The arguments of the run: `--amount quick` and so on.
    pub(crate) arguments: &'a str,
    /// True if findings about robustness count as failures.
    pub(crate) strict: bool,
}

impl Kind {
    /// Returns the title of its column.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Outside => "outside",
            Self::Crash => "crashes",
            Self::Hangs => "hangs",
            Self::Leaves => "leaves text",
            Self::Takes => "takes too much",
            Self::Keeps => "keeps keys",
        }
    }

    /// Returns true if the standard says nothing of this kind.
    pub(crate) fn is_manner(self) -> bool {
        self >= Self::Leaves
    }
}

impl Memory {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Mapped => "ours, behind",
            Self::Its => "its own",
        }
    }
}

/// Returns the command that runs this case alone.
pub(crate) fn command(finding: &Finding, path: &std::path::Path, arguments: &str) -> String {
    let settings = finding.settings.iter().map(|setting| format!("{setting} ")).collect::<String>();
    format!("referee run {arguments} --case {}/{} '{settings}{}'", finding.family, finding.number, path.display())
}

/// Returns the case in hexadecimal, and the expected answer.
pub(crate) fn question_lines(case: &Case) -> Vec<(&'static str, String)> {
    let hex = |bytes: &[u8]| {
        let text = bytes.iter().take(512).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let more = if bytes.len() > 512 { format!("... ({} bytes)", bytes.len()) } else { String::new() };
        if text.is_empty() { "(nothing)".into() } else { text + &more }
    };
    let mut lines = vec![("key", hex(&case.of.key)), ("nonce", hex(&case.nonce())), ("aad", hex(&case.aad()))];
    lines.push((if case.seals { "text" } else { "ciphertext" }, hex(&case.input())));
    if !case.seals {
        lines.push(("tag", hex(&case.tag())));
    }
    if case.expected == Expected::Answer && case.family != "freed" {
        lines.push(("has to give", hex(case.output())));
        if case.seals {
            lines.push(("with the tag", hex(&case.tag())));
        }
    } else if case.expected != Expected::Answer {
        lines.push(("has to be", "refused".into()));
    }
    lines
}

impl Results<'_> {
    fn case(&self, finding: &Finding) -> Option<&Case> {
        self.cases.iter().find(|case| case.family == finding.family && case.number == finding.number)
    }

    fn details(&self, finding: &Finding, path: &std::path::Path) -> String {
        let lines = self.case(finding).map(question_lines).unwrap_or_default();
        let lines = lines.iter().map(|(name, hex)| format!("{name}: {hex}\n")).collect::<String>();
        format!("{}\n{lines}{}\n", finding.message, command(finding, path, self.arguments))
    }

    /// Returns JUnit XML. Each implementation is a suite, and each family a test of it.
    pub(crate) fn junit(&self) -> String {
        let mut families: Vec<&str> = self.cases.iter().map(|case| case.family).collect();
        families.dedup();
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"referee\">\n");
        for (path, report) in self.reports {
            if let Some(why) = &report.absent {
                let name = escaped(&path.display().to_string());
                let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" skipped=\"1\">");
                let _ =
                    writeln!(out, "    <testcase classname=\"{name}\" name=\"asked\"><skipped message=\"{}\"/></testcase>", escaped(why));
                out += "  </testsuite>\n";
                continue;
            }
            let name = escaped(&format!("{} ({})", report.about.name, report.about.version));
            let fails = |finding: &&Finding| self.strict || !finding.kind.is_manner();
            let of = |family: &str| report.findings.iter().filter(|finding| finding.family == family).collect::<Vec<_>>();
            let failures = families.iter().filter(|family| of(family).iter().any(fails)).count();
            let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\">", families.len());
            for family in &families {
                let _ = write!(out, "    <testcase classname=\"{name}\" name=\"{family}\">");
                // A test has one failure: the first contains the text of all.
                let text = of(family).iter().map(|finding| self.details(finding, path)).collect::<Vec<_>>().join("\n");
                match of(family).iter().find(|finding| fails(finding)) {
                    Some(finding) => {
                        let (kind, message) = (finding.kind.column(), escaped(&finding.message));
                        let _ = write!(out, "<failure type=\"{kind}\" message=\"{message}\">{}</failure>", escaped(&text));
                    }
                    None if !text.is_empty() => {
                        let _ = write!(out, "<system-out>{}</system-out>", escaped(&text));
                    }
                    None => {}
                }
                out += "</testcase>\n";
            }
            out += "  </testsuite>\n";
        }
        out + "</testsuites>\n"
    }
}

/// Escapes text for XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.chars().filter(|c| !c.is_control() || *c == '\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Amount, all};

    /// A fault fails its family, a robustness finding only with `strict`, and all text is escaped.
    #[test]
    fn what_fails() {
        let cases = all(Amount::Quick, &["empty".into(), "tags".into()]);
        let case = |family| cases.iter().find(|case| case.family == family).unwrap();
        let mut report = Report { asked: 9, ..Report::default() };
        report.about.name = "<mine> & \"yours\"".into();
        report.add(Finding::new(Kind::Wrong, "gives <another> byte", case("empty")));
        report.add(Finding::new(Kind::Takes, "takes it", case("tags")));
        let absent = Report { absent: Some("no <library>".into()), ..Report::default() };
        let reports = [("mine.c".into(), report), ("yours.c".into(), absent)];
        let failures = |strict| {
            let asked = Results { reports: &reports, cases: &cases, arguments: "--amount quick", strict };
            let junit = asked.junit();
            assert!(junit.contains("&lt;mine&gt; &amp; &quot;yours&quot;") && junit.contains("no &lt;library&gt;"), "{junit}");
            assert!(junit.contains("gives &lt;another&gt; byte") && junit.contains("--case empty/0 'mine.c'"), "{junit}");
            assert!(!junit.contains("<mine>") && !junit.contains("<another>") && !junit.contains("<library>"), "{junit}");
            let open = junit.matches("<testcase").count();
            assert_eq!((open, junit.matches("<skipped").count()), (3, 1), "{junit}");
            junit.matches("<failure").count()
        };
        assert_eq!((failures(false), failures(true)), (1, 2));
    }
}
