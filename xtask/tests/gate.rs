//! The gate as a program: on made-up checks, each of which fails in a way of its own.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");

fn said(program: &Path, folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut gate = Command::new(program);
    let gate = gate.args(arguments).current_dir(folder).env_remove("FASTGCM_FULL").env_remove("FASTGCM_SHARD").env("XTASK", XTASK);
    let Output { status, stdout, stderr } = gate.output().unwrap();
    (status.success(), [stdout, stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat())
}

/// Checks of that project.
fn gate(folder: &Path, names: &[&str]) -> (bool, String) {
    said(&folder.join(".ci/run"), folder, names)
}

fn xtask(folder: &Path, arguments: &[&str]) -> (bool, String) {
    said(Path::new(XTASK), folder, arguments)
}

/// A project with these files.
fn project(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    root
}

/// Checks that must fail, the commands of each, and what is said of it. (`suite` and `rows/*` is what each must print.)
const BAD: [(&str, &str, &str); 12] = [
    ("aside", "ALL; exit 4", "exit status: 4"),
    ("status", "ALL; exit 3", "exit status: 3"),
    ("earlier", "false\nALL", "exit status: 1"),
    ("pipe", "false | cat\nALL", "exit status: 1"),
    ("variable", "echo $NOBODY_HAS_SET_THIS\nALL", "unbound variable"),
    ("killed", "ALL; kill -9 $$", "exit status: 137"),
    ("gone", "ALL | grep -v suite", "others: 1 of 2"),
    ("nothing", "ALL | sed 's/suite ok 7/suite ok 0/'", "suite: ran nothing"),
    ("row", "ALL | grep -v here", "rows/here: did not run"),
    ("skipped", "ALL; echo SKIPPED something: nobody allowed it", "something: nobody allowed it"),
    ("skipped_row", "ALL; echo 'test a ... SKIPPED here natively: it is there'", "here natively"),
    ("not_elsewhere", "ALL; echo SKIPPED there: this processor has it", "there: this processor has it"),
];

#[test]
fn each_way_to_fail_is_seen() {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|line| ["flags", "Features", "isa"].iter().any(|what| line.starts_with(what))).unwrap();
    let flag = flags.split_once(':').unwrap().1.trim().split([' ', '_']).next().unwrap();
    let all = "{ echo suite ok 7; echo test a ... rows/here ok 1; echo rows/portable ok 2; }";
    let good = [("good", "ALL"), ("allowed", "ALL; echo SKIPPED far: away; echo SKIPPED away natively: x"), ("new", "ALL; echo more ok 1")];
    let checks = BAD.iter().map(|(name, commands, _)| (*name, *commands)).chain(good).map(|(name, commands)| {
        format!("check_{name}() {{\n{}\n}}\n", commands.replace("ALL", all)) //
    });
    // What stands above and below the functions of `.ci/run`.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci");
    let (run, driver) = (fs::read_to_string(own.join("run")).unwrap(), fs::read_to_string(own.join("driver")).unwrap());
    let above = run.split_once("\n# A program of crates.io").unwrap().0;
    let run = format!("{above}\ngate='good gone' full= beside=aside shared=\n{}\n. .ci/driver; exit\n", checks.collect::<String>());
    let suites = BAD.iter().map(|bad| bad.0).chain(good.map(|good| good.0)).map(|name| format!("{name}: others=2\n"));
    let table = format!("\"here\" on any: \"{flag}\"\n\"away\" on any: \"no-processor-has-this\"\n\"portable\" on any\n");
    let root = project(
        "gate",
        &[
            (".ci/run", &run),
            (".ci/driver", &driver),
            (".ci/suites", &format!("SKIPPED far  no-processor-has-this  so\nSKIPPED there  {flag}  so\n{}", suites.collect::<String>())),
            ("crates/fastgcm/src/table.rs", &table),
        ],
    );
    for (name, _, why) in BAD {
        let (passed, said) = gate(&root, &[name]);
        let told = said.lines().skip_while(|line| *line != "== seconds").any(|line| line.contains(why));
        let told = told || why == "unbound variable" && said.contains(why);
        assert!(!passed && told && !said.contains("ci ok"), "{name}: {said}");
        // And nothing is run behind it.
        let (passed, said) = gate(&root, &[name, "good"]);
        assert!(!passed && (!said.contains("== good") || name == "aside"), "{name}: {said}");
    }
    // What runs beside the others fails, too.
    assert!(!gate(&root, &["good", "aside"]).0);
    for (name, _) in good {
        let (passed, said) = gate(&root, &[name]);
        assert!(passed && said.contains("ci ok") && (name != "new" || said.contains("others=3")), "{name}: {said}");
    }
    assert!(!gate(&root, &["nobody"]).0 && !gate(&root, &[]).0 && !xtask(&root, &["nothing"]).0);
    println!("gate::fails ok {}", BAD.len());
}

/// A fault that no test finds, that has lost its place or does not compile is a failure.
#[test]
fn faults_that_nobody_finds_are_told() {
    let faults = "\
        tests: grep -q right crates/it/src/lib.rs\n\
        found: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: test -e crates/it\n\
        missed: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: if grep -q wrong crates/it/src/lib.rs; then echo error: could not compile; exit 1; fi\n\
        unbuilt: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: false\n\
        always: so\n    in say: \"right\" ==> \"wrong\"\n";
    let source = "fn other() { \"left\" }\nfn say() -> &str {\n    \"right\"\n}\n";
    let root = project("faults", &[(".ci/suites", ""), ("crates/it/faults.txt", faults), ("crates/it/src/lib.rs", source)]);
    let (passed, said) = xtask(&root, &["faults", "found"]);
    assert!(passed && said.contains("found caught"), "{said}");
    for (name, why) in
        [("missed", "missed (so)"), ("unbuilt", "does not compile"), ("always", "without a planted fault"), ("nobody", "nobody")]
    {
        let (passed, said) = xtask(&root, &["faults", name]);
        assert!(!passed && said.contains(why), "{name}: {said}");
    }
    assert_eq!(fs::read_to_string(root.join("crates/it/src/lib.rs")).unwrap(), source);
    fs::write(root.join("crates/it/src/lib.rs"), source.replace("say", "tell")).unwrap();
    let (passed, said) = xtask(&root, &["faults", "found"]);
    assert!(!passed && said.contains("found: `say` of it has this 0 times"), "{said}");
    println!("gate::faults ok 6");
}

/// Whoever starts it: what it starts itself sees no variable that would change what is tested.
#[test]
fn nothing_is_inherited_that_changes_what_is_tested() {
    const CHANGE: &str = "FASTGCM_ONLY FASTGCM_QUICK FASTGCM_CASES FASTGCM_EMULATED FASTGCM_BACKEND FASTGCM_CAVP_FULL RUSTFLAGS \
        CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_PROFILE_TEST_OPT_LEVEL CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER \
        RUST_TEST_THREADS RUST_MIN_STACK QEMU_CPU";
    let mut gate = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run"));
    gate.arg("environment").envs(CHANGE.split(' ').map(|name| (name, "portable")));
    gate.env("FASTGCM_FULL", "1").env("XTASK", XTASK).env_remove("FASTGCM_SHARD");
    let output = gate.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let is_seen = |name: &str| said.lines().any(|line| line == name);
    assert!(is_seen("FASTGCM_FULL") && is_seen("PATH") && !CHANGE.split(' ').any(is_seen), "{said}");
    println!("gate::environment ok {}", CHANGE.split(' ').count());
}
