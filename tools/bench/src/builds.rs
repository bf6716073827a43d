//! Builds the rivals one by one, so that a rival that cannot be built does not affect the others.

use crate::peer::Library;
use aead_load::{Built, Home, Options, cargo, run};
use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

/// A column of the tables, and how its page of `tools/aead/libraries` is built.
pub(crate) struct Rival {
    pub(crate) name: &'static str,
    page: &'static str,
    /// The third argument of `make.sh`, for another build of the page's library.
    variant: Option<&'static str>,
    /// Flags for rustc.
    flags: Option<&'static str>,
}

impl Rival {
    const fn new(name: &'static str) -> Self {
        Self::of(name, name)
    }

    const fn of(name: &'static str, page: &'static str) -> Self {
        Self { name, page, variant: None, flags: None }
    }
}

/// The rivals, in the order of the tables' columns.
pub(crate) const RIVALS: [Rival; 19] = [
    Rival::new("fastgcm"),
    Rival::of("ipsec-mb", "ipsec-mb-2"),
    Rival { variant: Some("bare"), ..Rival::of("ipsec-mb-bare", "ipsec-mb-2") },
    Rival::new("linux"),
    Rival::new("aws-lc"),
    Rival::new("aws-lc-rs"),
    Rival::new("boringssl"),
    Rival::new("openssl-4.0"),
    Rival::new("openssl-3.6"),
    Rival::new("openssl-system"),
    Rival::of("libgcrypt", "libgcrypt-1.12"),
    Rival::of("wolfssl", "wolfssl-5.9"),
    Rival::new("ring"),
    Rival::new("graviola"),
    Rival::new("rscrypto"),
    Rival::new("rustcrypto-0.11"),
    // Built without AES instructions.
    Rival { flags: Some("--cfg aes_backend=\"soft\" --cfg polyval_backend=\"soft\""), ..Rival::of("rustcrypto-soft", "rustcrypto-0.11") },
    Rival::new("rustcrypto-0.10"),
    Rival::of("libsodium", "libsodium-1.0.22"),
];

/// Debian packages: the system's OpenSSL, and the tools of `make.sh`.
const PACKAGES: [&str; 9] = ["libssl-dev", "cmake", "g++", "dpkg-dev", "nasm", "make", "perl", "python3", "xz-utils"];

/// Returns the folder of this package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns Cargo's target folder, which contains this program.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    program.parent().and_then(Path::parent).map(Path::to_owned).ok_or_else(|| "cannot find this program's target folder".into())
}

/// Builds a rival. Returns the reason if it cannot be built. Fetches a library that is in no registry only if `install` is set.
pub(crate) fn build(rival: &Rival, install: bool) -> Result<Library, String> {
    eprint!("building {} ...", rival.name);
    let home = Home { target: target()?, ..Home::of_tree(&root().join("../..").canonicalize().map_err(|error| error.to_string())?) };
    let page = home.page(rival.page).ok_or("it has no page in tools/aead/libraries")?;
    let options = Options {
        fetch: install,
        made: rival.variant.map(|argument| (rival.name, argument)),
        flags: rival.flags.map(|flags| (rival.name, flags)),
    };
    let built = home.build(&page, options).ok_or("its page is in a language without shared objects")?;
    eprint!("\r\x1b[K");
    Ok(Library { name: rival.name.into(), built: built?, ours: rival.name == "fastgcm" })
}

/// Builds fastgcm from the sources of this folder or commit, with this tree's plug-in `fastgcm.rs`.
pub(crate) fn build_sources(name: &str, from: &str) -> Result<Library, String> {
    let mut at = PathBuf::from(from);
    let text = |output: std::process::Output| String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !at.is_dir() {
        let mut git = Command::new("git");
        git.arg("-C").arg(root());
        let commit = text(git.args(["rev-parse", "--verify", &format!("{from}^{{commit}}")]).output().map_err(|error| error.to_string())?);
        if commit.is_empty() {
            return Err(format!("{from} is neither a folder nor a commit"));
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
    // All builds use the same paths, because folder names decide where rustc puts functions, which changes times by 1 to 3 %.
    let package = target()?.join("compared/package");
    fs::create_dir_all(&package).map_err(|error| error.to_string())?;
    let (aead, source) = (root().join("../../tools/aead"), package.with_file_name("source"));
    let built = package.join(at.to_string_lossy().replace('/', "-"));
    fs::remove_file(&source).or_else(|why| if source.exists() { Err(why.to_string()) } else { Ok(()) })?;
    symlink(&at, &source).map_err(|error| error.to_string())?;
    let aead = aead.display();
    let manifest = format!(
        "[package]\nname = \"rival-fastgcm\"\nedition = \"2024\"\n[lib]\npath = \"{aead}/libraries/fastgcm.rs\"\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\naead-plugin = {{ path = \"{aead}\" }}\nfastgcm = {{ path = \"../source/crates/fastgcm\" }}\n[profile.release]\ncodegen-units = 1\n[workspace]\n",
    );
    fs::write(package.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    run(cargo().args(["build", "--release", "--target-dir"]).arg(&built).current_dir(&package))?;
    let built = Built { object: built.join("release/librival_fastgcm.so"), ..Built::default() };
    Ok(Library { name: name.into(), built, ours: true })
}

/// Installs the Debian packages. Two apt-get at a time fail, and the full run has checks in parallel: this is the lock of
/// `.ci/need`.
pub(crate) fn install() -> Result<(), String> {
    const LOCK: [&str; 2] = ["/var/lock/fastgcm-packages", "apt-get"];
    run(Command::new("flock").args(LOCK).args(["update", "-qq"]))?;
    run(Command::new("flock").args(LOCK).args(["install", "-y", "-qq", "--no-install-recommends"]).args(PACKAGES)).map(drop)
}
