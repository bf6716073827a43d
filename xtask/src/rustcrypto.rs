//! Crate `fastgcm-aes-gcm` in place of RustCrypto's `aes-gcm`, both of its versions: that crate's own tests and the examples on its front page,
//! and other people's crates with their tests. Cargo fetches their sources, which are copied under `target/rustcrypto` and built there with nothing
//! changed but Cargo.toml: it is told where `aes-gcm` is. Nothing of theirs is committed.

use crate::package::step;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A version of `aes-gcm`, and of our crate in its place.
struct Version {
    number: &'static str,
    /// Our crate.
    ours: &'static str,
    /// What its own tests and front page want: features, and dependencies.
    features: &'static str,
    dependencies: &'static str,
    /// How many tests it has.
    tests: usize,
}

const VERSIONS: [Version; 2] = [
    Version {
        number: "0.10.3",
        ours: "crates/aes-gcm-010",
        features: r#""aes", "alloc", "getrandom", "heapless", "std", "stream""#,
        dependencies: "aead = { version = \"0.5\", features = [\"dev\"], default-features = false }\naes = \"0.8\"\nhex-literal = \"0.3\"\n",
        tests: 14,
    },
    Version {
        number: "0.11.1",
        ours: "crates/aes-gcm-011",
        features: r#""aes", "alloc", "arrayvec", "getrandom""#,
        dependencies: "aead = { version = \"0.6\", features = [\"alloc\", \"dev\"], default-features = false }\naes = \"0.9\"\nhex-literal = \"1\"\n",
        tests: 16,
    },
];

/// Somebody's crate that uses `aes-gcm`.
struct Dependent {
    name: &'static str,
    version: &'static str,
    /// Which of the two.
    uses: usize,
    /// What `cargo test` is told.
    arguments: &'static str,
    /// How many tests that are.
    tests: usize,
    /// It takes many minutes to compile.
    large: bool,
}

#[rustfmt::skip]
const DEPENDENTS: [Dependent; 13] = [
    Dependent { name: "cookie", version: "0.18.2", uses: 0, arguments: "--features private --lib", tests: 28, large: false },
    // Without its tests that want files which are not packed.
    Dependent { name: "cocoon", version: "0.5.0", uses: 0, arguments: "--lib -- --skip io_error", tests: 51, large: false },
    Dependent { name: "dexios-core", version: "1.2.0", uses: 0, arguments: "--test stream", tests: 1, large: false },
    Dependent { name: "ece-native", version: "0.5.0", uses: 0, arguments: "--lib", tests: 8, large: false },
    // It is generic over the block cipher.
    Dependent { name: "webrtc-srtp", version: "0.17.2", uses: 0, arguments: "--lib", tests: 38, large: false },
    Dependent { name: "snow", version: "0.10.0", uses: 0, arguments: "--features vector-tests --tests", tests: 63, large: false },
    Dependent { name: "ssh-key", version: "0.6.7", uses: 0, arguments: "--features encryption --test encrypted_private_key", tests: 15, large: false },
    // Nonces of 16 bytes.
    Dependent { name: "ecies", version: "0.2.14", uses: 1, arguments: "--no-default-features --features pure,secp256k1,x25519 --lib", tests: 25, large: false },
    // Without its test that wants a file which is not packed.
    Dependent { name: "mls-rs-crypto-rustcrypto", version: "0.23.0", uses: 1, arguments: "--lib -- --skip mls_core_tests", tests: 16, large: false },
    // These two have no `std`, and turn on no feature of ours but `aes`.
    Dependent { name: "hpke", version: "0.15.1", uses: 1, arguments: "--no-default-features --features aes,alloc,getrandom,x25519 --lib", tests: 11, large: false },
    Dependent { name: "ssh-cipher", version: "0.3.0", uses: 1, arguments: "--features aes --tests", tests: 1, large: false },
    Dependent { name: "turso_core", version: "0.8.3", uses: 0, arguments: "--lib encryption", tests: 34, large: true },
    Dependent { name: "iceberg", version: "0.10.1", uses: 0, arguments: "--lib encryption", tests: 65, large: true },
];

/// `dexios-core` is packed without tests. What it sealed with `aes-gcm` itself is what it must seal.
const STREAM: &str = include_str!("rustcrypto/stream.rs");

/// Runs them all, or those that are named; `root` is the root of the workspace.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<(), String> {
    let scratch = root.join("target/rustcrypto");
    let wanted = |name: &str, large: bool| if names.is_empty() { !large } else { names.iter().any(|n| n == name || large && n == "large") };
    for version in VERSIONS.iter().filter(|_| wanted("aes-gcm", false)) {
        let theirs = fetch(&scratch, "aes-gcm", version.number)?;
        let ours = replacement(root, &scratch, version)?;
        let copy = scratch.join(format!("tests-of-{}", version.number));
        copy_tests(&theirs, &copy)?;
        write(&copy.join("Cargo.toml"), &manifest(version, &ours))?;
        println!("rustcrypto::aes-gcm-{} ok {}", version.number, passed(&scratch, &copy, "", version.tests)?);
    }
    for dependent in DEPENDENTS.iter().filter(|dependent| wanted(dependent.name, dependent.large)) {
        let Dependent { name, version, .. } = dependent;
        let ours = replacement(root, &scratch, &VERSIONS[dependent.uses])?;
        let copy = scratch.join(format!("{name}-{version}"));
        renew(&fetch(&scratch, name, version)?, &copy, &["."])?;
        let manifest = read(&copy.join("Cargo.toml"))?;
        write(&copy.join("Cargo.toml"), &format!("{manifest}\n{}", patch(&ours)))?;
        if dependent.arguments == "--test stream" {
            write(&copy.join("tests/stream.rs"), STREAM)?;
        }
        // With the newest `blake3` it does not compile, whoever's `aes-gcm` it has.
        if *name == "dexios-core" {
            step(Command::new("cargo").args(["update", "blake3", "--precise", "1.5.0"]).current_dir(&copy))?;
        }
        println!("rustcrypto::{name} ok {}", passed(&scratch, &copy, dependent.arguments, dependent.tests)?);
    }
    Ok(())
}

