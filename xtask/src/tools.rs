//! Runs commands, and reads and writes files.

use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Returns true if `FASTGCM_FULL` is set: everything, not a sample.
pub(crate) fn full() -> bool {
    env::var_os("FASTGCM_FULL").is_some()
}

/// Returns our part of the work, i of n: all of it, or with `FASTGCM_SHARD=i/n` (i from 1 on) every n-th piece.
pub(crate) fn shard() -> (usize, usize) {
    let Ok(shard) = env::var("FASTGCM_SHARD") else { return (1, 1) };
    let parts = shard.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).unwrap_or_else(|| panic!("FASTGCM_SHARD={shard} is not i/n with i from 1 to n"))
}

/// Returns this program's path. A check that builds the workspace links it anew, and Linux then appends "(deleted)" to the running one's.
pub(crate) fn own_program() -> PathBuf {
    let own = env::current_exe().unwrap_or_else(|_| "cargo-xtask".into());
    own.to_str().and_then(|own| own.strip_suffix(" (deleted)")).map_or(own.clone(), PathBuf::from)
}

/// Returns a command that runs a line with bash in this folder.
pub(crate) fn sh(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", line]).current_dir(folder);
    command
}

/// Runs a line with bash, which must succeed.
pub(crate) fn run(folder: &Path, line: &str) -> Result<()> {
    step(&mut sh(folder, line))
}

/// Runs a command, which must succeed.
pub(crate) fn step(command: &mut Command) -> Result<()> {
    println!("+ {}", show(command));
    let status = command.status().with_context(|| show(command))?;
    ensure!(status.success(), "{}: {status}", show(command));
    Ok(())
}

/// Runs a command, which must succeed, and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let Output { status, stdout, .. } = command.stderr(Stdio::inherit()).output().with_context(|| show(command))?;
    let text = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() { Ok(text) } else { bail!("{}: {status}\n{text}", show(command)) }
}

/// Runs a command. Returns whether it succeeded, and its output and errors.
pub(crate) fn quietly(command: &mut Command) -> Result<(bool, String)> {
    let output = command.stdin(Stdio::null()).output().with_context(|| show(command))?;
    let texts = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((output.status.success(), texts.concat()))
}

/// Returns the line for bash, or the program.
fn show(command: &Command) -> String {
    command.get_args().last().unwrap_or(command.get_program()).to_string_lossy().into_owned()
}

/// Installs Debian packages, unless the program is there.
pub(crate) fn need(root: &Path, program: &str, packages: &str) -> Result<()> {
    run(root, &format!(".ci/need {program} {packages}"))
}

/// Returns the sorted files with this name pattern in folders of a project, without build outputs.
pub(crate) fn files(root: &Path, folders: &str, name: &str) -> Result<Vec<PathBuf>> {
    let found = output(&mut sh(root, &format!("find {folders} -name target -prune -o -xtype f -name '{name}' -print | sort")))?;
    Ok(found.lines().map(|file| root.join(file)).collect())
}

/// Writes a file, and makes its folder.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(fs::write(path, text)?)
}
