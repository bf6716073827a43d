//! What must have run, and what may be skipped: `.ci/suites` and `.ci/allowed-skips`.
//!
//! A suite says `NAME ok COUNT` when it has asserted its count; one that is put to back ends says it of each, `NAME/BACK-END ok COUNT`. What
//! a check printed is held against `.ci/suites` both ways: a line that is missing, another count, and a line that is new are failures.
//! `cargo xtask ci --bless CHECK...` writes the lines of those checks anew, and the diff belongs to the change.
//!
//! A back end may be missing if the processor lacks one of its features, as the kernel sees it: what the library finds is what is tested.

use anyhow::{Result, bail, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

const SUITES: &str = ".ci/suites";
const SKIPS: &str = ".ci/allowed-skips";

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

/// What suites say in these lines, each once.
pub(crate) fn suites(lines: &[String]) -> BTreeSet<(&str, &str)> {
    lines.iter().filter_map(|line| suite(line)).collect()
}

/// What this processor has: the words of /proc/cpuinfo.
pub(crate) fn flags() -> Result<Vec<String>> {
    Ok(flags_of(&fs::read_to_string("/proc/cpuinfo")?))
}

/// Those of the first processor: words, but on RISC-V one word, `rv64imafdc_zicsr_zvkned`.
fn flags_of(cpuinfo: &str) -> Vec<String> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':')).map(|(what, words)| (what.trim(), words.trim()));
    let line = lines.find(|(what, _)| ["flags", "Features", "isa"].contains(what));
    let words = line.map(|(what, words)| words.split(if what == "isa" { '_' } else { ' ' }));
    words.into_iter().flatten().map(str::to_owned).collect()
}

/// What may be skipped: the beginning of what is said, and flags. A processor with all of them must not skip it; if there are none, any may.
pub(crate) struct Skips(Vec<(String, Vec<String>)>);

impl Skips {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(root.join(SKIPS))?)
    }

    fn parse(text: &str) -> Result<Self> {
        let skip = |line: &str| {
            let [what, flags, _why] = line.split("  ").collect::<Vec<_>>()[..] else { bail!("{SKIPS}: {line}") };
            Ok((what.to_owned(), flags.split(' ').filter(|flag| *flag != "-").map(str::to_owned).collect()))
        };
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(skip).collect::<Result<_>>().map(Self)
    }

    /// Those that a processor with these flags may skip; all, if it is another one, which a check emulates.
    fn on(&self, flags: Option<&[String]>) -> impl Iterator<Item = &(String, Vec<String>)> {
        let lacks = move |wanted: &[String]| flags.is_none_or(|flags| wanted.is_empty() || wanted.iter().any(|flag| !flags.contains(flag)));
        self.0.iter().filter(move |(_, wanted)| lacks(wanted))
    }

    /// Whether what a suite says of itself behind `SKIPPED` is allowed.
    pub(crate) fn allow(&self, said: &str, flags: Option<&[String]>) -> bool {
        self.on(flags).any(|(what, _)| said.starts_with(what))
    }

    /// Whether it goes without saying that this suite has not run here. (On a processor that is emulated every one runs.)
    fn excuse(&self, name: &str, flags: Option<&[String]>) -> bool {
        let excuses = |(what, wanted): &(String, Vec<String>)| match what.strip_suffix(" natively") {
            Some(row) => name.rsplit_once('/').is_some_and(|(_, of)| of == row),
            None => !wanted.is_empty() && name.contains(what),
        };
        flags.is_some() && self.on(flags).any(excuses)
    }
}

/// Counts of a suite, in the gate and in the full run: `-` where it does not run, `1,2` if it runs twice, `*` if they vary.
type Counts = [String; 2];

/// The suites of each check.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Suites(BTreeMap<String, BTreeMap<String, Counts>>);

/// What a check printed, and where it ran.
pub(crate) struct Printed<'a> {
    pub(crate) check: &'a str,
    pub(crate) full: bool,
    pub(crate) suites: BTreeSet<(&'a str, &'a str)>,
    pub(crate) skips: &'a Skips,
    /// Of the processor, if it is this one.
    pub(crate) flags: Option<&'a [String]>,
}

impl Printed<'_> {
    fn count(&self, name: &str) -> String {
        let counts: Vec<&str> = self.suites.iter().filter(|(other, _)| *other == name).map(|(_, count)| *count).collect();
        if counts.is_empty() { "-".into() } else { counts.join(",") }
    }
}

