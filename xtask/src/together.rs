//! Many planted faults in one build, each behind a switch: what takes a minute is the compiler, not the tests.
//!
//! A change from one expression to another, or from one statement to another, is written into the copy as
//! ```text
//! (if crate::planted::is(7) { wrong } else { right })
//! ```
//! (in the crates that depend on the library: `fastgcm::planted::is(7)`),
//! and a run of the tests plants the fault whose number is in its environment. Without a number the program is right, which is the
//! control. What is no expression (an attribute, a constant, a table) wants a build of its own, and so does what overlaps another change.

use crate::planted::{Copy, Patch, Verdict, first_failure, parts, quietly, with_texts};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::Command,
    time::Instant,
};

/// The switch, as it is added to the copy of the library. One word, read once from the environment; one load where it is asked.
const SWITCH: &str = r#"
#[allow(missing_docs)]
pub mod planted {
    extern crate std;
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static NUMBER: AtomicUsize = AtomicUsize::new(usize::MAX);
    #[inline(always)]
    pub fn is(number: usize) -> bool {
        let planted = NUMBER.load(Relaxed);
        number == if planted == usize::MAX { read() } else { planted }
    }
    #[cold]
    #[inline(never)]
    fn read() -> usize {
        let number = std::env::var("FASTGCM_FAULT").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
        NUMBER.store(number, Relaxed);
        number
    }
}
"#;

/// Where the switch is.
const LIBRARY: &str = "crates/fastgcm/src/";

/// The sources that can use it, and how they call it.
const SWITCHABLE: [(&str, &str); 5] = [
    (LIBRARY, "crate"),
    ("crates/fastgcm-file/src/", "fastgcm"),
    ("crates/fastgcm-cli/src/", "fastgcm"),
    ("crates/fastgcm-protocols/src/", "fastgcm"),
    ("crates/fastgcm-capi/src/", "fastgcm"),
];

/// What a test program may take of a processor's time. (The quick suites take a tenth; the traces take 200 seconds on a machine that is busy.)
const SECONDS: u32 = 500;

/// A build with many faults in it.
pub(crate) struct Together {
    /// Test programs by their package and target, as in `fastgcm --test api`.
    programs: BTreeMap<String, PathBuf>,
    /// Names of the faults, in the order of their numbers, from 1 on.
    faults: Vec<String>,
}

impl Together {
    /// Builds the tests of these faults with as many of them as fit; those that are `seen_in_sources` need no switch.
    pub(crate) fn build(copy: &Copy, patches: &[&Patch]) -> Result<Self, String> {
        let mut sources: BTreeMap<PathBuf, Source> = BTreeMap::new();
        let mut faults = Vec::new();
        for patch in patches.iter().filter(|patch| !patch.seen_in_sources()) {
            if add(copy, patch, faults.len() + 1, &mut sources)? {
                faults.push(patch.name.clone());
            }
        }
        let mut texts: Vec<(PathBuf, String)> = sources.iter().map(|(path, source)| (path.clone(), source.switched())).collect();
        add_switch(copy, &mut texts)?;
        let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (package, targets, _) in patches.iter().map(|patch| parts(&patch.tests)) {
            packages.entry(package).or_default().extend(each(targets));
        }
        let build = |(package, targets): (&str, BTreeSet<&str>)| {
            let targets: String = targets.iter().map(|target| format!(" --{target}")).collect();
            let (builds, output) = quietly(&mut copy.cargo(&format!("test -p {package}{targets} --no-run")))?;
            if !builds {
                return Err(format!("{output}\nthe build with all faults fails"));
            }
            // `  Executable tests/api/main.rs (/path/to/api-0123456789abcdef)`, and `unittests src/lib.rs` for the package's own.
            let program = |line: &str| {
                let path = PathBuf::from(line.trim().strip_prefix("Executable ")?.rsplit_once('(')?.1.trim_end_matches(')'));
                let target = path.file_name()?.to_str()?.rsplit_once('-')?.0.to_owned();
                let target = if line.contains(" unittests ") { "lib".into() } else { format!("test {target}") };
                Some((format!("{package} --{target}"), copy.root.join(path)))
            };
            Ok(output.lines().filter_map(program).collect::<Vec<_>>())
        };
        let programs = with_texts(&texts, || packages.into_iter().map(build).collect::<Result<Vec<_>, _>>())?;
        Ok(Self { programs: programs.into_iter().flatten().collect(), faults })
    }

    /// Whether the fault is in this build, or is none that is compiled.
    pub(crate) fn holds(&self, patch: &Patch) -> bool {
        patch.seen_in_sources() || self.faults.contains(&patch.name)
    }

    /// Runs tests with the fault of that name planted, or none. One target after the other, until one fails. Whether they passed,
    /// and all that they said.
    fn tests(&self, copy: &Copy, fault: Option<&str>, tests: &str) -> Result<(bool, String), String> {
        let number =
            fault.map_or(Ok(0), |fault| self.faults.iter().position(|name| name == fault).map(|i| i + 1).ok_or("no such fault"))?;
        let (package, targets, arguments) = parts(tests);
        let mut said = String::new();
        for target in each(targets) {
            let program = self.programs.get(&format!("{package} --{target}")).ok_or(format!("{package} has no --{target}"))?;
            // An endless loop ends by the processor's seconds: a machine that is busy with other things is no fault.
            let mut command = Command::new("timeout");
            command.args(["--kill-after=5", "1200", "prlimit", &format!("--cpu={SECONDS}")]);
            command.arg(program).args(arguments.split_whitespace());
            copy.tests_environment(&mut command)
                .current_dir(copy.root.join("crates").join(package))
                .env("FASTGCM_FAULT", number.to_string());
            let (passed, output) = quietly(&mut command)?;
            said += &output;
            if !passed {
                return Ok((false, said));
            }
        }
        Ok((true, said))
    }

