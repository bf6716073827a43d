#!/bin/sh
# Builds a Debian package of the provider for this machine's architecture: deb.sh [FOLDER], prints the file's name.
# The module goes among OpenSSL's, its configuration to /etc/ssl/fastgcm.cnf. No program uses it before it is told to (OPENSSL_CONF).
set -eu
cd "$(dirname "$0")"
folder=$(realpath "${1:-.}")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
architecture=$(dpkg --print-architecture)
cargo build --quiet --release --package fastgcm-openssl
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release
modules=$(openssl version -m | cut -d'"' -f2)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 644 "$built/libfastgcm_openssl.so" "$tree$modules/fastgcm.so"
install -D -m 644 fastgcm.cnf "$tree/etc/ssl/fastgcm.cnf"
install -D -m 644 README.md "$tree/usr/share/doc/fastgcm-openssl/README.md"
install -D -m 644 LICENSE-MIT "$tree/usr/share/doc/fastgcm-openssl/copyright"
install -d "$tree/DEBIAN"
echo /etc/ssl/fastgcm.cnf > "$tree/DEBIAN/conffiles"
cat > "$tree/DEBIAN/control" <<END
Package: fastgcm-openssl
Version: $version
Architecture: $architecture
Section: libs
Priority: optional
Maintainer: The fastgcm developers <fastgcm@localhost>
Depends: libc6 (>= $(ldd --version | sed -n '1s/.* //p')), libgcc-s1, libssl3
Description: OpenSSL 3 provider with the AES-GCM and GMAC of fastgcm
 Programs that are started with OPENSSL_CONF=/etc/ssl/fastgcm.cnf use it.
 "fastgcm doctor" (cargo install fastgcm-cli) says whether they do.
END
dpkg-deb --root-owner-group --build "$tree" "$folder/fastgcm-openssl_${version}_$architecture.deb" >&2
echo "$folder/fastgcm-openssl_${version}_$architecture.deb"
