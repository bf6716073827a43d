//! Plants faults in a copy of the project, where tests must fail.
//!
//! **Faults** stand in the file `faults.txt` of their crate. `tests:` has what must fail: arguments of `cargo test -p CRATE`, or a
//! line for bash that does not begin with `-`. A fault is `NAME: DESCRIPTION`, and below
//!     in FUNCTION: CODE ==> REPLACEMENT
//! where the code stands exactly once in functions of this name, in any file of the crate (`in OTHER-CRATE FUNCTION`; `in *` for anywhere). White
//! space and comments do not count, and functions may move. If the code itself changes, `cargo xtask faults` names the fault that has lost its
//! place: adapt its line.
//!
//! **The copy** is lean: of the rows of x86 it has `aesni-avx`, `vpaes-ssse3` and `portable`, one for each path of messages. The other
//! rows repeat the code, and five rows take a minute to compile, two take ten seconds. Its library is optimised at level 1, which halves that
//! time again.

use crate::tools::{files, quietly, sh, write};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use regex_lite::Regex;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

/// The flags that leave out rows of x86 that repeat code.
const LEAN: &str = "--cfg fastgcm_without_avx512 --cfg fastgcm_without_avx2 --cfg fastgcm_without_sse";

/// The line that proves a program of the copy as the gate does.
pub(crate) const PROOF: &str = "test -e ../../proof/release/fastgcm-prove || \
    cargo build --release --manifest-path ../../../Cargo.toml --target-dir ../../proof -p fastgcm-prove; \
    cargo build --release -p fastgcm-proved && \
    ../../proof/release/fastgcm-prove ../build/release/fastgcm-proved --quick --stop --row aesni-avx";

/// A fault to plant.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    pub(crate) name: String,
    pub(crate) why: String,
    /// Its folder in `crates/`, or the path of another folder.
    pub(crate) of: String,
    /// The tests that must fail.
    pub(crate) tests: String,
    changes: Vec<Change>,
}

/// A function's code, and its replacement.
#[derive(Debug)]
struct Change {
    of: String,
    /// The function's name, or `*` for anywhere.
    function: String,
    from: String,
    to: String,
}

/// Files with their changed texts.
pub(crate) type Texts = Vec<(PathBuf, String)>;

impl Fault {
    /// Reads the faults of all crates.
    pub(crate) fn read(root: &Path) -> Result<Vec<Self>> {
        let mut faults = Vec::new();
        for file in files(root, "crates $(test ! -e tools || echo tools)", "faults.txt")? {
            let folder = file.strip_prefix(root)?.parent().context("no folder")?.to_string_lossy().into_owned();
            faults.extend(Self::parse(folder.strip_prefix("crates/").unwrap_or(&folder), &fs::read_to_string(&file)?)?);
        }
        let names: BTreeSet<&str> = faults.iter().map(|fault: &Self| &*fault.name).collect();
        ensure!(names.len() == faults.len(), "two faults have one name");
        Ok(faults)
    }

