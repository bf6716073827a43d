#!/usr/bin/env bash
# fastgcm's two rows of AArch64, under qemu (tools/prove/aarch64.md): the calls of the quick plan and every length are proved, each instruction that these meet is
# held against qemu, and planted faults are refuted at exactly their lengths. It wants Debian's packages, and root if they are missing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
.ci/need qemu-aarch64 qemu-user
.ci/need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
export CC=aarch64-linux-gnu-gcc
triple=aarch64-unknown-linux-gnu
[ -e "$(rustc --print sysroot)/lib/rustlib/$triple" ] || rustup target add $triple
cargo rustc --release --locked -p fastgcm-capi --crate-type staticlib --target $triple
cargo build --quiet --release --manifest-path tools/Cargo.toml --target-dir target -p gcm-prove
prove() { target/release/gcm-prove tools/prove/targets/fastgcm.c -Icrates/fastgcm-capi/include target/$triple/release/libfastgcm_capi.a "$@"; }
prove
prove --lengths --key 128,192,256 --right # a refused text is zeroed in a loop
prove --forms
mkdir -p target/prove
prove --plant | tee target/prove/planted.txt
# In a tail and in a turn of each row: what could not be planted is missing here.
[ "$(grep -c '| exact |$' target/prove/planted.txt)" = 4 ]
