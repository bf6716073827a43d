//! Other people's crates with ours in place of what they use. Cargo fetches their sources, which are copied under `target/others` and built there with
//! nothing changed but what is said here. Nothing of theirs is committed.

use crate::tools::{emptied, output, run, sh, write};
use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Versions of `aes-gcm`, and our crates in their place.
const VERSIONS: [(&str, &str); 2] = [("0.10.3", "crates/aes-gcm-010"), ("0.11.1", "crates/aes-gcm-011")];

/// Crates that use `aes-gcm`: name and version, which of the two, and what `cargo test` is told. (How many tests that are, `.ci/suites` says.)
#[rustfmt::skip]
const DEPENDENTS: [(&str, &str, usize, &str); 13] = [
    ("cookie", "0.18.2", 0, "--features private --lib"),
    ("cocoon", "0.5.0", 0, "--lib -- --skip io_error"), // without tests that want files which are not packed
    ("dexios-core", "1.2.0", 0, "--test stream"), // it is packed without tests: crates/aes-gcm-011/interop/stream.rs
    ("ece-native", "0.5.0", 0, "--lib"),
    ("webrtc-srtp", "0.17.2", 0, "--lib"), // it is generic over the block cipher
    ("snow", "0.10.0", 0, "--features vector-tests --tests"),
    ("ssh-key", "0.6.7", 0, "--features encryption --test encrypted_private_key"),
    ("ecies", "0.2.14", 1, "--no-default-features --features pure,secp256k1,x25519 --lib"), // nonces of 16 bytes
    ("mls-rs-crypto-rustcrypto", "0.23.0", 1, "--lib -- --skip mls_core_tests"), // likewise without a file
    ("hpke", "0.15.1", 1, "--no-default-features --features aes,alloc,getrandom,x25519 --lib"), // no `std`, and of ours only `aes`
    ("ssh-cipher", "0.3.0", 1, "--features aes --tests"), // likewise
    ("turso_core", "0.8.3", 0, "--lib encryption"),
    ("iceberg", "0.10.1", 0, "--lib encryption"),
];

/// These take many minutes to compile, and so must be named.
const LARGE: [&str; 2] = ["turso_core", "iceberg"];

/// `fastgcm-aes-gcm` in place of RustCrypto's `aes-gcm`, both of its versions: that crate's own tests and the examples on its front page, and other people's
/// crates with their tests. All of them, or those that are named.
pub(crate) fn rustcrypto(root: &Path, names: &[String]) -> Result<()> {
    let (scratch, lab) = (root.join("target/others"), root.join("crates/aes-gcm-011/interop"));
    let wanted = |name: &str| if names.is_empty() { !LARGE.contains(&name) } else { names.iter().any(|wanted| wanted == name) };
    for (version, ours) in VERSIONS {
        replacement(root, &scratch, version, ours)?;
    }
    for (version, _) in VERSIONS.iter().filter(|_| wanted("aes-gcm")) {
        // Its folder `tests` as it is, and of `src/lib.rs` the part that is documentation.
        let copy = copied(&scratch, "aes-gcm", version, &format!("tests-of-{version}"), "")?;
        let documentation = "grep -q '^pub use aead::' src/lib.rs; sed -i '/^pub use aead::/,$d' src/lib.rs";
        run(&copy, &format!("{documentation}; cp '{}/tests-of-{version}.toml' Cargo.toml", lab.display()))?;
        println!("rustcrypto::aes-gcm-{version} ok {}", passed(&scratch, &copy, "")?);
    }
    for (name, version, uses, arguments) in DEPENDENTS.iter().filter(|dependent| wanted(dependent.0)) {
        let patch = format!("[patch.crates-io]\naes-gcm = {{ path = \"../aes-gcm-{}\" }}\n", VERSIONS[*uses].0);
        let copy = copied(&scratch, name, version, name, &own_workspace(&patch))?;
        if *name == "dexios-core" {
            // With the newest `blake3` it does not compile, whoever's `aes-gcm` it has.
            run(&copy, &format!("mkdir tests; cp '{}/stream.rs' tests; cargo update blake3 --precise 1.5.0", lab.display()))?;
        }
        println!("rustcrypto::{name} ok {}", passed(&scratch, &copy, arguments)?);
    }
    Ok(())
}

/// quinn's own tests with `rustls-fastgcm`. In the copy of `quinn-proto` the provider that it takes by default is wrapped, and `quinn` is built over it.
pub(crate) fn quinn(root: &Path, _: &[String]) -> Result<()> {
    let scratch = root.join("target/others");
    let ours = format!("[dependencies.rustls-fastgcm]\npath = {:?}\n", root.join("crates/rustls-fastgcm"));
    let proto = copied(&scratch, "quinn-proto", "0.11.19", "quinn-proto", &own_workspace(&ours))?;
    let wrap = "[ $(grep -c 'rustls::crypto::ring::default_provider()' src/crypto/rustls.rs) = 1 ]
        sed -i 's/rustls::crypto::ring::default_provider()/rustls_fastgcm::with(&)/' src/crypto/rustls.rs";
    run(&proto, wrap)?;
    println!("quinn::proto ok {}", passed(&scratch, &proto, "--lib")?);
    let patch = own_workspace("[patch.crates-io]\nquinn-proto = { path = \"../quinn-proto\" }\n");
    let quinn = copied(&scratch, "quinn", "0.11.12", "quinn", &patch)?;
    println!("quinn::quinn ok {}", passed(&scratch, &quinn, "--lib")?);
    Ok(())
}