    fn parse(of: &str, text: &str) -> Result<Vec<Self>> {
        let (mut faults, mut tests) = (Vec::<Self>::new(), "");
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let wrong = || format!("{of}/faults.txt: `tests: TESTS`, `NAME: WHY` or `    in FUNCTION: CODE ==> CODE`, not {line}");
            if let Some(change) = line.strip_prefix("    in ") {
                let (from, to) = change.split_once(" ==>").with_context(wrong)?;
                let (place, from) = from.split_once(": ").with_context(wrong)?;
                let (of, function) = place.split_once(' ').unwrap_or((of, place));
                let [of, function, from, to] = [of, function, from, to.trim()].map(str::to_owned);
                faults.last_mut().with_context(wrong)?.changes.push(Change { of, function, from, to });
            } else if let Some(what) = line.strip_prefix("tests: ") {
                tests = what;
            } else {
                let (name, why) = line.split_once(": ").with_context(wrong)?;
                let [name, why, of, tests] = [name, why, of, tests].map(str::to_owned);
                faults.push(Self { name, why, of, tests, changes: Vec::new() });
            }
        }
        let idle = faults.iter().find(|fault| fault.changes.is_empty() || fault.tests.is_empty());
        ensure!(idle.is_none(), "{of}/faults.txt: it changes nothing, or no test finds it: {idle:?}");
        Ok(faults)
    }

    /// Returns the changed files. Fails if the code does not stand exactly once in the functions of this name.
    pub(crate) fn planted(&self, root: &Path) -> Result<Texts> {
        let mut texts = Texts::new();
        for Change { of, function, from, to } in &self.changes {
            let mut found = Vec::new();
            for path in sources(root, of)? {
                let changed = texts.iter().find(|(other, _)| *other == path);
                let text = changed.map_or_else(|| fs::read_to_string(&path), |(_, text)| Ok(text.clone()))?;
                found.extend(places(&text, function, from).into_iter().map(|place| (path.clone(), text.clone(), place)));
            }
            let [(path, text, place)] = &mut found[..] else {
                let (name, times) = (&self.name, found.len());
                anyhow::bail!("{name}: `{function}` of {of} has this {times} times, not once: {from}");
            };
            text.replace_range(place.clone(), to);
            texts.retain(|(other, _)| other != path);
            texts.push((path.clone(), text.clone()));
        }
        Ok(texts)
    }

    /// Returns the line for bash that runs its tests.
    pub(crate) fn line(&self) -> String {
        match (self.tests.starts_with('-'), &*self.of) {
            _ if self.tests == "proof" => PROOF.to_owned(),
            (false, _) => self.tests.clone(),
            (true, "fastgcm") => format!("cargo test -p fastgcm --features hazmat {}", self.tests),
            (true, of) => format!("cargo test -p {of} {}", self.tests),
        }
    }
}

fn sources(root: &Path, of: &str) -> Result<Vec<PathBuf>> {
    let folder = if of.starts_with("tools/") { of.to_owned() } else { format!("crates/{of}") };
    if !root.join(&folder).exists() {
        return Ok(Vec::new());
    }
    let found = ["*.rs", "*.py", "*.java", "*.js"].iter().map(|kind| files(root, &folder, kind)).collect::<Result<Vec<_>>>()?.concat();
    let is_source = |path: &PathBuf| ["tests", "test", "interop"].iter().all(|tests| !path.starts_with(root.join(&folder).join(tests)));
    Ok(found.into_iter().filter(is_source).collect())
}

