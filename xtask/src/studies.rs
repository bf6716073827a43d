//! `cargo xtask studies`: replays the papers on this machine, and writes tables and charts into the README of `fastgcm-studies`. With names,
//! only those.

use crate::{debian::apt, package::step};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The studies, by what `fastgcm-study study` calls them.
const NAMES: [&str; 5] = ["solaris-2010", "packed-2010", "arm64-2019", "ghash-2023", "aesni-2024"];

pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(format!("no study is named {unknown}"));
    }
    peers()?;
    // One after the other: built at once, they would have each other's features.
    for package in ["fastgcm-scrubbed", "fastgcm-studies"] {
        step(Command::new("cargo").args(["build", "--release", "-p", package]).current_dir(root.join("lab")))?;
    }
    let program = target(root).join("release/fastgcm-study");
    let (out, home) = (target(root).join("studies"), root.join("lab/studies"));
    fs::create_dir_all(&out).and_then(|()| fs::create_dir_all(home.join("charts"))).map_err(|e| e.to_string())?;
    let readme = home.join("README.md");
    let mut page = fs::read_to_string(&readme).map_err(|e| format!("{}: {e}", readme.display()))?;
    for name in NAMES.iter().filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == *name)) {
        println!("== {name}");
        let file = |ending: &str| out.join(format!("{name}.{ending}"));
        let chart = home.join(format!("charts/{name}.svg"));
        let mut study = Command::new(&program);
        study.args(["study", name, "--force"]);
        for (option, path) in [("--csv", &file("csv")), ("--json", &file("json")), ("--markdown", &file("md")), ("--svg", &chart)] {
            study.arg(option).arg(path);
        }
        step(&mut study)?;
        let mut tables = fs::read_to_string(file("md")).map_err(|e| e.to_string())?;
        if *name == "ghash-2023" && !tables.contains("ipsec-mb 1.") && !tables.contains("ipsec-mb v1.") {
            return Err("the table of 2023 without ipsec-mb, its baseline, may not be regenerated".into());
        }
        if !tables.contains("note: measured without `scrub`") {
            return Err("the tables are of the library without `scrub`".into());
        }
        if *name == "arm64-2019" && cfg!(target_arch = "x86_64") {
            tables += "\n";
            tables += &crate::cross::styles::table(root)?;
        }
        page = between(&page, name, &tables)?;
        // What has been measured is kept, should a later study fail.
        fs::write(&readme, &page).map_err(|e| e.to_string())?;
    }
    println!("studies ok {}; csv and json are in {}", if names.is_empty() { NAMES.len() } else { names.len() }, out.display());
    Ok(())
}

/// Replaces what stands between the marks of that name.
fn between(page: &str, name: &str, tables: &str) -> Result<String, String> {
    let (start, end) = (format!("<!-- {name}: measured -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = page.split_once(&start).ok_or_else(|| format!("the README has no mark {start}"))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| format!("the README has no mark {end}"))?;
    Ok(format!("{before}{start}{tables}\n![chart](charts/{name}.svg)\n{end}{after}"))
}

/// Intel's library, the baseline of the paper of 2023, from Debian's package; OpenSSL is there anyway.
fn peers() -> Result<(), String> {
    let there =
        Command::new("ldconfig").arg("-p").output().is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains("libIPSec_MB.so.1"));
    if there || !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    apt(&["libipsec-mb-dev"])
}

/// Where Cargo builds.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("lab/target"), PathBuf::from)
}
