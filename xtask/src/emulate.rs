//! `cargo xtask emulate`: the back ends that few machines can run, on an emulated processor.
//!
//! The processor has VAES, VPCLMULQDQ and AVX-512, and executes some 20 million instructions a second: so the suites run with
//! `FASTGCM_QUICK`, for these rows only, and on one boot (`emulate.py`). A step of a trace takes as long as 4,000 instructions there, since
//! the kernel stands between any two: fewer secrets (`FASTGCM_EMULATED`), all of them again with `FASTGCM_FULL`. Programs are linked
//! statically: there is nothing else on that machine.
//!
//! What does not run there: valgrind, which knows neither VAES nor AVX-512; traces of messages so long that they have a table of their own
//! (a quarter of a minute for each); of the library's own tests those that are the same on any machine. With `FASTGCM_FULL` only: the
//! library's others (seconds, after minutes of compiling), long known answers of more than 4,112 bytes.

use crate::{ci::full, log::Log};
use std::{
    path::Path,
    process::{Command, Stdio},
};

const TARGET: &str = "x86_64-unknown-linux-gnu";
const ROWS: [&str; 2] = ["vaes-avx512", "vaes-avx2"];

/// Whether this processor lacks one of them. Where it has both, the tests have run there.
pub(crate) fn needed() -> bool {
    #[cfg(target_arch = "x86_64")]
    return !(is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx512vbmi"));
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// What stands for the library among the test files.
const LIBRARY: &str = "fastgcm";

/// A test file (or the library, for its own tests), and what its harness is told: words that names of tests hold, or hold not.
type Test = (&'static str, &'static [&'static str]);

/// With these features of the library.
const TESTS: [(&str, &[Test]); 2] = [
    (
        "hazmat",
        &[
            (LIBRARY, &["proof::compiled"]),
            ("known_answers", &[]),
            ("long_known_answers", &[]),
            ("api", &[]),
            ("aliasing", &[]),
            ("cross_validation", &[]),
            ("registers", &[]),
            ("memory", &["f16"]), // F5 is refused before any row is asked
            ("wiping", &[]),
            ("constant_time", &["traces::", "--skip", "very_long"]),
            ("guard_pages", &[]),
            ("every_length", &[]),
            ("once", &[]),
            ("siv", &[]),
            ("xaes", &["vectors_of", "is_a_derived"]),
        ],
    ),
    ("hazmat,scrub", &[("wiping", &[])]),
];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut log = Log::new(root)?;
    let mut emulate = emulator(root);
    let mut then = None;
    for (features, tests) in TESTS {
        let tests: Vec<Test> = tests.iter().copied().filter(|(test, _)| full() || *test != LIBRARY).collect();
        let programs = build(root, features, &tests)?;
        for ((_, told), program) in tests.iter().zip(programs) {
            emulate.args(then.replace("then")).arg(program).args(["--nocapture", "--test-threads=1"]).args(*told);
        }
    }
    log.step(emulate.env("FASTGCM_QUICK", "1").env("FASTGCM_EMULATED", "1"))?;
    if !full() {
        return Ok(());
    }
    // All lengths up to 16 MiB, but not of every key and nonce: minutes.
    let program = build(root, "hazmat", &[("long_known_answers", &[])])?;
    log.step(emulator(root).args(program).arg("--nocapture").env_remove("FASTGCM_FULL"))
}

/// The emulated processor, for programs that are still to be named.
fn emulator(root: &Path) -> Command {
    let mut emulate = Command::new("python3");
    emulate.arg(root.join("xtask/emulate.py")).args(["--timeout", "2400", "--file"]).arg(root.join("testdata"));
    emulate.current_dir(root.join("crates/fastgcm")).env("FASTGCM_ONLY", ROWS.join(",")); // that is where Cargo runs tests
    emulate
}

/// Compiles test files, and returns the programs.
fn build(root: &Path, features: &str, tests: &[Test]) -> Result<Vec<String>, String> {
    let output = Command::new("cargo")
        .args(["test", "--no-run", "--message-format", "json", "-p", "fastgcm", "--features", features, "--target", TARGET])
        .args(tests.iter().flat_map(|(test, _)| if *test == LIBRARY { vec!["--lib"] } else { vec!["--test", test] }))
        .env("CARGO_TARGET_DIR", root.join("target/emulated"))
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs = || messages.split("\"executable\":\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0));
    let named = |test: &str| programs().find(|path| path.contains(&format!("/{test}-")));
    tests.iter().map(|(test, _)| named(test).map(str::to_owned).ok_or(format!("{test} does not compile"))).collect()
}
