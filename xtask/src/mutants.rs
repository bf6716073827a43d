//! `cargo xtask mutants [K/N]`: plants the faults that cargo-mutants makes of the published crates in the lean copy. cargo-mutants (27.1.0)
//! lists them; they are planted here, one after the other, because the tests of some crates are packages of their own.
//! `.cargo/mutants.toml` names the exceptions with their reasons; any other mutant that survives fails the check. cargo-mutants changes
//! neither constants nor code in macros, where kernels go wrong: `faults.txt` has faults of these.
//!
//! All mutants take a day. A full run takes one of [`PARTS`] parts, always the same: the first, or with `FASTGCM_SHARD=i/n` the i-th. (Its
//! mutants change with the code.) `cargo xtask mutants 7/60` takes the seventh. `target/mutants.txt` keeps the verdicts: a part that
//! is started again continues where it was, and plants only mutants that are new or have survived.

use crate::{
    planted::{Copy, Verdict},
    tools::{output, sh, shard},
};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use serde_json::Value;
use std::{
    collections::{BTreeSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    io::Write,
    ops::Range,
    path::{Path, PathBuf},
};

const PARTS: usize = 60;

/// The published crates, each with commands that run until one fails. `{}` stands for the crate itself.
const TESTS: [(&str, &[&str]); 11] = [
    (
        "fastgcm",
        &[
            "cargo test -p fastgcm --features hazmat,rayon,getrandom,aead06 --test known_answers --test api --test every_length --test pieces \
             --test batch -- --skip f05_too_long",
            "cargo test -p fastgcm --features hazmat,rayon,getrandom,aead06 --tests -- --skip f05_too_long --skip rows --skip f14 --skip f15",
            "cargo test -p fastgcm --features hazmat,internals,rayon,getrandom,aead06 --lib -- --skip counts --skip proof",
        ],
    ),
    (
        "fastgcm-file",
        &["cargo test -p fastgcm-file --features naming", "cargo test -p fastgcm-cli --test program -- nothing_lost"],
    ),
    (
        "fastgcm-cli",
        &[
            "cargo test -p fastgcm-cli",
            "cargo test -p fastgcm-cli --features age --test program -- locked",
            "cargo build -p fastgcm-cli && cargo rustc -p fastgcm-openssl --crate-type cdylib
            build=$(cd ../build && pwd); install -D $build/debug/libfastgcm_openssl.so $build/openssl/fastgcm.so
            unset FASTGCM_ONLY; export FASTGCM_MODULES=$build/openssl FASTGCM_PROGRAM=$build/debug/fastgcm
            cargo test -p fastgcm-openssl-interop --test doctor",
        ],
    ),
    ("fastgcm-protocols", &["cargo test -p fastgcm-protocols"]),
    ("fastgcm-parquet", &["cargo test -p fastgcm-parquet"]),
    ("fastgcm-capi", &["cargo test -p fastgcm-capi", "cargo test -p fastgcm-capi-interop --test api --test header --test memory"]),
    (
        "fastgcm-openssl",
        &["cargo rustc -p fastgcm-openssl --crate-type cdylib && install -D ../build/debug/libfastgcm_openssl.so ../build/openssl/fastgcm.so
            unset FASTGCM_ONLY; export FASTGCM_MODULES=$PWD/../build/openssl
            cargo test -p fastgcm-openssl-interop --test answers --test memory --test module --test sequences --test siv --test tls \
             -- --skip readme"],
    ),
    ("aes-gcm-010", &["cargo test {} --features zeroize/default"]),
    ("aes-gcm-011", &["cargo test {} --features zeroize/default"]),
    ("rustls-fastgcm", &["cargo test {}"]),
    ("fastgcm-s3", &["cargo test {}"]),
];

/// A fault that cargo-mutants would make.
struct Mutant {
    of: &'static str,
    name: String,
    /// The hash of the code around it, without line numbers.
    hash: u64,
    path: PathBuf,
    /// The bytes of the replaced code, and the replacement.
    range: Range<usize>,
    to: String,
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let part = arguments.first().cloned().unwrap_or_else(|| format!("{}/{PARTS}", shard().0));
    let (i, n): (usize, usize) = part.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?))).context("mutants K/N")?;
    let (copy, path) = (Copy::lean(root)?, root.join("target/mutants.txt"));
    let mutants = listed(root, &copy)?;
    let before = fs::read_to_string(&path).unwrap_or_default();
    let caught: BTreeSet<u64> = before.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path)?;
    let (mut count, mut missed, mut controlled) = (0, Vec::new(), BTreeSet::new());
    for mutant in mutants.iter().skip(i - 1).step_by(n) {
        if caught.contains(&mutant.hash) {
            count += 1;
            continue;
        }
        let own =
            format!("--locked --manifest-path crates/{}/Cargo.toml --all-features --features fastgcm/default,fastgcm/hazmat", mutant.of);
        let (_, lines) = TESTS.iter().find(|(of, _)| *of == mutant.of).context("no tests")?;
        let (mut verdict, mut source) = (Verdict::Missed, fs::read_to_string(&mutant.path)?);
        source.replace_range(mutant.range.clone(), &mutant.to);
        let texts = [(mutant.path.clone(), source)];
        for line in lines.iter().map(|line| line.replace("{}", &own)) {
            if controlled.insert(line.clone()) {
                copy.control(&line)?;
            }
            verdict = copy.verdict(&texts, &line)?;
            if !matches!(verdict, Verdict::Missed) {
                break;
            }
        }
        let by = match verdict {
            Verdict::Caught(by) => by,
            Verdict::Unbuilt(_) => "the compiler".to_owned(),
            Verdict::Missed => {
                println!("survives: {}", mutant.name);
                missed.push(mutant.name.clone());
                continue;
            }
        };
        count += 1;
        println!("{}: {by}", mutant.name);
        writeln!(file, "{} {}: {by}", mutant.hash, mutant.name)?;
    }
    ensure!(count > 0 && missed.is_empty(), "{count} mutants were caught, and these survive:\n  {}", missed.join("\n  "));
    println!("{count} mutants caught");
    Ok(())
}

