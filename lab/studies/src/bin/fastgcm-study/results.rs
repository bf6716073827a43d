//! What was found, written: each form of it to a file of its own. What stands in the way of one is noticed before anything is measured.

use crate::{
    cli,
    failure::{Code, Failure},
    print,
};
use std::{
    fmt::Display,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
};

/// Makes one form of the results.
pub(crate) type Form<R> = fn(&R) -> Result<String, Failure>;

/// The files that were asked for.
pub(crate) struct Files<R>(Vec<File<R>>);

struct File<R> {
    form: Form<R>,
    path: PathBuf,
    /// Which name in which folder; of standard output, none.
    place: Option<PathBuf>,
    /// A file that is there is written anew.
    replace: bool,
}

impl<R> Files<R> {
    /// Those that have a name, no two of them the same. `-` is standard output.
    pub(crate) fn plan<const N: usize>(asked: [(&Option<PathBuf>, Form<R>); N], args: &cli::Results) -> Result<Self, Failure> {
        let mut files: Vec<File<R>> = Vec::new();
        for (path, form) in asked {
            let Some(path) = path else { continue };
            let (place, replace) = if path.as_os_str() == "-" { (None, true) } else { place(path, args.force)? };
            if files.iter().any(|other| other.place == place) {
                return Err(Failure::usage(format_args!("{} is asked for twice", path.display())));
            }
            files.push(File { form, path: path.clone(), place, replace });
        }
        Ok(Self(files))
    }

    /// One of them is the standard output.
    pub(crate) fn take_stdout(&self) -> bool {
        self.0.iter().any(|file| file.place.is_none())
    }

    /// Makes and writes all of them.
    pub(crate) fn write(self, results: &R) -> Result<(), Failure> {
        self.0.into_iter().try_for_each(|File { form, path, place, replace }| {
            let content = form(results)?;
            if place.is_none() {
                return print(&content);
            }
            let file = OpenOptions::new().write(true).truncate(replace).create(replace).create_new(!replace).open(&path);
            file.and_then(|mut file| file.write_all(content.as_bytes())).map_err(|error| Failure::io(path.display(), &error))
        })
    }
}

/// Where the file will be, and whether what is there now is written anew: with `force`, or if it is a device or a pipe.
fn place(path: &Path, force: bool) -> Result<(Option<PathBuf>, bool), Failure> {
    let io = |error| Failure::io(path.display(), &error);
    let exists = |how| Err(Failure::new(Code::Exists, format_args!("{} {how}", path.display())));
    let replace = match (path.metadata(), path.is_symlink()) {
        (Ok(there), _) if there.is_dir() => return exists("is a directory: name a file in it"),
        (Ok(there), _) => !there.is_file() || force,
        (Err(_), true) => return exists("is a symbolic link to nothing: name another file"),
        (Err(_), false) => force,
    };
    if path.exists() && !replace {
        return exists("exists: replace it with --force, or name another file");
    }
    let Some(name) = path.file_name() else { return exists("names a directory: name a file in it") };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Some(folder.canonicalize().map_err(io)?.join(name)), replace))
}

/// A form that could not be made.
pub(crate) fn failed(error: impl Display) -> Failure {
    Failure::new(Code::Io, format_args!("the results: {error}"))
}
