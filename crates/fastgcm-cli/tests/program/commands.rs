//! Each command does what it says, and each exit code comes when it should.

use crate::support::{Bench, text};
use std::{fs, os::unix::fs::PermissionsExt};

#[test]
fn round_trips() {
    let bench = Bench::new();
    let mut cases = 0;
    for len in [0, 1, 16383, 16384, 16385, 32768, (1 << 20) + 1] {
        let text = text(len);
        bench.write("a", &text);
        for (key, format) in [("key", "cobblestone-256"), ("key128", "cobblestone-128")] {
            for threads in ["1", "2", "16"] {
                bench.ok(&["seal", "-k", key, "--format", format, "--threads", threads, "a"]);
                let sealed = bench.read("a.sealed");
                assert_eq!(sealed.len() as u64, fastgcm_file::sealed_len(len as u64).unwrap());
                fs::rename(bench.path("a"), bench.path("original")).unwrap();
                bench.ok(&["open", "-k", key, "--threads", threads, "a.sealed"]);
                assert!(bench.read("a") == text);
                fs::remove_file(bench.path("a.sealed")).unwrap();
                cases += 1;
            }
        }
    }
    assert_eq!(bench.names(), ["a", "key", "key128", "original"]);
    assert!(cases > 0);
}

/// What is approved is sealed as ever, behind a self-test; a key file that age has locked is refused, and nothing is written.
#[test]
fn approved() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.ok(&["seal", "--approved", "-k", "key", "a"]);
    assert_eq!(bench.ok(&["open", "--approved", "-k", "key", "-o", "-", "a.sealed"]), b"text");
    bench.ok(&["rekey", "--approved", "-k", "key", "--new-key", "new", "a.sealed"]);
    bench.write("locked", b"age-encryption.org/v1\n-> scrypt ...\n");
    bench.set_mode("locked", 0o600);
    for command in [&["seal", "-k", "locked", "-o", "b", "a"][..], &["open", "-k", "locked", "-o", "b", "a.sealed"]] {
        let said = bench.fails(4, &[command, &["--approved"]].concat());
        assert!(said.contains("NIST does not approve"), "{said}");
    }
    if cfg!(feature = "age") {
        bench.fails(2, &["share", "--approved", "-k", "key", "-r", "age1...", "-o", "b"]);
    }
    assert_eq!(bench.names(), ["a", "a.sealed", "key", "key128", "locked", "new"]);
    bench.passed("commands::approved", if cfg!(feature = "age") { 6 } else { 5 });
}

#[test]
fn pipes() {
    let bench = Bench::new();
    for len in [0, 5, 16384, 700_000] {
        let text = text(len);
        let sealed = bench.run_with(&["seal", "-k", "key", "-"], &text);
        assert_eq!((sealed.status.code(), sealed.stderr.len()), (Some(0), 0));
        let opened = bench.run_with(&["open", "-k", "key", "-"], &sealed.stdout);
        let said = format!("opened:  standard input, {len} bytes, verified to the end\n");
        assert_eq!((opened.status.code(), String::from_utf8(opened.stderr).unwrap()), (Some(0), said));
        assert!(opened.stdout == text);

        bench.write("a.sealed", &sealed.stdout);
        assert!(bench.ok(&["open", "-k", "key", "-o", "-", "a.sealed"]) == text);
        bench.write("a", &text);
        let sealed = bench.ok(&["seal", "-k", "key", "-o", "-", "a"]);
        assert!(bench.run_with(&["open", "-k", "key", "-"], &sealed).stdout == text);
        let piped = bench.run_with(&["open", "-k", "key", "-o", "b", "-"], &sealed);
        assert!(piped.status.success() && piped.stdout.is_empty() && bench.read("b") == text);
        fs::remove_file(bench.path("b")).unwrap();
    }
}

