//! What comes in through dependencies: licences, sources, whether somebody has looked at them, and a list of all of them (SBOM) for each workspace that is
//! published.

use crate::{
    package::{Published, published},
    tools::{emptied, output, quietly, run as type_in, sh, tool, write},
};
use anyhow::{Result, bail, ensure};
use fs_err as fs;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Installs what it needs under `target/tools`, asks cargo-deny and cargo-vet, and writes `target/sbom/CRATE.cdx.json`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (all, vet) = (published(root)?, tool(root, "cargo-vet", "0.10.3")?);
    let apart = all.iter().filter(|published| published.is_apart).map(|published| published.folder.clone());
    let workspaces: Vec<PathBuf> = apart.chain([root.to_owned()]).collect();
    if arguments == ["--bless"] {
        return exempt(root, &vet, &workspaces);
    }
    let (deny, sbom) = (tool(root, "cargo-deny", "0.20.2")?, tool(root, "cargo-sbom", "0.10.0")?);
    // Advisories stand in a repository of Git, which cargo-deny fetches and not every machine can reach.
    let (is_reached, _) = quietly(&mut sh(root, "timeout 60 git ls-remote https://github.com/rustsec/advisory-db HEAD"))?;
    let (root, vet, deny, sbom) = (root.display(), vet.display(), deny.display(), sbom.display());
    if !is_reached {
        println!("SKIPPED supply::advisories: RustSec's advisories cannot be fetched here");
    }
    let advisories = if is_reached { "advisories" } else { "" };
    let all_of = format!("check --hide-inclusion-graph licenses bans sources {advisories}");
    for workspace in &workspaces {
        let manifest = "--locked --manifest-path Cargo.toml";
        type_in(workspace, &format!("'{deny}' {manifest} --all-features --config '{root}/deny.toml' {all_of}"))?;
        type_in(workspace, &format!("'{vet}' vet check {manifest} --no-minimize-exemptions --store-path '{root}/supply-chain'"))?;
    }
    println!("supply::deny ok {0}\nsupply::vet ok {0}", workspaces.len());
    if is_reached {
        println!("supply::advisories ok {}", workspaces.len());
    }
    for Published { folder, name, .. } in &all {
        let text = output(&mut sh(folder, &format!("'{sbom}' --output-format cyclone_dx_json_1_6 --cargo-package {name}")))?;
        let is_list = text.contains("\"bomFormat\"") && (name == "fastgcm" || text.contains("\"fastgcm\""));
        ensure!(is_list, "{name}: cargo-sbom wrote no list with `fastgcm` in it");
        let folder = folder.file_name().unwrap_or_default().display();
        write(Path::new(&format!("{root}/target/sbom/{folder}.cdx.json")), text)?;
    }
    println!("supply::sbom ok {}", all.len());
    Ok(())
}

/// Writes `supply-chain/config.toml`: what nobody has audited of all that the workspaces depend on now. One list stands for all of them.
fn exempt(root: &Path, vet: &Path, workspaces: &[PathBuf]) -> Result<()> {
    let (scratch, store, vet) = (root.join("target/vet"), root.join("supply-chain"), vet.display());
    let mut exempt = BTreeMap::new();
    for workspace in workspaces {
        fs::remove_dir(emptied(scratch.clone())?)?;
        type_in(workspace, &format!("'{vet}' vet init --manifest-path Cargo.toml --store-path '{}'", scratch.display()))?;
        let list = fs::read_to_string(scratch.join("config.toml"))?;
        for entry in list.split("[[exemptions.").skip(1) {
            let lines: Vec<&str> = entry.trim_end().splitn(3, '\n').collect();
            let [name, version, criteria] = lines[..] else { bail!("an exemption without criteria: {entry}") };
            *exempt.entry((name.to_owned(), version.to_owned())).or_insert(false) |= criteria.contains("safe-to-deploy");
        }
    }
    let mut list = "\n# cargo-vet config file\n\n[cargo-vet]\nversion = \"0.10\"\n".to_owned();
    for ((name, version), is_deployed) in &exempt {
        let criteria = if *is_deployed { "safe-to-deploy" } else { "safe-to-run" };
        list += &format!("\n[[exemptions.{name}\n{version}\ncriteria = \"{criteria}\"\n");
    }
    write(&store.join("config.toml"), list)?;
    type_in(root, &format!("'{vet}' vet fmt --manifest-path Cargo.toml --store-path '{}'", store.display()))
}
