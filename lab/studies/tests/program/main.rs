//! The program `fastgcm-study`, in a directory of one's own.

mod bench;
mod scrub;
mod study;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fastgcm-study");

/// A temporary directory.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// All names in it, in order.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, to be run here.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.path("")).env_remove("FASTGCM_BACKEND").stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// It must succeed, and say nothing on standard error. What it wrote to standard output.
    #[track_caller]
    fn ok(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run(args);
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args:?}");
        output.stdout
    }

    /// It must end with that code and a message (which is returned), write nothing to standard output, and change nothing here.
    #[track_caller]
    fn fails(&self, code: i32, args: &[&str]) -> String {
        let state = || self.names().into_iter().map(|name| (fs::read(self.path(&name)).ok(), name)).collect::<Vec<_>>();
        let before = state();
        let output = self.run(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(!message.is_empty() && !message.contains("panicked"), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(state() == before, "{args:?} changed something");
        message
    }

    /// A library made of that source, for the program to load: its path.
    fn compile(&self, name: &str, source: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir(&folder).unwrap();
        let library = folder.join("library.so");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let arguments = ["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-"];
        let mut rustc = Command::new(rustc).args(arguments).arg("-o").arg(&library).stdin(Stdio::piped()).spawn().unwrap();
        rustc.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
        assert!(rustc.wait().unwrap().success());
        library
    }
}
