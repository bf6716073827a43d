//! `bench`: what it measures, what it writes, what it refuses. That it is fast is not tested.

use super::Bench;
use fastgcm::Backend;
use fastgcm_measure::Results;
use std::{os::unix::fs::PermissionsExt, path::Path};

const QUICK: &[&str] = &["bench", "--quick", "--quiet", "--sizes", "16,1K", "--key-bits", "128"];

fn back_ends() -> Vec<String> {
    Backend::available().map(|backend| backend.to_string()).collect()
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [QUICK, more].concat()
}

/// Every case by everyone who is there, in every form.
#[test]
fn everyone_is_measured() {
    let bench = Bench::new();
    let text = String::from_utf8(bench.ok(&with(&["--csv", "b.csv", "--json", "b.json", "--svg", "b.svg", "--html", "b.html"]))).unwrap();
    let read = |name| String::from_utf8(bench.read(name)).unwrap();
    let results: Results = serde_json::from_str(&read("b.json")).unwrap();

    // Where there is a libcrypto it takes part, first of all, and is what the others are compared with.
    let here = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let rivals = usize::from(here.iter().any(|folder| Path::new(folder).join("libcrypto.so.3").exists()));
    assert!(results.base.len() >= rivals, "{:?}", results.base);
    let mut everyone = [results.base.clone(), back_ends()].concat();
    if results.machine.notes[0].ends_with("by the program fastgcm-scrubbed") {
        everyone.insert(results.base.len() + 1, format!("{} with scrub", Backend::detect()));
    }
    assert!(everyone.iter().all(|name| text.contains(name)));

    // One for the key, three for a key and a message, two sizes each for seal and open.
    let cases: Vec<_> = results.cases.iter().map(|measured| (measured.case.group.as_str(), measured.case.name.as_str())).collect();
    let [one, two, three] = ["key set-up and seal", "seal", "open"].map(|verb| format!("AES-128 {verb}, nonce prepared, 13 bytes of AAD"));
    let expected = [
        ("key set-up", "AES-128"),
        (&one, "16"),
        (&one, "1420"),
        (&one, "16384"),
        (&two, "16"),
        (&two, "1024"),
        (&three, "16"),
        (&three, "1024"),
    ];
    assert_eq!(cases, expected);
    for measured in &results.cases {
        assert!(measured.contenders.iter().map(|contender| &contender.contender).eq(&everyone));
        for contender in &measured.contenders {
            assert!(contender.best_ns > 0.0 && contender.best_ns <= contender.median_ns && contender.samples_ns.len() >= 5);
        }
    }
    assert_eq!(read("b.csv").lines().count(), 1 + cases.len() * everyone.len());
    assert!(read("b.svg").starts_with("<svg") && read("b.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(bench.names(), ["b.csv", "b.html", "b.json", "b.svg"]);

    // First comes what one wants to know: a sentence with the best back end. The terminal has 100 columns, and no page shows an error of the system.
    let best = format!("The best back end of this processor is {}. It seals 1024 bytes with AES-128 in ", Backend::detect());
    assert!(results.summary.starts_with(&best) && text.replace('\n', " ").starts_with(&best), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100) && !text.contains("os error"), "{text}");
    assert!(read("b.html").contains(&format!("</h1><p class=\"lead\">{best}")));
    for group in [&one, &two, &three] {
        assert_eq!(read("b.html").matches(group).count(), 1, "{group}");
    }
    println!("bench::everyone_is_measured ok {}", cases.len());
}

#[test]
fn only_what_was_asked_for() {
    let bench = Bench::new();
    let json = |more: &[&str]| serde_json::from_slice::<Results>(&bench.ok(&with(&[more, &["--json", "-"]].concat()))).unwrap();
    let alone = json(&["--libcrypto", "none", "--seal", "--backend", "portable", "--nonce", "written", "--aad", "0"]);
    assert!(alone.base.is_empty() && alone.machine.notes[1].contains("no libcrypto"));
    let groups: Vec<_> = alone.groups().iter().map(|(group, _)| group.to_string()).collect();
    let how = "nonce written before each call, 0 bytes of AAD";
    assert_eq!(groups, ["key set-up".into(), format!("AES-128 key set-up and seal, {how}"), format!("AES-128 seal, {how}")]);
    assert!(alone.cases.iter().all(|measured| measured.contenders.len() <= 2 && measured.contenders[0].contender == "portable"));

    let open = json(&["--open", "--libcrypto", "none", "--nonce", "dependent"]);
    assert_eq!((open.cases.len(), open.cases[5].case.group.as_str()), (6, "AES-128 open, nonce from the last output, 13 bytes of AAD"));
    assert!(open.cases.iter().all(|measured| back_ends().iter().all(|name| measured.by(name).is_some())));

    let environment = bench.command(&with(&["--libcrypto", "none"])).env("FASTGCM_BACKEND", "portable").output().unwrap();
    let shown = String::from_utf8(environment.stdout).unwrap();
    assert!(
        environment.status.success()
            && shown.contains("portable")
            && back_ends()[..back_ends().len() - 1].iter().all(|name| !shown.contains(name))
    );
}

#[test]
fn refusals() {
    let bench = Bench::new();
    let name = "x\x1b[31m\nfastgcm-study: all is well\r\u{9b}\u{202e}";
    bench.write("old", b"precious");
    bench.write(name, b"precious");
    for (code, more) in [
        (2, &["--sizes", "x"][..]),
        (2, &["--sizes", "1025M"]),
        (2, &["--key-bits", "64"]),
        (2, &["--nonce", "random"]),
        (2, &["--seconds", "0"]),
        (2, &["--seconds", "1"]), // --quick is there already
        (2, &["--backend", "abacus"]),
        (2, &["--libcrypto", "missing.so"]),
        (2, &["--libcrypto", "old"]),
        (2, &["--csv", "same", "--json", "./same"]),
        (2, &["--csv", "-", "--json", "-"]),
        (2, &["--libcrypto", name]),
        (2, &["--key-bits", name]),
        (5, &["--html", "old"]),
        (5, &["--html", name]),
        (5, &["--svg", "."]),
        (1, &["--csv", "no/such/directory"]),
    ] {
        let message = bench.fails(code, &with(more));
        // What a name holds is shown, not obeyed.
        assert!(!message.contains(|letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}'), "{message:?}");
        assert!(!message.lines().any(|line| line.starts_with("fastgcm-study: all")), "{message}");
    }
    // What was measured is shown even where it cannot be written.
    let full = bench.run(&with(&["--libcrypto", "none", "--json", "/dev/full"]));
    assert_eq!(full.status.code(), Some(1));
    assert!(String::from_utf8(full.stdout).unwrap().contains("portable"));
    bench.ok(&with(&["--libcrypto", "none", "--csv", "old", "--force"]));
    assert!(bench.read("old").starts_with(b"group,case,bytes,contender,"));
    // Results are no secrets: a new file has the mode that the umask gives, and one that is replaced keeps its own.
    let mode = |name: &str| bench.path(name).metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(bench.path("old"), PermissionsExt::from_mode(0o604)).unwrap();
    for (umask, public) in [("000", 0o666), ("027", 0o640), ("077", 0o600)] {
        let line = format!("umask {umask}; exec \"$0\" \"$@\" --libcrypto none --csv new-{umask} --json old --force");
        let mut shell = std::process::Command::new("sh");
        let status = shell.args(["-c", &line, super::PROGRAM]).args(QUICK).current_dir(bench.path("")).stdout(std::process::Stdio::null());
        assert!(status.status().unwrap().success());
        assert_eq!((mode(&format!("new-{umask}")), mode("old")), (public, 0o604), "{umask}");
    }
    println!("bench::refusals ok 21");
}

/// A libcrypto that says it has done everything, and does nothing, is found out before anything is timed.
#[test]
fn wrong_answers_are_not_timed() {
    const IDLE: &str = r#"
        use std::ffi::{c_char, c_int, c_void};
        #[unsafe(no_mangle)] extern "C" fn OpenSSL_version(_: c_int) -> *const c_char { c"Idle 1.0".as_ptr() }
        #[unsafe(no_mangle)] extern "C" fn EVP_aes_128_gcm() -> *const c_void { 1 as _ }
        #[unsafe(no_mangle)] extern "C" fn EVP_aes_192_gcm() -> *const c_void { 1 as _ }
        #[unsafe(no_mangle)] extern "C" fn EVP_aes_256_gcm() -> *const c_void { 1 as _ }
        #[unsafe(no_mangle)] extern "C" fn EVP_CIPHER_CTX_new() -> *const c_void { 1 as _ }
        #[unsafe(no_mangle)] extern "C" fn EVP_CIPHER_CTX_free(_: usize) {}
        #[unsafe(no_mangle)] extern "C" fn EVP_CipherInit_ex(_: usize, _: usize, _: usize, _: usize, _: usize, _: c_int) -> c_int { 1 }
        #[unsafe(no_mangle)] extern "C" fn EVP_CipherUpdate(_: usize, _: usize, _: usize, _: usize, _: c_int) -> c_int { 1 }
        #[unsafe(no_mangle)] extern "C" fn EVP_CipherFinal_ex(_: usize, _: usize, _: usize) -> c_int { 1 }
        #[unsafe(no_mangle)] extern "C" fn EVP_CIPHER_CTX_ctrl(_: usize, _: c_int, _: c_int, _: usize) -> c_int { 1 }
    "#;
    let bench = Bench::new();
    let idle = bench.compile("idle", IDLE);
    let message = bench.fails(6, &with(&["--libcrypto", idle.to_str().unwrap()]));
    assert!(message.contains("Idle 1.0, AES-128, 0 bytes"), "{message}");
    println!("bench::wrong_answers_are_not_timed ok 1");
}
