#!/usr/bin/env bash
# arrow-rs (crate `parquet`) with our patches, and pyarrow at the other end: arrow-rs.sh PYTHON FILES. The files are those of `make_files.py`, and PYTHON has
# pyarrow.
set -euo pipefail
here=$(realpath "$(dirname "$0")") python=$1 files=$2
cd "$here/../../.."
.ci/foreign parquet 60.1.0 parquet <<< "[dependencies.fastgcm-parquet]
path = \"$PWD/crates/fastgcm-parquet\""
for name in gcm ctr; do patch -p1 --silent --directory target/others/parquet --input "$here/$name.patch"; done
rm -rf target/others/program && mkdir -p target/others/program/src target/others/program/written && cd target/others/program
cp "$here/program.rs" src/main.rs
cat > Cargo.toml << 'END'
[package]
name = "program"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
arrow-array = "60.1.0"
parquet = { path = "../parquet", default-features = false, features = ["arrow", "encryption"] }

[profile.dev]
debug = false
END
# There is code over ring that nothing calls any more.
RUSTFLAGS=--cap-lints=allow cargo run --quiet --target-dir ../target -- "$files" written
"$python" "$here/read.py" written
