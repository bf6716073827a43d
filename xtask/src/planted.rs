//! Planted faults: a patch is applied to a copy of the project, and the tests named must fail there.
//!
//! **Patches** are written like diffs, without line numbers, so that they stand while the code around them changes:
//! ```text
//! # name: what is wrong, and who else had it
//! tests: --test api
//! --- crates/fastgcm/src/seal.rs
//! -    wipe(text);
//! +    _ = text;
//! ```
//! What follows a `-` must stand exactly once in that file; the `+` lines after it take its place. `tests` is what one would type behind
//! `cargo test`: `[-p PACKAGE] TARGETS [-- ARGUMENTS]`. Without a package they are the library's. In front of the first patch it stands for all that
//! name none.
//!
//! **The copy** is lean (`xtask/faults/lean.patch`): it has three back ends, one for each way of messages. The other rows are the same code once more,
//! and five rows take a minute to compile, two take ten seconds.

use crate::tools::{files, quietly, sh, write};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

/// A fault to plant.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    pub(crate) name: String,
    pub(crate) why: String,
    /// What must fail, as one types it behind `cargo test`.
    pub(crate) tests: String,
    pub(crate) changes: Vec<Change>,
}

/// Text that goes, and the lines that come.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
}

impl Patch {
    /// All patches of a file.
    pub(crate) fn read(path: &Path) -> Result<Vec<Self>> {
        let (text, mut file, mut tests) = (fs::read_to_string(path)?, "", "");
        let mut patches: Vec<Self> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let misplaced = || format!("{}: this line is out of place: {line}", path.display());
            if let Some((name, why)) = line.strip_prefix("# ").and_then(|title| title.split_once(": ")) {
                patches.push(Self { name: name.into(), why: why.into(), tests: tests.into(), ..Self::default() });
                continue;
            }
            let Some(patch) = patches.last_mut() else {
                tests = line.strip_prefix("tests: ").with_context(misplaced)?;
                continue;
            };
            if let Some(tests) = line.strip_prefix("tests: ") {
                patch.tests = tests.into();
            } else if let Some(path) = line.strip_prefix("--- ") {
                file = path.trim();
            } else if let Some(from) = line.strip_prefix('-') {
                patch.changes.push(Change { file: file.into(), from: from.trim().into(), to: Vec::new() });
            } else {
                let to = line.strip_prefix('+').with_context(misplaced)?;
                patch.changes.last_mut().with_context(misplaced)?.to.push(to.trim().into());
            }
        }
        let is_empty = patches.iter().any(|patch| patch.changes.is_empty()) || patches.is_empty();
        ensure!(!is_empty, "{}: a patch changes nothing", path.display());
        Ok(patches)
    }

    /// That one of `xtask/faults/FILE.patch`.
    pub(crate) fn named(project: &Path, file: &str, name: &str) -> Result<Self> {
        let patches = Self::read(&project.join(format!("xtask/faults/{file}.patch")))?;
        patches.into_iter().find(|patch| patch.name == name).with_context(|| format!("{file}.patch has no {name}"))
    }

    /// Tests that read the sources find it: nothing need be compiled.
    pub(crate) fn seen_in_sources(&self) -> bool {
        self.tests.starts_with("--test source")
    }

    /// The changed files, as (path, text), of a folder with the project's files. Fails if what is to change does not stand there exactly once.
    pub(crate) fn changed(&self, root: &Path) -> Result<Vec<(PathBuf, String)>> {
        let mut texts: Vec<(PathBuf, String)> = Vec::new();
        for Change { file, from, to } in &self.changes {
            let path = root.join(file);
            let at = texts.iter().position(|(other, _)| *other == path).unwrap_or(texts.len());
            if at == texts.len() {
                texts.push((path.clone(), fs::read_to_string(&path).context(self.name.clone())?));
            }
            let text = &mut texts[at].1;
            let times = text.matches(from.as_str()).count();
            ensure!(times == 1, "{}: {file} has {times} times, not once: {from}", self.name);
            *text = text.replacen(from.as_str(), &to.join("\n"), 1);
        }
        Ok(texts)
    }
}

/// Package, targets and arguments of what one types behind `cargo test`.
pub(crate) fn parts(tests: &str) -> (&str, &str, &str) {
    let (targets, arguments) = tests.split_once(" -- ").unwrap_or((tests, ""));
    let (package, targets) = targets.strip_prefix("-p ").and_then(|rest| rest.split_once(' ')).unwrap_or(("fastgcm", targets));
    (package, targets, arguments)
}

