//! Every check of the project: `.ci/checks` has their commands. A suite that did not run is not green: each prints `NAME ok COUNT` once
//! it has asserted its count, and `.ci/suites` says which suites each check must run (`suites.rs`). What a machine cannot run prints
//! `SKIPPED what: why`, which fails unless `.ci/allowed-skips` has a line that `what` begins with, or the processor lacks what a back
//! end needs.
//!
//! What is tested is said there, and by no variable that happens to be set: checks do not see those (`CLEARED`).
//!
//! The gate is our own tests, on the rows of this machine, on AArch64, and where the machine lacks VAES on a processor that is emulated.
//! `FASTGCM_FULL=1` runs all that the gate runs a sample of (traces, planted faults, ...), what is long (fuzzing, builds of every kind) and
//! other people's programs. `FASTGCM_SHARD=i/n` runs the i-th part of n of that: on n machines side by side, the whole.

use crate::{
    suites::{Machine, Row, Skips, Suites, rows},
    tools::{sh, write},
};
use anyhow::{Context, Result, anyhow, bail, ensure};
use fs_err as fs;
use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

/// A check of `.ci/checks`.
struct Check<'a> {
    name: &'a str,
    /// When it runs, and how.
    words: Vec<&'a str>,
    commands: &'a str,
}

impl Check<'_> {
    fn is(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// If it does not run on this processor as it is: the rows that it has nevertheless (`Machine::elsewhere`).
    fn elsewhere(&self) -> Option<Option<&str>> {
        self.words.iter().find_map(|word| word.strip_prefix("elsewhere")).map(|on| on.strip_prefix(" on "))
    }

    fn in_gate(&self, here: &Machine, rows: &[Row]) -> bool {
        let lacks = || matches!(self.elsewhere(), Some(Some(feature)) if here.lacks(rows, feature));
        self.is("gate") || self.is("rows lack") && lacks()
    }

    /// Runs it to success, and tells each line that it prints. A skip that nobody allowed is a failure.
    fn run(&self, mut bash: Command, allowed: impl Fn(&str) -> bool, mut say: impl FnMut(String)) -> Result<()> {
        say(format!("== {}", self.name));
        env::vars_os().filter(|(name, _)| is_cleared(&name.to_string_lossy())).for_each(|(name, _)| _ = bash.env_remove(name));
        let mut child = bash.env("XTASK", own_program()).stdout(Stdio::piped()).spawn()?;
        let mut skipped = Vec::new();
        for line in BufReader::new(child.stdout.take().context("no output")?).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            // The harness may have begun the line: `test name ... SKIPPED what: why`.
            skipped.extend(line.split_once("SKIPPED ").filter(|(_, skip)| !allowed(skip)).map(|(_, skip)| skip.to_owned()));
            say(line);
        }
        let status = child.wait()?;
        ensure!(status.success(), "{status}");
        ensure!(skipped.is_empty(), "skipped, and not in .ci/allowed-skips, or this processor has the flags: {}", skipped.join("; "));
        Ok(())
    }
}

/// What came of a check.
struct Ran {
    /// Suites that `.ci/suites` does not have; or what is wrong.
    new: Result<Vec<String>>,
    lines: Vec<String>,
    seconds: u64,
}

/// `FASTGCM_FULL`: everything, not a sample.
pub(crate) fn full() -> bool {
    env::var_os("FASTGCM_FULL").is_some()
}

/// Our part of some work: all of it, or with `FASTGCM_SHARD=i/n` (i from 1 on) every n-th piece.
pub(crate) fn shard() -> (usize, usize) {
    let Ok(shard) = env::var("FASTGCM_SHARD") else { return (1, 1) };
    let parts = shard.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).unwrap_or_else(|| panic!("FASTGCM_SHARD={shard} is not i/n with i from 1 to n"))
}

/// Variables of the environment, by the beginnings of their names, that would change what is tested, or how it is built.
const CLEARED: &str = "FASTGCM_ RUSTFLAGS RUSTDOCFLAGS RUSTC_BOOTSTRAP RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUST_MIN_STACK RUST_TEST_ CARGO_BUILD_ \
    CARGO_ENCODED_ CARGO_PROFILE_ CARGO_TARGET_ CARGO_UNSTABLE_ PROPTEST_ QEMU_ VALGRIND_OPTS";

/// Of these, what only says how much is run, and where.
const KEPT: &str = "FASTGCM_FULL FASTGCM_SHARD CARGO_BUILD_JOBS CARGO_BUILD_TARGET_DIR CARGO_TARGET_DIR";

fn is_cleared(name: &str) -> bool {
    CLEARED.split(' ').any(|begins| name.starts_with(begins)) && !KEPT.split(' ').any(|kept| kept == name)
}

/// Where this program is. A check that builds the workspace links it anew, and Linux then calls the one that runs deleted.
pub(crate) fn own_program() -> PathBuf {
    let own = env::current_exe().unwrap_or_else(|_| "cargo-xtask".into());
    own.to_str().and_then(|own| own.strip_suffix(" (deleted)")).map_or(own.clone(), PathBuf::from)
}

/// The commands of all checks have in front of them what stands before the first.
fn checks(text: &str) -> Result<(&str, Vec<Check<'_>>)> {
    let mut sections = text.split("\n== ");
    let before = sections.next().unwrap_or_default();
    let check = |section| {
        let (head, commands) = str::split_once(section, '\n')?;
        let (name, words) = head.split_once(": ")?;
        Some(Check { name, words: words.split(", ").collect(), commands })
    };
    Ok((before, sections.map(|section| check(section).context(".ci/checks: `== NAME: WHEN` is expected")).collect::<Result<_>>()?))
}

