//! What must have run, and what may be skipped: `.ci/suites` and `.ci/allowed-skips`.
//!
//! A suite says `NAME ok COUNT` when it has asserted its count; one that is put to back ends says it of each, `NAME/BACK-END ok COUNT`. What
//! a check printed is held against `.ci/suites` both ways: a line that is missing, another count, and a line that is new are failures.
//! `cargo xtask ci --bless CHECK...` writes the lines of those checks anew, and the diff belongs to the change.
//!
//! A back end may be missing if the processor lacks one of its features, as the kernel sees it: what the library finds is what is tested.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const SUITES: &str = ".ci/suites";
const SKIPS: &str = ".ci/allowed-skips";

/// What a line that is a suite's says: name and count. The harness may have begun the line: `test a::b ... NAME ok 7`, or even
/// `test a::b ... okNAME ok 7` where another thread came between its words.
pub(crate) fn suite(line: &str) -> Option<(&str, &str)> {
    let said = line.rsplit(" ... ").next().unwrap_or(line);
    let said = said.strip_prefix("ok").filter(|_| said.len() < line.len()).unwrap_or(said);
    let mut words = said.split(' ');
    let (name, ok, count) = (words.next()?, words.next()?, words.next()?);
    let is_suite = ok == "ok" && !name.is_empty() && words.next().is_none();
    (is_suite && !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())).then_some((name, count))
}

/// What this processor has: the words of /proc/cpuinfo.
pub(crate) fn flags() -> Result<Vec<String>, String> {
    fs::read_to_string("/proc/cpuinfo").map(|text| flags_of(&text)).map_err(|e| format!("/proc/cpuinfo: {e}"))
}

/// Those of the first processor: words, but on RISC-V one word, `rv64imafdc_zicsr_zvkned`.
fn flags_of(cpuinfo: &str) -> Vec<String> {
    let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':')).map(|(what, words)| (what.trim(), words.trim()));
    let line = lines.find(|(what, _)| ["flags", "Features", "isa"].contains(what));
    let words = line.map(|(what, words)| words.split(if what == "isa" { '_' } else { ' ' }));
    words.into_iter().flatten().map(str::to_owned).collect()
}

/// What may be skipped.
pub(crate) struct Skips(Vec<Skip>);

struct Skip {
    what: String,
    /// Not where the processor has all of these; anywhere if there are none.
    flags: Vec<String>,
}

impl Skip {
    fn is_allowed(&self, flags: &[String]) -> bool {
        self.flags.is_empty() || self.flags.iter().any(|flag| !flags.contains(flag))
    }

    /// It goes without saying that these suites have not run.
    fn excuses(&self, name: &str) -> bool {
        match self.what.strip_suffix(" natively") {
            Some(row) => name.rsplit_once('/').is_some_and(|(_, of)| of == row),
            None => !self.flags.is_empty() && name.contains(&self.what),
        }
    }
}

impl Skips {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        Self::parse(&fs::read_to_string(root.join(SKIPS)).map_err(|e| format!("{SKIPS}: {e}"))?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let skip = |line: &str| match line.split("  ").collect::<Vec<_>>()[..] {
            [what, flags, _why] => {
                Ok(Skip { what: what.into(), flags: flags.split(' ').filter(|flag| *flag != "-").map(str::to_owned).collect() })
            }
            _ => Err(format!("{SKIPS}: {line}")),
        };
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(skip).collect::<Result<_, _>>().map(Self)
    }

    /// Whether what a suite says of itself behind `SKIPPED` is allowed on a processor with these flags; or on another one, which a check
    /// emulates: there the lines of the suites say enough.
    pub(crate) fn allow(&self, said: &str, flags: Option<&[String]>) -> bool {
        self.0.iter().any(|skip| said.starts_with(&skip.what) && flags.is_none_or(|flags| skip.is_allowed(flags)))
    }

    /// Whether that suite cannot run on a processor with these flags.
    fn excuse(&self, name: &str, flags: &[String]) -> bool {
        self.0.iter().any(|skip| skip.is_allowed(flags) && skip.excuses(name))
    }
}

/// Counts of a suite, in the gate and in the full run: none where it does not run, two if it runs twice, `*` if they vary.
type Counts = [BTreeSet<String>; 2];

/// The suites of each check.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Suites(BTreeMap<String, BTreeMap<String, Counts>>);

