//! `cargo xtask mutants [K/N]`: cargo-mutants in the lean copy of the planted faults. `.cargo/mutants.toml` names what it leaves out, with the reasons;
//! any other mutant that survives fails the check. cargo-mutants changes neither constants nor what stands in macros, which is where kernels go wrong: for
//! those there are the kernel faults of `cargo xtask faults`.
//!
//! All mutants take half a day. A full run takes one of [`SHARDS`] parts, always the same: the first, or with `FASTGCM_SHARD=i/n` the i-th. (Which mutants
//! these are changes with the code.) `cargo xtask mutants 7/60` takes the eighth.

use crate::{ci::shard, package::show, planted::Copy, supply::tool};
use std::{fs, path::Path};

const SHARDS: usize = 60;

/// The tests of a user's view, which take seconds when they are to be quick. (Without a limit, `f05_too_long` writes 64 GiB.)
const OUTSIDE: &str = "--features hazmat --test known_answers --test api --test every_length --test guard_pages --test aliasing --test memory --test batch \
    --test hazmat --test lists --test nonces --test once --test parts --test pieces --test siv --test xaes -- --skip f05_too_long";

/// For those that these miss: the library's own, which take longer to compile than to run.
const INSIDE: &str = "--features hazmat --lib";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (program, copy, output) = (tool(root, "cargo-mutants", "27.1.0")?, Copy::new(root)?, root.join("target/mutants"));
    fs::create_dir_all(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    // The names of those that were caught, and of the others.
    let plant = |choice: &[String], tests: &str| -> Result<(Vec<String>, Vec<String>), String> {
        let mut mutants = copy.command(&program);
        // Without a limit of seconds it would be one by what the copy took, of which most may have been built before.
        mutants
            .args(["mutants", "--in-place", "--package=fastgcm", "--build-timeout=900", "--config"])
            .arg(root.join(".cargo/mutants.toml"));
        mutants.arg("--output").arg(&output).args(choice).arg("--").args(tests.split_whitespace());
        let status = mutants.status().map_err(|e| format!("{}: {e}", show(&mutants)))?;
        let lines = |name: &str| -> Result<Vec<String>, String> {
            let path = output.join("mutants.out").join(name);
            Ok(fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?.lines().map(str::to_owned).collect())
        };
        // 2: some were missed; 3: the tests ran into an endless loop, and so noticed it.
        match status.code() {
            Some(0 | 2 | 3) => Ok(([lines("caught.txt")?, lines("timeout.txt")?].concat(), lines("missed.txt")?)),
            _ => Err(format!("{}: {status}", show(&mutants))),
        }
    };
    let part = arguments.first().cloned().unwrap_or_else(|| format!("{}/{SHARDS}", shard().0 - 1));
    let (mut caught, mut missed) = plant(&["--shard".into(), part, "--sharding=round-robin".into()], OUTSIDE)?;
    if !missed.is_empty() {
        let file = |name: &String| name.split(':').next().map(|file| format!("--file={file}"));
        let name = |name: &String| format!("--re=^{}$", name.chars().map(|c| format!("\\x{{{:x}}}", c as u32)).collect::<String>());
        let (inside, _) = plant(&missed.iter().filter_map(file).chain(missed.iter().map(name)).collect::<Vec<_>>(), INSIDE)?;
        caught.extend(missed.extract_if(.., |mutant| inside.contains(mutant)));
    }
    if caught.is_empty() || !missed.is_empty() {
        return Err(format!("{} mutants were caught, and these survive:\n  {}", caught.len(), missed.join("\n  ")));
    }
    println!("mutants ok {}", caught.len());
    Ok(())
}
