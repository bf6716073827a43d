#!/usr/bin/env bash
# What docs/migrating.md has for a dependency of somebody else's: three of these, which want the newest `aes-gcm` 0.10, have ours; and so has one whose lock
# file has an older version. And each of our versions has the number of that which it is tested beside.
set -euo pipefail
cd "$(dirname "$0")/../../.."
for manifest in crates/aes-gcm-0{10,11}/Cargo.toml; do
    ours=$(sed -n 's/^version = "\([^"]*\)".*/\1/p' "$manifest")
    grep -q "^aes-gcm = { version = \"=$ours\"" "$manifest" || { echo "$manifest: version $ours is tested beside another" >&2; exit 1; }
done
recipe=$(sed -n '/^```sh$/,/^```$/p' docs/migrating.md | sed '1d;/^```/,$d')
advice=$(grep -o '`cargo update -p [^`]*`' docs/migrating.md | head -1 | tr -d '`')
root=$PWD

# A program beside this repository, which is `fastgcm` there, with these dependencies. (`cargo new` would make it a member of our workspace.)
program() {
    cd "$root" && rm -rf target/readme && mkdir -p target/readme/program/src && ln -s ../.. target/readme/fastgcm && cd target/readme/program
    echo 'fn main() {}' > src/main.rs
    printf '[package]\nname = "program"\nedition = "2024"\n[workspace]\n[dependencies]\n' > Cargo.toml
    printf '%s\n' "$@" >> Cargo.toml
}

# Whose `aes-gcm` it is that the first line of that tree has.
is_ours() { head -1 <<< "$1" | grep -q '/program/aes-gcm)$'; }
fail() { printf '%s\n' "$@" >&2; exit 1; }

program 'pgp = "=0.21.0"' 'webrtc-dtls = "=0.12.0"' 'iceberg = "=0.10.1"'
before=$(cargo tree -i aes-gcm) # the lock file then has theirs
after=$(bash -euo pipefail -c "$recipe")
echo "$after"
if is_ours "$before" || ! is_ours "$after"; then fail 'Cargo takes RustCrypto'"'"'s:' "$after"; fi
for name in pgp webrtc-dtls iceberg; do grep -q "$name v" <<< "$after" || fail "$name does not use it:" "$after"; done

# With a lock file that has an earlier version Cargo does not use the patch, until it is told what the page says.
program 'aes-gcm = "0.10"'
cargo update --quiet -p aes-gcm --precise 0.10.2
before=$(bash -euo pipefail -c "$recipe")
after=$($advice; cargo tree -i aes-gcm)
if is_ours "$before" || ! is_ours "$after"; then fail 'with an old lock file:' "$before" "$after"; fi
echo 'patched ok 2'
