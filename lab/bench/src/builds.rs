//! Cargo builds the rivals, one by one: what one of them lacks keeps none of the others away.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The folders of `rivals/` that cargo builds, in the order of columns; and two of them again, built otherwise.
pub(crate) const RIVALS: [&str; 15] = [
    "fastgcm",
    "aws-lc",
    "aws-lc-rs",
    "boringssl",
    "openssl-4.0",
    "openssl-3.6",
    "openssl-system",
    "ipsec-mb",
    BARE,
    "ring",
    "graviola",
    "rustcrypto-0.11",
    SOFT,
    "rustcrypto-0.10",
    "libsodium",
];

/// RustCrypto 0.11 without AES instructions.
const SOFT: &str = "rustcrypto-soft";
/// What makes it so. Flags are part of what cargo compares, so these have a target folder of their own.
const SOFT_FLAGS: &str = "--cfg aes_backend=\"soft\" --cfg polyval_backend=\"soft\"";

/// ipsec-mb without its `SAFE_*` options, which Debian's package has.
const BARE: &str = "ipsec-mb-bare";

/// Debian's packages: ipsec-mb with its header, two libraries, what BoringSSL's build needs, and what that of ipsec-mb does.
const PACKAGES: [&str; 7] = ["libipsec-mb-dev", "libsodium23", "libssl3", "cmake", "libclang-dev", "dpkg-dev", "nasm"];

/// This folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts what it builds: where this program is.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    program.parent().and_then(Path::parent).map(Path::to_owned).ok_or_else(|| "this program is in no folder".into())
}

/// The shared object of that rival; or why there is none. Sources that are in no registry are fetched only if we may `install`.
pub(crate) fn build(rival: &str, install: bool) -> Result<PathBuf, String> {
    eprint!("building {rival} ...");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let target = target()?;
    let (folder, target) = match rival {
        SOFT => {
            cargo.env("RUSTFLAGS", SOFT_FLAGS);
            ("rustcrypto-0.11", target.join("soft"))
        }
        BARE => {
            cargo.env("IPSEC_MB_BARE", bare(&target, install)?);
            ("ipsec-mb", target.join("bare"))
        }
        _ => (rival, target),
    };
    let package = format!("rival-{}", folder.replace('.', "-"));
    cargo.args(["build", "--release", "--locked", "--package", &package, "--target-dir"]).arg(&target).current_dir(root());
    // What `cargo run` set for this program is nobody else's.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    let done = run(&mut cargo);
    eprint!("\r\x1b[K");
    done?;
    Ok(target.join("release").join(format!("lib{}.so", package.replace('-', "_"))))
}

/// The folder in which ipsec-mb is without its `SAFE_*` options.
fn bare(target: &Path, install: bool) -> Result<PathBuf, String> {
    let folder = target.join(BARE);
    if !folder.join("version").exists() {
        if !install {
            return Err("not built yet: --install fetches its source".into());
        }
        run(Command::new(root().join("rivals/ipsec-mb/bare.sh")).arg(&folder))?;
    }
    Ok(folder)
}

/// Installs Debian's packages. Of two apt-get at a time one fails, and the full run has checks side by side: the lock is that of
/// `.ci/need`.
pub(crate) fn install() -> Result<(), String> {
    const ALONE: [&str; 2] = ["/var/lock/fastgcm-packages", "apt-get"];
    run(Command::new("flock").args(ALONE).args(["update", "-qq"]))?;
    run(Command::new("flock").args(ALONE).args(["install", "-y", "-qq", "--no-install-recommends"]).args(PACKAGES))
}

/// Runs a command; if it fails, what it said of errors, or its last lines.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = said.lines().filter(|line| line.to_lowercase().contains("error")).take(3).collect();
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    Err(if errors.is_empty() { last.join("; ") } else { errors.join("; ") })
}
