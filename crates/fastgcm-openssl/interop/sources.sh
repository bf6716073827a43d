#!/bin/bash
# Fetches the sources of OpenSSL and libsrtp, of Debian's source packages, to the folder that is named, and builds OpenSSL's program `evp_test`, and
# libsrtp with its tests.
set -euo pipefail
mkdir -p "$1/lists/partial" && cd "$1"
sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > src.sources
options=(-o "Dir::Etc::sourcelist=$PWD/src.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
apt-get "${options[@]}" -qq update
# The upstream archive alone is needed: what Debian adds is sometimes not there for a day.
apt-get "${options[@]}" -qq source --download-only --tar-only openssl libsrtp2 || ls {openssl,libsrtp2}_*.orig.tar.gz
for package in openssl libsrtp2; do
    [[ -d $package ]] && continue
    rm -rf new && mkdir new
    tar -xf "$(ls -t ${package}_*.orig.tar.gz | head -1)" -C new --strip-components 1
    if [[ $package == openssl ]]; then
        (cd new && perl Configure no-shared > configured && make --silent -j "$(nproc)" build_generated && make --silent -j "$(nproc)" test/evp_test)
    else
        (cd new && ./configure --quiet --enable-openssl && make --silent -j "$(nproc)" all test)
    fi
    mv new "$package"
done
