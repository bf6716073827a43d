#!/bin/bash
# Does what the library's README says, line by line, and what install.sh says of another prefix: readme.sh, from the repository's root. /etc and
# /usr/local are copies that nobody else sees.
set -euo pipefail
if [ -z "${FASTGCM_README_APART:-}" ]; then
    alone=(unshare -m)
    if [ "$(id -u)" != 0 ]; then alone=(unshare -rm); fi
    FASTGCM_README_APART=1 exec "${alone[@]}" "$0"
fi
apart=$PWD/target/capi-readme
rm -rf "$apart"
mkdir -p "$apart"
cp -a /etc "$apart/etc"
mount --bind "$apart/etc" /etc
mount -t tmpfs none /usr/local
mkdir /usr/local/lib
ldconfig
block() { python3 -c 'import re, sys; print(re.findall(r"^```sh\n(.*?)^```", open("crates/fastgcm-capi/README.md").read(), re.S | re.M)[int(sys.argv[1])])' "$1"; }
count=0
runs() { "$@" | grep -E ' ok$' >/dev/null && count=$((count + 1)); }

# The shared library, and a program that needs no other file, with glibc and, in the full run, with musl.
runs bash -euc "$(block 0)"
lines=$(block 1)
bash -euc "$(head -1 <<<"$lines")"
runs ./seal-static
if [ -n "${FASTGCM_FULL+set}" ]; then
    bash -euc "$(tail -n +2 <<<"$lines")"
    runs ./seal-musl
fi

# What it says in C of root keys is what the example does, which examples.sh runs.
python3 - <<'PYTHON'
import re, textwrap
shown = re.findall(r"^```c\n(.*?)^```", open("crates/fastgcm-capi/README.md").read(), re.S | re.M)[1]
assert textwrap.indent(shown, "    ") in open("crates/fastgcm-capi/examples/random_nonce.c").read()
PYTHON
count=$((count + 1))

# Elsewhere neither the loader, pkg-config nor CMake looks: what install.sh says is enough. (cmake.sh tries that option.)
there="$apart/it's elsewhere"
said=$(crates/fastgcm-capi/install.sh "$there")
eval "$(sed -n 's/.*\(export PKG_CONFIG_PATH=\)/\1/p' <<<"$said")"
eval "option=$(sed -n 's/.*Link with \(.*\), or set .*/\1/p' <<<"$said")"
eval "variable=$(sed -n 's/.*or set \(.*\) where a program runs\./\1/p' <<<"$said")"
eval "for_cmake=$(sed -n 's/.*say cmake //p' <<<"$said")"
[ "$for_cmake" = "-DCMAKE_PREFIX_PATH=$there" ]
eval "cc crates/fastgcm-capi/examples/seal.c $(pkg-config --cflags --libs fastgcm) -o seal"
! ./seal 2>/dev/null
runs env "$variable" ./seal
eval "cc crates/fastgcm-capi/examples/seal.c $(pkg-config --cflags --libs fastgcm)" '"$option" -o seal'
runs ./seal
rm -f seal seal-static seal-musl
echo "capi::readme ok $count"
