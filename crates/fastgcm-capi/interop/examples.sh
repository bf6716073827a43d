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
all=$(pkg-config --static --cflags --libs fastgcm)
archive="$(pkg-config --cflags fastgcm) usr/lib/libfastgcm.a"
count=0
run() { "$@" | grep -E ' ok$' >/dev/null && count=$((count + 1)); }
cc -std=c11 $warnings $asan "$examples/seal.c" $shared -o seal-asan && run ./seal-asan
c++ -std=c++11 $warnings $asan "$examples/seal.cpp" $shared -o sealpp-asan && run ./sealpp-asan
cc -std=c11 $warnings "$examples/seal.c" $archive -o seal-static && run valgrind -q --error-exitcode=9 --leak-check=full ./seal-static
cc -std=c11 $warnings "$examples/seal.c" $shared -o seal-shared && run valgrind -q --error-exitcode=9 --leak-check=full ./seal-shared
c++ -std=c++20 $warnings "$examples/seal.cpp" $shared -o sealpp-shared && run valgrind -q --error-exitcode=9 --leak-check=full ./sealpp-shared
cc -std=c89 $warnings $asan "$examples/random_nonce.c" $shared -o random-asan && run ./random-asan
cc -std=c11 $warnings "$examples/random_nonce.c" $archive -o random-static && run valgrind -q --error-exitcode=9 --leak-check=full ./random-static
# A program that needs no other file.
for way in -static -static-pie; do
    cc $way "$examples/seal.c" $all -o seal-alone && run ./seal-alone
    [[ $(readelf -d seal-alone) != *NEEDED* ]]
done
# Beside another static library in Rust, in either order: of Rust's standard library each has its own.
rustc --edition 2024 --crate-type staticlib -O -C lto=fat "$root/crates/fastgcm-capi/interop/beside/other.rs" --out-dir .
for way in '' -static; do
    for libraries in "usr/lib/libfastgcm.a libother.a" "libother.a usr/lib/libfastgcm.a"; do
        cc $way "$root/crates/fastgcm-capi/interop/beside/two.c" $(pkg-config --cflags fastgcm) $libraries -o two && run ./two
    done
done
# The header says nothing that an old compiler warns of.
for dialect in c:c89 c:c99 c:c17 c++:c++98 c++:c++20; do
    echo '#include <fastgcm.h>' | cc -x "${dialect%%:*}" -std="${dialect#*:}" $warnings $(pkg-config --cflags fastgcm) -c - -o header.o
    count=$((count + 1))
done
# The loader's name has the version of the interface; nothing but the interface is exported, by either library.
functions=$(grep -oE '\bfastgcm_[a-z0-9_]+\(' usr/include/fastgcm.h | tr -d '(' | sort -u)
[[ $(readelf -d usr/lib/libfastgcm.so) == *'soname: [libfastgcm.so.0]'* ]]
[[ $(nm -D --defined-only --format=just-symbols usr/lib/libfastgcm.so | sort) == "$functions" ]]
[[ $(nm -g --defined-only --format=just-symbols usr/lib/libfastgcm.a | grep -v '[.:]' | sort) == "$functions" ]]
(($(stat -c %s usr/lib/libfastgcm.a) < 3000000))
echo "capi::examples ok $count"
