//! The rules of ARCHITECTURE.md that can be read off the source: which module uses which, where `unsafe` may stand, where the machine
//! may be asked for; and which crate turns on which feature of the library.

use crate::{
    package::{Published, published},
    tools::{files, output, sh},
};
use anyhow::{Result, ensure};
use fs_err as fs;
use regex_lite::Regex;
use std::path::Path;

/// The library's modules from the top down, a floor in each line. A module uses those below it, never one above.
const LAYERS: &str = "\
lib rustcrypto internals
hazmat parallel xaes
parts once gathered batch nonces siv
seal stream gmac place
key
running
row
gcm
material
packet
tag nonce
aes ghash
inout
isa
limits
error
unroll";

/// The floors inside two of them.
const INSIDE: &[(&str, &str)] = &[("gcm", "mod\nbatch software\ntail\nsiv drive\nkey turn\ncounter\nplan"), ("row", "mod\ntable\nverbs")];

/// `unsafe` may stand here only.
const UNSAFE: &[&str] = &["isa", "inout", "row", "lib"];

/// `cfg(target_arch)` may stand here only.
const MACHINE: &[&str] = &["isa/mod.rs", "row/table.rs"];

/// The proof of the multiplications: tests only. It stands beside what it proves, reaches up to the table for the rows, and calls what a
/// row offers to tests.
const PROOF: &str = "ghash/proof/";

pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    let source = root.join("crates/fastgcm/src");
    let (mut faults, files) = (Vec::new(), files(root, "crates/fastgcm/src", "*.rs")?);
    for file in &files {
        faults.extend(check(&file.strip_prefix(&source)?.to_string_lossy(), &fs::read_to_string(file)?)?);
    }
    // The check itself is checked: these must be found.
    let planted = "use crate::{Block, key::Key, isa::{Isa, x86}};\nunsafe { crate::seal::x() }\n#[cfg(target_arch = \"x86_64\")]\n";
    let inside = "use super::{\n    drive::{self, begin},\n    plan::lengths,\n    siv,\n};\nsuper::lengths();\n";
    ensure!(
        check("ghash/mod.rs", planted)?.len() == 4 && check("gcm/turn.rs", inside)?.len() == 3,
        "the check of the layers does not find what was planted"
    );
    ensure!(faults.is_empty(), "layers:\n  {}", faults.join("\n  "));
    println!("layers ok {}", files.len());
    let published = published(root)?;
    published.iter().try_for_each(features)?;
    published.iter().try_for_each(built_alone)?;
    println!("features ok {}", published.len());
    Ok(())
}

/// No published crate has what is internal, and the program alone wipes after each message. Each crate is built by itself here, as by its users.
fn features(Published { folder, name, .. }: &Published) -> Result<()> {
    let tree = format!("cargo tree --package {name} --edges normal,build --target all --prefix none --format '{{p}} {{f}}'");
    let text = output(&mut sh(folder, &tree))?;
    ensure!(text.starts_with(name.as_str()), "cargo tree of {name} is of something else:\n{text}");
    let library: Vec<&str> = text.lines().filter(|line| line.starts_with("fastgcm v")).flat_map(|line| line.split([' ', ','])).collect();
    for (feature, may) in [("internals", false), ("scrub", name == "fastgcm-cli")] {
        ensure!(library.contains(&feature) == may, "{name} has the library's feature {feature}: {}, not {may}", !may);
    }
    Ok(())
}

/// What other languages load is no part of what `cargo build` makes of a workspace: it would have the
/// features that any other package turns on. `cargo rustc --crate-type cdylib` builds one package, and so
/// does a workspace of its own.
fn built_alone(Published { name, is_apart, manifest, .. }: &Published) -> Result<()> {
    let kinds = manifest.lines().find(|line| line.starts_with("crate-type")).unwrap_or_default();
    ensure!(
        *is_apart || !kinds.contains("cdylib") && !kinds.contains("staticlib"),
        "{name} is built beside other packages, with their features: {kinds}"
    );
    Ok(())
}

