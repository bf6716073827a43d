//! `cargo xtask mutants`: how much would the tests notice?
//!
//! Mutants are what cargo-mutants makes of the library's functions: an operator changed, a body replaced by a value, an arm of a match left
//! out. 95 % of those that compile must be caught. Those of which it is known why no test could see them (`xtask/faults/survivors.txt`, with
//! the reason: most write `^` for `|` where no two bits meet) are not chosen, as `exclude_re` does for cargo-mutants itself; how many these are is
//! printed. It does not change the immediates of intrinsics and the constants, nor what stands in macros, which is where kernels go wrong: for
//! those there are the kernel faults of `cargo xtask faults`.
//!
//! cargo-mutants itself builds each mutant, a minute and more for a second of tests. Here all are in one build, each behind a switch
//! ([`places`]), but for a few that cannot be switched.
//!
//! `cargo xtask mutants [--seed N] [--random COUNT] [--file PART]`: another choice every time, unless a seed is given.

mod places;

use crate::{
    package::step,
    planted::{Copy, KEPT, Verdict, first_failure, quietly, with_texts},
    together::{Together, add_switch},
};
use places::{Edit, Places, blamed};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// How many, unless it is said.
const RANDOM: usize = 150;

/// What looks for them: of the tests of a user's view those that take seconds when they are to be quick, the fastest first.
const SUITE: &str = "--test known_answers --test api --test every_length --test guard_pages --test aliasing --test memory";

/// And for those that these miss: the library's own, which take longest to compile.
const INSIDE: &str = "--lib";

/// But for one: without a limit it writes 64 GiB.
const BUT: &str = "--skip f05_too_long";

/// Code that the lean copy does not compile, or never calls: other processors' and other rows', what only features or studies use.
const NOT_COMPILED: &str = "zmm::|ymm::|Vaes|src/isa/(aarch64|riscv64|hwcap|hwprobe|scrub|scrub_any|scrub_x86)\\.rs|src/ghash/halves.rs|\
    src/internals.rs|src/ghash/proof/|src/rustcrypto.rs|shift_left|shift_right|up_word|down_word|replace features -> |Features::and";

/// Text for people, and what the processor says of itself: of these other tests know.
const NOT_MUTATED: &str = "impl fmt::|src/isa/cpuid.rs";

/// One change that cargo-mutants would make.
struct Mutant {
    name: String,
    file: String,
    /// What kind of change: `BinaryOperator`, `FnValue`, ...
    genre: String,
    replacement: String,
    /// Line and column of what goes, from 1 on.
    start: (usize, usize),
    end: (usize, usize),
}

/// What became of them.
#[derive(Default)]
struct Tally {
    caught: usize,
    missed: Vec<String>,
    unviable: usize,
}

/// What is left when many have been planted in one build.
#[derive(Default)]
struct Planted<'a> {
    /// Those that have no place there.
    alone: Vec<&'a Mutant>,
    missed: Vec<&'a Mutant>,
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let option = |name: &str| -> Result<Option<&String>, String> {
        let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        arguments.get(at + 1).map(Some).ok_or(format!("{name} wants a value"))
    };
    let number = |name: &str| option(name)?.map(|n| n.parse::<u64>().map_err(|_| format!("{name} wants a number"))).transpose();
    let seed = number("--seed")?.unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000);
    let random = number("--random")?.map_or(RANDOM, |n| n as usize);
    println!("mutants: --seed {seed} --random {random} repeats this choice");

    let copy = Copy::new(root)?;
    let mut mutants = list(root, &copy)?;
    if let Some(file) = option("--file")? {
        mutants.retain(|mutant| mutant.file.contains(file.as_str()));
    }
    let all = mutants.len();
    let known = read(&root.join("xtask/faults/survivors.txt"))?;
    let parts: Vec<&str> = known.lines().filter(|line| !line.starts_with('#')).filter_map(|line| Some(line.split_once("  ")?.0)).collect();
    mutants.retain(|mutant| !parts.iter().any(|part| mutant.name.contains(part)));
    let known = all - mutants.len();
    shuffle(&mut mutants, seed);
    mutants.truncate(random);
    let mutants: Vec<&Mutant> = crate::ci::sharded(&mutants).collect();
    println!(
        "mutants: {} of {all}, {known} of which change nothing and are not chosen; seed {seed}, rows {}",
        mutants.len(),
        KEPT.join(" and ")
    );

    let mut tally = Tally::default();
    let Planted { alone, missed } = tally.plant_together(&copy, &mutants, SUITE)?;
    if !missed.is_empty() {
        let missed = tally.plant_together(&copy, &missed, INSIDE)?.missed;
        missed.iter().for_each(|mutant| tally.count(mutant, Verdict::Missed));
    }
    tally.plant_alone(&copy, &alone)?;
    judge(&tally, seed, mutants.len())
}

