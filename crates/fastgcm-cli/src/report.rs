//! The report of a successful run: its output, and the next command to type.

use crate::{
    cli,
    failure::{Failure, escaped, say},
    input::is_dash,
};
use std::{
    env,
    path::{Path, PathBuf},
};

/// Says what was sealed, and the command that opens it.
pub(crate) fn sealed(args: &cli::Seal, output: &Path) {
    let hint = to_open(args, output).map(|command| format!("to open: {command}\n")).unwrap_or_default();
    say(&format!("sealed:  {}\n{hint}", escaped(&output.display().to_string())));
}

/// Returns the command that opens the output, to be typed in the current directory: it writes to a name that is free. Returns `None` if no
/// such command can be typed.
fn to_open(args: &cli::Seal, output: &Path) -> Option<String> {
    let mut command = vec![program()?, "open".into()];
    command.extend(how(args)?);
    command.extend(["-o".into(), name(&free(output)?)?, name(output)?]);
    line(&command)
}

/// A directory cannot be sealed, but a command seals all files in it.
pub(crate) fn instead_of_directory(args: &cli::Seal, directory: &Path, failure: Failure) -> Failure {
    let command = || {
        let inside = directory.canonicalize().ok()?;
        let archive = format!("{}.tar.sealed", inside.file_name()?.to_str()?);
        let tar = line(&["tar".into(), "-cf".into(), "-".into(), name(directory)?])?;
        let mut seal = vec![program()?, "seal".into()];
        seal.extend(how(args)?);
        seal.extend(["-o".into(), name(archive.as_ref())?, "-".into()]);
        Some(format!("{tar} | {}", line(&seal)?))
    };
    match command().filter(|_| directory.is_dir()) {
        Some(command) => failure.note(format_args!("to seal all that is in it, say in bash: set -o pipefail; {command}")),
        None => failure,
    }
}

fn program() -> Option<String> {
    Some(env::args_os().next()?.to_str()?.to_owned())
}

/// Returns the key and what belongs to it, as options.
fn how(args: &cli::Seal) -> Option<Vec<String>> {
    let mut options = Vec::new();
    if let Some(key) = args.which.key.as_ref().or(args.which.new_key.as_ref()) {
        options.extend(["-k".into(), name(Some(key).filter(|key| !is_dash(key))?)?]);
    }
    for identity in &args.reading.identity {
        options.extend(["-i".into(), name(identity)?]);
    }
    let reading = &args.reading;
    let reading = [(reading.insecure_key_file, "--insecure-key-file"), (reading.raw_key, "--raw-key"), (reading.approved, "--approved")];
    options.extend(reading.into_iter().filter(|(is_used, _)| *is_used).map(|(_, option)| option.into()));
    if !args.common.context.is_empty() {
        options.push(format!("--context={}", args.common.context));
    }
    Some(options)
}

/// Returns a line as a shell reads it.
fn line(words: &[String]) -> Option<String> {
    words.iter().map(|word| quoted(word)).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// Returns a name beside the output that no file has.
fn free(output: &Path) -> Option<PathBuf> {
    let name = output.file_name()?.to_str()?;
    let name = name.strip_suffix(".sealed").filter(|name| !name.is_empty()).unwrap_or(name);
    let names = (1..100).map(|n| output.with_file_name(if n == 1 { format!("{name}.opened") } else { format!("{name}.opened{n}") }));
    names.into_iter().find(|path| path.symlink_metadata().is_err())
}

/// Returns a name that is not an option.
fn name(path: &Path) -> Option<String> {
    let name = path.to_str()?;
    Some(if name.starts_with('-') { format!("./{name}") } else { name.into() })
}

/// Returns a word as a shell reads it, or `None` if a terminal would not show it unchanged.
pub(crate) fn quoted(word: &str) -> Option<String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./+-=@%:,".contains(letter);
    if escaped(word) != word {
        return None;
    }
    Some(if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) })
}
