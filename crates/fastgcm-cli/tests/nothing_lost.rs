//! Whatever happens, a name stands for the old content or for all of the new, and no file goes that the program did not make.

mod support;

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{FileExt, symlink},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};
use support::{Bench, text};

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
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    for args in [
        &["seal", "-k", "key", "-o", "-", "a"][..],
        &["open", "-k", "key", "-o", "-", "a.sealed"],
        &["cpu"],
        &["selftest"],
        &["keygen"],
        &["inspect", "a.sealed"],
        &["man"],
    ] {
        let output = bench.command(args).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("No space left"));
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
    bench.passed("nothing_lost::outputs_that_fail", 1 + 7 * 2 + 7);
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
    println!("nothing_lost::closed_standard_streams ok {runs}");
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

/// Below 64 MiB for any size of file and any number of threads.
#[test]
fn memory_has_a_bound() {
    let bench = Bench::new();
    const LEN: u64 = 300 << 20;
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
