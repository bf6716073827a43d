#!/usr/bin/env bash
# reproduce.sh FOLDER builds the program `fastgcm` and the C library reproducibly, bit for bit, from one commit, with one version of Rust, on
# one release of a system. Prints each file's SHA-256. No environment variable changes a bit.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."
cargo=${CARGO_HOME:-$HOME/.cargo} rustup=${RUSTUP_HOME:-$HOME/.rustup}
cargo fetch --locked --quiet
# Messages of panics contain paths of files, so their folders are replaced by fixed names.
names=$(printf -- '--remap-path-prefix=%s=/source\x1f' "$PWD" "$cargo"/registry/src/*)
pure() {
    env -i PATH="$PATH" HOME="$HOME" CARGO_HOME="$cargo" RUSTUP_HOME="$rustup" CARGO_NET_OFFLINE=true \
        CARGO_TARGET_DIR="$folder/target" CARGO_ENCODED_RUSTFLAGS="${names%?}" "$@"
}
pure cargo build --release --locked --package fastgcm-cli
pure DESTDIR="$folder" crates/fastgcm-capi/install.sh /usr
install -D "$folder/target/release/fastgcm" "$folder/usr/bin/fastgcm"
cd "$folder"
find usr -type f -exec sha256sum {} + | sort -k 2
