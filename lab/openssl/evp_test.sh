#!/bin/bash
# Builds OpenSSL's own program `evp_test`, of the sources that evp_files.sh has fetched to the folder that is named.
set -euo pipefail
cd "$1"
[[ -x source/test/evp_test ]] && exit
mkdir -p source
tar -xzf "$(ls -t openssl_*.orig.tar.gz | head -1)" -C source --strip-components 1
cd source
perl Configure no-shared > configured
make --silent -j "$(nproc)" build_generated
make --silent -j "$(nproc)" test/evp_test
