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
//! `cargo test`: `[-p PACKAGE] TARGETS [-- ARGUMENTS]`. Without a package they are the library's.
//!
//! **The copy** is lean: it has three back ends, one for each way of messages (those of [`KEPT`]). The other rows are the
//! same code once more, and five rows take a minute to compile, two take ten seconds.

use crate::package::show;
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Rows of the table that the copy keeps; the others are named there, and not compiled.
pub(crate) const KEPT: [&str; 3] = ["aesni-avx", "vpaes-ssse3", "portable"];

/// A fault to plant.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) name: String,
    pub(crate) why: String,
    /// What must fail, as one types it behind `cargo test`.
    pub(crate) tests: String,
    pub(crate) changes: Vec<Change>,
}

/// Text that goes, and the lines that come.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
}

impl Patch {
    /// All patches of a file.
    pub(crate) fn read(file: &Path) -> Result<Vec<Self>, String> {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut patches: Vec<Self> = Vec::new();
        let mut current = String::new();
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: &str| format!("{}:{}: {what}", file.display(), number + 1);
            if let Some(title) = line.strip_prefix("# ") {
                let (name, why) = title.split_once(": ").ok_or(wrong("`# name: why` is expected"))?;
                patches.push(Self { name: name.into(), why: why.into(), tests: String::new(), changes: Vec::new() });
                continue;
            }
            let Some(patch) = patches.last_mut() else {
                if line.is_empty() { continue } else { return Err(wrong("the first line of a patch is `# name: why`")) }
            };
            if let Some(tests) = line.strip_prefix("tests: ") {
                patch.tests = tests.trim().into();
            } else if let Some(path) = line.strip_prefix("--- ") {
                current = path.trim().into();
            } else if let Some(from) = line.strip_prefix('-') {
                patch.changes.push(Change { file: current.clone(), from: from.trim().into(), to: Vec::new() });
            } else if let Some(to) = line.strip_prefix('+') {
                patch.changes.last_mut().ok_or(wrong("`+` without `-`"))?.to.push(to.trim().into());
            } else if !line.is_empty() {
                return Err(wrong("neither `# `, `tests: `, `--- `, `-` nor `+`"));
            }
        }
        match patches.iter().find(|patch| patch.changes.is_empty()) {
            Some(empty) => Err(format!("{}: `{}` changes nothing", file.display(), empty.name)),
            None if patches.is_empty() => Err(format!("{}: no patch", file.display())),
            None => Ok(patches),
        }
    }

    /// Tests that read the sources find it: nothing need be compiled.
    pub(crate) fn seen_in_sources(&self) -> bool {
        self.tests.starts_with("--test source")
    }

    /// Fails unless what it changes is there, in a folder with the project's files.
    pub(crate) fn check(&self, root: &Path) -> Result<(), String> {
        self.changed(root).map(drop)
    }

    /// The changed files, as (path, text). Fails if what is to change does not stand there exactly once.
    pub(crate) fn changed(&self, root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for Change { file, from, to } in &self.changes {
            let path = root.join(file);
            if !files.iter().any(|(other, _)| *other == path) {
                let text = fs::read_to_string(&path).map_err(|e| format!("{}: {file}: {e}", self.name))?;
                files.push((path.clone(), text));
            }
            let (_, text) = files.iter_mut().find(|(other, _)| *other == path).ok_or("lost")?;
            match text.matches(from.as_str()).count() {
                1 => *text = text.replacen(from.as_str(), &to.join("\n"), 1),
                n => return Err(format!("{}: {file} has {n} times, not once: {from}", self.name)),
            }
        }
        Ok(files)
    }
}

/// Package, targets and arguments of what one types behind `cargo test`.
pub(crate) fn parts(tests: &str) -> (&str, &str, &str) {
    let (targets, arguments) = tests.split_once(" -- ").unwrap_or((tests, ""));
    let (package, targets) = targets.strip_prefix("-p ").and_then(|rest| rest.split_once(' ')).unwrap_or(("fastgcm", targets));
    (package, targets, arguments)
}

/// The lean copy.
pub(crate) struct Copy {
    pub(crate) root: PathBuf,
    build: PathBuf,
}

impl Copy {
    /// Copies what has changed since the last time, so that what was compiled is of use still.
    pub(crate) fn new(project: &Path) -> Result<Self, String> {
        let root = project.join("target/planted/copy");
        let files = below(project);
        for old in below(&root).iter().filter(|old| !files.contains(old)) {
            fs::remove_file(root.join(old)).map_err(|e| format!("{}: {e}", old.display()))?;
        }
        for file in &files {
            let bytes = fs::read(project.join(file)).map_err(|e| format!("{}: {e}", file.display()))?;
            write(&root.join(file), &lean(file, bytes)?)?;
        }
        Ok(Self { root, build: project.join("target/planted/build") })
    }

