#!/usr/bin/env bash
# Builds every target of lab/fuzz, with its corpus, to $OUT. ClusterFuzzLite runs it in the image of the Dockerfile beside it; it runs
# anywhere that has cargo-fuzz, zip, and a compiler that takes a nightly's flags (RUSTC_BOOTSTRAP=1 makes a stable one do so):
#     SRC=/tmp OUT=/tmp/out RUSTC_BOOTSTRAP=1 .clusterfuzzlite/build.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ -d ../lab ] || cd "$SRC/fastgcm/.clusterfuzzlite" # where it was copied out of its folder
cd ../lab
mkdir -p "$OUT"
# Targets of cargo-fuzz are optimised, as what they fuzz is in a release.
cargo fuzz build --release
host=$(rustc --version --verbose | sed -n 's/^host: //p')
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "${CARGO_TARGET_DIR:-fuzz/target}/$host/release/$target" "$OUT/"
    (cd "fuzz/corpus/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
