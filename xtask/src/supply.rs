//! What comes in through dependencies: licences, sources, and a list of all of them (SBOM) for each workspace that is published.

use crate::{
    ci::cargo,
    package::{APART, CRATES, step},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Installs what it needs under `target/tools`, asks cargo-deny, and writes `target/sbom/CRATE-VERSION.cdx.json`.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let (deny, sbom) = (tool(root, "cargo-deny", "0.20.2")?, tool(root, "cargo-sbom", "0.10.0")?);
    let folder = root.join("target/sbom");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let workspaces = || std::iter::once(root.to_owned()).chain(APART.iter().map(|(folder, _)| root.join(folder)));
    for workspace in workspaces() {
        let manifest = workspace.join("Cargo.toml");
        let mut check = Command::new(&deny);
        check.args(["--locked", "--all-features", "--manifest-path"]).arg(&manifest).args(["--config"]);
        step(check.arg(root.join("deny.toml")).args(["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))?;
    }
    println!("supply::deny ok {}", workspaces().count());
    let apart = APART.iter().map(|(folder, name)| (root.join(folder), *name));
    let mut written = 0;
    for (workspace, name) in CRATES.iter().map(|name| (root.to_owned(), *name)).chain(apart) {
        let mut list = Command::new(&sbom);
        list.args(["--output-format", "cyclone_dx_json_1_6", "--cargo-package", name]).current_dir(&workspace);
        let output = list.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo-sbom: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !text.contains("\"bomFormat\"") || name != "fastgcm" && !text.contains("\"fastgcm\"") {
            return Err(format!("{name}: cargo-sbom wrote no list with `fastgcm` in it"));
        }
        let folder_name = workspace.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = if workspace == root { name } else { &folder_name };
        fs::write(folder.join(format!("{file}.cdx.json")), text.as_bytes()).map_err(|e| e.to_string())?;
        written += 1;
    }
    println!("supply::sbom ok {written}");
    Ok(())
}

/// A program of crates.io, built once, cheaply.
fn tool(root: &Path, name: &str, version: &str) -> Result<PathBuf, String> {
    let tools = root.join("target/tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        let mut install = cargo(root, &format!("install --locked {name} --version {version} --target-dir target/tools/target --root"));
        install.arg(&tools).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_LTO", "off");
        step(install.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"))?;
    }
    Ok(program)
}
