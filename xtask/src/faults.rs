//! `cargo xtask faults [NAME]...`: plants the faults of each crate's `faults.txt` in a copy (`planted.rs`), where tests must find them. A test that
//! has never failed proves little.
//!
//! These files have faults that no mutation operator makes: those of other libraries (F1 to F21 of docs/security-model.md), wrong powers, lanes and
//! constants in the kernels, secrets that remain in memory or change the time of a call, salts that are not drawn, files that are
//! named before they are on the disk. `cargo xtask mutants` does the rest.
//!
//! The gate plants F1 to F21, and checks that all others still have their place. The full run plants all, or the i-th part of n with
//! `FASTGCM_SHARD=i/n`. `cargo xtask faults --proof [NAME]...` uses the proof of machine code instead of the tests, and prints the faults that it
//! does not find: docs/proof.md explains these. Faults of Python need a Python with the wheel and the packages of its tests: the check `data` plants
//! them with `cargo xtask faults --python PYTHON [NAME]...`.

use crate::{
    planted::{Copy, Fault, PROOF, Verdict},
    tools::{full, shard},
};
use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::{collections::BTreeSet, path::Path, time::Instant};

/// Plants all faults, or the named ones.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (python, proof, names) = match arguments {
        [option, python, names @ ..] if option == "--python" => (Some(python), false, names),
        [option, names @ ..] if option == "--proof" => (None, true, names),
        names => (None, false, names),
    };
    let faults = Fault::read(root)?;
    let lost: Vec<String> = faults.iter().filter_map(|fault| Some(format!("{:#}", fault.planted(root).err()?))).collect();
    ensure!(lost.is_empty(), "faults.txt: the place of these faults has changed, adapt their lines:\n  {}", lost.join("\n  "));
    if let Some(unknown) = names.iter().find(|name| faults.iter().all(|fault| fault.name != **name)) {
        bail!("no faults.txt has {unknown}");
    }
    if root.join(PAGE).exists() {
        check_page(root, &faults)?;
    }
    let is_wanted = |fault: &&Fault| match (names.is_empty(), python, is_published(fault)) {
        (false, ..) => names.contains(&fault.name),
        (true, Some(_), _) => fault.of == "fastgcm-python",
        (true, None, _) if proof => fault.of == "fastgcm",
        (true, None, published) => fault.of != "fastgcm-python" && (full() || published) && fault.tests != "proof",
    };
    let (i, n) = if names.is_empty() { shard() } else { (1, 1) };
    let wanted = faults.iter().filter(is_wanted).enumerate().filter(|(number, _)| number % n == i - 1).map(|(_, fault)| fault);
    let (copy, mut caught, mut missed) = (Copy::lean(root)?, 0, Vec::new());
    let line = |fault: &Fault| -> Result<String> {
        if proof {
            return Ok(PROOF.to_owned());
        }
        let Some(python) = python else { return Ok(fault.line()) };
        // Python finds the copy's package before the installed one. It has the libraries of the installed one, or its own (`built`).
        let package = copy.root.join("crates/fastgcm-python/python/fastgcm").display().to_string();
        let installed = format!("cp $('{python}' -c 'import fastgcm, os; print(os.path.dirname(fastgcm.__file__))')/*.so '{package}'");
        let built = format!("cargo build -p fastgcm-python\ncp ../build/debug/libfastgcm_python.so '{package}/_fastgcm.abi3.so'");
        let (library, tests) = fault.tests.strip_prefix("built ").map_or((installed, &*fault.tests), |tests| (built, tests));
        let pytest = format!("'{python}' -B -m pytest -q -x -p no:cacheprovider {tests}");
        Ok(format!("{library}\nPYTHONPATH='{package}/..' timeout --kill-after=5 300 {pytest}"))
    };
    let wanted = wanted.map(|fault| Ok((fault, line(fault)?))).collect::<Result<Vec<_>>>()?;
    // Controls come first: they share one library, which would be compiled again after a fault.
    wanted.iter().map(|(_, line)| line).collect::<BTreeSet<_>>().into_iter().try_for_each(|line| copy.control(line))?;
    for (fault, line) in wanted {
        let start = Instant::now();
        match copy.verdict(&fault.planted(&copy.root)?, &line)? {
            Verdict::Caught(by) => {
                println!("{} caught, {} s: {by} ({})", fault.name, start.elapsed().as_secs(), fault.why);
                caught += 1;
            }
            Verdict::Missed if proof && names.is_empty() => {
                println!("{} not refuted, {} s ({})", fault.name, start.elapsed().as_secs(), fault.why)
            }
            Verdict::Missed => missed.push(format!("{} ({})", fault.name, fault.why)),
            Verdict::Unbuilt(output) => missed.push(format!("{} does not compile:\n{output}", fault.name)),
        }
    }
    ensure!(missed.is_empty(), "planted, and not found:\n  {}", missed.join("\n  "));
    println!("{caught} faults caught");
    Ok(())
}

/// Returns true for F1 to F21.
fn is_published(fault: &Fault) -> bool {
    fault.name.strip_prefix('f').is_some_and(|number| number.len() == 2 && number.parse::<u8>().is_ok())
}

const PAGE: &str = "docs/security-model.md";

/// Checks that the page names each fault of other libraries with the test that bears its name.
fn check_page(root: &Path, faults: &[Fault]) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE))?;
    for n in 1..=21 {
        let name = format!("f{n:02}");
        let row = page.lines().find(|line| line.starts_with(&format!("| F{n} |"))).with_context(|| format!("{PAGE}: no row for F{n}"))?;
        let is_planted = faults.iter().any(|fault| fault.name == name);
        ensure!(is_planted && row.contains(&format!("`{name}_")), "{PAGE}: F{n} is not planted, or its row names no test `{name}_...`");
    }
    // Each cell of the table of adapters has names of faults, or a reason.
    let table = page.split("\n## One fault, all adapters\n").nth(1).and_then(|rest| rest.split("\n## ").next());
    for row in table.with_context(|| format!("{PAGE}: no table of adapters"))?.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells = row.trim_matches('|').split('|').filter(|cell| !cell.trim().is_empty()).count();
        ensure!(cells == 8, "{PAGE}: an adapter has neither a fault nor a reason: {row}");
        let is_name = |word: &&str| word.bytes().all(|c| c == b'-' || c.is_ascii_lowercase() || c.is_ascii_digit());
        let lost = row.split('`').skip(1).step_by(2).filter(is_name).find(|name| faults.iter().all(|fault| fault.name != **name));
        ensure!(lost.is_none(), "{PAGE}: {lost:?} is no planted fault");
    }
    Ok(())
}
