//! Tells the program which compiler made it, without which results are worth little; and how long the library's source is.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Modules, each with its folder: of what a row of the table is made, and what stands between a caller and a row, as the kernel's glue does.
const PARTS: [(&str, &[&str]); 3] = [
    ("ALGORITHM", &["gcm", "ghash", "aes"]),
    ("X86", &["isa/x86"]),
    (
        "GLUE",
        &[
            "row",
            "inout",
            "unroll",
            "isa/mod",
            "isa/detect",
            "isa/cpuid",
            "running",
            "key",
            "material",
            "seal",
            "gathered",
            "nonce",
            "tag",
            "limits",
            "error",
        ],
    ),
];
/// Other ways, and what is no part of the library.
const NOT: &[&str] = &["proof", "tests.rs", "software.rs"];

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map_or_else(|_| b"an unknown rustc".to_vec(), |output| output.stdout);
    println!("cargo:rustc-env=FASTGCM_STUDIES_COMPILER={}", String::from_utf8_lossy(&version).trim());
    println!("cargo:rerun-if-changed=build.rs");

    let source = source();
    for (name, modules) in PARTS {
        let counted = source.as_ref().map(|source| {
            let paths = modules.iter().flat_map(|module| [source.join(module), source.join(format!("{module}.rs"))]);
            paths.filter(|path| path.exists()).filter_map(|path| lines(&path)).fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1))
        });
        let counted = counted.map_or_else(String::new, |(all, code)| format!("{all} {code}"));
        println!("cargo:rustc-env=FASTGCM_STUDIES_LINES_{name}={counted}");
    }
}

/// The library's, in this repository.
fn source() -> Option<PathBuf> {
    let source = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?).join("../../crates/fastgcm/src");
    println!("cargo:rerun-if-changed={}", source.display());
    source.exists().then_some(source)
}

/// Lines of a file or of all files of a folder, and those of them that are neither empty nor a comment.
fn lines(path: &Path) -> Option<(usize, usize)> {
    if path.file_name().is_some_and(|name| NOT.iter().any(|not| name == *not)) {
        return Some((0, 0));
    }
    if path.is_dir() {
        let files = fs::read_dir(path).ok()?.map(|entry| lines(&entry.ok()?.path())).collect::<Option<Vec<_>>>()?;
        return Some(files.into_iter().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1)));
    }
    let text = fs::read_to_string(path).ok()?;
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    Some((text.lines().count(), text.lines().filter(is_code).count()))
}
