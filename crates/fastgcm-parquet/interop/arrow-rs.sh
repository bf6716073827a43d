#!/usr/bin/env bash
# arrow-rs (crate `parquet`, the newest version and the one that iceberg-rust has) with our patches, and pyarrow at the other end: arrow-rs.sh PYTHON FILES.
# The files are those of `make_files.py`, and PYTHON has pyarrow.
set -euo pipefail
here=$(realpath "$(dirname "$0")") python=$1 files=$2
cd "$here/../../.."
root=$PWD
for version in 58.3.0 60.1.0; do
    cd "$root"
    .ci/foreign parquet "$version" parquet <<< "[dependencies.fastgcm-parquet]
path = \"$root/crates/fastgcm-parquet\""
    mkdir -p target/others/patches && cp "$here"/*.patch target/others/patches && cd target/others/parquet
    # What docs/data.md has for version 58.
    if [[ $version = 58.* ]]; then bash -euc "cd ../patches; $(grep -o '^sed .* ctr.patch' "$root/docs/data.md")"; fi
    for name in gcm ctr; do patch -p1 --silent --input "../patches/$name.patch"; done
    rm -rf ../program && mkdir -p ../program/src ../program/written && cd ../program
    cp "$here/program.rs" src/main.rs
    cat > Cargo.toml << END
[package]
name = "program"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
arrow-array = "$version"
parquet = { path = "../parquet", default-features = false, features = ["arrow", "encryption"] }

[profile.dev]
debug = false
END
    # There is code over ring that nothing calls any more.
    {
        RUSTFLAGS=--cap-lints=allow cargo run --quiet --target-dir ../target -- "$files" written
        "$python" "$here/read.py" written
    } | sed "s/^arrow_rs::/&${version%%.*}_/"
done
