//! A directory of one's own, and the program in it.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

/// A temporary directory with a key.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
    /// How often the program was to be run here.
    runs: AtomicUsize,
}

impl Bench {
    /// With `key` (32 bytes) and `key128` in it.
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// In a new directory in that folder.
    pub(crate) fn within(folder: &Path) -> Self {
        Self::of(tempfile::tempdir_in(folder).unwrap())
    }

    fn of(dir: tempfile::TempDir) -> Self {
        let bench = Self { dir, runs: AtomicUsize::new(0) };
        bench.ok(&["keygen", "-o", "key"]);
        bench.ok(&["keygen", "-o", "key128", "--format", "cobblestone-128"]);
        bench.runs.store(0, Ordering::Relaxed);
        bench
    }

    /// A copy of the program that can be run at once. Another process writes that copy: a child that another thread starts meanwhile would have inherited the
    /// open file, and a file that is open for writing cannot be run.
    pub(crate) fn copy_program(&self, to: &str) {
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_fastgcm")).arg(self.path(to)).status();
        assert!(copied.unwrap().success());
    }

    /// Says how often the program was run, and fails unless it was so often.
    pub(crate) fn passed(&self, name: &str, expected: usize) {
        let runs = self.runs.load(Ordering::Relaxed);
        assert_eq!(runs, expected, "{name}");
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn read_at(&self, name: &str, at: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        std::os::unix::fs::FileExt::read_exact_at(&fs::File::open(self.path(name)).unwrap(), &mut bytes, at).unwrap();
        bytes
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// All names in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, to be run here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fastgcm"));
        command.args(args);
        self.at_home(&mut command);
        self.runs.fetch_add(1, Ordering::Relaxed);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// In this directory, where nothing of the user's own counts: no key and no back end.
    fn at_home(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env("XDG_CONFIG_HOME", self.path(".config"));
        for name in ["FASTGCM_BACKEND", "FASTGCM_IDENTITY", "FASTGCM_KEY", "FASTGCM_KEY_FILE", "FASTGCM_PASSPHRASE_FILE"] {
            command.env_remove(name);
        }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// With something on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // The program may end before it has read all.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().unwrap()
        })
    }

    /// On a terminal, where all that it writes appears as it is; with something on its standard input.
    pub(crate) fn on_terminal(&self, args: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>) {
        self.on_wide_terminal(0, args, input)
    }

    /// On a terminal of that many columns; with 0 it does not say how many it has.
    pub(crate) fn on_wide_terminal(&self, columns: u16, args: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>) {
        use rustix::{pty, termios};
        let flags = pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY | pty::OpenptFlags::CLOEXEC;
        let mut screen = fs::File::from(pty::openpt(flags).unwrap());
        pty::grantpt(&screen).unwrap();
        pty::unlockpt(&screen).unwrap();
        let name = pty::ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let terminal = fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
        let size = termios::Winsize { ws_row: 24 * columns.min(1), ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        termios::tcsetwinsize(&terminal, size).unwrap();
        let mut raw = termios::tcgetattr(&terminal).unwrap();
        raw.make_raw();
        termios::tcsetattr(&terminal, termios::OptionalActions::Now, &raw).unwrap();
        fs::write(self.path(".input"), input).unwrap();
        let mut command = self.command(args);
        command.env("TERM", "xterm").stdin(fs::File::open(self.path(".input")).unwrap());
        command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
        let mut child = command.spawn().unwrap();
        fs::remove_file(self.path(".input")).unwrap();
        drop(command); // It has the terminal open, too.
        let mut shown = Vec::new();
        // Without anybody at the other end this is an error, not an end.
        let _ = std::io::Read::read_to_end(&mut screen, &mut shown);
        (child.wait().unwrap().code(), shown)
    }

    /// By a shell, where `fastgcm` is the program.
    pub(crate) fn shell(&self, line: &str) -> Output {
        self.by("sh", line)
    }

    /// By that shell.
    pub(crate) fn by(&self, shell: &str, line: &str) -> Output {
        let line = format!("fastgcm() {{ {} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_fastgcm"));
        let mut command = Command::new(shell);
        command.args(["-c", &line]).stdin(Stdio::null());
        self.at_home(&mut command);
        self.runs.fetch_add(1, Ordering::Relaxed);
        command.output().unwrap()
    }

    /// The permissions of a file.
    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// It must succeed, and say nothing on standard error but what a run reports. What it wrote to standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run(args);
        assert_eq!((output.status.code(), but_for_reports(&output.stderr)), (Some(0), String::new()), "{args:?}");
        output.stdout
    }

    /// It must end with that code and a message (which is returned), write nothing to standard output, and change nothing here.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let before = self.state();
        let output = self.run(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(!message.is_empty() && !message.contains("panicked"), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(self.state() == before, "{args:?} changed something");
        message
    }

    /// A library made of that source, for the program to load: its path.
    pub(crate) fn compile(&self, name: &str, source: &str) -> PathBuf {
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

    /// Names and contents of everything.
    fn state(&self) -> Vec<(String, Option<Vec<u8>>)> {
        let content = |name: &String| self.path(name).is_file().then(|| self.read(name));
        self.names().into_iter().map(|name| (name.clone(), content(&name))).collect()
    }
}

/// Bytes without a short period.
pub(crate) fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// `FASTGCM_FULL=1`: also what takes minutes or gigabytes.
pub(crate) fn full() -> bool {
    std::env::var_os("FASTGCM_FULL").is_some_and(|full| full == "1")
}

/// What stands on standard error beside the lines that a run ends with.
pub(crate) fn but_for_reports(stderr: &[u8]) -> String {
    let reports = ["new key: ", "sealed:  ", "to open: ", "opened:  ", "rekeyed: ", "shared:  ", "skipped: ", "salvaged: "];
    String::from_utf8_lossy(stderr).lines().filter(|line| !reports.iter().any(|report| line.starts_with(report))).collect()
}
