//! `cargo xtask faults`: faults are planted in a copy, and tests must find them.
//!
//! **The faults of others**, those of `docs/security-model.md`: `xtask/faults/f07.patch` plants F7, and the tests whose names begin with
//! `f07_` must fail. A table of faults that are excluded says little if nobody has seen the tests fail.
//!
//! **Kernel faults**, those of `xtask/faults/kernel.patch`: what goes wrong in code like ours. A wrong constant, lane, power, a mask off by
//! one, a lengths block that is missing, a reduction too many, a carry. The quick suite must find each.
//!
//! **Faults of the library**, **of files**, **of protocols** and **of parts**, those of `xtask/faults/library.patch`, `files.patch`,
//! `protocols.patch` and `parts.patch`: what is drawn, forced, wiped, counted, cut, flushed, refused or put together, and fields in the wrong place.
//! The tests that each patch names must find it.
//!
//! **Faults inside**, those of `xtask/faults/inside.patch`: the same where a vector has more than one block, which few machines can run, or
//! where a message would need gigabytes. The library's own tests take these paths on any machine, with `Portable` at one, two and four lanes,
//! and must find each.
//!
//! Most are planted in one build, each behind a switch ([`Together`]). They are patches applied in a copy, and not code behind a
//! `--cfg fault`: the kernels stay readable, and nothing that is wrong is ever in a file that could be shipped. Those few that need a
//! build of their own wait for `FASTGCM_FULL=1`, or for being named.
//!
//! The gate plants the faults of others, and sees that the patches of all fit.
//!
//! `cargo xtask faults [NAME]...`
//!
//! **Faults of Python**, those of `xtask/faults/python.patch`: in the jobs, the file system and the objects on S3. They need no build, but a
//! Python that has the wheel and what the tests want, and so the check `data` plants them: `cargo xtask faults --python PYTHON [NAME]...`.

use crate::{
    package::files,
    planted::{Copy, Patch, Verdict, quietly, with_texts},
    together::Together,
};
use std::{collections::BTreeSet, fs, path::Path, process::Command, time::Instant};

/// What notices kernel faults: seconds to run. (Hardly optimised, `open_to` reads the tag before the length is refused.)
const QUICK: &str = "--test known_answers --test api --test every_length --test memory --test guard_pages -- --skip f05_too_long";

/// What notices those that need more: lanes, and counters where no message gets.
const INSIDE: &str = "--lib -- gcm::";

/// Files of patches, what is said of each file, and the tests that must find each of its faults, unless the patch names them.
const FILES: [(&str, &str, Option<&str>); 6] = [
    ("kernel.patch", "kernel_faults", Some(QUICK)),
    ("library.patch", "library_faults", None),
    ("files.patch", "file_faults", None),
    ("protocols.patch", "protocol_faults", None),
    ("parts.patch", "part_faults", None),
    ("inside.patch", "inner_faults", Some(INSIDE)),
];

