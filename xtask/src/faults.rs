//! `cargo xtask faults`: faults are planted in a copy, and tests must find them.
//!
//! **The faults of others**, those of `docs/security-model.md`: `xtask/faults/f07.patch` plants F7, and the tests whose names begin with
//! `f07_` must fail. A table of faults that are excluded says little if nobody has seen the tests fail.
//!
//! **Kernel faults**, those of `xtask/faults/kernel.patch`: what goes wrong in code like ours. A wrong constant, lane, power, a mask off by
//! one, a lengths block that is missing, a reduction too many, a carry. The quick suite must find each.
//!
//! **Faults inside**, those of `xtask/faults/inside.patch`: the same where a vector has more than one block, which few machines can run, or
//! where a message would need gigabytes. The library's own tests take these paths on any machine, with `Portable` at one, two and four lanes,
//! and must find each.
//!
//! Most are planted in one build, each behind a switch ([`Together`]). They are patches applied in a copy, and not code behind a
//! `--cfg fault`: the kernels stay readable, and nothing that is wrong is ever in a file that could be shipped. Those few that need a
//! build of their own wait for `FASTGCM_FULL=1`, or for being named.
//!
//! `cargo xtask faults [NAME]...`

use crate::{
    planted::{Copy, Patch, Verdict},
    together::Together,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// What notices kernel faults: seconds to run.
const QUICK: (&str, &str) = (
    "--test known_answers --test api --test every_length --test memory --test guard_pages",
    "--skip f05_too_long", // hardly optimised, `open_to` reads the tag before the length is refused
);

/// What notices those that need more: lanes, and counters where no message gets.
const INSIDE: (&str, &str) = ("--lib", "gcm::");

/// All of them; or those whose names are given.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    let named = patches(root)?;
    check_page(root, &named)?;
    let copy = Copy::new(root)?;
    // Whoever changes the code that a patch changes shall hear of it now, not when the full run plants it.
    for file in crate::package::files(&root.join("xtask/faults"), "patch") {
        Patch::read(&file)?.iter().try_for_each(|patch| patch.check(&copy.root))?;
    }
    let of = |file: &str, tests: &str| -> Result<Vec<Patch>, String> {
        let mut patches = Patch::read(&root.join("xtask/faults").join(file))?;
        patches.iter_mut().for_each(|patch| patch.tests = tests.into());
        Ok(patches)
    };
    let (kernel, inner) = (of("kernel.patch", QUICK.0)?, of("inside.patch", INSIDE.0)?);
    let wanted = |patch: &&Patch| names.is_empty() || names.contains(&patch.name);
    let [named, kernel, inner] = [&named, &kernel, &inner].map(|patches| patches.iter().filter(wanted).collect::<Vec<_>>());

    // The library's own tests take longer to compile than all others together.
    let (inside, outside): (Vec<&Patch>, Vec<&Patch>) = named.iter().partition(|patch| patch.tests == "--lib");
    let together = build(&copy, &[&outside[..], &kernel].concat())?;
    let mut done = Done::default();
    let kernels = done.plant_in_kernels(&copy, &together, &kernel, QUICK)?;
    let alone = done.plant(&copy, &together, &outside)?;
    let mut inner_caught = 0;
    if crate::ci::full() || !names.is_empty() {
        // From here on the programs are other ones.
        done.plant_alone(&copy, &alone)?;
        let within = [&inside[..], &inner].concat();
        if !within.is_empty() {
            let together = build(&copy, &within)?;
            inner_caught = done.plant_in_kernels(&copy, &together, &inner, INSIDE)?;
            let alone = done.plant(&copy, &together, &inside)?;
            done.plant_alone(&copy, &alone)?;
        }
    } else {
        done.waiting
            .extend(alone.iter().chain(&inside).map(|patch| patch.name.clone()).chain([format!("{} of inside.patch", inner.len())]));
    }
    if !done.missed.is_empty() {
        return Err(format!("planted, and not found:\n  {}", done.missed.join("\n  ")));
    }
    if !done.waiting.is_empty() {
        println!("full run only, since they want builds of their own: {}", done.waiting.join(", "));
    }
    println!("faults ok {} of {}", done.caught - kernels - inner_caught, named.len());
    println!("kernel_faults ok {kernels} of {}", kernel.len());
    if inner_caught > 0 {
        println!("inner_faults ok {inner_caught} of {}", inner.len());
    }
    Ok(())
}

