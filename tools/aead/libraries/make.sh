#!/bin/sh
# Gets a library, and builds it where nobody else does: make.sh LIBRARY FOLDER [ARGUMENT] fills FOLDER, and says in its file `version` which version that
# is. `version` is written last: where it is, all is there. Sources come from Cargo's registry, as the lock file has them, or from Debian.
set -eu
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
cd "$2"
# Copies the source of a crate to `source`; its version goes to `version.new`. Of a crate with several versions, the one that begins with $2.
crate() {
    cargo metadata --format-version 1 --locked --all-features --manifest-path "$here/Cargo.toml" | python3 -c '
import json, os, shutil, sys
name, version = sys.argv[1:]
package = next(p for p in json.load(sys.stdin)["packages"] if p["name"] == name and p["version"].startswith(version))
shutil.rmtree("source", ignore_errors=True)
shutil.copytree(os.path.dirname(package["manifest_path"]), "source")
print(name, package["version"])' "$1" "${2-}" >version.new
}
# Builds the static libcrypto of a source with CMake: cmake_crypto SOURCE OPTION...
cmake_crypto() {
    source=$1
    shift
    # A compiler for another machine says so.
    machine=$("${CC-cc}" -dumpmachine)
    [ "${machine%%-*}" = "$(uname -m)" ] || set -- "$@" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${machine%%-*}"
    cmake -S "$source" -B built -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF "$@"
    cmake --build built --target crypto --parallel "$(nproc)"
    find built -name libcrypto.a -exec mv {} . \;
    rm -rf include
    mv "$source/include" .
    rm -rf built source
    mv version.new version
}
# The version in the name of an archive of sources: NAME_VERSION.orig.tar.gz.
version() { echo "$1" | sed 's/^[^_]*_//; s/\.orig.*//'; }
case $1 in
# BoringSSL and AWS-LC as their crates have them: these need CMake and a C++ compiler.
boringssl)
    crate boring-sys
    cmake_crypto source/deps/boringssl
    ;;
aws-lc)
    crate aws-lc-sys
    cmake_crypto source/aws-lc -DBUILD_LIBSSL=OFF -DBUILD_TOOL=OFF -DDISABLE_GO=ON -DDISABLE_PERL=ON
    ;;
