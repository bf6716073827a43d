//! Numbers in the documents that the code decides.

#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Key, limits};
use std::{fs, path::Path};
use suite::passed;

/// Each stands on its page as it follows from the code.
#[test]
fn numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rust = read("Cargo.toml").split_once("rust-version = \"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let wanted = [
        ("docs/security-model.md", format!("a key has {:.1} KB and", size_of::<Key>() as f64 / 1000.0)),
        ("docs/security-model.md", format!("the limit of 2^36 - {} bytes", (1 << 36) - limits::TEXT)),
        ("crates/fastgcm/src/isa/scrub.rs", "const CALLS: usize = 4096;".into()), // the next line's 4 KB
        ("SECURITY.md", "up to 4 KB more of stack".into()),
        ("README.md", format!("Rust must be {rust} or newer")),
        ("crates/fastgcm/README.md", format!("Rust {rust}")),
        ("crates/fastgcm/src/rustcrypto.rs", format!("Rust {rust}** or newer")),
    ];
    for (page, number) in &wanted {
        assert!(read(page).contains(number), "{page}: {number}");
    }
    passed("documents::numbers", wanted.len(), 7);
    // What a program has measured stands on pages as it was written.
    let price = read("lab/price/price.md");
    let ours: Vec<&str> = price.lines().nth(2).unwrap().split('|').map(str::trim).collect();
    let (size, build, debug) = (ours[2], ours[3], ours[4]);
    let pages = [
        ("docs/migrating.md", price.clone()),
        ("README.md", format!("grows by {size} KB and takes {build} s longer to build")),
        ("README.md", format!("sealed and opened take {debug} s in a debug build")),
    ];
    for (page, text) in &pages {
        assert!(read(page).contains(text), "{page} is not what lab/price/price.sh has written: {text}");
    }
    passed("documents::price", pages.len(), 3);
}
