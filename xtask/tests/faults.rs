//! Tests `cargo xtask faults` as a program, on a made-up project.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Runs `cargo xtask faults NAME` there. Returns whether it succeeded, and its output.
fn faults(root: &Path, name: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["faults", name]).current_dir(root).env_remove("FASTGCM_FULL").output();
    let Output { status, stdout, stderr } = output.unwrap();
    (status.success(), [stdout, stderr].map(|output| String::from_utf8_lossy(&output).into_owned()).concat())
}

/// Makes a project with these files.
fn project(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// A fault that no test finds, that has lost its place, or that does not compile is a failure.
#[test]
fn missed_faults_are_reported() {
    let text = "\
        tests: grep -q right crates/it/src/lib.rs\n\
        found: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: test -e crates/it\n\
        missed: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: if grep -q wrong crates/it/src/lib.rs; then echo error: could not compile; exit 1; fi\n\
        unbuilt: so\n    in say: \"right\" ==> \"wrong\"\n\
        tests: false\n\
        always: so\n    in say: \"right\" ==> \"wrong\"\n";
    let source = "fn other() { \"left\" }\nfn say() -> &str {\n    \"right\"\n}\n";
    let root = project("faults", &[(".ci/run", ""), ("crates/it/faults.txt", text), ("crates/it/src/lib.rs", source)]);
    let (passed, output) = faults(&root, "found");
    assert!(passed && output.contains("found caught"), "{output}");
    for (name, why) in
        [("missed", "missed (so)"), ("unbuilt", "does not compile"), ("always", "without a planted fault"), ("nobody", "nobody")]
    {
        let (passed, output) = faults(&root, name);
        assert!(!passed && output.contains(why), "{name}: {output}");
    }
    assert_eq!(fs::read_to_string(root.join("crates/it/src/lib.rs")).unwrap(), source);
    fs::write(root.join("crates/it/src/lib.rs"), source.replace("say", "tell")).unwrap();
    let (passed, output) = faults(&root, "found");
    assert!(!passed && output.contains("found: `say` of it has this 0 times"), "{output}");
}
