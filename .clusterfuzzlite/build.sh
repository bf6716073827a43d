#!/usr/bin/env bash
# Builds every target of lab/fuzz, with its corpus, to $OUT. ClusterFuzzLite runs it in the image of the Dockerfile beside it; it runs
# anywhere that has cargo-fuzz, zip, and a compiler that takes a nightly's flags (RUSTC_BOOTSTRAP=1 makes a stable one do so):
#     SRC=/tmp OUT=/tmp/out RUSTC_BOOTSTRAP=1 .clusterfuzzlite/build.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ -d ../lab ] || cd "$SRC/fastgcm/.clusterfuzzlite" # where it was copied out of its folder
cd ..
tar -xzf lab/fuzz/corpus.tar.gz -C lab/fuzz
mkdir -p "$OUT"
# Targets of cargo-fuzz are optimised, as what they fuzz is in a release.
cargo fuzz build --fuzz-dir lab/fuzz --release
host=$(rustc --version --verbose | sed -n 's/^host: //p')
for source in lab/fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "${CARGO_TARGET_DIR:-lab/fuzz/target}/$host/release/$target" "$OUT/"
    (cd "lab/fuzz/corpus/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
