//! Every check of the project. A suite that did not run is not green: each prints `NAME ok COUNT` once it has asserted its count, and
//! this page lists the names that must appear. What a machine cannot run prints `SKIPPED what: why`, which fails unless
//! `.ci/allowed-skips` has a line that `what` begins with.

use crate::package::{show, step};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

/// Suites of `cargo test`, by the beginning of the line that they print.
const SUITES: &[&str] = &[
    "every_length ok ",
    "every_nonce_length ok ",
    "known_answers::cavp/portable ok ",
    "known_answers::wycheproof_gcm/portable ok ",
    "known_answers::wycheproof_gmac/portable ok ",
    "api::every_verb ok ",
    "api::f01_no_plaintext_after_a_forgery ok ",
    "api::f02_every_bit_of_the_tag_counts ok ",
    "api::f02_every_other_length_of_tag_is_refused ok ",
    "api::f02_short_tags ok ",
    "api::f03_wrong_lengths ok ",
    "api::f04_counter_wraps_modulo_2_32 ok ",
    "guard_pages::f07 ok ",
    "guard_pages::f07_nonces ok ",
    "guard_pages::f07_one_byte_beside_is_death ok ",
    "memory::dropped_keys_are_wiped ok ",
    "wycheproof_cobblestone-128 ok 35",
    "wycheproof_cobblestone-256 ok 35",
];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let start = Instant::now();
    let cargo = |args: &str| {
        let mut command = Command::new("cargo");
        command.args(args.split_whitespace()).current_dir(root);
        command
    };
    let mut log = Log::new(root)?;

    step(&mut cargo("fmt --all --check"))?;
    step(&mut cargo("clippy --workspace --all-targets --all-features -- --deny warnings"))?;
    step(cargo("doc --workspace --lib --no-deps --all-features").env("RUSTDOCFLAGS", "--deny warnings"))?;
    crate::layers::run(root)?;

    // The README's test command as it stands there, with the output of the suites shown.
    log.step(&mut cargo("test --workspace -- --nocapture"))?;
    log.expect(SUITES)?;

    // All 47,250 cases of NIST's CAVP, tags of 4 and 8 bytes among them, and the other features.
    let full = root.join("target/cavp/full.txt");
    step(python(root).arg("testdata/make_cavp_sample.py").args(["--fetch", "target/cavp", "--check", "--full"]).arg(&full))?;
    log.step(cargo("test -p fastgcm --features aead06,getrandom,hazmat -- --nocapture").env("FASTGCM_CAVP_FULL", &full))?;
    step(&mut cargo("test -p fastgcm --no-default-features --lib"))?;
    for example in ["one_shot", "in_place", "aad", "files"] {
        step(cargo("run --quiet -p fastgcm --example").arg(example))?;
    }
    crate::rustcrypto::run(root)?;

    // Other people's software opens our files, and we theirs.
    step(&mut cargo("build --release -p fastgcm-cli"))?;
    let venv = root.join("target/venv");
    step(python(root).args(["-m", "venv"]).arg(&venv))?;
    step(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "--disable-pip-version-check", "cryptography>=50"]))?;
    log.step(
        Command::new(venv.join("bin/python"))
            .arg("crates/fastgcm-cli/tests/pyca_interop.py")
            .arg("target/release/fastgcm")
            .current_dir(root),
    )?;
    log.expect(&["pyca_interop ok 400"])?;
    install("strace", "strace")?;
    log.step(python(root).arg("crates/fastgcm-cli/tests/fault_injection.py").arg("target/release/fastgcm"))?;
    log.expect(&["fault_injection ok "])?;

    emulate(root)?;
    crate::package::run(root)?;

    let seconds = start.elapsed().as_secs();
    println!("ci ok: {} min {} s", seconds / 60, seconds % 60);
    Ok(())
}

/// The library's tests on a processor with VAES, VPCLMULQDQ and AVX-512, emulated: few machines have one, and every back end shall run on
/// every landing. The program is linked statically, since there is nothing else on the emulated machine.
pub(crate) fn emulate(root: &Path) -> Result<(), String> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
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
                .env("FASTGCM_ONLY", "vaes-avx512,vaes-avx2")
                .env("FASTGCM_QUICK", "1")
                .current_dir(root),
        )
    };
    tests(&["--test", "every_length", "--test", "guard_pages"], &[])?;
    let data = format!("{}/testdata", root.display());
    tests(&["--test", "known_answers"], &[&data])?;
    let ran = |name: &str, count: usize| [format!("{name}/vaes-avx512 ok {count}"), format!("{name}/vaes-avx2 ok {count}")];
    let answers = [("cavp", 3150), ("wycheproof_gcm", 316), ("wycheproof_gmac", 414)];
    let lines: Vec<String> = answers.iter().flat_map(|(name, count)| ran(&format!("known_answers::{name}"), *count)).collect();
    log.expect(&lines.iter().map(String::as_str).collect::<Vec<_>>())?;
    log.expect(&["every_length ok 2260", "every_nonce_length ok 816", "guard_pages::f07 ok "])
}

/// A program that one of the checks needs, from Debian's package of that name.
fn install(program: &str, package: &str) -> Result<(), String> {
    if Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    step(Command::new("apt-get").args(["update", "-qq"]))?;
    step(Command::new("apt-get").args(["install", "-y", "-qq", "--no-install-recommends", package]))
}

fn python(root: &Path) -> Command {
    let mut command = Command::new("python3");
    command.current_dir(root);
    command
}

/// What the suites printed.
pub(crate) struct Log {
    lines: Vec<String>,
    allowed_skips: Vec<String>,
}

impl Log {
    pub(crate) fn new(root: &Path) -> Result<Self, String> {
        let allowed = fs::read_to_string(root.join(".ci/allowed-skips")).map_err(|e| format!(".ci/allowed-skips: {e}"))?;
        let is_rule = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let rules = allowed.lines().filter(is_rule).map(|line| line.split("  ").next().unwrap_or(line).trim().to_owned());
        Ok(Self { lines: Vec::new(), allowed_skips: rules.collect() })
    }

    /// Runs a command to success, shows its output and keeps it. A skip that nobody allowed is a failure.
    pub(crate) fn step(&mut self, command: &mut Command) -> Result<(), String> {
        println!("+ {}", show(command));
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", show(command)))?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut skipped = Vec::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|e| e.to_string())?;
            println!("{line}");
            // The harness may have begun the line: `test name ... SKIPPED what: why`.
            if let Some((_, skip)) = line.split_once("SKIPPED ")
                && !self.allowed_skips.iter().any(|allowed| skip.starts_with(allowed.as_str()))
            {
                skipped.push(skip.to_owned());
            }
            self.lines.push(line);
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if !status.success() {
            return Err(format!("{}: {status}", show(command)));
        }
        if skipped.is_empty() { Ok(()) } else { Err(format!("skipped, and not in .ci/allowed-skips: {}", skipped.join("; "))) }
    }

    /// Each of these began some line (or followed what the harness had begun).
    pub(crate) fn expect(&self, suites: &[&str]) -> Result<(), String> {
        let ran = |suite: &&&str| self.lines.iter().any(|line| line.contains(**suite));
        match suites.iter().find(|suite| !ran(suite)) {
            None => Ok(()),
            Some(missing) => Err(format!("this suite did not run: {missing}")),
        }
    }
}