/// Returns the places of the code in functions or structures of this name: from `fn NAME` up to the next function.
fn places(text: &str, function: &str, code: &str) -> Vec<std::ops::Range<usize>> {
    let mut regions: Vec<_> = (function == "*").then_some(0..text.len()).into_iter().collect();
    for word in ["fn ", "def ", "function ", "struct "] {
        for (start, named) in text.match_indices(&format!("{word}{function}")) {
            let rest = &text[start + named.len()..];
            let is_head = |at: usize| text[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').starts_with(['(', '<']);
            let word = if word == "struct " { "fn " } else { word };
            let next = rest.match_indices(word).map(|(at, _)| start + named.len() + at).find(|at| is_head(at + word.len()));
            if rest.starts_with(['(', '<', ' ']) {
                regions.push(start..next.unwrap_or(text.len()));
            }
        }
    }
    let code = pattern(code);
    let found = regions.into_iter().flat_map(|region| {
        code.find_iter(&text[region.clone()]).map(|found| found.start() + region.start..found.end() + region.start).collect::<Vec<_>>()
    });
    found.collect()
}

/// Returns a pattern for code with any line breaks: white space and comments may stand between any two tokens (and must between two words), and
/// a comma in front of a closing bracket.
fn pattern(code: &str) -> Regex {
    const GAP: &str = r"(?:\s|//[^\n]*\n)";
    let tokens = Regex::new(r"\w+|[^\w\s]").expect("a regular expression");
    let tokens: Vec<&str> = tokens.find_iter(code).map(|token| token.as_str()).collect();
    let is_word = |token: &str| token.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut pattern = String::from(if tokens.first().is_some_and(|first| is_word(first)) { r"\b" } else { "" });
    for (at, token) in tokens.iter().enumerate() {
        let (last, next) = (at.checked_sub(1).map_or("", |at| tokens[at]), tokens.get(at + 1).copied().unwrap_or_default());
        let closes = |token: &str| [")", "]", "}"].contains(&token);
        if *token == "," && closes(next) {
            continue;
        }
        pattern += &match (last, *token) {
            ("", _) => String::new(),
            _ if is_word(last) && is_word(token) => format!("{GAP}+"),
            _ if closes(token) => format!("{GAP}*,?{GAP}*"),
            _ => format!("{GAP}*"),
        };
        pattern += &regex_lite::escape(token);
    }
    pattern += if tokens.last().is_some_and(|last| is_word(last)) { r"\b" } else { "" };
    Regex::new(&pattern).expect("a regular expression")
}

/// The outcome of tests with a fault.
pub(crate) enum Verdict {
    /// A test failed, or the program crashed: which, or how.
    Caught(String),
    Missed,
    /// The fault does not compile.
    Unbuilt(String),
}

/// A copy of the project.
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
}

impl Copy {
    /// Copies the files that have changed, so that the rest need not be compiled again.
    pub(crate) fn lean(project: &Path) -> Result<Self> {
        const PARTS: &str = "Cargo.toml Cargo.lock README.md ARCHITECTURE.md BENCHMARKS.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE-APACHE LICENSE-MIT \
                             .ci crates docs lab papers testdata tools xtask";
        let (copy, build) = (project.join("target/planted/copy"), project.join("target/planted/build"));
        let parts: Vec<&str> = PARTS.split(' ').filter(|part| project.join(part).exists()).collect();
        let below = |root: &Path, parts: &str| -> Result<BTreeSet<PathBuf>> {
            files(root, parts, "*")?.iter().map(|file| Ok(file.strip_prefix(root)?.to_owned())).collect()
        };
        fs::create_dir_all(&copy)?;
        let files = below(project, &parts.join(" "))?;
        below(&copy, ".")?.difference(&files).try_for_each(|old| fs::remove_file(copy.join(old)))?;
        for file in &files {
            // An unchanged file is not compiled again.
            let text = fs::read(project.join(file))?;
            if !fs::read(copy.join(file)).is_ok_and(|old| old == text) {
                write(&copy.join(file), text)?;
            }
        }
        let config = format!(
            "[build]\ntarget-dir = {build:?}\nrustflags = \"--cap-lints allow {LEAN}\"\n\
             [profile.dev.package.fastgcm]\nopt-level = 1\n"
        );
        let path = copy.join(".cargo/config.toml");
        if !fs::read_to_string(&path).is_ok_and(|old| old == config) {
            write(&path, config)?;
        }
        Ok(Self { root: copy })
    }

    /// Returns a command for bash in the copy. Variables tell the tests to be quick, and the rows.
    pub(crate) fn sh(&self, line: &str) -> Command {
        let mut command = sh(&self.root, line);
        for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "FASTGCM_FULL"] {
            command.env_remove(name);
        }
        if crate::tools::full() {
            command.env("FASTGCM_GATE", "1"); // more cases
        }
        let rows = "aesni-avx,vpaes-ssse3,portable";
        command.env("CARGO_INCREMENTAL", "1"); // each fault compiles most of a crate again
        command.env("FASTGCM_QUICK", "1").env("FASTGCM_ONLY", rows).env("XTASK", crate::tools::own_program());
        command
    }

    /// Runs tests with these texts. Because a fault may cause an endless loop, a program may take 500 seconds of CPU time, and a line half an hour.
    pub(crate) fn verdict(&self, texts: &[(PathBuf, String)], line: &str) -> Result<Verdict> {
        with_texts(texts, || {
            let mut command = self.sh("ulimit -t 500; exec timeout --kill-after=5 1800 bash -euo pipefail -c \"$LINE\"");
            let (passed, output) = quietly(command.env("LINE", line))?;
            // The errors of rustc, Python, Node and javac for invalid code, which no test has found.
            let is_unbuilt = ["error: could not compile", "SyntaxError: "].iter().any(|what| output.contains(what))
                || output.lines().any(|line| line.contains(".java:") && line.contains(": error: "));
            Ok(if passed {
                Verdict::Missed
            } else if is_unbuilt {
                Verdict::Unbuilt(output)
            } else {
                Verdict::Caught(first_failure(&output))
            })
        })
    }

    /// Runs the control: without a fault the tests pass, and at least one runs.
    pub(crate) fn control(&self, line: &str) -> Result<()> {
        let (passed, output) = quietly(&mut self.sh(line))?;
        ensure!(passed, "{output}\nthe tests fail without a planted fault: {line}");
        let is_harness = line.contains("cargo test");
        let ran = output.lines().any(|line| line.starts_with("test result: ok. ") && !line.contains(" 0 passed"));
        ensure!(ran || !is_harness, "no test has this name: {line}");
        Ok(())
    }
}

