#!/bin/bash
# Builds OpenSSL's own program `evp_test` and libsrtp with its tests, of the sources that evp_files.sh has fetched to the folder that is named.
set -euo pipefail
cd "$1"
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
