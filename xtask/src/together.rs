//! Many planted faults in one build, each behind a switch: what takes a minute is the compiler, not the tests.
//!
//! A change from one expression to another, or from one statement to another, is written into the copy as
//! ```text
//! (if crate::planted::is(7) { wrong } else { right })
//! ```
//! (in the crates that depend on the library: `fastgcm::planted::is(7)`),
//! and a run of the tests plants the fault whose number is in its environment. Without a number the program is right, which is the
//! control. What is no expression (an attribute, a constant, a table) wants a build of its own, and so does what overlaps another change.

use crate::{
    planted::{Copy, Patch, first_failure, parts, tell_tests, with_texts},
    tools::{quietly, sh},
};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

/// The switch, as it is added to the copy of the library. It is read once from the environment.
const SWITCH: &str = r#"
#[allow(missing_docs)]
pub mod planted {
    extern crate std;
    use std::{env::var, sync::LazyLock};
    static NUMBER: LazyLock<usize> = LazyLock::new(|| var("FASTGCM_FAULT").ok().and_then(|n| n.parse().ok()).unwrap_or(0));
    #[inline(always)]
    pub fn is(number: usize) -> bool {
        number == *NUMBER
    }
}
"#;

/// Where the switch is.
const LIBRARY: &str = "crates/fastgcm/src/";

/// Other sources that can use it.
const OTHERS: [&str; 4] =
    ["crates/fastgcm-file/src/", "crates/fastgcm-cli/src/", "crates/fastgcm-protocols/src/", "crates/fastgcm-capi/src/"];

/// What a test program may take of a processor's time: an endless loop ends by it, for a machine that is busy with other things is no fault. (The quick
/// suites take a tenth; the traces take 200 seconds on a machine that is busy.)
const SECONDS: u32 = 500;

/// Files, their text, and what is to be put in place of some of it, by where that begins.
type Sources = BTreeMap<PathBuf, (String, BTreeMap<usize, Switch>)>;

/// Text that stands once in a file, and what faults make of it.
#[derive(Clone)]
struct Switch {
    right: String,
    /// By what name the file knows the library.
    library: &'static str,
    wrong: Vec<(usize, String)>,
}

/// A build with many faults in it.
pub(crate) struct Together<'a> {
    copy: &'a Copy,
    /// Test programs by their package and target, as in `fastgcm --test api`.
    programs: BTreeMap<String, PathBuf>,
    /// Numbers of the faults, from 1 on, by their names.
    faults: BTreeMap<String, usize>,
}

impl<'a> Together<'a> {
    /// Builds the tests of these faults with as many of them as fit; those that are `seen_in_sources` need no switch.
    pub(crate) fn build(copy: &'a Copy, patches: &[&Patch]) -> Result<Self> {
        let (root, mut faults) = (copy.root.join(LIBRARY).join("lib.rs"), BTreeMap::new());
        let mut sources = Sources::from([(root.clone(), (fs::read_to_string(&root)?, BTreeMap::new()))]);
        for patch in patches.iter().filter(|patch| !patch.seen_in_sources()) {
            if let Some(more) = added(copy, patch, faults.len() + 1, sources.clone())? {
                sources = more;
                faults.insert(patch.name.clone(), faults.len() + 1);
            }
        }
        let mut texts = Vec::new();
        for (path, (mut text, switches)) in sources {
            for (start, switch) in switches.iter().rev() {
                text.replace_range(*start..start + switch.right.len(), &switch.text().context("no switch")?);
            }
            let is_root = path == root;
            texts.push((path, if is_root { text + SWITCH } else { text }));
        }
        let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (package, targets, _) in patches.iter().map(|patch| parts(&patch.tests)) {
            packages.entry(package).or_default().extend(each(targets));
        }
        let mut programs = BTreeMap::new();
        with_texts(&texts, || {
            for (package, targets) in packages {
                let targets: String = targets.iter().map(|target| format!(" --{target}")).collect();
                let (builds, output) = quietly(&mut copy.cargo(&format!("test -p {package}{targets} --no-run")))?;
                ensure!(builds, "{output}\nthe build with all faults fails");
                // `  Executable tests/api/main.rs (/path/to/api-0123456789abcdef)`, and `unittests src/lib.rs` for the package's own.
                programs.extend(output.lines().filter_map(|line| {
                    let path = PathBuf::from(line.trim().strip_prefix("Executable ")?.rsplit_once('(')?.1.trim_end_matches(')'));
                    let target = path.file_name()?.to_str()?.rsplit_once('-')?.0.to_owned();
                    let target = if line.contains(" unittests ") { "lib".into() } else { format!("test {target}") };
                    Some((format!("{package} --{target}"), copy.root.join(path)))
                }));
            }
            Ok(())
        })?;
        Ok(Self { copy, programs, faults })
    }

    /// Whether the fault is in this build, or is none that is compiled.
    pub(crate) fn holds(&self, patch: &Patch) -> bool {
        patch.seen_in_sources() || self.faults.contains_key(&patch.name)
    }