/// Has Cargo download a crate, and asks where it put it. It is named for a target that does not exist, so nothing is compiled.
pub(crate) fn fetch(scratch: &Path, name: &str, version: &str) -> Result<PathBuf, String> {
    let folder = scratch.join("fetch").join(name);
    write(&folder.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[target.'cfg(any())'.dependencies]\n{name} = \"={version}\"\n"
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    let output = Command::new("cargo").args(["metadata", "--format-version", "1"]).current_dir(&folder).stderr(Stdio::inherit()).output();
    let metadata = String::from_utf8_lossy(&output.map_err(|e| e.to_string())?.stdout).into_owned();
    let end = format!("{name}-{version}/Cargo.toml");
    let mut paths = metadata.split("\"manifest_path\":\"").filter_map(|rest| rest.split('"').next());
    let path = paths.find(|path| path.ends_with(&end)).ok_or(format!("cargo metadata knows no {end}"))?;
    Path::new(path).parent().map(Path::to_owned).ok_or(format!("{path} has no folder"))
}

/// Our crate under the name and the number of theirs: what is patched must have both.
fn replacement(root: &Path, scratch: &Path, version: &Version) -> Result<PathBuf, String> {
    let copy = scratch.join(format!("aes-gcm-{}", version.number));
    renew(&root.join(version.ours), &copy, &["Cargo.toml", "README.md", "src"])?;
    let manifest = read(&copy.join("Cargo.toml"))?;
    let own_number = manifest.lines().find(|line| line.starts_with("version = ")).ok_or("our crate has no version")?.to_owned();
    let fastgcm = format!("path = {:?}", root.join("crates/fastgcm"));
    let manifest = manifest
        .replace("name = \"fastgcm-aes-gcm\"", "name = \"aes-gcm\"")
        .replace(&own_number, &format!("version = \"{}\"", version.number))
        .replace("path = \"../fastgcm\"", &fastgcm);
    let (before, after) = manifest.split_once("[dev-dependencies]").ok_or("our crate has no [dev-dependencies]")?;
    let after = after.split_once("\n\n").map_or("", |(_, after)| after);
    write(&copy.join("Cargo.toml"), &format!("{before}{after}"))?;
    Ok(copy)
}

fn patch(ours: &Path) -> String {
    format!("[workspace]\n\n[patch.crates-io]\naes-gcm = {{ path = {ours:?} }}\n\n[profile.dev]\ndebug = false\n")
}

/// The folder `tests` as it is, and of `src/lib.rs` the part that is documentation.
fn copy_tests(theirs: &Path, copy: &Path) -> Result<(), String> {
    renew(theirs, copy, &["."])?;
    let lib = read(&copy.join("src/lib.rs"))?;
    let end = lib.find("\npub use aead::").ok_or("src/lib.rs has no line `pub use aead::`")?;
    write(&copy.join("src/lib.rs"), &lib[..=end])
}

/// That of a package with the tests of `aes-gcm`, which depends on `aes-gcm` like any other.
fn manifest(version: &Version, ours: &Path) -> String {
    let Version { number, features, dependencies, .. } = version;
    let own: String = features.split(", ").map(|feature| format!("{} = []\n", feature.trim_matches('"'))).collect();
    format!(
        "[package]\nname = \"tests-of-aes-gcm\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[features]\ndefault = [{features}]\n{own}\n\
        [dev-dependencies]\naes-gcm = {{ version = \"={number}\", features = [{features}] }}\n{dependencies}\n\
        [lints.rust]\nunexpected_cfgs = \"allow\"\n\n{}",
        patch(ours)
    )
}

/// Runs the tests of a package. That many must pass, and none of it may be theirs that ours shall replace.
pub(crate) fn passed(scratch: &Path, package: &Path, arguments: &str, expected: usize) -> Result<usize, String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--no-fail-fast", "--target-dir"]).arg(scratch.join("target")).args(arguments.split_whitespace());
    let output = command.current_dir(package).stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    let report = String::from_utf8_lossy(&output.stdout);
    print!("{report}");
    let name = package.file_name().unwrap_or_default().display();
    if !output.status.success() {
        return Err(format!("{name}: {}", output.status));
    }
    let lock = read(&package.join("Cargo.lock"))?;
    let of_registry = |entry: &&str| entry.starts_with("name = \"aes-gcm\"\n") && entry.contains("source = ");
    if lock.split("[[package]]\n").any(|entry| of_registry(&entry)) || !lock.contains("name = \"fastgcm\"\n") {
        return Err(format!("{name}: it was not fastgcm that was tested"));
    }
    let count = report.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<usize>().ok()).sum();
    if count == expected { Ok(count) } else { Err(format!("{name}: {count} tests passed, not {expected}")) }
}

/// A copy, with nothing in it of an earlier one.
pub(crate) fn renew(from: &Path, to: &Path, parts: &[&str]) -> Result<(), String> {
    _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).map_err(|e| format!("{}: {e}", to.display()))?;
    step(Command::new("cp").args(["-r", "--no-preserve=mode"]).args(parts.iter().map(|part| from.join(part))).arg(to))?;
    _ = fs::remove_file(to.join("Cargo.lock")); // it may have an older `aes-gcm`
    Ok(())
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().ok_or(format!("{} has no folder", path.display()))?;
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}
