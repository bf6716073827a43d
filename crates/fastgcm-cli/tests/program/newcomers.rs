//! What people type who have just met the program.

use crate::support::{Bench, text};
use std::{fs, process::Stdio};

/// `seal docs/*` every night: what is sealed is skipped, and that is said.
#[test]
fn sealed_files_are_not_sealed_again() {
    let bench = Bench::new();
    fs::create_dir(bench.path("docs")).unwrap();
    bench.write("docs/a", b"a");
    bench.write("docs/b", b"b");
    let by_shell = |line: &str| {
        let output = bench.shell(line);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(by_shell("fastgcm seal -k key docs/*"), (Some(0), "sealed:  2 files\n".into()));
    let (code, said) = by_shell("fastgcm seal -k key --force docs/*");
    assert!(code == Some(0) && said == "skipped: 2 files with a name that ends in .sealed\nsealed:  2 files\n", "{said}");
    assert_eq!(fs::read_dir(bench.path("docs")).unwrap().count(), 4);
    bench.write("docs/c", b"c");
    let (code, said) = by_shell("fastgcm seal -k key docs/*.sealed docs/c");
    assert!(code == Some(0) && said.contains("sealed:  docs/c.sealed\nto open: "), "{said}");
    assert!(bench.fails(2, &["seal", "-k", "key", "docs/a.sealed"]).contains("its name says that it is sealed"));
    bench.ok(&["seal", "-k", "key", "-o", "twice", "docs/a.sealed"]);
    bench.passed("newcomers::sealed_files_are_not_sealed_again", 5);
}

/// A nightly run is quiet about what it finds sealed, seals what is new, and names what has changed.
#[test]
fn every_night() {
    let bench = Bench::new();
    fs::create_dir(bench.path("docs")).unwrap();
    let write = |name: &str, text: &str| bench.write(&format!("docs/{name}"), text.as_bytes());
    let set_time = |name: &str, seconds: u64| {
        let file = fs::File::options().write(true).open(bench.path(format!("docs/{name}"))).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    };
    let night = |options: &str| {
        let output = bench.shell(&format!("fastgcm seal -k key {options} docs/*"));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let opened = |name: &str| bench.ok(&["open", "-k", "key", "-o", "-", &format!("docs/{name}.sealed")]);
    write("a", "one");
    write("b", "two");
    assert_eq!(night(""), (Some(0), "sealed:  2 files\n".into()));
    let skipped = "skipped: 2 files sealed before, and not modified since; 2 files with a name that ends in .sealed\n";
    assert_eq!(night(""), (Some(0), skipped.into()));
    assert_eq!(night("-q"), (Some(0), String::new()));
    write("c", "new");
    let (code, said) = night("--keep-time");
    assert!(code == Some(0) && said.starts_with(&format!("{skipped}sealed:  docs/c.sealed\n")), "{said}");
    assert_eq!(night("").0, Some(0));
    // One is newer than what was sealed, one is another file that is older, and one is new.
    let later = fs::metadata(bench.path("docs/a.sealed")).unwrap().modified().unwrap();
    write("a", "ONE");
    set_time("a", later.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 2);
    write("b", "another");
    set_time("b", 1_000_000_000);
    write("d", "new, too");
    for options in ["", "-q"] {
        let (code, said) = night(options);
        assert_eq!(code, Some(5), "{said}");
        for name in ["a", "b"] {
            assert!(said.contains(&format!("docs/{name} was modified since")), "{said}");
        }
        assert!(!said.contains("docs/c") && opened("d") == b"new, too" && opened("a") == b"one", "{said}");
    }
    assert_eq!(night("--force").0, Some(0));
    assert!(opened("a") == b"ONE" && opened("b") == b"another");
    // By itself, a file that is sealed is refused as ever; and what is there and no file is no file that was sealed.
    bench.fails(5, &["seal", "-k", "key", "docs/a"]);
    write("e", "text");
    fs::create_dir(bench.path("docs/e.sealed")).unwrap();
    assert_eq!(night("").0, Some(5));
    bench.passed("newcomers::every_night", 5 + 2 * 3 + 3 + 1 + 1);
}

/// What other programs call it is answered with what it is called here.
#[test]
fn what_other_programs_call_it() {
    let bench = Bench::new();
    bench.write("a", b"text");
    fs::create_dir(bench.path("folder")).unwrap();
    for (args, said) in [
        (&["seal", "-r", "age1...", "a"][..], &["keygen -r", "share -k", "--passphrase"][..]),
        (&["seal", "-p", "a"], &["keygen --passphrase", "share -k"]),
        (&["open", "--recipient", "age1...", "a"], &["keygen -r", "share -k"]),
        (&["encrypt", "a"], &["'seal'"]),
        (&["decrypt", "a"], &["'open'"]),
        (&["seal", "/dev/null"], &["is a device", "-o"]),
        (&["seal", "-k", "key", "/dev/zero"], &["is a device", "-o"]),
    ] {
        let message = bench.fails(2, args);
        assert!(said.iter().all(|said| message.contains(said)) && !message.contains("'-- -"), "{args:?}: {message}");
    }
    for args in [&["open", "-k", "key", "folder"][..], &["open", "-k", "key", "-o", "b", "folder"], &["inspect", "folder"]] {
        let message = bench.fails(1, args);
        assert!(message.contains("folder: is a directory"), "{args:?}: {message}");
    }
    assert!(!bench.path("/dev/null.sealed").exists());
    // A device is sealed to where one says, and standard input may be one.
    bench.ok(&["seal", "-k", "key", "-o", "null.sealed", "/dev/null"]);
    bench.ok(&["seal", "-k", "key", "-"]);
    // The hint repeats what the key needs.
    let hint = bench.run(&["seal", "--approved", "-k", "key", "a"]).stderr;
    assert!(String::from_utf8_lossy(&hint).contains("open -k key --approved -o a.opened a.sealed"));
    bench.passed("newcomers::what_other_programs_call_it", 7 + 3 + 2 + 1);
}

/// Opening says where the text is; and where somebody waits for it at a pipe, how it comes there.
#[test]
fn opening_says_where() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.ok(&["seal", "-k", "key", "-o", "b.sealed", "a"]);
    let said = |stdout: Stdio, args: &[&str]| {
        let output = bench.command(&[&["open", "-k", "key"], args].concat()).stdout(stdout).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
        let _ = fs::remove_file(bench.path("b"));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said(Stdio::piped(), &["b.sealed"]),
        "opened:  b.sealed to b, 4 bytes, verified to the end (-o - opens to standard output)\n"
    );
    assert_eq!(said(Stdio::null(), &["b.sealed"]), "opened:  b.sealed to b, 4 bytes, verified to the end\n");
    assert_eq!(said(Stdio::piped(), &["-o", "b", "b.sealed"]), "opened:  b.sealed to b, 4 bytes, verified to the end\n");
    assert_eq!(said(Stdio::piped(), &["-q", "b.sealed"]), "");
    bench.passed("newcomers::opening_says_where", 1 + 4);
}

/// The folder of the default key comes with the first key, for the user only; other folders do not.
#[test]
fn the_folder_of_the_default_key() {
    let bench = Bench::new();
    let (key, other) = (bench.path(".config/fastgcm/key"), bench.path(".config/other/key"));
    let (key, other) = (key.to_str().unwrap(), other.to_str().unwrap());
    bench.fails(1, &["keygen", "-o", other]);
    bench.ok(&["keygen", "-o", key]);
    assert_eq!((bench.mode(".config"), bench.mode(".config/fastgcm"), bench.mode(".config/fastgcm/key")), (0o700, 0o700, 0o600));
    bench.write("a", b"text");
    bench.ok(&["seal", "a"]);
    bench.fails(5, &["keygen", "-o", key]);
    bench.passed("newcomers::the_folder_of_the_default_key", 4);
}

/// One run of rekey tells one story, the second one, too.
#[test]
fn a_second_rekey() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.write(name, &text(100));
        bench.ok(&["seal", "-k", "key", name]);
    }
    let said = |args: &[&str]| String::from_utf8(bench.run(&[&["rekey", "-k", "key"], args].concat()).stderr).unwrap();
    assert!(said(&["--new-key", "new", "a.sealed"]).ends_with("\nrekeyed: a.sealed\n"));
    assert_eq!(said(&["--to", "new", "a.sealed", "b.sealed"]), "rekeyed: 2 files (1 of them under the new key before this run)\n");
    assert_eq!(said(&["--to", "new", "a.sealed"]), "rekeyed: a.sealed (it was under the new key before this run)\n");
    assert!(said(&["--new-key", "new", "a.sealed"]).contains("note: --to new seals what is left under that key"));
    bench.passed("newcomers::a_second_rekey", 2 + 4);
}

