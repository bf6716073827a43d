//! `cargo xtask emulate`: the back ends that few machines can run, on an emulated processor.

use crate::log::Log;
use std::{path::Path, process::Command};

/// The library's tests on a processor with VAES, VPCLMULQDQ and AVX-512, emulated: few machines have one, and every back end shall run on
/// every landing. The program is linked statically, since there is nothing else on the emulated machine.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    const ROWS: [&str; 3] = ["vaes-avx512", "vaes-avx512-k4", "vaes-avx2"];
    let mut log = Log::new(root)?;
    let mut tests = |arguments: &[&str], files: &[&str]| {
        let files: String = files.iter().map(|file| format!(" --file {file}")).collect();
        log.step(
            Command::new("cargo")
                .args(["test", "-p", "fastgcm", "--features", "hazmat", "--target", TARGET])
                .args(arguments)
                .args(["--", "--nocapture"])
                .env("CARGO_TARGET_DIR", root.join("target/emulated"))
                .env("RUSTFLAGS", "-C target-feature=+crt-static")
                .env(
                    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
                    format!("python3 {}/xtask/emulate.py --timeout 900{files}", root.display()),
                )
                .env("FASTGCM_ONLY", ROWS.join(","))
                .env("FASTGCM_QUICK", "1")
                .current_dir(root),
        )
    };
    tests(&["--test", "every_length", "--test", "guard_pages"], &[])?;
    let data = format!("{}/testdata", root.display());
    tests(&["--test", "known_answers"], &[&data])?;
    let ran = |name: &str, count: usize| ROWS.map(|row| format!("{name}/{row} ok {count}"));
    let answers = [("cavp", 3150), ("wycheproof_gcm", 316), ("wycheproof_gmac", 414)];
    let lines: Vec<String> = answers.iter().flat_map(|(name, count)| ran(&format!("known_answers::{name}"), *count)).collect();
    log.expect(&lines.iter().map(String::as_str).collect::<Vec<_>>())?;
    log.expect(&["every_length ok 3390", "every_nonce_length ok 1224", "guard_pages::f07 ok "])
}
