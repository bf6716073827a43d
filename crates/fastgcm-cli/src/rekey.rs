//! `fastgcm rekey`
//!
//! The old file is read twice: once to seal its text again, and once to compare its text with the text of the new file, as the disk has it.
//! Only then does the new file get the old name.

use crate::{
    cli,
    failure::{Code, Failure, escaped, say},
    input::{Input, each, is_dash},
    keyfile::{Purpose, SealingKey, Wanted, fingerprint},
    output::{BY_UMASK, Output, Target},
    progress::Progress,
};
use fastgcm_file::{CHUNK_LEN, Error, Key, RangeReader, Reader};
use std::{
    io::{self, Read, Write},
    path::Path,
};
use zeroize::Zeroizing;

/// Seals each file again, separately.
pub(crate) fn run(args: &cli::Rekey) -> Result<(), Failure> {
    let (backend, reading) = (args.common.machine.backend()?, &args.reading);
    let wanted = |path, purpose| Wanted { path, format: None, purpose, reading, backend, read: None };
    let mut old = wanted(args.key.as_deref(), Purpose::Open);
    let mut new = SealingKey { wanted: wanted(args.to.to.as_deref(), Purpose::Seal), new: args.to.new_key.as_deref(), made: None };
    let mut before = 0;
    each(&args.files, "rekeyed", true, |file| rekey(args, file, &mut old, &mut new, &mut before))?;
    if !args.common.quiet {
        let what = match &args.files[..] {
            [file] => escaped(&file.display().to_string()),
            files => format!("{} files", files.len()),
        };
        let earlier = match before {
            0 => String::new(),
            _ if args.files.len() == 1 => " (it was under the new key before this run)".into(),
            count => format!(" ({count} of them under the new key before this run)"),
        };
        say(&format!("rekeyed: {what}{earlier}\n"));
    }
    Ok(())
}

fn rekey(args: &cli::Rekey, file: &Path, old: &mut Wanted<'_>, new: &mut SealingKey<'_>, before: &mut usize) -> Result<(), Failure> {
    if is_dash(file) {
        return Err(Failure::usage("standard input has no place that a new file could take: name a file"));
    }
    let input = Input::open(file)?;
    if !input.is_seekable() {
        return Err(Failure::usage(format_args!("{input}: only a regular file can be replaced")));
    }
    let target = Target::plan(file, true, BY_UMASK)?;
    let old = old.get()?;
    old.refuse_same(&target)?;
    new.prepare(&target).map_err(|failure| match (failure.code(), &args.to.new_key) {
        (Code::Exists, Some(key)) => failure.note(format_args!("--to {} seals what is left under that key", key.display())),
        _ => failure,
    })?;
    if let Some(key) = new.known()
        && fingerprint(key)? == fingerprint(&old.key)?
    {
        return Err(Failure::usage("the two keys are the same").last());
    }
    let (context, name) = (args.common.context.as_bytes(), input.to_string());
    // Its header and its end say which key it is under.
    let quiet = || Progress::new(true, None);
    let is_under = |key: &Key| input.again().is_ok_and(|input| RangeReader::new(key, context, input.seek(quiet())).is_ok());
    match RangeReader::new(&old.key, context, input.again()?.seek(quiet())) {
        Ok(_) => {}
        Err(Error::WrongKey) if new.known().is_some_and(is_under) => {
            *before += 1;
            return Ok(());
        }
        Err(error) => return Err(old.failure(&name, error)),
    }

    let mut output = target.create()?;
    let (key, is_new) = new.get()?;
    let sealed = seal_and_compare(args, file, &input, (&old.key, key), &mut output);
    let sealed = sealed.map_err(|failure| failure.note(format_args!("{name} is as it was")));
    sealed.and_then(|()| output.commit()).map_err(|failure| new.failed(failure))?;
    if !args.common.quiet {
        new.report(is_new)?;
    }
    Ok(())
}

/// Writes the new file, and opens it beside the old one: both have one text, or this fails.
fn seal_and_compare(args: &cli::Rekey, file: &Path, was: &Input, (old, new): (&Key, &Key), output: &mut Output) -> Result<(), Failure> {
    let (context, threads, name) = (args.common.context.as_bytes(), args.common.threads(), was.to_string());
    let fail = |error| Failure::file(&name, error);
    let text = Reader::new(old, context, was.again()?.watch(Progress::new(args.common.quiet, was.len))).map_err(fail)?;
    fastgcm_file::seal(new, context, text, &mut *output, threads).map_err(fail)?;
    if args.keep_time {
        output.keep_time(&name, was.modified())?;
    }

    let written = output.read_back().map_err(|error| Failure::io(&name, error))?;
    let again = Reader::new(old, context, was.again()?.watch(Progress::new(true, None))).map_err(fail)?;
    let mut same = Same { name: &name, text: again, buffer: Zeroizing::new(vec![0; CHUNK_LEN]) };
    let differs = |error: Error| match error {
        error if error.is_unauthentic() => Failure::new(Code::Io, format_args!("{name}: what was written does not open: {error}")),
        error => fail(error),
    };
    fastgcm_file::open(new, context, written, &mut same, threads).map_err(differs)?;
    // The old file's own last chunk says that the old text also ends here.
    match same.text.read(&mut same.buffer[..1]) {
        Ok(0) => {}
        Ok(_) => return Err(fail(same.differs().into())),
        Err(error) => return Err(fail(error.into())),
    }
    was.check_place(file)
}

/// Takes exactly the text that it has.
struct Same<'a, R> {
    name: &'a str,
    text: R,
    buffer: Zeroizing<Vec<u8>>,
}

impl<R> Same<'_, R> {
    fn differs(&self) -> io::Error {
        io::Error::other(format!("{}: what was written is another text", self.name))
    }
}

impl<R: Read> Write for Same<'_, R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.buffer.len());
        let expected = &mut self.buffer[..len];
        // An error of the old file is reported as such, not as an error of the new file.
        self.text.read_exact(expected).map_err(|error| io::Error::other(format!("{}: {error}", self.name)))?;
        if *expected == bytes[..len] { Ok(len) } else { Err(self.differs()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_text_is_the_same() {
        let same = |bytes: &[u8]| Same { name: "name", text: &b"abcde"[..], buffer: Zeroizing::new(vec![0; 3]) }.write_all(bytes).is_ok();
        assert!(same(b"abcde") && same(b"abc"));
        assert!(!["b", "abd", "abcdf", "abcdef"].iter().any(|other| same(other.as_bytes())));
    }
}
