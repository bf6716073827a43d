#!/usr/bin/env bash
# fastgcm's two rows of AArch64, under qemu (tools/prove/aarch64.md): the calls of the quick plan and every length are proved, each instruction that these meet is
# held against qemu, and planted faults are refuted at exactly their lengths. It wants Debian's packages, and root if they are missing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
.ci/need qemu-aarch64 qemu-user
.ci/need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
export CC=aarch64-linux-gnu-gcc
made=target/prove/fastgcm-aarch64
mkdir -p "$made"
tools/prove/targets/get.sh fastgcm "$made"
cargo build --quiet --release --manifest-path tools/Cargo.toml --target-dir target -p gcm-prove
prove() { target/release/gcm-prove tools/prove/targets/fastgcm.c -I"$made/include" "$made/libfastgcm.a" "$@"; }
prove
prove --lengths --key 128,192,256 --right # a refused text is zeroed in a loop
prove --forms
prove --plant | tee "$made/planted.txt"
# In a tail and in a turn of each row: what could not be planted is missing here.
[ "$(grep -c '| exact |$' "$made/planted.txt")" = 4 ]
