//! `fastgcm seal`

use crate::{
    cli,
    failure::Failure,
    input::{Input, is_dash, refuse_same, refuse_two_dashes},
    keyfile,
    output::{BY_UMASK, NOT_HERE, Target},
    progress::Progress,
    report,
};
use fastgcm_file::Key;
use std::path::{Path, PathBuf};

/// Seals a file. All that can be refused is refused before anything is written, and a new key is on the disk before the first byte
/// of the output is.
pub(crate) fn run(args: &cli::Seal) -> Result<(), Failure> {
    let common = &args.common;
    args.more.refuse()?;
    refuse_two_dashes(&args.file, args.which.key.as_deref())?;
    let backend = common.machine.backend()?;
    let input = Input::open(&args.file)?;
    let path = output(args);
    let target = Target::plan(&path, args.force, BY_UMASK)?;
    if args.output.is_none() && target.is_terminal() {
        return Err(Failure::usage(format_args!("standard output is a terminal, and a sealed file is no text: {NOT_HERE}")));
    }
    refuse_same(&input, target.identity())?;
    target.refuse_existing()?;

    let (key, new_key) = match (&args.which.key, &args.which.new_key) {
        (Some(path), _) => {
            let (key, identity) = keyfile::read(path, Some(args.format), common.insecure_key_file)?;
            if target.identity() == Some(identity) && !is_dash(path) {
                return Err(Failure::usage(format_args!("{} is both key and output", path.display())));
            }
            (key, None)
        }
        (None, Some(path)) => {
            let place = Target::plan_new(path)?;
            if matches!(place, Target::Stream(..)) {
                return Err(Failure::usage(format_args!("{}: a new key needs a file that lasts", path.display())));
            }
            if place.is_same_place(&target) {
                return Err(Failure::usage(format_args!("{} is both key and output", path.display())));
            }
            (Key::generate(args.format).map_err(|error| Failure::file("key", error))?, Some((path, place)))
        }
        (None, None) => return Err(Failure::usage("a key is needed: --key or --new-key")),
    };
    let key = key.with_backend(backend).map_err(|error| Failure::file(&input, error))?;

    let quiet = common.quiet || target.is_terminal();
    let mut output = target.create()?;
    let new_key = match new_key {
        Some((path, place)) => {
            keyfile::create(place, &key)?;
            Some(path)
        }
        None => None,
    };
    let name = input.to_string();
    let progress = Progress::new(quiet, input.len);
    let is_file = !output.is_stream();
    fastgcm_file::seal(&key, common.context.as_bytes(), input.watch(progress), &mut output, common.threads())
        .map_err(|error| Failure::file(&name, error))
        .and_then(|_| output.commit())
        .map_err(|failure| match new_key {
            Some(path) => failure.note(format_args!("the new key was written to {} and stays there", path.display())),
            None => failure,
        })?;
    if is_file && !common.quiet {
        report::sealed(args, &path);
    }
    Ok(())
}

/// FILE.sealed, or standard output for standard input.
fn output(args: &cli::Seal) -> PathBuf {
    match &args.output {
        Some(output) => output.clone(),
        None if is_dash(&args.file) => args.file.clone(),
        None => sealed_name(&args.file),
    }
}

fn sealed_name(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sealed");
    name.into()
}
