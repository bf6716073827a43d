#!/bin/sh
# Puts a library that no registry of Cargo has into FOLDER, and says in its `version` which that is: make.sh RIVAL FOLDER [ARGUMENT]. `version` is written last,
# for whoever looks whether it is there: all of it.
set -eu
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
cd "$2"
# The version in the name of an archive of sources: NAME_VERSION.orig.tar.gz.
version() { echo "$1" | sed 's/^[^_]*_//; s/\.orig.*//'; }
case $1 in
# ipsec-mb 2 of Debian's testing, with its header: Debian's own build of the library; or, with the argument `bare`, the source of it, or the checkout that
# IPSEC_MB_SOURCE names, built without the SAFE_* options. That needs nasm, make, a C compiler and 7 minutes of one core.
ipsec-mb*)
    suite=${IPSEC_MB_SUITE-testing}
    if [ -z "${3-}" ]; then
        "$here/debian.sh" "$suite" download libipsec-mb-dev
        dpkg-deb --extract libipsec-mb-dev_*.deb .
        mv usr/include usr/lib/*/libIPSec_MB.a .
        echo "Debian's $(dpkg-deb --field libipsec-mb-dev_*.deb Version)" >version
    else
        if [ -n "${IPSEC_MB_SOURCE-}" ]; then
            git clone --quiet "$IPSEC_MB_SOURCE" source
            from="commit $(git -C source log -1 --format='%h of %cs')"
        else
            "$here/debian.sh" "$suite" source --download-only --tar-only intel-ipsec-mb
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
        "$here/debian.sh" unstable source --download-only --tar-only "$name"
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
    "$here/debian.sh" unstable download libsodium-dev
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
    "$here/debian.sh" unstable source --download-only --tar-only wolfssl
    tar --extract --file wolfssl_*.orig.tar.gz --strip-components 1 --wildcards '*/wolfssl/*.h' '*/wolfcrypt/src/*'
    version wolfssl_*.orig.tar.gz >version
    ;;
*)
    echo "make.sh fetches no $1" >&2
    exit 1
    ;;
esac
