#!/bin/bash
# Projects of CMake find the library that examples.sh has installed below target/capi, by the lines of its README: cmake.sh, from the repository's root.
set -euo pipefail
root=$PWD
installed=$root/target/capi/usr # which was said to be /usr: it is found wherever it lies
apart=$root/target/capi-cmake
rm -rf "$apart"
mkdir "$apart"
cd "$apart"
lines=$(python3 -c 'import re, sys; print(re.search(r"^```cmake\n(.*?)^```", open(sys.argv[1]).read(), re.S | re.M)[1])' "$root/crates/fastgcm-capi/README.md")
count=0

# A project of those languages, with those lines; what comes behind goes to cmake.
project() {
    rm -rf project built
    mkdir project
    printf 'cmake_minimum_required(VERSION 3.12)\nproject(seal %s)\nadd_executable(seal %s)\n%s\n' "$1" "$root/crates/fastgcm-capi/examples/seal.${1,,}" "$2" \
        | sed 's/seal\.cxx/seal.cpp/' > project/CMakeLists.txt
    cmake -S project -B built "${@:3}" &> said
}
runs() {
    cmake --build built &> said || { cat said; exit 1; }
    built/seal | grep -E ' ok$' > /dev/null
    count=$((count + 1))
}
for language in C CXX; do
    for target in fastgcm static; do
        project "$language" "${lines//fastgcm::fastgcm/fastgcm::$target}" "-DCMAKE_PREFIX_PATH=$installed"
        runs
        needed=$(readelf -d built/seal)
        if [ "$target" = fastgcm ]; then [[ $needed = *'[libfastgcm.so.0]'* ]]; else [[ $needed != *libfastgcm* ]]; fi
    done
done
# A program that needs no other file.
project C "${lines//fastgcm::fastgcm/fastgcm::static}" "-DCMAKE_PREFIX_PATH=$installed" -DCMAKE_EXE_LINKER_FLAGS=-static
runs
# Through a link, as Debian's /lib is one, twice in one project, and where there is no shared library, as with musl.
mkdir link
ln -s "$installed/lib" link/lib
project C "$lines"$'\n'"${lines%%$'\n'*}" "-DCMAKE_PREFIX_PATH=$apart/link"
runs
cp -r "$installed" without
rm without/lib/libfastgcm.so*
project C "$lines" "-DCMAKE_PREFIX_PATH=$apart/without"
runs

# Versions. (Ranges are CMake's from 3.19 on.)
version=$(sed -n 's/^Version: //p' "$installed/lib/pkgconfig/fastgcm.pc")
for asked in '' 0 0.1 "$version" "$version EXACT" 0.1...0.9 "0.1...$version"; do
    project C "find_package(fastgcm $asked CONFIG REQUIRED)" "-DCMAKE_PREFIX_PATH=$installed"
    count=$((count + 1))
done
for asked in 0.99 1 1.0 "$version.1" '0.1.7 EXACT' "0.0.1...<$version" 0.0.1...0.0.9 1...2; do
    if project C "find_package(fastgcm $asked CONFIG REQUIRED)" "-DCMAKE_PREFIX_PATH=$installed"; then
        echo "CMake takes $version for $asked"
        exit 1
    fi
    grep -q "version: $version" said # it was found, and is another
    count=$((count + 1))
done
echo "capi::cmake ok $count"