/// Runs `with` while these files have other texts.
pub(crate) fn with_texts<T>(texts: &[(PathBuf, String)], with: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = texts.iter().map(|(path, _)| fs::read(path)).collect::<Result<Vec<_>, _>>()?;
    texts.iter().try_for_each(|(path, text)| fs::write(path, text))?;
    let result = with();
    texts.iter().zip(before).try_for_each(|((path, _), bytes)| fs::write(path, bytes))?;
    result
}

/// Returns the test that failed first, or how the program crashed.
fn first_failure(output: &str) -> String {
    let failed = output.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned));
    let died = || output.lines().find_map(|line| line.split_once("(signal: ").map(|(_, signal)| format!("signal {signal}")));
    let message = || output.lines().find_map(|line| line.strip_prefix("FAILED ").or(line.strip_prefix("xtask: "))).map(str::to_owned);
    failed.or_else(died).or_else(message).unwrap_or_else(|| "the program died".into())
}

#[cfg(test)]
mod tests {
    use super::{Fault, places};

    const SOURCE: &str = "fn other() { a + b }\nfn sum(a: u8,\n b: u8) -> u8 {\n    // the sum\n    a.add(\n        b, // of both\n    )\n}\nfn last() { a + ab }";

    #[test]
    fn code_is_found_however_it_is_broken_into_lines() {
        let found = |function: &str, code: &str| places(SOURCE, function, code).into_iter().map(|place| &SOURCE[place]).collect::<Vec<_>>();
        assert_eq!(found("sum", "a.add(b)"), ["a.add(\n        b, // of both\n    )"]);
        assert_eq!(found("sum", "fn sum(a: u8, b: u8)"), ["fn sum(a: u8,\n b: u8)"]);
        assert_eq!((found("other", "a+b"), found("last", "a + a"), found("sum", "a + b")), (vec!["a + b"], vec![], vec![]));
        assert_eq!(found("*", "a +").len(), 2);
    }

    #[test]
    fn faults_are_lines() {
        let fault =
            &Fault::parse("it", "# a comment\ntests: --lib\nname: why: so\n    in f: a => b ==> c\n    in other *: d ==>\n").unwrap()[0];
        assert_eq!((&*fault.name, &*fault.why, &*fault.line()), ("name", "why: so", "cargo test -p it --lib"));
        assert_eq!(format!("{:?}", fault.changes[0]), r#"Change { of: "it", function: "f", from: "a => b", to: "c" }"#);
        assert_eq!(format!("{:?}", fault.changes[1]), r#"Change { of: "other", function: "*", from: "d", to: "" }"#);
        for wrong in ["nothing", "name: why", "tests: x\nname: why\n    in f: a", "name: why\n    in f: a ==> b"] {
            assert!(Fault::parse("it", wrong).is_err(), "{wrong}");
        }
    }
}
