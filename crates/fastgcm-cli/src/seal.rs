//! `fastgcm seal`

use crate::{
    cli,
    failure::Failure,
    input::{Input, each, is_dash, refuse_same, refuse_several, refuse_two_dashes},
    keyfile::{self, Purpose, Wanted},
    output::{BY_UMASK, NOT_HERE, Target},
    progress::Progress,
    report,
};
use fastgcm_file::{Backend, Key};
use std::path::{Path, PathBuf};

/// Seals each file by itself.
pub(crate) fn run(args: &cli::Seal) -> Result<(), Failure> {
    refuse_several(&args.files, "-o", args.output.is_some())?;
    let backend = args.common.machine.backend()?;
    let path = args.which.key.as_deref();
    let wanted = Wanted { path, format: Some(args.format), purpose: Purpose::Seal, reading: &args.reading, backend, read: None };
    let mut sealing = Sealing { args, wanted, made: None };
    each(&args.files, "sealed", args.common.quiet, |file| sealing.seal(file))
}

struct Sealing<'a> {
    args: &'a cli::Seal,
    wanted: Wanted<'a>,
    /// A new key, and where it goes if it was not written yet.
    made: Option<(Key, Option<Target>)>,
}

impl Sealing<'_> {
    /// Seals a file. All that can be refused is refused before anything is written, and a new key is on the disk before the first byte
    /// of the output is.
    fn seal(&mut self, file: &Path) -> Result<(), Failure> {
        let Self { args, wanted, made } = self;
        let common = &args.common;
        refuse_two_dashes(file, args.which.key.as_deref())?;
        let input = Input::open(file).map_err(|failure| report::instead_of_directory(args, file, failure))?;
        let path = output(args, file);
        let target = Target::plan(&path, args.force, BY_UMASK)?;
        if args.output.is_none() && target.is_terminal() {
            return Err(Failure::usage(format_args!("standard output is a terminal, and a sealed file is no text: {NOT_HERE}")));
        }
        refuse_same(&input, target.identity())?;
        target.refuse_existing()?;

        let (new_key, mut nowhere) = (args.which.new_key.as_deref(), None);
        let (key, place) = match new_key {
            None => {
                let file = wanted.get()?;
                file.refuse_same(&target)?;
                (&file.key, &mut nowhere)
            }
            Some(path) => {
                let (key, place) = match made {
                    Some(made) => made,
                    none => none.insert(make(args, path, &target, wanted.backend).map_err(Failure::last)?),
                };
                (&*key, place)
            }
        };

        let quiet = common.quiet || target.is_terminal();
        let mut output = target.create()?;
        let is_new = place.is_some();
        if let Some(place) = place.take() {
            keyfile::create(place, key).map_err(Failure::last)?;
        }
        let (name, modified) = (input.to_string(), input.modified());
        let progress = Progress::new(quiet, input.len);
        let is_file = !output.is_stream();
        fastgcm_file::seal(key, common.context.as_bytes(), input.watch(progress), &mut output, common.threads())
            .map_err(|error| Failure::file(&name, error))
            .and_then(|_| if args.keep_time { output.keep_time(&name, modified) } else { Ok(()) })
            .and_then(|()| output.commit())
            .map_err(|failure| match new_key {
                Some(path) => failure.note(format_args!("the new key was written to {} and stays there", path.display())),
                None => failure,
            })?;
        if is_file && !common.quiet {
            if let Some(path) = new_key.filter(|_| is_new) {
                report::made(path, key)?;
            }
            if args.files.len() == 1 {
                report::sealed(args, &path);
            }
        }
        Ok(())
    }
}

/// A new key, and where it will go.
fn make(args: &cli::Seal, path: &Path, target: &Target, backend: Backend) -> Result<(Key, Option<Target>), Failure> {
    let place = Target::plan_new(path)?;
    if matches!(place, Target::Stream(..)) {
        return Err(Failure::usage(format_args!("{}: a new key needs a file that lasts", path.display())));
    }
    if place.is_same_place(target) {
        return Err(Failure::usage(format_args!("{} is both key and output", path.display())));
    }
    let key = Key::generate(args.format).and_then(|key| key.with_backend(backend));
    Ok((key.map_err(|error| Failure::file("key", error))?, Some(place)))
}

/// FILE.sealed, or standard output for standard input.
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
