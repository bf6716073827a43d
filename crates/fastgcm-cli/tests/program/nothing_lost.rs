//! Whatever happens, a name stands for the old content or for all of the new, and no file goes that the program did not make.

use crate::support::{Bench, full, text};
use std::{
    fs,
    io::{Read, Write},
    os::unix::{
        fs::{FileExt, OpenOptionsExt, lchown, symlink},
        process::CommandExt,
    },
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

#[test]
fn an_existing_target_is_untouched() {
    let bench = Bench::new();
    bench.write("a", &text(100_000));
    bench.write("a.sealed", b"precious");
    bench.fails(5, &["seal", "-k", "key", "a"]);
    bench.fails(5, &["seal", "-k", "key", "-o", "a.sealed", "a"]);
    fs::create_dir(bench.path("directory")).unwrap();
    bench.fails(5, &["seal", "-k", "key", "-o", "directory", "a"]);
    bench.fails(5, &["seal", "-k", "key", "--force", "-o", "directory", "a"]);
    bench.ok(&["seal", "-k", "key", "--force", "a"]);
    assert!(bench.ok(&["open", "-k", "key", "-o", "-", "a.sealed"]) == text(100_000));
    bench.fails(5, &["open", "-k", "key", "a.sealed"]);
    bench.write("a", b"another");
    bench.ok(&["open", "-k", "key", "--force", "a.sealed"]);
    assert!(bench.read("a") == text(100_000));
    assert_eq!(bench.names(), ["a", "a.sealed", "directory", "key", "key128"]);
    bench.passed("nothing_lost::an_existing_target_is_untouched", 8);
}

#[test]
fn input_and_output_are_not_the_same_file() {
    let bench = Bench::new();
    bench.write("a", &text(50_000));
    fs::hard_link(bench.path("a"), bench.path("hard")).unwrap();
    symlink("a", bench.path("soft")).unwrap();
    symlink("soft", bench.path("softer")).unwrap();
    for output in ["a", "./a", "hard", "soft", "softer"] {
        bench.fails(2, &["seal", "-k", "key", "-o", output, "a"]);
        bench.fails(2, &["seal", "-k", "key", "--force", "-o", output, "a"]);
        bench.fails(2, &["seal", "-k", "key", "--force", "-o", "a", output]);
    }
    // Also by redirection, which would append for ever.
    let append = || fs::OpenOptions::new().append(true).open(bench.path("a")).unwrap();
    let output = bench.command(&["seal", "-k", "key", "-o", "-", "a"]).stdout(append()).output().unwrap();
    assert_eq!((output.status.code(), bench.read("a") == text(50_000)), (Some(2), true));
    // Nor is the key the output.
    bench.fails(2, &["seal", "-k", "key", "--force", "-o", "key", "a"]);
    bench.ok(&["seal", "-k", "key", "a"]);
    bench.fails(2, &["open", "-k", "key", "--force", "-o", "key", "a.sealed"]);
    bench.fails(2, &["open", "-k", "key", "--force", "-o", "a.sealed", "a.sealed"]);
    bench.passed("nothing_lost::input_and_output_are_not_the_same_file", 5 * 3 + 5);
}

#[test]
fn symbolic_links_stay() {
    let bench = Bench::new();
    bench.write("a", &text(50_000));
    bench.write("end", b"precious");
    symlink("end", bench.path("link")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    bench.fails(5, &["seal", "-k", "key", "-o", "link", "a"]);
    bench.fails(5, &["seal", "-k", "key", "-o", "dangling", "a"]);
    bench.fails(5, &["seal", "-k", "key", "--force", "-o", "dangling", "a"]);
    bench.fails(5, &["keygen", "-o", "dangling"]);
    bench.ok(&["seal", "-k", "key", "--force", "-o", "link", "a"]);
    assert_eq!(fs::read_link(bench.path("link")).unwrap(), Path::new("end"));
    assert!(bench.ok(&["open", "-k", "key", "-o", "-", "end"]) == text(50_000));
    // An input may be a link.
    symlink("end", bench.path("b.sealed")).unwrap();
    bench.ok(&["open", "-k", "key", "b.sealed"]);
    assert!(bench.read("b") == text(50_000));
    bench.passed("nothing_lost::symbolic_links_stay", 7);
}

/// The program, held in the middle of its work: it has read a MiB from a named pipe and waits for more.
struct Held {
    child: Child,
    pipe: fs::File,
}

impl Held {
    fn new(bench: &Bench, args: &[&str]) -> Self {
        if !bench.exists("pipe") {
            rustix::fs::mknodat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        }
        let child = bench.command(args).stdout(Stdio::null()).spawn().unwrap();
        let mut pipe = fs::OpenOptions::new().write(true).open(bench.path("pipe")).unwrap();
        pipe.write_all(&text(1 << 20)).unwrap();
        Self { child, pipe }
    }

    /// Lets it see the end of its input.
    fn finish(self) -> (Option<i32>, String) {
        drop(self.pipe);
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// It has an open file in that directory that no name leads to.
    fn has_unnamed_file(&self) -> bool {
        let files = fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
        let mut targets = files.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
        targets.any(|target| target.to_string_lossy().ends_with(" (deleted)"))
    }
}

#[test]
fn killed_in_the_middle_it_leaves_nothing() {
    for force in [false, true] {
        let bench = Bench::new();
        let mut args = vec!["seal", "-k", "key", "-o", "out", "pipe"];
        if force {
            bench.write("out", b"precious");
            args.push("--force");
        }
        let mut held = Held::new(&bench, &args);
        let before = bench.names();
        assert!(held.has_unnamed_file(), "it should be writing");
        held.child.kill().unwrap();
        held.child.wait().unwrap();
        assert_eq!(bench.names(), before);
        assert_eq!(bench.exists("out"), force);
        assert!(!force || bench.read("out") == b"precious");
        bench.passed("nothing_lost::killed_in_the_middle_it_leaves_nothing", 1);
    }
}

/// The old file goes when the new one is there, has its text, and is on the disk; and its mode, its time and the links to it stay.
#[test]
fn rekeyed() {
    let bench = Bench::new();
    let text = text(700_000);
    bench.ok(&["keygen", "-o", "new"]);
    let by = |key: &str, name: &str| bench.run(&["open", "-q", "-k", key, "--context", "here", "-o", "-", name]);
    let is_under =
        |key: &str, name: &str| by(key, name).stdout == text && !by(if key == "key" { "new" } else { "key" }, name).status.success();
    for name in ["a", "b", "c"] {
        bench.write(name, &text);
        bench.ok(&["seal", "-k", "key", "--context", "here", name]);
    }
    let old = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(bench.path("a.sealed")).unwrap().set_modified(old).unwrap();
    bench.set_mode("a.sealed", 0o640);
    symlink("a.sealed", bench.path("link")).unwrap();
    let rekey = ["rekey", "-k", "key", "--to", "new", "--context", "here"];
    let said = |args: &[&str]| {
        let output = bench.run(&[&rekey[..], args].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(said(&["--keep-time", "link"]), (Some(0), "rekeyed: link\n".into()));
    assert!(is_under("new", "a.sealed") && fs::read_link(bench.path("link")).unwrap() == Path::new("a.sealed"));
    assert_eq!((bench.mode("a.sealed"), fs::metadata(bench.path("a.sealed")).unwrap().modified().unwrap()), (0o640, old));
    // A second run goes on where the first one ended.
    let before = bench.read("a.sealed");
    assert_eq!(said(&["a.sealed"]), (Some(0), "rekeyed: a.sealed (it was under the new key before this run)\n".into()));
    assert!(bench.read("a.sealed") == before);
    let (code, all) = said(&["a.sealed", "b.sealed", "missing", "c.sealed"]);
    assert!(code == Some(1) && all.ends_with("fastgcm: rekeyed 3 of 4 files\n"), "{all}");
    assert!(is_under("new", "b.sealed") && is_under("new", "c.sealed"));
    // To a key of the other length, and to one that is made for it.
    bench.ok(&["rekey", "-q", "-k", "new", "--to", "key128", "--context", "here", "b.sealed"]);
    assert!(by("key128", "b.sealed").stdout == text);
    let made = bench.run(&["rekey", "-k", "new", "--new-key", "made", "--context", "here", "c.sealed"]);
    assert!(String::from_utf8(made.stderr).unwrap().starts_with("new key: made, fingerprint ") && by("made", "c.sealed").stdout == text);

    // What cannot be done changes nothing.
    bench.write("cut", &before[..before.len() - 1]);
    let mut damaged = before.clone();
    damaged[400_000] ^= 1;
    bench.write("damaged", &damaged);
    for (code, args) in [
        (3, &["--to", "key", "--context", "there", "a.sealed"][..]),
        (3, &["--to", "key", "--context", "here", "cut"]),
        (3, &["--to", "key", "--context", "here", "damaged"]),
        (3, &["--new-key", "other", "--context", "here", "cut"]),
        (5, &["--new-key", "key", "--context", "here", "a.sealed"]),
        (2, &["--to", "new", "--context", "here", "a.sealed"]),
        (2, &["--to", "key", "--context", "here", "-"]),
        (2, &["--to", "key", "--context", "here", "/dev/null"]),
        (2, &["--to", "key", "--context", "here", "new"]),
        (2, &["--to", "key", "--context", "here", "key"]),
        (2, &["--context", "here", "a.sealed"]),
    ] {
        bench.fails(code, &[&["rekey", "-k", "new"], args].concat());
    }
    bench.passed("nothing_lost::rekeyed", 4 + 3 + 1 + 1 + 4 + 2 + 2 + 11);
}

/// What was written is not what was read, and somebody else's file has come to the name: the old file, or the other one, stays.
#[test]
fn rekeyed_in_bad_company() {
    const BETWEEN: &str = r#"
        use std::{ffi::c_int, env, fs, os::unix::fs::FileExt, os::fd::FromRawFd};
        unsafe extern "C" { fn fdatasync(file: c_int) -> c_int; }
        // The new file is complete: now the disk turns a bit over, or somebody else has a newer file for the name.
        #[unsafe(no_mangle)] unsafe extern "C" fn fsync(file: c_int) -> c_int {
            if let Ok(at) = env::var("FLIP") {
                let file = std::mem::ManuallyDrop::new(unsafe { fs::File::from_raw_fd(file) });
                let mut byte = [0];
                file.read_exact_at(&mut byte, at.parse().unwrap()).unwrap();
                file.write_all_at(&[byte[0] ^ 1], at.parse().unwrap()).unwrap();
            } else if fs::exists("newer").unwrap() {
                fs::rename("newer", "a.sealed").unwrap();
            }
            unsafe { fdatasync(file) }
        }
    "#;
    let bench = Bench::new();
    let library = bench.compile("between", BETWEEN);
    bench.write("a", &text(100_000));
    bench.ok(&["keygen", "-o", "new"]);
    bench.ok(&["seal", "-k", "key", "a"]);
    let (sealed, names) = (bench.read("a.sealed"), bench.names());
    let mut rekey = bench.command(&["rekey", "-k", "key", "--to", "new", "a.sealed"]);
    rekey.env("LD_PRELOAD", library);
    for at in [0, 55, 56, 50_000, sealed.len() - 1] {
        let output = rekey.env("FLIP", at.to_string()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{at}: {message}");
        assert!(message.contains("a.sealed: what was written does not open") && message.contains("a.sealed is as it was"), "{message}");
        assert!(bench.read("a.sealed") == sealed && bench.names() == names, "{at}");
    }
    bench.write("newer", b"newer");
    let output = rekey.env_remove("FLIP").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("a.sealed: changed while it was read"), "{message}");
    assert!(bench.read("a.sealed") == b"newer" && bench.names() == names);
}

/// Something comes to the target's name while the program works.
#[test]
fn a_target_that_appears_meanwhile_is_untouched() {
    let bench = Bench::new();
    let held = Held::new(&bench, &["seal", "-k", "key", "-o", "out", "pipe"]);
    bench.write("out", b"precious");
    let (code, message) = held.finish();
    assert_eq!((code, bench.read("out")), (Some(5), b"precious".to_vec()), "{message}");
    let held = Held::new(&bench, &["seal", "-q", "-k", "key", "--force", "-o", "out", "pipe"]);
    assert_eq!(bench.read("out"), b"precious");
    assert_eq!(held.finish(), (Some(0), String::new()));
    assert!(bench.ok(&["open", "-k", "key", "-o", "-", "out"]) == text(1 << 20));
    assert_eq!(bench.names(), ["key", "key128", "out", "pipe"]);
    bench.passed("nothing_lost::a_target_that_appears_meanwhile_is_untouched", 3);
}

/// A file system that has neither hard links nor a rename that replaces nothing: exFAT by FUSE, at the folder that this variable names.
#[test]
fn without_links() {
    let Some(folder) = std::env::var_os("FASTGCM_UNLINKED") else {
        println!("SKIPPED nothing_lost::without_links: there is no file system without links (`.ci/run tests` makes one)");
        return;
    };
    let bench = Bench::within(Path::new(&folder));
    bench.write("a", &text(300_000));
    assert!(fs::hard_link(bench.path("a"), bench.path("link")).is_err(), "this file system has links");
    bench.ok(&["seal", "-k", "key", "a"]);
    bench.fails(5, &["seal", "-k", "key", "a"]);
    bench.fails(5, &["keygen", "-o", "key"]);
    bench.ok(&["seal", "-k", "key", "--force", "a"]);
    bench.ok(&["seal", "--new-key", "new", "-o", "b.sealed", "a"]);
    bench.ok(&["rekey", "-k", "new", "--new-key", "newer", "b.sealed"]);
    for (key, sealed) in [("key", "a.sealed"), ("newer", "b.sealed")] {
        fs::remove_file(bench.path("a")).unwrap();
        bench.ok(&["open", "-k", key, "-o", "a", sealed]);
        assert!(bench.read("a") == text(300_000));
    }
    // Something comes to the name while the program works.
    let mut child = bench.command(&["seal", "-k", "key", "-o", "c", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&text(1 << 20)).unwrap();
    bench.write("c", b"precious");
    drop(pipe);
    assert_eq!((child.wait_with_output().unwrap().status.code(), bench.read("c")), (Some(5), b"precious".to_vec()));
    assert_eq!(bench.names(), ["a", "a.sealed", "b.sealed", "c", "key", "key128", "new", "newer"]);
    bench.passed("nothing_lost::without_links", 9);
}

/// A new key is complete on the disk before the first byte of the output.
#[test]
fn a_new_key_comes_first() {
    let bench = Bench::new();
    let mut held = Held::new(&bench, &["seal", "--new-key", "new", "-o", "out", "pipe"]);
    assert_eq!(bench.read("new").len(), 65);
    assert!(!bench.exists("out"));
    held.child.kill().unwrap();
    held.child.wait().unwrap();
    assert_eq!(bench.names(), ["key", "key128", "new", "pipe"]);
}

/// A file that grows, shrinks or changes while it is read gives an error, and a stream that no reader takes for whole.
#[test]
fn an_input_that_changes_meanwhile() {
    type Change = fn(&fs::File);
    let changes: [(&str, Change); 3] = [
        ("grows", |file| file.set_len((4 << 20) + 1).unwrap()),
        ("shrinks", |file| file.set_len((4 << 20) - 1).unwrap()),
        ("changes", |file| file.write_all_at(b"x", 5).unwrap()),
    ];
    for (name, change) in changes {
        let bench = Bench::new();
        bench.write("a", &text(4 << 20));
        // Nobody reads its output yet, so it stops in the middle.
        let mut child = bench.command(&["seal", "-k", "key", "-o", "-", "--threads", "2", "a"]).spawn().unwrap();
        let mut sealed = vec![0; 56];
        child.stdout.as_mut().unwrap().read_exact(&mut sealed).unwrap();
        thread::sleep(Duration::from_millis(20)); // the clock of file times is coarse
        change(&fs::OpenOptions::new().write(true).open(bench.path("a")).unwrap());
        child.stdout.as_mut().unwrap().read_to_end(&mut sealed).unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert!(message.contains("a: changed while it was read"), "{name}: {message}");
        let opened = bench.run_with(&["open", "-k", "key", "-"], &sealed);
        assert_eq!(opened.status.code(), Some(3), "{name}");
        bench.passed(&format!("nothing_lost::an_input_that_{name}_meanwhile"), 2);
    }
}

#[test]
fn outputs_that_fail() {
    let bench = Bench::new();
    bench.write("a", &text(300_000));
    bench.ok(&["seal", "-k", "key", "a"]);
    let no_space = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    // A self-test takes a second and more: one here is all of those that print an answer, but in the full run.
    let long = &["selftest"][..];
    for args in [
        &["seal", "-k", "key", "-o", "-", "a"][..],
        &["open", "-k", "key", "-o", "-", "a.sealed"],
        &["cpu"],
        long,
        &["keygen"],
        &["inspect", "a.sealed"],
        &["man"],
    ] {
        let output = bench.command(args).stdout(no_space()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("No space left"));
        if args == long && !full() {
            continue;
        }
        // A broken pipe is silent.
        let output = bench.command(args).stdout(closed()).output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(1), Vec::new()), "{args:?}");
    }
    bench.fails(1, &["seal", "-k", "key", "-o", "/dev/full", "a"]);
    bench.fails(1, &["seal", "-k", "key", "--force", "-o", "/dev/full", "a"]);
    bench.fails(1, &["seal", "-k", "key", "-o", "no/such/directory", "a"]);
    bench.fails(1, &["seal", "-k", "key", "-o", "/proc/nothing", "a"]);
    bench.fails(1, &["seal", "-k", "key", "-o", "out", "missing"]);
    bench.fails(1, &["seal", "-k", "key", "-o", "out", "."]);
    bench.fails(1, &["open", "-k", "key", "-o", "out", "missing.sealed"]);
    bench.passed("nothing_lost::outputs_that_fail", 1 + 6 * 2 + if full() { 2 } else { 1 } + 7);
}

/// Closed standard input and output are not an empty file and not a text that was written.
#[test]
fn closed_standard_streams() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let mut runs = 0;
    let mut shell = |redirection: &str, args: &str| {
        runs += 1;
        let line = format!("exec \"$0\" {args} {redirection}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_fastgcm")]).current_dir(bench.path(".")).output().unwrap()
    };
    for (redirection, args) in [("<&-", "seal -k key -o out -"), (">&-", "seal -k key -o - a"), (">&-", "keygen -o -")] {
        let output = shell(redirection, args);
        assert_eq!(output.status.code(), Some(1), "{args}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("is closed"));
    }
    assert!(!bench.exists("out"));
    assert_eq!(shell("</dev/null", "seal -k key -o out -").status.code(), Some(0));
    assert_eq!(shell(">/dev/null", "seal -k key -o - a").status.code(), Some(0));
    assert_eq!(shell("2>&-", "seal -k key -o key a").status.code(), Some(5));
    assert_eq!(runs, 6);
}

/// A pipe or a device is written to as it is, not replaced: `-o >(command)`, `-o /dev/stdout`.
#[test]
fn devices_and_named_pipes_are_not_replaced() {
    let bench = Bench::new();
    bench.write("a", &text(100_000));
    assert_eq!(bench.ok(&["seal", "-k", "key", "--force", "-o", "/dev/stdout", "a"]).len(), 100_000 + 56 + 7 * 16);
    bench.ok(&["seal", "-k", "key", "--force", "-o", "/dev/null", "a"]);
    rustix::fs::mknodat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let child = bench.command(&["seal", "-k", "key", "--force", "-o", "pipe", "a"]).spawn().unwrap();
    let sealed = bench.read("pipe");
    assert!(child.wait_with_output().unwrap().status.success());
    let opened = bench.run_with(&["open", "-k", "key", "-"], &sealed);
    assert!(opened.stdout == text(100_000));
    bench.passed("nothing_lost::devices_and_named_pipes_are_not_replaced", 4);
}

/// Number of the user `nobody`.
const STRANGER: u32 = 65534;

/// A pipe, a link and a file that somebody else has put into a folder that all share get nothing, whether or not the kernel would see to it.
#[test]
fn what_a_stranger_put_there() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED nothing_lost::what_a_stranger_put_there: only the superuser makes a file of another user");
        return;
    }
    let bench = Bench::new();
    bench.write("a", b"secret");
    bench.write("own", b"precious");
    fs::create_dir(bench.path("shared")).unwrap();
    bench.set_mode("shared", 0o1777);
    let pipe =
        |name: &str| rustix::fs::mknodat(rustix::fs::CWD, bench.path(name), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let belongs = |name: &str, owner: u32| lchown(bench.path(name), Some(owner), Some(owner)).unwrap();
    bench.ok(&["seal", "-k", "key", "-o", "shared/b.sealed", "a"]);
    pipe("shared/b");
    bench.write("shared/file", b"a trap");
    symlink("../own", bench.path("shared/link")).unwrap();
    symlink("shared/link", bench.path("through")).unwrap();
    symlink("shared/b", bench.path("to-pipe")).unwrap();
    ["shared/b", "shared/file", "shared/link"].iter().for_each(|name| belongs(name, STRANGER));
    // With and without somebody who reads the pipe.
    for reader in [
        None,
        Some(fs::OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(bench.path("shared/b"))),
    ] {
        for args in [
            &["open", "-k", "key", "shared/b.sealed"][..],
            &["open", "-k", "key", "--force", "shared/b.sealed"],
            &["open", "-k", "key", "-o", "to-pipe", "shared/b.sealed"],
            &["seal", "-k", "key", "-o", "shared/b", "a"],
            &["keygen", "-o", "shared/b"],
            &["open", "-k", "key", "--force", "-o", "shared/link", "shared/b.sealed"],
            &["open", "-k", "key", "--force", "-o", "through", "shared/b.sealed"],
            &["open", "-k", "key", "--force", "-o", "shared/file", "shared/b.sealed"],
        ] {
            let said = bench.fails(5, args);
            assert!(said.contains("belongs to another user"), "{said}");
        }
        if let Some(reader) = reader {
            let mut got = Vec::new();
            let _ = reader.unwrap().read_to_end(&mut got);
            assert!(got.is_empty());
        }
    }
    assert!(bench.read("own") == b"precious" && bench.read("shared/file") == b"a trap");
    // One's own, in such a folder, and a stranger's in a folder of one's own, are as ever.
    belongs("shared/link", 0);
    bench.ok(&["open", "-k", "key", "--force", "-o", "through", "shared/b.sealed"]);
    assert!(bench.read("own") == b"secret");
    let name = "shared/b";
    for (mode, owner) in [(0o1777, 0), (0o755, STRANGER), (0o777, STRANGER), (0o1755, STRANGER)] {
        belongs(name, owner);
        bench.set_mode("shared", mode);
        let child = bench.command(&["open", "-k", "key", "shared/b.sealed"]).spawn().unwrap();
        assert!(bench.read(name) == b"secret" && child.wait_with_output().unwrap().status.success());
    }
    bench.set_mode("shared", 0o1777);
    let output = bench.by("bash", "cd shared; fastgcm open -k ../key -o >(cat > ../got) b.sealed; wait $!");
    assert!(output.status.success() && bench.read("got") == b"secret", "{output:?}");
    bench.passed("nothing_lost::what_a_stranger_put_there", 1 + 16 + 1 + 4 + 1);
}

