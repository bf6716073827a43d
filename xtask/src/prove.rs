//! Proves whole calls from the machine code of what is shipped (docs/proof.md). `lab/prove` does it; this builds it, and the programs whose calls are
//! proved: one in Rust, one in C with `libfastgcm.so`, one in C that loads the OpenSSL provider; `--wheel PYTHON`: that Python, which has the wheel;
//! `--wiped`, for what is left of secrets: one in Rust with the library's feature `scrub`.

use crate::tools::{run as sh_run, step};
use anyhow::Result;
use std::{path::Path, process::Command};

/// What looks for a fault in a copy of the project (`planted.rs`): the gate's proof of a program that is built there.
pub(crate) const LINE: &str = "test -e ../../proof/release/fastgcm-prove || \
    cargo build --release --manifest-path ../../../Cargo.toml --target-dir ../../proof -p fastgcm-prove; \
    cargo build --release -p fastgcm-proved && \
    ../../proof/release/fastgcm-prove ../build/release/fastgcm-proved --quick --stop --row aesni-avx";

/// The programs, each by the name of its line in the table.
const BUILD: &str = "
    lab() { cargo build --release --target-dir target/proof \"$@\"; }
    wiped() {
        cargo build --release --target-dir target/proof/scrub -p fastgcm-proved --features scrub
        cp target/proof/scrub/release/fastgcm-proved target/proof/release/scrub
    }
    c() {
        DESTDIR=$PWD/target/proof/c crates/fastgcm-capi/install.sh /usr > target/proof/c.log 2>&1 || { cat target/proof/c.log; exit 1; }
        lib=$PWD/target/proof/c/usr/lib
        cc -O2 -Wall -I target/proof/c/usr/include crates/fastgcm/interop/victim/victim.c -o target/proof/release/libfastgcm -L \"$lib\" -lfastgcm \\
            -Wl,-rpath,\"$lib\" -Wl,-z,now
    }
    wheel() {
        include=$(\"$PYTHON\" -c 'import sysconfig; print(sysconfig.get_path(\"include\"))')
        [ -e \"$include/Python.h\" ] || .ci/need - python3-dev
        cc -O2 -Wall -shared -fPIC -I \"$include\" crates/fastgcm/interop/victim/wheel.c -o target/proof/release/wheel.so
    }
    provider() {
        [ -e /usr/include/openssl/core_dispatch.h ] || .ci/need - libssl-dev
        cargo rustc --release -p fastgcm-openssl --crate-type cdylib
        cp target/release/libfastgcm_openssl.so target/proof/release/fastgcm.so
        cc -O2 -Wall -rdynamic crates/fastgcm/interop/victim/provider.c -o target/proof/release/provider -Wl,-z,now
    }";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let built = root.join("target/proof/release");
    let path = |word: &str| built.join(word).display().to_string();
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(&&**argument));
    // What is built, and the programs, each with what it is given.
    let (build, programs, rest) = match arguments {
        [option, python, rest @ ..] if option == "--wheel" => {
            let script = root.join("crates/fastgcm/interop/victim/wheel.py");
            let program = format!("{python}={}={}", script.display(), path("wheel.so"));
            (format!("PYTHON='{python}'\nwheel"), vec![program], rest)
        }
        _ if has(&["--wiped"]) => ("wiped".into(), vec![path("scrub")], arguments),
        _ if has(&["lengths", "forms", "lockstep", "flips", "controls"]) => (String::new(), vec![path("fastgcm-proved")], arguments),
        _ => {
            let provider = format!("{}={}", path("provider"), path("fastgcm.so"));
            ("c\nprovider".into(), vec![path("fastgcm-proved"), path("libfastgcm"), provider], arguments)
        }
    };
    sh_run(root, &format!("{BUILD}\nmkdir -p target/proof\nlab -p fastgcm-prove -p fastgcm-proved\n{build}"))?;
    step(Command::new(path("fastgcm-prove")).args(programs).args(rest).current_dir(root))
}