/// A copy of the project, and where it is built.
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
    pub(crate) build: PathBuf,
}

impl Copy {
    /// The lean one.
    pub(crate) fn lean(project: &Path) -> Result<Self> {
        Self::new(project, "target/planted", &Patch::named(project, "lean", "lean")?)
    }

    /// Copies what has changed since the last time, so that what was compiled is of use still; and with that patch.
    pub(crate) fn new(project: &Path, folder: &str, patch: &Patch) -> Result<Self> {
        const PARTS: &str = "Cargo.toml Cargo.lock crates lab/Cargo.toml lab/model lab/step lab/fuzz xtask testdata";
        let copy = Self { root: project.join(folder).join("copy"), build: project.join(folder).join("build") };
        fs::create_dir_all(copy.root.join("lab"))?;
        let below = |root: &Path, parts: &str| -> Result<BTreeSet<PathBuf>> {
            files(root, parts, "*")?.iter().map(|file| Ok(file.strip_prefix(root)?.to_owned())).collect()
        };
        let (files, mut changed) = (below(project, PARTS)?, BTreeMap::from_iter(patch.changed(project)?));
        below(&copy.root, ".")?.difference(&files).try_for_each(|old| fs::remove_file(copy.root.join(old)))?;
        for file in &files {
            // What is not touched is not compiled again.
            let (from, to) = (project.join(file), copy.root.join(file));
            let text = changed.remove(&from).map_or_else(|| fs::read(&from), |text| Ok(text.into_bytes()))?;
            if !fs::read(&to).is_ok_and(|old| old == text) {
                write(&to, text)?;
            }
        }
        Ok(copy)
    }

    /// A line as one types it, in the copy. Libraries are optimised by one degree (ours: see `lean`): that compiles in half the time, and the quick suites
    /// take seconds.
    pub(crate) fn sh(&self, line: &str) -> Command {
        let mut command = sh(&self.root, line);
        command.env("CARGO_TARGET_DIR", &self.build).env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("RUSTFLAGS", "--cap-lints allow");
        tell_tests(&mut command);
        command
    }

    /// Likewise of Cargo. A fault may make a loop endless, and the compiler runs some.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        self.sh(&format!("ulimit -t 1800; exec timeout --kill-after=5 1800 cargo {arguments}"))
    }

    /// Plants a fault in a build of its own, and runs its tests: which found it?
    pub(crate) fn verdict(&self, patch: &Patch) -> Result<Option<String>> {
        let (package, targets, arguments) = parts(&patch.tests);
        with_texts(&patch.changed(&self.root)?, || {
            let (builds, output) = quietly(&mut self.cargo(&format!("test -p {package} {targets} --no-run")))?;
            ensure!(builds, "{output}\n{} does not compile", patch.name);
            let (passed, output) = quietly(&mut self.cargo(&format!("test -p {package} {targets} -- {arguments}")))?;
            Ok((!passed).then(|| first_failure(&output)))
        })
    }
}

/// Tests are told to be quick, and which rows there are.
pub(crate) fn tell_tests(command: &mut Command) -> &mut Command {
    command
        .env_remove("FASTGCM_FULL")
        .env("FASTGCM_GATE", "1")
        .env("FASTGCM_QUICK", "1")
        .env("FASTGCM_ONLY", "aesni-avx,vpaes-ssse3,portable")
}

/// Does something while these files have other text.
pub(crate) fn with_texts<T>(texts: &[(PathBuf, String)], with: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = texts.iter().map(|(path, _)| fs::read(path)).collect::<Result<Vec<_>, _>>()?;
    texts.iter().try_for_each(|(path, text)| fs::write(path, text))?;
    let result = with();
    texts.iter().zip(before).try_for_each(|((path, _), bytes)| fs::write(path, bytes))?;
    result
}

/// The test that failed first, or how the program died.
pub(crate) fn first_failure(output: &str) -> String {
    let failed = output.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned));
    let died = || output.lines().find_map(|line| line.split_once("(signal: ").map(|(_, signal)| format!("signal {signal}")));
    failed.or_else(died).unwrap_or_else(|| "the program died".into())
}
