//! Files that a run trusts: who else may read or change them, and what their replacements give to whom.

use crate::support::{Bench, text};
use rustix::{
    fs::{XattrFlags, getxattr, setxattr},
    io::Errno,
};
use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt},
    process::{Command, Stdio},
};

const NOBODY: u32 = 65534;

/// A secret that somebody has put where a name belongs is in no message, and the variable that once was the name of a key file still is.
#[test]
fn no_message_shows_what_a_variable_holds() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let secret = "ec2ffac0".repeat(8);
    let mut said = 0;
    let mut by = |variable: &str, code: i32, why: &str, args: &[&str]| {
        let output = bench.command(args).env(variable, &secret).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{variable}: {message}");
        assert!(!message.contains("ec2f") && message.contains(why), "{variable}: {message}");
        said += 1;
    };
    by("FASTGCM_KEY", 2, "FASTGCM_KEY names no file", &["seal", "a"]);
    by("FASTGCM_KEY", 2, "FASTGCM_KEY_FILE", &["open", "-o", "b", "a"]);
    by("FASTGCM_KEY_FILE", 1, "$FASTGCM_KEY_FILE: No such file", &["seal", "a"]);
    by("FASTGCM_BACKEND", 2, "FASTGCM_BACKEND names no back end", &["cpu"]);
    if cfg!(feature = "age") {
        by("FASTGCM_PASSPHRASE_FILE", 1, "$FASTGCM_PASSPHRASE_FILE: No such file", &["keygen", "-p", "-o", "k"]);
        bench.ok(&["keygen", "-r", "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj", "-o", "locked"]);
        by("FASTGCM_IDENTITY", 1, "$FASTGCM_IDENTITY: No such file", &["seal", "-k", "locked", "a"]);
    }
    let old = |args: &[&str]| bench.command(args).env("FASTGCM_KEY", "key").output().unwrap();
    assert!(old(&["seal", "a"]).status.success() && old(&["open", "-o", "-", "a.sealed"]).stdout == b"text");
}

/// Who can change a folder can put another key there; and to whom a file belongs may change it, whatever its mode says.
#[test]
fn owners_and_folders() {
    let bench = Bench::new();
    bench.write("a", b"text");
    let mut cases = 0;
    for (mode, refused) in [(0o777, true), (0o702, true), (0o720, !cfg!(not(target_os = "linux"))), (0o1777, false), (0o755, false)] {
        fs::create_dir_all(bench.path("folder/in")).unwrap();
        fs::copy(bench.path("key"), bench.path("folder/in/key")).unwrap();
        bench.set_mode("folder", mode);
        // A group of one's own number, which is nobody else's, is no other.
        let refused = refused && (mode != 0o720 || rustix::process::geteuid().is_root());
        let seal = ["seal", "-k", "folder/in/key", "-o", "b", "a"];
        if refused {
            let message = bench.fails(4, &seal);
            assert!(message.contains("they may write to the folder") && message.contains("chmod go-w"), "{message}");
        }
        let option = if refused { &["--insecure-key-file"][..] } else { &[] };
        bench.ok(&[&seal[..], option].concat());
        fs::remove_file(bench.path("b")).unwrap();
        fs::remove_dir_all(bench.path("folder")).unwrap();
        cases += 1;
    }
    if rustix::process::geteuid().is_root() {
        bench.copy_program("program");
        fs::create_dir(bench.path("out")).unwrap();
        bench.set_mode(".", 0o755);
        // The key of one user; who runs it; whose the folder is.
        for (owner, user, folder, refused) in [
            (1234, 0, 0, true),
            (0, 0, 1234, true),
            (NOBODY, NOBODY, 0, false),
            (NOBODY, NOBODY, NOBODY, false),
            (NOBODY, NOBODY, 1234, true),
        ] {
            chown(bench.path("key"), Some(owner), None).unwrap();
            chown(bench.path("."), Some(folder), None).unwrap();
            let mut command = Command::new(bench.path("program"));
            command.args(["seal", "-k", "key", "-o", "-", "a"]).current_dir(bench.path(".")).uid(user).gid(user).stdin(Stdio::null());
            let output = command.output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(if refused { 4 } else { 0 }), "{owner} {user} {folder}: {message}");
            assert!(!refused || message.contains("another user (1234)") && message.contains("--insecure-key-file"), "{message}");
            cases += 1;
        }
    }
    assert!(cases > 0);
}

