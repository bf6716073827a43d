//! `cargo xtask emulate`: the back ends that few machines can run, on an emulated processor.
//!
//! The processor has VAES, VPCLMULQDQ and AVX-512, and executes some 20 million instructions a second: so the suites run with
//! `FASTGCM_QUICK`, for the rows that need VAES (in the gate only those that this processor lacks), and on one boot (`emulate.py`). A step
//! of a trace takes as long as 4,000 instructions there, since the kernel stands between any two: fewer secrets (`FASTGCM_EMULATED`).
//! Programs are linked statically: there is nothing else on that machine.
//!
//! What does not run there: valgrind, which knows neither VAES nor AVX-512; traces of messages of 128 KiB (a quarter of a minute for
//! each); of the library's own tests those that are the same on any machine. With `FASTGCM_FULL` only: the
//! library's others (seconds, after minutes of compiling), traces, what a call leaves behind, long known answers of more than 4,112 bytes.

use crate::{
    suites::{Machine, rows},
    tools::{full, output, run as type_in, sh},
};
use anyhow::Result;
use std::path::Path;

/// Features of the library; test files (or the library, `fastgcm`, for its own tests); and what their harness is told: words of which names of tests
/// hold one. (F5 is refused before any row is asked.)
type Tests = [(&'static str, &'static str, &'static str)];

/// In every run.
const TESTS: &Tests = &[
    ("hazmat", "known_answers long_known_answers api aliasing cross_validation registers guard_pages every_length once siv", ""),
    ("hazmat", "memory", "f16"),
    ("hazmat", "xaes", "vectors_of is_a_derived"),
];

/// In the full run, where ten minutes more do not matter.
const FULL: &Tests = &[
    ("hazmat", "fastgcm", "proof::compiled"),
    ("hazmat", "constant_time", "traces::f14 traces::f15"),
    ("hazmat", "wiping", ""),
    ("hazmat,scrub", "wiping", ""),
];

pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    let mut programs = Vec::new();
    for (features, tests, told) in TESTS.iter().chain(if full() { FULL } else { &[] }) {
        let targets: String = tests.split(' ').map(|test| format!("--test {test} ")).collect::<String>().replace("--test fastgcm", "--lib");
        let build = "cargo test --no-run --message-format json -p fastgcm --target x86_64-unknown-linux-gnu --target-dir target/emulated";
        let mut cargo = sh(root, &format!("{build} --features {features} {targets}"));
        let messages = output(cargo.env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
        for program in messages.split("\"executable\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            programs.push(format!("'{program}' --nocapture --test-threads=1 {told}"));
        }
    }
    // That is where Cargo runs tests.
    let emulate = format!(
        "cd crates/fastgcm && unset FASTGCM_FULL && export FASTGCM_ONLY={1}
        emulate() {{ python3 '{0}/lab/emulate/emulate.py' --timeout 3600 --file '{0}/testdata' \"$@\"; }}",
        root.display(),
        Machine::elsewhere(&rows(root)?, Some("vaes"))?.rows.join(",")
    );
    type_in(root, &format!("{emulate}\nFASTGCM_QUICK=1 FASTGCM_EMULATED=1 emulate {}", programs.join(" then ")))?;
    if full() {
        // All lengths up to 16 MiB, but not of every key and nonce: minutes.
        let long: String = programs.into_iter().filter(|program| program.contains("/long_known_answers-")).collect();
        type_in(root, &format!("{emulate}\nemulate {long}"))?;
    }
    Ok(())
}