impl Suites {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(root.join(SUITES))?)
    }

    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        Ok(fs::write(root.join(SUITES), self.text())?)
    }

    fn parse(text: &str) -> Result<Self> {
        let (mut suites, mut check) = (Self::default(), "");
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["==", ..] => check = &line[3..],
                [name, ref counts @ ..] if (1..=2).contains(&counts.len()) => {
                    let counts = [counts[0], counts[counts.len() - 1]].map(str::to_owned);
                    suites.0.entry(check.to_owned()).or_default().insert(name.to_owned(), counts);
                }
                _ => bail!("{SUITES}: {line}"),
            }
        }
        Ok(suites)
    }

    fn text(&self) -> String {
        let mut text = "\
            # What the suites of each check must print, no line less and none more: a suite that nobody misses is not green.\n\
            # NAME COUNT; where the full run counts otherwise, its count behind that. `-`: it does not run there; `*`: the count varies.\n\
            # `cargo xtask ci --bless CHECK...` runs these checks and writes their lines anew.\n"
            .to_owned();
        for (check, suites) in self.0.iter().filter(|(_, suites)| !suites.is_empty()) {
            text += &format!("\n== {check}\n");
            for (name, [gate, full]) in suites {
                text += &if gate == full { format!("{name} {gate}\n") } else { format!("{name} {gate} {full}\n") };
            }
        }
        text
    }

    pub(crate) fn knows(&self, check: &str) -> bool {
        self.0.contains_key(check)
    }

    /// Counts of a check's suites in the gate.
    pub(crate) fn of_gate(&self, check: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.get(check).into_iter().flatten().map(|(name, [gate, _])| (&**name, &**gate))
    }

    /// Fails unless a check printed these lines.
    pub(crate) fn hold(&self, printed: &Printed) -> Result<()> {
        let (faults, check) = (self.faults(printed), printed.check);
        ensure!(faults.is_empty(), ".ci/suites:\n  {}\nIf that is meant: cargo xtask ci --bless '{check}'", faults.join("\n  "));
        Ok(())
    }

    /// What is wrong with the lines that a check printed.
    fn faults(&self, printed: &Printed) -> Vec<String> {
        let expected = self.0.get(printed.check).cloned().unwrap_or_default();
        let mut faults = Vec::new();
        for (name, counts) in &expected {
            let (count, found) = (&counts[usize::from(printed.full)], printed.count(name));
            if found == "-" && count != "-" && !printed.skips.excuse(name, printed.flags) {
                faults.push(format!("{name}: did not run"));
            } else if found != "-" && found != *count && count != "*" {
                faults.push(format!("{name}: {found}, not {count}"));
            }
        }
        let is_new = |name: &&&str| !expected.contains_key(**name);
        let names: BTreeSet<&str> = printed.suites.iter().map(|(name, _)| *name).collect();
        faults.extend(names.iter().filter(is_new).map(|name| format!("{name}: is new")));
        faults
    }

    /// The lines of a check are these from now on; but those that this processor cannot print stay, and so do the counts that vary and
    /// those of the other kind of run.
    pub(crate) fn bless(&mut self, printed: &Printed) {
        let (suites, full) = (self.0.entry(printed.check.to_owned()).or_default(), usize::from(printed.full));
        for (name, _) in &printed.suites {
            suites.entry((*name).to_owned()).or_insert(["-".into(), "-".into()]);
        }
        for (name, counts) in suites.iter_mut() {
            let (found, are_one) = (printed.count(name), counts[0] == counts[1]);
            if found == "-" && printed.skips.excuse(name, printed.flags) || found != "-" && counts[full] == "*" {
                continue;
            }
            if are_one && !printed.full {
                counts[1].clone_from(&found);
            }
            counts[full] = found;
        }
        suites.retain(|_, counts| counts.iter().any(|count| count != "-"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Printed, Skips, Suites, flags_of, suite};

    const TABLE: &str = "\
        == tests\n\
        every_length/aesni-sse 7\nevery_length/portable 7\nevery_length/vaes-avx2 7\n\
        faults 3 17\nfuzz *\nregisters::f20 1\ntwice - 1,2\n";

    const SKIPS: &str = "\
        # what  flags  why\n\
        vaes-avx2 natively  aes vaes avx2  rare\n\
        aesni-sse natively  aes sse4_1  old\n\
        aes-neon natively  asimd aes  another family\n\
        f20  avx xgetbv1  old\n\
        compilers: opt-level  -  no nightly\n";

    const ZEN_4: &str = "sse4_1 aes avx avx2 xgetbv1 vaes";
    const SKYLAKE: &str = "sse4_1 aes avx avx2 xgetbv1";
    const WESTMERE: &str = "sse4_1 aes";
    const ARM: &str = "fp asimd aes pmull";

    /// What the gate prints where all runs.
    const ALL: &str = "every_length/aesni-sse=7 every_length/portable=7 every_length/vaes-avx2=7 faults=3 fuzz=99 registers::f20=1";

    fn flags(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    fn faults(full: bool, processor: Option<&str>, printed: &str) -> Vec<String> {
        let (skips, flags) = (Skips::parse(SKIPS).unwrap(), processor.map(flags));
        let suites = printed.split(' ').filter_map(|said| said.split_once('=')).collect();
        Suites::parse(TABLE).unwrap().faults(&Printed { check: "tests", full, suites, skips: &skips, flags: flags.as_deref() })
    }

    /// Of `ALL`, without those of that name.
    fn without(names: &[&str]) -> String {
        ALL.split(' ').filter(|said| !names.iter().any(|name| said.starts_with(name))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_are_words_of_cpuinfo() {
        let x86 = "processor\t: 0\nflags\t\t: fpu ssse3 sse4_1 aes\nbugs\t\t: x\n\nprocessor\t: 1\nflags\t\t: avx\n";
        assert_eq!(flags_of(x86), ["fpu", "ssse3", "sse4_1", "aes"]);
        assert_eq!(flags_of("processor\t: 0\nFeatures\t: fp asimd aes\n"), ["fp", "asimd", "aes"]);
        assert_eq!(flags_of("isa\t\t: rv64imafdcv_zvkb_zvkned\n"), ["rv64imafdcv", "zvkb", "zvkned"]);
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
    fn what_was_printed_is_held_against_the_table_both_ways() {
        let on = |printed: &str| faults(false, Some(ZEN_4), printed);
        assert_eq!(on(ALL), [""; 0]);
        for name in ALL.split(' ').filter_map(|said| said.split('=').next()) {
            assert_eq!(on(&without(&[name])), [format!("{name}: did not run")]);
        }
        assert_eq!(on(&(without(&["faults"]) + " faults=4")), ["faults: 4, not 3"]);
        // The longer name is not the shorter one.
        assert_eq!(on(&(without(&["faults"]) + " kernel_faults=3")), ["faults: did not run", "kernel_faults: is new"]);
        assert_eq!(on(&format!("{ALL} twice=1")), ["twice: 1, not -"]);
        assert_eq!(faults(true, None, &(without(&["faults"]) + " faults=17 twice=2 twice=1")), [""; 0]);
        assert_eq!(faults(true, None, &(without(&["faults"]) + " faults=17 twice=2")), ["twice: 2, not 1,2"]);
    }

    #[test]
    fn a_row_may_be_missing_where_the_processor_lacks_a_feature() {
        let allow = |said: &str, processor: &str| Skips::parse(SKIPS).unwrap().allow(said, Some(&flags(processor)));
        let said =
            ["vaes-avx2 natively: it lacks vaes", "aesni-sse natively: it lacks aes", "f20: it does not say", "aes-neon natively: x"];
        let allowed = |processor| said.map(|said| allow(said, processor));
        assert_eq!(allowed(ZEN_4), [false, false, false, true]);
        assert_eq!(allowed(SKYLAKE), [true, false, false, true]);
        assert_eq!(allowed(WESTMERE), [true, false, true, true]);
        assert_eq!(allowed(ARM), [true, true, true, false]);
        assert!(allow("compilers: opt-level 3, no nightly", ZEN_4) && !allow("all of it", ARM));

        let (vaes, sse) = ("every_length/vaes-avx2", "every_length/aesni-sse");
        assert_eq!(faults(false, Some(SKYLAKE), &without(&[vaes])), [""; 0]);
        assert_eq!(faults(false, Some(SKYLAKE), &without(&[vaes, sse])), [format!("{sse}: did not run")]);
        assert_eq!(faults(false, Some(WESTMERE), &without(&[vaes, "registers"])), [""; 0]);
        assert_eq!(faults(false, Some(ARM), &without(&[vaes, sse, "registers"])), [""; 0]);
        // On an emulated processor every row runs, whatever this one has.
        assert_eq!(faults(false, None, &without(&[vaes])), [format!("{vaes}: did not run")]);
    }

    #[test]
    fn blessing_keeps_what_it_cannot_know() {
        let table = Suites::parse(TABLE).unwrap();
        assert_eq!(Suites::parse(&table.text()).unwrap(), table);
        let printed = [("every_length/aesni-sse", "8"), ("every_length/portable", "8"), ("faults", "4"), ("fuzz", "77"), ("new", "1")];
        let (skips, skylake) = (Skips::parse(SKIPS).unwrap(), flags(SKYLAKE));
        let blessed = |full: bool| {
            let mut table = table.clone();
            table.bless(&Printed { check: "tests", full, suites: printed.into(), skips: &skips, flags: Some(&skylake) });
            table.text().split_once("\n== tests\n").unwrap().1.to_owned()
        };
        let gate = "every_length/aesni-sse 8\nevery_length/portable 8\nevery_length/vaes-avx2 7\nfaults 4 17\nfuzz *\nnew 1\ntwice - 1,2\n";
        assert_eq!(blessed(false), gate);
        let full = "every_length/aesni-sse 7 8\nevery_length/portable 7 8\nevery_length/vaes-avx2 7\nfaults 3 4\nfuzz *\nnew - 1\nregisters::f20 1 -\n";
        assert_eq!(blessed(true), full);
    }
}