# OpenSSL's libcrypto as the crate `openssl-src` has it, without algorithms that nobody here asks. That needs Perl and make.
openssl-*)
    crate openssl-src "$(echo "${1#openssl-}" | sed 's/\./00./')" # 3.6 is 300.6
    (
        cd source/openssl
        ./Configure linux-x86_64 no-shared no-tests no-apps no-docs no-module no-legacy no-engine no-async no-ssl no-tls no-dtls no-quic no-cms no-ct no-ts no-ocsp no-cmp \
            no-ml-kem no-ml-dsa no-slh-dsa no-camellia no-aria no-sm2 no-sm3 no-sm4 no-seed no-idea no-bf no-cast no-des no-rc2 no-rc4 no-whirlpool no-blake2 \
            no-scrypt no-argon2 no-rmd160 no-md4 no-siphash no-gost no-srp no-srtp
        make -j"$(nproc)" build_generated
        make -j"$(nproc)" libcrypto.a
    ) >build.log 2>&1
    rm -rf include
    mv source/openssl/libcrypto.a source/openssl/include .
    rm -rf source
    mv version.new version
    ;;
# ipsec-mb 2 of Debian's testing, with its header: Debian's own build of the library; or, with the argument `bare`, the source of it, or the checkout that
# IPSEC_MB_SOURCE names, built without the SAFE_* options. That needs nasm, make, a C compiler and 7 minutes of one core.
ipsec-mb*)
    suite=${IPSEC_MB_SUITE-testing}
    if [ -z "${3-}" ]; then
        sh "$here/debian.sh" "$suite" download libipsec-mb-dev
        dpkg-deb --extract libipsec-mb-dev_*.deb .
        mv usr/include usr/lib/*/libIPSec_MB.a .
        echo "Debian's $(dpkg-deb --field libipsec-mb-dev_*.deb Version)" >version
    else
        if [ -n "${IPSEC_MB_SOURCE-}" ]; then
            git clone --quiet "$IPSEC_MB_SOURCE" source
            from="commit $(git -C source log -1 --format='%h of %cs')"
        else
            sh "$here/debian.sh" "$suite" source --download-only --tar-only intel-ipsec-mb
            mkdir -p source
            tar --extract --file intel-ipsec-mb_*.orig.tar.* --directory source --strip-components 1
            from=$(version intel-ipsec-mb_*.orig.tar.*)
        fi
        if [ -e source/lib/Makefile ]; then
            make -C source/lib -j"$(nproc)" SHARED=n SAFE_DATA=n SAFE_PARAM=n SAFE_LOOKUP=n
        else
            cmake -S source -B source/build -DBUILD_SHARED_LIBS=OFF -DSAFE_DATA=OFF -DSAFE_PARAM=OFF -DSAFE_LOOKUP=OFF
            cmake --build source/build --target IPSec_MB --parallel
        fi
        mkdir -p include
        find source -name intel-ipsec-mb.h -exec cp {} include \;
        find source -name libIPSec_MB.a -exec mv {} . \;
        echo "$from without SAFE_DATA, SAFE_PARAM, SAFE_LOOKUP" >version
    fi
    ;;
# libgcrypt of Debian's unstable, and the library of errors that it needs. They are built, with make and a C compiler.
libgcrypt)
    for name in libgpg-error libgcrypt20; do
        rm -rf "${name}"_* "source-$name"
        sh "$here/debian.sh" unstable source --download-only --tar-only "$name"
        mkdir "source-$name"
        tar --extract --file "${name}"_*.orig.tar.bz2 --directory "source-$name" --strip-components 1
        (
            cd "source-$name"
            ./configure --quiet --prefix="$OLDPWD" --with-libgpg-error-prefix="$OLDPWD" --enable-static --disable-shared --with-pic --disable-doc \
                --enable-install-gpg-error-config
            make --silent -j"$(nproc)" install
        )
    done
    version libgcrypt20_*.orig.tar.bz2 >version
    ;;
# libsodium of Debian's unstable, a static library.
libsodium)
    sh "$here/debian.sh" unstable download libsodium-dev
    dpkg-deb --extract libsodium-dev_*.deb .
    mv usr/lib/*/libsodium.a .
    echo "Debian's $(dpkg-deb --field libsodium-dev_*.deb Version)" >version
    ;;
# The AES-GCM code of Linux 6.12, or of the version that the argument is, from this machine's package of the kernel's source. Needs dpkg, tar and xz, and reads
# 150 MB for a few files.
linux)
    linux=linux-source-${3:-6.12}
    apt-get -q -o APT::Sandbox::User=root download "$linux" >&2
    dpkg-deb --fsys-tarfile "$linux"_*.deb | tar --extract --to-stdout "./usr/src/$linux.tar.xz" |
        tar --extract --xz --strip-components 4 --wildcards '*/arch/x86/crypto/aes*-intel_*' '*/arch/x86/crypto/aes-gcm-*.S' 2>missing ||
        grep -q 'aes-gcm-' missing # older ones have none of that name
    rm missing
    echo "Debian's $(dpkg-deb --field "$linux"_*.deb Version)" >version.new
    rm "$linux"_*.deb
    mv version.new version
    ;;
# The source of wolfSSL of Debian's unstable.
wolfssl)
    sh "$here/debian.sh" unstable source --download-only --tar-only wolfssl
    tar --extract --file wolfssl_*.orig.tar.gz --strip-components 1 --wildcards '*/wolfssl/*.h' '*/wolfcrypt/src/*'
    version wolfssl_*.orig.tar.gz >version
    ;;
*)
    echo "make.sh fetches no $1" >&2
    exit 1
    ;;
esac
