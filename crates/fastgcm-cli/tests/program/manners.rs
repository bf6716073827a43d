//! How the program behaves towards people: what it does to their terminals, their files' modes and their
//! names, and what it tells them.

use crate::support::{Bench, but_for_reports, full, text};
use fastgcm_file::Backend;
use rustix::fs::{Gid, Uid};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, symlink},
        process::CommandExt,
    },
};

/// Neither sealed bytes nor control characters come to a terminal that was not asked for by name, and no
/// progress bar among the text.
#[test]
fn terminals() {
    let bench = Bench::new();
    // Letters beyond ASCII, whose second bytes are those of control characters behind another first one.
    let long = "All work and no play \u{2014} \u{c0}.\r\n\t".repeat(100_000);
    for (name, text) in [("plain", long.as_bytes()), ("title", b"\x1b]0;title\x07"), ("binary", &text(100_000))] {
        bench.write(name, text);
        bench.ok(&["seal", "-k", "key", name]);
    }
    // Here the bar is seen: otherwise nothing below would prove anything.
    let (code, shown) = bench.on_terminal(&["seal", "-k", "key", "-o", "bar", "plain"], b"");
    assert!(code == Some(0) && String::from_utf8_lossy(&shown).contains("MiB/s"), "{shown:?}");

    let (code, shown) = bench.on_terminal(&["seal", "-k", "key", "-"], long.as_bytes());
    let shown = String::from_utf8(shown).unwrap();
    assert!(code == Some(2) && shown.starts_with("fastgcm: standard output is a terminal") && shown.contains("-o -"), "{shown}");
    let (code, sealed) = bench.on_terminal(&["seal", "-k", "key", "-o", "-", "-"], long.as_bytes());
    assert_eq!((code, sealed.len() as u64), (Some(0), fastgcm_file::sealed_len(long.len() as u64).unwrap()));

    let sealed = bench.read("plain.sealed");
    for args in [&["open", "-k", "key", "-"][..], &["open", "-k", "key", "-o", "-", "plain.sealed"]] {
        let (code, shown) = bench.on_terminal(args, &sealed);
        assert!(code == Some(0) && shown == long.as_bytes(), "{args:?}");
    }
    let (code, shown) = bench.on_terminal(&["open", "-k", "key", "--range", "4..8", "plain.sealed"], b"");
    assert_eq!((code, &shown[..]), (Some(0), &b"work"[..]));

    // U+009B begins an order as ESC and a bracket do: here with one byte at the end of what is written at
    // once, which is 16 chunks, and the other behind it.
    let (mut split, end) = (vec![b'a'; 300_000], 16 * fastgcm_file::CHUNK_LEN);
    split[end - 1..end + 1].copy_from_slice("\u{9b}".as_bytes());
    bench.write("split", &split);
    bench.ok(&["seal", "-k", "key", "split"]);
    for name in ["title", "binary", "split"] {
        let sealed = bench.read(&format!("{name}.sealed"));
        let text = bench.read(name);
        let (code, shown) = bench.on_terminal(&["open", "-k", "key", "-"], &sealed);
        let message = String::from_utf8_lossy(&shown);
        assert!(code == Some(1) && message.contains("control characters") && message.contains("-o -"), "{message}");
        assert!(!message.contains(['\x1b', '\u{9b}']));
        let (code, shown) = bench.on_terminal(&["open", "-k", "key", "-o", "-", "-"], &sealed);
        assert!(code == Some(0) && shown == text, "{name}");
    }
    bench.passed("manners::terminals", 3 + 1 + 2 + 2 + 1 + 1 + 3 * 2);
}

/// The bar of progress is on one line, however narrow the terminal is, and is gone when the work is done.
#[test]
fn the_bar_of_progress() {
    let bench = Bench::new();
    fs::File::create(bench.path("zeros")).unwrap().set_len(40 << 20).unwrap();
    for columns in [0, 200, 80, 60, 40, 20, 5] {
        let (code, shown) = bench.on_wide_terminal(columns, &["seal", "-k", "key", "--force", "zeros"], b"");
        let shown = String::from_utf8(shown).unwrap();
        assert!(code == Some(0) && (columns < 24 && columns != 0 || shown.contains("iB/s")), "{columns}: {shown:?}");
        let width = if columns == 0 { 80 } else { columns.into() };
        let (screen, widest) = screen(&shown);
        assert!(widest <= width, "{columns}: {widest}: {shown:?}");
        assert!(screen.starts_with("sealed:  zeros.sealed\nto open: ") && screen.matches('\n').count() == 2, "{columns}: {screen:?}");
    }
    bench.passed("manners::the_bar_of_progress", 7);
}