/// All of them; or those whose names are given.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    if let [option, python, names @ ..] = names
        && option == "--python"
    {
        return of_python(root, Path::new(python), names);
    }
    let folder = root.join("xtask/faults");
    let mut kinds = vec![("faults", patches(root)?)];
    check_page(root, &kinds[0].1)?;
    let copy = Copy::new(root)?;
    // Whoever changes the code that a patch changes shall hear of it now, not when the full run plants it.
    for file in files(&folder, "patch") {
        Patch::read(&file)?.iter().try_for_each(|patch| patch.check(&copy.root))?;
    }
    for (file, kind, tests) in FILES.iter().filter(|(file, ..)| folder.join(file).exists()) {
        if !crate::ci::full() && names.is_empty() {
            continue; // the gate plants the faults of others; that these still fit has just been seen
        }
        let mut patches = Patch::read(&folder.join(file))?;
        patches.iter_mut().for_each(|patch| patch.tests = tests.map_or(std::mem::take(&mut patch.tests), str::to_owned));
        kinds.push((kind, patches));
    }
    let mut all: BTreeSet<&str> = BTreeSet::new();
    if let Some(twice) = kinds.iter().flat_map(|(_, patches)| patches).find(|patch| !all.insert(&patch.name)) {
        return Err(format!("two faults are named {}", twice.name));
    }
    let wanted = |patch: &&Patch| names.is_empty() || names.contains(&patch.name);
    let patches = || kinds.iter().flat_map(|(_, patches)| patches).filter(wanted);

    // The library's own tests take longer to compile than all others together.
    let (inside, outside): (Vec<&Patch>, Vec<&Patch>) = patches().partition(|patch| patch.tests.starts_with("--lib"));
    let mut done = Done { alone_too: crate::ci::full() || !names.is_empty(), ..Done::default() };
    done.plant(&copy, &outside)?;
    if done.alone_too {
        done.plant(&copy, &inside)?; // from here on the programs are other ones
    } else {
        done.waiting.extend(inside);
    }
    if !done.missed.is_empty() {
        return Err(format!("planted, and not found:\n  {}", done.missed.join("\n  ")));
    }
    if !done.waiting.is_empty() {
        let waiting: Vec<&str> = done.waiting.iter().map(|patch| patch.name.as_str()).collect();
        println!("full run only, since they want builds of their own: {}", waiting.join(", "));
    }
    for (kind, patches) in &kinds {
        match patches.iter().filter(|patch| done.caught.contains(patch.name.as_str())).count() {
            0 => {}
            caught => println!("{kind} ok {caught}"),
        }
    }
    Ok(())
}

/// Plants each fault in a copy of the Python package, which Python finds before the one that is installed, and runs the tests that must find it.
fn of_python(root: &Path, python: &Path, names: &[String]) -> Result<(), String> {
    const SOURCES: &str = "crates/fastgcm-python/python/fastgcm";
    let copy = root.join("target/planted/python");
    let package = copy.join("fastgcm");
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    }
    fs::create_dir_all(&package).map_err(|e| format!("{}: {e}", package.display()))?;
    let (found, installed) = quietly(Command::new(python).args(["-c", "import fastgcm, os; print(os.path.dirname(fastgcm.__file__))"]))?;
    let libraries = files(Path::new(installed.trim()), "so");
    if !found || libraries.is_empty() {
        return Err(format!("{} has no fastgcm: {installed}", python.display()));
    }
    for file in libraries.iter().chain(&files(&root.join(SOURCES), "py")) {
        fs::copy(file, package.join(file.file_name().unwrap_or_default())).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let run = |tests: &str| {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300"]).arg(python).args(["-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]);
        quietly(command.args(tests.split_whitespace()).env("PYTHONPATH", &copy).current_dir(root))
    };
    let (mut done, mut controlled) = (Done { alone_too: true, ..Done::default() }, BTreeSet::new());
    let patches = Patch::read(&root.join("xtask/faults/python.patch"))?;
    for patch in patches.iter().filter(|patch| names.is_empty() || names.contains(&patch.name)) {
        if controlled.insert(&patch.tests) {
            let (passed, said) = run(&patch.tests)?; // without a fault; pytest fails if no test is named so
            if !passed {
                return Err(format!("{} fails without a fault:\n{said}", patch.tests));
            }
        }
        let changed = patch.changed(root)?.into_iter().map(|(path, text)| (package.join(path.file_name().unwrap_or_default()), text));
        let start = Instant::now();
        let (passed, said) = with_texts(&changed.collect::<Vec<_>>(), || run(&patch.tests))?;
        let failed = || said.lines().find_map(|line| line.strip_prefix("FAILED ")).unwrap_or("it does not end").to_owned();
        done.judge(patch, if passed { Verdict::Missed } else { Verdict::Caught { by: failed(), took: start.elapsed() } })?;
    }
    if !done.missed.is_empty() {
        return Err(format!("planted, and not found:\n  {}", done.missed.join("\n  ")));
    }
    println!("python_faults ok {}", done.caught.len());
    Ok(())
}

