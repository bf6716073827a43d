//! Cargo builds the rivals, one by one: what one of them lacks keeps none of the others away.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// A column of the tables: how a page of `rivals/` is built.
pub(crate) struct Rival {
    pub(crate) name: &'static str,
    page: &'static str,
    /// `make.sh` fetches what no registry of Cargo has, and takes this argument.
    made: Option<&'static str>,
    /// Flags of rustc.
    flags: &'static str,
}

impl Rival {
    const fn new(name: &'static str) -> Self {
        Self { name, page: name, made: None, flags: "" }
    }

    const fn made(name: &'static str, page: &'static str, argument: &'static str) -> Self {
        Self { name, page, made: Some(argument), flags: "" }
    }
}

/// In the order of columns.
pub(crate) const RIVALS: [Rival; 19] = [
    Rival::new("fastgcm"),
    Rival::made("ipsec-mb", "ipsec-mb", ""),
    Rival::made("ipsec-mb-bare", "ipsec-mb", "bare"),
    Rival::made("linux", "linux", ""),
    Rival::new("aws-lc"),
    Rival::new("aws-lc-rs"),
    Rival::new("boringssl"),
    Rival::new("openssl-4.0"),
    Rival::new("openssl-3.6"),
    Rival::new("openssl-system"),
    Rival::made("libgcrypt", "libgcrypt", ""),
    Rival::made("wolfssl", "wolfssl", ""),
    Rival::new("ring"),
    Rival::new("graviola"),
    Rival::new("rscrypto"),
    Rival::new("rustcrypto-0.11"),
    // Without AES instructions.
    Rival {
        name: "rustcrypto-soft",
        page: "rustcrypto-0.11",
        made: None,
        flags: "--cfg aes_backend=\"soft\" --cfg polyval_backend=\"soft\"",
    },
    Rival::new("rustcrypto-0.10"),
    Rival::made("libsodium", "libsodium", ""),
];

/// Debian's packages: a library, what BoringSSL's build needs, and what those of `make.sh` do.
const PACKAGES: [&str; 7] = ["libssl3", "cmake", "libclang-dev", "dpkg-dev", "nasm", "make", "xz-utils"];

/// This folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts what it builds: where this program is.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    program.parent().and_then(Path::parent).map(Path::to_owned).ok_or_else(|| "this program is in no folder".into())
}

/// The shared object of that rival; or why there is none. What is in no registry is fetched only if we may `install`.
pub(crate) fn build(rival: &Rival, install: bool) -> Result<PathBuf, String> {
    eprint!("building {} ...", rival.name);
    let mut cargo = cargo();
    let mut target = target()?;
    if rival.made.is_some() {
        cargo.env("RIVAL_NAME", rival.name).env("RIVAL_MADE", made(rival, &target, install)?);
    }
    // A page that is built twice has a target folder for each, because flags are part of what cargo compares.
    if rival.name != rival.page {
        target.push(rival.name);
    }
    if !rival.flags.is_empty() {
        cargo.env("RUSTFLAGS", rival.flags);
    }
    let name = rival.page.replace('.', "-");
    cargo
        .args(["build", "--release", "--locked", "--package", "rivals", "--example", &name, "--features", &name, "--target-dir"])
        .arg(&target)
        .current_dir(root());
    let done = run(&mut cargo);
    eprint!("\r\x1b[K");
    done?;
    Ok(target.join("release/examples").join(format!("lib{}.so", name.replace('-', "_"))))
}

/// The shared object of fastgcm with the sources of that folder or commit, called as those of this tree are, by `rivals/fastgcm.rs`.
pub(crate) fn build_sources(from: &str) -> Result<PathBuf, String> {
    let mut at = PathBuf::from(from);
    let text = |output: std::process::Output| String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !at.is_dir() {
        let mut git = Command::new("git");
        git.arg("-C").arg(root());
        let commit = text(git.args(["rev-parse", "--verify", &format!("{from}^{{commit}}")]).output().map_err(|error| error.to_string())?);
        if commit.is_empty() {
            return Err(format!("{from} is no folder, and no commit"));
        }
        at = target()?.join("sources").join(&commit);
        if !at.is_dir() {
            let (new, top) = (at.with_extension("new"), root().join("../.."));
            fs::create_dir_all(&new).map_err(|error| error.to_string())?;
            let unpack = r#"git -C "$1" archive "$2" | tar -x -C "$3""#;
            run(Command::new("sh").args(["-c", unpack, "sh"]).arg(top).arg(&commit).arg(&new))?;
            fs::rename(new, &at).map_err(|error| error.to_string())?;
        }
    }
    let at = at.canonicalize().map_err(|error| error.to_string())?;
    // Each build has the same paths: names of folders decide where Cargo's compiler puts functions, and a place is worth 1 to 3 %.
    let package = target()?.join("compared/package");
    fs::create_dir_all(&package).map_err(|error| error.to_string())?;
    let (root, source) = (root().display(), package.with_file_name("source"));
    let built = package.join(at.to_string_lossy().replace('/', "-"));
    fs::remove_file(&source).or_else(|why| if source.exists() { Err(why.to_string()) } else { Ok(()) })?;
    symlink(&at, &source).map_err(|error| error.to_string())?;
    let manifest = format!(
        "[package]\nname = \"rival-fastgcm\"\nedition = \"2024\"\n[lib]\npath = \"{root}/rivals/fastgcm.rs\"\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\nplugin = {{ path = \"{root}/plugin\" }}\nfastgcm = {{ path = \"../source/crates/fastgcm\" }}\n[profile.release]\ncodegen-units = 1\n[workspace]\n",
    );
    fs::write(package.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    run(cargo().args(["build", "--release", "--target-dir"]).arg(&built).current_dir(&package))?;
    Ok(built.join("release/librival_fastgcm.so"))
}

/// Cargo, without what `cargo run` set for this program.
fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    cargo
}

/// The folder that `make.sh` has filled: the last that `make.sh` writes is the version.
fn made(rival: &Rival, target: &Path, install: bool) -> Result<PathBuf, String> {
    let folder = target.join("made").join(rival.name);
    if !folder.join("version").exists() {
        if !install {
            return Err("not fetched yet: --install does that".into());
        }
        run(Command::new(root().join("rivals/make.sh")).arg(rival.page).arg(&folder).args(rival.made))?;
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