impl Suites {
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        Self::parse(&fs::read_to_string(root.join(SUITES)).map_err(|e| format!("{SUITES}: {e}"))?)
    }

    pub(crate) fn write(&self, root: &Path) -> Result<(), String> {
        fs::write(root.join(SUITES), self.text()).map_err(|e| format!("{SUITES}: {e}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut suites = Self::default();
        let mut check = String::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("== ") {
                name.clone_into(&mut check);
                continue;
            }
            let counts = |word: &str| word.split(',').filter(|count| *count != "-").map(str::to_owned).collect();
            let (name, counts) = match line.split(' ').collect::<Vec<_>>()[..] {
                [name, both] => (name, [counts(both), counts(both)]),
                [name, gate, full] => (name, [counts(gate), counts(full)]),
                _ => return Err(format!("{SUITES}: {line}")),
            };
            suites.0.entry(check.clone()).or_default().insert(name.to_owned(), counts);
        }
        Ok(suites)
    }

    fn text(&self) -> String {
        let mut text = "\
            # What the suites of each check must print, no line less and none more: a suite that nobody misses is not green.\n\
            # NAME COUNT; where the full run counts otherwise, its count behind that. `-`: it does not run there; `*`: the count varies.\n\
            # `cargo xtask ci --bless CHECK...` runs these checks and writes their lines anew.\n"
            .to_owned();
        let words = |counts: &BTreeSet<String>| match counts.is_empty() {
            true => "-".to_owned(),
            false => counts.iter().map(String::as_str).collect::<Vec<_>>().join(","),
        };
        for (check, suites) in self.0.iter().filter(|(_, suites)| !suites.is_empty()) {
            text += &format!("\n== {check}\n");
            for (name, [gate, full]) in suites {
                let full = if gate == full { String::new() } else { format!(" {}", words(full)) };
                text += &format!("{name} {}{full}\n", words(gate));
            }
        }
        text
    }

    pub(crate) fn knows(&self, check: &str) -> bool {
        self.0.contains_key(check)
    }

    /// What is wrong with the lines that a check printed. `here`: what may be skipped, and the flags of the processor that it runs on, if
    /// that is this one.
    pub(crate) fn faults(&self, check: &str, full: bool, printed: &[(&str, &str)], here: Option<(&Skips, &[String])>) -> Vec<String> {
        let none = BTreeMap::new();
        let expected = self.0.get(check).unwrap_or(&none);
        let mut faults = Vec::new();
        for (name, counts) in expected {
            let of_name = printed.iter().filter(|(other, _)| other == name);
            let found: BTreeSet<&str> = of_name.map(|(_, count)| *count).collect();
            let counts: BTreeSet<&str> = counts[usize::from(full)].iter().map(String::as_str).collect();
            let excused = here.is_some_and(|(skips, flags)| skips.excuse(name, flags));
            if found.is_empty() && !counts.is_empty() && !excused {
                faults.push(format!("{name}: did not run"));
            } else if !found.is_empty() && found != counts && !counts.contains("*") {
                faults.push(format!("{name}: {found:?}, not {counts:?}"));
            }
        }
        faults.extend(printed.iter().filter(|(name, _)| !expected.contains_key(*name)).map(|(name, _)| format!("{name}: is new")));
        faults
    }

    /// The lines of a check are these from now on; but those that this processor cannot print stay, and so do the counts that vary and
    /// those of the other kind of run.
    pub(crate) fn bless(&mut self, check: &str, full: bool, printed: &[(&str, &str)], here: Option<(&Skips, &[String])>) {
        let old = self.0.remove(check).unwrap_or_default();
        let mut new: BTreeMap<String, Counts> = BTreeMap::new();
        for (name, count) in printed {
            let counts = new.entry((*name).to_owned()).or_default();
            counts[usize::from(full)].insert((*count).to_owned());
        }
        for (name, [gate, of_full]) in &mut new {
            match old.get(name) {
                Some(old) if old[usize::from(full)].contains("*") => [*gate, *of_full] = old.clone(),
                Some([old, _]) if full => gate.clone_from(old),
                Some([old, old_full]) if old != old_full => of_full.clone_from(old_full),
                _ if full => {}
                _ => of_full.clone_from(gate),
            }
        }
        for (name, mut counts) in old.into_iter().filter(|(name, _)| !new.contains_key(name)).collect::<Vec<_>>() {
            if !here.is_some_and(|(skips, flags)| skips.excuse(&name, flags)) {
                let both = counts[0] == counts[1];
                counts[usize::from(full)].clear();
                if both && !full {
                    continue;
                }
            }
            if counts.iter().any(|counts| !counts.is_empty()) {
                new.insert(name, counts);
            }
        }
        self.0.insert(check.to_owned(), new);
    }
}

#[cfg(test)]
mod tests {
    use super::{Skips, Suites, flags_of, suite};

    const TABLE: &str = "\
        == tests\n\
        every_length/aesni-sse 7\n\
        every_length/portable 7\n\
        every_length/vaes-avx2 7\n\
        faults 3 17\n\
        fuzz *\n\
        registers::f20 1\n\
        twice - 1,2\n";

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

    const ALL: [(&str, &str); 6] = [
        ("every_length/aesni-sse", "7"),
        ("every_length/portable", "7"),
        ("every_length/vaes-avx2", "7"),
        ("faults", "3"),
        ("fuzz", "99"),
        ("registers::f20", "1"),
    ];

    fn skips() -> Skips {
        Skips::parse(SKIPS).unwrap()
    }