/// A list of Linux: entries for the owner, a user, the group, the mask and the others.
fn list(entries: &[(u8, u8, u32)]) -> Vec<u8> {
    let entry = |(tag, bits, id): &(u8, u8, u32)| [&[*tag, 0, *bits, 0][..], &id.to_le_bytes()].concat();
    [vec![2, 0, 0, 0], entries.iter().flat_map(entry).collect()].concat()
}

/// What replaces a file gives to each what the old one gave: under an access control list the bits of the group are not what the group may.
#[test]
fn access_lists() {
    const LIST: &str = "system.posix_acl_access";
    const NO_ID: u32 = u32::MAX;
    let bench = Bench::new();
    let get = |name: &str, what: &str| {
        let mut value = [0; 1000];
        getxattr(bench.path(name), what, &mut value[..]).map(|len| value[..len].to_vec())
    };
    let set = |name: &str, what: &str, value: &[u8]| setxattr(bench.path(name), what, value, XattrFlags::empty()).unwrap();
    let given = list(&[(1, 6, NO_ID), (2, 6, 1234), (4, 0, NO_ID), (0x10, 6, NO_ID), (0x20, 0, NO_ID)]);
    bench.write("a", &text(50_000));
    bench.ok(&["keygen", "-o", "new"]);
    bench.ok(&["seal", "-k", "key", "a"]);
    let mut cases = 0;
    for (name, args) in [
        ("out", &["open", "-k", "key", "--force", "-o", "out", "a.sealed"][..]),
        ("out", &["seal", "-k", "key", "--force", "-o", "out", "a"]),
        ("a.sealed", &["rekey", "-k", "key", "--to", "new", "a.sealed"]),
        ("a.sealed", &["rekey", "-k", "new", "--to", "key", "a.sealed"]),
    ] {
        if name == "out" {
            bench.write(name, b"old");
        }
        set(name, LIST, &given);
        set(name, "user.note", b"hello");
        let before = bench.read(name);
        bench.ok(args);
        assert!(
            bench.read(name) != before && get(name, LIST) == Ok(given.clone()) && get(name, "user.note") == Ok(b"hello".to_vec()),
            "{args:?}"
        );
        assert_eq!(bench.mode(name), 0o660);
        cases += 1;
    }
    // A folder gives its new files a list. The file that is replaced has none.
    fs::create_dir(bench.path("folder")).unwrap();
    bench.write("folder/out", b"old");
    bench.set_mode("folder/out", 0o640);
    set("folder", "system.posix_acl_default", &list(&[(1, 7, NO_ID), (2, 7, 1234), (4, 7, NO_ID), (0x10, 7, NO_ID), (0x20, 7, NO_ID)]));
    bench.ok(&["open", "-k", "key", "--force", "-o", "folder/out", "a.sealed"]);
    assert_eq!((get("folder/out", LIST), bench.mode("folder/out")), (Err(Errno::NODATA), 0o640));
    bench.ok(&["open", "-k", "key", "-o", "folder/new", "a.sealed"]);
    assert_eq!(bench.mode("folder/new") & 0o077, 0, "a new text is for the user only, whatever the folder gives");
    assert!(cases > 0);
}