/// Help ends with examples, and the manual's synopsis has the values of options. Of what a build cannot do, help says nothing.
#[test]
fn help() {
    let bench = Bench::new();
    let said = |args: &[&str]| String::from_utf8(bench.ok(args)).unwrap();
    for (command, example) in [
        ("--help", "fastgcm keygen -o my.key"),
        ("seal", "fastgcm seal -k my.key photos.tar"),
        ("open", "--salvage"),
        ("rekey", "--new-key"),
    ] {
        let help = if command == "--help" { said(&["--help"]) } else { said(&[command, "--help"]) };
        assert!(help.split("\nExamples:\n").nth(1).is_some_and(|examples| examples.contains(example)), "{help}");
    }
    let page = said(&["man", "seal"]).replace("\\fB", "").replace("\\fI", "").replace("\\fR", "");
    assert!(page.contains("fastgcm seal [\\-k KEY] [\\-\\-new\\-key KEY] [\\-o OUT] [\\-\\-force]"), "{page}");
    assert_eq!(said(&["keygen", "--help"]).contains("--passphrase"), cfg!(feature = "age"));
    bench.write("password", b"hunter2\n");
    assert_eq!(bench.fails(4, &["seal", "--insecure-key-file", "-k", "password", "key"]).contains("with -p"), cfg!(feature = "age"));
    bench.passed("newcomers::help", 4 + 1 + 1 + 1);
}

/// The first lines of this page, typed one after the other.
#[test]
fn the_first_lines_of_the_page() {
    let bench = Bench::new();
    fs::create_dir(bench.path("letters")).unwrap();
    bench.write("letters/a", b"a");
    bench.write("letters/b", b"b");
    bench.write("photos.tar", &text(100_000));
    let page = include_str!("../../README.md").split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let lines: Vec<_> = page.lines().map(|line| line.strip_prefix("$ ").unwrap()).collect();
    for line in &lines {
        let output = bench.by("bash", line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && !said.contains("fastgcm: ") && !String::from_utf8_lossy(&output.stdout).contains("not all"),
            "{line}: {said}"
        );
    }
    assert!(bench.read("copy.tar") == text(100_000) && bench.exists("letters/b.sealed") && bench.exists("letters.tar.sealed"));
    bench.passed("newcomers::the_first_lines_of_the_page", 5);
}
