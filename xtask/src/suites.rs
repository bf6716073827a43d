//! `cargo xtask suites CHECK LOG`: what must have run, and what may be skipped. `.ci/run` asks it of each of its checks.
//!
//! A suite that did not run is not green. A suite asserts its own number of cases and says `NAME ok COUNT`; a suite that is put to back ends says
//! `NAME/BACK-END ok COUNT` for each of them. `.ci/suites` says how many there must be, and what may be skipped. A suite that is missing fails the check, on
//! one back end too, and so does a count of zero. More suites than it says are told, and fail nothing. Which back
//! ends a machine must run follows from the library's table of back ends and from what the kernel says of the processor: the library itself is not asked.

use crate::tools::{files, full};
use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

const SUITES: &str = ".ci/suites";

/// Checks that do not run on this processor as it is: it is emulated, or conceals something. And the rows that it has nevertheless (`Machine::elsewhere`).
const ELSEWHERE: [(&str, Option<&str>); 5] =
    [("aarch64", Some("arm")), ("dispatch", None), ("emulated", Some("vaes")), ("other_machines", None), ("windows", None)];

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (check, log) = match arguments {
        [option, check] if option == "--rows" => (check, None),
        [check, log] => (check, Some(log)),
        _ => bail!("suites CHECK LOG, or suites --rows CHECK"),
    };
    let rows = rows(root)?;
    let machine = match (Machine::here(&rows)?, ELSEWHERE.iter().find(|(name, _)| name == check)) {
        (here, Some((_, on))) => Machine::elsewhere(&rows, *on, if full() { &[] } else { &here.rows }),
        (here, None) => here,
    };
    let Some(log) = log else {
        println!("{}", machine.rows.join(","));
        return Ok(());
    };
    let (table, text) = (Suites::read(root)?, fs::read(root.join(log))?);
    let lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    // The harness may have begun the line: `test name ... SKIPPED what: why`.
    let skipped = lines.iter().filter_map(|line| line.split_once("SKIPPED ")).map(|(_, said)| said);
    let skipped: Vec<&str> = skipped.filter(|said| !table.allow(said, &machine)).collect();
    ensure!(skipped.is_empty(), "skipped, and not in {SUITES}, or this processor has the flags: {}", skipped.join("; "));
    let new = table.hold(check, full(), &lines, &machine)?;
    // (A check of the full run may hold its own suites, and stand in no table.)
    if !new.is_empty() && !table.of(check, true).is_empty() {
        println!("Nobody would miss some suites of {check} until {SUITES} has: {}", new.join(" "));
    }
    Ok(())
}

/// What a line that is a suite's says: name and count. The harness may have begun the line: `test a::b ... NAME ok 7`, or even
/// `test a::b ... okNAME ok 7` or `okNAME ok 7` where another thread came between its words. (So no suite's name begins with `ok`.)
pub(crate) fn suite(line: &str) -> Option<(&str, &str)> {
    let said = line.rsplit(" ... ").next().unwrap_or(line);
    let said = said.strip_prefix("ok").unwrap_or(said);
    let mut words = said.split(' ');
    let (name, ok, count) = (words.next()?, words.next()?, words.next()?);
    let is_suite = ok == "ok" && !name.is_empty() && words.next().is_none();
    (is_suite && !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())).then_some((name, count))
}

/// Names of the suites that say in these lines that they ran; and those that ran nothing.
pub(crate) fn suites(lines: &[String]) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let all = lines.iter().filter_map(|line| suite(line));
    let (ran, empty): (Vec<_>, Vec<_>) = all.partition(|(_, count)| count.bytes().any(|digit| digit != b'0'));
    let names = |suites: Vec<(_, _)>| suites.into_iter().map(|(name, _)| name).collect();
    (names(ran), names(empty))
}

/// A row of the library's table of back ends.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// `x86`, `arm`, `riscv` or `any`.
    pub(crate) family: String,
    /// What it needs, as the kernel spells it.
    pub(crate) features: Vec<String>,
}

