#!/bin/bash
# Measures what a library for AES-GCM adds to a program (size, build time), and its speed in a debug build. Prints the table of docs/migrating.md. Needs the
# registry, and a C compiler and CMake for aws-lc-rs.
# price.sh [TITLE] measures the rows whose titles contain TITLE and missing rows. All other rows stay as that page has them.
set -euo pipefail
cd "$(dirname "$0")"
root=$(realpath ../../..) only=${1:-}
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
mkdir -p target

# program NAME DEPENDENCY CODE makes a package. CODE is a function of key, nonce and text that seals and opens.
program() {
    local at=target/$1
    mkdir -p "$at/src"
    cat > "$at/Cargo.toml" <<END
[package]
name = "price"
edition = "2024"
[dependencies]
$2
[profile.release]
lto = true
codegen-units = 1
strip = true
[workspace]
END
    cat > "$at/src/main.rs" <<END
$3
fn main() {
    let n = std::env::args().count();
    let (key, nonce, mut text) = ([n as u8; 16], [n as u8; 12], vec![n as u8; if n > 1 { 64 << 20 } else { 64 }]);
    println!("{}", message(&key, &nonce, &mut text));
}
END
    (cd "$at" && cargo fetch --quiet)
}

# These print the bytes of code and constants, and the user time in seconds of a build, and of sealing and opening 64 MiB in a debug build.
text() { size "target/$1/target/release/price" | awk 'NR == 2 { print $1 }'; }
built() {
    rm -rf "target/$1/target"
    TIMEFORMAT=%U
    seconds=$({ time (cd "target/$1" && cargo build --quiet --release 2>&1); } 2>&1 | tail -1)
}
debug() {
    TIMEFORMAT=%1U
    (cd "target/$1" && cargo build --quiet 2>/dev/null && time target/debug/price large > /dev/null) 2>&1
}

# row TITLE NAME [FLAGS] prints a program's cost relative to a program without a library.
row() {
    if [[ $1 != *"$only"* ]] && grep -F "| $1 |" "$root/docs/migrating.md"; then return; fi
    if [ -n "${3:-}" ]; then export RUSTFLAGS=$3; else unset RUSTFLAGS; fi
    built "$2"
    printf '| %s | %d | %.0f | %s |\n' "$1" $((($(text "$2") - empty) / 1000)) "$(awk "BEGIN { print $seconds - $nothing }")" "$(debug "$2")"
}

ours='fn message(key: &[u8; 16], nonce: &[u8; 12], text: &mut [u8]) -> bool {
    let key = fastgcm::Key::aes128(key);
    let tag = key.seal(nonce, b"header", text).unwrap();
    key.open(nonce, b"header", text, &tag).is_ok()
}'
rustcrypto='use aes_gcm::{AeadInPlace, Aes128Gcm, KeyInit};
fn message(key: &[u8; 16], nonce: &[u8; 12], text: &mut [u8]) -> bool {
    let key = Aes128Gcm::new(key.into());
    let tag = key.encrypt_in_place_detached(nonce.into(), b"header", text).unwrap();
    key.decrypt_in_place_detached(nonce.into(), b"header", text, &tag).is_ok()
}'
ring='fn message(key: &[u8; 16], nonce: &[u8; 12], text: &mut [u8]) -> bool {
    let key = LIB::aead::LessSafeKey::new(LIB::aead::UnboundKey::new(&LIB::aead::AES_128_GCM, key).unwrap());
    let nonce = || LIB::aead::Nonce::assume_unique_for_key(*nonce);
    let tag = key.seal_in_place_separate_tag(nonce(), LIB::aead::Aad::from(b"header"), text).unwrap();
    let mut all = [text, tag.as_ref()].concat();
    key.open_in_place(nonce(), LIB::aead::Aad::from(b"header"), &mut all).is_ok()
}'
program none '' 'fn message(_: &[u8; 16], _: &[u8; 12], text: &mut [u8]) -> bool { text.len() > 1 }'
built none
empty=$(text none) nothing=$seconds
program fastgcm "fastgcm = { path = \"$root/crates/fastgcm\" }" "$ours"
program aes-gcm 'aes-gcm = "=0.10.3"' "$rustcrypto"
program ring 'ring = "=0.17.14"' "${ring//LIB/ring}"
program aws-lc-rs 'aws-lc-rs = "1"' "${ring//LIB/aws_lc_rs}"

echo '| a program with | grows by, KB | takes longer to build, s | 64 MiB sealed and opened in a debug build, s |'
echo '|---|--:|--:|--:|'
without() { for what in "$@"; do printf -- '--cfg fastgcm_without_%s ' "$what"; done; }
row 'fastgcm' fastgcm
row 'fastgcm, `--cfg fastgcm_without_avx512`' fastgcm "$(without avx512)"
row 'fastgcm, and `--cfg fastgcm_without_avx2`' fastgcm "$(without avx512 avx2)"
row 'fastgcm, and `--cfg fastgcm_without_avx`' fastgcm "$(without avx512 avx2 avx)"
row 'fastgcm, and `--cfg fastgcm_without_sse`' fastgcm "$(without avx512 avx2 avx sse)"
row 'fastgcm, and `--cfg fastgcm_without_ssse3`: `portable` alone' fastgcm "$(without avx512 avx2 avx sse ssse3)"
row 'aes-gcm 0.10.3' aes-gcm
row 'ring 0.17.14' ring
row "aws-lc-rs $(sed -n '/^name = "aws-lc-rs"/{n;s/version = "\(.*\)"/\1/p}' target/aws-lc-rs/Cargo.lock)" aws-lc-rs
