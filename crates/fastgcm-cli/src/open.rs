//! `fastgcm open`

use crate::{
    cli,
    failure::{Code, Failure},
    input::{Input, is_dash, refuse_same, refuse_two_dashes},
    keyfile,
    output::{Output, PRIVATE, Target},
    progress::Progress,
};
use fastgcm_file::{Key, RangeReader};
use std::{
    num::NonZero,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Opens a sealed file.
pub(crate) fn run(args: &cli::Open) -> Result<(), Failure> {
    let common = &args.common;
    args.more.refuse()?;
    refuse_two_dashes(&args.file, Some(&args.key))?;
    let backend = common.machine.backend()?;
    let path = output(args)?;
    let input = Input::open(&args.file)?;
    if args.range.is_some() && !input.is_seekable() {
        return Err(Failure::usage(format_args!("{input}: a range needs a regular file, by its name")));
    }
    let mut target = Target::plan(&path, args.force, PRIVATE)?;
    if args.output.is_none() {
        target.text_only();
    }
    refuse_same(&input, target.identity())?;
    target.refuse_existing()?;
    let (key, identity) = keyfile::read(&args.key, args.format, common.insecure_key_file)?;
    if target.identity() == Some(identity) && !is_dash(&args.key) {
        return Err(Failure::usage(format_args!("{} is both key and output", args.key.display())));
    }
    let key = key.with_backend(backend).map_err(|error| Failure::file(&input, error))?;

    let quiet = common.quiet || target.is_terminal();
    let mut output = target.create()?;
    let job = Job { key: &key, context: common.context.as_bytes(), threads: common.threads(), quiet };
    if input.is_seekable() { job.file(input, args.range, &mut output) } else { job.stream(input, &mut output) }?;
    output.commit()
}

/// What does not depend on the kind of input.
struct Job<'a> {
    key: &'a Key,
    context: &'a [u8],
    threads: NonZero<usize>,
    quiet: bool,
}

impl Job<'_> {
    /// From a pipe: chunk after chunk.
    fn stream(&self, input: Input, output: &mut Output) -> Result<(), Failure> {
        let name = input.to_string();
        let progress = Progress::new(self.quiet, input.len);
        let opened = fastgcm_file::open(self.key, self.context, input.watch(progress), &mut *output, self.threads);
        opened.map(drop).map_err(|error| incomplete(Failure::file(name, error), output))
    }

    /// From a regular file: its header and its end are verified before the first byte is written, so that one which was truncated
    /// or is not ours gives nothing at all.
    fn file(&self, input: Input, range: Option<cli::Range>, output: &mut Output) -> Result<(), Failure> {
        let name = input.to_string();
        let fail = |error| Failure::file(&name, error);
        let progress = Progress::new(self.quiet, input.len.filter(|_| range.is_none()));
        let mut reader = RangeReader::new(self.key, self.context, input.seek(progress)).map_err(fail)?;
        let wanted = match range {
            None => 0..reader.len(),
            Some(range) => range.start..range.end.unwrap_or(reader.len()),
        };
        if wanted.start > wanted.end || wanted.end > reader.len() {
            return Err(Failure::usage(format_args!("{name}: the range ends beyond the text, which has {} bytes", reader.len())));
        }
        if range.is_some() && output.is_stream() {
            // What was written to a stream cannot be taken back, and a range may be longer than memory: so twice, and each chunk is
            // verified the second time as well.
            reader.verify(wanted.clone(), self.threads).map_err(fail)?;
        }
        reader.copy(wanted, &mut *output, self.threads).map_err(|error| incomplete(fail(error), output))
    }
}

/// Whoever reads a stream must know that it is not the whole text.
fn incomplete(failure: Failure, output: &Output) -> Failure {
    if failure.code() == Code::Unauthentic && output.has_given() {
        return failure.note("what was written so far is authentic, but incomplete: do not use it as the whole text");
    }
    failure
}

/// FILE without `.sealed`; standard output for standard input, and for a range, which is not what the name promises.
fn output(args: &cli::Open) -> Result<PathBuf, Failure> {
    match &args.output {
        Some(output) => Ok(output.clone()),
        None if is_dash(&args.file) || args.range.is_some() => Ok("-".into()),
        None => opened_name(&args.file),
    }
}

fn opened_name(file: &Path) -> Result<PathBuf, Failure> {
    let name = file.file_name().and_then(|name| name.as_bytes().strip_suffix(b".sealed")).filter(|name| !name.is_empty());
    match name {
        Some(name) => Ok(file.with_file_name(std::ffi::OsStr::from_bytes(name))),
        None => Err(Failure::usage(format_args!("{}: the name does not end in .sealed; say where to write with -o", file.display()))),
    }
}
