#!/bin/sh
# Builds ipsec-mb into FOLDER without its SAFE_* options, from Debian's source package: bare.sh FOLDER
# The source comes from where this machine's own packages come from. apt reads lines made for this and keeps its lists in FOLDER, so that no
# setting of the machine changes. Needs dpkg-dev, nasm, make and a C compiler.
set -eu
mkdir -p "$1/sources" "$1/lists/partial"
cd "$1"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $file in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"sources/${file##*/}" ;;
    *.list) [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"sources/${file##*/}" ;;
    esac
done
set -- -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/sources" -o Dir::State::Lists="$PWD/lists"
apt-get "$@" update || true # a source of no use here may be missing
rm -rf source ./*.dsc
apt-get "$@" source --download-only intel-ipsec-mb
dpkg-source --extract ./*.dsc source
make -C source/lib -j"$(nproc)" SHARED=n SAFE_DATA=n SAFE_PARAM=n SAFE_LOOKUP=n
# Last, for whoever looks whether it is there: all of it, and which version.
dpkg-parsechangelog -l source/debian/changelog -S Version >version