    /// Runs tests with the fault of that number planted, or none. One target after the other, until one fails. Whether they passed,
    /// and all that they said.
    fn tests(&self, number: usize, tests: &str) -> Result<(bool, String)> {
        let (package, targets, arguments) = parts(tests);
        let mut said = String::new();
        for target in each(targets) {
            let program = self.programs.get(&format!("{package} --{target}")).with_context(|| format!("{package} has no --{target}"))?;
            let line = format!("ulimit -t {SECONDS}; exec timeout --kill-after=5 1200 '{}' {arguments}", program.display());
            let mut command = sh(&self.copy.root.join("crates").join(package), &line);
            let (passed, output) = quietly(tell_tests(&mut command).env("FASTGCM_FAULT", number.to_string()))?;
            said += &output;
            if !passed {
                return Ok((false, said));
            }
        }
        Ok((true, said))
    }

    /// The control: without a fault, the tests pass, and there are some.
    pub(crate) fn control(&self, tests: &str) -> Result<()> {
        let (passed, said) = self.tests(0, tests)?;
        ensure!(passed, "{said}\nthe tests fail without a planted fault");
        let ran = said.lines().any(|line| line.starts_with("test result: ok. ") && !line.contains(" 0 passed"));
        ensure!(ran, "no test is named so: {tests}");
        Ok(())
    }

    /// Plants a fault that this build holds: which test found it?
    pub(crate) fn verdict(&self, patch: &Patch) -> Result<Option<String>> {
        let (passed, said) = match self.faults.get(&patch.name) {
            Some(number) => self.tests(*number, &patch.tests)?,
            None => with_texts(&patch.changed(&self.copy.root)?, || self.tests(0, &patch.tests))?, // nothing is compiled
        };
        Ok((!passed).then(|| first_failure(&said)))
    }
}

/// `--lib --test api` is `lib`, `test api`.
fn each(targets: &str) -> impl Iterator<Item = &str> {
    targets.split("--").map(str::trim).filter(|target| !target.is_empty())
}

/// The sources with a fault's changes too; `None` if one of them does not go with the others.
fn added(copy: &Copy, patch: &Patch, number: usize, mut sources: Sources) -> Result<Option<Sources>> {
    for change in &patch.changes {
        let library = if change.file.starts_with(LIBRARY) { "crate" } else { "fastgcm" };
        if library == "fastgcm" && !OTHERS.iter().any(|sources| change.file.starts_with(sources)) {
            return Ok(None);
        }
        let path = copy.root.join(&change.file);
        if !sources.contains_key(&path) {
            sources.insert(path.clone(), (fs::read_to_string(&path)?, BTreeMap::new()));
        }
        let (text, switches) = sources.get_mut(&path).context("no source")?;
        let start = text.find(&change.from).with_context(|| format!("{}: not there: {}", patch.name, change.from))?;
        let end = start + change.from.len();
        let new = || Switch { right: change.from.clone(), library, wrong: Vec::new() };
        let switch = switches.entry(start).or_insert_with(new);
        switch.wrong.push((number, change.to.join("\n")));
        let fits = switch.right == change.from && switch.text().is_some();
        if !fits || switches.iter().any(|(at, other)| *at != start && *at < end && start < at + other.right.len()) {
            return Ok(None);
        }
    }
    Ok(Some(sources))
}

impl Switch {
    /// Right and wrong in one: `None` if they are not all expressions, or all statements.
    fn text(&self) -> Option<String> {
        let (before, right, behind) = shape(&self.right)?;
        let mut text = String::new();
        for (number, wrong) in &self.wrong {
            let (b, wrong, c) = shape(wrong)?;
            if (b, c) != (before, behind) {
                return None;
            }
            text += &format!("if {}::planted::is({number}) {{ {wrong} }} else ", self.library);
        }
        text += &format!("{{ {right} }}");
        Some(if before.is_empty() && behind.is_empty() {
            format!("({text})")
        } else if before.is_empty() {
            text
        } else {
            format!("{before}{text}{behind}")
        })
    }
}

/// `let a = ` and `b` and `;`; a statement and `;`; or an expression.
fn shape(text: &str) -> Option<(&str, &str, &str)> {
    let (mut depth, mut angles, mut statements) = (0, 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '<' if text[..at].ends_with("::") => angles += 1,
            '>' if angles > 0 => angles -= 1,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth + angles == 0 => return None,
            ';' if depth == 0 => statements += 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    let first = text.chars().next()?;
    let quotes = text.chars().filter(|c| *c == '"').count();
    if depth != 0 || quotes % 2 != 0 || text.starts_with("const ") || !(first.is_alphanumeric() || "({_!".contains(first)) {
        return None;
    }
    let Some(statement) = text.strip_suffix(';') else { return Some(("", text, "")) };
    match statement.split_once(" = ") {
        Some((pattern, value)) if pattern.starts_with("let ") && statements == 1 => Some((&text[..pattern.len() + 3], value, ";")),
        _ if text.starts_with("let ") => None,
        _ => Some(("", text, ";")),
    }
}
