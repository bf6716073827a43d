//! Files and file systems that do not behave: nothing is lost, nothing unverified gets out, and the exit code says what happened.
//!
//! `fault_injection.py` lets every system call fail in turn, `short_calls.rs` lets each do half of its work; here is what neither can
//! imitate. With `FASTGCM_FULL=1` also a file of more than 4 GiB.

use crate::support::{Bench, full, text};
use std::{
    fs,
    io::{self, Read, Write},
    os::unix::{
        fs::{FileExt, PermissionsExt, chown, symlink},
        process::{CommandExt, ExitStatusExt},
    },
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// A directory that nobody may write to, and an input that nobody may read.
#[test]
fn read_only() {
    let bench = Bench::new();
    bench.write("a", &text(50_000));
    bench.ok(&["seal", "-k", "key", "a"]);
    fs::create_dir(bench.path("locked")).unwrap();
    for name in ["a", "a.sealed"] {
        fs::copy(bench.path(name), bench.path("locked").join(name)).unwrap();
    }
    bench.write("unreadable", b"secret");
    bench.copy_program("program");
    let mode = |name: &str, mode| fs::set_permissions(bench.path(name), PermissionsExt::from_mode(mode)).unwrap();
    for (name, bits) in
        [(".", 0o755), ("locked", 0o555), ("locked/a", 0o444), ("locked/a.sealed", 0o444), ("unreadable", 0), ("program", 0o755)]
    {
        mode(name, bits);
    }
    // Permissions do not hold root back, so root becomes somebody else, who must own the key.
    let root = rustix::process::geteuid().is_root();
    if root {
        chown(bench.path("key"), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let run = |args: &[&str]| {
        let mut command = Command::new(bench.path("program"));
        command.args(args).current_dir(bench.path(".")).stdin(Stdio::null());
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    };
    let mut cases = 0;
    for args in [
        &["seal", "-k", "key", "-o", "locked/out", "locked/a"][..],
        &["seal", "-k", "key", "--force", "locked/a"],
        &["seal", "--new-key", "locked/new", "-o", "locked/out", "locked/a"],
        &["open", "-k", "key", "-o", "locked/out", "locked/a.sealed"],
        &["open", "-k", "key", "--force", "locked/a.sealed"],
        &["keygen", "-o", "locked/new"],
        &["seal", "-k", "key", "-o", "-", "unreadable"],
        &["inspect", "unreadable"],
    ] {
        let output = run(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && output.stdout.is_empty() && message.contains("Permission denied"),
            "{args:?}: {message}"
        );
        cases += 1;
    }
    assert_eq!(fs::read_dir(bench.path("locked")).unwrap().count(), 2);
    assert!(bench.read("locked/a") == text(50_000));
    // What can be read there can be opened to elsewhere.
    assert!(run(&["open", "-k", "key", "-o", "-", "locked/a.sealed"]).stdout == text(50_000));
    mode("locked", 0o755);
    assert_eq!(cases, 8);
}

const NOBODY: u32 = 65534;

/// From and to named pipes, and through directories that are symbolic links.
#[test]
fn named_pipes_and_linked_directories() {
    let bench = Bench::new();
    let text = text(700_000);
    bench.write("a", &text);
    for pipe in ["one", "two"] {
        rustix::fs::mknodat(rustix::fs::CWD, bench.path(pipe), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    }
    // The text comes through one pipe, the sealed file goes through the other, and is opened on its way.
    let sealing = bench.command(&["seal", "-k", "key", "-o", "two", "one"]).spawn().unwrap();
    let opening = bench.command(&["open", "-q", "-k", "key", "-o", "opened", "two"]).spawn().unwrap();
    bench.write("one", &text);
    for child in [sealing, opening] {
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }
    assert!(bench.read("opened") == text);
    let mut cases = 2;
    // Who writes to a pipe and stops in the middle of a file leaves one that is refused.
    let opening = bench.command(&["open", "-k", "key", "-o", "half", "two"]).spawn().unwrap();
    bench.ok(&["seal", "-k", "key", "a"]);
    bench.write("two", &bench.read("a.sealed")[..400_000]);
    assert_eq!(opening.wait_with_output().unwrap().status.code(), Some(3));
    assert!(!bench.exists("half"));
    cases += 1;

    fs::create_dir(bench.path("real")).unwrap();
    symlink("real", bench.path("link")).unwrap();
    symlink("nowhere", bench.path("broken")).unwrap();
    bench.ok(&["seal", "-k", "key", "-o", "link/out", "a"]);
    assert!(bench.ok(&["open", "-k", "key", "-o", "-", "real/out"]) == text);
    for (code, args) in [
        (5, &["seal", "-k", "key", "-o", "real/out", "a"][..]),
        (2, &["open", "-k", "key", "--force", "-o", "real/out", "link/out"]), // both are one file
        (1, &["seal", "-k", "key", "-o", "broken/out", "a"]),
    ] {
        bench.fails(code, args);
        cases += 1;
    }
    assert_eq!(fs::read_dir(bench.path("real")).unwrap().count(), 1);
    assert_eq!(cases, 6);
}

/// A sealed file that grows, shrinks or changes while it is opened. (For sealing: `nothing_lost.rs`.)
#[test]
fn a_sealed_file_that_changes_meanwhile() {
    type Change = fn(&fs::File, u64);
    let text = text((4 << 20) + 5);
    let changes: [(&str, Change, i32); 3] = [
        // Its end had been verified: what comes behind it later is not part of it.
        ("grows", |file, len| file.set_len(len + 1).unwrap(), 0),
        ("shrinks", |file, len| file.set_len(len - 1).unwrap(), 3),
        ("changes", |file, len| file.write_all_at(b"xyz", len - 100_000).unwrap(), 3),
    ];
    let mut cases = 0;
    for (name, change, code) in changes {
        // By its name, where any place can be read, and as standard input, where only the next can.
        for by_name in [true, false] {
            let bench = Bench::new();
            bench.write("a", &text);
            bench.ok(&["seal", "-k", "key", "a"]);
            let path = bench.path("a.sealed");
            let mut command = bench.command(&["open", "-k", "key", "--threads", "2", "-o", "-", if by_name { "a.sealed" } else { "-" }]);
            // Nobody reads its output yet, so it stops in the middle.
            let mut child = command.stdin(fs::File::open(&path).unwrap()).spawn().unwrap();
            let mut opened = vec![0; 1000];
            child.stdout.as_mut().unwrap().read_exact(&mut opened).unwrap();
            thread::sleep(Duration::from_millis(20)); // the clock of file times is coarse
            change(&fs::OpenOptions::new().write(true).open(&path).unwrap(), fs::metadata(&path).unwrap().len());
            child.stdout.as_mut().unwrap().read_to_end(&mut opened).unwrap();
            let output = child.wait_with_output().unwrap();
            let found = output.status.code().unwrap();
            // As a stream, it is also noticed that the file is not what it was (1).
            assert!(found == code || !by_name && found == 1, "{name}, {by_name}: {found}");
            assert!(text.starts_with(&opened) && (found != 0 || opened == text), "{name}, {by_name}");
            cases += 1;
        }
    }
    assert_eq!(cases, 6);
}

/// The system lets files grow to so many blocks only: the last write is short, the next one fails or kills.
#[test]
fn a_limit_to_the_size_of_files() {
    let bench = Bench::new();
    bench.write("a", &text(300_000));
    bench.ok(&["seal", "-k", "key", "a"]);
    bench.write("old", b"precious");
    let mut cases = 0;
    for args in ["seal -k key -o new a", "open -k key -o new a.sealed", "seal -k key --force -o old a", "seal --new-key made -o new a"] {
        for blocks in [0, 1, 7, 32, 100, 290] {
            for ignored in [true, false] {
                let line = format!("{} ulimit -f {blocks}; exec \"$0\" {args}", if ignored { "trap '' XFSZ;" } else { "" });
                let mut shell = Command::new("sh");
                shell.args(["-c", &line, env!("CARGO_BIN_EXE_fastgcm")]).current_dir(bench.path("."));
                let output = shell.output().unwrap();
                assert_eq!(output.status.code(), ignored.then_some(1), "{line}");
                assert_eq!(output.status.signal().is_some(), !ignored, "{line}");
                assert!(bench.read("old") == b"precious" && !bench.exists("new"), "{line}");
                // A new key that had its name before is complete, for something may have been sealed with it.
                if bench.exists("made") {
                    assert_eq!(bench.read("made").len(), 65);
                    fs::remove_file(bench.path("made")).unwrap();
                }
                assert_eq!(bench.names(), ["a", "a.sealed", "key", "key128", "old"]);
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 4 * 6 * 2);
}

/// One byte more than 32 bits can count: sealed and opened through pipes, then ranges of the sealed file around its end. All zeros, so that
/// the text takes no room on the disk.
#[test]
fn more_than_4_gib() {
    const LEN: u64 = (4 << 30) + 1;
    if !full() {
        println!("full run only: under_fire::more_than_4_gib, 4 GiB on the disk");
        return;
    }
    let bench = Bench::new();
    fs::File::create(bench.path("a")).unwrap().set_len(LEN).unwrap();
    let mut sealing = bench.command(&["seal", "-k", "key", "-o", "-", "a"]).spawn().unwrap();
    let mut opening = bench.command(&["open", "-k", "key", "-"]).stdin(sealing.stdout.take().unwrap()).spawn().unwrap();
    assert_eq!(zeros(opening.stdout.take().unwrap()), LEN);
    for child in [sealing, opening] {
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
    let mut cases = 1;

    bench.ok(&["seal", "-k", "key", "a"]);
    assert_eq!(fs::metadata(bench.path("a.sealed")).unwrap().len(), fastgcm_file::sealed_len(LEN).unwrap());
    for range in ["4294967290..", "4294967296..4294967297", "4294950000..4294967296"] {
        let (start, end) = range.split_once("..").unwrap();
        let len = end.parse().unwrap_or(LEN) - start.parse::<u64>().unwrap();
        assert_eq!(zeros(&bench.ok(&["open", "-k", "key", "--range", range, "a.sealed"])[..]), len);
        cases += 1;
    }
    bench.fails(2, &["open", "-k", "key", "--range", "0..4294967298", "a.sealed"]);
    let file = fs::OpenOptions::new().read(true).write(true).open(bench.path("a.sealed")).unwrap();
    let cut = file.metadata().unwrap().len() - 1;
    file.set_len(cut).unwrap();
    let output = bench.run(&["open", "-k", "key", "-o", "-", "a.sealed"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    cases += 2;
    assert_eq!(cases, 6);
}

/// How many bytes there are, all of them zero.
fn zeros(mut bytes: impl Read) -> u64 {
    struct Zeros(u64);
    impl Write for Zeros {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            assert!(bytes.iter().all(|byte| *byte == 0));
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut zeros = Zeros(0);
    io::copy(&mut bytes, &mut zeros).unwrap();
    zeros.0
}
