#!/bin/sh
# Builds a Debian package of the provider, and that of the program `fastgcm`, which it depends on: deb.sh [FOLDER], prints the names of the two files.
# release/deb.sh says how to do it for another machine. The module goes among OpenSSL's. When it is installed, `fastgcm doctor --write` makes
# /etc/ssl/fastgcm.cnf for the machine. No program uses it before it is told to (OPENSSL_CONF).
set -eu
cd "$(dirname "$0")"
. ../../release/deb.sh
cargo rustc --quiet --release --package fastgcm-openssl --crate-type cdylib ${TARGET:+--target "$TARGET"}
../fastgcm-cli/deb.sh "$folder"
tree=$trees/fastgcm-openssl
modules=${MODULES:-$(openssl version -m | cut -d'"' -f2)} # the folder of OpenSSL's modules
put 644 "$built/libfastgcm_openssl.so" "$modules/fastgcm.so"
stripped "$modules/fastgcm.so"
put 644 README.md usr/share/doc/fastgcm-openssl/README.md
put 755 /dev/stdin DEBIAN/postinst <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && ! [ -e /etc/ssl/fastgcm.cnf ]; then
    fastgcm doctor --write /etc/ssl/fastgcm.cnf || echo "fastgcm-openssl: let no program use it before this is mended" >&2
fi
END
put 755 /dev/stdin DEBIAN/postrm <<'END'
#!/bin/sh
set -e
# Without the module the configuration is of no use.
if [ "$1" = remove ] || [ "$1" = purge ]; then rm -f /etc/ssl/fastgcm.cnf; fi
END
package fastgcm-openssl libs "$libc, libgcc-s1, libssl3, openssl, fastgcm (= $version)" <<'END'
OpenSSL 3 provider with the AES-GCM and GMAC of fastgcm
 Programs that are started with OPENSSL_CONF=/etc/ssl/fastgcm.cnf use it.
 "fastgcm doctor" says whether they do.
END
