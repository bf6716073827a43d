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
const ROWS: [&str; 3] = ["vaes-avx512", "vaes-avx512-k4", "vaes-avx2"];

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
        ],
    ),
    ("hazmat,scrub", &[("wiping", &[])]),
];

/// Suites, and how many cases each row has there.
const BY_ROW: [(&str, usize); 6] = [
    ("long_known_answers", 4113),
    ("known_answers::cavp", 3150),
    ("known_answers::wycheproof_gcm", 316),
    ("known_answers::wycheproof_gmac", 414),
    ("constant_time::f14_traces", 12),
    ("constant_time::traces_of_later_messages", 3),
];

/// Suites that count the cases of all rows together.
const TOGETHER: [&str; 17] = [
    "every_length ok 3411",
    "every_nonce_length ok 612",
    "guard_pages::f07 ok 68256",
    "guard_pages::f07_nonces ok 6600",
    "cross_validation ok 2000",
    "aliasing::f08_in_place ok 1215",
    "aliasing::f08_side_by_side ok 2430",
    "api::every_verb ok 1620",
    "api::f01_no_plaintext_after_a_forgery ok 9720",
    "api::f02_every_bit_of_the_tag_counts ok 24576",
    "api::f04_counter_wraps_modulo_2_32 ok 741",
    "registers::f10_callee_saved_registers ok 36",
    "registers::f20_upper_halves_are_clear ok 36",
    "memory::dropped_keys_are_wiped ok 39",
    "constant_time::the_control_is_caught ok 5",
    "wiping::without_scrub ok 108",
    "wiping::with_scrub ok 108",
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
    let mut by_row = BY_ROW.to_vec();
    by_row.push(("constant_time::traces", if full() { 114 } else { 72 }));
    if full() {
        // All lengths up to 16 MiB, but not of every key and nonce: minutes.
        let program = build(root, "hazmat", &[("long_known_answers", &[])])?;
        log.step(emulator(root).args(program).arg("--nocapture").env_remove("FASTGCM_FULL"))?;
        by_row.push(("long_known_answers", 24_714));
        by_row.extend([("ghash_proof::every_pair_of_bits", 16_384), ("ghash_proof::linear_in_both_arguments", 200_000)]);
    }
    let by_row = by_row.into_iter().flat_map(|(name, count)| ROWS.map(|row| format!("{name}/{row} ok {count}")));
    let unit_blocks = [5400, 5400, 1404].into_iter().zip(ROWS).filter(|_| full());
    let unit_blocks = unit_blocks.map(|(count, row)| format!("ghash_proof::messages_of_unit_blocks/{row} ok {count}"));
    let by_row = by_row.chain(unit_blocks);
    let ran = log.suites();
    let missing: Vec<String> = by_row.chain(TOGETHER.map(str::to_owned)).filter(|suite| !ran.contains(&suite.as_str())).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("these suites did not run, or not whole: {}", missing.join(", "))) }
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