/// What stands on a screen in the end, without lines that are empty at the end, and the most columns that a line with a bar ever had.
fn screen(shown: &str) -> (String, usize) {
    let (mut lines, mut line, mut widest) = (vec![String::new()], 0, 0);
    let mut letters = shown.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => lines[line] += "\r",
            '\n' => {
                line += 1;
                lines.resize(lines.len().max(line + 1), String::new());
            }
            '\x1b' => {
                let mut order = String::new();
                while !order.ends_with(char::is_alphabetic) {
                    order.extend(letters.next());
                }
                match &*order {
                    "[2K" | "[K" => lines[line].clear(),
                    "[1A" => line = line.checked_sub(1).unwrap_or_else(|| panic!("{shown:?}")),
                    order => panic!("{order}"),
                }
            }
            letter => {
                if lines[line].ends_with('\r') {
                    lines[line].clear();
                }
                lines[line].push(letter);
            }
        }
        if lines[line].contains(['%', '[']) {
            widest = widest.max(lines[line].trim_end_matches('\r').chars().count());
        }
    }
    let lines: Vec<_> = lines.iter().map(|line| line.replace('\r', "")).collect();
    (lines.join("\n"), widest)
}

/// New files: secrets for the owner only, the rest by the umask. What is replaced keeps its mode, owner and
/// group.
#[test]
fn modes() {
    let bench = Bench::new();
    bench.write("a", &text(50_000));
    let run = |line: &str| {
        let output = bench.shell(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let mut modes = 0;
    for (umask, public) in [("000", 0o666), ("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        run(&format!(
            "umask {umask}; fastgcm seal --new-key new -o sealed a && fastgcm open -k new -o text sealed && fastgcm keygen -o made"
        ));
        for (name, mode) in [("sealed", public), ("new", 0o600), ("made", 0o600), ("text", 0o600)] {
            assert_eq!(bench.mode(name), mode, "{name} under umask {umask}");
            fs::remove_file(bench.path(name)).unwrap();
            modes += 1;
        }
    }

    run("fastgcm seal -k key -o sealed a");
    symlink("target", bench.path("link")).unwrap();
    for mode in [0o640, 0o604, 0o600, 0o777, 0o400, 0o6640] {
        for (name, line) in [
            ("out", "fastgcm seal -k key --force -o out a"),
            ("text", "fastgcm open -k key --force -o text sealed"),
            ("target", "fastgcm open -k key --force -o link sealed"),
        ] {
            bench.write(name, b"old");
            bench.set_mode(name, mode);
            run(&format!("umask 022; {line}"));
            let now = fs::metadata(bench.path(name)).unwrap().mode() & 0o7777;
            assert_eq!((now, bench.read(name) == b"old"), (mode & 0o777, false), "{line}");
            fs::remove_file(bench.path(name)).unwrap();
            modes += 1;
        }
    }
    assert_eq!(modes, 4 * 4 + 6 * 3);
}

/// The superuser gives the new file to whom the old one belonged. (Others cannot give files away: for them
/// this says nothing.)
#[test]
fn owners() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.write("out", b"old");
    bench.set_mode("out", 0o640);
    let mine = fs::metadata(bench.path("out")).unwrap();
    let given = rustix::process::geteuid().is_root();
    if given {
        rustix::fs::chown(bench.path("out"), Some(Uid::from_raw(1234)), Some(Gid::from_raw(2345))).unwrap();
    }
    bench.ok(&["seal", "-k", "key", "--force", "-o", "out", "a"]);
    let now = fs::metadata(bench.path("out")).unwrap();
    let expected = if given { (1234, 2345) } else { (mine.uid(), mine.gid()) };
    assert_eq!(((now.uid(), now.gid()), now.mode() & 0o777), (expected, 0o640));
    // Somebody else, who may replace the superuser's file but cannot give it to the superuser's group: no
    // other group gets its rights.
    if given {
        let nobody = (Some(Uid::from_raw(65534)), Some(Gid::from_raw(65534)));
        bench.copy_program("fastgcm");
        for name in [".", "a", "key"] {
            rustix::fs::chown(bench.path(name), nobody.0, nobody.1).unwrap();
        }
        for (old, new) in [(0o640, 0o600), (0o664, 0o644), (0o604, 0o644)] {
            rustix::fs::chown(bench.path("out"), Some(Uid::ROOT), Some(Gid::ROOT)).unwrap();
            bench.set_mode("out", old);
            let mut command = std::process::Command::new("./fastgcm");
            command.args(["seal", "-k", "key", "--force", "-o", "out", "a"]).current_dir(bench.path(".")).uid(65534).gid(65534);
            assert!(command.status().unwrap().success());
            let now = fs::metadata(bench.path("out")).unwrap();
            assert_eq!((now.uid(), now.gid(), now.mode() & 0o777), (65534, 65534, new));
        }
    }
}

