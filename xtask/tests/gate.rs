//! The gate as a program.

use std::process::Command;

/// Whoever starts it: what it starts itself sees no variable that would change what is tested.
#[test]
fn nothing_is_inherited_that_changes_what_is_tested() {
    const CHANGE: &str = "FASTGCM_ONLY FASTGCM_QUICK FASTGCM_CASES FASTGCM_EMULATED FASTGCM_BACKEND FASTGCM_CAVP_FULL RUSTFLAGS \
        CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_PROFILE_TEST_OPT_LEVEL CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER \
        RUST_TEST_THREADS RUST_MIN_STACK QEMU_CPU";
    let mut gate = Command::new(env!("CARGO_BIN_EXE_xtask"));
    gate.args(["ci", "environment"]).envs(CHANGE.split(' ').map(|name| (name, "portable")));
    gate.env("FASTGCM_FULL", "1").env_remove("FASTGCM_SHARD");
    let output = gate.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let is_seen = |name: &str| said.lines().any(|line| line == name);
    assert!(is_seen("FASTGCM_FULL") && is_seen("PATH") && !CHANGE.split(' ').any(is_seen), "{said}");
    println!("gate::environment ok {}", CHANGE.split(' ').count());
}
