//! Tells the program which compiler made it, without which results are worth little; and how long the library's source is.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What every row of the table is made of, and what those of x86 have beside it. (`software.rs` is the way without instructions for AES.)
const SHARED: &[&str] = &["gcm", "ghash", "aes", "row", "inout.rs", "unroll.rs", "isa/mod.rs"];
const X86: &[&str] = &["isa/x86.rs"];
const NOT: &[&str] = &["proof", "tests.rs", "software.rs"];

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map_or_else(|_| b"an unknown rustc".to_vec(), |output| output.stdout);
    println!("cargo:rustc-env=FASTGCM_STUDIES_COMPILER={}", String::from_utf8_lossy(&version).trim());
    println!("cargo:rerun-if-changed=build.rs");

    let source = source();
    for (name, paths) in [("SHARED", SHARED), ("X86", X86)] {
        let counted = source.as_ref().and_then(|source| {
            let lines = paths.iter().map(|path| lines(&source.join(path))).collect::<Option<Vec<_>>>()?;
            Some(lines.into_iter().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1)))
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
