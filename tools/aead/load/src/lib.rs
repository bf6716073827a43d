//! Builds and loads plug-ins of `aead.h`: sources in C and C++, modules of Go, crates of Rust, the pages of `libraries/`, and the builds of its `builds.txt`.

use aead_plugin::{INTERFACE, Table};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde_json::Value;
use std::{
    env,
    ffi::{CStr, c_char, c_int},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder with `aead.h` and `libraries`, and the folder for build outputs.
#[derive(Clone, Debug)]
pub struct Home {
    /// `tools/aead`, or a copy of it.
    pub aead: PathBuf,
    /// The folder with `made` for libraries and `plugins` for plug-ins.
    pub target: PathBuf,
}

/// The options of a build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Allows to fetch libraries and to build them from source.
    pub fetch: bool,
    /// Another build of the library that `made:` names: the name of its folder, and the third argument of `make.sh`.
    pub made: Option<(&'a str, &'a str)>,
    /// Flags for rustc, with the name of a separate target folder.
    pub flags: Option<(&'a str, &'a str)>,
}

/// A shared object, and the version of the library that was made for it.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The path of the shared object.
    pub object: PathBuf,
    /// The library's version according to `make.sh`, or an empty string.
    pub version: String,
}

impl Home {
    /// Returns the folders in the tree of a repository.
    pub fn of_tree(root: &Path) -> Self {
        Self { aead: root.join("tools/aead"), target: root.join("target") }
    }

    /// Returns the page with this name in `libraries`, or one made of `builds.txt`, or `None`.
    pub fn page(&self, name: &str) -> Option<PathBuf> {
        let page = |end: &&str| self.aead.join("libraries").join(format!("{name}{end}"));
        let found = [".c", ".cc", ".rs", ".py", ".java", ".js", ""].iter().map(page).find(|path| path.exists());
        found.or_else(|| self.page_of_build(name))
    }

    /// Returns the names in `builds.txt`.
    pub fn builds(&self) -> Vec<String> {
        let builds = self.aead.join("libraries/builds.txt");
        let text = fs::read_to_string(builds).unwrap_or_default();
        text.lines().filter(|line| !line.starts_with([' ', '#'])).filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    }

    /// Writes a page with the lines of a build of `builds.txt`, which includes the wrapper.
    fn page_of_build(&self, name: &str) -> Option<PathBuf> {
        let libraries = self.aead.join("libraries");
        let builds = fs::read_to_string(libraries.join("builds.txt")).ok()?;
        let (wrapper, rest) = builds.split_once(&format!("\n{name}: "))?.1.split_once('\n')?;
        let wrapper = libraries.join(wrapper);
        let mut lines: String = rest.lines().take_while(|line| line.starts_with(' ')).map(|line| format!(" * {}\n", line.trim())).collect();
        if !lines.contains("without:") {
            lines += &format!(" * without: {}\n", comment(&fs::read_to_string(&wrapper).ok()?, "without:"));
        }
        let page = self.out(Path::new(name), "").ok()?.with_file_name(format!("{name}.c"));
        let text = format!("/*\n{lines} */\n#include \"{}\"\n", wrapper.display());
        // Another tool may read it now.
        if fs::read_to_string(&page).is_ok_and(|there| there == text) {
            return Some(page);
        }
        fs::write(&page, text).ok().map(|()| page)
    }

