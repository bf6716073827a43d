//! `fastgcm open`

use crate::{
    cli,
    failure::{Code, Failure, escaped, say},
    input::{Input, each, is_dash, refuse_same, refuse_several, refuse_two_dashes, standard},
    keyfile::{KeyFile, Purpose, Wanted},
    output::{Output, PRIVATE, Target},
    progress::Progress,
    salvage,
};
use fastgcm_file::RangeReader;
use std::{
    num::NonZero,
    os::unix::{ffi::OsStrExt, fs::FileTypeExt},
    path::{Path, PathBuf},
};

/// Opens each sealed file separately.
pub(crate) fn run(args: &cli::Open) -> Result<(), Failure> {
    for (option, is_used) in [("-o", args.output.is_some()), ("--range", args.range.is_some())] {
        refuse_several(&args.files, option, is_used)?;
    }
    let backend = args.common.machine.backend()?;
    let path = args.key.as_deref();
    let mut wanted = Wanted { path, format: args.format, purpose: Purpose::Open, reading: &args.reading, backend, read: None };
    each(&args.files, "opened", args.common.quiet, |file| open(args, file, &mut wanted))
}

fn open(args: &cli::Open, file: &Path, wanted: &mut Wanted<'_>) -> Result<(), Failure> {
    let common = &args.common;
    refuse_two_dashes(file, args.key.as_deref())?;
    if file.is_dir() {
        Input::open(file)?; // says so, whatever its name is
    }
    let path = output(args, file)?;
    let input = Input::open(file)?;
    for (what, is_wanted) in [("a range", args.range.is_some()), ("--salvage", args.salvage)] {
        if is_wanted && !input.is_seekable() {
            return Err(Failure::usage(format_args!("{input}: {what} needs a regular file, by its name")));
        }
    }
    let mut target = Target::plan(&path, args.force, PRIVATE)?;
    if args.output.is_none() {
        target.text_only();
    }
    refuse_same(&input, target.identity())?;
    target.refuse_existing()?;
    let key = wanted.get()?;
    key.refuse_same(&target)?;

    let quiet = common.quiet || target.is_terminal();
    let mut output = target.create()?;
    let (name, modified) = (input.to_string(), input.modified());
    let job = Job { key, context: common.context.as_bytes(), threads: common.threads(), quiet };
    if args.salvage {
        return salvage::run(job.key, job.context, input, quiet, output);
    }
    let (len, is_whole) = if input.is_seekable() { job.file(input, args.range, &mut output) } else { job.stream(input, &mut output) }?;
    if args.keep_time {
        output.keep_time(&name, modified)?;
    }
    // The reader of a stream cannot know: before this point, the end may be that of a part.
    let (is_stream, verified) = (output.is_stream(), if is_whole { "verified to the end" } else { RANGE });
    output.commit()?;
    if !quiet && (is_stream || args.files.len() == 1) {
        let to = if is_stream { String::new() } else { format!(" to {}", escaped(&path.display().to_string())) };
        let elsewhere = if args.output.is_none() && !is_stream && is_piped() { " (-o - opens to standard output)" } else { "" };
        say(&format!("opened:  {}{to}, {len} bytes, {verified}{elsewhere}\n", escaped(&name)));
    }
    Ok(())
}

/// The report on a file of which only a range was opened.
const RANGE: &str = "verified, and so is the length of the whole; the rest of it was not read";

/// Returns whether somebody waits at the other end of standard output, or whether it is a file. Nothing is written there unasked: a text
/// may be a secret, and a program that writes a log also has such an output.
fn is_piped() -> bool {
    let stdout = standard(std::io::stdout()).and_then(|stdout| stdout.metadata());
    stdout.is_ok_and(|stdout| stdout.is_file() || stdout.file_type().is_fifo())
}

/// The parts of an opening that do not depend on the kind of input.
struct Job<'a> {
    key: &'a KeyFile,
    context: &'a [u8],
    threads: NonZero<usize>,
    quiet: bool,
}

impl Job<'_> {
    /// Opens a pipe, chunk after chunk. Returns how many bytes were opened, and whether these are all.
    fn stream(&self, input: Input, output: &mut Output) -> Result<(u64, bool), Failure> {
        let name = input.to_string();
        let progress = Progress::new(self.quiet, input.len);
        let opened = fastgcm_file::open(&self.key.key, self.context, input.watch(progress), &mut *output, self.threads);
        opened.map(|len| (len, true)).map_err(|error| incomplete(self.key.failure(name, error), output))
    }

    /// Opens a regular file: its header and its end are verified before the first byte is written, so a truncated or foreign file yields
    /// nothing at all. Returns how many bytes were opened, and whether these are all.
    fn file(&self, input: Input, range: Option<cli::Range>, output: &mut Output) -> Result<(u64, bool), Failure> {
        let name = input.to_string();
        let fail = |error| self.key.failure(&name, error);
        let progress = Progress::new(self.quiet, input.len.filter(|_| range.is_none()));
        let mut reader = RangeReader::new(&self.key.key, self.context, input.seek(progress)).map_err(fail)?;
        let wanted = match range {
            None => 0..reader.len(),
            Some(range) => range.start..range.end.unwrap_or(reader.len()),
        };
        if wanted.start > wanted.end || wanted.end > reader.len() {
            return Err(Failure::usage(format_args!("{name}: the range ends beyond the text, which has {} bytes", reader.len())));
        }
        if range.is_some() && output.is_stream() {
            // Bytes that were written to a stream cannot be taken back, and a range may be longer than memory. So the range is read twice,
            // and each chunk is also verified the second time.
            reader.verify(wanted.clone(), self.threads).map_err(fail)?;
        }
        let len = wanted.end - wanted.start;
        reader.copy(wanted, &mut *output, self.threads).map_err(|error| incomplete(fail(error), output))?;
        Ok((len, len == reader.len()))
    }
}

/// The reader of a stream must know that it is not the whole text.
fn incomplete(failure: Failure, output: &Output) -> Failure {
    if failure.code() == Code::Unauthentic && output.has_given() {
        return failure.note("what was written so far is authentic, but incomplete: do not use it as the whole text");
    }
    failure
}

/// Returns FILE without `.sealed`; standard output for standard input and for a range, because a range is not what the name promises.
fn output(args: &cli::Open, file: &Path) -> Result<PathBuf, Failure> {
    match &args.output {
        Some(output) => Ok(output.clone()),
        None if is_dash(file) || args.range.is_some() => Ok("-".into()),
        None => opened_name(file),
    }
}

fn opened_name(file: &Path) -> Result<PathBuf, Failure> {
    let name = file.file_name().and_then(|name| name.as_bytes().strip_suffix(b".sealed")).filter(|name| !name.is_empty());
    match name {
        Some(name) => Ok(file.with_file_name(std::ffi::OsStr::from_bytes(name))),
        None => Err(Failure::usage(format_args!("{}: the name does not end in .sealed; say where to write with -o", file.display()))),
    }
}
