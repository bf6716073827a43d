#!/usr/bin/env bash
# `fastgcm-aes-gcm` in place of RustCrypto's `aes-gcm`, both of its versions: that crate's own tests and the examples on its front page, and other people's
# crates with their tests: dependents.sh [NAME...]. The large ones take many minutes to compile, and so must be named.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD here=$PWD/crates/aes-gcm-011/interop names=("$@")
wanted() { if [ ${#names[@]} = 0 ]; then [ "$1" = small ]; else [[ " ${names[*]} " = *" $2 "* ]]; fi; }
workspace=$'\n[workspace]\n[profile.dev]\ndebug = false\n'

# Ours under the name and the number of theirs: what is patched must have both.
for version in 0.10.3 0.11.1; do
    ours=crates/aes-gcm-0$(cut -d. -f2 <<< "$version") copy=target/others/aes-gcm-$version
    rm -rf "$copy" && mkdir -p "$copy" && cp -rL "$ours/README.md" "$ours/src" "$copy"
    sed -e 's/^name = "fastgcm-aes-gcm"/name = "aes-gcm"/' -e "s/^version = .*/version = \"$version\"/" -e '/^\[dev-dependencies\]/,/^$/d' \
        -e "s|path = \"../fastgcm\"|path = \"$root/crates/fastgcm\"|" "$ours/Cargo.toml" > "$copy/Cargo.toml"
    if wanted small aes-gcm; then
        # Its folder `tests` as it is, and of `src/lib.rs` the part that is documentation.
        theirs=tests-of-$version
        .ci/foreign aes-gcm "$version" "$theirs" < /dev/null
        grep -q '^pub use aead::' "target/others/$theirs/src/lib.rs"
        sed -i '/^pub use aead::/,$d' "target/others/$theirs/src/lib.rs"
        # As a package that depends on it like any other.
        case $version in
            0.10.3) features='"aes", "alloc", "getrandom", "heapless", "std", "stream"' aead=0.5 of_aead='"dev"' aes=0.8 hex=0.3 ;;
            *) features='"aes", "alloc", "arrayvec", "getrandom"' aead=0.6 of_aead='"alloc", "dev"' aes=0.9 hex=1 ;;
        esac
        {
            printf '[package]\nname = "tests-of-aes-gcm"\nversion = "0.0.0"\nedition = "2021"\n[features]\ndefault = [%s]\n' "$features"
            tr -d '", ' <<< "${features//, /$'\n'}" | sed 's/$/ = []/'
            printf '[dev-dependencies]\naes-gcm = { version = "=%s", features = [%s] }\n' "$version" "$features"
            printf 'aead = { version = "%s", features = [%s], default-features = false }\naes = "%s"\nhex-literal = "%s"\n' "$aead" "$of_aead" "$aes" "$hex"
            printf '[lints.rust]\nunexpected_cfgs = "allow"\n[patch.crates-io]\naes-gcm = { path = "../aes-gcm-%s" }\n%s' "$version" "$workspace"
        } > "target/others/$theirs/Cargo.toml"
        .ci/foreign --test "$theirs"
    fi
done

# Name and version of a crate, which `aes-gcm` it uses, and what `cargo test` is told.
while read -r size name version uses arguments; do
    wanted "$size" "$name" || continue
    .ci/foreign "$name" "$version" "$name" <<< "[patch.crates-io]
aes-gcm = { path = \"../aes-gcm-$uses\" }
$workspace"
    if [ "$name" = dexios-core ]; then
        # It is packed without tests; and with the newest `blake3` it does not compile, whoever's `aes-gcm` it has.
        (cd target/others/dexios-core && mkdir tests && cp "$here/stream.rs" tests && cargo update blake3 --precise 1.5.0)
    fi
    # shellcheck disable=SC2086
    .ci/foreign --test "$name" $arguments < /dev/null
done << 'END'
small cookie 0.18.2 0.10.3 --features private --lib
small cocoon 0.5.0 0.10.3 --lib -- --skip io_error
small dexios-core 1.2.0 0.10.3 --test stream
small ece-native 0.5.0 0.10.3 --lib
small webrtc-srtp 0.17.2 0.10.3 --lib
small snow 0.10.0 0.10.3 --features vector-tests --tests
small ssh-key 0.6.7 0.10.3 --features encryption --test encrypted_private_key
small ecies 0.2.14 0.11.1 --no-default-features --features pure,secp256k1,x25519 --lib
small mls-rs-crypto-rustcrypto 0.23.0 0.11.1 --lib -- --skip mls_core_tests
small hpke 0.15.1 0.11.1 --no-default-features --features aes,alloc,getrandom,x25519 --lib
small ssh-cipher 0.3.0 0.11.1 --features aes --tests
large turso_core 0.8.3 0.10.3 --lib encryption
large iceberg 0.10.1 0.10.3 --lib encryption
END
