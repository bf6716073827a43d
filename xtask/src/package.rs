//! Packs each published crate, and builds and tests what was packed, outside the workspace: what a user of the registry gets.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Published crates, and what their tests are run with.
const CRATES: [(&str, &[&str]); 4] =
    [("fastgcm-model", &[]), ("fastgcm", &["--features", "aead06,hazmat"]), ("fastgcm-file", &[]), ("fastgcm-cli", &[])];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let packed = root.join("target/package");
    // Without a registry that has our own crates, Cargo cannot verify them one by one: the packed sources stand in for it.
    step(Command::new("cargo").args(["package", "--workspace", "--exclude", "xtask", "--no-verify", "--allow-dirty"]).current_dir(root))?;
    let version = env!("CARGO_PKG_VERSION");
    let unpacked = root.join("target/packed");
    let _ = fs::remove_dir_all(&unpacked);
    fs::create_dir_all(&unpacked).map_err(|e| e.to_string())?;
    for (name, _) in CRATES {
        let archive = packed.join(format!("{name}-{version}.crate"));
        step(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&unpacked))?;
    }
    let patches: Vec<String> = CRATES
        .iter()
        .flat_map(|(name, _)| {
            ["--config".into(), format!("patch.crates-io.{name}.path='{}'", unpacked.join(format!("{name}-{version}")).display())]
        })
        .collect();
    for (name, features) in CRATES {
        step(
            Command::new("cargo")
                .args(["test", "--quiet"])
                .args(features)
                .args(&patches)
                .env("CARGO_TARGET_DIR", root.join("target/packed-build"))
                .current_dir(unpacked.join(format!("{name}-{version}"))),
        )?;
    }
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