/// One build for all of them, with all tests that any of them names.
fn build(copy: &Copy, patches: &[&Patch]) -> Result<Together, String> {
    let targets: BTreeSet<&str> =
        patches.iter().flat_map(|patch| patch.tests.split("--").map(str::trim)).filter(|t| !t.is_empty()).collect();
    let targets: String = targets.iter().map(|target| format!(" --{target}")).collect();
    let switched: Vec<&Patch> = patches.iter().copied().filter(|patch| !seen_in_sources(patch)).collect();
    Together::build(copy, &switched, &targets)
}

/// What came of it.
#[derive(Default)]
struct Done {
    missed: Vec<String>,
    waiting: Vec<String>,
    caught: usize,
}

impl Done {
    /// Each is looked for by the tests that bear its name. Those are left over that want builds of their own.
    fn plant<'a>(&mut self, copy: &Copy, together: &Together, patches: &[&'a Patch]) -> Result<Vec<&'a Patch>, String> {
        let tests = control(copy, together, patches)?;
        let mut alone = Vec::new();
        for &patch in patches {
            let arguments = format!("--nocapture {}_", patch.name);
            let verdict = if seen_in_sources(patch) {
                together.verdict_on_sources(copy, patch, &arguments)?
            } else if together.holds(patch) {
                together.verdict(copy, &patch.name, &patch.tests, &arguments)?
            } else {
                alone.push(patch);
                continue;
            };
            self.judge(patch, verdict, &format!(", of {}", tests[&patch.name]))?;
        }
        Ok(alone)
    }

    fn plant_alone(&mut self, copy: &Copy, patches: &[&Patch]) -> Result<(), String> {
        for patch in patches {
            let verdict = copy.verdict(patch, &patch.tests, &format!("--nocapture {}_", patch.name))?;
            self.judge(patch, verdict, "")?;
        }
        Ok(())
    }

    /// Each is looked for by the same tests. How many were caught.
    fn plant_in_kernels(
        &mut self,
        copy: &Copy,
        together: &Together,
        patches: &[&Patch],
        (targets, arguments): (&str, &str),
    ) -> Result<usize, String> {
        let before = self.caught;
        if !patches.is_empty() {
            together.control(copy, targets, arguments)?;
        }
        for patch in patches {
            if !together.holds(patch) {
                return Err(format!("`{}` has no place beside the others, or is neither expression nor statement", patch.name));
            }
            let verdict = together.verdict(copy, &patch.name, targets, arguments)?;
            self.judge(patch, verdict, "")?;
        }
        Ok(self.caught - before)
    }

    fn judge(&mut self, patch: &Patch, verdict: Verdict, of: &str) -> Result<(), String> {
        match verdict {
            Verdict::Caught { by, took } => {
                self.caught += 1;
                println!("{} caught, {} s{of}: {by} ({})", patch.name, took.as_secs(), patch.why);
            }
            Verdict::Missed => self.missed.push(format!("{} ({})", patch.name, patch.why)),
            Verdict::DoesNotCompile => return Err(format!("{} does not compile", patch.name)),
        }
        Ok(())
    }
}

/// Tests that read the sources find it: nothing need be compiled.
fn seen_in_sources(patch: &Patch) -> bool {
    patch.tests == "--test source"
}

/// Without a fault there are tests of each name, and they pass. How many there are.
fn control(copy: &Copy, together: &Together, patches: &[&Patch]) -> Result<BTreeMap<String, usize>, String> {
    let mut tests = BTreeMap::new();
    for patch in patches {
        let prefix = format!("{}_", patch.name);
        let said = together.control(copy, &patch.tests, &prefix)?;
        let names = said.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok"));
        let count = names.filter(|name| name.rsplit("::").next().is_some_and(|name| name.starts_with(&prefix))).count();
        if count == 0 {
            return Err(format!("no test is named {prefix}...: {}", patch.tests));
        }
        tests.insert(patch.name.clone(), count);
    }
    Ok(tests)
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
