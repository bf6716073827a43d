//! Proves whole calls from the machine code of what is shipped (docs/proof.md). `lab/prove` does it; this builds it, and the programs whose calls are
//! proved: one in Rust, one in C with `libfastgcm.so`, and, for what is left of secrets, one in Rust with the library's feature `scrub`.

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
    }";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(&&**argument));
    let (program, programs): (_, &[&str]) = if has(&["--wiped"]) {
        ("wiped", &["scrub"])
    } else if has(&["lengths", "forms", "flips"]) {
        ("", &["fastgcm-proved"])
    } else {
        ("c", &["fastgcm-proved", "libfastgcm"])
    };
    sh_run(root, &format!("{BUILD}\nmkdir -p target/proof\nlab -p fastgcm-prove -p fastgcm-proved\n{program}"))?;
    let built = root.join("target/proof/release");
    let mut prover = Command::new(built.join("fastgcm-prove"));
    step(prover.args(programs.iter().map(|name| built.join(name))).args(arguments).current_dir(root))
}