/// What came of it.
#[derive(Default)]
struct Done<'a> {
    /// Whether those are planted that want builds of their own.
    alone_too: bool,
    missed: Vec<String>,
    waiting: Vec<&'a Patch>,
    caught: BTreeSet<&'a str>,
}

impl<'a> Done<'a> {
    /// In one build, or alone.
    fn plant(&mut self, copy: &Copy, patches: &[&'a Patch]) -> Result<(), String> {
        if patches.is_empty() {
            return Ok(());
        }
        // Other features are another build.
        let (mut alone, patches): (Vec<&Patch>, Vec<&Patch>) = patches.iter().partition(|patch| patch.tests.contains("--features"));
        let together = Together::build(copy, &patches)?;
        for tests in patches.iter().map(|patch| &patch.tests).collect::<BTreeSet<_>>() {
            let said = together.control(copy, tests)?;
            if said.lines().filter(|line| line.starts_with("test result: ok. ")).all(|line| line.contains(" 0 passed")) {
                return Err(format!("no test is named so: {tests}"));
            }
        }
        for patch in patches {
            if together.holds(patch) {
                self.judge(patch, together.verdict(copy, patch)?)?;
            } else {
                alone.push(patch);
            }
        }
        if !self.alone_too {
            self.waiting.extend(alone);
            return Ok(());
        }
        alone.iter().try_for_each(|patch| self.judge(patch, copy.verdict(patch)?))
    }

    fn judge(&mut self, patch: &'a Patch, verdict: Verdict) -> Result<(), String> {
        match verdict {
            Verdict::Caught { by, took } => {
                self.caught.insert(&patch.name);
                println!("{} caught, {} s: {by} ({})", patch.name, took.as_secs(), patch.why);
            }
            Verdict::Missed => {
                println!("{} MISSED ({})", patch.name, patch.why);
                self.missed.push(format!("{} ({})", patch.name, patch.why));
            }
            Verdict::DoesNotCompile => return Err(format!("{} does not compile", patch.name)),
        }
        Ok(())
    }
}

/// `xtask/faults/f01.patch` and so on, in order.
fn patches(root: &Path) -> Result<Vec<Patch>, String> {
    let folder = root.join("xtask/faults");
    let mut patches = Vec::new();
    for file in files(&folder, "patch") {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem.strip_prefix('f').is_none_or(|number| number.parse::<u8>().is_err()) {
            continue;
        }
        let mut read = Patch::read(&file)?;
        match (read.pop(), read.is_empty()) {
            (Some(mut patch), true) if patch.name == stem && patch.tests.starts_with('-') => {
                patch.tests += &format!(" -- --nocapture {stem}_");
                patches.push(patch);
            }
            _ => return Err(format!("{}: one patch named {stem}, with the tests to run, is expected", file.display())),
        }
    }
    Ok(patches)
}

/// The page names each fault that has a patch with the test that bears its name, and each other fault as not built yet.
fn check_page(root: &Path, patches: &[Patch]) -> Result<(), String> {
    const PAGE: &str = "docs/security-model.md";
    let page = fs::read_to_string(root.join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    for n in 1..=21 {
        let row = page.lines().find(|line| line.starts_with(&format!("| F{n} |"))).ok_or(format!("{PAGE}: no row for F{n}"))?;
        let name = format!("f{n:02}");
        let planted = patches.iter().any(|patch| patch.name == name);
        let agrees = if planted { row.contains(&format!("`{name}_")) } else { row.contains("not built yet") };
        if !agrees {
            return Err(format!("{PAGE}: F{n} is {}, and its row says otherwise", if planted { "planted" } else { "not planted" }));
        }
    }
    Ok(())
}