    /// The control: without a fault, the tests pass. What they said.
    pub(crate) fn control(&self, copy: &Copy, tests: &str) -> Result<String, String> {
        match self.tests(copy, None, tests)? {
            (true, said) => Ok(said),
            (false, said) => Err(format!("{said}\nthe tests fail without a planted fault")),
        }
    }

    /// Plants a fault that this build holds.
    pub(crate) fn verdict(&self, copy: &Copy, patch: &Patch) -> Result<Verdict, String> {
        let start = Instant::now();
        let (passed, said) = match patch.seen_in_sources() {
            true => copy.with(patch, || self.tests(copy, None, &patch.tests))?, // nothing is compiled
            false => self.tests(copy, Some(&patch.name), &patch.tests)?,
        };
        Ok(if passed { Verdict::Missed } else { Verdict::Caught { by: first_failure(&said), took: start.elapsed() } })
    }
}

/// `--lib --test api` is `lib`, `test api`.
fn each(targets: &str) -> impl Iterator<Item = &str> {
    targets.split("--").map(str::trim).filter(|target| !target.is_empty())
}

/// `crate::planted`, in the text of the library's root.
fn add_switch(copy: &Copy, texts: &mut Vec<(PathBuf, String)>) -> Result<(), String> {
    let root = copy.root.join(LIBRARY).join("lib.rs");
    match texts.iter_mut().find(|(path, _)| *path == root) {
        Some((_, text)) => *text += SWITCH,
        None => {
            let text = fs::read_to_string(&root).map_err(|e| e.to_string())? + SWITCH;
            texts.push((root, text));
        }
    }
    Ok(())
}

/// A file, and what is to be put in place of some of its text.
struct Source {
    right: String,
    switches: Vec<Switch>,
}

/// Text that stands once in a file, and what faults make of it.
struct Switch {
    from: String,
    /// By what name the file knows the library.
    library: &'static str,
    start: usize,
    faults: Vec<(usize, String)>,
}

impl Source {
    fn switched(&self) -> String {
        let mut text = self.right.clone();
        let mut switches: Vec<&Switch> = self.switches.iter().collect();
        switches.sort_by_key(|switch| std::cmp::Reverse(switch.start));
        for Switch { from, library, start, faults } in switches {
            text.replace_range(*start..start + from.len(), &switch(library, from, faults).unwrap_or_else(|| from.clone()));
        }
        text
    }
}

/// Adds a fault's changes to those of the others; `false`, and nothing is added, if one of them does not go with the others.
fn add(copy: &Copy, patch: &Patch, number: usize, sources: &mut BTreeMap<PathBuf, Source>) -> Result<bool, String> {
    for change in &patch.changes {
        let library = SWITCHABLE.iter().find(|(sources, _)| change.file.starts_with(sources)).map_or("", |(_, library)| library);
        let path = copy.root.join(&change.file);
        let right = match sources.get(&path) {
            Some(source) => source.right.clone(),
            None => fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?,
        };
        let start = right.find(&change.from).ok_or(format!("{}: not there: {}", patch.name, change.from))?;
        let range = start..start + change.from.len();
        let source = sources.entry(path).or_insert(Source { right, switches: Vec::new() });
        let same = |switch: &Switch| switch.start == start && switch.from == change.from;
        let others = source.switches.iter().find(|switch| same(switch)).map_or(&[][..], |switch| &switch.faults);
        let all = [others, &[(number, change.to.join("\n"))]].concat();
        let overlaps =
            source.switches.iter().any(|other| !same(other) && range.start < other.start + other.from.len() && other.start < range.end);
        if overlaps || library.is_empty() || switch(library, &change.from, &all).is_none() {
            for source in sources.values_mut() {
                source.switches.iter_mut().for_each(|switch| switch.faults.retain(|(other, _)| *other != number));
                source.switches.retain(|switch| !switch.faults.is_empty());
            }
            return Ok(false);
        }
        match source.switches.iter_mut().find(|switch| same(switch)) {
            Some(switch) => switch.faults = all,
            None => source.switches.push(Switch { from: change.from.clone(), library, start, faults: all }),
        }
    }
    Ok(true)
}

/// Right and wrong in one: `None` if they are not all expressions, or all statements.
fn switch(library: &str, right: &str, wrong: &[(usize, String)]) -> Option<String> {
    let (before, right, behind) = shape(right)?;
    let mut text = String::new();
    for (number, wrong) in wrong {
        let (b, wrong, c) = shape(wrong)?;
        if (b, c) != (before, behind) {
            return None;
        }
        text += &format!("if {library}::planted::is({number}) {{ {wrong} }} else ");
    }
    text += &format!("{{ {right} }}");
    match (before, behind) {
        ("", ";") => Some(text),
        ("", _) => Some(format!("({text})")),
        (before, behind) => Some(format!("{before}{text}{behind}")),
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
