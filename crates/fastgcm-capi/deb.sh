#!/bin/sh
# Builds Debian packages of the C library, and of its header with the static library: deb.sh [FOLDER], prints the names of the two files. release/deb.sh says
# how to do it for another machine.
set -eu
cd "$(dirname "$0")"
. ../../release/deb.sh
case $architecture in amd64) lib=usr/lib/x86_64-linux-gnu ;; arm64) lib=usr/lib/aarch64-linux-gnu ;; *) lib=usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH) ;; esac
DESTDIR=$trees/libfastgcm-dev LIB=/$lib ./install.sh /usr >&2

tree=$trees/libfastgcm0
install -d "$tree/$lib"
mv "$trees/libfastgcm-dev/$lib/libfastgcm.so.0" "$trees/libfastgcm-dev/$lib/libfastgcm.so.$version" "$tree/$lib"
chmod 644 "$tree/$lib/libfastgcm.so.$version"
stripped "$lib/libfastgcm.so.$version"
put 644 /dev/stdin DEBIAN/shlibs <<END
libfastgcm 0 libfastgcm0 (>= $version)
END
put 644 /dev/stdin DEBIAN/triggers <<'END'
activate-noawait ldconfig
END
fields='Multi-Arch: same'
package libfastgcm0 libs "$libc, libgcc-s1" <<'END'
AES-GCM at the speed limit of the processor, for C and C++
 Messages, batches, pieces and lists of buffers, with AES-GCM, AES-GCM-SIV,
 XAES-256-GCM and KC-XAES-256-GCM.
END

tree=$trees/libfastgcm-dev
put 644 README.md usr/share/doc/libfastgcm-dev/README.md
put 644 examples/seal.c usr/share/doc/libfastgcm-dev/examples/seal.c
package libfastgcm-dev libdevel "libfastgcm0 (= $version)" <<'END'
AES-GCM at the speed limit of the processor: header and static library
 What a program in C or C++ is compiled and linked with. CMake and pkg-config
 find it.
END
