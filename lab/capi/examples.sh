#!/bin/bash
# Installs libfastgcm below target/capi, and compiles and runs the examples with it: examples.sh, from the repository's root.
set -euo pipefail
root=$PWD
DESTDIR=$root/target/capi crates/fastgcm-capi/install.sh /usr
cd target/capi
export PKG_CONFIG_SYSROOT_DIR=$PWD PKG_CONFIG_PATH=$PWD/usr/lib/pkgconfig PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export LD_LIBRARY_PATH=$PWD/usr/lib
examples=$root/crates/fastgcm-capi/examples
warnings="-Wall -Wextra -Wpedantic -Werror -g"
asan="-fsanitize=address,undefined -fno-sanitize-recover=all"
shared=$(pkg-config --cflags --libs fastgcm)
static="$(pkg-config --cflags fastgcm) usr/lib/libfastgcm.a $(sed -n 's/^Libs.private: //p' usr/lib/pkgconfig/fastgcm.pc)"
count=0
run() { "$@" | grep -E ' ok$' >/dev/null && count=$((count + 1)); }
cc -std=c11 $warnings $asan "$examples/seal.c" $shared -o seal-asan && run ./seal-asan
c++ -std=c++11 $warnings $asan "$examples/seal.cpp" $shared -o sealpp-asan && run ./sealpp-asan
cc -std=c11 $warnings "$examples/seal.c" $static -o seal-static && run valgrind -q --error-exitcode=9 --leak-check=full ./seal-static
cc -std=c11 $warnings "$examples/seal.c" $shared -o seal-shared && run valgrind -q --error-exitcode=9 --leak-check=full ./seal-shared
c++ -std=c++20 $warnings "$examples/seal.cpp" $shared -o sealpp-shared && run valgrind -q --error-exitcode=9 --leak-check=full ./sealpp-shared
# The loader's name has the version of the interface; nothing but the interface is exported.
[[ $(readelf -d usr/lib/libfastgcm.so) == *'soname: [libfastgcm.so.0]'* ]]
[[ $(nm -D --defined-only --format=just-symbols usr/lib/libfastgcm.so | sort) == "$(grep -oE '\bfastgcm_[a-z0-9_]+\(' usr/include/fastgcm.h | tr -d '(' | sort -u)" ]]
echo "capi::examples ok $count"
