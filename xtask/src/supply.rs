//! What comes in through dependencies of each published crate: licences, sources and advisories (cargo-deny), and a list of all of them (SBOM).

use crate::{
    package::{Published, published},
    tools::{output, quietly, run as type_in, sh, tool, write},
};
use anyhow::{Result, ensure};
use std::path::Path;

/// Installs what it needs under `target/tools`, asks cargo-deny, and writes `target/sbom/CRATE.cdx.json`.
pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    let (all, deny, sbom) = (published(root)?, tool(root, "cargo-deny", "0.20.2")?, tool(root, "cargo-sbom", "0.10.0")?);
    // Advisories stand where not every machine can reach them.
    let ask = "timeout 60 git ls-remote https://github.com/RustSec/advisory-db HEAD";
    let (is_reached, _) = quietly(&mut sh(root, ask))?;
    if !is_reached {
        println!("SKIPPED supply::advisories: RustSec's advisories cannot be fetched here");
    }
    let (root, deny, sbom) = (root.display(), deny.display(), sbom.display());
    let advisories = if is_reached { "advisories" } else { "" };
    for Published { folder, name, .. } in &all {
        let config = format!("--locked --manifest-path Cargo.toml --all-features --config '{root}/deny.toml'");
        type_in(folder, &format!("'{deny}' {config} check --hide-inclusion-graph licenses bans sources {advisories}"))?;
        let text = output(&mut sh(folder, &format!("'{sbom}' --output-format cyclone_dx_json_1_6 --cargo-package {name}")))?;
        let is_list = text.contains("\"bomFormat\"") && (name == "fastgcm" || text.contains("\"fastgcm\""));
        ensure!(is_list, "{name}: cargo-sbom wrote no list with `fastgcm` in it");
        let folder = folder.file_name().unwrap_or_default().display();
        write(Path::new(&format!("{root}/target/sbom/{folder}.cdx.json")), text)?;
    }
    println!("supply::deny ok {0}\nsupply::sbom ok {0}", all.len());
    if is_reached {
        println!("supply::advisories ok {}", all.len());
    }
    Ok(())
}