/// A folder into which one may put files, and not look: what is there stays, and what comes appears whole.
#[test]
fn a_folder_that_may_not_be_listed() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED nothing_lost::a_folder_that_may_not_be_listed: only the superuser becomes another user");
        return;
    }
    let bench = Bench::new();
    bench.copy_program("fastgcm");
    bench.write("a", &text(100_000));
    for (name, mode) in [("box", 0o733), ("own", 0o700)] {
        fs::create_dir(bench.path(name)).unwrap();
        bench.set_mode(name, mode);
    }
    lchown(bench.path("own"), Some(STRANGER), Some(STRANGER)).unwrap();
    bench.set_mode(".", 0o711);
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(bench.path("fastgcm"));
        let output = command.args(args).current_dir(bench.path(".")).uid(STRANGER).gid(STRANGER).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (code, args) in [
        (0, &["keygen", "-o", "own/key"][..]),
        (0, &["seal", "-k", "own/key", "-o", "box/a.sealed", "a"]),
        (5, &["seal", "-k", "own/key", "-o", "box/a.sealed", "a"]),
        (0, &["seal", "-k", "own/key", "--force", "-o", "box/a.sealed", "a"]),
        (0, &["open", "-k", "own/key", "-o", "box/a", "box/a.sealed"]),
        (0, &["keygen", "-o", "box/key"]),
    ] {
        let (ended, said) = run(args);
        assert_eq!(ended, Some(code), "{args:?}: {said}");
    }
    let mut names: Vec<_> = fs::read_dir(bench.path("box")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names == ["a", "a.sealed", "key"] && bench.read("box/a") == text(100_000), "{names:?}");
}

