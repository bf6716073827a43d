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
pub(crate) const APART: [(&str, &str); 6] = [
    ("crates/aes-gcm-010", "fastgcm-aes-gcm"),
    ("crates/aes-gcm-011", "fastgcm-aes-gcm"),
    ("crates/rustls-fastgcm", "rustls-fastgcm"),
    ("crates/rustls-fastgcm-024", "rustls-fastgcm"),
    ("crates/str0m-fastgcm", "str0m-fastgcm"),
    ("crates/fastgcm-python", "fastgcm-python"),
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
    Ok(())
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
