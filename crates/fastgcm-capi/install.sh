#!/bin/sh
# Builds libfastgcm and installs it: install.sh [PREFIX], /usr/local if not given. With DESTDIR below that folder, as packages want it. TARGET names
# another machine as rustc calls it, x86_64-unknown-linux-musl for one; LD, OBJCOPY and AR are its binutils. LIB is the folder of libraries, PREFIX/lib if
# not given.
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr/local}
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
cargo rustc --release --package fastgcm-capi --crate-type staticlib,cdylib ${TARGET:+--target "$TARGET"}
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/${TARGET:+$TARGET/}release
lib=${DESTDIR:-}${LIB:-$prefix/lib} relative=${LIB:-'${prefix}/lib'} above=$(realpath -m --relative-to="${LIB:-$prefix/lib}" "$prefix")
install -d "$lib/pkgconfig" "$lib/cmake/fastgcm" "${DESTDIR:-}$prefix/include"
install -m 644 include/fastgcm.h "${DESTDIR:-}$prefix/include/fastgcm.h"

# The archive of rustc has all of Rust's standard library in it, with names that any other static library in Rust has too. So the functions of the
# header, and what they need, become one object, in which everything else is local; its code for debuggers and for optimisers goes.
functions=$(grep -oE '\bfastgcm_[a-z0-9_]+\(' include/fastgcm.h | tr -d '(' | sort -u)
whole=$(mktemp -d)
trap 'rm -rf "$whole"' EXIT
# For musl Rust brings what unwinds the stack: the C compiler beside musl may be one for glibc.
unwind=$(rustc --print sysroot)/lib/rustlib/${TARGET:-none}/lib/self-contained/libunwind.a
if ! [ -e "$unwind" ]; then unwind=; fi
# shellcheck disable=SC2046
"${LD:-ld}" -r --gc-sections --force-group-allocation $(printf -- '-u %s ' $functions) -o "$whole/fastgcm.o" "$built/libfastgcm_capi.a" ${unwind:+"$unwind"}
"${OBJCOPY:-objcopy}" --strip-unneeded --remove-section=.llvmbc --remove-section=.llvmcmd --wildcard --keep-global-symbol='fastgcm_*' "$whole/fastgcm.o"
"${AR:-ar}" rcs "$whole/libfastgcm.a" "$whole/fastgcm.o"
install -m 644 "$whole/libfastgcm.a" "$lib/libfastgcm.a"

shared=$built/libfastgcm_capi.so # for musl there may be none
if [ -e "$shared" ]; then
    # Under another name first: a program that has the library open keeps it.
    install -m 755 "$shared" "$lib/libfastgcm.so.$version.new"
    mv -f "$lib/libfastgcm.so.$version.new" "$lib/libfastgcm.so.$version"
    ln -sf "libfastgcm.so.$version" "$lib/libfastgcm.so.0"
    ln -sf libfastgcm.so.0 "$lib/libfastgcm.so"
fi
cat > "$lib/pkgconfig/fastgcm.pc" <<PC
prefix=$prefix
includedir=\${prefix}/include
libdir=$relative

Name: fastgcm
Description: AES-GCM at the speed limit of the processor
Version: $version
Cflags: -I"\${includedir}"
Libs: -L"\${libdir}" -lfastgcm
Libs.private: -lpthread -lm -ldl -lc
PC
cat > "$lib/cmake/fastgcm/fastgcmConfig.cmake" <<CMAKE
# find_package(fastgcm CONFIG): the targets fastgcm::static, and fastgcm::fastgcm, which is the shared library where there is one.
if(TARGET fastgcm::fastgcm)
  return()
endif()
# Where this file is now, the others are too, whatever links lead here.
get_filename_component(_fastgcm_lib "\${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_fastgcm_lib "\${_fastgcm_lib}/../../.." ABSOLUTE)
get_filename_component(_fastgcm_include "\${_fastgcm_lib}/$above/include" ABSOLUTE)
add_library(fastgcm::static STATIC IMPORTED)
set_target_properties(fastgcm::static PROPERTIES
  IMPORTED_LINK_INTERFACE_LANGUAGES C
  IMPORTED_LOCATION "\${_fastgcm_lib}/libfastgcm.a"
  INTERFACE_INCLUDE_DIRECTORIES "\${_fastgcm_include}"
  INTERFACE_LINK_LIBRARIES "pthread;m;dl")
if(EXISTS "\${_fastgcm_lib}/libfastgcm.so.$version")
  add_library(fastgcm::fastgcm SHARED IMPORTED)
  set_target_properties(fastgcm::fastgcm PROPERTIES
    IMPORTED_LOCATION "\${_fastgcm_lib}/libfastgcm.so.$version"
    IMPORTED_SONAME libfastgcm.so.0
    INTERFACE_INCLUDE_DIRECTORIES "\${_fastgcm_include}")
else()
  add_library(fastgcm::fastgcm INTERFACE IMPORTED)
  set_target_properties(fastgcm::fastgcm PROPERTIES INTERFACE_LINK_LIBRARIES fastgcm::static)
endif()
unset(_fastgcm_include)
unset(_fastgcm_lib)
CMAKE
cat > "$lib/cmake/fastgcm/fastgcmConfigVersion.cmake" <<CMAKE
# A program that asks for a version gets this one if it is that or a later one with the same interface.
set(PACKAGE_VERSION $version)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION_RANGE)
  if(NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MIN
     AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX
          OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL INCLUDE AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
elseif(PACKAGE_FIND_VERSION_MAJOR EQUAL ${version%%.*} AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
CMAKE

# What the loader and pkg-config do not find by themselves, they must be told. A package does this itself.
if [ -n "${DESTDIR:-}" ]; then exit; fi
# A word as one types it into a shell.
word() {
    case $1 in
        *[!A-Za-z0-9_./,=+-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
        *) printf %s "$1" ;;
    esac
}
PATH=$PATH:/sbin:/usr/sbin
if [ -e "$shared" ] && [ -z "${TARGET:-}" ]; then
    ldconfig 2>/dev/null || true # only root may
    found=$(ldconfig -p 2>/dev/null | sed -n 's/.*libfastgcm\.so\.0 .*=> //p' | while read -r known; do
        if [ "$known" -ef "$lib/libfastgcm.so.0" ]; then echo found; fi
    done)
    if [ -z "$found" ]; then
        echo "The loader does not look in $lib. Link with $(word "-Wl,-rpath,$lib"), or set LD_LIBRARY_PATH=$(word "$lib") where a program runs."
    fi
fi
if ! [ "$(pkg-config --variable=prefix fastgcm 2>/dev/null)" -ef "$prefix" ]; then
    echo "pkg-config does not look there: export PKG_CONFIG_PATH=$(word "$lib/pkgconfig")"
fi
case $prefix in
    /usr | /usr/local) ;;
    *) echo "CMake does not look there: say cmake -DCMAKE_PREFIX_PATH=$(word "$prefix")" ;;
esac
