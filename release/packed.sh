#!/usr/bin/env bash
# Builds and tests the packed crates outside the workspace, as a user of the registry gets them. No registry has our own crates yet, so Cargo cannot verify
# them one by one, and a workspace of the packed crates replaces this. (The checks `python_wheels` and `node_packages` have the sources of those packages;
# no registry of crates has Java's.)
set -euo pipefail
cd "$(dirname "$0")/.."
name_of() { sed -n '/^name = /{s/^name = "\([^"]*\)".*/\1/p;q}' "$1"; }

packed=$PWD/target/packed apart=$PWD/target/packed-apart count=0
rm -rf "$packed" && mkdir -p "$packed/crates"
members=$(grep -l 'version.workspace' crates/*/Cargo.toml | grep -v 'java\|node\|python' | xargs -n 1 dirname | xargs -n 1 basename)
ours=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
cargo package $(printf -- '-p %s ' $members) --no-verify --allow-dirty
{
    printf '%s\n' '[workspace]' 'resolver = "3"' 'members = ["crates/*-*"]' '[profile.test]' 'opt-level = 2' 'lto = "off"' 'debug = false' '[patch.crates-io]'
    for name in $members; do
        tar -xzf "target/package/$name-$ours.crate" -C "$packed/crates"
        echo "$name = { path = \"crates/$name-$ours\" }"
    done
} > "$packed/Cargo.toml"
cp Cargo.lock "$packed"
# Where tests of a crate look for support of the library's tests.
for folder in "$packed" "$apart"; do
    mkdir -p "$folder/crates/fastgcm"
    ln -sfn "$packed/crates/fastgcm-$ours/tests" "$folder/crates/fastgcm/tests"
done
# In the full run the check `tests` runs all traces of addresses.
(cd "$packed" && env -u FASTGCM_FULL cargo test --quiet --workspace --test '*' \
    --features fastgcm/aead06,fastgcm/getrandom,fastgcm/hazmat,fastgcm-file/tokio)
echo "package ok $(wc -w <<< "$members")"
# Each standalone crate is tested by itself with the packed library. Its package contains its tests, and no lock file, which would have to name a
# `fastgcm` of the registry.
for manifest in $(grep -L 'version.workspace' crates/*/Cargo.toml | grep -v 'java\|node\|python'); do
    grep -q '^\[package.metadata.docs.rs\]' "$manifest"
    name=$(name_of "$manifest") count=$((count + 1))
    crate=$name-$(sed -n '/^version = /{s/^version = "\([^"]*\)".*/\1/p;q}' "$manifest") copy=$apart/crates/$crate lock=${manifest%.toml}.lock
    (cd "${manifest%/*}" && cargo package --no-verify --allow-dirty --exclude-lockfile --target-dir "$apart")
    rm -rf "$copy" && mkdir -p "$copy"
    tar -xzf "$apart/package/$crate.crate" --strip-components=1 -C "$copy"
    printf '\n[workspace]\n[patch.crates-io]\nfastgcm = { path = "%s" }\n' "$packed/crates/fastgcm-$ours" >> "$copy/Cargo.toml"
    if [ -e "$lock" ]; then cp "$lock" "$copy"; else cp Cargo.lock "$copy"; fi
    (cd "$copy" && cargo test --quiet --all-features --target-dir ../../target)
done
echo "package::apart ok $count"
