#!/bin/sh
# Builds libfastgcm and installs it: install.sh [PREFIX], /usr/local if not given. With DESTDIR below that folder, as packages want it.
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr/local}
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
cargo build --release --package fastgcm-capi
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release
lib=${DESTDIR:-}$prefix/lib
install -d "$lib/pkgconfig" "${DESTDIR:-}$prefix/include"
install -m 644 include/fastgcm.h "${DESTDIR:-}$prefix/include/fastgcm.h"
install -m 644 "$built/libfastgcm_capi.a" "$lib/libfastgcm.a"
install -m 755 "$built/libfastgcm_capi.so" "$lib/libfastgcm.so.$version"
ln -sf "libfastgcm.so.$version" "$lib/libfastgcm.so.0"
ln -sf libfastgcm.so.0 "$lib/libfastgcm.so"
cat > "$lib/pkgconfig/fastgcm.pc" <<END
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: fastgcm
Description: AES-GCM at the speed limit of the processor
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lfastgcm
Libs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
END
