#!/bin/bash
# Builds a later OpenSSL from the sources that this version of the crate `openssl-src` has, as static libraries with its program:
# version.sh VERSION FOLDER. What AES-GCM and TLS do not need is left out. A folder that has it already stays as it is.
set -euo pipefail
version=$1 folder=$(realpath -m "$2")
[[ -e $folder/built ]] && exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src" && touch "$work/src/lib.rs" && cd "$work"
printf '[workspace]\n[package]\nname = "sources"\n[dependencies]\nopenssl-src = "=%s"\n' "$version" > Cargo.toml
manifest=$(cargo metadata --quiet --format-version 1 | grep -oE '"manifest_path":"[^"]*/openssl-src-[^"]*"' | cut -d'"' -f4)
cp -r "${manifest%/*}/openssl" build && cd build
# The crate has not all that shared libraries are made with.
without="shared docs tests quic dtls legacy comp cms cmp ct ts srp ocsp rfc3779 http argon2 bf blake2 camellia cast des idea md4 mdc2 rc2 rc4 rmd160 \
    scrypt seed siphash sm2 sm3 sm4 whirlpool dsa ec2m ml-dsa ml-kem slh-dsa"
# shellcheck disable=SC2046,SC2086
perl Configure --prefix="$folder" --libdir=lib $(printf 'no-%s ' $without) > configured
make --silent -j "$(nproc)" build_sw
make --silent install_sw > installed
# The crate has no configuration that `install_ssldirs` could install; programs want one, and an empty one does.
mkdir -p "$folder/ssl" && touch "$folder/ssl/openssl.cnf" "$folder/built"
