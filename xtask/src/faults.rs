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
    ci::full,
    planted::{Copy, Patch, with_texts},
    together::Together,
    tools::{emptied, files, output, quietly, sh},
};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Instant,
};

/// Files of patches, beside those of the faults of others.
const FILES: [&str; 6] = ["kernel", "library", "files", "protocols", "parts", "inside"];

/// All of them; or those whose names are given.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<()> {
    if let [option, python, names @ ..] = names
        && option == "--python"
    {
        return of_python(root, Path::new(python), names);
    }
    let copy = Copy::lean(root)?;
    let (mut kinds, mut all) = (Vec::new(), BTreeSet::new());
    for file in files(root, "xtask/faults", "*.patch")? {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for mut patch in Patch::read(&file)? {
            if stem != "lean" {
                patch.changed(&copy.root)?; // who changes the code that a patch changes shall hear of it now, not when the full run plants it
            }
            if stem.strip_prefix('f').is_some_and(|number| number.parse::<u8>().is_ok()) {
                ensure!(patch.name == stem && patch.tests.starts_with('-'), "{stem}.patch: {stem}, with the tests to run, is expected");
                patch.tests += &format!(" -- --nocapture {stem}_");
                kinds.push(("faults".to_owned(), patch));
            } else if FILES.contains(&&*stem) {
                kinds.push((format!("{stem}_faults"), patch));
            }
        }
    }
    ensure!(kinds.iter().all(|(_, patch)| all.insert(patch.name.clone())), "two faults have one name");
    check_page(root, &all)?;

    // The gate plants the faults of others, but for those that want builds of their own; that all fit has just been seen.
    let all_kinds = full() || !names.is_empty();
    let wanted = |(kind, patch): &&(String, Patch)| names.contains(&patch.name) || names.is_empty() && (full() || kind == "faults");
    let patches: Vec<&Patch> = kinds.iter().filter(wanted).map(|(_, patch)| patch).collect();
    // The library's own tests take longer to compile than all others together. Other features are another build.
    let (inside, outside): (Vec<&Patch>, Vec<&Patch>) = patches.into_iter().partition(|patch| patch.tests.starts_with("--lib"));
    let mut done = Done::default();
    for patches in if all_kinds { vec![outside, inside] } else { vec![outside] } {
        let (mut alone, patches): (Vec<&Patch>, Vec<&Patch>) = patches.iter().partition(|patch| patch.tests.contains("--features"));
        if !patches.is_empty() {
            let together = Together::build(&copy, &patches)?;
            patches.iter().map(|patch| &patch.tests).collect::<BTreeSet<_>>().into_iter().try_for_each(|tests| together.control(tests))?;
            let (within, others): (Vec<&Patch>, Vec<&Patch>) = patches.iter().partition(|patch| together.holds(patch));
            within.iter().try_for_each(|patch| done.judge(patch, || together.verdict(patch)))?;
            alone.extend(others);
        }
        alone.iter().filter(|_| all_kinds).try_for_each(|patch| done.judge(patch, || copy.verdict(patch)))?;
    }
    done.end()?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let caught = kinds.iter().filter(|(_, patch)| done.caught.contains(&patch.name));
    caught.for_each(|(kind, _)| *counts.entry(kind).or_default() += 1);
    counts.iter().for_each(|(kind, count)| println!("{kind} ok {count}"));
    Ok(())
}

/// Plants each fault in a copy of the Python package, which Python finds before the one that is installed, and runs the tests that must find it.
fn of_python(root: &Path, python: &Path, names: &[String]) -> Result<()> {
    let (copy, python) = (emptied(root.join("target/planted/python/fastgcm"))?, python.display());
    let installed = output(&mut sh(root, &format!("'{python}' -c 'import fastgcm, os; print(os.path.dirname(fastgcm.__file__))'")))?;
    let libraries = files(root, installed.trim(), "*.so")?;
    ensure!(!libraries.is_empty(), "{python} has no fastgcm: {installed}");
    for file in libraries.iter().chain(&files(root, "crates/fastgcm-python/python/fastgcm", "*.py")?) {
        fs::copy(file, copy.join(file.file_name().unwrap_or_default()))?;
    }
    let run = |tests: &str| {
        let pytest = format!("exec timeout --kill-after=5 300 '{python}' -B -m pytest -q -x -p no:cacheprovider {tests}");
        quietly(sh(root, &pytest).env("PYTHONPATH", copy.parent().unwrap_or(root)))
    };
    let (mut done, mut controlled) = (Done::default(), BTreeSet::new());
    let patches = Patch::read(&root.join("xtask/faults/python.patch"))?;
    for patch in patches.iter().filter(|patch| names.is_empty() || names.contains(&patch.name)) {
        if controlled.insert(&patch.tests) {
            let (passed, said) = run(&patch.tests)?; // without a fault; pytest fails if no test is named so
            ensure!(passed, "{} fails without a fault:\n{said}", patch.tests);
        }
        let changed = patch.changed(root)?.into_iter().map(|(path, text)| (copy.join(path.file_name().unwrap_or_default()), text));
        done.judge(patch, || {
            let (passed, said) = with_texts(&changed.collect::<Vec<_>>(), || run(&patch.tests))?;
            let failed = || said.lines().find_map(|line| line.strip_prefix("FAILED ")).unwrap_or("it does not end").to_owned();
            Ok((!passed).then(failed))
        })?;
    }
    done.end()?;
    println!("python_faults ok {}", done.caught.len());
    Ok(())
}

/// What came of it.
#[derive(Default)]
struct Done {
    missed: Vec<String>,
    caught: BTreeSet<String>,
}

impl Done {
    /// `plant` says which test found it, if one did.
    fn judge(&mut self, patch: &Patch, plant: impl FnOnce() -> Result<Option<String>>) -> Result<()> {
        let (start, Patch { name, why, .. }) = (Instant::now(), patch);
        match plant()? {
            Some(by) => {
                println!("{name} caught, {} s: {by} ({why})", start.elapsed().as_secs());
                self.caught.insert(name.clone());
            }
            None => self.missed.push(format!("{name} ({why})")),
        }
        Ok(())
    }

    fn end(&self) -> Result<()> {
        ensure!(self.missed.is_empty(), "planted, and not found:\n  {}", self.missed.join("\n  "));
        Ok(())
    }
}

/// The page names each fault that has a patch with the test that bears its name, and each other fault as not built yet.
fn check_page(root: &Path, planted: &BTreeSet<String>) -> Result<()> {
    let page = fs::read_to_string(root.join("docs/security-model.md"))?;
    for n in 1..=21 {
        let (row, name) = (page.lines().find(|line| line.starts_with(&format!("| F{n} |"))), format!("f{n:02}"));
        let row = row.with_context(|| format!("docs/security-model.md: no row for F{n}"))?;
        let agrees = if planted.contains(&name) { row.contains(&format!("`{name}_")) } else { row.contains("not built yet") };
        ensure!(agrees, "docs/security-model.md: whether F{n} is planted, its row says otherwise");
    }
    Ok(())
}