/// The rows of the table, wherever it stands in the library: lines with `"NAME" on FAMILY` and, last of all, `"FEATURE,FEATURE"`.
pub(crate) fn rows(root: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for file in files(root, "crates/fastgcm/src", "*.rs")? {
        rows.extend(fs::read_to_string(file)?.lines().filter_map(row));
    }
    ensure!(!rows.is_empty(), "crates/fastgcm/src: no table of back ends, whose lines have `\"NAME\" on FAMILY`");
    Ok(rows)
}

fn row(line: &str) -> Option<Row> {
    let (before, rest) = line.split_once("\" on ")?;
    let name = before.rsplit('"').next()?;
    let family = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    let features = if rest.contains('"') { rest.rsplit('"').nth(1)? } else { "" };
    let spelled = |name: &str| match (family, name) {
        ("arm", "aes") => vec!["aes".to_owned(), "pmull".to_owned()],
        ("arm", "neon") => vec!["asimd".to_owned()],
        _ => vec![name.replace('.', "_")],
    };
    // RISC-V's kernel names extensions of one letter in one word.
    let features = features.split(',').filter(|name| name.len() > 1).flat_map(spelled).collect();
    (!line.trim_start().starts_with("//")).then(|| Row { name: name.into(), family: family.into(), features })
}

/// What a check ran on.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The back ends that must run.
    pub(crate) rows: Vec<String>,
    /// All back ends that there are.
    all: Vec<String>,
    /// What the kernel says of the processor; `None` if it is emulated, or conceals something.
    flags: Option<Vec<String>>,
}

impl Machine {
    /// The one that we are on.
    fn here(rows: &[Row]) -> Result<Self> {
        let family = match std::env::consts::ARCH {
            "x86_64" => "x86",
            "aarch64" => "arm",
            "riscv64" => "riscv",
            other => other,
        };
        Ok(Self::with(rows, family, flags(&fs::read_to_string("/proc/cpuinfo")?)))
    }

    fn with(rows: &[Row], family: &str, flags: Vec<String>) -> Self {
        let can = |row: &&Row| is_of(row, family) && row.features.iter().all(|feature| flags.contains(feature));
        Self { rows: names(rows.iter().filter(can)), all: names(rows.iter()), flags: Some(flags) }
    }

    /// Another one, which has all rows of that family, or those that need that feature and have not run here; or the suites are no matter of rows.
    fn elsewhere(rows: &[Row], on: Option<&str>, here: &[String]) -> Self {
        let needs = |row: &&Row, feature| row.features.iter().any(|own| own == feature) && !here.contains(&row.name);
        let there = match on {
            None => Vec::new(),
            Some(family) if rows.iter().any(|row| row.family == family) => names(rows.iter().filter(|row| is_of(row, family))),
            Some(feature) => names(rows.iter().filter(|row| needs(row, feature))),
        };
        Self { rows: there, all: names(rows.iter()), flags: None }
    }

    /// A suite's name without the back end that it was put to, and that back end.
    fn row_of<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        name.rsplit_once('/').filter(|(_, row)| self.all.iter().any(|name| name == row))
    }

    /// Whether it has all of these. (An emulated one: nobody knows.)
    fn has(&self, flags: &[String]) -> bool {
        self.flags.as_ref().is_some_and(|own| !flags.is_empty() && flags.iter().all(|flag| own.contains(flag)))
    }
}

fn is_of(row: &Row, family: &str) -> bool {
    row.family == family || row.family == "any"
}

fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    rows.map(|row| row.name.clone()).collect()
}

/// Of the first processor: words, but on RISC-V one word, `rv64imafdc_zicsr_zvkned`.
fn flags(cpuinfo: &str) -> Vec<String> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':')).map(|(what, words)| (what.trim(), words.trim()));
    let line = lines.find(|(what, _)| ["flags", "Features", "isa"].contains(what));
    let words = line.map(|(what, words)| words.split(if what == "isa" { '_' } else { ' ' }));
    words.into_iter().flatten().map(str::to_owned).collect()
}

