//! What comes in through dependencies: licences, sources, whether somebody has looked at them, and a list of all of them (SBOM) for each workspace that is
//! published.

use crate::{
    ci::cargo,
    package::{APART, CRATES, step},
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Installs what it needs under `target/tools`, asks cargo-deny and cargo-vet, and writes `target/sbom/CRATE-VERSION.cdx.json`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let vet = tool(root, "cargo-vet", "0.10.3")?;
    match arguments {
        [] => {}
        [bless] if bless == "--bless" => return exempt(root, &vet),
        _ => return Err("supply [--bless]".into()),
    }
    let (deny, sbom) = (tool(root, "cargo-deny", "0.20.2")?, tool(root, "cargo-sbom", "0.10.0")?);
    let folder = root.join("target/sbom");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for workspace in workspaces(root) {
        let manifest = workspace.join("Cargo.toml");
        let mut check = Command::new(&deny);
        check.args(["--locked", "--all-features", "--manifest-path"]).arg(&manifest).args(["--config"]);
        step(check.arg(root.join("deny.toml")).args(["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))?;
    }
    println!("supply::deny ok {}", workspaces(root).count());
    for workspace in workspaces(root) {
        step(vetting(&vet, "check", &workspace, &root.join("supply-chain")).args(["--locked", "--no-minimize-exemptions"]))?;
    }
    println!("supply::vet ok {}", workspaces(root).count());
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

fn workspaces(root: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::once(root.to_owned()).chain(APART.iter().map(|(folder, _)| root.join(folder)))
}

/// cargo-vet for a workspace, with its files in that folder.
fn vetting(program: &Path, what: &str, workspace: &Path, store: &Path) -> Command {
    let mut vet = Command::new(program);
    vet.args(["vet", what, "--manifest-path"]).arg(workspace.join("Cargo.toml")).arg("--store-path").arg(store);
    vet
}

/// Writes `supply-chain/config.toml`: what nobody has audited of all that the workspaces depend on now. One list stands for all of them.
fn exempt(root: &Path, vet: &Path) -> Result<(), String> {
    let mut exempt = BTreeMap::new();
    let scratch = root.join("target/vet");
    for workspace in workspaces(root) {
        let _ = fs::remove_dir_all(&scratch);
        step(&mut vetting(vet, "init", &workspace, &scratch))?;
        let list = fs::read_to_string(scratch.join("config.toml")).map_err(|e| e.to_string())?;
        for entry in list.split("[[exemptions.").skip(1) {
            let mut lines = entry.trim_end().split('\n');
            let [name, version, criteria] = [(); 3].map(|()| lines.next().unwrap_or_default().to_owned());
            let is_deployed = criteria.contains("safe-to-deploy");
            *exempt.entry((name, version)).or_insert(false) |= is_deployed;
        }
    }
    let mut list = "\n# cargo-vet config file\n\n[cargo-vet]\nversion = \"0.10\"\n".to_owned();
    for ((name, version), is_deployed) in &exempt {
        let criteria = if *is_deployed { "safe-to-deploy" } else { "safe-to-run" };
        list += &format!("\n[[exemptions.{name}\n{version}\ncriteria = \"{criteria}\"\n");
    }
    let store = root.join("supply-chain");
    fs::create_dir_all(&store).map_err(|e| e.to_string())?;
    for name in ["audits.toml", "imports.lock"].iter().filter(|name| !store.join(name).exists()) {
        fs::copy(scratch.join(name), store.join(name)).map_err(|e| e.to_string())?;
    }
    fs::write(store.join("config.toml"), list).map_err(|e| e.to_string())?;
    step(&mut vetting(vet, "fmt", root, &store))
}

/// A program of crates.io, built once, cheaply.
pub(crate) fn tool(root: &Path, name: &str, version: &str) -> Result<PathBuf, String> {
    let tools = root.join("target/tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        let mut install = cargo(root, &format!("install --locked {name} --version {version} --target-dir target/tools/target --root"));
        install.arg(&tools).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_LTO", "off");
        step(install.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"))?;
    }
    Ok(program)
}
