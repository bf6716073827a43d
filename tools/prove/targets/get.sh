#!/bin/sh
# Puts a library into FOLDER: get.sh LIBRARY FOLDER. `version`, which is written last, says which that is. Sources come from Cargo's registry, as the lock file has
# them, or by tools/aead/libraries/make.sh; what is built needs a C compiler, make, cmake, perl and, for ipsec-mb's source, nasm.
set -eu
here=$(dirname "$(realpath "$0")")
root=$here/../../..
mkdir -p "$2"
folder=$(realpath "$2")
[ "$1" = fastgcm ] || [ ! -e "$folder/version" ] || exit 0
jobs=$(nproc)
machine=$("${CC-cc}" -dumpmachine)

# The sources of a crate, copied, and its version.
crate() {
    cargo metadata --format-version 1 --locked --all-features --manifest-path "$root/Cargo.toml" | python3 -c '
import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == sys.argv[1] and package["version"].startswith(sys.argv[2]):
        print(package["version"], os.path.dirname(package["manifest_path"]))' "$@" >"$folder/found"
    read -r version source <"$folder/found"
    rm -rf "$folder/source"
    cp -r "$source" "$folder/source"
}

case $1 in
# The source of BoringSSL in its crate; its library alone.
boringssl)
    crate boring-sys ''
    cmake -S "$folder/source/deps/boringssl" -B "$folder/built" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
    cmake --build "$folder/built" --target crypto --parallel "$jobs"
    mv "$folder/built/libcrypto.a" "$folder"
    mv "$folder/source/deps/boringssl/include" "$folder"
    version="boring-sys $version"
    ;;
aws-lc)
    crate aws-lc-sys ''
    case $machine in
    "$(uname -m)"-*) set -- ;;
    *) set -- -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${machine%%-*}" ;;
    esac
    cmake "$@" -S "$folder/source/aws-lc" -B "$folder/built" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DBUILD_LIBSSL=OFF -DBUILD_TOOL=OFF \
        -DDISABLE_GO=ON -DDISABLE_PERL=ON
    cmake --build "$folder/built" --target crypto --parallel "$jobs"
    mv "$folder/built/crypto/libcrypto.a" "$folder"
    mv "$folder/source/aws-lc/include" "$folder"
    version="aws-lc-sys $version"
    ;;
openssl-4) exec "$root/tools/aead/libraries/make.sh" openssl-4.0 "$folder" ;;
# What Debian has for this machine.
openssl-3 | libgcrypt | mbedtls | botan)
    case $1 in openssl-3) set -- "$@" libssl-dev ;; mbedtls) set -- "$@" libmbedtls-dev ;; botan) set -- "$@" libbotan-2-dev ;; *) set -- "$@" libgcrypt20-dev libgpg-error-dev ;; esac
    cd "$folder"
    version=
    shift 2
    for package; do
        apt-get -q -o APT::Sandbox::User=root download "$package" >&2
        dpkg-deb --extract "$package"_*.deb .
        version="$version $package $(dpkg-deb --field "$package"_*.deb Version)"
    done
    mv usr/include usr/lib/*/*.a .
    version="Debian's$version"
    ;;
ring | rustcrypto | graviola)
    CARGO_PROFILE_RELEASE_LTO=off cargo rustc --release --locked --manifest-path "$here/rust/Cargo.toml" --target-dir "$folder/built" --features "$1" --crate-type staticlib
    mv "$folder"/built/release/libprove_rust.a "$folder/"
    case $1 in ring) crate ring 0.17 ;; rustcrypto) crate aes-gcm 0.11 ;; *) crate graviola 0.4 ;; esac
    version="$1 $version"
    ;;
# Ours, as it is now.
fastgcm)
    triple=$(echo "$machine" | sed 's/-linux/-unknown-linux/')
    [ -e "$(rustc --print sysroot)/lib/rustlib/$triple" ] || rustup target add "$triple"
    (cd "$root" && cargo rustc --release --locked -p fastgcm-capi --crate-type staticlib --target "$triple")
    mkdir -p "$folder/include"
    cp "$root/crates/fastgcm-capi/include/fastgcm.h" "$folder/include/"
    cp "$root/target/$triple/release/libfastgcm_capi.a" "$folder/libfastgcm.a"
    version="this repository's"
    ;;
# Old versions, which the lock file has not, with their names of the functions that are called.
rustcrypto-0.10.*)
    version="aes-gcm ${1#rustcrypto-}"
    mkdir -p "$folder/source/src"
    sed 's/AeadInOut/AeadInPlace/; s/crypt_inout_detached/crypt_in_place_detached/; s/text.into()/text/; s/(&\*tag).try_into().ok()?/(\&*tag).into()/' \
        "$here/rust/src/lib.rs" >"$folder/source/src/lib.rs"
    printf '[package]\nname = "prove-rust"\nedition = "2024"\n[features]\nrustcrypto = []\n[dependencies]\naes-gcm = "=%s"\n[workspace]\n' "${1#rustcrypto-}" >"$folder/source/Cargo.toml"
    cargo rustc --release --manifest-path "$folder/source/Cargo.toml" --target-dir "$folder/built" --features rustcrypto --crate-type staticlib
    mv "$folder"/built/release/libprove_rust.a "$folder/"
    ;;
# The standard library of the newest Go that the module proxy has, or of the one that is here.
go)
    export CGO_ENABLED=0 GOTOOLCHAIN=go1.27.3
    go version >&2 || export GOTOOLCHAIN=local
    go build -C "$here/go" -trimpath -o "$folder/go" .
    version=$(go version)
    ;;
*)
    "$root/tools/aead/libraries/make.sh" "$1" "$folder"
    exit
    ;;
esac
rm -rf "$folder/source" "$folder/built" "$folder/found" "$folder/usr"
echo "$version" >"$folder/version.new"
mv "$folder/version.new" "$folder/version"