/// Key files and identities from strangers, and what opens a key file: nothing takes long, nothing is cut in silence, and the answer blames what is to blame.
#[cfg(feature = "age")]
#[test]
fn strange_key_files() {
    use age::secrecy::ExposeSecret;
    let bench = Bench::new();
    bench.write("a", b"text");
    let write = |name: &str, content: &[u8]| {
        bench.write(name, content);
        bench.set_mode(name, 0o600);
    };
    let stanzas = |number: usize| {
        let lines = (0..number).map(|number| format!("-> X{number} a\n{}\n", "A".repeat(43))).collect::<String>();
        [format!("age-encryption.org/v1\n{lines}--- {}\n", "A".repeat(43)).into_bytes(), vec![7; 64]].concat()
    };
    let identity = age::x25519::Identity::generate();
    let recipient = identity.to_public().to_string();
    write("identity", identity.to_string().expose_secret().as_bytes());
    write("secret", b"secret");
    write("large", &stanzas(20_000));
    write("small", &stanzas(1000));
    write("costly", b"age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 23\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n0123456789abcdef0123456789abcdef");
    let begun = std::time::Instant::now();
    let mut cases = 0;
    let mut fails = |code: i32, why: &str, args: &[&str]| {
        let before = bench.names();
        let output = bench.command(args).env("FASTGCM_PASSPHRASE_FILE", "secret").output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && message.contains(why) && bench.names() == before, "{args:?}: {message}");
        cases += 1;
    };
    fails(4, "64 KiB at most", &["seal", "-k", "large", "-i", "identity", "a"]);
    fails(4, "no identity opens it", &["seal", "-k", "small", "-i", "identity", "a"]);
    fails(4, "identity large has more than 64 KiB", &["seal", "-k", "small", "-i", "large", "a"]);
    fails(4, "a work factor of 2^23", &["seal", "-k", "costly", "a"]);
    assert!(begun.elapsed().as_secs() < 60);

    // Two in one argument: the second would be locked out.
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJZ1Mm8ZfKbwXLwPUJnfMkTPzBTe5cPVvVQ4T1Zb1d9C";
    for several in
        [format!("{key} one\n{key} two"), format!("{key} one {key} two"), format!("{recipient}\r"), format!("{key} one {recipient}")]
    {
        fails(2, "-r names one recipient", &["keygen", "-o", "k", "-r", &several]);
    }
    fails(4, "--for FILE takes those", &["keygen", "-o", "k", "-r", "id_ed25519.pub"]);
    let team = bench.path("team");
    fs::write(&team, (recipient.clone() + "\n").repeat(700)).unwrap();
    fails(4, "too many recipients", &["keygen", "-o", "k", "--for", "team"]);

    // A passphrase is all of the first line, or none.
    for (len, rest, why) in
        [(1024, "\n", None), (1024, "\r\nmore", None), (1025, "", Some("1,024 bytes at most")), (1100, "\n", Some("1,024"))]
    {
        write("secret", (("x".repeat(len)) + rest).as_bytes());
        match why {
            Some(why) => fails(4, why, &["keygen", "-p", "-o", "k"]),
            None => {
                let made = bench.command(&["keygen", "-p", "-o", "k"]).env("FASTGCM_PASSPHRASE_FILE", "secret").output().unwrap();
                assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
                fs::remove_file(bench.path("k")).unwrap();
            }
        }
    }
    // No message names an option that is not there.
    bench.set_mode("secret", 0o644);
    let output = bench.command(&["keygen", "-p", "-o", "k"]).env("FASTGCM_PASSPHRASE_FILE", "secret").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("others may read it") && !message.contains("--insecure"), "{message}");

    // An identity is a secret, and a list of recipients is what others must not change.
    bench.ok(&["keygen", "-r", &recipient, "-o", "locked"]);
    bench.write("list", recipient.as_bytes());
    bench.set_mode("identity", 0o644);
    bench.set_mode("list", 0o646);
    fails(4, "identity identity: others may read it", &["seal", "-k", "locked", "-i", "identity", "a"]);
    fails(4, "list list: others may read it or change it", &["keygen", "--for", "list", "-o", "k"]);
    bench.ok(&["seal", "-k", "locked", "-i", "identity", "--insecure-key-file", "a"]);
    bench.set_mode("list", 0o644);
    bench.ok(&["keygen", "--for", "list", "-o", "k"]);
    if rustix::process::geteuid().is_root() {
        chown(bench.path("list"), Some(1234), None).unwrap();
        fails(4, "another user (1234)", &["keygen", "--for", "list", "-o", "k2"]);
    }
    // Through a pipe an identity is read once.
    let piped = bench.by("bash", "fastgcm open -k locked -i <(cat identity) -o - a.sealed");
    assert_eq!(piped.stdout, b"text", "{}", String::from_utf8_lossy(&piped.stderr));

    // A key of ssh whose passphrase nobody can be asked for.
    let keygen = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "pw", "-f"]).arg(bench.path("ssh")).status();
    assert!(keygen.unwrap().success());
    let public = String::from_utf8(bench.read("ssh.pub")).unwrap();
    bench.ok(&["keygen", "-r", public.trim(), "-o", "ours"]);
    let mut alone = Command::new("setsid");
    alone.args(["-w", env!("CARGO_BIN_EXE_fastgcm"), "seal", "-k", "ours", "-i", "ssh", "-o", "b", "a"]);
    let output = alone.current_dir(bench.path(".")).env("PINENTRY_PROGRAM", "").stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(4) && message.contains("the passphrase of the ssh key ssh cannot be asked for"), "{message}");
    assert!(cases > 0);
}
