#!/bin/bash
# Fetches the sources of OpenSSL and libsrtp, of Debian's source packages, and the data of OpenSSL's own tests, to the folder that is named.
set -euo pipefail
mkdir -p "$1/lists/partial" && cd "$1"
sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > src.sources
options=(-o "Dir::Etc::sourcelist=$PWD/src.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
apt-get "${options[@]}" -qq update
# The upstream archive alone is needed: what Debian adds is sometimes not there for a day.
apt-get "${options[@]}" -qq source --download-only --tar-only openssl libsrtp2 || ls {openssl,libsrtp2}_*.orig.tar.gz
tar -xzf "$(ls -t openssl_*.orig.tar.gz | head -1)" --wildcards --strip-components=4 '*/30-test_evp_data/evp*_common.txt'