impl Tally {
    /// All that can be switched, in one build.
    fn plant_together<'a>(&mut self, copy: &Copy, mutants: &[&'a Mutant], suite: &str) -> Result<Planted<'a>, String> {
        let start = Instant::now();
        let mut left_out = Vec::new();
        let texts = loop {
            let texts = switched(copy, mutants, &left_out)?;
            match complaints(copy, &texts)? {
                none if none.is_empty() => break texts,
                numbers => left_out.extend(numbers),
            }
        };
        let holds = |number: usize| texts.iter().any(|(_, text)| text.contains(&format!("crate::planted::is({number})")));
        let faults = mutants.iter().map(|mutant| mutant.name.clone()).collect();
        let together = Together::of(copy, texts.clone(), faults, [suite].into_iter())?;
        println!("mutants: one build of them, {} s", start.elapsed().as_secs());
        let start = Instant::now();
        let tests = format!("{suite} -- {BUT}");
        together.control(copy, &tests)?;
        println!("mutants: without one the tests pass, {} s", start.elapsed().as_secs());

        let start = Instant::now();
        let mut planted = Planted::default();
        for (i, &mutant) in mutants.iter().enumerate() {
            if !holds(i + 1) {
                planted.alone.push(mutant);
                continue;
            }
            match together.verdict(copy, &mutant.name, &tests)? {
                Verdict::Missed => planted.missed.push(mutant),
                verdict => self.count(mutant, verdict),
            }
        }
        println!("mutants: {} of them planted, {} s", mutants.len() - planted.alone.len(), start.elapsed().as_secs());
        Ok(planted)
    }

    /// Each in a build of its own.
    fn plant_alone(&mut self, copy: &Copy, mutants: &[&Mutant]) -> Result<(), String> {
        for mutant in mutants {
            let start = Instant::now();
            let path = copy.root.join(&mutant.file);
            let text = Places::of(read(&path)?)?.alone(mutant);
            let verdict = with_texts(&[(path, text)], || {
                // What keeps the compiler busy for ever does not compile either.
                if !quietly(&mut copy.cargo_within(120, "check -p fastgcm --lib"))?.0 {
                    return Ok(Verdict::DoesNotCompile);
                }
                for suite in [SUITE, INSIDE] {
                    let (passed, said) = quietly(&mut copy.cargo(&format!("test -p fastgcm {suite} -- {BUT}")))?;
                    if !passed {
                        return Ok(Verdict::Caught { by: first_failure(&said), took: start.elapsed() });
                    }
                }
                Ok(Verdict::Missed)
            })?;
            self.count(mutant, verdict);
        }
        Ok(())
    }

    fn count(&mut self, mutant: &Mutant, verdict: Verdict) {
        match verdict {
            Verdict::Caught { by, took } => {
                self.caught += 1;
                println!("caught, {} s: {}: {by}", took.as_secs(), mutant.name);
            }
            Verdict::Missed => {
                println!("missed: {}", mutant.name);
                self.missed.push(mutant.name.clone());
            }
            Verdict::DoesNotCompile => self.unviable += 1,
        }
    }
}

