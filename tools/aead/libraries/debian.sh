#!/bin/sh
# apt-get with the archive of another SUITE of Debian, its packages and its sources: debian.sh SUITE ARGUMENT...
# apt reads lines made for this, out of those of this machine, and keeps its lists in the folder `apt` of this folder, so that no setting of
# the machine changes. Needs nothing but apt.
set -eu
suite=$1
shift
mkdir -p apt/sources apt/lists/partial
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    copy=apt/sources/${file##*/}
    case $file in
    *.sources) sed "s/^Types:.*/Types: deb deb-src/; s/^Suites:.*/Suites: $suite/" "$file" >"$copy" ;;
    *.list) [ ! -e "$file" ] || sed -En "s/^deb( \[.*\])? ([^ ]+) [^ ]+/deb\1 \2 $suite/p; s/^deb /deb-src /p" "$file" >"$copy" ;;
    esac
done
get() { apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/apt/sources" -o Dir::State::Lists="$PWD/apt/lists" "$@"; }
get update >&2 || true # an archive of other packages has no such suite
get "$@" >&2