/// Returns all mutants, in an order that mixes crates.
fn listed(root: &Path, copy: &Copy) -> Result<Vec<Mutant>> {
    let config = root.join(".cargo/mutants.toml");
    let mut mutants = Vec::new();
    for (of, _) in TESTS {
        let list = format!("cargo mutants --list --json --config '{}'", config.display());
        let json: Vec<Value> = serde_json::from_str(&output(&mut sh(&copy.root.join("crates").join(of), &list))?)?;
        for value in json {
            let text = |key: &str| value[key].as_str().map(str::to_owned).with_context(|| format!("cargo-mutants says no {key}: {value}"));
            let (file, name, diff) = (text("file")?, text("name")?, text("diff")?);
            let place = |end: &str, of: &str| value["span"][end][of].as_u64().map(|n| n as usize - 1).context("no place");
            let path = [copy.root.join(&file), copy.root.join("crates").join(of).join(&file)].into_iter().find(|path| path.exists());
            let path = path.with_context(|| format!("cargo-mutants names {file}, which is not there"))?;
            let source = fs::read_to_string(&path)?;
            let starts: Vec<usize> = [0].into_iter().chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
            let at = |end: &str| -> Result<usize> {
                let line = *starts.get(place(end, "line")?).context("no such line")?;
                let column = place(end, "column")?;
                Ok(line + source[line..].char_indices().nth(column).map_or(0, |(at, _)| at))
            };
            let (range, to) = (at("start")?..at("end")?, text("replacement")?);
            let mut hasher = DefaultHasher::new();
            let code = diff.lines().filter(|line| !line.starts_with("@@"));
            (&file, name.split_once(": ").map(|(_, what)| what), code.collect::<Vec<_>>()).hash(&mut hasher);
            mutants.push(Mutant { of, name, hash: hasher.finish(), path, range, to });
        }
    }
    mutants.sort_by_key(|mutant| mutant.hash);
    Ok(mutants)
}
