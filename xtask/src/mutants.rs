//! `cargo xtask mutants [K/N]`: cargo-mutants in the lean copy of the planted faults. `.cargo/mutants.toml` names what it leaves out, with the reasons;
//! any other mutant that survives fails the check. cargo-mutants changes neither constants nor what stands in macros, which is where kernels go wrong: for
//! those there are the kernel faults of `cargo xtask faults`.
//!
//! All mutants take half a day. A full run takes one of [`SHARDS`] parts, always the same: the first, or with `FASTGCM_SHARD=i/n` the i-th. (Which mutants
//! these are changes with the code.) `cargo xtask mutants 7/60` takes the eighth.

use crate::{
    ci::shard,
    planted::Copy,
    tools::{step, tool},
};
use anyhow::{Result, ensure};
use fs_err as fs;
use std::path::Path;

const SHARDS: usize = 60;

/// The tests of a user's view, which take seconds when they are to be quick. (Without a limit, `f05_too_long` writes 64 GiB.)
const OUTSIDE: &str = "--features hazmat --test known_answers --test api --test every_length --test guard_pages --test aliasing --test memory --test batch \
    --test hazmat --test lists --test nonces --test once --test parts --test pieces --test siv --test xaes -- --skip f05_too_long";

/// For those that these miss: the library's own, which take longer to compile than to run.
const INSIDE: &str = "--features hazmat --lib";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (program, copy, output) = (tool(root, "cargo-mutants", "27.1.0")?, Copy::lean(root)?, root.join("target/mutants"));
    fs::create_dir_all(&output)?;
    // The names of those that were caught, and of the others. Without a limit of seconds for the build it would be one by what the copy took, of which
    // most may have been built before.
    let plant = |choice: &str, tests: &str| -> Result<(Vec<String>, Vec<String>)> {
        let (program, output, config) = (program.display(), output.display(), root.join(".cargo/mutants.toml"));
        let options = format!("--in-place --package=fastgcm --build-timeout=900 --config '{}' --output '{output}'", config.display());
        // 2: some were missed; 3: the tests ran into an endless loop, and so noticed it.
        let line = format!("'{program}' mutants {options} {choice} -- {tests} || case $? in 2 | 3) ;; *) exit 1 ;; esac");
        step(&mut copy.sh(&line))?;
        let lines = |name: &str| -> Result<Vec<String>> {
            Ok(fs::read_to_string(format!("{output}/mutants.out/{name}"))?.lines().map(str::to_owned).collect())
        };
        Ok(([lines("caught.txt")?, lines("timeout.txt")?].concat(), lines("missed.txt")?))
    };
    let part = arguments.first().cloned().unwrap_or_else(|| format!("{}/{SHARDS}", shard().0 - 1));
    let (mut caught, mut missed) = plant(&format!("--shard {part} --sharding=round-robin"), OUTSIDE)?;
    if !missed.is_empty() {
        let file = |name: &String| name.split(':').next().map(|file| format!("--file={file} "));
        let name = |name: &String| format!("--re='^{}$' ", name.chars().map(|c| format!("\\x{{{:x}}}", c as u32)).collect::<String>());
        let (inside, _) = plant(&missed.iter().filter_map(file).chain(missed.iter().map(name)).collect::<String>(), INSIDE)?;
        caught.extend(missed.extract_if(.., |mutant| inside.contains(mutant)));
    }
    ensure!(!caught.is_empty() && missed.is_empty(), "{} mutants were caught, and these survive:\n  {}", caught.len(), missed.join("\n  "));
    println!("mutants ok {}", caught.len());
    Ok(())
}
