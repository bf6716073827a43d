#!/bin/sh
# Builds libgcrypt of Debian's unstable, and the library of errors that it needs, into FOLDER, and says in `version` which that is:
# make.sh FOLDER. Needs make and a C compiler.
set -eu
rivals=$(dirname "$(dirname "$(realpath "$0")")")
mkdir -p "$1"
cd "$1"
for name in libgpg-error libgcrypt20; do
    rm -rf "${name}"_* "source-$name"
    "$rivals/debian.sh" unstable source --download-only --tar-only "$name"
    mkdir "source-$name"
    tar --extract --file "${name}"_*.orig.tar.bz2 --directory "source-$name" --strip-components 1
    (
        cd "source-$name"
        ./configure --quiet --prefix="$OLDPWD" --with-libgpg-error-prefix="$OLDPWD" --enable-static --disable-shared --with-pic --disable-doc \
            --enable-install-gpg-error-config
        make --silent -j"$(nproc)" install
    )
done
version=$(echo libgcrypt20_*.orig.tar.bz2)
version=${version#*_}
# Last, for whoever looks whether it is there: all of it.
echo "${version%.orig*}" >version
