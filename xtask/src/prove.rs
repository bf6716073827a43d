//! Proves whole calls from the machine code of what is shipped (docs/proof.md). `lab/prove` does it; this builds it, and the programs whose calls are
//! proved: one in Rust, one in C with `libfastgcm.so`, one in C that loads the OpenSSL provider, and, for what is left of secrets, one in Rust with
//! the library's feature `scrub`.

use crate::tools::{run as sh_run, step};
use anyhow::Result;
use std::{path::Path, process::Command};

/// What looks for a fault in a copy of the project (`planted.rs`): the gate's proof of a program that is built there.
pub(crate) const LINE: &str = "test -e ../../proof/release/fastgcm-prove || \
    cargo build --release --manifest-path ../../../lab/Cargo.toml --target-dir ../../proof -p fastgcm-prove; \
    cargo build --release --manifest-path lab/Cargo.toml -p fastgcm-proved && \
    ../../proof/release/fastgcm-prove ../build/release/fastgcm-proved --quick --stop --row aesni-avx";

/// The programs, each by the name of its line in the table.
const BUILD: &str = "
    lab() { cargo build --release --manifest-path lab/Cargo.toml --target-dir target/proof \"$@\"; }
    wiped() {
        cargo build --release --manifest-path lab/Cargo.toml --target-dir target/proof/scrub -p fastgcm-proved --features scrub
        cp target/proof/scrub/release/fastgcm-proved target/proof/release/scrub
    }
    c() {
        DESTDIR=$PWD/target/proof/c crates/fastgcm-capi/install.sh /usr > target/proof/c.log 2>&1 || { cat target/proof/c.log; exit 1; }
        lib=$PWD/target/proof/c/usr/lib
        cc -O2 -Wall -I target/proof/c/usr/include lab/prove/victim/victim.c -o target/proof/release/libfastgcm -L \"$lib\" -lfastgcm \\
            -Wl,-rpath,\"$lib\" -Wl,-z,now
    }
    provider() {
        [ -e /usr/include/openssl/core_dispatch.h ] || .ci/need - libssl-dev
        cargo rustc --release -p fastgcm-openssl --crate-type cdylib
        cp target/release/libfastgcm_openssl.so target/proof/release/fastgcm.so
        cc -O2 -Wall -rdynamic lab/prove/victim/provider.c -o target/proof/release/provider -Wl,-z,now
    }";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(&&**argument));
    let (program, programs): (_, &[&str]) = if has(&["--wiped"]) {
        ("wiped", &["scrub"])
    } else if has(&["lengths", "forms", "flips"]) {
        ("", &["fastgcm-proved"])
    } else {
        ("c\nprovider", &["fastgcm-proved", "libfastgcm", "provider=fastgcm.so"])
    };
    sh_run(root, &format!("{BUILD}\nmkdir -p target/proof\nlab -p fastgcm-prove -p fastgcm-proved\n{program}"))?;
    let built = root.join("target/proof/release");
    let mut prover = Command::new(built.join("fastgcm-prove"));
    // Each with what it is given.
    let path = |word: &str| built.join(word).display().to_string();
    let programs = programs.iter().map(|words| words.split('=').map(path).collect::<Vec<_>>().join("="));
    step(prover.args(programs).args(arguments).current_dir(root))
}
