//! What `bench` and `study` found, written: each form of it to a file of its own. What stands in the way of one is noticed before anything
//! is measured.

use crate::{
    cli,
    failure::{Code, Failure},
    input::is_dash,
    output::{BY_UMASK, Target},
};
use std::{fmt::Display, io::Write, path::PathBuf};

/// Makes one form of the results.
pub(crate) type Form<R> = fn(&R) -> Result<String, Failure>;

/// The files that were asked for.
pub(crate) struct Files<R>(Vec<File<R>>);

struct File<R> {
    form: Form<R>,
    target: Target,
    is_stdout: bool,
}

impl<R> Files<R> {
    /// Those that have a name, no two of them the same.
    pub(crate) fn plan<const N: usize>(asked: [(&Option<PathBuf>, Form<R>); N], args: &cli::Results) -> Result<Self, Failure> {
        let mut files: Vec<File<R>> = Vec::new();
        for (path, form) in asked {
            let Some(path) = path else { continue };
            let file = File { form, target: Target::plan(path, args.force, BY_UMASK)?, is_stdout: is_dash(path) };
            file.target.refuse_existing()?;
            if files.iter().any(|other| other.target.is_same_place(&file.target) || other.is_stdout && file.is_stdout) {
                return Err(Failure::usage(format_args!("{} is asked for twice", path.display())));
            }
            files.push(file);
        }
        Ok(Self(files))
    }

    /// One of them is the standard output.
    pub(crate) fn take_stdout(&self) -> bool {
        self.0.iter().any(|file| file.is_stdout)
    }

    /// Makes and writes all of them.
    pub(crate) fn write(self, results: &R) -> Result<(), Failure> {
        self.0.into_iter().try_for_each(|file| {
            let content = (file.form)(results)?;
            let mut output = file.target.create()?;
            output.write_all(content.as_bytes()).map_err(|error| Failure::io("the results", error))?;
            output.commit()
        })
    }
}

/// A form that could not be made.
pub(crate) fn failed(error: impl Display) -> Failure {
    Failure::new(Code::Io, format_args!("the results: {error}"))
}
