//! What was found, for machines (JUnit's XML) and for people (one page of HTML), each finding with what repeats it.

use crate::{
    cases::{Asks, Case},
    finding::{Finding, KINDS, Kind, Report},
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

    /// One page that needs nothing else. On a narrow screen each row of the table is a card.
    pub(crate) fn html(&self) -> String {
        let mut rows = String::new();
        let mut found = String::new();
        for (path, report) in self.reports {
            let about = &report.about;
            if let Some(why) = &report.absent {
                let columns = KINDS.len() + 1;
                let _ = writeln!(
                    rows,
                    "<tr><th scope=row>{}</th><td class=skipped colspan={columns}>not asked: {}</td></tr>",
                    escaped(&path.display().to_string()),
                    escaped(why)
                );
                continue;
            }
            let _ = write!(rows, "<tr><th scope=row>{} <small>{}</small></th>", escaped(&about.name), escaped(&about.version));
            let _ = write!(rows, "<td data-label=asked>{}</td>", report.asked);
            for (kind, count) in KINDS.iter().zip(report.counts) {
                let class = match (count, kind.is_manner()) {
                    (0, _) => "none",
                    (_, true) => "manner",
                    (_, false) => "fault",
                };
                let count = if count == 0 { "–".into() } else { count.to_string() };
                let _ = write!(rows, "<td class={class} data-label=\"{}\">{count}</td>", kind.column());
            }
            rows += "</tr>\n";
            for finding in &report.findings {
                let class = if finding.kind.is_manner() { "manner" } else { "fault" };
                let title = format!("{}, {}: {}", about.name, finding.kind.column(), finding.says);
                let details = escaped(&self.details(finding, path));
                let _ = writeln!(found, "<details class={class}><summary>{}</summary><pre>{details}</pre></details>", escaped(&title));
            }
        }
        let heads = KINDS.iter().map(|kind| format!("<th scope=col>{}</th>", kind.column())).collect::<String>();
        let found = if found.is_empty() { "<p>Nothing.</p>".into() } else { found };
        format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\n\
             <title>What the referee found</title>\n<style>{STYLE}</style>\n<h1>What the referee found</h1>\n\
             <p>{} questions; each implementation was asked what it offers (<code>referee run {}</code>). A fault is red. A manner is yellow: the \
             standard says nothing of it.</p>\n<table><thead><tr><th scope=col>implementation</th><th scope=col>asked</th>{heads}</tr></thead>\n\
             <tbody>\n{rows}</tbody></table>\n<h2>Findings</h2>\n<p>Each with the smallest question that shows it, and the command that repeats \
             it.</p>\n{found}\n</html>\n",
            self.cases.len(),
            escaped(self.how),
        )
    }
}

const STYLE: &str = "
:root{color-scheme:light dark;--line:#8886}body{font:1rem/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:75rem}
h1{font-size:1.4rem}h2{font-size:1.15rem}small{font-weight:400;opacity:.75;display:block}table{border-collapse:collapse;width:100%}
th,td{padding:.3rem .5rem;border-bottom:1px solid var(--line);text-align:right}th[scope=row],thead th:first-child{text-align:left}
.none{opacity:.5}td.fault{background:#d33;color:#fff;font-weight:700}td.manner{background:#fc3;color:#000}.skipped{text-align:left;opacity:.7}
details{border-left:.3rem solid var(--line);padding:.3rem .6rem;margin:.4rem 0}details.fault{border-color:#d33}details.manner{border-color:#fc3}
summary{cursor:pointer;overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
@media(max-width:46rem){thead{display:none}tr{display:grid;grid-template-columns:1fr 1fr;border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0}
th[scope=row]{grid-column:1/-1}td{display:flex;justify-content:space-between;border:0}td::before{content:attr(data-label)}
td.skipped{grid-column:1/-1}td.skipped::before{content:none}}
";

/// Text for XML and HTML.
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
            let (junit, html) = (asked.junit(), asked.html());
            for text in [&junit, &html] {
                assert!(text.contains("&lt;mine&gt; &amp; &quot;yours&quot;") && text.contains("no &lt;library&gt;"), "{text}");
                assert!(text.contains("gives &lt;another&gt; byte") && text.contains("--case empty/0 'mine.c'"), "{text}");
                assert!(!text.contains("<mine>") && !text.contains("<another>") && !text.contains("<library>"), "{text}");
            }
            let open = junit.matches("<testcase").count();
            assert_eq!((open, junit.matches("<skipped").count()), (3, 1), "{junit}");
            assert_eq!(html.matches("<details class=fault>").count(), 1, "{html}");
            junit.matches("<failure").count()
        };
        assert_eq!((failures(false), failures(true)), (1, 2));
    }
}
