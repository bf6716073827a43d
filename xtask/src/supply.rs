//! What comes in through dependencies: licences, sources, whether somebody has looked at them, and a list of all of them (SBOM) for each workspace that is
//! published.

use crate::{
    package::{Published, published},
    tools::{emptied, output, quietly, run as type_in, sh, tool, write},
};
use anyhow::{Result, bail, ensure};
use fs_err as fs;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Installs what it needs under `target/tools`, asks cargo-deny and cargo-vet, and writes `target/sbom/CRATE.cdx.json`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (all, vet) = (published(root)?, tool(root, "cargo-vet", "0.10.3")?);
    let apart = all.iter().filter(|published| published.is_apart).map(|published| published.folder.clone());
    let workspaces: Vec<PathBuf> = apart.chain([root.to_owned()]).collect();
    // Advisories, and the audits of others as they are today, stand where not every machine can reach them.
    let ask = "timeout 60 git ls-remote https://github.com/RustSec/advisory-db HEAD";
    let (is_reached, _) = quietly(&mut sh(root, ask))?;
    if !is_reached {
        println!("SKIPPED supply::advisories: RustSec's advisories cannot be fetched here");
        println!("SKIPPED supply::imports: audits of others cannot be fetched here: those of supply-chain/imports.lock count");
    }
    let vet = Vet { root, program: vet, locked: if is_reached { "" } else { "--locked" } };
    if arguments == ["--bless"] {
        return vet.bless(&workspaces);
    }
    let (deny, sbom) = (tool(root, "cargo-deny", "0.20.2")?, tool(root, "cargo-sbom", "0.10.0")?);
    let (root, deny, sbom) = (root.display(), deny.display(), sbom.display());
    let advisories = if is_reached { "advisories" } else { "" };
    let all_of = format!("check --hide-inclusion-graph licenses bans sources {advisories}");
    for workspace in &workspaces {
        let config = format!("--locked --manifest-path Cargo.toml --all-features --config '{root}/deny.toml'");
        type_in(workspace, &format!("'{deny}' {config} {all_of}"))?;
        vet.ask(workspace, "check --no-minimize-exemptions", true)?;
    }
    println!("supply::deny ok {0}\nsupply::vet ok {0}", workspaces.len());
    println!("exemptions: {}", fs::read_to_string(format!("{root}/supply-chain/config.toml"))?.matches("[[exemptions.").count());
    if is_reached {
        println!("supply::advisories ok {0}\nsupply::imports ok {0}", workspaces.len());
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

/// cargo-vet.
struct Vet<'a> {
    root: &'a Path,
    program: PathBuf,
    locked: &'static str,
}

impl Vet<'_> {
    /// Asks it about a workspace, with a copy of `supply-chain/`, in which cargo-vet leaves what that workspace alone needs.
    fn ask(&self, workspace: &Path, command: &str, with_exemptions: bool) -> Result<[String; 2]> {
        let (copy, program) = (emptied(self.root.join("target/vet"))?, self.program.display());
        for file in FILES {
            let text = fs::read_to_string(self.root.join("supply-chain").join(file))?;
            write(&copy.join(file), if with_exemptions { &text } else { unexempted(&text) })?;
        }
        let options = format!("{} --manifest-path Cargo.toml --store-path '{}'", self.locked, copy.display());
        type_in(workspace, &format!("'{program}' vet {command} {options}"))?;
        Ok([fs::read_to_string(copy.join(FILES[0]))?, fs::read_to_string(copy.join(FILES[1]))?])
    }

    /// Writes `supply-chain/` anew: audits of others that count, and exemptions for all else that the workspaces depend on now. One
    /// list stands for all of them.
    fn bless(&self, workspaces: &[PathBuf]) -> Result<()> {
        let store = self.root.join("supply-chain");
        let (mut exempt, mut imports) = (BTreeMap::new(), BTreeSet::new());
        for workspace in workspaces {
            let [config, lock] = self.ask(workspace, "regenerate exemptions", false)?;
            for entry in config.split("[[exemptions.").skip(1) {
                let lines: Vec<&str> = entry.trim_end().splitn(3, '\n').collect();
                let [name, version, criteria] = lines[..] else { bail!("an exemption without criteria: {entry}") };
                *exempt.entry((name.to_owned(), version.to_owned())).or_insert(false) |= criteria.contains("safe-to-deploy");
            }
            // Who has audited what counts. What they say of it is theirs.
            imports.extend(
                lock.trim_end().split("\n\n[").skip(1).filter_map(|audit| Some(format!("\n\n[{}", audit.split("\nnotes = ").next()?))),
            );
        }
        let mut config = unexempted(&fs::read_to_string(store.join(FILES[0]))?).to_owned();
        for ((name, version), is_deployed) in &exempt {
            let criteria = if *is_deployed { "safe-to-deploy" } else { "safe-to-run" };
            config += &format!("\n[[exemptions.{name}\n{version}\ncriteria = \"{criteria}\"\n");
        }
        write(&store.join(FILES[0]), config)?;
        write(&store.join(FILES[1]), format!("\n# cargo-vet imports lock{}\n", imports.into_iter().collect::<String>()))?;
        println!("exemptions: {}", exempt.len());
        let program = self.program.display();
        type_in(self.root, &format!("'{program}' vet fmt --manifest-path Cargo.toml --store-path '{}'", store.display()))
    }
}

/// What stands before the exemptions.
fn unexempted(config: &str) -> &str {
    config.split("\n[[exemptions.").next().unwrap_or_default()
}

const FILES: [&str; 3] = ["config.toml", "imports.lock", "audits.toml"];
