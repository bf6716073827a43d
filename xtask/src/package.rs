//! Packs each published crate, and builds and tests what was packed, outside the workspace: what a user of the registry gets.

use crate::tools::{emptied, run as type_in, write};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// A published crate.
pub(crate) struct Published {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    version: String,
    /// It takes nothing of the workspace: a copy of its folder can stand anywhere.
    pub(crate) is_apart: bool,
    pub(crate) manifest: String,
}

/// All of them: those in `crates`.
pub(crate) fn published(root: &Path) -> Result<Vec<Published>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        let value = |key: &str| {
            manifest.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.split('"').next()?.to_owned()))
        };
        let version = value("version").unwrap_or(env!("CARGO_PKG_VERSION").into());
        let is_apart = !manifest.contains("version.workspace");
        all.push(Published { name: value("name").context("no name")?, folder, version, is_apart, manifest });
    }
    all.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(all)
}

pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    // No registry has our own crates yet, so Cargo cannot verify them one by one: a workspace of what was packed stands in for it.
    let unpacked = root.join("target/packed");
    emptied(unpacked.join("crates"))?;
    // The checks `python_wheels` and `node_packages` have the sources of those packages; no registry of crates has Java's.
    let elsewhere = ["fastgcm-java", "fastgcm-node", "fastgcm-python"];
    let all = published(root)?.into_iter().filter(|published| !elsewhere.contains(&published.name.as_str()));
    let (apart, members): (Vec<Published>, Vec<Published>) = all.partition(|published| published.is_apart);
    let mut patches = String::new();
    let packages: String = members.iter().map(|published| format!(" -p {}", published.name)).collect();
    type_in(root, &format!("cargo package{packages} --no-verify --allow-dirty"))?;
    for Published { name, version, .. } in &members {
        type_in(&unpacked, &format!("tar -xzf ../package/{name}-{version}.crate -C crates"))?;
        patches += &format!("{name} = {{ path = \"crates/{name}-{version}\" }}\n");
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n[patch.crates-io]\n{patches}[profile.test]\nopt-level = 2\nlto = \"off\"\ndebug = false\n"
    );
    write(&unpacked.join("Cargo.toml"), manifest)?;
    fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    // The check `tests` has had a hundred times as many cases of cross validation before, and in the full run all traces of addresses.
    let test = "env -u FASTGCM_FULL FASTGCM_CASES=1500 cargo test --quiet --workspace --test '*'";
    type_in(&unpacked, &format!("{test} --features fastgcm/aead06,fastgcm/getrandom,fastgcm/hazmat"))?;
    println!("package ok {}", members.len());

    // Those that stand alone, each by itself, over the library as it was packed. Each has its tests with it.
    let library = unpacked.join(format!("crates/fastgcm-{}", env!("CARGO_PKG_VERSION")));
    for Published { folder, name, version, manifest, .. } in &apart {
        ensure!(manifest.contains("[package.metadata.docs.rs]"), "{name} does not say how docs.rs builds it");
        let target = root.join("target/packed-apart");
        // Its lock file would have to name a `fastgcm` of the registry.
        type_in(folder, &format!("cargo package --no-verify --allow-dirty --exclude-lockfile --target-dir '{}'", target.display()))?;
        let copy = emptied(target.join(format!("crates/{name}-{version}")))?;
        type_in(&copy, &format!("tar -xzf ../../package/{name}-{version}.crate --strip-components=1"))?;
        let packed = fs::read_to_string(copy.join("Cargo.toml"))?;
        write(&copy.join("Cargo.toml"), format!("{packed}\n[workspace]\n[patch.crates-io]\nfastgcm = {{ path = {library:?} }}\n"))?;
        let lock = Some(folder.join("Cargo.lock")).filter(|lock| lock.exists()).unwrap_or_else(|| root.join("Cargo.lock"));
        fs::copy(lock, copy.join("Cargo.lock"))?;
        type_in(&copy, "cargo test --quiet --all-features --target-dir ../../target")?;
    }
    println!("package::apart ok {}", apart.len());
    Ok(())
}
