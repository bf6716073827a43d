//! `fastgcm seal`

use crate::{
    cli,
    failure::{Failure, say},
    input::{Input, each, is_dash, refuse_same, refuse_several, refuse_two_dashes},
    keyfile::{Purpose, SealingKey, Wanted},
    output::{BY_UMASK, NOT_HERE, Target},
    progress::Progress,
    report,
};
use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Seals each file separately.
pub(crate) fn run(args: &cli::Seal) -> Result<(), Failure> {
    refuse_several(&args.files, "-o", args.output.is_some())?;
    let (backend, path) = (args.common.machine.backend()?, args.which.key.as_deref());
    let wanted = Wanted { path, format: Some(args.format), purpose: Purpose::Seal, reading: &args.reading, backend, read: None };
    let mut key = SealingKey { wanted, new: args.which.new_key.as_deref(), made: None };
    let files = args.output.is_none().then(|| unsealed(args)).transpose()?.unwrap_or_else(|| args.files.clone());
    if files.is_empty() {
        return Ok(());
    }
    each(&files, "sealed", args.common.quiet, |file| seal(args, file, &mut key, files.len() == 1))
}

/// Returns the files that are sealed to names of their own: all but those whose names say that they are sealed, and, of several files, those
/// that have been sealed since they were modified. `seal docs/*` finds both on its second run, and one line counts them.
fn unsealed(args: &cli::Seal) -> Result<Vec<PathBuf>, Failure> {
    const SKIPPED: &str = "its name says that it is sealed; to seal it once more name the output with -o";
    let is_sealed = |file: &&PathBuf| file.as_os_str().as_bytes().ends_with(b".sealed");
    let (sealed, files): (Vec<&PathBuf>, Vec<&PathBuf>) = args.files.iter().partition(is_sealed);
    if files.is_empty()
        && let [first, ..] = &sealed[..]
    {
        let more = if sealed.len() > 1 { format!(" (and {} more)", sealed.len() - 1) } else { String::new() };
        return Err(Failure::usage(format_args!("{}{more}: {SKIPPED}", first.display())));
    }
    // What is there already is under another key than a new one.
    let is_one = args.files.len() == 1 || args.files.iter().any(|file| is_dash(file));
    let may_skip = !is_one && !args.force && args.which.new_key.is_none();
    let is_done = |file: &&PathBuf| may_skip && is_sealed_since(file) == Some(true);
    let (done, files): (Vec<&PathBuf>, Vec<&PathBuf>) = files.into_iter().partition(is_done);
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {}{what}", if count == 1 { "file" } else { "files" }));
    let said = [counted(done.len(), " sealed before, and not modified since"), counted(sealed.len(), " with a name that ends in .sealed")];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if !args.common.quiet && !said.is_empty() {
        say(&format!("skipped: {}\n", said.join("; ")));
    }
    Ok(files.into_iter().cloned().collect())
}

/// Returns whether what is in FILE.sealed was sealed when the file was last modified, as far as times and lengths tell. `None`: they tell
/// nothing, because there is no such file, or because one of the two is none.
fn is_sealed_since(file: &Path) -> Option<bool> {
    let look = |path: &Path| path.metadata().ok().filter(|metadata| metadata.is_file());
    let (text, sealed) = (look(file)?, look(&sealed_name(file))?);
    Some(text.modified().ok()? <= sealed.modified().ok()? && fastgcm_file::sealed_len(text.len()).is_ok_and(|len| len == sealed.len()))
}

/// Seals a file. Everything that can be refused is refused before anything is written, and a new key is on the disk before the first byte
/// of the output is.
fn seal(args: &cli::Seal, file: &Path, key: &mut SealingKey<'_>, is_only: bool) -> Result<(), Failure> {
    let common = &args.common;
    refuse_two_dashes(file, args.which.key.as_deref())?;
    let input = Input::open(file).map_err(|failure| report::instead_of_directory(args, file, failure))?;
    if args.output.is_none() && input.is_device() && !is_dash(file) {
        return Err(Failure::usage(format_args!(
            "{input} is a device, and nobody looks beside it for a sealed file: say where to write with -o"
        )));
    }
    let path = output(args, file);
    let target = Target::plan(&path, args.force, BY_UMASK)?;
    if args.output.is_none() && target.is_terminal() {
        return Err(Failure::usage(format_args!("standard output is a terminal, and a sealed file is no text: {NOT_HERE}")));
    }
    refuse_same(&input, target.identity())?;
    target.refuse_existing().map_err(|failure| match args.output.is_none().then(|| is_sealed_since(file)) {
        Some(Some(false)) => failure.note(format_args!("{input} was modified since: what is sealed there is not what it has now")),
        _ => failure,
    })?;
    key.prepare(&target)?;

    let quiet = common.quiet || target.is_terminal();
    let mut output = target.create()?;
    let (with, is_new) = key.get()?;
    let (name, modified) = (input.to_string(), input.modified());
    let progress = Progress::new(quiet, input.len);
    let is_file = !output.is_stream();
    fastgcm_file::seal(with, common.context.as_bytes(), input.watch(progress), &mut output, common.threads())
        .map_err(|error| Failure::file(&name, error))
        .and_then(|_| if args.keep_time { output.keep_time(&name, modified) } else { Ok(()) })
        .and_then(|()| output.commit())
        .map_err(|failure| key.failed(failure))?;
    if is_file && !common.quiet {
        key.report(is_new)?;
        if is_only {
            report::sealed(args, &path);
        }
    }
    Ok(())
}

/// Returns FILE.sealed, or standard output for standard input.
fn output(args: &cli::Seal, file: &Path) -> PathBuf {
    match &args.output {
        Some(output) => output.clone(),
        None if is_dash(file) => file.to_owned(),
        None => sealed_name(file),
    }
}

fn sealed_name(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sealed");
    name.into()
}