/// What is wrong with one file.
fn check(name: &str, text: &str) -> Result<Vec<String>> {
    let floor = |module: &str| LAYERS.lines().position(|floor| floor.split(' ').any(|other| other == module));
    let module = name.split(['/', '.']).next().unwrap_or(name);
    let Some(own) = floor(module) else { return Ok(vec![format!("{name}: in no layer")]) };
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let is_proof = name.starts_with(PROOF);
    // What is in no layer is an item of the crate's root (`Block`, `Error`), or a macro.
    let above = uses(&code)?.into_iter().filter(|used| !is_proof && floor(used).is_some_and(|floor| floor < own));
    let mut faults: Vec<String> = above.map(|used| format!("uses `{used}`, which is above `{module}`")).collect();
    faults.extend(upwards_inside(name, &code)?);
    let enables_dq = code.lines().any(|line| line.contains("enable") && line.contains("avx512dq"));
    for (is_wrong, what) in [
        (!UNSAFE.contains(&module) && !is_proof && code.contains("unsafe"), format!("`unsafe` outside {UNSAFE:?}")),
        (!MACHINE.contains(&name) && code.contains("target_arch"), format!("asks for the machine outside {MACHINE:?}")),
        (enables_dq, "enables avx512dq, which this rustc miscompiles (rust-lang/rust#158622)".into()),
    ] {
        faults.extend(is_wrong.then_some(what));
    }
    Ok(faults.iter().map(|fault| format!("{name}: {fault}")).collect())
}

/// What a file of a module in [`INSIDE`] uses of its neighbours and of its parent that is not below it.
fn upwards_inside(name: &str, code: &str) -> Result<Vec<String>> {
    let Some((floors, file)) = INSIDE.iter().find_map(|(module, floors)| Some((floors, name.strip_prefix(&format!("{module}/"))?))) else {
        return Ok(Vec::new());
    };
    let floor = |file: &str| floors.lines().position(|floor| floor.split(' ').any(|other| other == file));
    let own = file.trim_end_matches(".rs");
    if own == "mod" || own.ends_with("tests") {
        return Ok(Vec::new());
    }
    let Some(own_floor) = floor(own) else { return Ok(vec![format!("`{own}` is in no floor of its module")]) };
    let (list, inner) = (Regex::new(r"super::\{([^;]*)\};")?, Regex::new(r"::\{[^{}]*\}|::\w+")?);
    let mut used: Vec<String> = Regex::new(r"\bsuper::(\w+)")?.captures_iter(code).map(|found| found[1].to_owned()).collect();
    for found in list.captures_iter(code) {
        let mut names = found[1].to_owned();
        while inner.is_match(&names) {
            names = inner.replace_all(&names, "").into_owned();
        }
        used.extend(names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
    }
    // What is no file is an item of the parent.
    let above = used.into_iter().filter(|used| floor(used).unwrap_or(0) <= own_floor);
    Ok(above.map(|used| format!("uses `{used}`, which is not below `{own}`")).collect())
}

/// The modules that paths from the crate's root name: in lists of `use`, and written out. Those of a list in the file's tests are not its own.
fn uses(code: &str) -> Result<Vec<String>> {
    let (list, inner, path) = (Regex::new(r"use crate::\{([^;]*)\};")?, Regex::new(r"::\{[^{}]*\}")?, Regex::new(r"^\s*(\w+)::")?);
    let mut modules = Vec::new();
    for found in list.captures_iter(code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(code)) {
        let mut names = found[1].to_owned();
        while inner.is_match(&names) {
            names = inner.replace_all(&names, "::_").into_owned();
        }
        modules.extend(names.split(',').filter_map(|name| Some(path.captures(name)?[1].to_owned())));
    }
    modules.extend(Regex::new(r"crate::(\w+)::")?.captures_iter(code).map(|found| found[1].to_owned()));
    Ok(modules)
}
