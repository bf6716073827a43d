#!/bin/sh
# Builds a Debian package of the provider for this machine's architecture, and that of the program `fastgcm`, which it depends on: deb.sh [FOLDER], prints the
# names of the two files. The module goes among OpenSSL's. When it is installed, `fastgcm doctor --write` makes /etc/ssl/fastgcm.cnf for the machine. No program uses it before it is
# told to (OPENSSL_CONF).
set -eu
cd "$(dirname "$0")"
folder=$(realpath "${1:-.}")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
architecture=$(dpkg --print-architecture)
cargo rustc --quiet --release --package fastgcm-openssl --crate-type cdylib
../fastgcm-cli/deb.sh "$folder"
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release
modules=$(openssl version -m | cut -d'"' -f2)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 644 "$built/libfastgcm_openssl.so" "$tree$modules/fastgcm.so"
install -D -m 644 README.md "$tree/usr/share/doc/fastgcm-openssl/README.md"
install -D -m 644 LICENSE-MIT "$tree/usr/share/doc/fastgcm-openssl/copyright"
install -d "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" <<END
Package: fastgcm-openssl
Version: $version
Architecture: $architecture
Section: libs
Priority: optional
Maintainer: The fastgcm developers <fastgcm@localhost>
Depends: libc6 (>= $(ldd --version | sed -n '1s/.* //p')), libgcc-s1, libssl3, openssl, fastgcm (= $version)
Description: OpenSSL 3 provider with the AES-GCM and GMAC of fastgcm
 Programs that are started with OPENSSL_CONF=/etc/ssl/fastgcm.cnf use it.
 "fastgcm doctor" says whether they do.
END
cat > "$tree/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && ! [ -e /etc/ssl/fastgcm.cnf ]; then
    fastgcm doctor --write /etc/ssl/fastgcm.cnf || echo "fastgcm-openssl: let no program use it before this is mended" >&2
fi
END
cat > "$tree/DEBIAN/postrm" <<'END'
#!/bin/sh
set -e
# Without the module the configuration is of no use.
if [ "$1" = remove ] || [ "$1" = purge ]; then rm -f /etc/ssl/fastgcm.cnf; fi
END
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/postrm"
dpkg-deb --root-owner-group --build "$tree" "$folder/fastgcm-openssl_${version}_$architecture.deb" >&2
echo "$folder/fastgcm-openssl_${version}_$architecture.deb"