/// The sources with all of these mutants but those that are left out, each with its place in the list, from 1 on, as its number.
fn switched(copy: &Copy, mutants: &[&Mutant], left_out: &[usize]) -> Result<Vec<(PathBuf, String)>, String> {
    let mut files: BTreeMap<&str, (Places, Vec<Edit>)> = BTreeMap::new();
    for (mutant, number) in mutants.iter().zip(1..).filter(|(_, number)| !left_out.contains(number)) {
        if !files.contains_key(mutant.file.as_str()) {
            files.insert(&mutant.file, (Places::of(read(&copy.root.join(&mutant.file))?)?, Vec::new()));
        }
        if let Some((places, edits)) = files.get_mut(mutant.file.as_str()) {
            edits.extend(places.edit(mutant, number));
        }
    }
    Ok(files.into_iter().map(|(file, (places, edits))| (copy.root.join(file), places.switched(edits))).collect())
}

/// The mutants that the compiler complains of, by their numbers.
fn complaints(copy: &Copy, texts: &[(PathBuf, String)]) -> Result<Vec<usize>, String> {
    let mut texts = texts.to_vec();
    add_switch(copy, &mut texts)?;
    let mut command = copy.cargo("check -p fastgcm --lib --profile test --message-format json");
    let (fine, said) = with_texts(&texts, || quietly(&mut command))?;
    if fine {
        return Ok(Vec::new());
    }
    let mut numbers: Vec<usize> = Vec::new();
    for message in said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        for span in message["message"]["spans"].as_array().into_iter().flatten().filter(|_| message["message"]["level"] == "error") {
            let text = texts.iter().find(|(path, _)| span["file_name"].as_str().is_some_and(|name| path.ends_with(name)));
            let byte = span["byte_start"].as_u64().unwrap_or(0) as usize;
            numbers.extend(text.filter(|_| span["is_primary"] == true).and_then(|(_, text)| blamed(text, byte)));
        }
    }
    if numbers.is_empty() { Err(format!("{said}\nno mutant is to blame")) } else { Ok(numbers) }
}

/// All mutants of what the copy compiles.
fn list(root: &Path, copy: &Copy) -> Result<Vec<Mutant>, String> {
    if Command::new("cargo").args(["mutants", "--version"]).output().map_or(true, |output| !output.status.success()) {
        // Not a release build: it is run once and waits for the compiler most of the time.
        let mut install = Command::new("cargo");
        install.args(["install", "--quiet", "--locked", "cargo-mutants", "--version", "27.1.0", "--profile", "dev"]);
        step(install.current_dir(root))?;
    }
    let mut command = copy.cargo("mutants --list --json --package fastgcm");
    let output = command.args(["--exclude-re", NOT_COMPILED, "--exclude-re", NOT_MUTATED]).output().map_err(|e| e.to_string())?;
    let mutants: Vec<Value> = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo mutants --list: {e}"))?;
    let mutant = |value: &Value| -> Option<Mutant> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let place = |key: &str| Some((value["span"][key]["line"].as_u64()? as usize, value["span"][key]["column"].as_u64()? as usize));
        Some(Mutant {
            name: text("name")?,
            file: text("file")?,
            genre: text("genre")?,
            replacement: text("replacement")?,
            start: place("start")?,
            end: place("end")?,
        })
    };
    mutants.iter().map(|value| mutant(value).ok_or(format!("cargo mutants --list: {value}"))).collect()
}

fn judge(tally: &Tally, seed: u64, all: usize) -> Result<(), String> {
    let Tally { caught, missed, unviable } = tally;
    missed.iter().for_each(|name| println!("survivor: {name}"));
    let viable = caught + missed.len();
    let rate = 100.0 * *caught as f64 / viable.max(1) as f64;
    println!("mutants: {caught} of {viable} viable ones caught, {rate:.1} %; {unviable} do not compile; seed {seed}");
    if rate < 95.0 {
        return Err("fewer than 95 % of the mutants were caught".into());
    }
    println!("random_mutants ok {all}");
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// By Fisher and Yates, with the numbers of SplitMix64.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for i in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(i, ((x ^ x >> 31) % (i as u64 + 1)) as usize);
    }
}