    fn flags(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    fn faults_on(processor: &str, printed: &[(&str, &str)]) -> Vec<String> {
        Suites::parse(TABLE).unwrap().faults("tests", false, printed, Some((&skips(), &flags(processor))))
    }

    fn all_but(name: &str) -> Vec<(&'static str, &'static str)> {
        ALL.into_iter().filter(|(other, _)| *other != name).collect()
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
        assert_eq!(suite("faults ok 17"), Some(("faults", "17")));
        assert_eq!(suite("kernel_faults ok 17"), Some(("kernel_faults", "17")));
        assert_eq!(suite("test a::b ... faults ok 17"), Some(("faults", "17")));
        assert_eq!(suite("test a::b ... okfaults ok 17"), Some(("faults", "17")));
        let no_suites =
            ["faults ok 17 of 17", "x faults ok 17", "faults ok", "faults ok 1,5", "faults ok many", " ok 1", "test a::b ... ok"];
        assert_eq!(no_suites.map(suite), [None; 7]);
    }

    #[test]
    fn what_was_printed_is_held_against_the_table_both_ways() {
        assert_eq!(faults_on(ZEN_4, &ALL), [""; 0]);
        for (name, _) in ALL {
            assert_eq!(faults_on(ZEN_4, &all_but(name)), [format!("{name}: did not run")]);
        }
        let portable_only = [&ALL[1..2], &ALL[3..]].concat();
        assert_eq!(faults_on(ZEN_4, &portable_only), ["every_length/aesni-sse: did not run", "every_length/vaes-avx2: did not run"]);
        let other_count = [&all_but("faults")[..], &[("faults", "4")]].concat();
        assert_eq!(faults_on(ZEN_4, &other_count), [r#"faults: {"4"}, not {"3"}"#]);
        // The longer name is not the shorter one.
        let longer = [&all_but("faults")[..], &[("kernel_faults", "3")]].concat();
        assert_eq!(faults_on(ZEN_4, &longer), ["faults: did not run", "kernel_faults: is new"]);
        assert_eq!(faults_on(ZEN_4, &[&ALL[..], &[("twice", "1")]].concat()), [r#"twice: {"1"}, not {}"#]);
        let in_full = [&all_but("faults")[..], &[("faults", "17"), ("twice", "2"), ("twice", "1")]].concat();
        assert_eq!(Suites::parse(TABLE).unwrap().faults("tests", true, &in_full, None), [""; 0]);
        assert_eq!(Suites::default().faults("tests", false, &ALL[..1], None), ["every_length/aesni-sse: is new"]);
    }

    #[test]
    fn a_row_may_be_missing_where_the_processor_lacks_a_feature() {
        let (vaes, sse) = ("vaes-avx2 natively: this processor lacks vaes", "aesni-sse natively: it lacks aes");
        let f20 = "f20: it does not say";
        let allowed = |processor: &str| [vaes, sse, f20].map(|said| skips().allow(said, Some(&flags(processor))));
        assert_eq!(allowed(ZEN_4), [false, false, false]);
        assert_eq!(allowed(SKYLAKE), [true, false, false]);
        assert_eq!(allowed(WESTMERE), [true, false, true]);
        assert_eq!(allowed(ARM), [true, true, true]);
        assert!(skips().allow("aes-neon natively: x", Some(&flags(ZEN_4))) && !skips().allow("aes-neon natively: x", Some(&flags(ARM))));
        assert!(skips().allow("compilers: opt-level 3, no nightly", Some(&flags(ZEN_4))));
        assert!(skips().allow(vaes, None) && !skips().allow("all of it", None));

        assert_eq!(faults_on(SKYLAKE, &all_but("every_length/vaes-avx2")), [""; 0]);
        assert_eq!(faults_on(SKYLAKE, &ALL[3..]), ["every_length/aesni-sse: did not run", "every_length/portable: did not run"]);
        assert_eq!(faults_on(WESTMERE, &[ALL[0], ALL[1], ALL[3], ALL[4]]), [""; 0]);
        assert_eq!(faults_on(ARM, &[ALL[1], ALL[3], ALL[4]]), [""; 0]);
        // On an emulated processor every row runs, whatever this one has.
        let emulated = Suites::parse(TABLE).unwrap().faults("tests", false, &all_but("every_length/vaes-avx2"), None);
        assert_eq!(emulated, ["every_length/vaes-avx2: did not run"]);
    }

    #[test]
    fn blessing_keeps_what_it_cannot_know() {
        let table = Suites::parse(TABLE).unwrap();
        assert_eq!(Suites::parse(&table.text()).unwrap(), table);
        let printed = [("every_length/aesni-sse", "8"), ("every_length/portable", "8"), ("faults", "4"), ("fuzz", "77"), ("new", "1")];
        let blessed = |full: bool| {
            let mut table = table.clone();
            table.bless("tests", full, &printed, Some((&skips(), &flags(SKYLAKE))));
            table.text().lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        let gate = [
            "== tests",
            "every_length/aesni-sse 8",
            "every_length/portable 8",
            "every_length/vaes-avx2 7",
            "faults 4 17",
            "fuzz *",
            "new 1",
            "twice - 1,2",
        ];
        assert_eq!(blessed(false), gate);
        let full = [
            "== tests",
            "every_length/aesni-sse 7 8",
            "every_length/portable 7 8",
            "every_length/vaes-avx2 7",
            "faults 3 4",
            "fuzz *",
            "new - 1",
            "registers::f20 1 -",
        ];
        assert_eq!(blessed(true), full);
    }
}