/// A key that others may read would be refused later, so it is not written.
#[test]
fn a_key_by_redirection() {
    let bench = Bench::new();
    bench.write("a", b"text");
    for mode in [0o644, 0o640, 0o602] {
        bench.write("k", b"");
        bench.set_mode("k", mode);
        let output = bench.shell("fastgcm keygen > k");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(4) && message.contains("-o") && message.contains(&format!("{mode:04o}")), "{message}");
        assert_eq!((bench.read("k").len(), bench.mode("k")), (0, mode));
    }
    fs::remove_file(bench.path("k")).unwrap();
    assert!(bench.shell("umask 077; fastgcm keygen > k && fastgcm seal -k k a").status.success());
    assert_eq!(bench.shell("fastgcm keygen | wc -c").stdout.trim_ascii(), b"65");
    assert!(bench.shell("fastgcm keygen > /dev/null").status.success());
    bench.passed("manners::a_key_by_redirection", 3 + 3);
}

/// A wrong value is answered with the right ones.
#[test]
fn what_may_be_chosen_is_listed() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let formats = ["cobblestone-256", "cobblestone-128"].map(str::to_owned);
    let back_ends = Backend::ALL.iter().map(ToString::to_string).collect::<Vec<_>>();
    let commands = [&["seal", "-k", "key", "a"][..], &["open", "-k", "key", "a"], &["inspect", "-k", "key", "a"]];
    for command in commands {
        for (option, names) in [("--format", &formats[..]), ("--backend", &back_ends)] {
            let message = bench.fails(2, &[command, &[option, "x"]].concat());
            assert!(names.iter().all(|name| message.contains(name)), "{message}");
        }
        let message = bench.fails(2, &[command, &["--threads", "0"]].concat());
        assert!(message.contains("from 1 on"), "{message}");
    }
    let message = bench.fails(2, &["keygen", "--format", "x"]);
    assert!(formats.iter().all(|name| message.contains(name)), "{message}");
    let wrong = bench.command(&["cpu"]).env("FASTGCM_BACKEND", "x").output().unwrap();
    assert!(back_ends.iter().all(|name| String::from_utf8_lossy(&wrong.stderr).contains(name)));
    bench.passed("manners::what_may_be_chosen_is_listed", 3 * 3 + 2);
}

/// Every back end for this kind of processor has a line with all that it needs, and whether that is here;
/// those of others have one line together, and nothing of theirs is called missing.
#[test]
fn what_back_ends_need() {
    let bench = Bench::new();
    let shown = String::from_utf8(bench.ok(&["cpu"])).unwrap();
    let (ours, others): (Vec<Backend>, Vec<Backend>) = Backend::ALL.iter().partition(|backend| backend.is_compiled());
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 1 + ours.len() + 1, "{shown}");
    let column = lines[1].find("needs").unwrap();
    for (backend, line) in ours.iter().zip(&lines[1..]) {
        assert!(line.starts_with(&format!("  {backend} ")) && line.find("needs") == Some(column), "{shown}");
        for (name, here) in backend.features() {
            let fact = format!(" {name} {}", if here { "yes" } else { "no" });
            assert!(line[column..].split(',').any(|part| part.ends_with(&fact)), "{fact}: {line}");
        }
        assert_eq!(line.contains("not available"), !backend.is_available());
    }
    let last = lines.last().unwrap();
    assert!(
        others
            .iter()
            .all(|backend| last.contains(backend.name()) && shown.matches(backend.name()).count() == last.matches(backend.name()).count())
    );
    let json: serde_json::Value = serde_json::from_slice(&bench.ok(&["cpu", "--json"])).unwrap();
    let features: Vec<_> = json["features"].as_object().unwrap().keys().cloned().collect();
    let expected: std::collections::BTreeSet<_> =
        ours.iter().flat_map(|backend| backend.features()).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(features, Vec::from_iter(expected));
    assert_eq!(json["backends"].as_array().unwrap().len(), Backend::ALL.len());
}