/// `.ci/suites`: what each check must print, by its name and whether it must in the full run only; and what may be skipped.
#[derive(Default)]
pub(crate) struct Suites {
    checks: BTreeMap<(String, bool), Vec<String>>,
    /// The beginning of what is said, and flags: a processor with all of them must not skip it; if there are none, any may.
    skips: Vec<(String, Vec<String>)>,
}

impl Suites {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(root.join(SUITES))?)
    }

    fn parse(text: &str) -> Result<Self> {
        let (mut table, mut check) = (Self::default(), None);
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (head, mut words) = line.split_once(": ").unwrap_or((line, ""));
            if let Some(skip) = line.strip_prefix("SKIPPED ") {
                let [what, flags, _why] = skip.split("  ").collect::<Vec<_>>()[..] else { bail!("{SUITES}: {line}") };
                table.skips.push((what.to_owned(), flags.split(' ').filter(|flag| *flag != "-").map(str::to_owned).collect()));
                continue;
            } else if line.starts_with("  ") {
                words = line; // goes on
            } else {
                check = Some(head.strip_suffix(", full").map_or((head.to_owned(), false), |head| (head.to_owned(), true)));
            }
            let check = check.clone().filter(|_| !words.is_empty()).with_context(|| format!("{SUITES}: `CHECK: WORD...`, not {line}"))?;
            table.checks.entry(check).or_default().extend(words.split_whitespace().map(str::to_owned));
        }
        Ok(table)
    }

    /// What this check must print.
    fn of(&self, check: &str, full: bool) -> Vec<&str> {
        let asked = self.checks.iter().filter(|((name, rarely), _)| name == check && (full || !rarely));
        asked.flat_map(|(_, words)| words).map(String::as_str).collect()
    }

    /// Whether what a suite says of itself behind `SKIPPED` is allowed: a back end that the machine need not run, or what the file has.
    fn allow(&self, said: &str, machine: &Machine) -> bool {
        let row = said.split_once(" natively").map(|(row, _)| row).filter(|row| machine.all.iter().any(|name| name == row));
        let is_row = row.is_some_and(|row| machine.flags.is_none() || machine.rows.iter().all(|name| name != row));
        is_row || self.skips.iter().any(|(what, flags)| said.starts_with(what) && !machine.has(flags))
    }

    /// Whether it goes without saying that this suite has not run here: the processor lacks what it needs.
    fn excuse(&self, name: &str, machine: &Machine) -> bool {
        let lacks = |flags: &[String]| !flags.is_empty() && machine.flags.is_some() && !machine.has(flags);
        self.skips.iter().any(|(what, flags)| name.contains(what) && lacks(flags))
    }

    /// Fails if a suite is missing in these lines, or ran nothing; and else returns what is more than the file says.
    fn hold(&self, check: &str, full: bool, lines: &[String], machine: &Machine) -> Result<Vec<String>> {
        let ((ran, empty), asked) = (suites(lines), self.of(check, full));
        let mut missing: BTreeSet<String> = empty.iter().map(|name| format!("{name}: ran nothing")).collect();
        let (counts, named): (Vec<&str>, Vec<&str>) = asked.into_iter().partition(|word| word.contains('='));
        // Those that have a name of their own, on the rows that are named, where the machine has them.
        let named = named.into_iter().flat_map(|word| match word.rsplit_once('/') {
            Some((name, "*")) => machine.rows.iter().map(|row| format!("{name}/{row}")).collect(),
            Some((name, rows)) => rows.split(',').map(|row| format!("{name}/{row}")).collect(),
            None => vec![word.to_owned()],
        });
        let named: BTreeSet<String> = named.collect();
        let is_here = |name: &&String| machine.row_of(name).is_none_or(|(_, row)| machine.rows.iter().any(|own| own == row));
        let is_missing = |name: &&String| !ran.contains(name.as_str()) && !self.excuse(name, machine);
        missing.extend(named.iter().filter(is_here).filter(is_missing).map(|name| format!("{name}: did not run")));
        // All others: on each row of the machine if on any, and so many of each group.
        let mut groups = BTreeMap::<&str, BTreeSet<(&str, bool)>>::new();
        for (suite, row) in ran.iter().map(|name| machine.row_of(name).map_or((*name, None), |(suite, row)| (suite, Some(row)))) {
            let is_named = |row: &str| named.contains(&format!("{suite}/{row}"));
            if row.map_or_else(|| named.contains(suite), |_| machine.all.iter().any(|row| is_named(row))) {
                continue;
            }
            let rows = row.map_or([].iter(), |_| machine.rows.iter()).map(|row| format!("{suite}/{row}"));
            missing.extend(rows.filter(|name| !ran.contains(&**name)).map(|name| format!("{name}: did not run")));
            groups.entry(suite.split_once("::").map_or("others", |(group, _)| group)).or_default().insert((suite, row.is_some()));
        }
        let mut expected = BTreeMap::<&str, usize>::new();
        for (group, count) in counts.iter().filter_map(|word| word.split_once('=')) {
            *expected.entry(group).or_default() += count.parse::<usize>().with_context(|| format!("{SUITES}: {group}={count}"))?;
        }
        // One that says why it did not run, as the file allows, is not missed in its group.
        for said in
            lines.iter().filter_map(|line| line.split_once("SKIPPED ")).map(|(_, said)| said).filter(|said| self.allow(said, machine))
        {
            if let Some(count) = said.split_once("::").and_then(|(group, _)| expected.get_mut(group)) {
                *count = count.saturating_sub(1);
            }
        }
        for (group, count) in &expected {
            let found = groups.get(group).into_iter().flatten().map(|(suite, _)| *suite).collect::<Vec<_>>();
            if found.len() < *count {
                missing.insert(format!("{group}: {} of {count} suites ran: {}", found.len(), found.join(" ")));
            }
        }
        ensure!(missing.is_empty(), "{SUITES}:\n  {}", missing.into_iter().collect::<Vec<_>>().join("\n  "));
        let more = groups.iter().filter(|(group, found)| found.len() > expected.get(*group).copied().unwrap_or(0));
        Ok(more.map(|(group, found)| format!("{group}={}", found.len())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, Row, Suites, flags, row, rows, suite};
    use std::{collections::BTreeSet, path::Path};

    const TABLE: &str = r#"
        A a = "vaes-avx512" on x86 without some: Woven<Vaes512>, "aes,vaes,avx512f";
        B b = "aesni-sse" on x86: Woven<AesSse>, "aes,sse4.1";
        C c = "aes-neon" on arm: Woven<Neon>, "aes";
        D d = "aes-zvkned" on riscv: Sequential<Zvkned>, unnamed "v,zvkned";
        E e = "portable" on any: Software<8>;
        // "none" on any"#;

    const SUITES: &str = "# a comment\nSKIPPED f20  avx xgetbv1  old\nSKIPPED compilers: opt-level  -  no nightly\nSKIPPED fuzz::b  -  no tool\ntests: others=2 fuzz=2\n  \
        registers::f20 traces/vaes-avx512,aes-neon\ntests, full: long=1\n";
    const ZEN_4: &str = "sse4_1 aes avx xgetbv1 vaes avx512f";
    const SKYLAKE: &str = "sse4_1 aes avx xgetbv1";
    const WESTMERE: &str = "sse4_1 aes";
    const ALL: &str =
        "every_length/vaes-avx512 every_length/aesni-sse every_length/portable faults registers::f20 traces/vaes-avx512 fuzz::a fuzz::b";

    fn table() -> Vec<Row> {
        TABLE.lines().filter_map(row).collect()
    }

    fn machine(family: &str, words: &str) -> Machine {
        Machine::with(&table(), family, words.split(' ').map(str::to_owned).collect())
    }

    /// What is wrong with these names, or which of them are new.
    fn held(full: bool, machine: &Machine, names: &[&str]) -> String {
        let lines: Vec<String> = names.iter().map(|name| format!("{name} ok 1")).collect();
        let held = Suites::parse(SUITES).unwrap().hold("tests", full, &lines, machine);
        held.map_or_else(|why| why.to_string(), |new| new.join(" ")).replace(".ci/suites:\n  ", "")
    }

    /// A suite of a group that says why it did not run is not missed; one that says nothing is.
    #[test]
    fn skipped_suites_of_a_group() {
        let (table, here) = (Suites::parse(SUITES).unwrap(), machine("x86", ZEN_4));
        let mut lines: Vec<String> = ALL.split(' ').filter(|name| *name != "fuzz::b").map(|name| format!("{name} ok 1")).collect();
        assert!(table.hold("tests", false, &lines, &here).unwrap_err().to_string().contains("fuzz: 1 of 2"));
        lines.push("SKIPPED fuzz::b: there is no tool".into());
        assert!(table.hold("tests", false, &lines, &here).is_ok());
        println!("suites::skipped_suites_of_a_group ok 2");
    }

    /// A check that goes is a change of docs/checks.md too, and of the list that has it.
    #[test]
    fn every_check_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let (text, page) = (read(".ci/run"), read("docs/checks.md"));
        let list = |name: &str| text.split_once(&format!("\n{name}=\"")).unwrap().1.split_once('"').unwrap().0.replace("\\\n", " ");
        let lists = ["gate", "full"].map(list).join(" ");
        let functions: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("check_")?.split_once("() {")).map(|line| line.0).collect();
        assert_eq!(functions, lists.split_whitespace().collect::<Vec<_>>(), "the functions stand in this order");
        let rows = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
        assert_eq!(BTreeSet::from_iter(rows), functions.iter().copied().collect(), "docs/checks.md");
        let lost = Suites::read(&root).unwrap().checks.into_keys().find(|(check, _)| !functions.contains(&&**check));
        assert_eq!(lost, None);
        let mut crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(crates.find(|name| !text.contains(name)), None, "a crate that no check of .ci/run names");
        println!("suites::every_check_is_known ok {}", functions.len());
    }

    #[test]
    fn flags_are_words_of_cpuinfo() {
        let x86 = "processor\t: 0\nflags\t\t: fpu ssse3 sse4_1 aes\nbugs\t\t: x\n\nprocessor\t: 1\nflags\t\t: avx\n";
        assert_eq!(flags(x86), ["fpu", "ssse3", "sse4_1", "aes"]);
        assert_eq!(flags("processor\t: 0\nFeatures\t: fp asimd aes\n"), ["fp", "asimd", "aes"]);
        assert_eq!(flags("isa\t\t: rv64imafdcv_zvkb_zvkned\n"), ["rv64imafdcv", "zvkb", "zvkned"]);
    }

    #[test]
    fn suites_are_whole_words() {
        let suites =
            ["faults ok 17", "test a::b ... faults ok 17", "test a::b ... okfaults ok 17", "okfaults ok 17", "kernel_faults ok 17"];
        assert_eq!(suites.map(suite), ["faults", "faults", "faults", "faults", "kernel_faults"].map(|name| Some((name, "17"))));
        let others = ["faults ok 17 of 17", "x faults ok 17", "faults ok", "faults ok 1,5", "faults ok many", " ok 1", "test a::b ... ok"];
        assert_eq!(others.map(suite), [None; 7]);
    }

    #[test]
    fn a_machine_runs_the_rows_whose_features_it_has() {
        let rows = |family, words| machine(family, words).rows.join(" ");
        assert_eq!(rows("x86", ZEN_4), "vaes-avx512 aesni-sse portable");
        assert_eq!(rows("x86", SKYLAKE), "aesni-sse portable");
        assert_eq!(rows("arm", "fp asimd aes"), "portable"); // without `pmull`
        assert_eq!(rows("arm", "fp asimd aes pmull"), "aes-neon portable");
        assert_eq!(rows("riscv", "rv64imafdcv zvkned"), "aes-zvkned portable");
        // What has run here already need not run there.
        let elsewhere = |on, words| Machine::elsewhere(&table(), on, &machine("x86", words).rows).rows.join(" ");
        assert_eq!((elsewhere(Some("arm"), ZEN_4), elsewhere(None, ZEN_4)), ("aes-neon portable".into(), String::new()));
        assert_eq!((elsewhere(Some("vaes"), SKYLAKE), elsewhere(Some("vaes"), ZEN_4)), ("vaes-avx512".into(), String::new()));
    }

    /// No row of the library asks for more than its processors have: it would never run, and nobody would miss it.
    #[test]
    fn processors_that_have_every_row_are_known() {
        let rows = rows(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).unwrap();
        let x86 = "ssse3 sse4_1 aes pclmulqdq avx avx2 bmi2 vaes vpclmulqdq avx512f avx512bw avx512vl avx512vbmi"; // Ice Lake, Zen 4
        for (family, words) in [("x86", x86), ("arm", "asimd aes pmull sha3"), ("riscv", "rv64imafdcv zvkned zvkb zvbc zvkt")] {
            let can = Machine::with(&rows, family, words.split(' ').map(str::to_owned).collect()).rows;
            let all: Vec<_> = rows.iter().filter(|row| [family, "any"].contains(&&*row.family)).map(|row| row.name.clone()).collect();
            assert!(can == all && all.len() > 1, "{family}: {can:?} of {all:?}");
        }
    }

    #[test]
    fn what_is_missing_or_empty_fails_and_what_is_new_is_told() {
        let (zen_4, all) = (machine("x86", ZEN_4), ALL.split(' ').collect::<Vec<_>>());
        assert_eq!(held(false, &zen_4, &all), "");
        for name in &all {
            let others: Vec<&str> = all.iter().filter(|other| *other != name).copied().collect();
            let why = match *name {
                "faults" => "others: 1 of 2 suites ran: every_length".to_owned(),
                "fuzz::a" | "fuzz::b" => {
                    format!("fuzz: 1 of 2 suites ran: {}", others.iter().find(|name| name.starts_with("fuzz")).unwrap())
                }
                name => format!("{name}: did not run"),
            };
            assert_eq!(held(false, &zen_4, &others), why);
        }
        assert_eq!(held(true, &zen_4, &all), "long: 0 of 1 suites ran: ");
        assert_eq!(
            held(true, &zen_4, &[&all[..], &["long::a", "new/vaes-avx512"]].concat()),
            "new/aesni-sse: did not run\n  new/portable: did not run"
        );
        assert_eq!(held(false, &zen_4, &[&all[..], &["long::a", "kernel_faults"]].concat()), "long=1 others=3");
        for wrong in ["a=1", "SKIPPED a b", "  a=1", "a:"] {
            assert!(Suites::parse(wrong).is_err(), "{wrong}");
        }
        let nothing = Suites::parse(SUITES).unwrap().hold("x", false, &["a ok 0".into()], &zen_4);
        assert!(nothing.unwrap_err().to_string().contains("a: ran nothing"));
    }

    #[test]
    fn a_row_may_be_missing_where_the_processor_lacks_a_feature() {
        let without = |name: &str| ALL.split(' ').filter(|other| !other.contains(name)).collect::<Vec<_>>();
        assert_eq!(held(false, &machine("x86", SKYLAKE), &without("vaes")), "");
        assert_eq!(held(false, &machine("x86", ZEN_4), &without("traces/")), "traces/vaes-avx512: did not run");
        assert_eq!(held(false, &machine("x86", WESTMERE), &without("f20")), "");
        assert_eq!(held(false, &machine("x86", SKYLAKE), &without("f20")), "registers::f20: did not run");

        let allow = |said: &str, words: &str| Suites::parse(SUITES).unwrap().allow(said, &machine("x86", words));
        let said =
            ["vaes-avx512 natively: it lacks vaes", "f20: it does not say", "aes-neon natively: x", "compilers: opt-level 3", "all of it"];
        let allowed = |words| said.map(|said| allow(said, words));
        assert_eq!(allowed(ZEN_4), [false, false, true, true, false]);
        assert_eq!(allowed(WESTMERE), [true, true, true, true, false]);
    }
}
