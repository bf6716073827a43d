//! What all the rest is made of: commands that are run, and files.

use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

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

/// Where this program is. A check that builds the workspace links it anew, and Linux then calls the one that runs deleted.
pub(crate) fn own_program() -> PathBuf {
    let own = env::current_exe().unwrap_or_else(|_| "cargo-xtask".into());
    own.to_str().and_then(|own| own.strip_suffix(" (deleted)")).map_or(own.clone(), PathBuf::from)
}

/// A line as one types it, for bash in that folder.
pub(crate) fn sh(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", line]).current_dir(folder);
    command
}

/// Runs such a line to success.
pub(crate) fn run(folder: &Path, line: &str) -> Result<()> {
    step(&mut sh(folder, line))
}

/// Runs a command to success.
pub(crate) fn step(command: &mut Command) -> Result<()> {
    println!("+ {}", show(command));
    let status = command.status().with_context(|| show(command))?;
    ensure!(status.success(), "{}: {status}", show(command));
    Ok(())
}

/// Runs a command to success, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, .. } = command.stderr(Stdio::inherit()).output().with_context(|| show(command))?;
    let text = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() { Ok(text) } else { bail!("{}: {status}\n{text}", show(command)) }
}

/// Runs a command; whether it succeeded, and all that it said.
pub(crate) fn quietly(command: &mut Command) -> Result<(bool, String)> {
    let output = command.stdin(Stdio::null()).output().with_context(|| show(command))?;
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    Ok((output.status.success(), said.concat()))
}

/// The line that bash has, or the program.
fn show(command: &Command) -> String {
    command.get_args().last().unwrap_or(command.get_program()).to_string_lossy().into_owned()
}

/// Debian's packages, unless the program is there.
pub(crate) fn need(root: &Path, program: &str, packages: &str) -> Result<()> {
    run(root, &format!(".ci/need {program} {packages}"))
}

/// Files of these folders of a project whose names are so, in order. What is built is none of them.
pub(crate) fn files(root: &Path, folders: &str, name: &str) -> Result<Vec<PathBuf>> {
    let found = output(&mut sh(root, &format!("find {folders} -name target -prune -o -xtype f -name '{name}' -print | sort")))?;
    Ok(found.lines().map(|file| root.join(file)).collect())
}

/// Writes a file, and its folder.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(fs::write(path, text)?)
}
