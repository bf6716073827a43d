#!/bin/sh
# Puts the source of wolfSSL of Debian's unstable into FOLDER, and says in `version` which that is: make.sh FOLDER
set -eu
rivals=$(dirname "$(dirname "$(realpath "$0")")")
mkdir -p "$1"
cd "$1"
"$rivals/debian.sh" unstable source --download-only --tar-only wolfssl
tar --extract --file wolfssl_*.orig.tar.gz --strip-components 1 --wildcards '*/wolfssl/*.h' '*/wolfcrypt/src/*'
version=$(echo wolfssl_*.orig.tar.gz)
version=${version#*_}
# Last, for whoever looks whether it is there: all of it.
echo "${version%.orig*}" >version
