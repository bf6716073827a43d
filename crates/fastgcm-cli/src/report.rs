//! What a run says when all went well: what it wrote, and what to type next.

use crate::{cli, failure::escaped, input::is_dash};
use std::{
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Says what was sealed, and the command that opens it, on standard error. If nobody reads that, the exit code remains.
pub(crate) fn sealed(args: &cli::Seal, output: &Path) {
    let mut text = String::new();
    if let Some(key) = &args.which.new_key {
        text += &format!("new key: {} (without it nobody can open the file)\n", escaped(&key.display().to_string()));
    }
    text += &format!("sealed:  {}\n", escaped(&output.display().to_string()));
    if let Some(command) = to_open(args, output) {
        text += &format!("to open: {command}\n");
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The command that opens it, to be typed in the same directory: it writes to a name that is free. `None` if there is none that can be typed.
fn to_open(args: &cli::Seal, output: &Path) -> Option<String> {
    let key = args.which.key.as_ref().or(args.which.new_key.as_ref()).filter(|key| !is_dash(key))?;
    let mut command = vec![env::args_os().next()?.to_str()?.to_owned(), "open".into(), "-k".into(), name(key)?];
    if args.common.insecure_key_file {
        command.push("--insecure-key-file".into());
    }
    if !args.common.context.is_empty() {
        command.push(format!("--context={}", args.common.context));
    }
    command.extend(["-o".into(), name(&free(output)?)?, name(output)?]);
    command.iter().map(|word| quoted(word)).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// A name beside the output that no file has.
fn free(output: &Path) -> Option<PathBuf> {
    let name = output.file_name()?.to_str()?;
    let name = name.strip_suffix(".sealed").filter(|name| !name.is_empty()).unwrap_or(name);
    let names = (1..100).map(|n| output.with_file_name(if n == 1 { format!("{name}.opened") } else { format!("{name}.opened{n}") }));
    names.into_iter().find(|path| path.symlink_metadata().is_err())
}

/// A name that is no option.
fn name(path: &Path) -> Option<String> {
    let name = path.to_str()?;
    Some(if name.starts_with('-') { format!("./{name}") } else { name.into() })
}

/// A word as a shell reads it. `None` if a terminal would not show it as it is.
fn quoted(word: &str) -> Option<String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./+-=@%:,".contains(letter);
    if escaped(word) != word {
        return None;
    }
    Some(if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) })
}
