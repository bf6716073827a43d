#!/bin/sh
# Puts libsodium of Debian's unstable, a static library, into FOLDER, and says in `version` which that is: make.sh FOLDER
set -eu
rivals=$(dirname "$(dirname "$(realpath "$0")")")
mkdir -p "$1"
cd "$1"
"$rivals/debian.sh" unstable download libsodium-dev
dpkg-deb --extract libsodium-dev_*.deb .
mv usr/lib/*/libsodium.a .
# Last, for whoever looks whether it is there: all of it.
echo "Debian's $(dpkg-deb --field libsodium-dev_*.deb Version)" >version