/// Those that are ours to run; or those that are named.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<()> {
    let text = fs::read_to_string(root.join(".ci/checks"))?;
    let (before, all) = checks(&text)?;
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|check| check.name != **name)) {
        bail!("no check is named {unknown}");
    }
    let (skips, table, rows) = (Skips::read(root)?, Suites::read(root)?, rows(root)?);
    let here = Machine::here(&rows)?;
    let in_gate = |check: &Check| check.in_gate(&here, &rows);
    let wanted = |check: &&Check| if names.is_empty() { full() || in_gate(check) } else { names.iter().any(|name| name == check.name) };
    let (i, n) = shard();
    let ours = |(number, check): &(usize, &Check)| check.is("shared") || number % n == i - 1;
    let ours: Vec<&Check> = all.iter().filter(wanted).enumerate().filter(ours).map(|(_, check)| check).collect();

    let run = |check: &Check, aloud| -> Result<Ran> {
        let machine = match check.elsewhere() {
            Some(on) => Machine::elsewhere(&rows, on)?,
            None => Machine::here(&rows)?,
        };
        let (begun, mut lines) = (Instant::now(), Vec::new());
        let say = |line: String| {
            if aloud {
                println!("{line}");
            }
            lines.push(line);
        };
        let bash = sh(root, &format!("{before}\nset -x\n{}", check.commands));
        let ran = check.run(bash, |skip| skips.allow(skip, &machine), say);
        // (What is in the full run only may hold its own suites, and stand in no table.)
        let is_held = in_gate(check) || table.knows(check.name);
        let held = || if is_held { table.hold(check.name, full(), &lines, &skips, &machine) } else { Ok(Vec::new()) };
        let new = ran.and_then(|()| held());
        Ok(Ran { new, lines, seconds: begun.elapsed().as_secs() })
    };
    let (start, mut log, mut took, mut failed, mut new) = (Instant::now(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut judge = |check: &Check, ran: Ran| -> bool {
        match ran.new {
            Ok(names) if names.is_empty() => {}
            Ok(names) => new.push(format!("== {}\n{}", check.name, names.join("\n"))),
            Err(why) => failed.push(format!("{}: {why:#}", check.name)),
        }
        took.push(format!("{:6}  {}", ran.seconds, check.name));
        log.extend(ran.lines);
        failed.is_empty()
    };
    // What runs beside begins nothing more once something has failed here: it is waited for.
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| -> Result<()> {
        let mut beside = None;
        for check in &ours {
            if check.is("beside") {
                let these = ours.iter().filter(|check| check.is("beside")).take_while(|_| !is_over.load(Ordering::Relaxed));
                let these = these.map(|check| Ok((check, run(check, false)?)));
                beside.get_or_insert_with(|| scope.spawn::<_, Result<Vec<_>>>(|| these.collect()));
            } else if !judge(check, run(check, true)?) {
                is_over.store(true, Ordering::Relaxed);
                break;
            }
        }
        let beside = beside.map_or(Ok(Vec::new()), |beside| beside.join().map_err(|_| anyhow!("what ran beside panicked"))?)?;
        for (check, ran) in beside {
            ran.lines.iter().for_each(|line| println!("{line}"));
            judge(check, ran);
        }
        Ok(())
    })?;
    write(&root.join(if names.is_empty() { "target/ci.log" } else { "target/ci.part.log" }), log.join("\n") + "\n")?;
    println!("\n== seconds\n{}", took.join("\n"));
    if !new.is_empty() {
        println!("\nNobody would miss these suites until they stand in .ci/suites:\n{}", new.join("\n"));
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    let seconds = start.elapsed().as_secs();
    println!("ci ok: {} min {} s, {} of {} checks", seconds / 60, seconds % 60, took.len(), all.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::checks;
    use std::path::Path;

    /// All checks by their names, in the order of the alphabet. A check that goes, or that no longer runs in the gate, is a change of this list, too.
    const GATE: &str = "aarch64, adapters, capi, clippy, documentation, emulated, environment, examples, format, inside, java, laboratory, layers, \
        machine code, matrix, no features, node, openssl, page, planted faults, proof, python, readme, referee, released build, tests";
    const FULL: &str = "Windows, 32 bits, arrow-rs, bench, compilers, data, dispatch, files of others, fuzz, installed, java programs, long answers, mutants, \
        node packages, openssl programs, openssl versions, other machines, packages, peers, python programs, python wheels, reproducible, rustcrypto, \
        rustcrypto, large, supply, tls";

    #[test]
    fn every_check_runs_when_it_did() {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/checks")).unwrap();
        let (_, all) = checks(&text).unwrap();
        let named = |is: fn(&super::Check<'_>) -> bool| {
            let mut names: Vec<_> = all.iter().filter(|check| is(check)).map(|check| check.name).collect();
            names.sort_unstable();
            names.join(", ")
        };
        assert_eq!(named(|check| !check.is("full")), GATE, "the gate");
        assert_eq!(named(|check| check.is("full")), FULL, "the full run");
        println!("ci::every_check_runs_when_it_did ok {}", all.len());
    }
}
