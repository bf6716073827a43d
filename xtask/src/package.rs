//! Packs each published crate, and builds and tests what was packed, outside the workspace: what a user of the registry gets.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Published crates.
pub(crate) const CRATES: [&str; 7] =
    ["fastgcm", "fastgcm-file", "fastgcm-cli", "fastgcm-protocols", "fastgcm-parquet", "fastgcm-capi", "fastgcm-openssl"];

/// Those that are workspaces of their own: folder and name.
pub(crate) const APART: [(&str, &str); 7] = [
    ("crates/aes-gcm-010", "fastgcm-aes-gcm"),
    ("crates/aes-gcm-011", "fastgcm-aes-gcm"),
    ("crates/rustls-fastgcm", "rustls-fastgcm"),
    ("crates/rustls-fastgcm-024", "rustls-fastgcm"),
    ("crates/str0m-fastgcm", "str0m-fastgcm"),
    ("crates/fastgcm-python", "fastgcm-python"),
    ("crates/fastgcm-s3", "fastgcm-s3"),
];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    // No registry has our own crates yet, so Cargo cannot verify them one by one: a workspace of what was packed stands in for it.
    step(
        Command::new("cargo")
            .args(["package", "--workspace", "--exclude", "xtask", "--exclude", "probe", "--no-verify", "--allow-dirty"])
            .current_dir(root),
    )?;
    let unpacked = root.join("target/packed");
    let _ = fs::remove_dir_all(unpacked.join("crates"));
    fs::create_dir_all(unpacked.join("crates")).map_err(|e| e.to_string())?;
    let (mut members, mut patches) = (String::new(), String::new());
    for name in CRATES {
        let folder = format!("crates/{name}-{}", env!("CARGO_PKG_VERSION"));
        let archive = root.join("target/package").join(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        step(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(unpacked.join("crates")))?;
        members += &format!("\"{folder}\", ");
        patches += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n[patch.crates-io]\n{patches}[profile.test]\nopt-level = 2\nlto = \"off\"\ndebug = false\n"
    );
    fs::write(unpacked.join("Cargo.toml"), manifest).map_err(|e| e.to_string())?;
    fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock")).map_err(|e| e.to_string())?;
    step(
        Command::new("cargo")
            .args(["test", "--quiet", "--workspace", "--features", "fastgcm/aead06,fastgcm/getrandom,fastgcm/hazmat", "--test", "*"])
            .env("FASTGCM_CASES", "1500") // cross validation has had a hundred times as many before
            .current_dir(&unpacked),
    )?;
    println!("package ok {}", CRATES.len());
    apart(root, &unpacked)
}

/// Those that are workspaces of their own, over the library as it was packed. Each has its tests with it.
fn apart(root: &Path, unpacked: &Path) -> Result<(), String> {
    let folder = root.join("target/packed-apart");
    let _ = fs::remove_dir_all(folder.join("crates"));
    fs::create_dir_all(folder.join("crates")).map_err(|e| e.to_string())?;
    for (source, name) in APART {
        let source = root.join(source);
        let version = read(&source.join("Cargo.toml"))?
            .lines()
            .find_map(|line| line.strip_prefix("version = \"")?.split('"').next().map(str::to_owned));
        let packed = format!("{name}-{}", version.ok_or(format!("{name} has no version"))?);
        let mut pack = Command::new("cargo");
        // Its lock file would have to name a `fastgcm` of the registry.
        pack.args(["package", "--no-verify", "--allow-dirty", "--exclude-lockfile", "--target-dir"]).arg(&folder);
        step(pack.current_dir(&source))?;
        let archive = folder.join("package").join(format!("{packed}.crate"));
        step(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.join("crates")))?;
        let copy = folder.join("crates").join(&packed);
        let library = unpacked.join(format!("crates/fastgcm-{}", env!("CARGO_PKG_VERSION")));
        let manifest = read(&copy.join("Cargo.toml"))?;
        if !manifest.contains("[package.metadata.docs.rs]") {
            return Err(format!("{packed} does not say how docs.rs builds it"));
        }
        let manifest = format!("{manifest}\n[workspace]\n[patch.crates-io]\nfastgcm = {{ path = {library:?} }}\n");
        fs::write(copy.join("Cargo.toml"), manifest).map_err(|e| e.to_string())?;
        fs::copy(source.join("Cargo.lock"), copy.join("Cargo.lock")).map_err(|e| e.to_string())?;
        let mut test = Command::new("cargo");
        step(test.args(["test", "--quiet", "--all-features", "--target-dir"]).arg(folder.join("target")).current_dir(&copy))?;
    }
    println!("package::apart ok {}", APART.len());
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a command to success.
pub(crate) fn step(command: &mut Command) -> Result<(), String> {
    println!("+ {}", show(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", show(command))),
        Err(error) => Err(format!("{}: {error}", show(command))),
    }
}

/// As one would type it.
pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// All files below a folder with that extension.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