    /// Builds the shared object of a source file or a folder. Returns `None` for a language without shared objects.
    ///
    /// # Errors
    /// The reason, in a line.
    pub fn build(&self, path: &Path, options: Options<'_>) -> Option<Result<Built, String>> {
        let built = |object: Result<PathBuf, String>| Some(object.map(|object| Built { object, ..Built::default() }));
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("c") => Some(self.compiled(path, "CC", "cc", options)),
            Some("cc") => Some(self.compiled(path, "CXX", "c++", options)),
            Some("rs") if path.with_file_name("Cargo.toml").exists() => built(self.cargo(path, options)),
            _ if path.join("go.mod").exists() => built(self.go(path)),
            _ if path.join("Cargo.toml").exists() => built(self.cargo(path, options)),
            _ => None,
        }
    }

    /// Returns the path for the shared object of this source.
    ///
    /// # Errors
    /// The folder does not exist and cannot be made.
    pub fn out(&self, path: &Path, suffix: &str) -> Result<PathBuf, String> {
        let folder = self.target.join("plugins");
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(folder.join(format!("{}{suffix}.so", path.file_stem().unwrap_or_default().display())))
    }

    /// Compiles a C or C++ file. Its first comment may contain `link:` (arguments of the compiler, on one or more lines), `before:` (a command
    /// for bash in the project's root) and `made:` (a library that `make.sh` builds in `$MADE`).
    fn compiled(&self, path: &Path, variable: &str, compiler: &str, options: Options<'_>) -> Result<Built, String> {
        let source = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let line = |key: &str| Some(comment(&source, key)).filter(|text| !text.is_empty());
        let root = self.aead.join("../..").canonicalize().unwrap_or_else(|_| self.aead.clone());
        if let Some(before) = line("before:") {
            run(Command::new("bash").args(["-c", &before]).current_dir(&root))?;
        }
        let libraries = self.aead.join("libraries").display().to_string();
        let mut link = line("link:").unwrap_or_default().replace("$ROOT", &root.display().to_string()).replace("$HERE", &libraries);
        let mut version = String::new();
        if let Some(library) = line("made:") {
            let (folder, argument) = options.made.unwrap_or((&library, ""));
            let made = self.made(&library, folder, argument, options.fetch)?;
            version = fs::read_to_string(made.join("version")).unwrap_or_default().trim().into();
            link = link.replace("$MADE", &made.display().to_string());
        }
        let object = self.out(path, options.made.map_or("", |(folder, _)| folder))?;
        let mut command = Command::new(env::var(variable).unwrap_or(compiler.into()));
        command.args(["-O2", "-g", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wno-deprecated-declarations", "-I"]);
        // Two libraries may define one symbol; each plug-in uses its own.
        command.arg(&self.aead).args(["-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL"]);
        // Renaming is atomic, in case two tools build one plug-in at once.
        let new = object.with_extension(format!("{}.so", std::process::id()));
        run(command.arg("-o").arg(&new).arg(path).args(link.split_whitespace()))?;
        fs::rename(new, &object).map_err(|error| error.to_string())?;
        Ok(Built { object, version })
    }

    /// Returns the folder that `make.sh` has filled with a library.
    fn made(&self, library: &str, folder: &str, argument: &str, fetch: bool) -> Result<PathBuf, String> {
        let folder = self.target.join("made").join(folder);
        if !folder.join("version").exists() {
            if !fetch {
                return Err("its library is not fetched yet: --fetch (of the bench: --install) does that, in minutes".into());
            }
            eprintln!("fetching {library} ...");
            let mut command = Command::new("sh");
            run(command
                .arg(self.aead.join("libraries/make.sh"))
                .arg(library)
                .arg(&folder)
                .args(Some(argument).filter(|argument| !argument.is_empty())))?;
        }
        folder.canonicalize().map_err(|error| error.to_string())
    }

    /// Builds a module of Go.
    fn go(&self, path: &Path) -> Result<PathBuf, String> {
        let object = self.out(path, "")?;
        let mut command = Command::new("go");
        command.env("CGO_CFLAGS", format!("-O2 -I{}", self.aead.display()));
        run(command.args(["build", "-buildmode=c-shared", "-o"]).arg(&object).arg(".").current_dir(path))?;
        Ok(object)
    }

    /// Builds a crate whose `cdylib` is a plug-in, or one source file of `libraries`.
    fn cargo(&self, path: &Path, options: Options<'_>) -> Result<PathBuf, String> {
        let mut command = cargo();
        command.args(["build", "--release", "--message-format=json-render-diagnostics"]);
        let folder = if path.is_dir() {
            path
        } else {
            let example = path.file_stem().unwrap_or_default().to_string_lossy().replace('.', "-");
            command.args(["--locked", "--example", &example, "--features", &example]);
            path.parent().unwrap_or(path)
        };
        if let Some((name, flags)) = options.flags {
            command.arg("--target-dir").arg(self.target.join(name)).env("RUSTFLAGS", flags);
        }
        let manifest = folder.join("Cargo.toml").display().to_string();
        let output = run(command.current_dir(folder))?;
        let artifacts = output
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|made| made["manifest_path"].as_str() == Some(&manifest));
        let object =
            |made: Value| Some(made["filenames"].as_array()?.iter().filter_map(Value::as_str).find(|file| file.ends_with(".so"))?.into());
        artifacts.filter_map(object).next_back().ok_or_else(|| format!("{manifest} makes no shared object (crate-type = [\"cdylib\"])"))
    }
}

