#!/usr/bin/env bash
# Proves whole calls from the machine code of what is shipped (docs/proof.md): `cargo xtask prove [OPTION]...` runs this. `fastgcm-prove` does it, of tools/prove's engine; this builds it,
# and the programs whose calls are proved: one in Rust, one in C with `libfastgcm.so`, one in C that loads the OpenSSL provider; with `--wheel PYTHON` that
# Python, which has the wheel; with `--wiped`, for what is left of secrets, one in Rust with the library's feature `scrub`.
set -euo pipefail
victim=$(realpath "$(dirname "$0")/../victim")
cd "$victim/../../../.."
built=$PWD/target/proof/release
programs=("$built/fastgcm-proved")
mkdir -p target/proof
cargo build --release --target-dir target/proof -p fastgcm-prove -p fastgcm-proved
if [ "${1-}" = --wheel ]; then
    include=$("$2" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    [ -e "$include/Python.h" ] || .ci/need - python3-dev
    cc -O2 -Wall -shared -fPIC -I "$include" "$victim/wheel.c" -o "$built/wheel.so"
    programs=("$2=$victim/wheel.py=$built/wheel.so")
    shift 2
elif [[ " $* " = *' --wiped '* ]]; then
    cargo build --release --target-dir target/proof/scrub -p fastgcm-proved --features scrub
    cp target/proof/scrub/release/fastgcm-proved "$built/scrub"
    programs=("$built/scrub")
elif ! [[ " $* " =~ ' '(lengths|forms|lockstep|flips|controls)' ' ]]; then
    DESTDIR=$PWD/target/proof/c crates/fastgcm-capi/install.sh /usr > target/proof/c.log 2>&1 || { cat target/proof/c.log; exit 1; }
    lib=$PWD/target/proof/c/usr/lib
    cc -O2 -Wall -I target/proof/c/usr/include "$victim/victim.c" -o "$built/libfastgcm" -L "$lib" -lfastgcm -Wl,-rpath,"$lib" -Wl,-z,now
    [ -e /usr/include/openssl/core_dispatch.h ] || .ci/need - libssl-dev
    cargo rustc --release -p fastgcm-openssl --crate-type cdylib
    cp target/release/libfastgcm_openssl.so "$built/fastgcm.so"
    cc -O2 -Wall -rdynamic "$victim/provider.c" -o "$built/provider" -Wl,-z,now
    programs+=("$built/libfastgcm" "$built/provider=$built/fastgcm.so")
fi
exec "$built/fastgcm-prove" "${programs[@]}" "$@"
