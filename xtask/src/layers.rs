//! The rules of ARCHITECTURE.md that can be read off the source: which module uses which, where `unsafe` may stand, where the machine
//! may be asked for; and which crate turns on which feature of the library.

use crate::{
    ci::cargo,
    package::{APART, CRATES},
};
use std::{fs, path::Path};

/// The library's modules from the top down. A module uses those below it, never one above.
///
/// `backend` and `entry` stand together because each names the other: they are one crossing (the table expands the entries, and these take its
/// macros).
const LAYERS: &[&[&str]] = &[
    &["lib", "rustcrypto", "internals"],
    &["hazmat", "parallel", "xaes"],
    &["parts", "once", "gathered", "batch", "nonces", "siv"],
    &["seal", "stream", "gmac"],
    &["key"],
    &["running"],
    &["backend", "entry"],
    &["engine"],
    &["gcm"],
    &["material"],
    &["packet"],
    &["tag", "nonce"],
    &["aes", "ghash"],
    &["runs"],
    &["inout"],
    &["isa"],
    &["limits"],
    &["error"],
    &["unroll"],
];

/// `unsafe` may stand here only.
const UNSAFE: &[&str] = &["isa", "inout", "backend"];

/// `cfg(target_arch)` may stand here only.
const MACHINE: &[&str] = &["isa/mod.rs", "backend.rs"];

/// The proof of the multiplications: tests only. It stands beside what it proves, reaches up to the table for the rows, and calls what a
/// row offers to tests.
const PROOF: &str = "ghash/proof/";

pub(crate) fn run(root: &Path) -> Result<(), String> {
    let source = root.join("crates/fastgcm/src");
    let mut faults = Vec::new();
    let mut files = 0;
    for file in crate::package::files(&source, "rs") {
        let name = file.strip_prefix(&source).map_err(|e| e.to_string())?.to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).map_err(|e| format!("{name}: {e}"))?;
        files += 1;
        faults.extend(check(&name, &text));
    }
    // The check itself is checked: these must be found.
    let planted = "use crate::{Block, key::Key, isa::{Isa, x86}};\nunsafe { crate::seal::x() }\n#[cfg(target_arch = \"x86_64\")]\n";
    if check("ghash/mod.rs", planted).len() != 4 {
        return Err("the check of the layers does not find what was planted".into());
    }
    if !faults.is_empty() {
        return Err(format!("layers:\n  {}", faults.join("\n  ")));
    }
    println!("layers ok {files}");
    CRATES.iter().try_for_each(|name| features(root, name))?;
    APART.iter().try_for_each(|(folder, name)| features(&root.join(folder), name))?;
    println!("features ok {}", CRATES.len() + APART.len());
    Ok(())
}

/// No published crate has what is internal, and the program alone wipes after each message. Each crate is built by itself here, as by its users.
fn features(root: &Path, name: &str) -> Result<(), String> {
    let mut tree = cargo(root, &format!("tree --package {name} --edges normal,build --target all --prefix none"));
    let output = tree.args(["--format", "{p} {f}"]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.starts_with(name) {
        return Err(format!("cargo tree of {name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let library: Vec<&str> = text.lines().filter(|line| line.starts_with("fastgcm v")).flat_map(|line| line.split([' ', ','])).collect();
    for (feature, may) in [("internals", false), ("scrub", name == "fastgcm-cli")] {
        if library.contains(&feature) != may {
            return Err(format!("{name} {} the library's feature {feature}", if may { "does not turn on" } else { "turns on" }));
        }
    }
    Ok(())
}

/// What is wrong with one file.
fn check(name: &str, text: &str) -> Vec<String> {
    let module = name.split(['/', '.']).next().unwrap_or(name);
    let mut faults = Vec::new();
    let Some(layer) = layer(module) else { return vec![format!("{name}: in no layer")] };
    for used in crate_uses(text).iter().filter(|_| !name.starts_with(PROOF)) {
        match self::layer(used) {
            Some(below) if below >= layer => {}
            Some(_) => faults.push(format!("{name}: uses `{used}`, which is above `{module}`")),
            None => {} // an item of the crate's root (`Block`, `Error`), or a macro
        }
    }
    let code = || text.lines().map(|line| line.split("//").next().unwrap_or(line));
    if !UNSAFE.contains(&module) && module != "lib" && !name.starts_with(PROOF) && code().any(|line| line.contains("unsafe")) {
        faults.push(format!("{name}: `unsafe` outside {UNSAFE:?}"));
    }
    if !MACHINE.contains(&name) && code().any(|line| line.contains("target_arch")) {
        faults.push(format!("{name}: asks for the machine outside {MACHINE:?}"));
    }
    if code().any(|line| line.contains("enable") && line.contains("avx512dq")) {
        faults.push(format!("{name}: enables avx512dq, which this rustc miscompiles (rust-lang/rust#158622)"));
    }
    faults
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The modules that the `use crate::` declarations of a file name. Those of its tests are not its own.
fn crate_uses(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let mut modules = Vec::new();
    for part in text.split("use crate::").skip(1) {
        let tree = part.split(';').next().unwrap_or("");
        let mut depth = 0;
        let mut word = String::new();
        for c in tree.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' => word.clear(),
                ':' if depth <= 1 && !word.is_empty() => modules.push(std::mem::take(&mut word)),
                c if c.is_alphanumeric() || c == '_' => word.push(c),
                _ => {}
            }
            if depth > 1 {
                word.clear();
            }
        }
    }
    // And the paths that are written out where something is used.
    for line in text.lines().map(|line| line.split("//").next().unwrap_or(line)) {
        for path in line.split("crate::").skip(1) {
            let word: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if path[word.len()..].starts_with("::") {
                modules.push(word);
            }
        }
    }
    modules
}
