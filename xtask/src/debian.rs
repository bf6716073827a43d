//! Debian's packages: what a check needs beyond Rust and Python, it installs itself.

use crate::package::step;
use std::process::{Command, Stdio};

/// These packages, unless the program is there.
pub(crate) fn install(program: &str, packages: &[&str]) -> Result<(), String> {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if there { Ok(()) } else { apt(packages) }
}

/// These packages. Checks run side by side, and of two apt-get at a time one fails: so the second waits.
pub(crate) fn apt(packages: &[&str]) -> Result<(), String> {
    const ALONE: [&str; 2] = ["/var/lock/fastgcm-packages", "apt-get"];
    step(Command::new("flock").args(ALONE).args(["update", "-qq"]))?;
    step(Command::new("flock").args(ALONE).args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages))
}