/// Below 64 MiB for any size of file and any number of threads.
#[test]
fn memory_has_a_bound() {
    let bench = Bench::new();
    const LEN: u64 = 80 << 20;
    fs::File::create(bench.path("a")).unwrap().set_len(LEN).unwrap();
    bench.ok(&["seal", "-k", "key", "--threads", "16", "a"]);
    for (command, file) in [("seal", "a"), ("open", "a.sealed")] {
        for threads in ["16", "1000"] {
            let mut child = bench.command(&[command, "-k", "key", "--threads", threads, "-o", "-", file]).spawn().unwrap();
            let mut stdout = child.stdout.take().unwrap();
            // All but the last few MiB: it is still at work, with all its threads.
            std::io::copy(&mut (&mut stdout).take(LEN - (4 << 20)), &mut std::io::sink()).unwrap();
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let field = |name| {
                status.lines().find_map(|line| line.strip_prefix(name)).unwrap().split_whitespace().next().unwrap().parse::<u64>().unwrap()
            };
            let (peak, running) = (field("VmHWM:"), field("Threads:"));
            std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
            assert!(child.wait().unwrap().success());
            assert!(peak < 64 << 10, "{command} on {threads} threads: {peak} KiB");
            assert!(running >= 16, "{running}");
            println!("memory_has_a_bound {command} {running} threads {peak} KiB");
        }
    }
}

/// The time of modification is compared with that of the opening, not with the clock.
#[test]
fn an_old_or_future_time_is_no_change() {
    let bench = Bench::new();
    bench.write("a", &text(1000));
    let file = fs::OpenOptions::new().write(true).open(bench.path("a")).unwrap();
    for time in [std::time::UNIX_EPOCH, std::time::SystemTime::now() + Duration::from_secs(1_000_000)] {
        file.set_modified(time).unwrap();
        bench.ok(&["seal", "-k", "key", "--force", "a"]);
    }
}
