//! What was found, for machines (JUnit's XML), each finding with what repeats it.

use crate::{
    cases::{Asks, Case},
    finding::{Finding, Kind, Report},
    peer::Memory,
};
use std::{fmt::Write, path::PathBuf};

/// Reports, what was asked, and with which arguments.
pub(crate) struct Asked<'a> {
    pub(crate) reports: &'a [(PathBuf, Report)],
    pub(crate) cases: &'a [Case],
    /// `--amount quick`, and so on.
    pub(crate) how: &'a str,
    /// Manners count.
    pub(crate) strict: bool,
}

impl Kind {
    /// Above its column.
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

    /// The standard says nothing of it.
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

/// The command that asks this alone.
pub(crate) fn repeats(finding: &Finding, path: &std::path::Path, how: &str) -> String {
    let settings = finding.settings.iter().map(|setting| format!("{setting} ")).collect::<String>();
    format!("referee run {how} --case {}/{} '{settings}{}'", finding.family, finding.number, path.display())
}

/// The question in hexadecimal, and what has to be answered.
pub(crate) fn question(case: &Case) -> Vec<(&'static str, String)> {
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
    if case.asks == Asks::Answer && case.family != "freed" {
        lines.push(("has to give", hex(case.output())));
        if case.seals {
            lines.push(("with the tag", hex(&case.tag())));
        }
    } else if case.asks != Asks::Answer {
        lines.push(("has to be", "refused".into()));
    }
    lines
}

impl Asked<'_> {
    fn case(&self, finding: &Finding) -> Option<&Case> {
        self.cases.iter().find(|case| case.family == finding.family && case.number == finding.number)
    }

    fn details(&self, finding: &Finding, path: &std::path::Path) -> String {
        let lines = self.case(finding).map(question).unwrap_or_default();
        let lines = lines.iter().map(|(name, hex)| format!("{name}: {hex}\n")).collect::<String>();
        format!("{}\n{lines}{}\n", finding.says, repeats(finding, path, self.how))
    }

    /// Each implementation is a suite, and each family a test of it.
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
                // A test has one failure: the first tells of all.
                let text = of(family).iter().map(|finding| self.details(finding, path)).collect::<Vec<_>>().join("\n");
                match of(family).iter().find(|finding| fails(finding)) {
                    Some(finding) => {
                        let (kind, says) = (finding.kind.column(), escaped(&finding.says));
                        let _ = write!(out, "<failure type=\"{kind}\" message=\"{says}\">{}</failure>", escaped(&text));
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

/// Text for XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.chars().filter(|c| !c.is_control() || *c == '\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Amount, all};

    /// A fault fails its family, a manner does so only if manners count, and no text breaks the form.
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
            let asked = Asked { reports: &reports, cases: &cases, how: "--amount quick", strict };
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
