#!/bin/sh
# Puts ipsec-mb 2 of Debian's testing into FOLDER, with its header, and says in `version` which that is: make.sh FOLDER [bare]
# Debian's own build of the library; or, with `bare`, the source of it, built without the SAFE_* options: that needs nasm, make, a C compiler
# and 7 minutes of one core.
set -eu
rivals=$(dirname "$(dirname "$(realpath "$0")")")
mkdir -p "$1"
cd "$1"
suite=${IPSEC_MB_SUITE-testing}
if [ -z "${2-}" ]; then
    "$rivals/debian.sh" "$suite" download libipsec-mb-dev
    dpkg-deb --extract libipsec-mb-dev_*.deb .
    mv usr/include usr/lib/*/libIPSec_MB.a .
    echo "Debian's $(dpkg-deb --field libipsec-mb-dev_*.deb Version)" >version
else
    "$rivals/debian.sh" "$suite" source --download-only --tar-only intel-ipsec-mb
    mkdir -p source
    tar --extract --file intel-ipsec-mb_*.orig.tar.* --directory source --strip-components 1
    if [ -e source/lib/Makefile ]; then
        make -C source/lib -j"$(nproc)" SHARED=n SAFE_DATA=n SAFE_PARAM=n SAFE_LOOKUP=n
    else
        cmake -S source -B source/build -DBUILD_SHARED_LIBS=OFF -DSAFE_DATA=OFF -DSAFE_PARAM=OFF -DSAFE_LOOKUP=OFF
        cmake --build source/build --target IPSec_MB --parallel
    fi
    mkdir -p include
    find source -name intel-ipsec-mb.h -exec cp {} include \;
    find source -name libIPSec_MB.a -exec mv {} . \;
    version=$(echo intel-ipsec-mb_*.orig.tar.*)
    version=${version#*_}
    # Last, for whoever looks whether it is there: all of it, and which version.
    echo "${version%.orig*} without SAFE_DATA, SAFE_PARAM, SAFE_LOOKUP" >version
fi