/// arrow-rs (crate `parquet`) with the patches of `crates/fastgcm-parquet/interop`, and pyarrow at the other end. `files` are those of `make_files.py`, and `python` has
/// pyarrow.
pub(crate) fn arrow_rs(root: &Path, arguments: &[String]) -> Result<()> {
    let [python, files] = arguments else { bail!("arrow-rs PYTHON FILES") };
    let (scratch, lab) = (root.join("target/others"), root.join("crates/fastgcm-parquet/interop"));
    let ours = format!("[dependencies.fastgcm-parquet]\npath = {:?}\n", root.join("crates/fastgcm-parquet"));
    let parquet = copied(&scratch, "parquet", "60.1.0", "parquet", &ours)?;
    run(&parquet, &format!("for name in gcm ctr; do patch -p1 --silent --input '{}'/$name.patch; done", lab.display()))?;
    let line = format!(
        "mkdir src written; cp '{0}/program.rs' src/main.rs; cp '{0}/program.toml' Cargo.toml
        # There is code over ring that nothing calls any more.
        RUSTFLAGS=--cap-lints=allow cargo run --quiet --target-dir ../target -- '{files}' written
        '{python}' '{0}/read.py' written",
        lab.display()
    );
    run(&emptied(scratch.join("program"))?, &line)
}

/// What makes a package a workspace of its own, with that in its Cargo.toml.
fn own_workspace(more: &str) -> String {
    format!("{more}\n[workspace]\n\n[profile.dev]\ndebug = false\n")
}

/// A copy of a crate in that folder, with nothing in it of an earlier one, and with that at the end of its Cargo.toml. Cargo downloads it, and is asked
/// where it put it. It is named for a target that does not exist, so nothing is compiled.
fn copied(scratch: &Path, name: &str, version: &str, folder: &str, more: &str) -> Result<PathBuf> {
    let fetch = scratch.join("fetch").join(name);
    let package = "[package]\nname = \"fetch\"\nedition = \"2024\"\n\n[workspace]\n\n[target.'cfg(any())'.dependencies]\n";
    write(&fetch.join("src/lib.rs"), "")?;
    write(&fetch.join("Cargo.toml"), format!("{package}{name} = \"={version}\"\n"))?;
    let metadata = output(&mut sh(&fetch, "cargo metadata --format-version 1"))?;
    let end = format!("/{name}-{version}/Cargo.toml");
    let mut paths = metadata.split("\"manifest_path\":\"").filter_map(|rest| rest.split('"').next());
    let from = paths.find(|path| path.ends_with(&end)).with_context(|| format!("cargo metadata knows no {end}"))?;
    let copy = emptied(scratch.join(folder))?;
    // Its lock file may have an older `aes-gcm`.
    run(&copy, &format!("cp -r --no-preserve=mode '{}/.' . && rm -f Cargo.lock", from.trim_end_matches("/Cargo.toml")))?;
    write(&copy.join("Cargo.toml"), format!("{}\n{more}", fs::read_to_string(copy.join("Cargo.toml"))?))?;
    Ok(copy)
}

/// Our crate under the name and the number of theirs: what is patched must have both.
fn replacement(root: &Path, scratch: &Path, version: &str, ours: &str) -> Result<()> {
    let copy = emptied(scratch.join(format!("aes-gcm-{version}")))?;
    let root = root.display();
    run(&copy, &format!("cp -rL '{root}/{ours}'/{{README.md,src}} .
        sed -e 's/^name = \"fastgcm-aes-gcm\"/name = \"aes-gcm\"/; s/^version = .*/version = \"{version}\"/; /^\\[dev-dependencies\\]/,/^$/d' \
            -e 's|path = \"../fastgcm\"|path = \"{root}/crates/fastgcm\"|' '{root}/{ours}/Cargo.toml' > Cargo.toml"))
}

/// Runs the tests of a package, and says how many passed. None of it may be theirs that ours shall replace.
fn passed(scratch: &Path, package: &Path, arguments: &str) -> Result<usize> {
    let target = scratch.join("target");
    let report = output(&mut sh(package, &format!("cargo test --no-fail-fast --target-dir '{}' {arguments}", target.display())))?;
    print!("{report}");
    let lock = fs::read_to_string(package.join("Cargo.lock"))?;
    let of_registry = |entry: &str| entry.starts_with("name = \"aes-gcm\"\n") && entry.contains("source = ");
    let is_ours = !lock.split("[[package]]\n").any(of_registry) && lock.contains("name = \"fastgcm\"\n");
    ensure!(is_ours, "{}: it was not fastgcm that was tested", package.display());
    let passed = |line: &str| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<usize>().ok();
    Ok(report.lines().filter_map(passed).sum())
}