/// `seal` ends with what it wrote, and with a command that opens it when it is typed in the same directory.
#[test]
fn seal_says_how_to_open() {
    let bench = Bench::new();
    fs::create_dir(bench.path("sub dir")).unwrap();
    bench.write("it's", b"a context");
    // A name that is taken is not the one that the hint writes to.
    bench.write("README.md.opened", b"taken");
    let cases: [(&str, &[&str], &str); 7] = [
        ("README.md", &["--new-key", "new key"], "README.md.sealed"),
        ("plain", &["-k", "key", "--context", "it's here; $HOME"], "plain.sealed"),
        ("-dash", &["-k", "key128", "--format", "cobblestone-128"], "-dash.sealed"),
        ("it's \"quoted\"", &["-k", "key", "--insecure-key-file"], "it's \"quoted\".sealed"),
        ("日本", &["-k", "key", "--force"], "日本.sealed"),
        ("elsewhere", &["-k", "key", "-o", "sub dir/x"], "sub dir/x"),
        ("sub dir/deep", &["-k", "./key"], "sub dir/deep.sealed"),
    ];
    for (file, args, sealed) in cases {
        bench.write(file, file.as_bytes());
        let output = bench.run(&[&["seal"], args, &["--", file]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(&format!("sealed:  {sealed}\n")), "{said}");
        assert_eq!(said.contains("new key: new key, fingerprint "), args[0] == "--new-key", "{said}");
        let hint = said.lines().find_map(|line| line.strip_prefix("to open: ")).expect(&said);
        let before = bench.names().len() + fs::read_dir(bench.path("sub dir")).unwrap().count();
        let opened = bench.shell(hint);
        assert!(opened.status.success() && opened.stderr.starts_with(b"opened:  "), "{hint}: {}", String::from_utf8_lossy(&opened.stderr));
        assert_eq!(bench.names().len() + fs::read_dir(bench.path("sub dir")).unwrap().count(), before + 1, "{hint}");
        let to = format!("{}.opened", sealed.strip_suffix(".sealed").unwrap_or(sealed));
        let to = if file == "README.md" { format!("{to}2") } else { to };
        assert!(bench.read(&to) == file.as_bytes(), "{hint}");
    }
    // Nothing is said where it was not wanted, or where the file went to standard output; and no hint that could not be typed.
    bench.write("a\nb", b"text");
    let said = |args: &[&str]| String::from_utf8(bench.run(args).stderr).unwrap();
    assert_eq!(said(&["seal", "-k", "key", "--quiet", "-o", "quiet", "plain"]), "");
    assert_eq!(said(&["seal", "-k", "key", "-o", "-", "plain"]), "");
    assert_eq!(said(&["seal", "-k", "key", "a\nb"]), "sealed:  a\\nb.sealed\n");
    bench.passed("manners::seal_says_how_to_open", 2 * cases.len() + 3);
}

/// A directory cannot be sealed, but the command that is named seals all that is in it, and makes no file of a part.
#[test]
fn a_directory_is_answered_with_a_command() {
    let bench = Bench::new();
    for name in ["folder", "it's here", "-dash"] {
        fs::create_dir(bench.path(name)).unwrap();
        bench.write(&format!("{name}/a"), name.as_bytes());
        let said = bench.fails(1, &["seal", "-k", "key", "--", name]);
        let hint = said.lines().find_map(|line| line.strip_prefix("note: to seal all that is in it, say in bash: ")).expect(&said);
        assert!(hint.starts_with("set -o pipefail; tar "), "{hint}");
        let sealed = bench.by("bash", hint);
        assert!(sealed.status.success(), "{hint}: {}", String::from_utf8_lossy(&sealed.stderr));
        let opened = bench.by("bash", &format!("set -o pipefail; fastgcm open -k key -o - ./{}*.tar.sealed | tar -xOf -", &name[..2]));
        assert_eq!(opened.stdout, name.as_bytes(), "{}", String::from_utf8_lossy(&opened.stderr));
        fs::remove_dir_all(bench.path(name)).unwrap();
        assert!(!bench.by("bash", &hint.replace(".tar.sealed", ".again")).status.success(), "{hint}");
    }
    bench.passed("manners::a_directory_is_answered_with_a_command", 3 * 4);
}

/// What a name holds is shown, not obeyed, and no name makes a message of its own.
#[test]
fn names_are_shown_not_obeyed() {
    let bench = Bench::new();
    let name = "x\x1b[31m\nfastgcm: all is well\r\u{9b}\u{202e}";
    bench.write(name, b"text");
    bench.ok(&["seal", "-k", "key", name]);
    let sealed = format!("{name}.sealed");
    bench.write("a", b"text");
    let missing = format!("{name}missing");
    let cases = [
        (5, vec!["seal", "-k", "key", name]),
        (5, vec!["open", "-k", "key", &sealed]),
        (1, vec!["seal", "-k", "key", &missing]),
        (1, vec!["seal", "-k", &missing, "a"]),
        (1, vec!["open", "-k", "key", "-o", "b", &missing]),
        (2, vec!["seal", "-k", "key", "--force", "-o", name, name]),
        (2, vec!["open", "-k", "key", name]),
        (4, vec!["seal", "-k", name, "--insecure-key-file", "a"]),
        (4, vec!["seal", "-k", name, "a"]),
        (3, vec!["open", "-k", "key", "-o", "b", name]),
        (3, vec!["inspect", name]),
        (2, vec!["cpu", name]),
        (2, vec![name]),
        (2, vec!["man", name]),
    ];
    let count = cases.len();
    for (code, args) in cases {
        let message = bench.fails(code, &args);
        let bad = |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
        assert!(!message.contains(bad) && message.contains("x\\u{1b}[31m\\nfastgcm: all is well\\r\\u{9b}\\u{202e}"), "{message:?}");
        assert!(!message.lines().any(|line| line.starts_with("fastgcm: all")), "{message}");
    }
    let shown = String::from_utf8(bench.ok(&["inspect", &sealed])).unwrap();
    assert!(shown.starts_with("file        x\\u{1b}[31m\\nfastgcm: "), "{shown:?}");
    // Letters of other scripts, quotes and blanks stay as they are.
    for plain in ["naïve file.txt", "it's \"quoted\"", "日本"] {
        assert!(bench.fails(1, &["seal", "-k", "key", plain]).contains(plain));
    }
    bench.passed("manners::names_are_shown_not_obeyed", 1 + count + 1 + 3);
}

/// README.md has a row for every command and every option that `--help` shows.
#[test]
fn the_page_has_a_row_for_each_option() {
    let bench = Bench::new();
    let help = |args: &[&str]| String::from_utf8(bench.ok(&[args, &["--help"]].concat())).unwrap();
    let rows: Vec<_> = include_str!("../../README.md").lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).collect();
    // A name is a word of the row's first cell, within back quotes.
    let has = |name: &str| rows.iter().any(|cell| cell.split(['`', ' ']).any(|word| word == name));
    let (program, mut count) = (help(&[]), 0);
    let commands = program.split("\nCommands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<_> =
        commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty()).collect();
    for command in commands.iter().filter(|name| **name != "help") {
        assert!(has(command), "README.md has no row for the command {command}");
        for line in help(&[command]).lines().filter(|line| line.trim_start().starts_with('-') && !line.starts_with("          ")) {
            if let Some(option) = line.split([' ', ',', '=']).find(|word| word.starts_with("--")) {
                assert!(has(option), "README.md has no row for {option} of {command}");
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count}");
    // `help` is not asked, and the program is.
    bench.passed("manners::the_page_has_a_row_for_each_option", commands.len());
}

/// Every page has the sections that a page has; what it and README say of exit codes is the same; its
/// examples work.
#[test]
fn the_manual() {
    let bench = Bench::new();
    let readme = include_str!("../../README.md");
    let page = |args: &[&str]| String::from_utf8(bench.ok(&[&["man"], args].concat())).unwrap();
    let program = page(&[]);
    let commands = ["keygen", "share", "seal", "open", "rekey", "inspect", "cpu", "selftest", "doctor", "completions", "man"];
    for page in commands.iter().map(|command| page(&[command])).chain([program.clone()]) {
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "\"EXIT STATUS\"", "KEYS", "FILES", "ENVIRONMENT"] {
            assert!(page.contains(&format!(".SH {section}\n")), "{section}: {page}");
        }
        assert!(!page.contains("EXTRA") && !page.contains("MORE"));
        let points = page.split(".SH KEYS\n").nth(1).unwrap().split(".SH").next().unwrap().matches(".IP \\(bu 2\n").count();
        assert_eq!(points, readme.split("\n## Keys\n").nth(1).unwrap().matches("\n* **").count());
    }
    bench.fails(2, &["man", "gcm"]);

    let help = String::from_utf8(bench.ok(&["--help"])).unwrap();
    let rows: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")).collect();
    let codes: Vec<_> = rows.into_iter().filter(|(code, _)| code.parse::<u8>().is_ok()).collect();
    assert_eq!(codes.iter().map(|(code, _)| *code).collect::<String>(), "01234567");
    for (code, meaning) in codes {
        assert!(help.contains(&format!("\n  {code}  {meaning}\n")), "{meaning}: {help}");
        assert!(program.contains(&format!("\\fB{code}\\fR\n{}\n", meaning.replace('-', "\\-"))), "{meaning}: {program}");
    }

    let start = program.find(".SH EXAMPLES").unwrap();
    let examples: Vec<_> =
        program[start..].split(".EX\n").skip(1).map(|rest| rest.split("\n.EE").next().unwrap().replace("\\-", "-")).collect();
    assert_eq!(examples.len(), 12);
    bench.write("photos.tar", &text(100_000));
    fs::create_dir(bench.path("photos")).unwrap();
    for example in &examples {
        let output = bench.shell(&format!("set -e; {}", example.replace("\\*(Aq", "'").replace("\\(dq", "\"")));
        assert!(
            output.status.success() && but_for_reports(&output.stderr).is_empty(),
            "{example}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(bench.read("copy.tar") == text(100_000) && bench.read("part") == text(100_000)[512..1024]);
    bench.passed("manners::the_manual", commands.len() + 1 + 1 + 1 + examples.len());
}

/// Who may go on is told how.
#[test]
fn what_to_do() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.ok(&["seal", "-k", "key", "a"]);
    fs::create_dir(bench.path("folder")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    let cases: [(i32, &[&str], &str); 17] = [
        (5, &["seal", "-k", "key", "a"], "a.sealed exists: replace it with --force, or name another file"),
        (5, &["open", "-k", "key", "a.sealed"], "a exists: replace it with --force, or name another file"),
        (5, &["keygen", "-o", "key"], "key exists, and a key is never replaced: name another file, or use that key with -k"),
        (5, &["seal", "--new-key", "key", "-o", "b", "a"], "a key is never replaced"),
        (5, &["seal", "-k", "key", "-o", "folder", "a"], "folder is a directory: name a file in it"),
        (5, &["seal", "-k", "key", "-o", "dangling", "a"], "dangling is a symbolic link to nothing: name another file"),
        (1, &["seal", "-k", "key", "folder"], "folder: is a directory, and only a file can be read"),
        (1, &["seal", "-k", "key", "missing"], "fastgcm: missing: No such file or directory\n"),
        (1, &["seal", "-k", "missing", "-o", "b", "a"], "fastgcm: missing: No such file or directory\n"),
        (2, &["open", "-k", "key", "a"], "say where to write with -o"),
        (2, &["open", "-k", "key", "--range", "0..9", "a.sealed"], "the text, which has 4 bytes"),
        (2, &["open", "-k", "key", "--range", "5", "a.sealed"], "a range is A..B, in bytes"),
        (2, &["open", "-k", "key", "--range", "-3..5", "a.sealed"], "a range is A..B, in bytes, from 0 on"),
        (2, &["seal", "-k", "key", "-o", "new/", "a"], "new/: this names a directory: name a file in it"),
        (2, &["seal", "-k", "key", "-o", "new/.", "a"], "new/.: this names a directory: name a file in it"),
        (3, &["open", "-k", "key", "-o", "b", "a"], "a: truncated, or no sealed file"),
        (2, &["cpu", "--backend", if cfg!(target_arch = "aarch64") { "aesni-sse" } else { "aes-neon" }], "`fastgcm cpu` shows why"),
    ];
    for (code, args, wanted) in cases {
        let message = bench.fails(code, args);
        assert!(message.contains(wanted), "{args:?}: {message}");
    }
    // An answer that nobody can get is no success.
    let commands = ["cpu", "inspect a.sealed", "man", "completions bash", "keygen", "selftest"];
    let commands = &commands[..if full() { 6 } else { 5 }]; // a self-test takes a second and more
    for command in commands {
        let output = bench.shell(&format!("fastgcm {command} >&-"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message == "fastgcm: standard output: is closed\n", "{command}: {message}");
    }
    bench.passed("manners::what_to_do", 1 + cases.len() + commands.len());
}
