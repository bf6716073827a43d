//! `cargo xtask emulate`: the back ends that few machines can run, on an emulated processor.
//!
//! The processor has VAES, VPCLMULQDQ and AVX-512, and executes some 20 million instructions a second; so the suites run with
//! `FASTGCM_QUICK`, for these rows only, and all of them on one boot (`emulate.py`). Programs are linked statically, since there is nothing
//! else on that machine.
//!
//! What does not run there: valgrind, which knows neither instruction set; the long known answers and the library's own tests, which take
//! hours there.

use crate::log::Log;
use std::{
    path::Path,
    process::{Command, Stdio},
};

const TARGET: &str = "x86_64-unknown-linux-gnu";
const ROWS: [&str; 3] = ["vaes-avx512", "vaes-avx512-k4", "vaes-avx2"];

/// Features of the library; test files, and which of their tests: those whose names hold that word.
const TESTS: [(&str, &[(&str, &str)]); 2] = [
    (
        "hazmat",
        &[
            ("known_answers", ""),
            ("every_length", ""),
            ("guard_pages", ""),
            ("cross_validation", ""),
            ("machine", ""),
            ("api", ""),
            ("aliasing", ""),
            ("registers", ""),
            ("memory", "f16"), // F5 is refused before any row is asked
            ("constant_time", "traces::"),
            ("wiping", ""),
        ],
    ),
    ("hazmat,scrub", &[("wiping", "")]),
];

/// Suites, and how many cases each row of `ROWS` has there.
const BY_ROW: [(&str, usize); 6] = [
    ("known_answers::cavp", 3150),
    ("known_answers::wycheproof_gcm", 316),
    ("known_answers::wycheproof_gmac", 414),
    ("constant_time::traces", 114),
    ("constant_time::f14_traces", 12),
    ("constant_time::traces_of_later_messages", 3),
];

/// Suites that count the cases of all rows together.
const TOGETHER: [&str; 3] = ["every_length ok 3390", "every_nonce_length ok 1224", "guard_pages::f07 ok "];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let mut log = Log::new(root)?;
    let mut emulate = Command::new("python3");
    emulate.arg("xtask/emulate.py").args(["--timeout", "2400", "--file", "testdata"]).current_dir(root);
    let mut then = None;
    for (features, tests) in TESTS {
        let programs = build(root, features, tests)?;
        for ((_, filter), program) in tests.iter().zip(programs) {
            emulate.args(then.replace("then")).arg(program).args(["--nocapture", "--test-threads=1", filter]);
        }
    }
    log.step(emulate.env("FASTGCM_ONLY", ROWS.join(",")).env("FASTGCM_QUICK", "1"))?;
    let by_row = BY_ROW.iter().flat_map(|(name, count)| ROWS.map(|row| format!("{name}/{row} ok {count}")));
    let ran = log.suites();
    let missing: Vec<String> = by_row.chain(TOGETHER.map(str::to_owned)).filter(|suite| !ran.contains(&suite.as_str())).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("these suites did not run, or not whole: {}", missing.join(", "))) }
}

/// Compiles test files, and returns the programs.
fn build(root: &Path, features: &str, tests: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let output = Command::new("cargo")
        .args(["test", "--no-run", "--message-format", "json", "-p", "fastgcm", "--features", features, "--target", TARGET])
        .args(tests.iter().flat_map(|(test, _)| ["--test", test]))
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
