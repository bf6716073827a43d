//! `cargo xtask faults`: each fault of `docs/security-model.md` is planted in a copy, and the tests that bear its name must find it.
//!
//! `xtask/faults/f07.patch` plants F7, and every test whose name begins with `f07_` is run. A table of faults that are excluded says little
//! if nobody has seen the tests fail.

use crate::planted::{Copy, Patch, Verdict, quietly};
use std::{collections::BTreeSet, fs, path::Path};

/// All of them; or those whose names are given.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    let patches = patches(root)?;
    check_page(root, &patches)?;
    let wanted: Vec<&Patch> = patches.iter().filter(|patch| names.is_empty() || names.contains(&patch.name)).collect();
    let copy = Copy::new(root)?;

    // Whoever changes the code that a patch changes shall hear of it now, not when the full run plants it.
    for file in crate::package::files(&root.join("xtask/faults"), "patch") {
        Patch::read(&file)?.iter().try_for_each(|patch| patch.check(&copy.root))?;
    }

    // The control: without a fault there are such tests, and they pass.
    let targets: BTreeSet<&str> = wanted.iter().flat_map(|patch| patch.tests.split(" --").map(|t| t.trim_start_matches("--"))).collect();
    let targets = targets.iter().map(|target| format!("--{target}")).collect::<Vec<_>>().join(" ");
    let prefixes: Vec<String> = wanted.iter().map(|patch| format!("{}_", patch.name)).collect();
    let (passed, output) = quietly(&mut copy.cargo(&format!("test -p fastgcm {targets} -- {}", prefixes.join(" "))))?;
    if !passed {
        return Err(format!("{output}\nthe tests fail without a planted fault"));
    }
    let passed_tests: Vec<&str> = output
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"))
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect();

    let mut missed = Vec::new();
    for patch in &wanted {
        let prefix = format!("{}_", patch.name);
        let tests = passed_tests.iter().filter(|test| test.starts_with(&prefix)).count();
        if tests == 0 {
            return Err(format!("no test is named {prefix}...: {}", patch.tests));
        }
        match copy.verdict(patch, &patch.tests, &format!("--nocapture {prefix}"))? {
            Verdict::Caught { by, took } => println!("{} caught, {} s, of {tests}: {by} ({})", patch.name, took.as_secs(), patch.why),
            Verdict::Missed => missed.push(format!("{} ({})", patch.name, patch.why)),
            Verdict::DoesNotCompile => return Err(format!("{}.patch does not compile", patch.name)),
        }
    }
    if !missed.is_empty() {
        return Err(format!("planted, and not found by the tests of that name:\n  {}", missed.join("\n  ")));
    }
    println!("faults ok {}", wanted.len());
    Ok(())
}

/// `xtask/faults/f01.patch` and so on, in order.
fn patches(root: &Path) -> Result<Vec<Patch>, String> {
    let folder = root.join("xtask/faults");
    let mut patches = Vec::new();
    for file in crate::package::files(&folder, "patch") {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem.strip_prefix('f').is_none_or(|number| number.parse::<u8>().is_err()) {
            continue;
        }
        let mut read = Patch::read(&file)?;
        match (read.pop(), read.is_empty()) {
            (Some(patch), true) if patch.name == stem && patch.tests.starts_with("--") => patches.push(patch),
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