/// Loads a shared object and returns its table. The object is never unloaded. `flags` are further flags of dlopen.
///
/// # Errors
/// The object cannot be loaded, has no such table, or has one of another interface.
pub fn open(library: &Path, symbol: &str, flags: c_int) -> Result<&'static Table, String> {
    let text = |error: libloading::Error| error.to_string();
    // SAFETY: the caller trusts the plug-in, which stays loaded. By the header the symbol is a table, which lives as long as the library.
    let table = unsafe {
        let library = Box::leak(Box::new(Library::open(Some(library), RTLD_NOW | RTLD_LOCAL | flags).map_err(text)?));
        let table = library.get::<*const Table>(symbol.as_bytes()).map_err(|_| format!("it exports no {symbol}"))?;
        &*table.into_raw().cast::<Table>()
    };
    checked(table)
}

/// Checks that a table has this interface version and all functions that belong together.
///
/// # Errors
/// The table has another interface version, or lacks functions.
pub fn checked(table: &'static Table) -> Result<&'static Table, String> {
    if table.interface != INTERFACE {
        return Err(format!("it was built for interface {}, and this is {INTERFACE}", table.interface));
    }
    let whole = table.seal.is_some() && table.open.is_some();
    let pieces = [table.begin.is_some(), table.aad.is_some(), table.update.is_some(), table.finish.is_some(), table.drop.is_some()];
    if table.key.is_none() || table.free.is_none() || !(whole || pieces[0]) || pieces.iter().any(|there| *there != pieces[0]) {
        return Err("its table lacks functions: key and free, seal and open, begin with all that follows".into());
    }
    Ok(table)
}

/// Copies a C string. NULL gives an empty string.
///
/// # Safety
/// `text` is NULL or a C string.
pub unsafe fn string(text: *const c_char) -> String {
    // SAFETY: the caller guarantees it.
    if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned() }
}

/// Returns the lines of the first comment that begin with this key, without the key.
pub fn comment(source: &str, key: &str) -> String {
    let lines = source.lines().take(30).filter_map(|line| line.trim_start_matches(['/', '*', ' ', '!', '#']).strip_prefix(key));
    lines.map(|line| line.trim_end_matches("*/").trim()).collect::<Vec<_>>().join(" ")
}

/// Returns a command for Cargo without the environment variables that `cargo run` set.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    cargo
}

/// Runs a command, and returns its output.
///
/// # Errors
/// The error messages of the command, or its last lines.
pub fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let tells = |line: &&str| ["error", "cannot find", "undefined reference"].iter().any(|word| line.to_lowercase().contains(word));
    let errors: Vec<&str> = text.lines().filter(tells).take(3).collect();
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    Err(if errors.is_empty() { last.join("; ") } else { errors.join("; ") })
}