#[test]
fn keygen() {
    let bench = Bench::new();
    for (name, len) in [("key", 65), ("key128", 33)] {
        let key = bench.read(name);
        assert_eq!((key.len(), key.last()), (len, Some(&b'\n')));
        assert!(key[..len - 1].iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
        assert_eq!(fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let printed = bench.ok(&["keygen"]);
    assert_eq!(printed.len(), 65);
    assert_ne!(printed, bench.read("key"));
    bench.fails(5, &["keygen", "-o", "key"]);
    bench.fails(1, &["keygen", "-o", "no/such/directory"]);
    bench.fails(2, &["keygen", "--format", "zip"]);
    // A key from a pipe seals, and the same from a file opens.
    bench.write("a", b"text");
    let sealed = bench.run_with(&["seal", "-k", "-", "a"], &printed);
    assert!(sealed.status.success());
    bench.write("printed", &printed);
    fs::set_permissions(bench.path("printed"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(bench.ok(&["open", "-k", "printed", "-o", "-", "a.sealed"]), b"text");
}

#[test]
fn new_key() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.ok(&["seal", "--new-key", "new", "a"]);
    assert_eq!(bench.ok(&["open", "-k", "new", "-o", "-", "a.sealed"]), b"text");
    bench.fails(5, &["seal", "--new-key", "new", "-o", "b", "a"]);
    bench.fails(5, &["seal", "--new-key", "other", "a"]); // a.sealed exists: no key is made
    bench.fails(2, &["seal", "--new-key", "same", "-o", "same", "a"]);
    bench.fails(2, &["seal", "--new-key", "same", "-o", "./same", "a"]);
    bench.fails(2, &["seal", "--new-key", "-", "-o", "b", "a"]);
    bench.fails(1, &["seal", "--new-key", "other", "-o", "b", "missing"]);
    // Where sealing fails after the key was made, it says so, and the key stays.
    let failed = bench.run(&["seal", "--new-key", "kept", "-o", "/dev/full", "a"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8(failed.stderr).unwrap().contains("the new key was written to kept and stays there"));
    assert_eq!(bench.read("kept").len(), 65);
}

#[test]
fn key_files() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let key = |content: &[u8]| {
        bench.write("k", content);
        fs::set_permissions(bench.path("k"), PermissionsExt::from_mode(0o600)).unwrap();
    };
    let raw: Vec<u8> = (0..32).map(|i| i * 7 + 3).collect();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    key(&raw);
    bench.ok(&["seal", "-k", "k", "a"]);
    for same in [hex(&raw), hex(&raw) + "\n", hex(&raw).to_uppercase() + "\r\n"] {
        key(same.as_bytes());
        assert_eq!(bench.ok(&["open", "-k", "k", "-o", "-", "a.sealed"]), b"text");
    }
    // 16 bytes are for Cobblestone-128 only, and 32 for Cobblestone-256.
    for short in [raw[..16].to_vec(), hex(&raw[..16]).into_bytes(), (hex(&raw[..16]) + "\n").into_bytes()] {
        key(&short);
        assert!(bench.fails(4, &["seal", "-k", "k", "-o", "b", "a"]).contains("cobblestone-128"));
        bench.ok(&["seal", "-k", "k", "--format", "cobblestone-128", "-o", "b", "a"]);
        for format in [&[][..], &["--format", "cobblestone-128"]] {
            assert_eq!(bench.ok(&[&["open", "-k", "k", "-o", "-", "b"], format].concat()), b"text");
        }
        bench.fails(4, &["open", "-k", "k", "--format", "cobblestone-256", "-o", "-", "b"]);
        fs::remove_file(bench.path("b")).unwrap();
    }
    key(&raw);
    bench.fails(4, &["seal", "-k", "k", "--format", "cobblestone-128", "-o", "b", "a"]);
    let hex = hex(&raw);
    let lines =
        [format!("{hex}\n\n"), format!("{hex} "), format!(" {hex}"), format!("0x{hex}"), format!("{}g", &hex[..63]), hex[..62].into()];
    let raws = [0, 1, 15, 17, 24, 31, 33, 66, 67, 100, 100_000].map(|len| vec![0xa5; len]);
    for bad in lines.into_iter().map(String::into_bytes).chain(raws) {
        key(&bad);
        bench.fails(4, &["seal", "-k", "k", "-o", "b", "a"]);
        bench.fails(4, &["open", "-k", "k", "-o", "b", "a.sealed"]);
    }
    bench.fails(1, &["seal", "-k", "missing", "-o", "b", "a"]);
    bench.fails(2, &["seal", "-k", "-", "-"]);
    bench.fails(2, &["open", "-k", "-", "-"]);
}

/// What somebody may have typed seals nothing, and what it has sealed can be opened.
#[test]
fn a_password_is_no_key() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let key = |content: &[u8]| {
        bench.write("k", content);
        bench.set_mode("k", 0o600);
    };
    for (password, format) in [
        ("correct horse battery staple 123", "cobblestone-256"),
        ("thirty bytes and an end of it!\r\n", "cobblestone-256"),
        ("Grüße und Küsse!", "cobblestone-128"),
        ("0123456789abcdeF", "cobblestone-128"),
    ] {
        let bytes = &password.as_bytes()[..if format.ends_with("256") { 32 } else { 16 }];
        key(bytes);
        let seal = ["seal", "-k", "k", "--format", format, "--force", "a"];
        let message = bench.fails(4, &seal);
        assert!(["all printable", "`fastgcm keygen`", "--raw-key"].iter().all(|word| message.contains(word)), "{message}");
        bench.ok(&[&seal[..], &["--raw-key"]].concat());
        let opened = bench.run(&["open", "-q", "-k", "k", "-o", "-", "a.sealed"]);
        let said = String::from_utf8(opened.stderr).unwrap();
        assert!(opened.status.success() && opened.stdout == b"text" && said.starts_with("warning: key k: its "), "{said}");
        assert_eq!(bench.ok(&["open", "--raw-key", "-k", "k", "-o", "-", "a.sealed"]), b"text");
    }
    // One byte that nobody types is enough.
    key(b"correct horse battery staple 12\x07");
    bench.ok(&["seal", "-k", "k", "--force", "a"]);
    key(b"correct horse battery staple 12\xe9");
    bench.ok(&["seal", "-k", "k", "--force", "a"]);
    key(b"hunter2\n");
    for command in ["seal", "open"] {
        assert!(bench.fails(4, &[command, "-k", "k", "-o", "b", "a.sealed"]).contains("A password is no key: `fastgcm keygen`"));
        assert!(bench.fails(4, &[command, "-k", ".", "-o", "b", "a.sealed"]).contains("key .: is a directory: name the key file in it"));
    }
    bench.passed("commands::a_password_is_no_key", 4 * 4 + 2 + 4);
}

/// A program that was built without age says so, and does nothing.
#[cfg(not(feature = "age"))]
#[test]
fn locked_keys() {
    let bench = Bench::new();
    bench.write("a", b"text");
    for content in ["age-encryption.org/v1\n-> X25519 ", "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n"] {
        bench.write("k", content.as_bytes());
        assert!(bench.fails(4, &["seal", "-k", "k", "a"]).contains("built without age"));
    }
    for args in
        [&["keygen", "-p", "-o", "new"][..], &["keygen", "-r", "age1", "-o", "new"], &["share", "-k", "key", "--for", "a", "-o", "new"]]
    {
        assert!(bench.fails(4, args).contains("`cargo install` with `--features age`"), "{args:?}");
    }
    bench.fails(2, &["share", "-k", "key"]);
    bench.passed("commands::locked_keys", 2 + 3 + 1);
}

/// Key files that are age files: who can open them, who cannot, and what is refused. (`age_interop.py` has age and rage at the other side.)
#[cfg(feature = "age")]
#[test]
fn locked_keys() {
    use age::secrecy::ExposeSecret;
    let bench = Bench::new();
    bench.write("a", b"text");
    let write = |name: &str, content: &[u8]| {
        bench.write(name, content);
        bench.set_mode(name, 0o600);
    };
    let [one, two, other] = ["one", "two", "other"].map(|name| {
        let identity = age::x25519::Identity::generate();
        write(name, identity.to_string().expose_secret().as_bytes());
        identity
    });
    write("team", format!("# the team\n\n{}\n", two.to_public()).as_bytes());
    let [one_name, other_name] = [&one, &other].map(|identity| identity.to_public().to_string());
    bench.ok(&["keygen", "-r", &one_name, "--for", "team", "-o", "locked"]);
    assert!(bench.mode("locked") == 0o600 && bench.read("locked").starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----\n"));
    bench.ok(&["seal", "-k", "locked", "-i", "one", "a"]);
    for args in [&["-i", "two"][..], &["-i", "other", "-i", "one"]] {
        assert_eq!(bench.ok(&[&["open", "-k", "locked", "-o", "-", "a.sealed"], args].concat()), b"text");
    }
    let by = |name: &str, value: &str, args: &[&str]| bench.command(args).env(name, value).output().unwrap();
    assert_eq!(by("FASTGCM_IDENTITY", "one", &["open", "-k", "locked", "-o", "-", "a.sealed"]).stdout, b"text");
    // What is locked are the bytes of the key.
    let raw = age::decrypt(&two, &bench.read("locked")).unwrap();
    write("raw", &raw);
    assert!(raw.len() == 32 && bench.ok(&["open", "-k", "raw", "-o", "-", "a.sealed"]) == b"text");

    // For one more, for a passphrase, and by redirection, where others may read it.
    bench.ok(&["share", "-k", "locked", "-i", "one", "-r", &other_name, "-o", "theirs"]);
    assert_eq!(bench.ok(&["open", "-k", "theirs", "-i", "other", "-o", "-", "a.sealed"]), b"text");
    write("secret", b"correct horse battery staple\r\nanother line");
    write("wrong", b"correct horse battery stable\n");
    assert!(by("FASTGCM_PASSPHRASE_FILE", "secret", &["share", "-k", "raw", "-p", "-o", "mine"]).status.success());
    assert_eq!(by("FASTGCM_PASSPHRASE_FILE", "secret", &["open", "-k", "mine", "-o", "-", "a.sealed"]).stdout, b"text");
    assert!(bench.shell(&format!("umask 022; fastgcm share -k raw -r {one_name} > by-shell")).status.success());
    bench.set_mode("by-shell", 0o644);
    assert_eq!(bench.ok(&["open", "-k", "by-shell", "-i", "one", "-o", "-", "a.sealed"]), b"text");
    bench.ok(&["keygen", "-r", &one_name, "--format", "cobblestone-128", "-o", "short"]);
    bench.ok(&["seal", "-k", "short", "-i", "one", "--format", "cobblestone-128", "-o", "b", "a"]);
    assert_eq!(bench.ok(&["open", "-k", "short", "-i", "one", "-o", "-", "b"]), b"text");
    bench.ok(&["rekey", "-k", "short", "-i", "one", "--to", "locked", "b"]);

    // What is refused.
    let mut damaged = bench.read("locked");
    let at = damaged.len() - 60;
    damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
    write("damaged", &damaged);
    write("cut", &damaged[..100]);
    let locked = |content: &[u8]| age::encrypt_and_armor(&one.to_public(), content).unwrap();
    write("short-one", locked(&raw[..31]).as_bytes());
    write("a password", locked(b"correct horse battery staple 123").as_bytes());
    write("nobody", b"# nobody\nage1nonsense\n");
    bench.set_mode("by-shell", 0o664);
    for (code, why, args) in [
        (4, "-i IDENTITY opens it", &["seal", "-k", "locked"][..]),
        (4, "locked for others: no identity opens it", &["seal", "-k", "locked", "-i", "other"]),
        (1, "identity missing: No such file", &["seal", "-k", "locked", "-i", "missing"]),
        (4, "key damaged: ", &["seal", "-k", "damaged", "-i", "one"]),
        (4, "key cut: ", &["seal", "-k", "cut", "-i", "one"]),
        (4, "key short-one: not a key", &["seal", "-k", "short-one", "-i", "one"]),
        (4, "all printable", &["seal", "-k", "a password", "-i", "one"]),
        (4, "its mode is 0664", &["seal", "-k", "by-shell", "-i", "one"]),
        (4, "cobblestone-128", &["seal", "-k", "short", "-i", "one"]),
    ] {
        let message = bench.fails(code, &[args, &["-o", "c", "a"]].concat());
        assert!(message.contains(why), "{why}: {message}");
    }
    for (code, why, args) in [
        (4, "Invalid recipient 'age1nonsense'", &["keygen", "-r", "age1nonsense"][..]),
        (4, "line 2", &["keygen", "--for", "nobody"]),
        (1, "list missing: No such file", &["keygen", "--for", "missing"]),
        // A list with a bad line is not passed over where -r names somebody as well, who would be the only one.
        (4, "line 2", &["keygen", "-r", &one_name, "--for", "nobody"]),
        (2, "cannot be used with", &["keygen", "-p", "-r", &one_name]),
        (2, "for whom?", &["share", "-k", "raw"]),
    ] {
        let message = bench.fails(code, &[args, &["-o", "c"]].concat());
        assert!(message.contains(why), "{why}: {message}");
    }
    bench.fails(5, &["share", "-k", "raw", "-r", &one_name, "-o", "key"]);
    write("empty", b"\nsecret");
    write("open", b"correct horse battery staple");
    bench.set_mode("open", 0o640);
    for (code, why, passphrase) in [
        (4, "another passphrase opens it", "wrong"),
        (4, "the passphrase is empty", "empty"),
        (4, "passphrase $FASTGCM_PASSPHRASE_FILE: others may read it", "open"),
        (1, "passphrase $FASTGCM_PASSPHRASE_FILE: No such file", "missing"),
    ] {
        let output = by("FASTGCM_PASSPHRASE_FILE", passphrase, &["seal", "-k", "mine", "-o", "c", "a"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && message.contains(why) && !bench.exists("c"), "{why}: {message}");
    }
    bench.passed("commands::locked_keys", 1 + 1 + 2 + 1 + 1 + 2 + 2 + 2 + 3 + 1 + 9 + 6 + 1 + 4);
}

/// Where no key is named: FASTGCM_KEY_FILE, then the user's configuration folder.
#[test]
fn default_keys() {
    let bench = Bench::new();
    bench.write("a", b"text");
    for args in [&["seal", "a"][..], &["open", "-o", "-", "a"], &["inspect", "--verify", "a"]] {
        assert!(bench.fails(2, args).contains("a key is needed"), "{args:?}");
    }
    fs::create_dir_all(bench.path(".config/fastgcm")).unwrap();
    bench.ok(&["keygen", "-o", ".config/fastgcm/key"]);
    let said = String::from_utf8(bench.run(&["seal", "a"]).stderr).unwrap();
    let hint = said.lines().find_map(|line| line.strip_prefix("to open: ")).expect(&said);
    assert!(!hint.contains(" -k ") && bench.shell(hint).status.success() && bench.read("a.opened") == b"text", "{hint}");
    assert_eq!(bench.ok(&["open", "-k", ".config/fastgcm/key", "-o", "-", "a.sealed"]), b"text");
    assert!(String::from_utf8(bench.ok(&["inspect", "--verify", "a.sealed"])).unwrap().contains("verified: "));
    assert!(!String::from_utf8(bench.ok(&["inspect", "a.sealed"])).unwrap().contains("verified: "));
    // The variable comes before the folder, and what is named before both. Set to nothing it is not set.
    let by = |key: &str, args: &[&str]| bench.command(args).env("FASTGCM_KEY_FILE", key).output().unwrap();
    assert!(by("key", &["seal", "-o", "b", "a"]).status.success());
    assert_eq!(by("key", &["open", "-o", "-", "b"]).stdout, b"text");
    assert_eq!(bench.ok(&["open", "-k", "key", "-o", "-", "b"]), b"text");
    assert_eq!(by("key128", &["open", "-k", "key", "-o", "-", "b"]).stdout, b"text");
    assert_eq!(by("", &["open", "-o", "-", "a.sealed"]).stdout, b"text");
    assert_eq!(by("missing", &["open", "-o", "-", "a.sealed"]).status.code(), Some(1));
    bench.fails(3, &["open", "-o", "-", "b"]);
    // What holds for a key that is named holds for this one.
    bench.set_mode(".config/fastgcm/key", 0o644);
    assert!(bench.fails(4, &["open", "-o", "-", "a.sealed"]).contains("others may read it"));
    bench.fails(2, &["seal", "--force", "-o", ".config/fastgcm/key", "--insecure-key-file", "a"]);
    bench.passed("commands::default_keys", 3 + 1 + 2 + 3 + 6 + 1 + 2);
}

/// A short name of each key, by which a wrong one can be told from a damaged file.
#[test]
fn fingerprints() {
    let bench = Bench::new();
    bench.write("a", &text(40_000));
    let mark = |said: &[u8]| {
        let said = String::from_utf8(said.to_vec()).unwrap();
        said.split("fingerprint ").nth(1).expect(&said)[..19].to_owned()
    };
    let made = mark(&bench.run(&["seal", "--new-key", "new", "a"]).stderr);
    let groups: Vec<_> = made.split('-').collect();
    assert!(groups.len() == 4 && groups.iter().all(|group| group.len() == 4 && u16::from_str_radix(group, 16).is_ok()), "{made}");
    assert_eq!(mark(&bench.ok(&["inspect", "-k", "new", "a.sealed"])), made);
    let other = mark(&bench.run(&["keygen", "-o", "other"]).stderr);
    assert_ne!(other, made);
    let message = bench.fails(3, &["open", "-k", "other", "-o", "b", "a.sealed"]);
    assert_eq!(mark(message.as_bytes()), other);
    bench.ok(&["seal", "-k", "other", "-o", "b", "a"]);
    assert_eq!(mark(&bench.ok(&["inspect", "-k", "other", "b"])), other);
    // It is of the key, not of the file: known, for key files of raw bytes as for digits.
    for content in [&[7; 32][..], "07".repeat(32).as_bytes()] {
        bench.write("k", content);
        bench.set_mode("k", 0o600);
        assert_eq!(mark(bench.fails(3, &["open", "-k", "k", "-o", "c", "b"]).as_bytes()), "e263-c23f-42e2-8964");
    }
    let mut damaged = bench.read("b");
    damaged[20_000] ^= 1;
    bench.write("b", &damaged);
    for command in [&["open", "-o", "c"][..], &["inspect"]] {
        assert!(bench.fails(3, &[command, &["-k", "other", "b"]].concat()).contains("the key other is the right one: the file is damaged"));
    }
    bench.passed("commands::fingerprints", 1 + 1 + 1 + 1 + 2 + 2 + 2);
}

/// Each by itself: what fails is told, the others are done, and the exit code says the worst of it.
#[test]
fn several_files() {
    let bench = Bench::new();
    let names = ["a", "b", "c"];
    let run = |args: &[&str]| {
        let output = bench.run(args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let all = |folder: &str| names.iter().all(|name| bench.read(&format!("{folder}{name}")) == name.as_bytes());
    names.iter().for_each(|name| bench.write(name, name.as_bytes()));
    assert_eq!(run(&["seal", "-k", "key", "a", "b", "c"]), (Some(0), "sealed:  3 files\n".into()));
    fs::create_dir(bench.path("there")).unwrap();
    names.iter().for_each(|name| fs::rename(bench.path(format!("{name}.sealed")), bench.path(format!("there/{name}.sealed"))).unwrap());
    let opened = bench.shell("fastgcm open -k key there/*.sealed");
    assert!(opened.status.success() && opened.stderr == b"opened:  3 files\n" && all("there/"));
    let inspected = String::from_utf8(bench.ok(&["inspect", "-k", "key", "there/a.sealed", "there/b.sealed"])).unwrap();
    assert_eq!(inspected.matches("verified: ").count(), 2);
    assert_eq!(run(&["seal", "-q", "-k", "key", "--force", "a", "b"]), (Some(0), String::new()));

    // The first two are there already, of which one was modified since, and one is missing: the last one is sealed.
    bench.write("a", b"modified");
    let (code, said) = run(&["seal", "-k", "key", "a", "b", "missing", "c"]);
    assert!(code == Some(5) && said.ends_with("fastgcm: sealed 1 of 3 files\n") && said.lines().count() == 5, "{said}");
    assert_eq!(bench.ok(&["open", "-k", "key", "-o", "-", "c.sealed"]), b"c");
    // What is not authentic counts before all else.
    bench.write("there/bad.sealed", &[7; 100]);
    fs::remove_file(bench.path("there/c")).unwrap();
    let (code, said) = run(&["open", "-k", "key", "there/a.sealed", "there/bad.sealed", "there/missing.sealed", "there/c.sealed"]);
    assert!(code == Some(3) && said.contains("opened 1 of 4 files") && all("there/") && !bench.exists("there/bad"), "{said}");
    let inspected = bench.run(&["inspect", "-k", "key", "there/a.sealed", "there/bad.sealed", "there/b.sealed"]);
    let shown = String::from_utf8(inspected.stdout).unwrap();
    assert_eq!((inspected.status.code(), shown.matches("verified: ").count()), (Some(3), 2));

    // A new key is made by the first that can be sealed, and is the key of the others.
    let (code, said) = run(&["seal", "--new-key", "new", "missing", "there/a", "there/b", "key", "key128"]);
    assert!(code == Some(1) && said.matches("new key: new, ").count() == 1, "{said}");
    for name in ["key", "key128"] {
        assert_eq!(bench.ok(&["open", "-k", "new", "-o", "-", &format!("{name}.sealed")]), bench.read(name));
    }
    let (code, said) = run(&["seal", "--new-key", "none", "missing", "there/a"]);
    assert!(code == Some(1) && !bench.exists("none") && said.contains("sealed 0 of 2 files"), "{said}");

    // Without a key nothing can be done, and that is said once.
    let (code, said) = run(&["seal", "-k", "nowhere", "--force", "new", "key128"]);
    assert!(code == Some(1) && said == "fastgcm: nowhere: No such file or directory\n", "{said}");
    for (args, why) in [
        (&["seal", "-k", "key", "-o", "out", "a", "b"][..], "-o is for one file, and there are 2"),
        (&["open", "-k", "key", "-o", "-", "a", "b", "c"], "-o is for one file, and there are 3"),
        (&["open", "-k", "key", "--range", "0..1", "a", "b"], "--range is for one file"),
        (&["seal", "-k", "key", "new", "-"], "standard input is no file among several"),
        (&["seal", "-k", "key", "b", "-"], "standard input is no file among several"),
    ] {
        assert!(bench.fails(2, args).contains(why), "{args:?}");
    }
    bench.passed("commands::several_files", 4 + 2 + 2 + 1 + 2 + 1 + 1 + 5);
}

/// `--keep-time`, and only that, takes the time of modification along.
#[test]
fn times() {
    let bench = Bench::new();
    let time = |name: &str| fs::metadata(bench.path(name)).unwrap().modified().unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_789);
    bench.write("a", b"text");
    fs::File::options().write(true).open(bench.path("a")).unwrap().set_modified(old).unwrap();
    bench.ok(&["seal", "-k", "key", "--keep-time", "a"]);
    bench.ok(&["open", "-k", "key", "--keep-time", "-o", "b", "a.sealed"]);
    bench.ok(&["open", "-k", "key", "--keep-time", "--force", "a.sealed"]);
    bench.ok(&["seal", "-k", "key", "-o", "c", "a"]);
    assert_eq!([time("a.sealed"), time("b"), time("a"), time("c")].map(|time| time == old), [true, true, true, false]);
    for args in [&["seal", "-k", "key", "--keep-time", "-o", "-", "a"][..], &["seal", "-k", "key", "--keep-time", "-o", "d", "-"]] {
        let output = bench.run(args);
        assert_eq!((output.status.code(), bench.exists("d")), (Some(2), false), "{args:?}");
    }
    bench.passed("commands::times", 4 + 2);
}

#[test]
fn key_files_that_others_may_read_are_refused() {
    let bench = Bench::new();
    bench.write("a", b"text");
    bench.ok(&["seal", "-k", "key", "a"]);
    for mode in [0o640, 0o604, 0o644, 0o660, 0o610, 0o601, 0o620, 0o602] {
        fs::set_permissions(bench.path("key"), PermissionsExt::from_mode(mode)).unwrap();
        assert!(bench.fails(4, &["seal", "-k", "key", "-o", "b", "a"]).contains("--insecure-key-file"));
        bench.fails(4, &["open", "-k", "key", "-o", "b", "a.sealed"]);
        assert_eq!(bench.ok(&["open", "-k", "key", "--insecure-key-file", "-o", "-", "a.sealed"]), b"text");
    }
    for mode in [0o600, 0o400] {
        fs::set_permissions(bench.path("key"), PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(bench.ok(&["open", "-k", "key", "-o", "-", "a.sealed"]), b"text");
    }
}

#[test]
fn ranges() {
    let bench = Bench::new();
    let text = text(700_000);
    bench.write("a", &text);
    bench.ok(&["seal", "-k", "key", "a"]);
    let open = |range: &str, more: &[&str]| bench.ok(&[&["open", "-k", "key", "--range", range, "a.sealed"], more].concat());
    for (start, end) in
        [(0, 0), (0, 1), (5, 5), (16383, 16385), (16384, 32768), (100_000, 600_000), (0, 700_000), (699_999, 700_000), (700_000, 700_000)]
    {
        assert!(open(&format!("{start}..{end}"), &[]) == text[start..end], "{start}..{end}");
        open(&format!("{start}..{end}"), &["-o", "b"]);
        assert!(bench.read("b") == text[start..end], "{start}..{end}");
        fs::remove_file(bench.path("b")).unwrap();
    }
    assert!(open("699990..", &[]) == text[699_990..] && open("..7", &[]) == text[..7]);
    for bad in ["0..700001", "700001..", "5..4", "5", "x..y", "0..18446744073709551616"] {
        bench.fails(2, &["open", "-k", "key", "--range", bad, "a.sealed"]);
    }
    bench.fails(2, &["open", "-k", "key", "--range", "0..1", "-"]);

    // Truncation is noticed although the range does not touch the end, and so is a bad chunk at the end of a long range before
    // anything of it is written.
    let sealed = bench.read("a.sealed");
    for len in [sealed.len() - 1, sealed.len() - 12_000, 56 + 16400 * 30, 56 + 16400 * 30 + 16, 56, 55, 0] {
        bench.write("cut.sealed", &sealed[..len]);
        bench.fails(3, &["open", "-k", "key", "--range", "0..10", "cut.sealed"]);
    }
    let mut changed = sealed;
    changed[56 + 16400 * 35] ^= 1;
    bench.write("bad.sealed", &changed);
    bench.fails(3, &["open", "-k", "key", "--range", "0..600000", "bad.sealed"]);
    bench.fails(3, &["open", "-k", "key", "--range", "0..600000", "-o", "b", "bad.sealed"]);
    assert!(bench.ok(&["open", "-k", "key", "--range", "0..500000", "bad.sealed"]) == text[..500_000]);
}

#[test]
fn not_authentic() {
    let bench = Bench::new();
    bench.write("a", &text(50_000));
    bench.ok(&["seal", "-k", "key", "--context", "here", "a"]);
    let sealed = bench.read("a.sealed");
    bench.ok(&["open", "-k", "key", "--context", "here", "-o", "b", "a.sealed"]);
    assert!(bench.read("b") == text(50_000));
    fs::remove_file(bench.path("b")).unwrap();

    bench.ok(&["keygen", "-o", "other"]);
    for args in [
        &["-k", "key"][..],
        &["-k", "key", "--context", "there"],
        &["-k", "other", "--context", "here"],
        &["-k", "key128", "--context", "here"],
    ] {
        bench.fails(3, &[&["open", "-o", "b", "a.sealed"], args].concat());
        bench.fails(3, &[&["open", "-o", "-", "a.sealed"], args].concat());
    }
    let mut files: Vec<Vec<u8>> =
        [0, 1, 24, 55, 56, 71, 72, 10_000, 56 + 16400, 56 + 2 * 16400 + 16, sealed.len() - 1].map(|len| sealed[..len].to_vec()).into();
    files.push([&sealed[..], b"x"].concat());
    files.push([&sealed[..], &[0; 16400]].concat());
    for at in (0..sealed.len()).step_by(1999).chain([23, 24, 55, 56, sealed.len() - 1]) {
        let mut file = sealed.clone();
        file[at] ^= 4;
        files.push(file);
    }
    let mut swapped = sealed.clone();
    let (one, two) = swapped[56..].split_at_mut(16400);
    one.swap_with_slice(&mut two[..16400]);
    files.push(swapped);
    for file in &files {
        bench.write("bad.sealed", file);
        bench.fails(3, &["open", "-k", "key", "--context", "here", "bad.sealed"]);
        bench.fails(3, &["open", "-k", "key", "--context", "here", "--force", "-o", "a", "bad.sealed"]);
    }
}

/// From a pipe the end is not known before it comes: what was given is authentic, and the exit code and a message say that it is not all.
#[test]
fn a_truncated_stream() {
    let bench = Bench::new();
    let text = text(1 << 20);
    bench.write("a", &text);
    let sealed = bench.ok(&["seal", "-k", "key", "-o", "-", "a"]);
    let mut given = 0;
    for len in [0, 55, 56, 100, 56 + 16400 * 16, 56 + 16400 * 20, 56 + 16400 * 64, sealed.len() - 1] {
        let output = bench.run_with(&["open", "-k", "key", "-"], &sealed[..len]);
        assert_eq!(output.status.code(), Some(3));
        assert!(text.starts_with(&output.stdout));
        assert_eq!(String::from_utf8(output.stderr).unwrap().contains("incomplete"), !output.stdout.is_empty());
        given += output.stdout.len();
    }
    assert!(given > 0);
}

#[test]
fn inspect() {
    let bench = Bench::new();
    bench.write("a", &text(40_000));
    bench.ok(&["seal", "-k", "key", "a"]);
    let sealed = bench.read("a.sealed");
    let salt: String = sealed[..24].iter().map(|byte| format!("{byte:02x}")).collect();
    let shown = String::from_utf8(bench.ok(&["inspect", "a.sealed"])).unwrap();
    for fact in [&salt[..], "40000 bytes", "40104 bytes", "3: 2 of 16384 bytes, the last of 7232"] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    let piped = bench.run_with(&["inspect", "-"], &sealed);
    assert!(piped.status.success() && String::from_utf8(piped.stdout).unwrap().contains("40000 bytes"));
    for len in [0, 10, 55, 56, 71, 56 + 16400, 56 + 16400 + 15] {
        bench.write("bad", &sealed[..len]);
        bench.fails(3, &["inspect", "bad"]);
        bench.fails(3, &["inspect", "-k", "key", "bad"]);
    }
    bench.fails(1, &["inspect", "missing"]);

    // Without the key nothing is certain, whatever it is; only that a text is none.
    bench.write("random", &text(500));
    for name in ["a.sealed", "random"] {
        let shown = String::from_utf8(bench.ok(&["inspect", name])).unwrap();
        assert!(shown.contains("could be") && shown.contains("-k KEY verifies") && !shown.contains("verified"), "{shown}");
    }
    bench.write("letter", "Dear Sir or Madam, ".repeat(30).as_bytes());
    assert!(bench.fails(3, &["inspect", "letter"]).contains("plain ASCII"));

    // With the key all is.
    bench.ok(&["seal", "-k", "key128", "--format", "cobblestone-128", "--context", "here", "-o", "b", "a"]);
    for (args, format) in [
        (&["inspect", "-k", "key", "a.sealed"][..], "cobblestone-256"),
        (&["inspect", "-k", "key128", "--context", "here", "b"], "cobblestone-128"),
    ] {
        let shown = String::from_utf8(bench.ok(args)).unwrap();
        for fact in [format, "verified: ", "40000 bytes", "40104 bytes"] {
            assert!(shown.contains(fact) && !shown.contains("could be"), "{fact}: {shown}");
        }
    }
    let piped = bench.run_with(&["inspect", "-k", "key", "-"], &sealed);
    assert!(piped.status.success() && String::from_utf8(piped.stdout).unwrap().contains("verified: "));
    bench.fails(3, &["inspect", "-k", "key128", "b"]);
    bench.fails(3, &["inspect", "-k", "key", "random"]);
    bench.fails(4, &["inspect", "-k", "key", "--format", "cobblestone-128", "a.sealed"]);
    for args in [&["inspect", "--context", "here", "b"][..], &["inspect", "-k", "-", "-"], &["inspect", "--verify", "b"]] {
        bench.fails(2, args);
    }
    let mut last = sealed;
    *last.last_mut().unwrap() ^= 1;
    bench.write("bad", &last);
    bench.fails(3, &["inspect", "-k", "key", "bad"]);
    bench.passed("commands::inspect", 1 + 2 + 7 * 2 + 1 + 2 + 1 + 1 + 2 + 1 + 3 + 3 + 1);
}

#[test]
fn cpu_and_back_ends() {
    let bench = Bench::new();
    bench.write("a", &text(100_000));
    for backend in fastgcm_file::Backend::available() {
        let name = backend.name();
        let json = String::from_utf8(bench.ok(&["cpu", "--json", "--backend", name])).unwrap();
        assert!(json.contains(&format!("\"in_use\":\"{name}\"")) && json.contains(&format!("{{\"name\":\"{name}\",\"available\":true")));
        let by_environment = bench.command(&["cpu"]).env("FASTGCM_BACKEND", name).output().unwrap();
        assert!(String::from_utf8(by_environment.stdout).unwrap().contains(&format!("{name:<15} in use")));
        let sealed = bench.ok(&["seal", "-k", "key", "--backend", name, "-o", "-", "a"]);
        for other in fastgcm_file::Backend::available() {
            bench.write("s", &sealed);
            assert!(bench.ok(&["open", "-k", "key", "--backend", other.name(), "-o", "-", "s"]) == text(100_000));
        }
    }
    for backend in fastgcm_file::Backend::ALL {
        if !backend.is_available() {
            bench.fails(2, &["cpu", "--backend", backend.name()]);
        }
    }
    bench.fails(2, &["seal", "-k", "key", "--backend", "abacus", "-o", "b", "a"]);
    let bad = bench.command(&["cpu"]).env("FASTGCM_BACKEND", "abacus").output().unwrap();
    assert_eq!((bad.status.code(), bad.stdout.len()), (Some(2), 0));
    assert!(bench.command(&["cpu"]).env("FASTGCM_BACKEND", "").output().unwrap().status.success());
}

#[test]
fn selftest() {
    let bench = Bench::new();
    let report = String::from_utf8(bench.ok(&["selftest"])).unwrap();
    let back_ends: Vec<_> = fastgcm_file::Backend::available().collect();
    let numbers = || report.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
    assert_eq!(numbers().count(), back_ends.len() + 1);
    assert!(numbers().all(|checks| checks > 5000), "{report}");
    assert_eq!(numbers().take(back_ends.len()).sum::<u64>(), numbers().nth(back_ends.len()).unwrap());
    assert!(back_ends.iter().all(|backend| report.contains(backend.name())) && report.contains("selftest ok"));
    assert!(bench.ok(&["selftest", "--quiet"]).is_empty());
}

/// A vector set of ACVP, made of NIST's CAVP: all of it is right on every back end. A changed answer is a failed self-test, and what is no
/// vector set is told as such.
#[test]
fn selftest_acvp() {
    use serde_json::{Value, json};
    let bench = Bench::new();
    let Ok(sample) = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/cavp_gcm_sample.txt")) else {
        return println!("SKIPPED selftest_acvp: what is published has no vectors of NIST's");
    };
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for (id, line) in sample.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let [kind, key, iv, aad, pt, ct, tag] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [aad, ct] = [aad, ct].map(|text| text.trim_matches('-'));
        let group = |test: Value| json!({ "tgId": id, "direction": kind, "tagLen": 4 * tag.len(), "tests": [test] });
        let (question, answer) = match (kind, pt) {
            ("encrypt", _) => (json!({ "pt": pt.trim_matches('-') }), json!({ "ct": ct, "tag": tag })),
            (_, "FAIL") => (json!({ "ct": ct, "tag": tag }), json!({ "testPassed": false })),
            _ => (json!({ "ct": ct, "tag": tag }), json!({ "testPassed": true, "pt": pt.trim_matches('-') })),
        };
        let with = |mut test: Value, more: Value| {
            test.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            test
        };
        questions.push(group(with(question, json!({ "tcId": id, "key": key, "iv": iv, "aad": aad }))));
        answers.push(group(with(answer, json!({ "tcId": id }))));
    }
    let set = |groups: &[Value]| json!([{ "acvVersion": "1.0" }, { "algorithm": "ACVP-AES-GCM", "testGroups": groups }]).to_string();
    let write = |name: &str, groups: &[Value]| bench.write(name, set(groups).as_bytes());
    write("prompt", &questions);
    write("answers", &answers);
    let arguments = ["selftest", "--acvp", "prompt", "--expected", "answers"];
    let report = String::from_utf8(bench.ok(&arguments)).unwrap();
    let back_ends = fastgcm_file::Backend::available().count();
    assert!(report.ends_with(&format!("acvp ok {}\n", back_ends * questions.len())) && questions.len() == 504, "{report}");
    assert!(bench.ok(&[&arguments[..], &["--quiet"]].concat()).is_empty());

    // Each answer counts: of what is sealed the ciphertext and the tag, of what is opened the text and the verdict.
    let mut changed = 0;
    for (at, name, value) in [
        (|answer: &Value| !answer["ct"].as_str().unwrap_or("").is_empty(), "ct", None),
        (|answer: &Value| answer["tag"].is_string(), "tag", None),
        (|answer: &Value| !answer["pt"].as_str().unwrap_or("").is_empty(), "pt", None),
        (|answer: &Value| answer["testPassed"] == json!(true), "testPassed", Some(json!(false))),
        (|answer: &Value| answer["testPassed"] == json!(false), "testPassed", Some(json!(true))),
    ] as [(fn(&Value) -> bool, &str, Option<Value>); 5]
    {
        let mut other = answers.clone();
        let answer = other.iter_mut().map(|group| &mut group["tests"][0]).find(|answer| at(answer)).unwrap();
        let flipped = |text: &str| format!("{}{}", &text[..text.len() - 1], if text.ends_with('0') { '1' } else { '0' });
        answer[name] = value.unwrap_or_else(|| json!(flipped(answer[name].as_str().unwrap())));
        write("answers", &other);
        assert!(bench.fails(6, &arguments).contains("SELF-TEST FAILED: back end "));
        changed += 1;
    }

    let fails = |why: &str, prompt: &[Value], expected: &[Value]| {
        write("prompt", prompt);
        write("answers", expected);
        let said = bench.fails(1, &arguments);
        assert!(said.contains(why), "{why}: {said}");
    };
    fails("answers: no answer to test 0", &questions, &answers[1..]);
    fails("answers: test 0 is not in the prompt", &questions[1..], &answers);
    fails("prompt: it has no tests", &[], &[]);
    let mut other = questions.clone();
    other[0]["tagLen"] = json!(40);
    fails("prompt: test 0: SP 800-38D has no tag of 40 bits", &other, &answers);
    other[0] = questions[0].clone();
    other[0]["tests"][0]["key"] = json!("no");
    fails("prompt: test 0: key is no hexadecimal", &other, &answers);
    other[0] = questions[0].clone();
    other[0]["direction"] = json!("sideways");
    fails("prompt: test 0: direction is neither", &other, &answers);
    // What no machine can answer is a fault of the set, and not of this machine.
    let unusable = |why: &str, change: &dyn Fn(&mut Value, &mut Value)| {
        let (mut other, mut replies) = (questions.clone(), answers.clone());
        change(&mut other[0], &mut replies[0]["tests"][0]);
        fails(&format!("prompt: test 0: {why}"), &other, &replies);
    };
    unusable("neither the prompt nor the answer has an iv", &|group, _| drop(group["tests"][0].as_object_mut().unwrap().remove("iv")));
    unusable("neither the prompt nor the answer has an iv", &|group, _| group["tests"][0]["iv"] = json!(""));
    unusable("AES has no key of 15 bytes", &|group, _| group["tests"][0]["key"] = json!("00".repeat(15)));
    unusable("AES has no key of 0 bytes", &|group, _| drop(group["tests"][0].as_object_mut().unwrap().remove("key")));
    unusable("text and ciphertext have different lengths", &|_, answer| answer["ct"] = json!("00".repeat(500)));
    for length in ["keyLen", "ivLen", "aadLen", "payloadLen"] {
        unusable(&format!("{length} is 1004 bits, and "), &|group, _| {
            group[length] = json!(1004);
            group["tests"][0]["pt"] = json!("00");
        });
    }
    bench.write("prompt", b"{");
    assert!(bench.fails(1, &arguments).contains("prompt: no vector set of ACVP"));
    bench.write("prompt", br#"{ "algorithm": "ACVP-AES-CBC", "testGroups": [] }"#);
    assert!(bench.fails(1, &arguments).contains("its algorithm is ACVP-AES-CBC"));
    bench.fails(2, &["selftest", "--acvp", "prompt"]);
    bench.fails(1, &["selftest", "--acvp", "nowhere", "--expected", "answers"]);
    assert!(changed > 0);
}

#[test]
fn usage() {
    let bench = Bench::new();
    bench.write("a", b"text");
    for args in [
        &[][..],
        &["frobnicate"],
        &["seal"],
        &["seal", "a"],
        &["seal", "-k", "key"],
        &["seal", "-k", "key", "--new-key", "new", "a"],
        &["seal", "-k", "key", "--threads", "0", "a"],
        &["seal", "-k", "key", "--threads", "many", "a"],
        &["open", "a"],
        &["open", "-k", "key", "a"], // the name does not end in .sealed
        &["open", "-k", "key", ".sealed"],
        &["seal", "-k", "key", "-o", "..", "a"],
        &["man", "frobnicate"],
    ] {
        let code = bench.run(args).status.code();
        // An existing directory as the output is "exists".
        assert_eq!(code, Some(if args.contains(&"..") { 5 } else { 2 }), "{args:?}");
    }
    assert_eq!(bench.names(), ["a", "key", "key128"]);
    for args in [&["--help"][..], &["--version"], &["help", "seal"], &["seal", "--help"], &["man"], &["man", "open"]] {
        assert!(bench.ok(args).len() > 10, "{args:?}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(String::from_utf8(bench.ok(&["completions", shell])).unwrap().contains("insecure-key-file"));
    }
    assert!(String::from_utf8(bench.ok(&["man", "open"])).unwrap().contains(".TH fastgcm-open 1"));
}