    /// `cargo`, in the copy. Options come before `--`.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        let mut command = self.command("timeout");
        // A fault may make a loop endless, and the compiler runs some.
        command.args(["--kill-after=5", "1800", "prlimit", "--cpu=1800", "cargo"]).args(arguments.split_whitespace());
        command
    }

    /// A program in the copy; what Cargo builds there is built likewise.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.build);
        // Optimised by one degree (the library: see `lean`): compiles in half the time, and the quick suites take seconds.
        command.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("RUSTFLAGS", "--cap-lints allow");
        self.tests_environment(&mut command);
        command
    }

    /// What the tests are told: to be quick, and which rows there are.
    pub(crate) fn tests_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_remove("FASTGCM_FULL")
            .env("FASTGCM_GATE", "1")
            .env("FASTGCM_QUICK", "1")
            .env("FASTGCM_ONLY", KEPT.join(","))
            .env("RUST_BACKTRACE", "0")
    }

    /// Plants a fault, and runs its tests.
    pub(crate) fn verdict(&self, patch: &Patch) -> Result<Verdict, String> {
        let start = Instant::now();
        let (package, targets, arguments) = parts(&patch.tests);
        self.with(patch, || {
            let (builds, output) = quietly(&mut self.cargo(&format!("test -p {package} {targets} --no-run")))?;
            if !builds {
                println!("{output}");
                return Ok(Verdict::DoesNotCompile);
            }
            let (passed, output) = quietly(&mut self.cargo(&format!("test -p {package} {targets} -- {arguments}")))?;
            Ok(if passed { Verdict::Missed } else { Verdict::Caught { by: first_failure(&output), took: start.elapsed() } })
        })
    }

    /// Plants a fault, does something, and takes the fault out again.
    pub(crate) fn with<T>(&self, patch: &Patch, with: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        with_texts(&patch.changed(&self.root)?, with)
    }
}

/// Does something while these files have other text.
pub(crate) fn with_texts<T>(texts: &[(PathBuf, String)], with: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let mut before = Vec::new();
    for (path, text) in texts {
        before.push((path, fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?));
        fs::write(path, text).map_err(|e| e.to_string())?;
    }
    let result = with();
    for (path, bytes) in before {
        fs::write(path, bytes).map_err(|e| e.to_string())?;
    }
    result
}

/// What became of a planted fault.
pub(crate) enum Verdict {
    Caught {
        by: String,
        took: Duration,
    },
    Missed,
    /// The patch is no fault but a mistake of ours.
    DoesNotCompile,
}

/// Runs a command; whether it succeeded, and all that it said.
pub(crate) fn quietly(command: &mut Command) -> Result<(bool, String), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{}: {e}", show(command)))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), said))
}

/// The test that failed first, or how the program died.
pub(crate) fn first_failure(output: &str) -> String {
    let failed = output.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned));
    let died = || output.lines().find_map(|line| line.split_once("(signal: ").map(|(_, signal)| format!("signal {signal}")));
    failed.or_else(died).unwrap_or_else(|| "the program died".into())
}

/// All files of the project that the copy needs, relative to it.
fn below(project: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for top in ["crates", "lab/model", "lab/step", "lab/fuzz", "xtask", "testdata"] {
        let mut folders = vec![project.join(top)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() && !path.ends_with("target") {
                    folders.push(path);
                } else if path.is_file() {
                    files.push(path.strip_prefix(project).unwrap_or(&path).to_owned());
                }
            }
        }
    }
    files.extend(["Cargo.toml", "Cargo.lock", "lab/Cargo.toml"].map(PathBuf::from).into_iter().filter(|file| project.join(file).exists()));
    files
}

/// A file as it is in the copy: `on x86` becomes `on nowhere` for all rows but [`KEPT`], and the two macros learn that word. The counts
/// of work are left out: no fault is theirs to find, and they take longer to compile than all else.
fn lean(file: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let replaced = |text: String, from: &str, to: &str| {
        if text.contains(from) { Ok(text.replacen(from, to, 1)) } else { Err(format!("{}: `{from}` is not there", file.display())) }
    };
    if file.ends_with("crates/fastgcm/src/isa/mod.rs") {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        let text = replaced(text, "macro_rules! on {", "macro_rules! on { (nowhere => $some:expr) => { None };")?;
        let text = replaced(text, "macro_rules! item_on {", "macro_rules! item_on { (nowhere => $($item:tt)*) => {};")?;
        return Ok(text.into_bytes());
    }
    if file.ends_with("crates/fastgcm/src/gcm/mod.rs") {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        return Ok(replaced(text, "#[cfg(all(test, feature = \"internals\"))] // likewise\n", "#[cfg(test)]\n")?.into_bytes());
    }
    if file == Path::new("Cargo.toml") {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        return Ok(
            replaced(text, "[profile.dev.package.fastgcm]\nopt-level = 2", "[profile.dev.package.fastgcm]\nopt-level = 1")?.into_bytes()
        );
    }
    if file.ends_with("crates/fastgcm/src/backend.rs") {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        let kept = |line: &str| KEPT.iter().any(|name| line.contains(&format!("= \"{name}\" ")));
        let lines = text.lines().map(|line| if kept(line) { line.to_owned() } else { line.replace("\" on x86 ", "\" on nowhere ") });
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        return if text.contains("on nowhere ") { Ok(text.into_bytes()) } else { Err("backend.rs: no row to leave out".into()) };
    }
    Ok(bytes)
}

/// Writes a file unless it is so already: what is not touched is not compiled again.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = path.parent().ok_or("no folder")?;
    fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes)).map_err(|e| format!("{}: {e}", path.display()))
}
